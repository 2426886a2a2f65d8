//! The patterns by which a job names its output files, as machines read them.

use globset::{Error, Glob, GlobBuilder};

/// What a pattern means: a folder's name stands for all that is in it, and `*` ends at a `/`. What says nothing in a path says
/// nothing here, as in `./out//x`.
pub fn pattern(text: &str) -> Result<Glob, Error> {
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    GlobBuilder::new(&parts.join("/")).literal_separator(true).build()
}

/// Whether a pattern names no file below the folder, but the folder itself.
pub fn names_nothing(text: &str) -> bool {
    text.split('/').all(|part| matches!(part, "" | "."))
}
