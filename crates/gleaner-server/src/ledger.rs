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
mod classes;
mod classing;
mod comparing;
mod descriptions;
mod elsewhere;
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
mod shown;
mod step;
mod tasks;
mod tries;

pub(crate) use acquaintance::Acquaintance;
pub use agent::Agent;
pub(crate) use elsewhere::keeps_away;
pub use job::Job;
pub use label::Label;
pub use people::{JoinPermit, People, User};
use record::{Ending, Others};
pub use record::{Record, Wish};
pub use retiring::RetiredTask;
pub(crate) use retiring::to_revive;
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
use gleaner_wire::api::{Quota, Tally, TaskPhase};
use gleaner_wire::{BlobHash, JobId, Lineage};
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
pub const FORMAT: u32 = 31;

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

    /// Asserts that every index is what it would be if derived afresh. Costs O(machines + tasks): for tests and for
    /// `gleaner journal verify`.
    pub fn check(&self) -> Result<(), String> {
        self.scheduler.check()?;
        if self.named != named_by(&self.books) {
            return Err("the files that jobs name are not those that are listed".to_owned());
        }
        self.check_classes()?;
        if let Some(run) = self.books.lineages.of_retired(self.grid()) {
            return Err(format!("when {run} was ordered is known, and its task is not"));
        }
        let mut descriptions = Descriptions::default();
        for (id, job) in self.books.jobs.newest_first() {
            descriptions.add(id, job.spec.memory_bytes());
            if job.tally.open() > 0 {
                descriptions.open(id, &job.user);
            }
            let mut tally = Tally { waiting: job.count, ..Tally::default() };
            for task in job.tasks() {
                job::count(&mut tally, 1, TaskPhase::Waiting, self.record(task).phase);
                let is_unknown =
                    |run: &&Run| run.stage() != Stage::Held && self.lineage_of(run.id()).is_none();
                if let Some(run) = self.grid().runs_of(task).find(is_unknown) {
                    return Err(format!("nobody knows when {} was ordered", run.id()));
                }
            }
            let retired = job.tasks().filter(|task| self.is_retired(*task)).count();
            if retired != job.retired as usize || retired == job.count as usize {
                return Err(format!(
                    "of job {id} {} tasks are said to be retired, and {retired} are",
                    job.retired
                ));
            }
            let over = job.tasks().filter(|task| self.record(*task).ended.is_some());
            if let Some(task) = { over }.find(|task| !self.is_listed_as_over(*task)) {
                return Err(format!("{task} is over, and not listed as such"));
            }
            if tally != job.tally {
                return Err(format!("job {id} counts {:?} where its tasks make {tally:?}", job.tally));
            }
        }
        if self.books.descriptions != descriptions {
            return Err(format!("descriptions take {descriptions:?}, not {:?}", self.books.descriptions));
        }
        Ok(())
    }

    fn write(&mut self, at: Time, fact: &Fact) {
        if matches!(fact, Fact::CoordinatorStarted { .. } | Fact::JournalRestored { .. }) {
            self.note_gap(at);
        }
        self.books.now = at;
        self.books.rows += 1;
        match fact {
            Fact::CoordinatorStarted { epoch, lineage, seed, policy, .. } => {
                self.started(at, (*epoch, *lineage), *seed, policy.as_ref());
            }
            Fact::JournalRestored { lineage } => self.books.lineages.restored(*lineage),
            Fact::CoordinatorSlept { length } => self.add_gap(at, *length),
            Fact::PolicySet { policy, .. } => self.set_policy(at, policy.clone()),
            Fact::PriceSet { agent, price, .. } => self.priced(at, *agent, *price),
            Fact::MachineOwnerSet { agent, owner, .. } => self.owner_set(at, *agent, owner.as_deref()),
            Fact::QuotaSet { user, quota, .. } => self.quota_set(at, user.as_deref(), *quota),
            Fact::UserAdded { user, token, role, expires, .. } => {
                let user = User { name: user.clone(), role: *role, expires: *expires };
                self.books.people.add(user, token.clone());
            }
            Fact::UserRemoved { user, .. } => self.books.people.remove(user),
            Fact::JoinTokenIssued { token, expires, uses, owner, .. } => {
                let permit = JoinPermit { expires: *expires, uses: *uses, owner: owner.clone() };
                self.books.people.issue(at, token.clone(), permit);
            }
            Fact::JoinTokenRemoved { token, .. } => self.books.people.withdraw(token),
            Fact::AgentEnrolled { agent, name, key, token, profile } => {
                let owner = self.books.people.joins(token.clone(), *agent);
                let agent_of = Agent { owner, ..Agent::new(name.clone(), key.clone(), profile.clone()) };
                self.enrolled(at, *agent, agent_of);
            }
            Fact::AgentRevoked { agent, .. } => self.revoked(at, *agent),
            Fact::AgentForgotten { agent, .. } => self.forgotten(at, *agent),
            Fact::SpeedDoubted { agent, share, why } => self.doubted(at, *agent, *share, why),
            Fact::AgentStarted { agent, incarnation, profile, brings } => {
                self.started_afresh(at, *agent, *incarnation, profile, brings);
            }
            Fact::MachineProfiled { agent, profile } => self.profiled(at, *agent, profile),
            Fact::LeaseExpired { agent } => self.given_up(at, *agent),
            Fact::AgentReturned { agent, brings } => {
                self.returned(at, *agent);
                self.await_brought(at, (*agent, brings));
            }
            Fact::MachineOpened { agent, open, why, by } => self.opened(at, *agent, *open, why, by),
            Fact::MachinePaused { agent, paused, by } => self.paused(at, *agent, *paused, by),
            Fact::OwnerLoadReported { agent, load, why } => self.load_reported(at, *agent, *load, why),
            Fact::JobSubmitted { job, user, spec, key, bytes, described } => {
                self.submitted(at, *job, user, spec, (key.as_deref(), *bytes, *described));
            }
            Fact::TasksCancelled(chosen) => self.wished(at, chosen, Wish::Cancel),
            Fact::TasksHeld(chosen) => self.wished(at, chosen, Wish::Hold),
            Fact::TasksReleased(chosen) => self.released(at, chosen),
            Fact::TasksRerun(chosen) => self.rerun(at, chosen),
            Fact::TasksRetired(tasks) => self.retire(at, tasks),
            Fact::TasksRevived(revived) => self.revive(at, revived),
            Fact::ResultsKept { job, keep, .. } => self.results_kept(*job, *keep),
            Fact::ResultsRemoved { jobs, kept_for } => self.results_removed(at, jobs, *kept_for),
            Fact::ResultsGone(jobs) => self.results_gone(jobs),
            Fact::JobsForgotten { jobs, described, .. } => self.jobs_forgotten(jobs, described),
            Fact::TasksRested(tasks) => self.rested(at, tasks),
            Fact::RunStarted(run) => self.run_started(at, *run),
            Fact::RunEnded { run, agent, end, answer, is_left } => {
                self.run_ended(at, (*run, *agent), end, (answer.as_deref(), *is_left));
            }
            Fact::ResultRefused { run, agent, end } => self.result_refused(at, *run, *agent, end),
            Fact::WokeUp { alarm } => self.tell(at, &Event::WokeUp { alarm: *alarm }),
            Fact::Decided { .. } | Fact::JournalCompacted { .. } => {}
        }
    }

    fn started(
        &mut self,
        at: Time,
        (epoch, lineage): (u32, Lineage),
        seed: u64,
        policy: Option<&PolicySpec>,
    ) {
        self.books.lineages.started(lineage, self.books.rows);
        if self.books.epoch == 0 {
            self.books.began = at;
        }
        self.books.epoch = epoch;
        self.tell(at, &Event::SeedDrawn(seed));
        match policy {
            Some(policy) => self.set_policy(at, policy.clone()),
            // A start knows only what the grid tells, and so does whoever decides again from the journal.
            None => self.scheduler.set_policy(self.recipe().build()),
        }
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

    fn quota_set(&mut self, at: Time, user: Option<&str>, quota: Option<Quota>) {
        self.books.people.set_quota(user, quota);
        // A user of whom nothing was submitted yet is known by no number.
        let payer = user.map(|user| self.books.payers.get(user).copied());
        if payer != Some(None) {
            let cores = quota.or_else(|| user.is_none().then(Quota::default)).map(|quota| quota.cores);
            self.tell(at, &Event::CoresCapped { user: payer.flatten(), cores });
        }
    }

    /// Tasks came back that the scheduler had forgotten: a policy that learns goes by what is there now, as after a start. Costs
    /// O(tasks ever) then.
    fn learn_anew(&mut self) {
        if self.recipe().lengths.is_learnt() {
            self.scheduler.set_policy(self.recipe().build());
        }
    }

    fn set_policy(&mut self, at: Time, policy: PolicySpec) {
        let learnt = self.recipe().lengths.is_learnt();
        let rule = policy.rule();
        self.books.policy = policy;
        self.scheduler.set_rule(at, rule);
        self.note_orders();
        if learnt && !self.recipe().lengths.is_learnt() {
            self.forget_what_was_learnt_from(at);
        }
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
