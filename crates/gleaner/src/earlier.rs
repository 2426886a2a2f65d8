//! What an earlier run left in the folder of `--out`. Nothing is removed there, since files of the user's may lie between; whoever
//! looks into the folder is told what is not of the run that just ended.

use crate::columns::plural;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What is written last to a folder of results.
const SUMMARIES: [&str; 4] = ["summary.json", "claims.json", "compared.json", "tune.json"];
/// How the names end of what is written for people and programs.
const ENDS: [&str; 5] = ["csv", "html", "json", "svg", "swf"];
/// A folder of several policies has one for each, which has one for each seed.
const DEPTH: usize = 2;

/// The files of a folder of results before a run.
pub(crate) struct Earlier<'a> {
    /// None: there are no results of an earlier run.
    folder: Option<&'a Path>,
    files: Vec<(PathBuf, State)>,
}

/// What changes when a file is written again: its number and its time.
type State = (u64, i64, i64);

impl<'a> Earlier<'a> {
    /// What is there before a run.
    pub(crate) fn in_folder(folder: Option<&'a Path>) -> Self {
        let has_results = |folder: &&Path| SUMMARIES.iter().any(|name| folder.join(name).is_file());
        let folder = folder.filter(has_results);
        let mut files = Vec::new();
        if let Some(folder) = folder {
            collect(folder, DEPTH, &mut files);
        }
        files.sort_unstable();
        Self { folder, files }
    }

    /// Tells to standard error what the run did not write.
    pub(crate) fn tell_what_is_left(&self) {
        if let Some(text) = self.left() {
            anstream::eprintln!("note: {text}");
        }
    }

    fn left(&self) -> Option<String> {
        let folder = self.folder?;
        let is_left = |(path, before): &&(PathBuf, State)| state(path).as_ref() == Some(before);
        let left: Vec<&PathBuf> = self.files.iter().filter(is_left).map(|(path, _)| path).collect();
        let first = left.first()?;
        Some(format!(
            "{} has {} that this run did not write, as {}: if an earlier run left them there, remove them, or give --out another folder",
            folder.display(),
            plural(left.len() as u64, "file"),
            first.display()
        ))
    }
}

/// Files of the kinds that are written, in this folder and in those below it so deep. What cannot be read is not told of.
fn collect(folder: &Path, depth: usize, files: &mut Vec<(PathBuf, State)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = path.extension().is_some_and(|end| ENDS.iter().any(|known| end == *known));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth > 0 {
                collect(&path, depth - 1, files);
            }
        } else if let Some(state) = state(&path).filter(|_| is_ours) {
            files.push((path, state));
        }
    }
}

/// None where no regular file is there.
fn state(path: &Path) -> Option<State> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_text;

    #[test]
    fn what_a_run_did_not_write_is_told_and_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let write =
            |name: &str| write_text(&dir.path().join(name), "summary.json", "{}").expect("it is written");
        write_text(dir.path(), "plot.svg", "").expect("it is written");
        assert_eq!(Earlier::in_folder(Some(dir.path())).left(), None, "there are no results");
        for name in ["", "seed-1", "seed-2"] {
            write(name);
        }
        write_text(dir.path(), "notes.txt", "").expect("it is written");
        let earlier = Earlier::in_folder(Some(dir.path()));
        for name in ["", "seed-1"] {
            write(name);
        }
        let said = earlier.left().expect("two files are left");
        assert!(
            said.contains("has 2 files that this run did not write") && said.contains("plot.svg"),
            "{said}"
        );
        assert!(dir.path().join("seed-2/summary.json").is_file());
        write("seed-2");
        write_text(dir.path(), "plot.svg", "").expect("it is written");
        assert_eq!(earlier.left(), None, "all is written anew");
    }
}
