//! All that is known and planned: the truth that events write, decisions are admitted against, and policies read.
//!
//! Where state and what the grid does with it are two files, the state has the noun and knows no [`Grid`] (`caps`,
//! `surveys`, `answers`), and the other is named after what is done (`capping`, `surveying`, `judging`).

mod account;
mod accounts;
mod admit;
mod answers;
mod apply;
mod asking;
mod beliefs;
mod capping;
mod caps;
mod catalogue;
mod chains;
mod check;
mod counting;
mod favours;
mod followers;
mod following;
mod judging;
mod loans;
mod machine;
mod own_rank;
mod pages;
mod paying;
mod plans;
mod progress;
mod reclassing;
mod reliability;
mod replies;
mod retiring;
mod runs;
mod staying;
mod surveying;
mod surveys;
mod task;
mod took;
mod waiting;
mod waiting_ops;
mod withdrawing;

pub use account::{Account, Budget, Charged, Scope, Sum};
pub use accounts::Accounts;
pub use answers::{ALONE_MAX, Comparison, FORGIVEN_AFTER, Given, Judgement, Trust, Vote};
pub use beliefs::{Belief, SentRun};
pub use catalogue::Catalogue;
pub use check::BrokenInvariant;
pub use favours::Favours;
pub use loans::{Asked, Loan, Loans};
pub use machine::{Availability, Machine};
pub use own_rank::OwnRank;
pub use plans::Plans;
pub use reliability::Ends;
pub use runs::{Run, Stage};
pub use task::{Task, TaskState};
pub use took::Took;

use crate::alarm::{Alarm, Alarms};
use crate::chance::{Chance, Purpose};
use crate::effects::Effects;
use crate::{Classes, Event, MachineClass, Needs, Occasion, Part, Refusal, Settled, TaskClass};
use answers::Checks;
use beliefs::Beliefs;
use caps::Caps;
use followers::Followers;
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, Span, TaskClassId, TaskId, Time};
use pages::Pages;
use reliability::Reliability;
use runs::Runs;
use serde::{Deserialize, Serialize};
use staying::Staying;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use surveys::Surveys;
use waiting::Waiting;
use waiting_ops::WaitingOps;

/// What a relocation costs: a fixed time, and the time to carry the task's state.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Migration {
    /// Paid for every move.
    pub seconds: f64,
    /// The size of what is carried, in operations of the network kind.
    pub volume: f64,
    /// Which kind of operation carries it; needed only where `volume` is above 0.
    pub network: usize,
}

/// What holds for a grid from its start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GridConfig {
    /// W: how many real operations of each kind one logical operation stands for.
    pub weights: Vec<f64>,
    /// What a relocation costs.
    pub migration: Migration,
}

/// The machines, the tasks, and what is to happen with them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grid {
    classes: Classes,
    migration: Migration,
    /// What is left to chance goes by it.
    seed: u64,
    machines: Vec<Machine>,
    tasks: Pages<Task>,
    runs: Runs,
    /// As they were declared, in operations; 0 where nobody said.
    lengths: Pages<f64>,
    waiting: Waiting,
    waiting_ops: WaitingOps,
    /// The operations that the next run of a task need not do, since earlier ones kept them.
    kept: BTreeMap<TaskId, f64>,
    plans: Plans,
    accounts: Option<Accounts>,
    caps: Caps,
    /// How many runs of tasks of each class are on machines or on their way to one, and are to stay.
    placed: Vec<u32>,
    placed_total: u32,
    followers: Followers,
    /// How long tasks of each class took lately, at most; nothing before one is over.
    took: Vec<Option<Span>>,
    /// After how long runs of a class are stopped; no class that they are not.
    limits: BTreeMap<TaskClassId, Span>,
    occasions: VecDeque<Occasion>,
    alarms: Alarms,
    catalogue: Catalogue,
    beliefs: Beliefs,
    surveys: Surveys,
    loans: Loans,
    reliability: Reliability,
    staying: Staying,
    checks: Checks,
}

impl Grid {
    /// An empty grid.
    pub fn new(config: GridConfig) -> Self {
        Self {
            classes: Classes::new(config.weights),
            migration: config.migration,
            seed: 0,
            machines: Vec::new(),
            tasks: Pages::default(),
            runs: Runs::default(),
            lengths: Pages::default(),
            waiting: Waiting::default(),
            waiting_ops: WaitingOps::default(),
            kept: BTreeMap::new(),
            plans: Plans::default(),
            accounts: None,
            caps: Caps::default(),
            placed: Vec::new(),
            placed_total: 0,
            followers: Followers::default(),
            took: Vec::new(),
            limits: BTreeMap::new(),
            occasions: VecDeque::new(),
            alarms: Alarms::default(),
            catalogue: Catalogue::default(),
            beliefs: Beliefs::default(),
            surveys: Surveys::default(),
            loans: Loans::default(),
            reliability: Reliability::default(),
            staying: Staying::default(),
            checks: Checks::default(),
        }
    }

    /// A grid of idle machines, each by its class: for whoever wants to know what could run where, and how fast.
    pub fn idle(
        config: GridConfig,
        classes: &[MachineClass],
        tasks: &[TaskClass],
        machines: &[MachineClassId],
    ) -> Self {
        let mut grid = Self::new(config);
        let met = classes.iter().cloned().map(Box::new).map(Event::MachineClassMet);
        let met = met.chain(tasks.iter().cloned().map(Box::new).map(Event::TaskClassMet));
        let joined = machines.iter().enumerate();
        let joined =
            joined.map(|(index, &class)| Event::MachineJoined { machine: MachineId::new(index), class });
        let mut effects = Effects::default();
        for event in met.chain(joined) {
            grid.apply(Time::ZERO, &event, &mut effects);
        }
        grid.occasions.clear();
        grid
    }

    /// What is left to chance goes by it: 0 until the outside [says so](Event::SeedDrawn).
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What is drawn about a task's first run.
    pub fn chance_of_first_run(&self, purpose: Purpose, task: TaskId) -> Chance {
        Chance::of(self.seed, purpose, RunId::new(task, 1))
    }

    /// What is drawn about a task's next run: the same however often, and in whatever order, it is drawn.
    pub fn chance_of_next_run(&self, purpose: Purpose, task: TaskId) -> Chance {
        Chance::of(self.seed, purpose, RunId::new(task, self.task(task).runs() + 1))
    }

    /// The classes of machines and tasks.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// In order of joining.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// The machine of that id.
    #[inline]
    pub fn machine(&self, id: MachineId) -> &Machine {
        &self.machines[id.index()]
    }

    /// How often a machine of a class is lost, by the second that it is there, as far as is known from all that came and went;
    /// 0 before any was lost.
    pub fn losses_per_s(&self, now: Time, class: MachineClassId) -> f64 {
        self.staying.losses_per_s(now, class)
    }

    /// How many tasks were ever submitted.
    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// In order of submission.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        (0..self.tasks.len()).map(TaskId::new).map(|id| (id, self.tasks.get(id)))
    }

    /// The task of that id.
    #[inline]
    pub fn task(&self, id: TaskId) -> &Task {
        self.tasks.get(id)
    }

    /// How long a task is, if whoever handed it in said so.
    #[inline]
    pub fn declared_length(&self, id: TaskId) -> Option<Ops> {
        Ops::new(*self.lengths.get(id))
    }

    /// After how long runs of a class are stopped, where they are.
    pub fn limit(&self, class: TaskClassId) -> Option<Span> {
        self.limits.get(&class).copied()
    }

    /// Which waiting tasks are planned, and where.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// All tasks that wait, planned ones too: class by class, in order of submission within each.
    pub fn waiting_tasks(&self) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
        self.waiting.tasks()
    }

    /// Of the tasks from one to another those of a class that wait, as ranges by their first and last, in order.
    pub fn waiting_between(
        &self,
        class: TaskClassId,
        (first, last): (TaskId, TaskId),
    ) -> impl Iterator<Item = (TaskId, TaskId)> + '_ {
        self.waiting.ranges_between(class, (first, last))
    }

    /// Whether any task waits.
    pub fn has_waiting(&self) -> bool {
        self.waiting.first_of_each().next().is_some()
    }

    /// Of the waiting tasks of the classes asked for, one with the highest priority, and of those the one that was
    /// submitted first; none whose user has all the cores that are theirs. Costs O(classes that wait).
    pub fn longest_waiting(&self, of: impl Fn(TaskClassId) -> bool) -> Option<TaskId> {
        let firsts = self.waiting.first_of_each().filter(|&(class, _)| !self.is_capped(class) && of(class));
        let first = firsts.min_by_key(|&(class, task)| (Reverse(self.classes.demand(class).priority), task));
        first.map(|(_, task)| task)
    }

    /// The first waiting task of each class asked for, in that order. Costs O(classes that wait), and the logarithm of that for each
    /// that is taken.
    pub fn first_waiting(&self, of: impl Fn(TaskClassId) -> bool) -> impl Iterator<Item = TaskId> {
        let firsts = self.waiting.first_of_each().filter(|&(class, _)| !self.is_capped(class) && of(class));
        let place = |(class, task)| Reverse((Reverse(self.classes.demand(class).priority), task));
        let mut firsts: BinaryHeap<_> = firsts.map(place).collect();
        std::iter::from_fn(move || firsts.pop().map(|Reverse((_, task))| task))
    }

    /// How many tasks of a class wait.
    #[inline]
    pub fn waiting_count(&self, class: TaskClassId) -> u32 {
        self.waiting.count_of(class)
    }

    /// The task of that class that was submitted first among those that wait; none if its user has all the cores that are
    /// theirs.
    pub fn longest_waiting_of(&self, class: TaskClassId) -> Option<TaskId> {
        self.waiting.first_of(class).filter(|_| !self.is_capped(class))
    }

    /// The classes that have tasks on machines or on their way to one, to stay there.
    pub fn placed_classes(&self) -> impl Iterator<Item = TaskClassId> + '_ {
        let placed = self.placed.iter().enumerate();
        placed.filter(|(_, count)| **count > 0).map(|(index, _)| TaskClassId::new(index))
    }

    /// Whether any task is on a machine or on its way to one.
    pub fn has_placed(&self) -> bool {
        self.placed_total > 0
    }

    /// When an alarm is to come, if it was asked for.
    pub fn alarm(&self, alarm: Alarm) -> Option<Time> {
        self.alarms.find(alarm)
    }

    /// The alarm that comes first.
    pub fn next_alarm(&self) -> Option<(Time, Alarm)> {
        self.alarms().next()
    }

    /// The alarms that were asked for, in the order in which they come.
    pub fn alarms(&self) -> impl Iterator<Item = (Time, Alarm)> + '_ {
        self.alarms.in_order()
    }

    /// Where data is, and how fast it moves.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What is known of a machine that is a site and published its state.
    #[inline]
    pub fn belief(&self, machine: MachineId) -> Option<&Belief> {
        self.beliefs.of(machine)
    }

    /// h for a task class on a machine; infinite where it cannot run at any load.
    #[inline]
    pub fn seconds_per_op(&self, class: TaskClassId, on: MachineId) -> f64 {
        self.classes.seconds_per_op(class, self.machine(on).class())
    }

    /// Whether the machine could take a task of that class now: it is open, has room, and would make some progress as
    /// its owner uses it.
    #[inline]
    pub fn can_run(&self, class: TaskClassId, on: MachineId) -> bool {
        let machine = self.machine(on);
        machine.takes_tasks()
            && self.seconds_per_op(class, on).is_finite()
            && machine.free().holds(self.needs(class))
    }

    /// Whether the machine could take a part with so many cores of a task of that class now.
    pub fn can_run_part(&self, class: TaskClassId, part: Part) -> bool {
        let machine = self.machine(part.on);
        machine.takes_tasks()
            && self.classes.seconds_per_op_in_parts(class, machine.class()).is_finite()
            && machine.free().holds(self.needs(class).of_part(part.cores))
    }

    /// What moving a task between two machines costs, in seconds.
    pub fn migration_seconds(&self, from: MachineId, to: MachineId) -> f64 {
        let Migration { seconds, volume, network } = self.migration;
        if volume == 0.0 {
            return seconds;
        }
        let speed = |machine: MachineId| self.class_of(machine).speeds[network];
        seconds + volume / speed(from).min(speed(to))
    }

    fn count_off(&mut self, class: TaskClassId) {
        self.placed[class.index()] -= 1;
        self.placed_total -= 1;
    }

    #[inline]
    fn needs(&self, class: TaskClassId) -> Needs {
        self.classes.demand(class).needs
    }

    /// The fact that keeps a machine from taking a task, if there is one.
    fn check_can_run(&self, task: TaskId, on: MachineId) -> Result<(), Refusal> {
        let class = self.task(task).class;
        self.check_takes(task, on, self.seconds_per_op(class, on), self.needs(class))
    }

    /// The fact that keeps a machine from taking a part of a task, if there is one.
    fn check_can_run_part(&self, task: TaskId, Part { on, cores }: Part) -> Result<(), Refusal> {
        let class = self.task(task).class;
        let seconds_per_op = self.classes.seconds_per_op_in_parts(class, self.machine(on).class());
        self.check_takes(task, on, seconds_per_op, self.needs(class).of_part(cores))
    }

    fn check_takes(
        &self,
        task: TaskId,
        on: MachineId,
        seconds_per_op: f64,
        needs: Needs,
    ) -> Result<(), Refusal> {
        let machine = self.machine(on);
        if machine.availability() != Availability::Open {
            return Err(Refusal::Closed(on));
        }
        if machine.capacity() <= 0.0 || !seconds_per_op.is_finite() {
            return Err(Refusal::CannotRun(task, on));
        }
        let free = machine.free();
        if free.holds(needs) { Ok(()) } else { Err(Refusal::NoRoom { task, on, needs, free }) }
    }

    fn class_of(&self, machine: MachineId) -> &MachineClass {
        self.classes.machine_class(self.machine(machine).class())
    }

    /// The first occasion that still wants an answer.
    pub(crate) fn occasion(&self) -> Option<Occasion> {
        self.occasions.front().copied()
    }

    /// How many occasions still want an answer.
    pub(crate) fn occasions(&self) -> usize {
        self.occasions.len()
    }

    /// The policy is content with the first occasion.
    pub(crate) fn settle(&mut self) {
        self.occasions.pop_front();
    }

    /// As many occasions are left as an earlier run left, the last ones, with what it did about the first of them.
    pub(crate) fn settle_as(&mut self, earlier: Settled) {
        self.occasions.drain(..self.occasions.len() - earlier.occasions_left);
        if let Some(occasion) = self.occasions.front_mut() {
            occasion.moves = earlier.moves;
        }
    }

    /// The machines of a class, in order. Costs O(machines).
    pub fn machines_of(&self, class: MachineClassId) -> impl Iterator<Item = MachineId> + '_ {
        let all = self.machines.iter().enumerate();
        all.filter(move |(_, machine)| machine.class() == class).map(|(index, _)| MachineId::new(index))
    }
}
