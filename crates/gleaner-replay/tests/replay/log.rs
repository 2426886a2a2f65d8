//! What was, as a log of jobs has it.

use super::{FAST, exported, file, history, moment, past_of};
use gleaner_replay::{LeftOut, LoggedTask, read_log};
use gleaner_server::journal::Fact;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::job::JobSpec;
use serde_json::json;
use std::sync::Arc;

#[test]
fn a_log_has_the_tasks_that_ran_to_their_end_in_the_order_in_which_they_came() {
    let mut journal = history();
    let mut spec = JobSpec::new(["run"]);
    spec.label = Some("late".to_owned());
    spec.needs.time_limit_s = 60.0;
    let (job, user, spec) = (JobId(2), "bob".to_owned(), Arc::new(spec));
    journal.add(200.0, Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 });
    journal.started(201.0, 4);
    journal.done(204.0, 4, FAST, 3.0);
    journal.submitted(300.0, ("bob", 3), (1, 1));
    let log = read_log(file(&exported(&journal)).path()).expect("an export");
    assert_eq!(log.begun, moment(0.0));
    assert_eq!(log.left_out, LeftOut { cancelled: 1, unfinished: 1, without_work: 0 });
    let seconds = |task: &LoggedTask| [task.came, task.started, task.ended].map(Time::seconds);
    let times: Vec<_> = log.tasks.iter().map(|task| (task.job.0, seconds(task), task.is_done)).collect();
    let expected = [
        (1, [0.0, 0.0, 10.0], true),
        (1, [0.0, 0.0, 100.0], true),
        (1, [0.0, 10.0, 20.0], true),
        (2, [200.0, 201.0, 204.0], true),
    ];
    assert_eq!(times, expected);
    let of = &log.jobs[&JobId(2)];
    let said = (of.user.as_str(), of.label.as_deref(), of.needs.time_limit_s);
    assert_eq!(said, ("bob", Some("late"), 60.0));
    assert_eq!(log.cores, 2, "a place on each machine");
}

#[test]
fn a_run_took_as_long_as_its_agent_measured() {
    for (usage, [began, ran]) in [
        (json!({ "elapsed_s": 2.0, "cpu_s": 1.0 }), [208.0, 2.0]),
        // With more cores than it asked for.
        (json!({ "elapsed_s": 2.0, "cpu_s": 30.0 }), [208.0, 2.0]),
        // Before it came, by the coordinator's clock.
        (json!({ "elapsed_s": 30.0 }), [200.0, 30.0]),
        // It waited for its files to be stored.
        (json!({ "elapsed_s": 0.25 }), [209.5, 0.25]),
        (json!({}), [209.5, 0.5]),
    ] {
        let mut journal = history();
        journal.submitted(200.0, ("bob", 2), (1, 1));
        journal.started(209.5, 4);
        let (run, agent) = (RunId { task: TaskId::new(4), number: 1 }, MachineId::new(FAST));
        let end = json!({ "outcome": { "exited": { "code": 0 } }, "usage": usage });
        let end = Box::new(serde_json::from_value(end).expect("an end"));
        journal.add(210.0, Fact::RunEnded { run, agent, end, answer: None, is_left: None });
        let log = read_log(file(&exported(&journal)).path()).expect("an export");
        let task = log.tasks.last().expect("it ran to its end");
        assert_eq!([task.started, task.ended].map(Time::seconds), [began, 210.0], "{usage}");
        assert_eq!(task.ran.seconds(), ran, "{usage}");
        // What did not run for a measurable time is not compared.
        if ran != 0.5 {
            assert_eq!(past_of(&journal).was.wait_mean_s, (10.0 + began - 200.0) / 4.0, "{usage}");
        }
    }
}
