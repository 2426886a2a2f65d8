//! The runs of all tasks: which there are, where, and how far each is.
//!
//! The runs of one task are a chain, newest first, whose head the task has; what waits has none, or such as its machine
//! took out of reach. **A run is known from when its room is taken until its end is reported**, or until nothing that
//! is said of it could count any more. What speaks of a run that is not known is stale.

use super::Grid;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// How far a run is. One that is over is no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Stage {
    /// Its room is taken; it is sent as soon as the run before it is over.
    Held,
    /// Ordered to its machine, which brings there what it needs; not yet reported running.
    Sent,
    /// Running.
    Running,
    /// Ordered to stop: its room is taken until its end is reported, but the machine's other tasks are not slowed.
    Stopping,
    /// Its machine is out of reach. It takes no room, and its end counts unless the task is given to another before.
    Missing,
}

/// One try at a task.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub(super) id: RunId,
    pub(super) on: MachineId,
    pub(super) stage: Stage,
    /// Once it is stopping or missing: the operations that the next run need not do if what it did is kept.
    pub(super) done: f64,
    /// Another run of its task came to its end first: this one's does not count any more.
    pub(super) is_superseded: bool,
    older: Option<u32>,
}

impl Run {
    /// Its name.
    #[inline]
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Where it is.
    #[inline]
    pub fn on(&self) -> MachineId {
        self.on
    }

    /// How far it is.
    #[inline]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether another run of its task came to its end first, so that this one's counts no more.
    pub fn is_superseded(&self) -> bool {
        self.is_superseded
    }

    /// Whether it counts among those that share its machine.
    #[inline]
    pub fn counts(&self) -> bool {
        matches!(self.stage, Stage::Held | Stage::Sent | Stage::Running)
    }

    /// Whether its machine may be at it.
    pub fn goes_on(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Running | Stage::Stopping)
    }
}

/// A slab: places are used again, the last that became free first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Runs {
    slots: Vec<Run>,
    free: Vec<u32>,
}

impl Runs {
    #[inline]
    fn insert(&mut self, run: Run) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = run;
            return slot;
        }
        self.slots.push(run);
        u32::try_from(self.slots.len() - 1).expect("fewer runs than 2^32 at a time")
    }

    #[inline]
    fn chain(&self, newest: Option<u32>) -> impl Iterator<Item = &Run> + '_ {
        let at = |slot: u32| &self.slots[slot as usize];
        std::iter::successors(newest.map(at), move |run| run.older.map(at))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl Grid {
    /// The runs of a task that are not over, newest first.
    #[inline]
    pub fn runs_of(&self, task: TaskId) -> impl Iterator<Item = &Run> + '_ {
        self.runs.chain(self.tasks.get(task).newest)
    }

    /// A run that is not over.
    #[inline]
    pub fn find_run(&self, id: RunId) -> Option<&Run> {
        self.runs_of(id.task).find(|run| run.id == id)
    }

    /// The machine that a task is on, or on its way to, as far as it is to stay there; of several the one that it was
    /// given to last.
    pub fn placed_on(&self, task: TaskId) -> Option<MachineId> {
        self.runs_of(task).find(|run| run.counts()).map(Run::on)
    }

    /// Whether several runs of a task are on machines or on their way to one: it is not moved then.
    #[inline]
    pub fn has_replicas(&self, task: TaskId) -> bool {
        let newest = self.tasks.get(task).newest;
        let has_older = newest.is_some_and(|slot| self.runs.slots[slot as usize].older.is_some());
        has_older && self.runs_of(task).filter(|run| run.stage != Stage::Missing).count() > 1
    }

    /// How many operations of its task are done by what a run did, and those before it where it goes on from them: at
    /// whatever speeds its machine had. Costs O(log tasks there).
    pub fn ops_done(&self, now: Time, id: RunId) -> f64 {
        let Some(run) = self.find_run(id) else { return 0.0 };
        if !run.counts() {
            return run.done;
        }
        let class = self.task(id.task).class;
        self.machine(run.on).ops_done(now, class, id, self.seconds_per_op(class, run.on))
    }

    /// The seconds until a run is done by its task's declared length, as fast as it goes now; none left if it should have
    /// been done already, and nothing for one that is to stop or was lost. Costs O(log tasks there).
    pub fn seconds_left(&self, now: Time, id: RunId) -> Option<f64> {
        let on = self.find_run(id).filter(|run| run.counts())?.on;
        let class = self.task(id.task).class;
        let length = (self.declared_length(id.task)?.amount(), self.seconds_per_op(class, on));
        Some(self.machine(on).seconds_left(now, (class, id), length))
    }

    /// The next run of a task gets its number.
    pub(super) fn add_run(&mut self, task: TaskId, on: MachineId, stage: Stage) -> RunId {
        let entry = self.tasks.get_mut(task);
        entry.runs += 1;
        let id = RunId::new(task, entry.runs);
        entry.newest = Some(self.runs.insert(Run {
            id,
            on,
            stage,
            done: 0.0,
            is_superseded: false,
            older: entry.newest,
        }));
        id
    }

    /// A run is over.
    pub(super) fn forget_run(&mut self, id: RunId) {
        let newest = self.tasks.get(id.task).newest;
        let (mut newer, mut slot) = (None, newest);
        while let Some(at) = slot {
            let Run { id: found, older, .. } = self.runs.slots[at as usize];
            if found == id {
                match newer {
                    Some(newer) => self.runs.slots[newer as usize].older = older,
                    None => self.tasks.get_mut(id.task).newest = older,
                }
                self.runs.free.push(at);
                return;
            }
            (newer, slot) = (Some(at), older);
        }
        panic!("{id} is over already");
    }

    /// All runs of a task are over.
    pub(super) fn forget_runs(&mut self, task: TaskId) {
        while let Some(slot) = self.tasks.get(task).newest {
            self.tasks.get_mut(task).newest = self.runs.slots[slot as usize].older;
            self.runs.free.push(slot);
        }
    }

    pub(super) fn run_mut(&mut self, id: RunId) -> &mut Run {
        let mut slot = self.tasks.get(id.task).newest;
        while let Some(at) = slot.map(|at| at as usize) {
            if self.runs.slots[at].id == id {
                return &mut self.runs.slots[at];
            }
            slot = self.runs.slots[at].older;
        }
        panic!("{id} is over");
    }
}
