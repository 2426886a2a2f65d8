//! Patterns of file names, as a shell has them: `*`, `?`, `[a-z]` and `{a,b}` within one name.

use crate::InputError;
use crate::error::{Place, quoted};
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Path, PathBuf};

/// More files than a job may have inputs or tasks of are not collected.
const MATCHES_MAX: usize = 10_000_000;

/// Whether `text` is a pattern rather than a name.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// What lies at names that match `pattern`, in order, each written as the pattern is: relative to `folder` or absolute.
/// Names that start with a dot match only patterns that do. `given_as` is where the pattern stands, for errors.
pub fn matching(folder: &Path, pattern: &str, given_as: &str) -> Result<Vec<String>, InputError> {
    matching_at(folder, pattern, &Place::whole(given_as))
}

pub(super) fn matching_at(folder: &Path, pattern: &str, place: &Place) -> Result<Vec<String>, InputError> {
    let (mut found, names) = match pattern.strip_prefix('/') {
        Some(rest) => (vec![PathBuf::from("/")], rest),
        None => (vec![PathBuf::new()], pattern),
    };
    for name in names.split('/').filter(|name| !name.is_empty()) {
        found = if is_pattern(name) {
            let glob = GlobBuilder::new(name).literal_separator(true).build();
            let glob = glob.map_err(|_| place.error("", quoted(pattern), "a pattern of file names"))?;
            below(folder, &found, &glob.compile_matcher(), name.starts_with('.'))
        } else {
            let named = found.iter().map(|parent| parent.join(name));
            named.filter(|path| folder.join(path).symlink_metadata().is_ok()).collect()
        };
        if found.len() > MATCHES_MAX {
            return Err(place.error("", format!("more than {MATCHES_MAX} matches"), "a narrower pattern"));
        }
    }
    found.into_iter().map(|path| named(path, place)).collect()
}

/// What in the folders `parents` has a matching name. What cannot be listed has nothing in it, as in a shell.
fn below(folder: &Path, parents: &[PathBuf], glob: &GlobMatcher, hidden: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for parent in parents {
        let at = folder.join(parent);
        let at = if at.as_os_str().is_empty() { Path::new(".") } else { &at };
        let Ok(entries) = std::fs::read_dir(at) else { continue };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names
            .filter(|name| glob.is_match(name) && (hidden || !name.as_encoded_bytes().starts_with(b".")))
            .collect();
        names.sort();
        found.extend(names.iter().map(|name| parent.join(name)));
    }
    found
}

fn named(path: PathBuf, place: &Place) -> Result<String, InputError> {
    path.into_os_string().into_string().map_err(|name| {
        place.error("", format!("a file called {}", name.display()), "files whose names are UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b.txt", "a.txt", ".hidden.txt", "c.csv", "in/d.txt", "in/e.txt", "other/d.txt"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder is made");
            std::fs::write(path, "").expect("a file is written");
        }
        for (pattern, expected) in [
            ("*.txt", "a.txt b.txt"),
            ("[ab].*", "a.txt b.txt"),
            ("?.csv", "c.csv"),
            ("*/d.txt", "in/d.txt other/d.txt"),
            ("in/*", "in/d.txt in/e.txt"),
            (".h*", ".hidden.txt"),
            ("a.txt", "a.txt"),
            ("nothing*", ""),
            ("nothing/*", ""),
        ] {
            let found = matching(folder.path(), pattern, "a test").expect("a pattern");
            assert_eq!(found.join(" "), expected, "{pattern}");
        }
        let absolute = format!("{}/*.csv", folder.path().display());
        let found = matching(Path::new("elsewhere"), &absolute, "a test").expect("a pattern");
        assert_eq!(found, [format!("{}/c.csv", folder.path().display())]);
        assert!(matching(folder.path(), "[", "a test").is_err());
    }
}
