//! Histories as tables: what happens at which second, and what is done about it.

use super::*;
use crate::owner::{Reason, Verdict};
use gleaner_wire::Lineage;
use gleaner_wire::job::{Checkpointing, Confinement, Needs};
use gleaner_wire::session::{Outcome, StopCause};

const LEASE_S: f64 = 40.0;
const HEARTBEAT_S: f64 = 5.0;

struct Stage {
    duties: Duties,
    lines: Vec<String>,
}

fn at(seconds: f64) -> Time {
    Time::from_seconds(seconds).expect("a time of the test")
}

fn id(task: usize, number: u32) -> RunId {
    RunId { task: TaskId::new(task), number }
}

fn lineage(epoch: u32) -> Lineage {
    Lineage::of([epoch as u8; 8])
}

fn welcome(epoch: u32, forget: Vec<RunId>) -> ToAgent {
    ToAgent::Welcome {
        epoch,
        lineage: lineage(epoch),
        restored: None,
        forget,
        lease_s: LEASE_S,
        heartbeat_s: HEARTBEAT_S,
        token: "token".to_owned(),
    }
}

fn profile() -> Profile {
    Profile::new([1.0; 3], 2)
}

fn run(task: usize, number: u32) -> Run {
    Run {
        id: id(task, number),
        lineage: lineage(3),
        name: format!("1/{task}"),
        user: String::new(),
        label: None,
        command: vec!["program".into()],
        env: BTreeMap::new(),
        cwd: None,
        stdin: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        needs: Needs::default(),
        checkpoint: Checkpointing { grace_s: 3.0, ..Checkpointing::default() },
        resume_from: None,
        confinement: Confinement::Sandbox,
    }
}

fn with_checkpoint(run: Run) -> Run {
    Run { checkpoint: Checkpointing { folder: true, ..run.checkpoint.clone() }, ..run }
}

fn stored() -> Stored {
    Stored { blob: "5".repeat(64).try_into().expect("64 digits"), size: 5 }
}

fn exited(run: RunId, code: i32) -> Event {
    Event::Exited(run, Exit::Code(code), Usage::default())
}

fn killed(run: RunId) -> Event {
    Event::Exited(run, Exit::Signal(9), Usage::default())
}

impl Stage {
    /// Connected and welcomed at 0 s, in epoch 3.
    fn new() -> Self {
        let mut stage = Self { duties: Duties::new(7, 1, None, profile()), lines: Vec::new() };
        stage.connect(0.0);
        stage.lines.clear();
        stage
    }

    fn connect(&mut self, seconds: f64) {
        self.on(seconds, Event::Connected);
        self.welcome(seconds, 3);
    }

    fn welcome(&mut self, seconds: f64, epoch: u32) {
        self.hear(seconds, welcome(epoch, Vec::new()));
    }

    fn hear(&mut self, seconds: f64, message: ToAgent) {
        self.on(seconds, Event::Received(message));
    }

    /// Runs a program whose folder is made and which begins at once.
    fn start(&mut self, seconds: f64, run: Run) -> RunId {
        let id = run.id;
        self.hear(seconds, ToAgent::Run(Box::new(run)));
        self.on(seconds, Event::Prepared(id, Ok(())));
        self.on(seconds, Event::Began(id));
        id
    }

    /// Lets time pass as the driver does, waking whenever something is due; no heartbeat is answered.
    fn pass_until(&mut self, seconds: f64) {
        while let Some(due) = self.duties.due().filter(|due| *due <= at(seconds)) {
            self.on(due.seconds(), Event::Tick);
        }
        self.on(seconds, Event::Tick);
    }

    fn on(&mut self, seconds: f64, event: Event) {
        let now = at(seconds);
        self.duties.handle(now, event);
        while let Some(action) = self.duties.next_action() {
            self.note(now, in_words(&action));
        }
        while let Some(piece) = self.duties.next_piece(now) {
            self.note(now, Some(piece_in_words(&piece)));
        }
    }

    fn note(&mut self, now: Time, words: Option<String>) {
        self.lines.extend(words.map(|words| format!("{} {words}", now.seconds())));
    }

    /// What was done since this was last asked.
    fn done(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

/// Heartbeats that tell of no files, and what is said at every welcome, are left out.
fn in_words(action: &Action) -> Option<String> {
    let name = |run: &RunId| format!("{}.{}", run.task.index(), run.number);
    Some(match action {
        Action::Send(FromAgent::Heartbeat { staging, .. }) if !staging.is_empty() => {
            let told = staging.iter().map(|(run, way)| format!("{} {way:?}", name(run)));
            format!("staging {}", told.collect::<Vec<_>>().join(", ")).to_lowercase()
        }
        Action::Send(FromAgent::Heartbeat { .. } | FromAgent::Knock { .. } | FromAgent::Hello(_))
        | Action::UseToken(_)
        | Action::Remember(_) => {
            return None;
        }
        Action::Send(FromAgent::OwnerLoad { load, .. }) => format!("load {load}"),
        Action::Send(FromAgent::Open { open, .. }) => format!("open {open}"),
        Action::Send(FromAgent::Started(run)) => format!("started {}", name(run)),
        Action::Send(FromAgent::Ended { run, end }) => {
            format!("ended {} {}", name(run), outcome_in_words(&end.outcome))
        }
        Action::Send(other) => format!("send {other:?}"),
        Action::Prove(_) => "prove".into(),
        Action::Close(_) => "close".into(),
        Action::Prepare(run) => format!("prepare {}", name(&run.id)),
        Action::Launch(run) => format!("launch {}", name(&run.id)),
        Action::Signal(run, signal) => format!("{signal:?} {}", name(run)).to_lowercase(),
        Action::Collect(run, wanted) => {
            let checkpoint = if wanted.checkpoint { " checkpoint" } else { "" };
            let files = if wanted.files { " files" } else { "" };
            format!("collect {}{checkpoint}{files}", name(&run.id))
        }
        Action::Clear(run) => format!("clear {}", name(run)),
        Action::Measure => "measure".into(),
        Action::Quit => "quit".into(),
        Action::GiveUp(_) => "give up".into(),
    })
}

fn outcome_in_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exited { code } => format!("exited {code}"),
        Outcome::Abandoned { .. } => "abandoned".into(),
        Outcome::NotStarted { .. } => "not started".into(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn piece_in_words(piece: &Piece) -> String {
    match piece {
        Piece::Output(run, stream, range) => {
            format!("output {}.{} {stream:?} {}+{}", run.task.index(), run.number, range.offset, range.len)
        }
        Piece::End(run, end, [stdout, _]) => {
            let outcome = outcome_in_words(&end.outcome);
            let checkpoint = if end.checkpoint.is_some() { " +checkpoint" } else { "" };
            let tail = if stdout.len > 0 {
                format!(" tail {}+{}", stdout.offset, stdout.len)
            } else {
                String::new()
            };
            format!("ended {}.{} {outcome}{checkpoint}{tail}", run.task.index(), run.number)
        }
    }
}

fn beats(stage: &mut Stage, range: std::ops::RangeInclusive<u64>) {
    for number in range {
        let seconds = (number - 1) as f64 * HEARTBEAT_S;
        stage.pass_until(seconds);
        stage.hear(seconds, ToAgent::Beat { number, row: 1 });
    }
}

#[test]
fn a_run_goes_its_way_and_is_forgotten_when_settled() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.on(2.0, exited(run, 0));
    stage.hear(3.0, ToAgent::Settled { run, accepted: true });
    assert_eq!(
        stage.done(),
        ["1 prepare 1.1", "1 launch 1.1", "1 started 1.1", "2 ended 1.1 exited 0", "3 clear 1.1"]
    );
    assert_eq!(stage.duties.runs().count(), 0);
}

#[test]
fn a_heartbeat_tells_whose_files_are_on_their_way() {
    let mut stage = Stage::new();
    let sent = Run { outputs: vec!["result".into()], ..run(1, 1) };
    let beat = |number: u32| f64::from(number) * HEARTBEAT_S;
    stage.hear(1.0, ToAgent::Run(Box::new(sent.clone())));
    stage.pass_until(beat(1));
    stage.hear(beat(1), ToAgent::Beat { number: 2, row: 1 });
    stage.on(beat(1), Event::Prepared(sent.id, Ok(())));
    stage.on(beat(1), Event::Began(sent.id));
    stage.pass_until(beat(2));
    stage.hear(beat(2), ToAgent::Beat { number: 3, row: 1 });
    stage.on(beat(2), exited(sent.id, 0));
    stage.pass_until(beat(3));
    let told: Vec<String> = stage.done().into_iter().filter(|line| line.contains("staging")).collect();
    assert_eq!(told, [format!("{} staging 1.1 in", beat(1)), format!("{} staging 1.1 out", beat(3))]);
}

#[test]
fn nothing_is_run_twice() {
    let mut stage = Stage::new();
    let first = stage.start(1.0, run(1, 2));
    stage.done();
    for stale in [1, 2] {
        stage.hear(2.0, ToAgent::Run(Box::new(run(1, stale))));
    }
    stage.on(3.0, exited(first, 0));
    stage.hear(4.0, ToAgent::Run(Box::new(run(1, 2))));
    stage.hear(5.0, ToAgent::Settled { run: first, accepted: true });
    stage.hear(6.0, ToAgent::Run(Box::new(run(1, 2))));
    // What it does not carry out it answers.
    assert_eq!(
        stage.done(),
        ["2 ended 1.1 abandoned", "3 ended 1.2 exited 0", "5 clear 1.2", "6 ended 1.2 abandoned"]
    );
}

#[test]
fn a_newer_run_waits_until_the_older_is_gone() {
    let mut stage = Stage::new();
    let older = stage.start(1.0, run(1, 1));
    stage.done();
    stage.hear(2.0, ToAgent::Run(Box::new(run(1, 2))));
    stage.on(3.0, killed(older));
    assert_eq!(stage.done(), ["2 kill 1.1", "3 clear 1.1", "3 prepare 1.2"]);
}

#[test]
fn a_stop_gives_grace_and_its_checkpoint_is_stored_before_the_end_is_told() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.done();
    stage.hear(2.0, ToAgent::Stop { run, cause: StopCause::Move });
    stage.hear(3.0, ToAgent::Stop { run, cause: StopCause::Move });
    stage.pass_until(5.0);
    stage.on(5.5, killed(run));
    let collected = Collected { checkpoint: Some(stored()), files: None };
    stage.on(6.0, Event::Collected(run, Ok(collected)));
    assert_eq!(
        stage.done(),
        [
            "2 terminate 1.1",
            "2 thaw 1.1",
            "5 kill 1.1",
            "5.5 collect 1.1 checkpoint",
            "6 ended 1.1 stopped +checkpoint"
        ]
    );
}

#[test]
fn a_checkpoint_that_cannot_be_stored_is_not_reported() {
    let failed = || TransferError::Failed("the disk is full".into());
    let large = || TransferError::TooLarge("17 GiB".into());
    for (error, expected) in [
        (failed(), "4 ended 1.1 abandoned"),
        (
            large(),
            "4 ended 1.1 overlimit { what: \"checkpoint: 17 gib; the one before it stays, if there is one; \
             the task must keep less in gleaner_checkpoint\" }",
        ),
    ] {
        let mut stage = Stage::new();
        let run = stage.start(1.0, with_checkpoint(run(1, 1)));
        stage.hear(2.0, ToAgent::Stop { run, cause: StopCause::Hold });
        stage.on(3.0, killed(run));
        stage.done();
        stage.on(4.0, Event::Collected(run, Err(error)));
        stage.pass_until(6.0);
        assert_eq!(stage.done(), [expected]);
    }
}

#[test]
fn what_cannot_be_stored_now_is_kept_and_tried_again_with_growing_rests() {
    let mut stage = Stage::new();
    let run = stage.start(0.0, Run { outputs: vec!["*".into()], ..run(1, 1) });
    stage.on(0.0, exited(run, 0));
    stage.done();
    let mut at_s = 0.0;
    for times in 1..=12_u32 {
        stage.on(at_s, Event::Collected(run, Err(TransferError::Later("its disk is full".into()))));
        assert_eq!(stage.done(), Vec::<String>::new(), "it rests");
        let due = stage.duties.runs[&run].due(stage.duties.bounds).expect("it is tried again").seconds();
        let average = f64::from(1 << (times - 1).min(10)).min(60.0);
        assert!((average / 2.0..average * 1.5).contains(&(due - at_s)), "{times}: {}", due - at_s);
        at_s = due;
        // The lease is long over: what has ended does not need it.
        stage.connect(at_s);
        stage.on(at_s, Event::Tick);
        let collects = stage.done().iter().filter(|line| line.ends_with("collect 1.1 files")).count();
        assert_eq!(collects, 1);
    }
    stage.on(at_s, Event::Collected(run, Ok(Collected { checkpoint: None, files: Some(stored()) })));
    assert_eq!(stage.done(), [format!("{at_s} ended 1.1 exited 0")]);
}

#[test]
fn what_waits_to_be_stored_is_left_when_it_is_cancelled() {
    for is_under_way in [false, true] {
        let mut stage = Stage::new();
        let run = stage.start(0.0, Run { outputs: vec!["*".into()], ..run(1, 1) });
        stage.on(0.0, exited(run, 0));
        let later = || Event::Collected(id(1, 1), Err(TransferError::Later("it is busy".into())));
        let cancel = ToAgent::Stop { run, cause: StopCause::Cancel };
        if is_under_way {
            stage.hear(1.0, cancel);
            stage.done();
            stage.on(1.0, later());
        } else {
            stage.on(1.0, later());
            stage.done();
            stage.hear(1.0, cancel);
        }
        assert_eq!(stage.done(), ["1 ended 1.1 stopped"]);
    }
}

#[test]
fn what_cannot_be_fetched_now_is_tried_again() {
    let mut stage = Stage::new();
    let run = run(1, 1);
    stage.hear(1.0, ToAgent::Run(Box::new(run)));
    let later = || Err(TransferError::Later("too much goes on".into()));
    stage.on(1.0, Event::Prepared(id(1, 1), later()));
    assert_eq!(stage.done(), ["1 prepare 1.1"]);
    stage.pass_until(2.5);
    assert!(stage.done()[0].ends_with("prepare 1.1"));
    stage.on(3.0, Event::Prepared(id(1, 1), later()));
    stage.on(3.1, Event::Disconnected);
    stage.pass_until(9.0);
    assert_eq!(stage.done(), Vec::<String>::new(), "not without a connection");
    stage.connect(9.0);
    assert_eq!(stage.done().last().map(String::as_str), Some("9 prepare 1.1"));
}

#[test]
fn a_run_whose_output_was_lost_does_not_count_and_the_machine_closes_until_its_disk_works() {
    let lost = || Event::OutputLost(id(1, 1), "no space left".into());
    let mut stage = Stage::new();
    let first = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, lost());
    stage.on(3.0, exited(first, 0));
    stage.on(4.0, Event::DiskWorks);
    assert_eq!(stage.done(), ["2 open false", "2 kill 1.1", "3 ended 1.1 abandoned", "4 open true"]);
    // What was kept cannot be read again.
    let mut stage = Stage::new();
    let first = stage.start(1.0, Run { outputs: vec!["*".into()], ..run(1, 1) });
    let wrote = Event::Wrote { run: first, stream: Stream::Stdout, written: 70, dropped: 0 };
    stage.on(1.0, wrote);
    stage.on(1.0, exited(first, 0));
    stage.done();
    stage.on(1.1, lost());
    assert_eq!(stage.done(), ["1.1 open false", "1.1 ended 1.1 abandoned"]);
}

#[test]
fn before_the_lease_ends_programs_get_their_grace() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    beats(&mut stage, 1..=2);
    stage.on(6.0, Event::Disconnected);
    stage.done();
    // The heartbeat of 5 s was answered: the lease ends at 45 s, the grace 1 s before.
    stage.pass_until(44.0);
    stage.on(44.1, killed(run));
    stage.connect(50.0);
    assert_eq!(
        stage.done(),
        [
            "41 terminate 1.1",
            "41 thaw 1.1",
            "44 kill 1.1",
            "50 load 0",
            "50 open true",
            "50 staging 1.1 out",
            "50 collect 1.1 checkpoint"
        ]
    );
    stage.on(51.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), files: None })));
    assert_eq!(stage.done(), ["51 ended 1.1 abandoned +checkpoint"]);
}

#[test]
fn who_slept_past_the_lease_kills_before_anything_else() {
    for waking in [Event::Tick, Event::Connected, Event::Judged(Verdict::Suspend(Reason::TooHot))] {
        let mut stage = Stage::new();
        stage.start(1.0, run(1, 1));
        stage.done();
        stage.on(1_000.0, waking);
        assert_eq!(stage.done()[0], "1000 kill 1.1");
    }
}

#[test]
fn what_was_not_started_is_not_started_past_the_lease() {
    let mut stage = Stage::new();
    stage.hear(1.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.on(2.0, Event::Disconnected);
    stage.on(100.0, Event::Prepared(id(1, 1), Ok(())));
    stage.connect(101.0);
    let done = stage.done();
    assert!(!done.iter().any(|line| line.contains("launch")), "{done:?}");
    assert!(done.contains(&"101 ended 1.1 abandoned".to_owned()), "{done:?}");
}

#[test]
fn a_silent_coordinator_is_left() {
    let mut stage = Stage::new();
    stage.pass_until(20.0);
    assert_eq!(stage.done(), ["20 close"]);
    stage.on(22.0, Event::Connected);
    stage.hear(22.0, ToAgent::Run(Box::new(run(1, 1))));
    assert_eq!(stage.done(), ["22 close"], "orders before the welcome");
}

#[test]
fn ends_are_told_again_until_they_are_settled_even_to_who_does_not_wait_for_them() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.on(2.0, Event::Disconnected);
    stage.on(3.0, exited(run, 0));
    stage.done();
    for seconds in [4.0, 5.0] {
        stage.connect(seconds);
        stage.hear(seconds, ToAgent::Yours { runs: Vec::new() });
        assert_eq!(
            stage.done().last().map(String::as_str),
            Some(format!("{seconds} ended 1.1 exited 0").as_str())
        );
        stage.on(seconds, Event::Disconnected);
    }
    stage.connect(6.0);
    stage.hear(6.0, ToAgent::Settled { run, accepted: false });
    assert_eq!(stage.done().last().map(String::as_str), Some("6 clear 1.1"));
}

#[test]
fn what_the_coordinator_disowns_is_killed_and_forgotten() {
    let mut stage = Stage::new();
    let (ours, other) = (stage.start(1.0, run(1, 1)), stage.start(1.0, run(2, 1)));
    stage.hear(1.0, ToAgent::Run(Box::new(run(3, 1))));
    stage.done();
    stage.hear(2.0, ToAgent::Yours { runs: vec![ours, id(9, 1)] });
    stage.on(3.0, killed(other));
    stage.on(4.0, Event::Prepared(id(3, 1), Ok(())));
    assert_eq!(stage.done(), ["2 kill 2.1", "2 clear 3.1", "3 clear 2.1", "4 clear 3.1"]);
    assert_eq!(stage.duties.runs().collect::<Vec<_>>(), [ours]);
}

/// The journal was put back, and other tasks got the numbers.
#[test]
fn runs_of_a_past_that_is_no_more_end_and_nothing_is_said_of_them() {
    let mut stage = Stage::new();
    let (alive, over) = (stage.start(1.0, run(1, 1)), stage.start(1.0, run(2, 1)));
    stage.on(2.0, Event::Disconnected);
    stage.on(3.0, exited(over, 0));
    stage.on(4.0, Event::Connected);
    stage.done();
    stage.hear(4.0, welcome(4, vec![alive, over]));
    stage.on(4.5, Event::Wrote { run: alive, stream: Stream::Stdout, written: 1 << 20, dropped: 0 });
    stage.hear(5.0, ToAgent::Run(Box::new(Run { lineage: lineage(4), ..run(1, 1) })));
    stage.on(6.0, killed(alive));
    assert_eq!(
        stage.done(),
        ["4 kill 1.1", "4 clear 2.1", "4 load 0", "4 open true", "5 ended 1.1 abandoned", "6 clear 1.1"]
            .map(str::to_owned)
            .to_vec()
    );
}

#[test]
fn an_order_for_what_was_settled_here_is_answered_and_one_of_another_past_is_carried_out() {
    let mut stage = Stage::new();
    let done = stage.start(1.0, run(1, 1));
    stage.on(2.0, exited(done, 0));
    stage.hear(2.0, ToAgent::Settled { run: done, accepted: true });
    stage.done();
    stage.hear(3.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.hear(4.0, ToAgent::Run(Box::new(Run { lineage: lineage(4), ..run(1, 1) })));
    assert_eq!(stage.done(), ["3 ended 1.1 abandoned", "4 prepare 1.1"]);
}

#[test]
fn who_may_come_again_does_and_who_may_not_ends() {
    let mut stage = Stage::new();
    let why = String::new;
    stage.hear(1.0, ToAgent::Refused { why: why(), for_good: false });
    stage.hear(2.0, ToAgent::Refused { why: why(), for_good: true });
    assert_eq!(stage.done(), ["1 close", "2 give up"]);
}

#[test]
fn a_stop_of_what_is_not_here_is_answered() {
    let mut stage = Stage::new();
    stage.hear(1.0, ToAgent::Stop { run: id(1, 1), cause: StopCause::Cancel });
    assert_eq!(stage.done(), ["1 ended 1.1 abandoned"]);
    stage
        .hear(2.0, ToAgent::Run(Box::new(with_checkpoint(Run { resume_from: Some(stored()), ..run(2, 4) }))));
    stage.hear(3.0, ToAgent::Stop { run: id(2, 4), cause: StopCause::Move });
    assert_eq!(
        stage.done(),
        ["2 prepare 2.4", "3 ended 2.4 stopped +checkpoint"],
        "it has not gone on from it"
    );
}

#[test]
fn time_is_limited_but_suspended_time_does_not_count() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, Run { needs: Needs { time_limit_s: 10.0, ..Needs::default() }, ..run(1, 1) });
    beats(&mut stage, 1..=1);
    stage.on(4.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.on(14.0, Event::Judged(Verdict::Run));
    stage.done();
    stage.pass_until(19.0);
    assert_eq!(stage.done(), Vec::<String>::new());
    for number in 2..=4 {
        stage.hear(19.0, ToAgent::Beat { number, row: 1 });
    }
    stage.pass_until(21.0);
    stage.on(22.0, killed(run));
    assert_eq!(stage.done(), ["21 terminate 1.1", "21 thaw 1.1", "22 ended 1.1 timedout"]);
}

#[test]
fn a_folder_that_is_too_large_ends_its_run_at_once() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, Event::FolderTooLarge(run));
    stage.on(3.0, killed(run));
    assert_eq!(stage.done(), ["2 kill 1.1", "3 ended 1.1 overlimit { what: \"disk\" }"]);
}

#[test]
fn the_owner_wins_over_all_but_a_programs_grace() {
    let mut stage = Stage::new();
    let (first, second) = (stage.start(1.0, run(1, 1)), stage.start(1.0, run(2, 1)));
    stage.hear(1.5, ToAgent::Stop { run: second, cause: StopCause::Move });
    stage.done();
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.start(2.5, run(3, 1));
    stage.on(3.0, Event::Judged(Verdict::NoNewTasks(Reason::Draining)));
    assert_eq!(
        stage.done(),
        [
            "2 freeze 1.1",
            "2 load 1",
            "2 open false",
            "2.5 prepare 3.1",
            "3 thaw 1.1",
            "3 load 0",
            "3 open false",
            "3 ended 3.1 abandoned"
        ],
        "and what came too late does not start"
    );
    stage.hear(3.5, ToAgent::SetPaused { paused: true });
    stage.on(3.6, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.hear(3.7, ToAgent::SetPaused { paused: false });
    let done = stage.done();
    let frozen: Vec<_> =
        done.iter().filter(|line| line.contains("freeze") || line.contains("thaw")).collect();
    assert_eq!(frozen, ["3.5 freeze 1.1"], "whoever lets go first does not decide: {first:?}");
}

fn bounds() -> Bounds {
    Rules::default().bounds()
}

fn with_grace(grace_s: f64, run: Run) -> Run {
    Run { checkpoint: Checkpointing { grace_s, ..run.checkpoint.clone() }, ..run }
}

fn span(seconds: f64) -> Span {
    Span::from_seconds(seconds).expect("a span of the test")
}

/// A guest asked for a day, and had the machine for a day after every order to leave it.
#[test]
fn the_owner_says_how_long_a_grace_is_whoever_asks_the_run_to_end() {
    for end in [
        Event::Received(ToAgent::Stop { run: id(1, 1), cause: StopCause::Cancel }),
        Event::Received(ToAgent::Stop { run: id(1, 1), cause: StopCause::Move }),
        Event::Evict,
        Event::Leave,
    ] {
        let mut stage = Stage::new();
        stage.on(0.0, Event::Ruled(Bounds { grace_max: span(4.0), ..bounds() }));
        stage.start(1.0, with_grace(86_400.0, run(1, 1)));
        stage.done();
        let words = format!("{end:?}");
        stage.on(2.0, end);
        stage.pass_until(7.0);
        assert!(stage.done().contains(&"6 kill 1.1".to_owned()), "{words}");
    }
}

#[test]
fn who_gets_less_than_they_asked_for_is_told() {
    let bounds = Bounds { grace_max: span(4.0), time_max: Some(span(60.0)), ..bounds() };
    let long = Needs { time_limit_s: 61.0, ..Needs::default() };
    for (run, expected) in [
        (with_grace(4.0, run(1, 1)), &[][..]),
        (
            Run { needs: long, ..with_grace(5.0, run(1, 1)) },
            &[
                "the machine's owner allows 4 s of grace, not the 5 s that were asked for",
                "the machine's owner allows 60 s of running, not the 61 s that were asked for",
            ],
        ),
        (with_grace(f64::NAN, run(1, 1)), &[]),
    ] {
        assert_eq!(bounds.cuts(&run), expected);
    }
}

#[test]
fn what_comes_while_the_owner_pauses_starts_afterwards() {
    let mut stage = Stage::new();
    stage.on(1.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.hear(2.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.on(3.0, Event::Prepared(id(1, 1), Ok(())));
    stage.done();
    stage.on(4.0, Event::Judged(Verdict::Run));
    stage.on(5.0, Event::Began(id(1, 1)));
    assert_eq!(stage.done(), ["4 launch 1.1", "4 load 0", "4 open true", "5 started 1.1"]);
}

#[test]
fn what_was_suspended_for_too_long_has_to_leave() {
    let mut stage = Stage::new();
    stage.on(0.0, Event::Ruled(Bounds { suspended_max: Some(span(10.0)), ..bounds() }));
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.done();
    beats(&mut stage, 1..=2);
    stage.pass_until(13.0);
    stage.on(13.5, killed(run));
    assert_eq!(stage.done(), ["12 terminate 1.1", "12 thaw 1.1", "13.5 collect 1.1 checkpoint"]);
}

#[test]
fn the_owner_bounds_how_long_a_run_takes_that_names_no_limit() {
    let mut stage = Stage::new();
    stage.on(0.0, Event::Ruled(Bounds { time_max: Some(span(10.0)), ..bounds() }));
    stage.start(1.0, run(1, 1));
    stage.done();
    stage.pass_until(12.0);
    assert_eq!(stage.done(), ["11 terminate 1.1", "11 thaw 1.1"]);
}

#[test]
fn output_goes_before_the_end_and_again_after_a_reconnection() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    let wrote = |written| Event::Wrote { run: id(1, 1), stream: Stream::Stdout, written, dropped: 0 };
    stage.done();
    stage.on(2.0, wrote(70_000));
    stage.pass_until(3.0);
    assert_eq!(stage.done(), ["2 output 1.1 Stdout 0+65536", "2.1 output 1.1 Stdout 65536+4464"]);
    stage.pass_until(5.0);
    stage.hear(5.1, ToAgent::Beat { number: 2, row: 1 });
    stage.on(6.0, wrote(70_010));
    stage.pass_until(6.2);
    stage.on(7.0, Event::Disconnected);
    stage.on(7.1, wrote(70_020));
    stage.on(7.2, exited(run, 0));
    stage.done();
    stage.connect(8.0);
    assert_eq!(stage.done(), ["8 load 0", "8 open true", "8 ended 1.1 exited 0 tail 70000+20"]);
}

#[test]
fn who_leaves_stops_reports_and_then_quits() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.done();
    stage.on(2.0, Event::Leave);
    stage.on(3.0, exited(run, 7));
    stage.on(4.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), files: None })));
    stage.hear(5.0, ToAgent::Settled { run, accepted: true });
    assert_eq!(
        stage.done(),
        [
            "2 open false",
            "2 terminate 1.1",
            "2 thaw 1.1",
            "3 collect 1.1 checkpoint",
            "4 ended 1.1 abandoned +checkpoint",
            "5 clear 1.1",
            "5 quit"
        ]
    );
}

/// A coordinator that was started again does not know who sent which file.
#[test]
fn what_a_run_left_is_stored_again_when_asked_for() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.hear(1.5, ToAgent::StoreAgain { run });
    stage.hear(2.0, ToAgent::Stop { run, cause: StopCause::Move });
    stage.on(3.0, exited(run, 7));
    stage.on(4.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), files: None })));
    stage.done();
    stage.hear(5.0, ToAgent::StoreAgain { run });
    stage.on(6.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), files: None })));
    stage.hear(7.0, ToAgent::Settled { run, accepted: true });
    stage.hear(8.0, ToAgent::StoreAgain { run });
    assert_eq!(
        stage.done(),
        ["5 staging 1.1 out", "5 collect 1.1 checkpoint", "6 ended 1.1 stopped +checkpoint", "7 clear 1.1"]
    );
}

#[test]
fn who_leaves_does_not_wait_for_ever() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, Event::Leave);
    stage.on(2.5, Event::LeaveAtOnce);
    stage.on(2.6, killed(run));
    let expected = ["2 open false", "2 terminate 1.1", "2 thaw 1.1", "2.5 kill 1.1", "2.6 quit"];
    assert_eq!(
        stage.done()[..5],
        expected,
        "what came of it, the coordinator sees when another agent starts here"
    );
}
