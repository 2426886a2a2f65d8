//! Files that differ from task to task.

use super::{Input, fill_in};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Files of which each task finds its own in its folder: those that lie under what [`of`](Self::of) comes to with its
/// parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnInputs {
    /// Whose files are whose, as `data/part-{GLEANER_INDEX}.csv`.
    pub of: String,
    /// The files, by what that comes to, as `data/part-7.csv`.
    pub files: BTreeMap<String, Vec<Input>>,
}

impl OwnInputs {
    /// The files of the task with these parameters; none where nobody thought of it.
    pub fn of_task(&self, parameters: &[(&str, String)]) -> Option<&[Input]> {
        self.files.get(&fill_in(&self.of, parameters)).map(Vec::as_slice)
    }

    /// How many files there are, of all tasks.
    pub fn count(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }
}
