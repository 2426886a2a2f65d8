//! What `gleaner status` says of jobs and tasks that were named together.

use crate::cli::JobOrTask;
use serde_json::{Value, json};

/// What is told of a job or a task.
pub(super) struct Told {
    pub(super) is_task: bool,
    /// For programs.
    pub(super) document: Value,
    /// For people.
    pub(super) text: String,
}

/// Leaves out the tasks beyond so many, and says how many those are.
pub(super) fn leave_out(named: &mut Vec<JobOrTask>, limit: u32) -> u64 {
    let (all, mut tasks) = (named.len(), 0);
    named.retain(|one| {
        tasks += u32::from(one.task.is_some());
        one.task.is_none() || tasks <= limit
    });
    (all - named.len()) as u64
}

/// What is known of the one that was named; of several as the lists `jobs` and `tasks`.
pub(super) fn together(mut told: Vec<Told>, is_one: bool, left_out: u64) -> Value {
    if is_one {
        return told.remove(0).document;
    }
    let (tasks, jobs): (Vec<Told>, Vec<Told>) = told.into_iter().partition(|told| told.is_task);
    let list = |told: Vec<Told>| told.into_iter().map(|told| told.document).collect::<Value>();
    let mut document = json!({ "version": 1 });
    if !jobs.is_empty() {
        document["jobs"] = list(jobs);
    }
    if !tasks.is_empty() {
        document["tasks"] = list(tasks);
        document["left_out"] = json!(left_out);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::JobId;

    #[test]
    fn several_are_told_together_and_very_many_tasks_in_part() {
        let task = |task| JobOrTask { job: JobId(7), task };
        let mut named = vec![task(Some(1)), task(None), task(Some(2)), task(Some(3))];
        assert_eq!(leave_out(&mut named, 2), 1);
        assert_eq!(named, [task(Some(1)), task(None), task(Some(2))]);
        let told = |is_task, what: &str| Told { is_task, document: json!(what), text: String::new() };
        assert_eq!(together(vec![told(true, "7/1")], true, 0), json!("7/1"));
        assert_eq!(
            together(vec![told(false, "7"), told(false, "8")], false, 0),
            json!({ "version": 1, "jobs": ["7", "8"] })
        );
        assert_eq!(
            together(vec![told(true, "7/1"), told(false, "8")], false, 3),
            json!({ "version": 1, "jobs": ["8"], "tasks": ["7/1"], "left_out": 3 })
        );
    }
}
