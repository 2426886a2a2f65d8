//! The patterns by which a job names its output files, as machines read them.

use globset::{Error, Glob, GlobBuilder};

/// The pattern of all that a task leaves, be that nothing: of who names no file, none is missing.
pub const ALL_FILES: &str = "*";

/// What a pattern means: a folder's name stands for all that is in it, and `*` ends at a `/`. What says nothing in a path says
/// nothing here, as in `./out//x`.
pub fn pattern(text: &str) -> Result<Glob, Error> {
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    GlobBuilder::new(&parts.join("/")).literal_separator(true).backslash_escape(true).build()
}

/// What names only the file or folder that is called just so, whatever signs of patterns stand in its name.
pub fn name(text: &str) -> Result<Glob, Error> {
    let is_sign = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
    let escaped = text.chars().flat_map(|c| is_sign(c).then_some('\\').into_iter().chain([c]));
    pattern(&escaped.collect::<String>())
}

/// Whether a pattern names no file below the folder, but the folder itself.
pub fn names_nothing(text: &str) -> bool {
    text.split('/').all(|part| matches!(part, "" | "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_only_itself() {
        for text in ["z[2]", "a*b", "{z", "back\\slash", "what?", "plain", "ü{x}/[!a]"] {
            let name = name(text).expect("any name can be meant").compile_matcher();
            assert!(name.is_match(text), "{text}");
            for other in ["z2", "axb", "whatx", "z", "x/b"] {
                assert!(!name.is_match(other), "{text} is not {other}");
            }
        }
        assert_eq!(name("./out//x").ok(), pattern("out/x").ok());
    }
}
