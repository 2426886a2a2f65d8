use crate::agenda::{Next, earliest};
use crate::ahead::HeldAhead;
use crate::availability::MachineTraces;
use crate::given::Given;
use crate::history::History;
use crate::machines::{Machines, migration_seconds};
use crate::register::Register;
use crate::setup::Setup;
use crate::traced::DONE_IN_VAIN;
use gleaner_core::{Command, Event, Part, RunEnd, StopReason};
use gleaner_units::{MachineId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a run that was stopped left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Checkpoint {
    ops_left: f64,
    /// Where it was made.
    at: MachineId,
}

/// The outside, simulated: machines that run what they are told, owners, and users.
///
/// It knows what the scheduler does not: how long tasks really are, how fast machines, and what owners and users will do.
/// What it knows of the scheduler are its orders: it never sees a grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    machines: Machines,
    register: Register,
    next_load: usize,
    next_arrival: usize,
    /// When what was ordered to go on from a checkpoint begins, and where.
    landings: BinaryHeap<Reverse<(Time, RunId)>>,
    transits: BTreeMap<RunId, MachineId>,
    /// Likewise of runs of several parts.
    wide_transits: BTreeMap<RunId, Box<[Part]>>,
    ahead: HeldAhead,
    /// By task: the latest, if it was ever stopped; those behind the end were not. Asked for at every start.
    checkpoints: Vec<Option<Checkpoint>>,
    history: History,
    /// Tasks of which a run brought an answer that nobody has asked about yet.
    answered: Vec<TaskId>,
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
            wide_transits: BTreeMap::new(),
            ahead: HeldAhead::default(),
            checkpoints: Vec::new(),
            history: History::new(setup.tasks.len(), setup.machine_count()),
            answered: Vec::new(),
        }
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// The tasks of which a run brought an answer since the last call.
    pub(crate) fn take_answered(&mut self) -> Vec<TaskId> {
        std::mem::take(&mut self.answered)
    }

    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        self.machines.busy_seconds(machine, now)
    }

    /// What happens next by itself.
    #[inline]
    pub(crate) fn next(&self, given: &Given<'_>) -> Option<(Time, Next)> {
        let load = given.loads.get(self.next_load).map(|row| (row.time, Next::Load));
        let completion = self.machines.next_completion().map(|(time, run)| (time, Next::Completion(run)));
        let landing = self.landings.peek().map(|Reverse((time, run))| (*time, Next::Landing(*run)));
        let arrival = given.tasks.arrivals.get(self.next_arrival).map(|&time| (time, Next::Arrival));
        let own = earliest([load, completion, landing, arrival]);
        let Some(availability) = &given.availability else { return own };
        earliest([own, earliest(self.register.next(availability))])
    }

    /// Whether this is the next task to arrive.
    pub(crate) fn is_next_to_arrive(&self, task: TaskId) -> bool {
        self.next_arrival == task.index()
    }

    /// Lets it happen, and says so; a look at machines says nothing itself.
    #[inline]
    pub(crate) fn take(&mut self, given: &Given<'_>, now: Time, next: Next) -> Option<Event> {
        Some(match next {
            Next::Load => {
                let row = given.loads[self.next_load];
                self.next_load += 1;
                self.machines.set_load(given, now, row.machine, row.load);
                Event::OwnerLoadReported { machine: row.machine, load: row.load }
            }
            Next::Completion(run) => {
                let on = self.machines.machine_of(run).expect("a run that ends is somewhere");
                let others = self.machines.further_machines_of(run);
                let done = self.machines.complete(given, now, run);
                self.count_all(now, on, others);
                self.history.left(now, run);
                self.begin_behind(given, now, run);
                if done && given.answers.matter() {
                    self.history.answered_by(self.ops_at_start(given, run.task));
                    self.answered.push(run.task);
                    let answer = given.answers.of(run.task, on);
                    Event::RunEnded { run, end: RunEnd::Answered(answer) }
                } else if done {
                    self.history.ended(now, run.task, on);
                    given.availability.iter().for_each(|by_trace| self.register.ended(by_trace, on));
                    Event::RunEnded { run, end: RunEnd::Finished }
                } else {
                    self.history.aborted(DONE_IN_VAIN * self.ops_at_start(given, run.task));
                    self.register.aborted(by_trace(given), now, on);
                    Event::RunEnded { run, end: RunEnd::Lost }
                }
            }
            Next::Landing(run) => {
                self.landings.pop();
                if let Some(parts) = self.wide_transits.remove(&run) {
                    return Some(self.run_wide(given, now, run, &parts));
                }
                let to = self.transits.remove(&run).expect("a run that lands was on its way");
                self.run(given, now, run, to)
            }
            Next::Departure(machine) => {
                self.depart_by_trace(given, now, machine);
                self.register.depart()
            }
            Next::Join => {
                self.machines.add_traced();
                self.register.join(by_trace(given), now)
            }
            Next::Look => {
                let machines = &self.machines;
                self.register.look(by_trace(given), now, |machine| machines.residents(machine) > 0);
                return None;
            }
            Next::News => self.register.news(),
            Next::Arrival => {
                let task = TaskId::new(self.next_arrival);
                self.next_arrival += 1;
                let class = given.tasks.classes[task.index()];
                let length = given.tasks.declared[task.index()];
                Event::TasksSubmitted { first: task, count: 1, class, length }
            }
        })
    }

    /// Carries out an order; what that makes happen at once is returned.
    #[inline]
    pub(crate) fn obey(&mut self, given: &Given<'_>, now: Time, command: Command) -> Option<Event> {
        match command {
            Command::Start { run, on } => {
                self.history.sent(run.task, on);
                let cost = self.seconds_to_bring(given, now, run, on);
                if cost == 0.0 {
                    return Some(self.run(given, now, run, on));
                }
                self.land(now.after_seconds(cost), run, on);
                None
            }
            Command::StartAfter { run, on, after } => {
                self.history.sent(run.task, on);
                self.ahead.hold(after, run, on);
                None
            }
            Command::StartWide { run, parts } => {
                let on = parts[0].on;
                self.history.sent(run.task, on);
                let cost = self.seconds_to_bring(given, now, run, on);
                if cost == 0.0 {
                    return Some(self.run_wide(given, now, run, &parts));
                }
                self.landings.push(Reverse((now.after_seconds(cost), run)));
                self.wide_transits.insert(run, parts);
                None
            }
            // One that has begun goes on, and nobody says anything.
            Command::Stop { run, why: StopReason::TakenBack, .. } => {
                self.ahead.give_up(run).then_some(Event::RunEnded { run, end: RunEnd::Lost })
            }
            Command::Stop { run, on, why } => Some(self.stop(given, now, (run, on), why)),
            Command::Recheck { task } => {
                self.history.opened_again(task);
                Some(Event::TasksRerun { tasks: vec![(task, 1)] })
            }
            Command::Close { machine } => Some(Event::MachineClosed { machine }),
            // A lone scheduler has no peers: nobody hears it. What is asked for was answered before it came here.
            Command::Lending(_) | Command::Ask { .. } | Command::Survey { .. } => None,
        }
    }

    /// What the next run of a task needs to bring its state to a machine.
    fn seconds_to_bring(&self, given: &Given<'_>, now: Time, run: RunId, on: MachineId) -> f64 {
        let brought = self.checkpoint(run.task);
        brought.map_or(0.0, |from| migration_seconds(given, now, from.at, on))
    }

    fn land(&mut self, at: Time, run: RunId, on: MachineId) {
        self.landings.push(Reverse((at, run)));
        self.transits.insert(run, on);
    }

    /// What was to begin when a run is over lands at that moment.
    fn begin_behind(&mut self, given: &Given<'_>, now: Time, before: RunId) {
        if let Some((run, on)) = self.ahead.release(before) {
            let cost = self.seconds_to_bring(given, now, run, on);
            self.land(now.after_seconds(cost), run, on);
        }
    }

    /// Takes a run off its machine.
    fn stop(
        &mut self,
        given: &Given<'_>,
        now: Time,
        (run, on): (RunId, MachineId),
        why: StopReason,
    ) -> Event {
        if self.transits.remove(&run).is_some() || self.wide_transits.remove(&run).is_some() {
            self.landings.retain(|Reverse((_, other))| *other != run);
            self.begin_behind(given, now, run);
            return Event::RunEnded { run, end: RunEnd::Lost };
        }
        if self.ahead.give_up(run) {
            return Event::RunEnded { run, end: RunEnd::Lost };
        }
        // What is kept is the fraction of the length that is left, on whatever machine.
        let others = self.machines.further_machines_of(run);
        let ops_left = self.machines.remove(given, now, run);
        self.count_all(now, on, others);
        let done = self.ops_at_start(given, run.task) - ops_left;
        self.history.left(now, run);
        self.begin_behind(given, now, run);
        match why {
            StopReason::Superseded => {
                self.history.superseded(done);
                return Event::RunEnded { run, end: RunEnd::Lost };
            }
            StopReason::PartLost | StopReason::NotHeld => {
                self.history.aborted(done);
                return Event::RunEnded { run, end: RunEnd::Lost };
            }
            StopReason::Moved => self.history.moved(run.task),
            StopReason::Withdrawn | StopReason::TakenBack => {}
        }
        if given.footprint(run.task).restarts {
            self.history.restarted(done);
            return Event::RunEnded { run, end: RunEnd::Lost };
        }
        if self.checkpoints.len() <= run.task.index() {
            self.checkpoints.resize(run.task.index() + 1, None);
        }
        self.checkpoints[run.task.index()] = Some(Checkpoint { ops_left, at: on });
        Event::RunEnded { run, end: RunEnd::Kept }
    }

    /// Likewise on several machines at a time.
    fn run_wide(&mut self, given: &Given<'_>, now: Time, run: RunId, parts: &[Part]) -> Event {
        let ops = self.ops_at_start(given, run.task);
        self.machines.insert_wide(given, now, (run, ops), parts);
        self.history.started(now, run, parts.iter().map(|part| part.on));
        for part in parts {
            self.count(now, part.on);
        }
        Event::RunStarted(run)
    }

    /// From its beginning, or from where the last checkpoint has it.
    fn run(&mut self, given: &Given<'_>, now: Time, run: RunId, on: MachineId) -> Event {
        let ops = self.ops_at_start(given, run.task);
        self.machines.insert(given, now, (run, ops), on);
        self.history.started(now, run, [on]);
        self.count(now, on);
        Event::RunStarted(run)
    }

    /// The part of a task's length that a run of it has to do that starts now.
    pub(crate) fn part_left(&self, given: &Given<'_>, task: TaskId) -> f64 {
        let length = given.tasks.lengths[task.index()].amount();
        if length > 0.0 { self.ops_at_start(given, task) / length } else { 1.0 }
    }

    #[inline]
    fn checkpoint(&self, task: TaskId) -> Option<Checkpoint> {
        self.checkpoints.get(task.index()).copied().flatten()
    }

    /// What a run of a task has to do that starts now.
    fn ops_at_start(&self, given: &Given<'_>, task: TaskId) -> f64 {
        let left = self.checkpoint(task).map(|checkpoint| checkpoint.ops_left);
        left.unwrap_or_else(|| given.tasks.lengths[task.index()].amount())
    }

    /// What is on a machine, or on its way there, is gone with it.
    fn depart_by_trace(&mut self, given: &Given<'_>, now: Time, machine: MachineId) {
        for (run, ops_left) in self.machines.lose(given, now, machine) {
            self.history.left(now, run);
            self.history.aborted(self.ops_at_start(given, run.task) - ops_left);
            self.register.aborted(by_trace(given), now, machine);
        }
        self.count(now, machine);
        self.ahead.lose(machine);
        self.transits.retain(|_, to| *to != machine);
        let transits = &self.transits;
        self.landings.retain(|Reverse((_, run))| transits.contains_key(run));
    }

    fn count_all(&mut self, now: Time, first: MachineId, others: Vec<MachineId>) {
        self.count(now, first);
        for other in others {
            self.count(now, other);
        }
    }

    fn count(&mut self, now: Time, machine: MachineId) {
        self.history.counted(now, machine, self.machines.residents(machine));
    }
}

fn by_trace(setup: &Setup) -> &MachineTraces {
    setup.availability.as_ref().expect("only a trace lets machines come and go")
}
