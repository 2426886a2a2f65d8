//! The patterns by which a job names its output files, as machines read them.

use globset::{Error, Glob, GlobBuilder};

/// What a pattern means: a folder's name stands for all that is in it, and `*` ends at a `/`.
pub fn pattern(text: &str) -> Result<Glob, Error> {
    let text = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    GlobBuilder::new(text).literal_separator(true).build()
}
