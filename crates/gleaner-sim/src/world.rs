use crate::agenda::{Next, earliest};
use crate::availability::Availability;
use crate::history::History;
use crate::machines::Machines;
use crate::register::Register;
use crate::setup::Setup;
use gleaner_core::{Command, Event, Grid};
use gleaner_units::{MachineId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A task between two machines.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Transit {
    ops_left: f64,
    to: MachineId,
}

/// The outside, simulated: machines that run what they are told, owners, and users.
///
/// It knows what the scheduler does not: how long tasks really are, and what owners and users will do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    machines: Machines,
    register: Register,
    next_load: usize,
    next_arrival: usize,
    landings: BinaryHeap<Reverse<(Time, TaskId)>>,
    transits: BTreeMap<TaskId, Transit>,
    wake_at: Option<Time>,
    /// Whether the latest wake-up led to anything.
    wake_was_idle: bool,
    history: History,
}

impl World {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            machines: Machines::of(setup),
            register: Register::new(setup.availability.as_ref()),
            next_load: 0,
            next_arrival: 0,
            landings: BinaryHeap::new(),
            transits: BTreeMap::new(),
            wake_at: None,
            wake_was_idle: false,
            history: History::new(setup.tasks.len(), setup.machine_count()),
        }
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn keep_timeline(&mut self) {
        self.history.keep_timeline();
    }

    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        self.machines.busy_seconds(machine, now)
    }

    /// What happens next; nothing once every task ended, or when those left can never go on.
    #[inline]
    pub(crate) fn next(&self, setup: &Setup) -> Option<(Time, Next)> {
        if self.history.unfinished() == 0 {
            return None;
        }
        let load = setup.loads.get(self.next_load).map(|row| (row.time, Next::Load));
        let completion = self.machines.next_completion().map(|(time, task)| (time, Next::Completion(task)));
        let landing = self.landings.peek().map(|Reverse((time, task))| (*time, Next::Landing(*task)));
        let arrival = setup.tasks.arrivals.get(self.next_arrival).map(|&time| (time, Next::Arrival));
        let wake = self.wake_at.map(|time| (time, Next::WakeUp));
        let by_trace = setup.availability.as_ref().map(|availability| self.register.next(availability));
        let others = [load, completion, landing, arrival].into_iter().chain(by_trace.into_iter().flatten());
        match (earliest(others), wake) {
            // A wake-up that changed nothing would change nothing again while nothing else can happen.
            (None, _) if self.wake_was_idle => None,
            (other, wake) => earliest([other, wake]),
        }
    }

    /// Whether the next thing to happen is the arrival of that task.
    pub(crate) fn is_about_to_submit(&self, setup: &Setup, task: TaskId) -> bool {
        self.next_arrival == task.index() && self.next(setup).is_some_and(|(_, next)| next == Next::Arrival)
    }

    /// Takes note of what is spent of the budget, if there is one.
    pub(crate) fn audit(&mut self, now: Time, grid: &Grid) {
        if let Some(accounts) = grid.accounts() {
            self.history.spent(now, accounts);
        }
    }

    /// Lets it happen, and says so; a look at machines says nothing itself.
    #[inline]
    pub(crate) fn take(&mut self, setup: &Setup, now: Time, next: Next, grid: &Grid) -> Option<Event> {
        // Where part of the budget is spent, a later one finds more of it.
        let all_is_left = grid.accounts().is_none_or(|accounts| accounts.is_untouched(now));
        self.wake_was_idle = next == Next::WakeUp && all_is_left;
        Some(match next {
            Next::Load => {
                let row = setup.loads[self.next_load];
                self.next_load += 1;
                self.machines.set_load(now, row.machine, row.load);
                Event::OwnerLoadReported { machine: row.machine, load: row.load }
            }
            Next::Completion(task) => {
                let on = self.machines.machine_of(task).expect("a task that ends runs somewhere");
                let done = self.machines.complete(now, task);
                self.count(now, on);
                let attempt = grid.task(task).attempt();
                if done {
                    self.history.ended(now, task, on);
                    setup.availability.iter().for_each(|by_trace| self.register.ended(by_trace, on));
                    Event::AttemptFinished { task, attempt }
                } else {
                    self.history.aborted();
                    self.register.aborted(by_trace(setup), now, on);
                    Event::AttemptLost { task, attempt }
                }
            }
            Next::Landing(task) => {
                self.landings.pop();
                let Transit { ops_left, to } =
                    self.transits.remove(&task).expect("a task that lands was on its way");
                self.run(setup, now, task, to, ops_left, grid);
                Event::AttemptStarted { task, attempt: grid.task(task).attempt() }
            }
            Next::Departure(machine) => {
                self.depart_by_trace(setup, now, machine);
                self.register.depart()
            }
            Next::Join => {
                self.machines.add_traced();
                self.register.join(by_trace(setup), now)
            }
            Next::Look => {
                let machines = &self.machines;
                self.register.look(by_trace(setup), now, |machine| machines.residents(machine) > 0);
                return None;
            }
            Next::News => self.register.news(),
            Next::Arrival => {
                let task = TaskId::new(self.next_arrival);
                self.next_arrival += 1;
                let class = setup.tasks.classes[task.index()];
                let length = Some(setup.tasks.lengths[task.index()]);
                Event::TasksSubmitted { first: task, count: 1, class, length }
            }
            Next::WakeUp => {
                self.wake_at = None;
                Event::WokeUp
            }
        })
    }

    /// Carries out an order; what that makes happen at once is returned.
    #[inline]
    pub(crate) fn obey(&mut self, setup: &Setup, now: Time, command: Command, grid: &Grid) -> Option<Event> {
        match command {
            Command::Start { task, attempt, on } => {
                self.wake_was_idle = false;
                self.history.sent(task, on);
                self.run(setup, now, task, on, setup.tasks.lengths[task.index()].amount(), grid);
                Some(Event::AttemptStarted { task, attempt })
            }
            Command::Move { task, attempt, from, to } => {
                self.wake_was_idle = false;
                self.depart(setup, now, task, from, to, grid)
                    .then_some(Event::AttemptStarted { task, attempt })
            }
            Command::WakeAt { at } => {
                self.wake_at = Some(at);
                None
            }
            Command::Collect | Command::Plan { .. } => None,
        }
    }

    /// Takes a task off a machine; whether it is on the other at once.
    fn depart(
        &mut self,
        setup: &Setup,
        now: Time,
        task: TaskId,
        from: MachineId,
        to: MachineId,
        grid: &Grid,
    ) -> bool {
        // What is kept is the fraction of the length that is left, on whatever machine.
        let ops_left = self.machines.remove(setup, now, task, grid);
        self.count(now, from);
        self.history.moved(task, to);
        let cost = grid.migration_seconds(from, to);
        if cost == 0.0 {
            self.run(setup, now, task, to, ops_left, grid);
            return true;
        }
        self.landings.push(Reverse((now.after_seconds(cost), task)));
        self.transits.insert(task, Transit { ops_left, to });
        false
    }

    fn run(&mut self, setup: &Setup, now: Time, task: TaskId, on: MachineId, ops: f64, grid: &Grid) {
        self.machines.insert(setup, now, (task, ops), on, grid);
        self.history.started(now, task);
        self.count(now, on);
    }

    /// What is on a machine, or on its way there, is gone with it.
    fn depart_by_trace(&mut self, setup: &Setup, now: Time, machine: MachineId) {
        for _ in self.machines.lose(now, machine) {
            self.history.aborted();
            self.register.aborted(by_trace(setup), now, machine);
        }
        self.count(now, machine);
        self.transits.retain(|_, transit| transit.to != machine);
        let transits = &self.transits;
        self.landings.retain(|Reverse((_, task))| transits.contains_key(task));
    }

    fn count(&mut self, now: Time, machine: MachineId) {
        self.history.counted(now, machine, self.machines.residents(machine));
    }
}

fn by_trace(setup: &Setup) -> &Availability {
    setup.availability.as_ref().expect("only a trace lets machines come and go")
}
