//! What is noted while a journal is read.

use super::*;
use gleaner_server::journal::Chosen;
use gleaner_wire::api::Actor;
use gleaner_wire::job::{JobSpec, TaskList};
use std::sync::Arc;

const TASKS: u32 = 2_000_000;

/// A user may have twenty million that wait, and hold and release them as often as they like.
#[test]
fn tasks_that_never_start_are_noted_together() {
    let mut reading = Reading::default();
    let mut second = 0;
    let mut read = |reading: &mut Reading, fact| {
        second += 1;
        let at = Time::from_nanos(second * 1_000_000_000);
        reading.read(&Entry { at, fact }).expect("a journal that follows from itself");
    };
    let job = JobId(1);
    let tasks = TaskList::Array { first: 1, last: TASKS, step: 1 };
    let (user, spec) = ("ann".to_owned(), Arc::new(JobSpec { tasks, ..JobSpec::new(["run"]) }));
    read(&mut reading, Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 });
    let chosen = |tasks: Vec<TaskRange>| Chosen { job, tasks, by: Actor::Coordinator };
    for _ in 0..20 {
        read(&mut reading, Fact::TasksHeld(chosen(Vec::new())));
        read(&mut reading, Fact::TasksReleased(chosen(Vec::new())));
    }
    let half = TaskRange::between(TaskId::new(0), TaskId::new((TASKS / 2) as usize - 1)).expect("in order");
    read(&mut reading, Fact::TasksCancelled(chosen(vec![half])));
    assert_eq!((reading.tasks.len(), reading.came.ranges().count()), (0, 1));
    let half = u64::from(TASKS / 2);
    let left_out = LeftOut { cancelled: half, unfinished: half, without_work: 0 };
    assert_eq!(reading.end().left_out, left_out);
}
