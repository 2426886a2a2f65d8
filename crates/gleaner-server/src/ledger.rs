//! All that the coordinator knows for longer than a connection lives, as it follows from the journal's facts.
//!
//! - **The same facts make the same ledger**: it reads no clock and no file. Recovery applies the facts from the last
//!   snapshot on; nothing in here is written by other means.
//! - **What counts as the result of a run is decided here alone** ([`Ledger::is_awaited`]): what the scheduler's grid knows
//!   of the run decides it, and what its user wants.
//! - Facts become the scheduler's events. **What agents are told are the scheduler's orders and nothing else**: no run
//!   gets its number here.

mod acquaintance;
mod agent;
mod avoiding;
mod checking;
mod classes;
mod classing;
mod comparing;
mod descriptions;
mod elsewhere;
mod facts;
mod gap;
mod job;
mod kept_bytes;
mod label;
mod lineages;
mod listed;
mod machines;
mod named;
mod over;
mod people;
mod phases;
mod reading;
mod record;
mod records;
mod resting;
mod results;
mod retiring;
mod reviving;
mod shown;
mod step;
mod tasks;
mod tries;

pub(crate) use acquaintance::Acquaintance;
pub use agent::{Agent, ClosedSince};
pub(crate) use elsewhere::keeps_away;
pub use job::Job;
pub use label::Label;
pub use people::{JoinPermit, People, User};
use record::{Ending, Others};
pub use record::{Record, Wish};
pub use retiring::RetiredTask;
pub(crate) use reviving::to_revive;
pub use shown::Shown;
pub use step::{Loss, Step, Told};
pub(crate) use tasks::OPERATIONS_EACH;
pub use tries::{Tries, Verdict};

use crate::journal::{Entry, Fact, Last};
use crate::policy::earlier_policy;
use crate::store::{Past, TaskRange};
use classes::KnownClasses;
use descriptions::Descriptions;
use elsewhere::Elsewhere;
use gap::Gap;
use gleaner_core::{Command, Decision, Diverged, Event, Grid, GridConfig, Migration, Run, Scheduler, Stage};
use gleaner_policy::{AnyPolicy, PolicySpec};
use gleaner_units::{MachineId, RunId, TaskId, Time, UserId};
use gleaner_wire::api::Tally;
use gleaner_wire::{BlobHash, JobId};
use job::Jobs;
use label::Labels;
use lineages::Lineages;
use named::Named;
use over::Over;
use records::Records;
use resting::Resting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// The format of a snapshot, of the ledger and of the day behind it: another number means that an older or newer program wrote it.
pub const FORMAT: u32 = 33;

/// See the module.
#[derive(Clone)]
pub struct Ledger {
    scheduler: Scheduler<AnyPolicy>,
    books: Books,
    /// It follows from the jobs.
    named: Named,
    /// For agents. Lost ones do no harm: an agent hears all it needs to when it connects.
    orders: Vec<Command>,
    /// What the fact at hand was for tasks.
    told: Vec<Told>,
    /// For the store. What is lost of it can be had from the journal again.
    past: Option<Past>,
    /// Whether classes of tasks that are over are kept: see [`keep_classes`](Self::keep_classes).
    keeps_classes: bool,
}

/// The ledger less the scheduler.
#[derive(Clone, Serialize, Deserialize)]
struct Books {
    epoch: u32,
    /// How many facts there were.
    rows: u64,
    lineages: Lineages,
    began: Time,
    #[serde(with = "as_text")]
    policy: PolicySpec,
    jobs: Jobs,
    records: Records,
    agents: Vec<Agent>,
    people: People,
    labels: Labels,
    classes: KnownClasses,
    resting: Resting,
    over: Over,
    /// The number of the last fact by which anything left memory, or came back.
    past_at: u64,
    elsewhere: Elsewhere,
    /// The jobs that were submitted under a key, by user and key.
    keys: BTreeMap<(String, String), JobId>,
    /// Whoever submitted anything, in the order in which they first did.
    payers: BTreeMap<String, UserId>,
    descriptions: Descriptions,
    /// What is kept for each user.
    bytes: BTreeMap<String, u64>,
    tally: Tally,
    /// The same for each user.
    tallies: BTreeMap<String, Tally>,
    /// What does not count for how long results are kept.
    gaps: Vec<Gap>,
    /// What tasks came to whose answers a user's program compares, by the answers' digests, until they are over.
    answers: BTreeMap<TaskId, BTreeMap<BlobHash, Last>>,
    /// How many seconds runs took that said something of tasks whose answers are compared, and where, until they are over.
    said: BTreeMap<TaskId, Vec<(MachineId, f64)>>,
    /// Those who own machines, in the order in which the first of them joined.
    owners: BTreeMap<String, u32>,
    now: Time,
}

/// A journal that does not lead where it says it did.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ReplayError {
    /// The snapshot cannot be read.
    #[error("what the ledger was saved as cannot be read ({0})")]
    Snapshot(String),
    /// A recorded decision is not one that the grid as it stands would carry out.
    #[error("what was decided at {at} does not follow from what came before: {why}")]
    Decision {
        /// When.
        at: Time,
        /// What does not fit.
        why: Diverged,
    },
}

impl Ledger {
    /// Before the first fact.
    pub fn new() -> Self {
        // One logical operation is one measured operation, whatever its kind.
        let migration = Migration { seconds: 1.0, volume: 0.0, network: 2 };
        let grid = Grid::new(GridConfig { weights: vec![1.0; 3], migration });
        let books = Books {
            epoch: 0,
            rows: 0,
            lineages: Lineages::default(),
            began: Time::ZERO,
            policy: earlier_policy(),
            jobs: Jobs::default(),
            records: Records::default(),
            agents: Vec::new(),
            people: People::default(),
            labels: Labels::default(),
            classes: KnownClasses::default(),
            resting: Resting::default(),
            over: Over::default(),
            past_at: 0,
            elsewhere: Elsewhere::default(),
            keys: BTreeMap::new(),
            payers: BTreeMap::new(),
            descriptions: Descriptions::default(),
            bytes: BTreeMap::new(),
            answers: BTreeMap::new(),
            said: BTreeMap::new(),
            owners: BTreeMap::new(),
            tally: Tally::default(),
            tallies: BTreeMap::new(),
            gaps: Vec::new(),
            now: Time::ZERO,
        };
        Self::of(grid, books)
    }

    fn of(grid: Grid, books: Books) -> Self {
        let scheduler = Scheduler::new(grid, books.policy.recipe().build());
        let named = named_by(&books);
        Self {
            scheduler,
            books,
            named,
            orders: Vec::new(),
            told: Vec::new(),
            past: None,
            keeps_classes: false,
        }
    }

    /// From a snapshot, and what stands behind it there.
    pub fn load(snapshot: &[u8]) -> Result<(Self, &[u8]), ReplayError> {
        let ((grid, books), rest): ((Grid, Books), _) =
            postcard::take_from_bytes(snapshot).map_err(|error| ReplayError::Snapshot(error.to_string()))?;
        Ok((Self::of(grid, books), rest))
    }

    /// As a snapshot.
    ///
    /// # Panics
    /// Never: all of it is plain data.
    pub fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&(self.scheduler.grid(), &self.books)).expect("plain data")
    }

    /// Takes in a fact that was just recorded; returns what it was for the tasks that it is about.
    ///
    /// # Panics
    /// On a decision: [`decide`](Self::decide) has carried it out already.
    pub fn apply(&mut self, entry: &Entry) -> Vec<Told> {
        assert!(!matches!(entry.fact, Fact::Decided { .. }), "a decision is not applied again");
        self.write(entry.at, &entry.fact);
        std::mem::take(&mut self.told)
    }

    /// Takes in a fact from the journal, decisions among them, without deciding anything. Returns what it was for tasks.
    pub fn replay(&mut self, entry: &Entry) -> Result<Vec<Told>, ReplayError> {
        self.past = None;
        if let Fact::Decided { decisions, settled } = &entry.fact {
            let carried = self.scheduler.carry_out(entry.at, decisions, *settled);
            carried.map_err(|why| ReplayError::Decision { at: entry.at, why })?;
            self.decided(entry.at, decisions);
        } else {
            self.write(entry.at, &entry.fact);
        }
        self.orders.clear();
        Ok(std::mem::take(&mut self.told))
    }

    /// Lets the policy answer what happened, if anything did. Returns the fact that records it, also where the answer
    /// was to do nothing, and what it was for tasks.
    pub fn decide(&mut self, now: Time) -> Option<(Fact, Vec<Told>)> {
        if !self.scheduler.is_asked() {
            return None;
        }
        let mut decisions = Vec::new();
        let settled = self.scheduler.decide(now, &mut decisions);
        self.decided(now, &decisions);
        Some((Fact::Decided { decisions, settled }, std::mem::take(&mut self.told)))
    }

    /// The scheduler has decided, and carried it out.
    fn decided(&mut self, at: Time, decisions: &[Decision]) {
        self.note_orders();
        self.books.now = at;
        self.books.rows += 1;
        self.books.lineages.decided();
        for decision in decisions {
            let (step, task, on) = match *decision {
                Decision::Start { task, on } | Decision::Follow { task, on, .. } => (Step::Placed, task, on),
                Decision::TakeBack { task } => {
                    let run = self.first_run(task);
                    self.tell_step(TaskRange::one(task), run, Step::TakenBack);
                    continue;
                }
                Decision::StartWide { task, ref parts } | Decision::Ask { task, ref parts, .. } => {
                    (Step::Placed, task, parts[0].on)
                }
                Decision::Relocate { task, to } => (Step::Moves { to }, task, to),
                Decision::Replicate { task, on } => (Step::Copied, task, on),
                Decision::ReplicateWide { task, ref parts } => (Step::Copied, task, parts[0].on),
                Decision::Collect
                | Decision::Survey { .. }
                | Decision::Plan { .. }
                | Decision::Lending(_)
                | Decision::Wake { .. } => {
                    continue;
                }
            };
            let is_meant = |run: &&Run| (run.on() == on) != matches!(step, Step::Moves { .. });
            let runs = self.grid().runs_of(task).filter(|run| run.stage() != Stage::Missing);
            let run = { runs }.find(is_meant).map(|run| (run.id(), run.on()));
            self.tell_step(TaskRange::one(task), run, step);
        }
    }

    /// What is to be told to agents since the last call.
    pub fn take_orders(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.orders)
    }

    /// Under which number the scheduler knows a user.
    fn payer(&mut self, at: Time, user: &str) -> UserId {
        if let Some(&payer) = self.books.payers.get(user) {
            return payer;
        }
        let payer = UserId::new(self.books.payers.len());
        self.books.payers.insert(user.to_owned(), payer);
        if self.books.people.has_own_quota(user) {
            let cores = self.books.people.quota(user).cores;
            self.tell(at, &Event::CoresCapped { user: Some(payer), cores: Some(cores) });
        }
        payer
    }

    /// Says what the fact at hand was for tasks that are alike.
    fn tell_step(&mut self, tasks: TaskRange, run: Option<(RunId, MachineId)>, step: Step) {
        let told = Told { tasks, step, phase: self.record(tasks.first()).phase, run };
        match self.told.last_mut().and_then(|last| last.joined_by(&told)) {
            Some(both) => *self.told.last_mut().expect("it was just there") = both,
            None => self.told.push(told),
        }
    }

    /// The first run that a task has.
    fn first_run(&self, task: TaskId) -> Option<(RunId, MachineId)> {
        let runs = self.grid().runs_of(task).filter(|run| run.stage() != Stage::Missing);
        runs.map(|run| (run.id(), run.on())).min()
    }

    fn others(&self, task: TaskId) -> Others {
        let runs = self.grid().runs_of(task).any(|run| run.stage() == Stage::Running);
        Others { go_on: self.is_live(task), runs }
    }

    fn tell(&mut self, at: Time, event: &Event) {
        self.scheduler.apply(at, event);
        self.note_orders();
    }

    /// The scheduler's orders are for the agents.
    fn note_orders(&mut self) {
        let orders: Vec<Command> = self.scheduler.take_orders().collect();
        for order in orders {
            let (run, starts_on) = match &order {
                Command::Start { run, on } | Command::StartAfter { run, on, .. } => (*run, Some(*on)),
                Command::StartWide { run, parts } | Command::Ask { run, parts } => {
                    (*run, parts.first().map(|part| part.on))
                }
                Command::Stop { run, .. } => (*run, None),
                Command::Recheck { .. } | Command::Close { .. } => {
                    self.orders.push(order);
                    continue;
                }
                Command::Lending(_) | Command::Survey { .. } => continue,
            };
            if let Some(on) = starts_on {
                self.books.lineages.ordered(run);
                let others = self.others(run.task);
                self.books.records.own(run.task).run_ordered(on, others);
            }
            self.orders.push(order);
        }
    }
}

fn named_by(books: &Books) -> Named {
    let mut named = Named::default();
    for (_, job) in books.jobs.newest_first() {
        named.add(books.payers[&job.user], job);
    }
    named
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

/// A policy is a tree of keys, which a snapshot's format does not describe.
mod as_text {
    use gleaner_policy::PolicySpec;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(policy: &PolicySpec, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(policy).map_err(S::Error::custom)?.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PolicySpec, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
