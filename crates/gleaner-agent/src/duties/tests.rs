//! Histories as tables: what happens at which second, and what is done about it.

mod ahead;
mod away;
mod limits;
mod owner;
mod runs;

use super::*;
use crate::owner::{Reason, Verdict};
use gleaner_wire::Lineage;
use gleaner_wire::job::{Checkpointing, Confinement, Needs};
use gleaner_wire::session::{Obstacle, Outcome, StopCause};

const LEASE_S: f64 = 40.0;
const HEARTBEAT_S: f64 = 5.0;

struct Stage {
    duties: Duties,
    lines: Vec<String>,
    /// What was written down.
    kept: Vec<Kept>,
    loads: Vec<(f64, String)>,
    /// The number of the last heartbeat.
    beat: u64,
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
        paused: None,
        is_full: false,
    }
}

fn profile() -> Profile {
    Profile::new([1.0; 3], 2)
}

pub(super) fn run(task: usize, number: u32) -> Run {
    Run {
        id: id(task, number),
        lineage: lineage(3),
        after: None,
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
        fails_at_limit: false,
        resume_from: None,
        answers: None,
        confinement: Confinement::Sandbox,
        signed: None,
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
    fn of(duties: Duties) -> Self {
        Self { duties, lines: Vec::new(), kept: Vec::new(), loads: Vec::new(), beat: 0 }
    }

    /// Connected and welcomed at 0 s, in epoch 3.
    fn new() -> Self {
        let mut stage = Self::of(Duties::new(7, 1, None, profile()));
        stage.connect(0.0);
        stage.lines.clear();
        stage
    }

    /// It is welcomed, and its first heartbeat is answered.
    fn connect(&mut self, seconds: f64) {
        self.on(seconds, Event::Connected);
        self.welcome(seconds, 3);
        self.answer(seconds);
    }

    /// The last heartbeat is answered.
    fn answer(&mut self, seconds: f64) {
        self.hear(seconds, ToAgent::Beat { number: self.beat, row: 1, hash: None, is_full: false });
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
        while let Some(due) = self.duties.due(true).filter(|due| *due <= at(seconds)) {
            self.on(due.seconds(), Event::Tick);
        }
        self.on(seconds, Event::Tick);
    }

    fn on(&mut self, seconds: f64, event: Event) {
        let now = at(seconds);
        self.duties.handle(now, event);
        while let Some(action) = self.duties.next_action() {
            if let Action::Send(FromAgent::Heartbeat { number, .. }) = action {
                self.beat = number;
            }
            if let Action::Send(FromAgent::OwnerLoad { load, why }) = &action {
                self.loads.push((*load, why.clone()));
            }
            if let Action::Keep(kept) = &action {
                self.kept.extend(kept.iter().cloned());
            }
            self.note(now, in_words(&action));
        }
        while let Some(piece) = self.duties.next_piece(now) {
            self.note(now, Some(piece_in_words(&piece)));
        }
    }

    fn note(&mut self, now: Time, words: Option<String>) {
        self.lines.extend(words.map(|words| format!("{} {words}", now.seconds())));
    }

    /// The owner's loads that were told since this was last asked, each with its reason.
    fn loads(&mut self) -> Vec<(f64, String)> {
        std::mem::take(&mut self.loads)
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
        | Action::Note(..)
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
        Action::Keep(kept) => {
            let names = kept.iter().map(|kept| name(&kept.id()));
            format!("keep {}", names.collect::<Vec<_>>().join(", "))
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
        Outcome::NotStarted { obstacle: Obstacle::Machine, .. } => "not started here".into(),
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
            let dropped = if end.stdout.dropped > 0 {
                format!(" dropped {}", end.stdout.dropped)
            } else {
                String::new()
            };
            format!("ended {}.{} {outcome}{checkpoint}{tail}{dropped}", run.task.index(), run.number)
        }
    }
}

fn beats(stage: &mut Stage, range: std::ops::RangeInclusive<u64>) {
    for number in range {
        let seconds = (number - 1) as f64 * HEARTBEAT_S;
        stage.pass_until(seconds);
        stage.hear(seconds, ToAgent::Beat { number, row: 1, hash: None, is_full: false });
    }
}
