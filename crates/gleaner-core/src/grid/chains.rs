//! The runs of one task, from the head of their chain, which the task has.

use super::Grid;
use super::runs::{Run, Stage};
use gleaner_units::{MachineId, RunId, TaskId, Time};

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
    pub(super) fn add_run(&mut self, since: Time, task: TaskId, on: MachineId, stage: Stage) -> RunId {
        let entry = self.tasks.get_mut(task);
        entry.runs += 1;
        let id = RunId::new(task, entry.runs);
        entry.newest = Some(self.runs.insert(Run {
            id,
            on,
            stage,
            since,
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
