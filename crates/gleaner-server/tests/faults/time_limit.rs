//! A task that reaches its time limit goes on from what it kept, as often as it may be tried.

use super::small::{Small, end};
use gleaner_server::desk::{Admitted, Input, JobFiles, Order, SessionId};
use gleaner_server::journal::Fact;
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::BlobHash;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::{Checkpointing, JobSpec};
use gleaner_wire::session::{End, FromAgent, Outcome, Stored};

const TASK: usize = 2;

/// A run begins and reaches its limit, and its agent stores what it kept. What of that is recorded, and what is noted.
fn reaches_its_limit(small: &mut Small, number: u32) -> (Option<Stored>, Vec<String>) {
    let run = RunId { task: TaskId::new(TASK), number };
    small.say(FromAgent::Started(run));
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
    let mut small = Small::running();
    for index in 0..2 {
        small.ends(RunId { task: TaskId::new(index), number: 1 }, &Outcome::Exited { code: 0 });
    }
    let checkpoint = Checkpointing { folder: true, ..Checkpointing::default() };
    let spec = JobSpec { checkpoint, retries: 1, ..JobSpec::new(["true"]) };
    let job = Admitted::check(spec).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    let (first, noted) = reaches_its_limit(&mut small, 1);
    assert!(first.is_some() && noted.is_empty());
    assert_eq!(small.desk.ledger().record(TaskId::new(TASK)).checkpoint, first);
    small.at(5.0).tick();
    let noted = "its checkpoint was not kept, since its task had no try left (--retries)".to_owned();
    assert_eq!(reaches_its_limit(&mut small, 2), (None, vec![noted]), "nobody goes on from it");
    assert_eq!(small.desk.ledger().record(TaskId::new(TASK)).phase, TaskPhase::Failed);
}
