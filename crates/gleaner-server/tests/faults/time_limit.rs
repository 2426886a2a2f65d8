//! A task that reaches its time limit goes on from what it kept, as often as it may be tried.

use super::small::{Small, all, end};
use gleaner_server::desk::{Administration, Admitted, Effect, Input, JobFiles, Order, SessionId};
use gleaner_server::journal::Fact;
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::api::{PolicyKeys, Quota, QuotaSetting, TaskPhase};
use gleaner_wire::job::{Checkpointing, JobSpec};
use gleaner_wire::limits::BLOB_BYTES_MAX;
use gleaner_wire::session::{End, FromAgent, Outcome, Stored};
use gleaner_wire::{BlobHash, JobId};

const TASK: usize = 2;

fn run(number: u32) -> RunId {
    RunId { task: TaskId::new(TASK), number }
}

/// A machine that is free.
fn free() -> Small {
    let mut small = Small::running();
    for index in 0..2 {
        small.ends(RunId { task: TaskId::new(index), number: 1 }, &Outcome::Exited { code: 0 });
    }
    small
}

/// Likewise, and a job with a checkpoint that is sent there.
fn with_a_job(retries: u32) -> Small {
    let mut small = free();
    submit(&mut small, retries);
    small
}

fn submit(small: &mut Small, retries: u32) {
    let checkpoint = Checkpointing { folder: true, ..Checkpointing::default() };
    let spec = JobSpec { checkpoint, retries, ..JobSpec::new(["true"]) };
    let job = Admitted::check(spec).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
}

/// Whether the agent that was just told to run it knows that what it keeps at its limit is of no use.
fn is_last(small: &Small) -> bool {
    let order = small.effects.iter().find_map(|effect| match effect {
        Effect::Run(_, order) => order.filled_in().ok(),
        _ => None,
    });
    order.expect("it is sent to its machine").fails_at_limit
}

/// A run reaches its limit, and its agent stores what it kept. What of that is recorded, and what is noted.
fn reaches_its_limit(small: &mut Small, number: u32) -> (Option<Stored>, Vec<String>) {
    let run = run(number);
    let blob = BlobHash::of(&number.to_le_bytes());
    let left = End { checkpoint: Some(Stored { blob, size: 7 }), ..end(&Outcome::TimedOut) };
    let ended =
        Input::said(SessionId(small.sessions), FromAgent::Ended { run, end: left }).expect("a machine");
    small.put(vec![Input::Stored { agent: MachineId::new(0), run, blob, bytes: 7 }, ended]);
    let recorded = small.facts.iter().find_map(|fact| match fact {
        Fact::RunEnded { run: ended, end, .. } if *ended == run => {
            Some((end.checkpoint.clone(), end.notes.clone()))
        }
        _ => None,
    });
    recorded.expect("it ended")
}

#[test]
fn what_reaches_its_limit_goes_on_from_its_checkpoint_as_often_as_it_may_be_tried() {
    let mut small = with_a_job(1);
    assert!(!is_last(&small));
    small.say(FromAgent::Started(run(1)));
    let (first, noted) = reaches_its_limit(&mut small, 1);
    assert!(first.is_some() && noted.is_empty());
    assert_eq!(small.desk.ledger().record(TaskId::new(TASK)).checkpoint, first);
    small.at(5.0).tick();
    assert!(is_last(&small));
    small.say(FromAgent::Started(run(2)));
    let noted = "its checkpoint was not kept, since its task had no try left (--retries)".to_owned();
    assert_eq!(reaches_its_limit(&mut small, 2), (None, vec![noted]), "nobody goes on from it");
    assert_eq!(small.desk.ledger().record(TaskId::new(TASK)).phase, TaskPhase::Failed);
}

/// It does not fail then: once it is released it runs again.
#[test]
fn what_is_to_be_held_as_it_reaches_its_limit_keeps_its_checkpoint() {
    let mut small = with_a_job(0);
    small.say(FromAgent::Started(run(1)));
    small.order(Order::Hold(JobId(2), all()));
    let (kept, noted) = reaches_its_limit(&mut small, 1);
    assert!(kept.is_some() && noted.is_empty());
    let record = small.desk.ledger().record(TaskId::new(TASK));
    assert_eq!((record.phase, &record.checkpoint), (TaskPhase::Held, &kept));
}

/// What a run may send beside its user's quota ends with it.
#[test]
fn what_is_thrown_away_takes_nothing_from_what_others_leave() {
    let mut small = with_a_job(0);
    let job = Admitted::check(JobSpec::new(["true"])).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    let quota = Some(Quota { bytes: 1 << 20, ..Quota::default() });
    small.order(Order::Administer(Administration::SetQuota(QuotaSetting { user: None, quota })));
    let left = |small: &Small| {
        let other = RunId { task: TaskId::new(TASK + 1), number: 1 };
        small.desk.may_send(MachineId::new(0), other, small.now()).expect("it is awaited").1
    };
    let before = left(&small);
    small.say(FromAgent::Started(run(1)));
    assert_eq!(reaches_its_limit(&mut small, 1).0, None, "nobody goes on from it");
    assert_eq!(left(&small), before - BLOB_BYTES_MAX);
}

/// An answer is one machine's from its beginning: what was kept took room, and counted as what the next run need not do.
#[test]
fn what_is_compared_keeps_no_checkpoint() {
    let mut small = free();
    let keys = serde_json::json!({
        "preset": "bertasi/greedy", "relocate": "none", "replicate": { "quorum": 2 },
    });
    let keys = PolicyKeys(keys.as_object().expect("keys").clone());
    assert!(small.order(Order::Administer(Administration::SetPolicy(keys))).is_some());
    small.joined_by_another();
    submit(&mut small, 1);
    assert!(is_last(&small), "it is tried again from its beginning");
    let agent = MachineId::new(0);
    let asked = small.desk.ledger().grid().runs_of(TaskId::new(TASK)).find(|run| run.on() == agent);
    let run = asked.expect("it is asked").id();
    small.say(FromAgent::Started(run));
    let blob = BlobHash::of(b"kept");
    let left = End { checkpoint: Some(Stored { blob, size: 7 }), ..end(&Outcome::TimedOut) };
    small.put(vec![Input::Stored { agent, run, blob, bytes: 7 }]);
    small.say(FromAgent::Ended { run, end: left.clone() });
    let (session, digest) = (SessionId(small.sessions), BlobHash::of(b"its answer"));
    small.put(vec![Input::Answered { session, run, end: Box::new(left), digest }]);
    let recorded = small.facts.iter().find_map(|fact| match fact {
        Fact::RunEnded { end, .. } => Some(&end.checkpoint),
        _ => None,
    });
    assert_eq!(recorded, Some(&None));
}
