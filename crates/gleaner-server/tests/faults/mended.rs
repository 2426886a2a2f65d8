//! Mistakes that the histories found, each as the shortest way to it; and a clock that jumps.

use crate::small::{JOB, Small, all, end, large_profile, live_run, one, only, profile, task};
use gleaner_core::Judgement;
use gleaner_server::desk::{Administration, Admitted, Effect, Input, JobFiles, Order, SessionId};
use gleaner_server::journal::Fact;
use gleaner_server::store::MemoryDisk;
use gleaner_server::view::{Fetched, Known};
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::api::{Actor, PolicyKeys, Quota, QuotaSetting, TaskPhase};
use gleaner_wire::job::{Checkpointing, JobSpec};
use gleaner_wire::refusal::let_in_after;
use gleaner_wire::session::{End, FromAgent, Obstacle, Outcome, Stored, Stream, ToAgent};
use gleaner_wire::{BlobHash, JobId};

const DONE: Outcome = Outcome::Exited { code: 0 };

#[test]
fn releasing_all_runs_nothing_again_that_is_done() {
    let mut small = Small::running();
    small.ends(one(), &DONE);
    small.order(Order::Hold(JOB, only(1)));
    small.ends(RunId { task: TaskId::new(1), number: 1 }, &Outcome::Stopped);
    small.order(Order::Release(JOB, all()));
    assert_eq!(small.phase(), TaskPhase::Done);
    small.order(Order::Hold(JOB, only(1)));
    small.order(Order::Rerun(JOB, all(), None));
    assert!(small.desk.ledger().record(TaskId::new(1)).wish.is_some(), "a rerun releases nothing");
}

#[test]
fn what_is_to_be_cancelled_cannot_be_held() {
    let mut small = Small::running();
    small.order(Order::Cancel(JOB, only(0)));
    small.order(Order::Hold(JOB, only(0)));
    small.ends(one(), &Outcome::Stopped);
    assert_eq!(small.phase(), TaskPhase::Cancelled);
}

#[test]
fn an_end_is_settled_the_same_way_each_time() {
    let mut small = Small::running();
    small.ends(one(), &DONE);
    small.order(Order::Rerun(JOB, only(0), None));
    let second = RunId { number: 2, ..one() };
    small.say(FromAgent::Started(second));
    small.ends(second, &DONE);
    for run in [one(), second, one()] {
        small.ends(run, &DONE);
        assert_eq!((small.settled(), small.facts.len()), (Some(true), 0), "{run:?}");
    }
}

#[test]
fn a_held_task_stays_held_when_its_lost_run_is_heard_of() {
    let mut small = Small::running();
    small.order(Order::Hold(JOB, only(0)));
    small.lose();
    small.connect(1);
    small.ends(one(), &Outcome::Abandoned { why: String::new() });
    assert_eq!(small.phase(), TaskPhase::Held);
    small.order(Order::Release(JOB, only(0)));
    assert_eq!(small.phase(), TaskPhase::Waiting);
    assert!(small.desk.ledger().is_live(task()), "it is sent out");
}

#[test]
fn a_lost_result_counts_though_the_task_was_held_and_released() {
    let mut small = Small::running();
    small.lose();
    small.order(Order::Hold(JOB, only(0)));
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open: false, why: None }));
    small.order(Order::Release(JOB, only(0)));
    small.connect(1);
    small.ends(one(), &DONE);
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open: true, why: None }));
    assert_eq!((small.phase(), small.desk.ledger().is_live(task())), (TaskPhase::Done, false));
}

#[test]
fn the_output_of_a_lost_run_that_counts_is_kept() {
    let mut small = Small::running();
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open: false, why: None }));
    small.lose();
    small.connect(1);
    let stream = Stream::Stdout;
    let frame = FromAgent::Output { run: one(), stream, offset: 0, bytes: vec![b'x'; 9] };
    let session = SessionId(small.sessions);
    let input = Input::Frame { session, frame: Box::new(frame) };
    small.desk.handle(small.now, input, &MemoryDisk::default()).expect("memory can be read");
    assert_eq!(small.desk.settle(small.now).written.len(), 1);
}

/// It is the agent's only machine that is back: the task would be given to it at once. `BROUGHT_WITHIN` is 20 s.
#[test]
fn what_a_machine_brings_after_its_lease_is_heard_before_its_task_is_given_to_anyone() {
    let bring = || {
        let mut small = Small::running();
        small.lose();
        assert_eq!(small.phase(), TaskPhase::Waiting);
        let (connected, opens) = (small.connected_with(1, profile(), &[one()]), small.opens());
        small.put(vec![connected, opens]);
        assert!(!small.desk.ledger().is_live(task()), "given to someone before it was heard");
        small
    };
    let mut small = bring();
    small.ends(one(), &DONE);
    assert_eq!((small.phase(), small.settled()), (TaskPhase::Done, Some(true)));

    let mut small = bring();
    small.ends(one(), &Outcome::Exited { code: 1 });
    assert_eq!(small.phase(), TaskPhase::Failed);

    let mut small = bring();
    small.now = small.now.after_seconds(19.0);
    small.tick();
    assert!(!small.desk.ledger().is_live(task()), "it is waited for");
    small.now = small.now.after_seconds(2.0);
    small.tick();
    assert!(small.desk.ledger().is_live(task()), "nobody waits for ever");
}

/// Two machines would do, of which one starts nothing: of a job that runs, of one that runs nowhere, and of one whose program is
/// elsewhere only, which is the job's fault. `NOT_STARTED_CLOSES` is 5.
#[test]
fn a_machine_that_cannot_start_what_others_can_is_closed() {
    for (obstacle, runs_elsewhere) in [
        (Obstacle::Machine, true),
        (Obstacle::Machine, false),
        (Obstacle::NotThere, true),
        (Obstacle::Task, true),
    ] {
        let not_started = || Outcome::NotStarted { why: "not here".into(), obstacle };
        let mut small = Small::running();
        // What is said to have started may turn out not to be there.
        let first = if runs_elsewhere { Outcome::Exited { code: 0 } } else { not_started() };
        small.ends(one(), &first);
        let second = TaskId::new(1);
        for _ in 0..20 {
            let Some(number) = live_run(&small.desk, second) else {
                small.now = small.now.after_seconds(300.0);
                let session = SessionId(small.sessions);
                let frame = FromAgent::Heartbeat {
                    number: 1,
                    sample: gleaner_wire::session::Sample::default(),
                    staging: Vec::new(),
                };
                small.put(vec![Input::Frame { session, frame: Box::new(frame) }, Input::Tick]);
                continue;
            };
            small.ends(RunId { task: second, number }, &not_started());
            small.order(Order::Rerun(JOB, only(1), None));
        }
        let agent = small.desk.ledger().agent(MachineId::new(0));
        let is_closed = runs_elsewhere && obstacle == Obstacle::Machine;
        assert_eq!(agent.open, !is_closed, "{obstacle:?}");
        if is_closed {
            let why = agent.why().expect("a reason");
            assert!(why.starts_with("5 runs in a row") && why.contains("gleaner machine resume m"), "{why}");
            small.order(Order::Administer(Administration::SetOpen {
                machine: "m".into(),
                open: true,
                why: None,
            }));
            assert!(small.desk.ledger().agent(MachineId::new(0)).open);
        }
    }
}

/// What is said of the last try names the machines of those before.
#[test]
fn where_no_machine_has_the_program_the_reason_names_them_all() {
    let mut small = Small::running();
    let other = small.joined_by_another();
    let not_there = Outcome::NotStarted { why: "nosuch: not found".into(), obstacle: Obstacle::NotThere };
    small.ends(one(), &not_there);
    assert_eq!(small.phase(), TaskPhase::Waiting, "the other machine is left");
    small.now = small.now.after_seconds(2.0);
    small.tick();
    let run = RunId { number: 2, ..one() };
    let on = small.desk.ledger().grid().find_run(run).map(gleaner_core::Run::on);
    assert_eq!(on, Some(MachineId::new(1)));
    let frame = FromAgent::Ended { run, end: end(&not_there) };
    small.put(vec![Input::said(other, frame).expect("a machine")]);
    assert_eq!(small.phase(), TaskPhase::Failed);
    let last = small.desk.ledger().record(task()).last.as_ref().map(|last| last.outcome.to_string());
    let said = "it could not be started: nosuch: not found; nor could tasks of this job be started on m, and no other machine could take it";
    assert_eq!(last.as_deref(), Some(said));
}

#[test]
fn a_run_that_was_given_up_in_the_same_turn_is_not_sent_out() {
    let mut small = Small::running();
    small.order(Order::Hold(JOB, only(0)));
    let first_gone = small.gone();
    let (second, second_gone) = (small.connected(2), small.gone());
    let (third, opens) = (small.connected(3), small.opens());
    small.put(vec![first_gone, second, second_gone, third, opens]);
    let live = live_run(&small.desk, TaskId::new(1));
    let sent = small.effects.iter().filter_map(|effect| match effect {
        Effect::Run(session, order) if session.0 == small.sessions => Some(order.run.number),
        _ => None,
    });
    assert_eq!(sent.map(Some).collect::<Vec<_>>(), [live]);
}

#[test]
fn a_machine_stays_closed_by_order_whatever_its_agent_says() {
    let mut small = Small::running();
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open: false, why: None }));
    small.connect(1);
    small.say(FromAgent::Open { open: true, why: String::new() });
    assert!(!small.desk.ledger().agent(MachineId::new(0)).open);
}

#[test]
fn why_a_machine_is_closed_by_order_is_said_whatever_its_agent_says() {
    let mut small = Small::running();
    let why = |small: &Small| gleaner_server::view::machines(&small.desk).machines.swap_remove(0).why;
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open: false, why: None }));
    for said in ["the agent was told to leave", "the owner paused it"] {
        small.say(FromAgent::Open { open: false, why: said.to_owned() });
        assert_eq!(why(&small).as_deref(), Some("closed by user root"));
    }
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open: true, why: None }));
    assert_eq!(why(&small).as_deref(), Some("the owner paused it"), "what is left, and not what was");
    small.say(FromAgent::Open { open: true, why: "the owner's rules allow it".to_owned() });
    assert!(small.desk.ledger().agent(MachineId::new(0)).open);
}

/// It was told to the agent and nothing more: a restart of either forgot it, and the audit trail did not know it.
#[test]
fn an_administrators_pause_is_recorded_and_outlasts_starts() {
    let mut small = Small::running();
    let why = |small: &Small| gleaner_server::view::machines(&small.desk).machines.swap_remove(0).why;
    let is_open = |small: &Small| small.desk.ledger().agent(MachineId::new(0)).open;
    let welcomed = |small: &Small| {
        let welcome = small.effects.iter().find_map(|effect| match effect {
            Effect::Send(_, ToAgent::Welcome { paused, .. }) => Some(paused.clone()),
            _ => None,
        });
        welcome.expect("it was let in")
    };
    small.leave();
    small.order(Order::Administer(Administration::SetPaused { machine: "m".into(), paused: true }));
    let by = Actor::User("root".to_owned());
    let fact = Fact::MachinePaused { agent: MachineId::new(0), paused: true, by };
    assert!(small.facts.contains(&fact), "also while it is away");
    let told = gleaner_server::told::told(&fact, |_| "m".to_owned(), |_| String::new()).expect("it is told");
    assert_eq!(
        (told.by.as_str(), told.what, told.about.as_str()),
        ("user root", "the machine was paused", "m")
    );
    small.at(70.0).tick();
    small.connect(2);
    assert_eq!(welcomed(&small).as_deref(), Some("user root"));
    small.say(FromAgent::Open { open: true, why: "the owner's rules allow it".to_owned() });
    assert_eq!((is_open(&small), why(&small).as_deref()), (false, Some("paused by user root")));
    small.order(Order::Administer(Administration::SetPaused { machine: "m".into(), paused: true }));
    assert_eq!(small.facts, [], "that is no news");
    small.order(Order::Administer(Administration::SetPaused { machine: "m".into(), paused: false }));
    assert!(is_open(&small));
}

/// Its owner was blamed for an administrator's pause, and nothing said that a machine was away.
#[test]
fn a_task_is_explained_where_its_machine_is_paused_or_away() {
    let mut small = Small::running();
    let explained = |small: &Small| {
        let fetched = Fetched::default();
        let known = Known::new(&small.desk, &fetched);
        gleaner_server::view::explain(&known, small.now, TaskId::new(0)).expect("it is in memory").summary
    };
    assert_eq!(explained(&small), "it runs on m");
    small.say(FromAgent::OwnerLoad { load: 1.0, why: "the owner is there".to_owned() });
    assert_eq!(explained(&small), "it stands still on m, whose owner is using it");
    small.order(Order::Administer(Administration::SetPaused { machine: "m".into(), paused: true }));
    assert_eq!(explained(&small), "it stands still on m, paused by user root");
    small.say(FromAgent::OwnerLoad { load: 0.0, why: String::new() });
    small.leave();
    let told = explained(&small);
    assert!(told.starts_with("it runs on m; m is away: if it is not heard of within"), "{told}");
    assert!(told.ends_with("what it has of the task is given up"), "{told}");
}

/// Tasks were sent to a machine that was known to be away, and waited until its lease ended while others were idle.
#[test]
fn a_machine_is_given_nothing_new_while_its_agent_is_not_connected() {
    let mut small = Small::running();
    small.ends(one(), &Outcome::Exited { code: 0 });
    let open = |open: bool, why: &str| {
        let by = Actor::Agent("m".to_owned());
        Fact::MachineOpened { agent: MachineId::new(0), open, why: why.to_owned(), by }
    };
    small.leave();
    assert_eq!(small.facts.first(), Some(&open(false, "its agent is not connected")));
    let spec: JobSpec = serde_json::from_value(serde_json::json!({ "command": ["true"] })).expect("a job");
    let job = Admitted::check(spec).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    let ordered = |small: &Small| small.effects.iter().any(|effect| matches!(effect, Effect::Run(..)));
    let third = |small: &Small| small.desk.ledger().grid().runs_of(TaskId::new(2)).count();
    assert_eq!(third(&small), 0);
    // Who is gone is not gone twice.
    small.leave();
    assert_eq!(small.facts, []);
    small.connect(1);
    assert!(small.facts.contains(&open(true, "")));
    assert!(ordered(&small) && third(&small) == 1);
    small.say(FromAgent::Open { open: false, why: "the owner paused it".to_owned() });
    small.leave();
    assert_eq!(small.facts, [], "it is closed already, and for a reason of its owner's");
}

/// A job that had been cancelled kept every policy away that makes no copies, and said to cancel it.
#[test]
fn a_cancelled_job_with_a_quorum_keeps_no_policy_away() {
    let mut small = Small::running();
    let spec: JobSpec =
        serde_json::from_value(serde_json::json!({ "command": ["true"], "quorum": 2 })).expect("a job");
    let job = Admitted::check(spec).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    let easy = serde_json::json!({ "preset": "queue/easy" });
    assert_eq!(small.order(policy(&easy)), None, "two machines have to answer");
    small.order(Order::Cancel(JobId(2), all()));
    assert!(small.order(policy(&easy)).is_some(), "nothing is compared any more");
}

fn policy(keys: &serde_json::Value) -> Order {
    let keys = keys.as_object().expect("keys").clone();
    Order::Administer(Administration::SetPolicy(PolicyKeys(keys)))
}

/// The second answer was believed unseen, though an honest machine had given another before.
#[test]
fn what_was_answered_is_compared_though_the_policy_asks_for_it_no_more() {
    let mut small = Small::running();
    let quorum = serde_json::json!({
        "preset": "bertasi/greedy", "relocate": "none", "replicate": { "quorum": 2 },
    });
    assert!(small.order(policy(&quorum)).is_some());
    let other = small.joined_by_another();
    let answers = |small: &mut Small, session: SessionId, run: RunId, digit: &str| {
        let ended = FromAgent::Ended { run, end: end(&DONE) };
        small.put(vec![Input::said(session, ended).expect("a machine")]);
        let is_read = |effect: &Effect| matches!(effect, Effect::Compare(_, read, _) if *read == run);
        assert!(small.effects.iter().any(is_read), "{run} is compared");
        let digest = digit.repeat(64).try_into().expect("a hash");
        small.put(vec![Input::Answered { session, run, end: Box::new(end(&DONE)), digest }]);
        let judgement = small.facts.iter().find_map(|fact| match fact {
            Fact::RunEnded { answer, .. } => answer.as_ref().map(|answer| answer.judgement),
            _ => None,
        });
        assert_eq!(judgement, Some(Judgement::Kept), "{run}");
        assert_ne!(small.phase(), TaskPhase::Done, "{run}");
    };
    let session = SessionId(small.sessions);
    answers(&mut small, session, one(), "a");
    let second = RunId { number: 2, ..one() };
    let on = small.desk.ledger().grid().find_run(second).map(gleaner_core::Run::on);
    assert_eq!(on, Some(MachineId::new(1)), "another machine is asked");
    assert!(small.order(policy(&serde_json::json!({ "preset": "bertasi/greedy" }))).is_some());
    small.put(vec![Input::said(other, FromAgent::Started(second)).expect("a machine")]);
    answers(&mut small, other, second, "b");
}

/// The second of two honest answers failed for lack of room, which it did not take.
#[test]
fn an_answer_with_the_files_of_another_takes_no_more_room() {
    let mut small = Small::running();
    for index in 0..2 {
        small.ends(RunId { task: TaskId::new(index), number: 1 }, &DONE);
    }
    let other = small.joined_by_another();
    let quota = Some(Quota { bytes: 15, ..Quota::default() });
    small.order(Order::Administer(Administration::SetQuota(QuotaSetting { user: None, quota })));
    let spec = JobSpec { quorum: 2, compare: vec!["true".into()], ..JobSpec::new(["true"]) };
    let job = Admitted::check(JobSpec { outputs: vec!["out".into()], ..spec }).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    let blob = BlobHash::of(b"the answer");
    let answers = |small: &mut Small, session: SessionId, agent: MachineId| {
        let runs = small.desk.ledger().grid().runs_of(TaskId::new(2));
        let run =
            runs.map(gleaner_core::Run::id).find(|&run| small.desk.ledger().find_live(run, agent).is_some());
        let run = run.expect("it is asked");
        small.put(vec![Input::said(session, FromAgent::Started(run)).expect("a machine")]);
        let (_, left) = small.desk.may_send(agent, run, small.now()).expect("it is awaited");
        assert!(left >= 10, "{left} bytes may be sent");
        small.put(vec![Input::Stored { agent, run, blob, bytes: 10 }]);
        let end = End { files: Some(Stored { blob, size: 10 }), ..end(&DONE) };
        let ended = FromAgent::Ended { run, end: end.clone() };
        small.put(vec![Input::said(session, ended).expect("a machine")]);
        let digest = "a".repeat(64).try_into().expect("a hash");
        small.put(vec![Input::Answered { session, run, end: Box::new(end), digest }]);
        small.facts.iter().find_map(|fact| match fact {
            Fact::RunEnded { answer, .. } => answer.as_ref().map(|answer| answer.judgement),
            _ => None,
        })
    };
    let session = SessionId(small.sessions);
    assert_eq!(answers(&mut small, session, MachineId::new(0)), Some(Judgement::Kept));
    assert_eq!(answers(&mut small, other, MachineId::new(1)), Some(Judgement::Agreed));
    assert_eq!(small.desk.ledger().record(TaskId::new(2)).phase, TaskPhase::Done);
    assert_eq!(small.desk.ledger().bytes_of("root"), 10);
}

/// The history said that it was stored, and nobody had it.
#[test]
fn a_checkpoint_that_is_behind_another_is_in_no_fact() {
    let mut small = Small::running();
    for index in 0..2 {
        small.ends(RunId { task: TaskId::new(index), number: 1 }, &DONE);
    }
    let (session, other) = (SessionId(small.sessions), small.joined_by_another());
    let twice = serde_json::json!({ "preset": "bertasi/greedy", "relocate": "none", "replicate": 2 });
    assert!(small.order(policy(&twice)).is_some());
    let checkpoint = Checkpointing { folder: true, ..Checkpointing::default() };
    let job = Admitted::check(JobSpec { checkpoint, ..JobSpec::new(["true"]) }).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    // Copies are made once nobody else waits.
    small.at(10.0).put(vec![Input::Tick]);
    let runs = [(session, 0, 20.0), (other, 1, 30.0)].map(|(session, agent, at)| {
        let agent = MachineId::new(agent);
        let is_its = |run: &&gleaner_core::Run| run.id().task == TaskId::new(2);
        let run = small.desk.ledger().live_on(agent).find(is_its).expect("it has one").id();
        small.put(vec![Input::said(session, FromAgent::Started(run)).expect("a machine")]);
        small.at(at);
        (session, agent, run)
    });
    let kept = runs.map(|(session, agent, run)| {
        let blob = BlobHash::of(&run.number.to_le_bytes());
        let why = String::new();
        let checkpoint = Some(Stored { blob, size: 7 });
        let end = End { checkpoint, ..end(&Outcome::Abandoned { why }) };
        let ended = Input::said(session, FromAgent::Ended { run, end }).expect("a machine");
        small.put(vec![Input::Stored { agent, run, blob, bytes: 7 }, ended]);
        let is_kept = small.facts.iter().find_map(|fact| match fact {
            Fact::RunEnded { run: ended, end, .. } if *ended == run => Some(end.checkpoint.is_some()),
            _ => None,
        });
        is_kept.expect("it ended")
    });
    assert_eq!(kept, [true, false]);
}

/// It was sent away without a word, again and again, and nobody knew why.
#[test]
fn an_agent_that_starts_again_and_again_is_told_why_it_waits_and_for_how_long() {
    let mut small = Small::running();
    let refused = |small: &Small| {
        small.effects.iter().find_map(|effect| match effect {
            Effect::Send(_, ToAgent::Refused { why, for_good: false }) => Some(why.clone()),
            _ => None,
        })
    };
    let mut incarnation = 1;
    let mut start = |small: &mut Small| {
        incarnation += 1;
        small.leave();
        let input = small.connected_with(incarnation, large_profile(), &[]);
        small.put(vec![input]);
    };
    let why = (0..1_000).find_map(|_| {
        start(&mut small);
        refused(&small)
    });
    let why = why.expect("that is too much");
    let seconds = let_in_after(&why).unwrap_or_else(|| panic!("it says for how long: {why}"));
    let shown = gleaner_server::view::machines(&small.desk).machines.swap_remove(0).why;
    assert_eq!(shown, Some(why), "and administrators see it");
    small.at(small.now.seconds() + f64::from(seconds) + 1.0);
    start(&mut small);
    assert_eq!(refused(&small), None, "as it was told");
}

#[test]
fn what_a_revoked_agent_runs_is_given_up_with_its_lease() {
    let mut small = Small::running();
    small.order(Order::Administer(Administration::Revoke("m".into())));
    assert!(small.desk.ledger().is_live(task()));
    small.now = small.now.after_seconds(66.0);
    small.tick();
    assert!(!small.desk.ledger().is_live(task()));
}

#[test]
fn an_end_that_says_too_much_counts_all_the_same() {
    let mut small = Small::running();
    let mut end = end(&DONE);
    end.stdout.bytes = vec![b'x'; 1 << 20];
    (end.usage.cpu_s, end.usage.elapsed_s) = (f64::NAN, 1e308);
    small.say(FromAgent::Ended { run: one(), end });
    assert_eq!((small.phase(), small.settled()), (TaskPhase::Done, Some(true)));
    let took = small.desk.ledger().record(task()).last.as_ref().expect("it ended").usage.elapsed_s;
    assert!(took <= 61.0, "there was no such time: {took}");
    let text = serde_json::to_string(&small.facts).expect("facts are plain data");
    assert_eq!(serde_json::from_str::<Vec<Fact>>(&text).expect("they read back"), small.facts);
}

#[test]
fn a_clock_that_jumps_a_day_ahead_ends_leases_and_nothing_else() {
    let mut small = Small::running();
    small.now = small.now.after_seconds(86_400.0);
    small.tick();
    let expired = |fact: &Fact| matches!(fact, Fact::LeaseExpired { .. } | Fact::Decided { .. });
    assert!(small.facts.iter().all(expired), "{:?}", small.facts);
    small.connect(1);
    small.ends(one(), &DONE);
    let (live, again) = (live_run(&small.desk, task()), small.phase());
    assert!(again == TaskPhase::Done || live == Some(2), "it is done, or sent out once more");
}

/// A liar sent the right answer with the end of its run, and another one behind that, which was shown.
#[test]
fn what_is_said_of_an_answer_that_is_read_is_not_kept() {
    let mut small = Small::running();
    for index in 0..2 {
        small.ends(RunId { task: TaskId::new(index), number: 1 }, &DONE);
    }
    let spec = JobSpec { quorum: 2, ..JobSpec::new(["true"]) };
    small.order(Order::Submit {
        job: Admitted::check(spec).expect("a job"),
        key: None,
        files: JobFiles::default(),
    });
    let run = RunId { task: TaskId::new(2), number: 1 };
    small.say(FromAgent::Started(run));
    let session = SessionId(small.sessions);
    let said = |frame| Input::said(session, frame).expect("a machine");
    let output = || said(FromAgent::Output { run, stream: Stream::Stdout, offset: 0, bytes: b"7".to_vec() });
    small.put(vec![output()]);
    assert_eq!(small.written, 1);
    small.put(vec![said(FromAgent::Ended { run, end: end(&DONE) }), output()]);
    let read = small.effects.iter().find_map(|effect| match effect {
        Effect::Compare(session, run, end) => Some((*session, *run, end.clone())),
        _ => None,
    });
    let (session, run, end) = read.expect("it is read");
    assert_eq!(small.written, 0, "not in the same turn");
    small.put(vec![output()]);
    assert_eq!(small.written, 0, "nor later");
    let digest = "a".repeat(64).try_into().expect("a hash");
    small.put(vec![Input::Answered { session, run, end, digest }]);
    assert_eq!(small.settled(), Some(true));
}
