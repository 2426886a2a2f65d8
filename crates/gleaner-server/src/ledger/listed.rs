//! Jobs as lists have them: of what was asked for there is name, label, and the beginning of the command. A list may have a thousand jobs,
//! and a command a megabyte.

use super::Job;
use crate::limits::COMMAND_LISTED_MAX;
use crate::store::{FoundJob, PastReader, ReadError, Wanted, WithResults};
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use std::sync::Arc;

/// What stands where the rest is left out.
const CUT: &str = "…";

impl Job {
    /// The newest retired jobs of some, to be listed.
    pub fn list_past(past: &dyn PastReader, wanted: &Wanted) -> Result<Vec<(JobId, Self)>, ReadError> {
        listed(|each| past.past_jobs(wanted, each))
    }

    /// The retired jobs whose results stand so, those first that were over first, to be listed.
    pub fn list_with(
        past: &dyn PastReader,
        wanted: &WithResults,
        limit: usize,
    ) -> Result<Vec<(JobId, Self)>, ReadError> {
        listed(|each| past.past_with(wanted, limit, each))
    }

    /// The command as lists have it.
    pub(crate) fn command_listed(&self) -> Vec<String> {
        beginning(&self.spec.command)
    }

    /// Likewise that of one of its tasks, with the task's parameters filled in. Its description is all here.
    pub(crate) fn command_of(&self, task: TaskId) -> Vec<String> {
        // More than is told, so that it shows where something is left out.
        beginning(&self.spec.beginning_of_command(self.position(task), 2 * COMMAND_LISTED_MAX))
    }
}

/// Each is cut as it is read, so that never more than one of them is there as a whole.
fn listed(
    read: impl FnOnce(&mut dyn FnMut(FoundJob)) -> Result<(), ReadError>,
) -> Result<Vec<(JobId, Job)>, ReadError> {
    let mut jobs = Vec::new();
    read(&mut |found| jobs.push(cut(&found)))?;
    jobs.into_iter().collect()
}

fn cut(found: &FoundJob) -> Result<(JobId, Job), ReadError> {
    let mut job = Job::of_listed(found)?;
    Arc::make_mut(&mut job.spec).command = job.command_listed();
    Ok((found.job, job))
}

/// As many words as are no longer together, the last one cut. The beginning of a beginning is the same again.
fn beginning(command: &[String]) -> Vec<String> {
    let mut left = COMMAND_LISTED_MAX;
    let mut told = Vec::new();
    for word in command {
        // One that is hardly longer than what would stand for its end is whole.
        if left > 0 && word.len() <= left + CUT.len() {
            told.push(word.clone());
            left = left.saturating_sub(word.len() + 1);
        } else {
            told.push(format!("{}{CUT}", &word[..word.floor_char_boundary(left)]));
            break;
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_command_its_beginning_is_listed() {
        let most = COMMAND_LISTED_MAX;
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let short = words(&["./train", "", "--all"]);
        assert_eq!(beginning(&short), short);
        let exact = words(&["a", &"b".repeat(most - 2)]);
        assert_eq!(beginning(&exact), exact);
        let long = words(&["a", &"b".repeat(2 * most), "c"]);
        assert_eq!(beginning(&long), words(&["a", &format!("{}…", "b".repeat(most - 2))]));
        let empty = vec![String::new(); 2 * most];
        assert_eq!(beginning(&empty).len(), most + 1);
        for shift in 0..8 {
            let wide = words(&[&"a".repeat(shift), &"😀".repeat(most), "c"]);
            let told = beginning(&wide);
            assert!(told.concat().len() < most + 4 && told.concat().ends_with("😀…"), "{told:?}");
            assert_eq!(beginning(&told), told, "it is cut once");
        }
    }
}
