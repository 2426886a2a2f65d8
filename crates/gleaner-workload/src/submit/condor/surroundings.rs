//! What a submit file may depend on.

use std::collections::BTreeMap;
use std::path::Path;

/// What a submit file may depend on besides itself.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// Where `queue … from FILE` and `queue … matching` look.
    pub folder: &'a Path,
    /// What `$ENV(…)` and `getenv` see.
    pub environment: &'a BTreeMap<String, String>,
    /// Macros that hold whatever the file says, by name.
    pub macros: &'a [(String, String)],
    /// Keys to go on without.
    pub ignored: &'a [String],
}
