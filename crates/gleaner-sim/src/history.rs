use crate::stays::{Stay, Stays};
use gleaner_core::Accounts;
use gleaner_units::{Credits, MachineId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// What became of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TaskHistory {
    /// The last machine it was sent to; none if it was never started.
    pub machine: Option<MachineId>,
    /// How often it was moved.
    pub moves: u32,
    /// When it first began to run; [`Time::NEVER`] if it did not.
    pub started: Time,
    /// When it ended; [`Time::NEVER`] if it did not.
    pub finished: Time,
}

impl TaskHistory {
    pub(crate) const NEW: TaskHistory =
        TaskHistory { machine: None, moves: 0, started: Time::NEVER, finished: Time::NEVER };
}

/// From a moment on, so many tasks run on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TimelineRow {
    /// From when.
    pub time: Time,
    /// Where.
    pub machine: MachineId,
    /// How many.
    pub tasks: u32,
}

/// A period of the budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Period {
    /// When it began.
    pub start: Time,
    /// What was spent in it from all accounts, less what was given back in it.
    pub spent: Credits,
    /// What was not, from the one account or from those of all users, and nobody could spend later.
    pub left: Credits,
}

/// What runs did in vain.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Waste {
    /// How many there were.
    pub runs: u64,
    /// The operations that they did.
    pub ops: f64,
}

/// What a simulation leaves behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History {
    tasks: Vec<TaskHistory>,
    finished: usize,
    moves: u64,
    aborts: u64,
    wasted: Waste,
    lost: Waste,
    answered: Waste,
    reopened: u64,
    makespan: Time,
    /// How many tasks ended on each machine.
    finished_on: Vec<u32>,
    timeline: Option<Timeline>,
    /// The periods in which anything happened, where there is a budget.
    periods: Vec<Period>,
    paid: Credits,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timeline {
    rows: Vec<TimelineRow>,
    /// By machine: its latest row.
    latest: Vec<usize>,
    stays: Stays,
}

impl History {
    pub(crate) fn new(tasks: usize, machines: usize) -> Self {
        Self {
            tasks: vec![TaskHistory::NEW; tasks],
            finished: 0,
            moves: 0,
            aborts: 0,
            wasted: Waste::default(),
            lost: Waste::default(),
            answered: Waste::default(),
            reopened: 0,
            makespan: Time::ZERO,
            finished_on: vec![0; machines],
            timeline: None,
            periods: Vec::new(),
            paid: Credits::ZERO,
        }
    }

    /// Keeps, from now on, how many tasks each machine runs over time, 16 bytes a change, and the first stays of runs.
    pub(crate) fn keep_timeline(&mut self) {
        let machines = (0..self.finished_on.len()).map(MachineId::new);
        let rows: Vec<_> =
            machines.map(|machine| TimelineRow { time: Time::ZERO, machine, tasks: 0 }).collect();
        let (latest, stays) = ((0..rows.len()).collect(), Stays::default());
        self.timeline = Some(Timeline { rows, latest, stays });
    }

    /// One entry a task, in their order.
    pub fn tasks(&self) -> &[TaskHistory] {
        &self.tasks
    }

    /// How many tasks ended.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// How many tasks did not end.
    pub fn unfinished(&self) -> usize {
        self.tasks.len() - self.finished
    }

    /// How many relocations there were in all.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// How often a machine went, or gave up, before its task was done.
    pub fn aborts(&self) -> u64 {
        self.aborts
    }

    /// What was done in vain, since another run of the task was faster.
    pub fn wasted(&self) -> Waste {
        self.wasted
    }

    /// What had to be done again, since a machine went or the task keeps nothing of a run that is stopped.
    pub fn lost(&self) -> Waste {
        self.lost
    }

    /// The runs that came to their end with an answer, and what they did, where answers matter.
    pub fn answered(&self) -> Waste {
        self.answered
    }

    /// How often a task that was done was run again, since the machine that had answered it alone was found to lie.
    pub fn reopened(&self) -> u64 {
        self.reopened
    }

    /// When the last task ended that did.
    pub fn makespan(&self) -> Time {
        self.makespan
    }

    /// How many tasks ended on each machine.
    pub fn finished_on(&self) -> &[u32] {
        &self.finished_on
    }

    /// The number of tasks on each machine over time, if it was kept: one row for each instant at which it
    /// changed, in order of time.
    pub fn timeline(&self) -> &[TimelineRow] {
        self.timeline.as_ref().map_or(&[], |timeline| &timeline.rows)
    }

    /// Where runs were and when, if it was kept, in order of their beginnings.
    pub fn stays(&self) -> &[Stay] {
        self.timeline.as_ref().map_or(&[], |timeline| timeline.stays.all())
    }

    /// How many later stays were not kept.
    pub fn stays_left_out(&self) -> u64 {
        self.timeline.as_ref().map_or(0, |timeline| timeline.stays.left_out())
    }

    /// What was spent of a budget, period by period; those in which nothing happened are not there.
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// What was spent in all, less what was given back.
    pub fn paid(&self) -> Credits {
        self.paid
    }

    pub(crate) fn spent(&mut self, now: Time, accounts: &Accounts, users: usize) {
        let start = accounts.budget().period_start(now);
        let period = Period { start, spent: accounts.spent(now), left: accounts.left(now, users) };
        match self.periods.last_mut() {
            Some(last) if last.start == start => *last = period,
            Some(_) | None => self.periods.push(period),
        }
        self.paid = accounts.paid();
    }

    pub(crate) fn sent(&mut self, task: TaskId, on: MachineId) {
        self.tasks[task.index()].machine = Some(on);
    }

    pub(crate) fn moved(&mut self, task: TaskId) {
        self.tasks[task.index()].moves += 1;
        self.moves += 1;
    }

    pub(crate) fn started(&mut self, now: Time, run: RunId, on: impl IntoIterator<Item = MachineId>) {
        let started = &mut self.tasks[run.task.index()].started;
        *started = now.min(*started);
        if let Some(Timeline { stays, .. }) = &mut self.timeline {
            on.into_iter().for_each(|on| stays.began(now, run, on));
        }
    }

    /// Whatever became of it.
    pub(crate) fn left(&mut self, now: Time, run: RunId) {
        if let Some(Timeline { stays, .. }) = &mut self.timeline {
            stays.left(now, run);
        }
    }

    pub(crate) fn ended(&mut self, now: Time, task: TaskId, on: MachineId) {
        let task = &mut self.tasks[task.index()];
        (task.finished, task.machine) = (now, Some(on));
        self.finished += 1;
        self.finished_on[on.index()] += 1;
        self.makespan = now;
    }

    /// A run came to its end with an answer, of which it is not known here what it is worth.
    pub(crate) fn answered_by(&mut self, ops: f64) {
        self.answered.runs += 1;
        self.answered.ops += ops;
    }

    /// A task that had ended is to run again.
    pub(crate) fn opened_again(&mut self, task: TaskId) {
        let task = &mut self.tasks[task.index()];
        if let Some(on) = task.machine.filter(|_| task.finished < Time::NEVER) {
            self.finished_on[on.index()] -= 1;
            self.finished -= 1;
            self.reopened += 1;
        }
        task.finished = Time::NEVER;
    }

    /// A machine went, or gave up, when so many operations of a run were done.
    pub(crate) fn aborted(&mut self, ops: f64) {
        self.aborts += 1;
        self.restarted(ops);
    }

    pub(crate) fn restarted(&mut self, ops: f64) {
        self.lost.runs += 1;
        self.lost.ops += ops.max(0.0);
    }

    pub(crate) fn superseded(&mut self, ops: f64) {
        self.wasted.runs += 1;
        self.wasted.ops += ops;
    }

    pub(crate) fn counted(&mut self, now: Time, machine: MachineId, tasks: usize) {
        let Some(Timeline { rows, latest, .. }) = &mut self.timeline else { return };
        let tasks = tasks as u32;
        let last = &mut rows[latest[machine.index()]];
        if last.time == now {
            last.tasks = tasks;
        } else {
            latest[machine.index()] = rows.len();
            rows.push(TimelineRow { time: now, machine, tasks });
        }
    }
}
