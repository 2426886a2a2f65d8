//! Whatever a recipe makes, as one type.

use crate::forecast::{Forecast, Source};
use crate::queue::HeldBack;
use crate::sites::HeldBackOverSites;
use crate::{Backfiller, Batcher, Broker, Dispatcher, Matchmaker, Peer};
use gleaner_core::{Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{Ops, RunId, TaskClassId, TaskId, Time};

/// The policy of a recipe that is known only when the program runs.
#[derive(Clone, Debug)]
pub enum AnyPolicy {
    /// Of a recipe that places each task by itself.
    Matchmaker(Matchmaker),
    /// Of a recipe for a site among peers.
    Peer(Peer),
    /// Of a recipe for batches.
    Batcher(Batcher),
    /// Of a recipe for brokers, which go by what sites publish.
    Broker(Broker),
    /// Of a recipe for rigid jobs in a line.
    Backfiller(Box<Backfiller>),
    /// Of a recipe for rigid jobs over sites.
    Dispatcher(Dispatcher),
}

impl AnyPolicy {
    /// How long it believes a task to be, where anything is known of that.
    pub fn length(&self, grid: &Grid, task: TaskId) -> Option<Ops> {
        self.forecast().map_or_else(|| grid.declared_length(task), |forecast| forecast.known(grid, task))
    }

    /// Where that comes from, if it goes by what ran before. Of a task of which nothing is known a queue believes that it
    /// never ends, which is no length.
    pub fn source_of_length(&self, grid: &Grid, task: TaskId) -> Option<Source> {
        let forecast = self.forecast().filter(|forecast| forecast.is_learnt())?;
        let source = forecast.source(grid, task);
        let is_queue = matches!(self, AnyPolicy::Backfiller(_));
        (source != Source::Nobody || !is_queue).then_some(source)
    }

    /// The same of the task of a run, by what that has done.
    pub fn expected_length(&self, grid: &Grid, now: Time, run: RunId) -> Option<Ops> {
        let declared = || grid.declared_length(run.task);
        self.forecast().map_or_else(declared, |forecast| forecast.expected(grid, now, run))
    }

    /// Up to which price the tasks that are paid for as one of a class may go, where the rule has one. Costs O(machines).
    pub fn price(&self, grid: &Grid, now: Time, class: TaskClassId) -> Option<f64> {
        match self {
            AnyPolicy::Batcher(policy) => policy.price(grid, now, class),
            _ => None,
        }
    }

    /// What a queue keeps a task that waits from, as things stand; none if nothing does. Costs O(waiting tasks).
    pub fn holds_back(&self, grid: &Grid, now: Time, task: TaskId) -> Option<HeldBack> {
        match self {
            AnyPolicy::Backfiller(policy) => policy.holds_back(grid, now, task),
            _ => None,
        }
    }

    /// What a rule over sites keeps a job that waits from, likewise. Costs O(jobs that wait) looks.
    pub fn holds_back_over_sites(&self, grid: &Grid, now: Time, task: TaskId) -> Option<HeldBackOverSites> {
        match self {
            AnyPolicy::Dispatcher(policy) => policy.holds_back(grid, now, task),
            _ => None,
        }
    }

    /// A run that another policy sent ahead, where this one sends none and would leave it there.
    fn stranded(&self, grid: &Grid) -> Option<RunId> {
        let sends_ahead = matches!(self, AnyPolicy::Matchmaker(policy) if policy.sends_ahead());
        (!sends_ahead).then(|| grid.first_ahead()).flatten()
    }

    /// Whether tasks are still planned as another policy planned them, where this one plans none: their credits would be held until
    /// they start.
    fn has_foreign_plans(&self, grid: &Grid, now: Time) -> bool {
        let plans = grid.plans();
        !plans.is_empty() && !matches!(self, AnyPolicy::Batcher(_)) && plans.collected_at() != Some(now)
    }

    fn forecast(&self) -> Option<&Forecast> {
        match self {
            AnyPolicy::Batcher(policy) => Some(policy.forecast()),
            AnyPolicy::Backfiller(policy) => Some(policy.forecast()),
            AnyPolicy::Matchmaker(policy) => policy.forecast(),
            AnyPolicy::Peer(_) | AnyPolicy::Broker(_) | AnyPolicy::Dispatcher(_) => None,
        }
    }
}

impl Policy for AnyPolicy {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        match self {
            AnyPolicy::Matchmaker(policy) => policy.observe(grid, change),
            AnyPolicy::Peer(policy) => policy.observe(grid, change),
            AnyPolicy::Batcher(policy) => policy.observe(grid, change),
            AnyPolicy::Broker(policy) => policy.observe(grid, change),
            AnyPolicy::Backfiller(policy) => policy.observe(grid, change),
            AnyPolicy::Dispatcher(policy) => policy.observe(grid, change),
        }
    }

    // One look at which policy it is, not one for each change.
    fn observe_all(&mut self, grid: &Grid, changes: &[Change]) {
        match self {
            AnyPolicy::Matchmaker(policy) => policy.observe_all(grid, changes),
            AnyPolicy::Peer(policy) => policy.observe_all(grid, changes),
            AnyPolicy::Batcher(policy) => policy.observe_all(grid, changes),
            AnyPolicy::Broker(policy) => policy.observe_all(grid, changes),
            AnyPolicy::Backfiller(policy) => policy.observe_all(grid, changes),
            AnyPolicy::Dispatcher(policy) => policy.observe_all(grid, changes),
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        if let Some(run) = self.stranded(grid) {
            return Some(Decision::TakeBack { task: run.task });
        }
        if self.has_foreign_plans(grid, now) {
            return Some(Decision::Collect);
        }
        match self {
            AnyPolicy::Matchmaker(policy) => policy.propose(grid, now, occasion),
            AnyPolicy::Peer(policy) => policy.propose(grid, now, occasion),
            AnyPolicy::Batcher(policy) => policy.propose(grid, now, occasion),
            AnyPolicy::Broker(policy) => policy.propose(grid, now, occasion),
            AnyPolicy::Backfiller(policy) => policy.propose(grid, now, occasion),
            AnyPolicy::Dispatcher(policy) => policy.propose(grid, now, occasion),
        }
    }

    fn rebuild(&mut self, grid: &Grid) {
        match self {
            AnyPolicy::Matchmaker(policy) => policy.rebuild(grid),
            AnyPolicy::Peer(policy) => policy.rebuild(grid),
            AnyPolicy::Batcher(policy) => policy.rebuild(grid),
            AnyPolicy::Broker(policy) => policy.rebuild(grid),
            AnyPolicy::Backfiller(policy) => policy.rebuild(grid),
            AnyPolicy::Dispatcher(policy) => policy.rebuild(grid),
        }
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        match self {
            AnyPolicy::Matchmaker(policy) => policy.check(grid),
            AnyPolicy::Peer(policy) => policy.check(grid),
            AnyPolicy::Batcher(policy) => policy.check(grid),
            AnyPolicy::Broker(policy) => policy.check(grid),
            AnyPolicy::Backfiller(policy) => policy.check(grid),
            AnyPolicy::Dispatcher(policy) => policy.check(grid),
        }
    }
}
