//! Tasks of a job of which the same is to be said: how many, and one of them.

use crate::columns::plural;
use gleaner_wire::JobId;

/// See the module.
pub(crate) struct Alike {
    pub(crate) what: String,
    pub(crate) count: u32,
    /// The first of them.
    pub(crate) example: u32,
}

impl Alike {
    /// The same is to be said of one more task.
    pub(crate) fn add(all: &mut Vec<Self>, what: String, task: u32) {
        match all.iter_mut().find(|alike| alike.what == what) {
            Some(alike) => alike.count += 1,
            None => all.push(Self { what, count: 1, example: task }),
        }
    }

    /// What is to be said of most tasks comes first.
    pub(crate) fn sort(all: &mut [Self]) {
        all.sort_by_key(|alike| std::cmp::Reverse(alike.count));
    }

    /// As `12 tasks`.
    pub(crate) fn tasks(&self) -> String {
        plural(u64::from(self.count), "task")
    }

    /// As `one is 7/3`.
    pub(crate) fn named(&self, job: JobId) -> String {
        let which = if self.count == 1 { "it is" } else { "one is" };
        format!("{which} {job}/{}", self.example)
    }
}
