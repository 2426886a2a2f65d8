//! What the naive batch sees at one moment, and what it would do next.

use super::books::Books;
use super::terms::{First, Goal, Pick, Rule, Terms};
use crate::naive_lengths;
use gleaner_core::{Availability, Budget, Charged, Grid, Queue, TaskState};
use gleaner_units::{MachineId, TaskId, Time, UserId};
use std::collections::BTreeMap;

/// A meta-task: M, and what became of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Meta {
    pub(super) all: Vec<TaskId>,
    /// The first ones by age; they are placed before the heuristic begins.
    pub(super) old: Vec<TaskId>,
    pub(super) removed: Vec<TaskId>,
    /// Scheduled on machines that are ready only with the next batch or after it, which will take them back: nobody is
    /// told of these.
    pub(super) beyond: Vec<(TaskId, Queue)>,
    /// What each user had left when it began.
    pub(super) left: BTreeMap<UserId, f64>,
    /// What was chosen together and is left to schedule, the last first.
    pub(super) chosen: Vec<(TaskId, Worker)>,
}

/// Whether a machine takes tasks.
pub(super) fn works(grid: &Grid, id: MachineId) -> bool {
    grid.machine(id).availability() == Availability::Open && grid.machine(id).load() < 1.0
}

/// Who could do a task: a machine, or a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Worker {
    rank: usize,
    pub(super) queue: Queue,
    class: usize,
    /// r − D.
    pub(super) ready: f64,
    price: f64,
}

/// B̄ with its tasks, and with those that are to be served beside them.
struct Sums {
    allocated: f64,
    done: f64,
    all: f64,
}

/// What there is to pay a task with.
pub(super) struct Means {
    budget: Budget,
    left: f64,
    /// Tasks that are paid from it and are left to schedule.
    tasks_left: f64,
    sums: Sums,
}

/// A worker that a task may go to, with its expected completion.
type Fit = (Worker, f64);

/// A task with all its fits.
type Fits = (TaskId, Vec<Fit>);

fn tied_least(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    least + 1e-12 * least.abs()
}

pub(super) struct View<'a> {
    pub(super) grid: &'a Grid,
    pub(super) now: Time,
    pub(super) terms: &'a Terms,
    pub(super) books: &'a Books,
    pub(super) meta: &'a Meta,
}

impl View<'_> {
    fn length(&self, task: TaskId) -> f64 {
        self.length_after(task, 0.0)
    }

    /// How long it is believed to be once so many operations are done.
    fn length_after(&self, task: TaskId, done: f64) -> f64 {
        naive_lengths::length(self.grid, self.terms.lengths, task, done).unwrap_or(0.0)
    }

    fn seconds(&self, task: TaskId, class: usize) -> f64 {
        let row = self.grid.classes().seconds_per_op_row(self.grid.task(task).class());
        self.length(task) * row[class]
    }

    /// Where a task is scheduled, told or not.
    fn queue_of(&self, task: TaskId) -> Option<Queue> {
        let beyond = self.meta.beyond.iter().find(|(other, _)| *other == task).map(|(_, queue)| *queue);
        self.grid.plans().queue_of(task).or(beyond)
    }

    fn ranked(&self, queue: Queue) -> Vec<TaskId> {
        let beyond = self.meta.beyond.iter().filter(|(_, on)| *on == queue).map(|(task, _)| *task);
        self.grid.plans().ranked(queue).chain(beyond).collect()
    }

    /// B̲, of whoever pays for a task.
    fn left(&self, task: TaskId, budget: Budget) -> f64 {
        let left = self.books.left(self.payer(task), self.now);
        if matches!(budget.charged, Charged::Started | Charged::Ended) {
            return left;
        }
        let beyond: Vec<TaskId> = self.meta.beyond.iter().map(|(task, _)| *task).collect();
        left - self.sharing(task, &beyond).into_iter().map(|task| self.cost(task)).sum::<f64>()
    }

    /// Of a task that runs or is scheduled.
    fn cost(&self, task: TaskId) -> f64 {
        let class = match (self.grid.placed_on(task), self.queue_of(task)) {
            (Some(machine), _) | (None, Some(Queue::Machine(machine))) => {
                self.grid.machine(machine).class().index()
            }
            (None, Some(Queue::Class(class))) => class.index(),
            (None, None) => 0,
        };
        (self.length(task) * self.price(class)).ceil()
    }

    fn present(&self) -> Vec<MachineId> {
        let all = (0..self.grid.machines().len()).map(MachineId::new);
        all.filter(|id| works(self.grid, *id)).collect()
    }

    /// What is left to do of each task on a machine at the share that it gets, and nothing for each idle core.
    fn cores(&self, id: MachineId) -> Vec<f64> {
        let machine = self.grid.machine(id);
        let share = (f64::from(machine.cores()) * (1.0 - machine.load()) / self.taken(id) as f64).min(1.0);
        let mut cores = Vec::new();
        for (task_class, _) in machine.counts() {
            for run in machine.runs_of(task_class) {
                let done = self.books.ops_done(run);
                let ops = self.length_after(run.task, done) - done;
                let left = if ops > 0.0 { ops * self.books.seconds_per_op(run) / share } else { 0.0 };
                // Moments are whole nanoseconds: what is nearest to none is none.
                let left = if left < 0.5e-9 { 0.0 } else { left };
                for _ in 0..self.needed(run.task) {
                    cores.push(left);
                }
            }
        }
        while cores.len() < machine.cores() as usize {
            cores.push(0.0);
        }
        // Where a task stands still, nobody knows when another could begin.
        cores.into_iter().filter(|ready| ready.is_finite()).collect()
    }

    /// How many cores a task needs.
    fn needed(&self, task: TaskId) -> usize {
        self.grid.classes().task_class(self.grid.task(task).class()).needs.cores as usize
    }

    /// How many cores are taken on a machine.
    fn taken(&self, id: MachineId) -> usize {
        self.grid.machine(id).runs().map(|run| self.needed(run.task)).sum()
    }

    fn price(&self, class: usize) -> f64 {
        self.grid.classes().machine_classes()[class].price
    }

    pub(super) fn workers(&self) -> Vec<Worker> {
        let all = if self.terms.by_class { self.classes() } else { self.machines() };
        // What is planned where it cannot run any more never ends, and nobody waits for that.
        all.into_iter().filter(|worker| worker.ready.is_finite()).collect()
    }

    fn machines(&self) -> Vec<Worker> {
        let mut workers = Vec::new();
        for id in self.present() {
            let class = self.grid.machine(id).class().index();
            let mut cores = self.cores(id);
            if cores.is_empty() {
                continue;
            }
            let first = |cores: &[f64]| {
                let mut first = 0;
                for core in 1..cores.len() {
                    if cores[core] < cores[first] {
                        first = core;
                    }
                }
                first
            };
            for task in self.ranked(Queue::Machine(id)) {
                // As many as it needs, from when the last of them is ready.
                let mut having = Vec::new();
                let mut start = 0.0;
                while having.len() < self.needed(task).min(cores.len()) {
                    let open: Vec<usize> = (0..cores.len()).filter(|core| !having.contains(core)).collect();
                    let times: Vec<f64> = open.iter().map(|core| cores[*core]).collect();
                    let core = open[first(&times)];
                    start = cores[core];
                    having.push(core);
                }
                for core in having {
                    cores[core] = start + self.seconds(task, class);
                }
            }
            let (price, queue) = (self.price(class), Queue::Machine(id));
            workers.push(Worker { rank: id.index(), queue, class, ready: cores[first(&cores)], price });
        }
        workers
    }

    /// Equation (6).
    fn classes(&self) -> Vec<Worker> {
        let mut workers = Vec::new();
        for class in 0..self.grid.classes().machine_classes().len() {
            let machines: Vec<MachineId> = self.present();
            let machines: Vec<MachineId> =
                machines.into_iter().filter(|id| self.grid.machine(*id).class().index() == class).collect();
            let cores: Vec<f64> = machines.iter().flat_map(|id| self.cores(*id)).collect();
            if cores.is_empty() {
                continue;
            }
            let running: usize = machines.iter().map(|id| self.taken(*id)).sum();
            let queue = Queue::Class(gleaner_units::MachineClassId::new(class));
            let mut ready = cores.iter().sum::<f64>() / cores.len() as f64;
            let mut assigned = 0;
            for task in self.ranked(queue) {
                ready += self.needed(task) as f64 * self.seconds(task, class) / cores.len() as f64;
                assigned += self.needed(task);
            }
            if running + assigned < cores.len() {
                ready = 0.0;
            }
            workers.push(Worker { rank: class, queue, class, ready, price: self.price(class) });
        }
        workers
    }

    fn tasks_left(&self) -> Vec<TaskId> {
        let open = |task: &&TaskId| {
            self.queue_of(**task).is_none()
                && self.grid.task(**task).state() == TaskState::Waiting
                && !self.meta.removed.contains(*task)
        };
        self.meta.all.iter().filter(open).copied().collect()
    }

    fn payer(&self, task: TaskId) -> UserId {
        self.grid.classes().task_class(self.grid.task(task).class()).payer
    }

    /// What limits where tasks go.
    fn budget(&self) -> Option<Budget> {
        self.books.budget().filter(|_| self.terms.rule != Rule::None)
    }

    /// Whether both are paid for from one account.
    fn share(&self, one: TaskId, other: TaskId) -> bool {
        self.books.share(self.payer(one), self.payer(other))
    }

    fn sharing(&self, task: TaskId, tasks: &[TaskId]) -> Vec<TaskId> {
        tasks.iter().copied().filter(|other| self.share(task, *other)).collect()
    }

    /// What the task could be paid with; none if nothing limits that.
    pub(super) fn means(&self, task: TaskId) -> Option<Means> {
        let budget = self.budget()?;
        let tasks_left = self.sharing(task, &self.tasks_left()).len() as f64;
        Some(Means { budget, left: self.left(task, budget), tasks_left, sums: self.sums(task) })
    }

    /// Line 9: whether a task may be scheduled on a worker.
    pub(super) fn allowed(
        &self,
        task: TaskId,
        worker: Worker,
        workers: &[Worker],
        means: Option<&Means>,
    ) -> bool {
        if !self.seconds(task, worker.class).is_finite() {
            return false;
        }
        if self.terms.holds && self.had_better_wait(task, worker, means) {
            return false;
        }
        let Some(means) = means else { return true };
        let &Means { left, tasks_left, .. } = means;
        let cost = (self.length(task) * worker.price).ceil();
        if cost > left {
            return false;
        }
        let cost = self.length(task) * worker.price;
        match self.terms.rule {
            Rule::None | Rule::B => true,
            Rule::Share => cost <= (left / tasks_left) * (1.0 + 1e-12),
            Rule::LeastShare => {
                let all = self.sharing(task, &self.meta.all).len() as f64;
                let kept = self.meta.left[&self.payer(task)] / all * (tasks_left - 1.0);
                cost <= (left - kept) + 1e-12 * (left - kept).abs()
            }
            Rule::Bt | Rule::BtWithinPeriod | Rule::BttPrinted | Rule::BttDerived | Rule::BttWithinReach => {
                self.line_9(task, worker, workers, means)
            }
            Rule::MovingPrice => {
                let is_in_time = worker.ready <= means.budget.period.seconds() * (1.0 + 1e-12);
                is_in_time
                    && (self.is_cheapest(task, worker, workers) || self.is_in_the_price(task, worker, means))
            }
        }
    }

    /// Whether the faster machines would have done all that there is to do, and this task besides, before the worker had: from
    /// the next batch on, each core doing its share of all and one task like this.
    fn had_better_wait(&self, task: TaskId, worker: Worker, means: Option<&Means>) -> bool {
        let (mut ops, mut longest) = (0.0, 0.0);
        for (id, state) in self.grid.tasks() {
            let mut length = self.length(id);
            let left = match self.grid.placed_on(id) {
                Some(on) if works(self.grid, on) => {
                    let runs = self.grid.machine(on).runs().filter(|run| run.task == id);
                    let done: f64 = runs.map(|run| self.books.ops_done(run)).sum();
                    length = self.length_after(id, done);
                    f64::max(length - done, 0.0)
                }
                None if state.state() == TaskState::Waiting => length,
                Some(_) | None => continue,
            };
            ops += left;
            longest = f64::max(longest, length);
        }
        let row = self.grid.classes().seconds_per_op_row(self.grid.task(task).class());
        // Machines that could not be paid for are not waited for.
        let paid = means.map_or(f64::INFINITY, |means| means.budget.recharge.count() as f64 / longest);
        let by_price = means.filter(|_| self.terms.rule == Rule::MovingPrice);
        let price = by_price.and_then(|means| self.going(means)).map_or(f64::INFINITY, |going| going.0);
        let (mut ops_per_second, mut cores) = (0.0, 0.0);
        for id in self.present() {
            let machine = self.grid.machine(id);
            let class = machine.class().index();
            if row[class] < row[worker.class] && self.price(class) <= (paid * (1.0 + 1e-12)).min(price) {
                let capacity = f64::from(machine.cores()) * (1.0 - machine.load());
                cores += capacity;
                ops_per_second += capacity / row[class];
            }
        }
        if ops_per_second == 0.0 {
            return false;
        }
        let by_others = self.terms.period.seconds() + (ops + self.length(task) * cores) / ops_per_second;
        self.length(task) * row[worker.class] > by_others * (1.0 + 1e-12)
    }

    /// "if p is not the lowest price then (if r > D then condition (5) holds else condition (4) holds)"; and of machines
    /// with a ready time greater than D + R, that we do not have to consider them.
    fn line_9(&self, task: TaskId, worker: Worker, workers: &[Worker], means: &Means) -> bool {
        let within_period = worker.ready <= means.budget.period.seconds() * (1.0 + 1e-12);
        let heeds_period = self.terms.rule != Rule::Bt;
        let is_lowest = self.terms.first != First::Conditions && self.is_cheapest(task, worker, workers);
        if is_lowest && (self.terms.first == First::Price || !heeds_period || within_period) {
            return true;
        }
        if is_lowest || (heeds_period && !within_period) {
            return false;
        }
        let is_busy = worker.ready > 0.0;
        match self.terms.rule {
            Rule::BttPrinted | Rule::BttDerived | Rule::BttWithinReach if is_busy => {
                self.condition(task, worker, means, true)
            }
            _ => self.condition(task, worker, means, false),
        }
    }

    /// The price of each machine and the operations that it does in a second, of the class of tasks for which that is most
    /// in all.
    fn speeds(&self) -> Vec<(f64, f64)> {
        let mut most = (0.0, Vec::new());
        for task in 0..self.grid.classes().task_classes().len() {
            let row = self.grid.classes().seconds_per_op_row(gleaner_units::TaskClassId::new(task));
            let mut speeds = Vec::new();
            for id in self.present() {
                let machine = self.grid.machine(id);
                let cores = f64::from(machine.cores()) * (1.0 - machine.load());
                speeds.push((self.price(machine.class().index()), cores / row[machine.class().index()]));
            }
            let together = speeds.iter().map(|machine| machine.1).sum::<f64>();
            if together > most.0 {
                most = (together, speeds);
            }
        }
        most.1
    }

    /// What it costs to do so many operations in R on machines up to a price, the dearest first, and how many are done.
    fn doing(machines: &[(f64, f64)], period_s: f64, upto: f64, demand: f64) -> (f64, f64) {
        let mut cheap: Vec<(f64, f64)> =
            machines.iter().copied().filter(|(price, _)| *price <= upto).collect();
        cheap.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (mut cost, mut done) = (0.0, 0.0);
        for (price, speed) in cheap {
            let ops = f64::min(period_s * speed, demand - done);
            cost += ops * price;
            done += ops;
        }
        (cost, done)
    }

    /// The price of this batch for whoever pays for a task, the next higher one, what an operation costs on average that is
    /// expected to begin, and what that leaves; none where there are no machines.
    fn going(&self, means: &Means) -> Option<(f64, f64, f64, f64)> {
        let Means { budget, sums: Sums { all, .. }, .. } = *means;
        let (b, r) = (budget.recharge.count() as f64, budget.period.seconds());
        let machines: Vec<(f64, f64)> = self.speeds().into_iter().filter(|machine| machine.1 > 0.0).collect();
        let mut prices: Vec<f64> = machines.iter().map(|machine| machine.0).collect();
        prices.sort_by(f64::total_cmp);
        let is_paid = |price: &f64| Self::doing(&machines, r, *price, all).0 <= b * (1.0 + 1e-12);
        let price = prices.iter().rev().copied().find(is_paid).or(prices.first().copied())?;
        let Some(next) = prices.iter().copied().find(|other| *other > price) else {
            return Some((f64::INFINITY, f64::INFINITY, 0.0, 0.0));
        };
        let (cost, ops) = Self::doing(&machines, r, price, all);
        let average = if ops > 0.0 { cost / ops } else { 0.0 };
        Some((price, next, average, (b - cost).max(0.0)))
    }

    /// Whether a worker asks no more than the price of this batch; or the next higher one, and what the price leaves pays.
    fn is_in_the_price(&self, task: TaskId, worker: Worker, means: &Means) -> bool {
        let Some((price, next, average, surplus)) = self.going(means) else { return true };
        if worker.price <= price || worker.price > next {
            return worker.price <= price;
        }
        let Sums { allocated, done, .. } = means.sums;
        let own = self.length(task);
        let allowed = average * (done + own) + surplus;
        allocated + own * worker.price <= allowed * (1.0 + 1e-12)
    }

    fn is_cheapest(&self, task: TaskId, worker: Worker, workers: &[Worker]) -> bool {
        let able = workers.iter().filter(|other| self.seconds(task, other.class).is_finite());
        let positive = able.map(|other| other.price).filter(|price| *price > 0.0);
        worker.price > 0.0 && worker.price <= positive.fold(f64::INFINITY, f64::min)
    }

    /// B̄ = B − B̲ of the budget that pays for a task: what was charged in this period, is held or is planned, each for what was
    /// or is to be taken for it, and what is scheduled beside; M̄, the operations of these; and M, those of all that waits too.
    fn sums(&self, task: TaskId) -> Sums {
        let (credits, ops) = self.books.allocated(self.payer(task), self.now);
        let untold: Vec<TaskId> = self.meta.beyond.iter().map(|(task, _)| *task).collect();
        let untold = self.sharing(task, &untold);
        let is_told = |task: &TaskId| self.grid.plans().queue_of(*task).is_some();
        let waits = |task: &TaskId| self.grid.task(*task).state() == TaskState::Waiting && !is_told(task);
        let waiting = self.sharing(task, &self.meta.all).into_iter().filter(waits);
        Sums {
            allocated: credits + untold.iter().map(|task| self.cost(*task)).sum::<f64>(),
            done: ops + untold.iter().map(|task| self.length(*task)).sum::<f64>(),
            all: ops + waiting.map(|task| self.length(task)).sum::<f64>(),
        }
    }

    /// (4), or (5) for a busy worker.
    fn condition(&self, task: TaskId, worker: Worker, means: &Means, busy: bool) -> bool {
        let Means { budget, sums: Sums { allocated, done, all }, .. } = *means;
        let b = budget.recharge.count() as f64;
        let r = budget.period.seconds();
        let counted = match (busy, self.terms.rule) {
            (true, Rule::BttPrinted | Rule::BttWithinReach) => b / r * worker.ready,
            (true, _) => allocated - ((b / r - allocated / worker.ready) * worker.ready),
            (false, _) => allocated,
        };
        let own = self.length(task);
        let average = (counted + own * worker.price) / (done + own);
        let served = match self.terms.rule {
            Rule::BttWithinReach => {
                all.min(1.4 * r * self.speeds().iter().map(|machine| machine.1).sum::<f64>())
            }
            _ => all,
        };
        average <= b / served * (1.0 + 1e-12)
    }

    fn fits(&self, task: TaskId, workers: &[Worker], means: Option<&Means>) -> Vec<Fit> {
        let kept = self.kept(task, workers);
        let allowed = kept.iter().filter(|worker| self.allowed(task, **worker, workers, means));
        allowed.map(|worker| (*worker, self.counted_end(task, *worker))).collect()
    }

    /// When the task would be done there; where machines leave, as if it took longer by as many times that as one is expected to
    /// be lost until then.
    fn counted_end(&self, task: TaskId, worker: Worker) -> f64 {
        let end = worker.ready + self.seconds(task, worker.class);
        let losses = if self.terms.weighs { self.books.losses_per_s(worker.class, self.now) } else { 0.0 };
        end * (1.0 + losses * end)
    }

    /// Whom the goal looks at: all workers, or some that are fast for the task.
    fn kept(&self, task: TaskId, workers: &[Worker]) -> Vec<Worker> {
        let Goal::EarliestOfFastest(percent) = self.terms.goal else { return workers.to_vec() };
        let able = |worker: &&Worker| self.seconds(task, worker.class).is_finite();
        let mut others: Vec<Worker> = workers.iter().filter(able).copied().collect();
        let count = (percent as usize * others.len() / 100).max(1).min(others.len());
        let mut kept = Vec::new();
        for _ in 0..count {
            let seconds: Vec<f64> = others.iter().map(|other| self.seconds(task, other.class)).collect();
            let next = Self::lowest_least(&others, &seconds);
            others.retain(|other| *other != next);
            kept.push(next);
        }
        kept
    }

    /// The lowest of the workers whose value ties with the least.
    fn lowest_least(workers: &[Worker], values: &[f64]) -> Worker {
        let limit = tied_least(values);
        let tied = workers.iter().zip(values).filter(|(_, value)| **value <= limit);
        tied.map(|(worker, _)| *worker).min_by_key(|worker| worker.rank).expect("the least is among them")
    }

    /// The one done first, the lowest of those that tie.
    fn first_done(fits: &[Fit]) -> Worker {
        let ends: Vec<f64> = fits.iter().map(|fit| fit.1).collect();
        let limit = tied_least(&ends);
        let tied = fits.iter().filter(|fit| fit.1 <= limit);
        let ranked = tied
            .min_by(|one, other| one.0.rank.cmp(&other.0.rank).then(one.0.ready.total_cmp(&other.0.ready)));
        ranked.expect("the least is among them").0
    }

    fn chosen(&self, task: TaskId, fits: &[Fit]) -> Worker {
        let in_time = |fit: &&Fit| {
            let by = |deadline: Time| deadline.since(self.now).seconds() * (1.0 + 1e-12);
            self.terms.deadline.is_none_or(|deadline| fit.1 <= by(deadline))
        };
        let in_time: Vec<Fit> = fits.iter().filter(in_time).copied().collect();
        let old = self.terms.pick == Pick::First || self.meta.old.contains(&task);
        let workers: Vec<Worker> = fits.iter().map(|fit| fit.0).collect();
        if old && self.terms.goal == Goal::Fastest {
            let seconds: Vec<f64> = workers.iter().map(|worker| self.seconds(task, worker.class)).collect();
            return Self::lowest_least(&workers, &seconds);
        }
        if old && self.terms.goal == Goal::FirstFree {
            let ready: Vec<f64> = workers.iter().map(|worker| worker.ready).collect();
            return Self::lowest_least(&workers, &ready);
        }
        let by_time = matches!(self.terms.goal, Goal::Time | Goal::EarliestOfFastest(_));
        if !old || by_time || in_time.is_empty() {
            return Self::first_done(fits);
        }
        let price = in_time.iter().map(|fit| fit.0.price).fold(f64::INFINITY, f64::min);
        let cheap: Vec<Fit> = in_time.into_iter().filter(|fit| fit.0.price == price).collect();
        if self.terms.goal == Goal::CostTime {
            return Self::first_done(&cheap);
        }
        let lowest = cheap
            .iter()
            .min_by(|one, other| one.0.rank.cmp(&other.0.rank).then(one.0.ready.total_cmp(&other.0.ready)));
        lowest.expect("one is cheapest").0
    }

    /// One turn of the loop: the tasks to remove first, or what to schedule, the last first.
    pub(super) fn turn(&self) -> (Vec<TaskId>, Vec<(TaskId, Worker)>) {
        let workers = self.workers();
        let left = self.tasks_left();
        let old: Vec<TaskId> = left.iter().copied().filter(|task| self.meta.old.contains(task)).collect();
        if let Some(&task) = old.first() {
            let fits = self.fits(task, &workers, self.means(task).as_ref());
            return if fits.is_empty() {
                (vec![task], Vec::new())
            } else {
                (Vec::new(), vec![(task, self.chosen(task, &fits))])
            };
        }
        // Each payer's are the same for all of their tasks.
        let mut means = BTreeMap::new();
        let mut fits: Vec<Fits> = Vec::new();
        for task in left {
            let means = means.entry(self.payer(task)).or_insert_with(|| self.means(task));
            fits.push((task, self.fits(task, &workers, means.as_ref())));
        }
        let removed: Vec<TaskId> =
            fits.iter().filter(|(_, fits)| fits.is_empty()).map(|(task, _)| *task).collect();
        if !removed.is_empty() {
            return (removed, Vec::new());
        }
        let fits: Vec<&Fits> = fits.iter().collect();
        if self.terms.pick == Pick::SufferagePasses {
            return (Vec::new(), self.pass(&fits));
        }
        let next = self.largest(&fits).map(|(task, fits)| (*task, self.chosen(*task, fits)));
        (Vec::new(), next.into_iter().collect())
    }

    /// The lowest of the tasks whose metric ties with the best.
    fn largest<'f>(&self, fits: &[&'f Fits]) -> Option<&'f Fits> {
        let metrics: Vec<f64> = fits.iter().map(|(task, fits)| self.metric(*task, fits)).collect();
        let best = metrics.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tied = fits.iter().zip(&metrics).filter(|(_, metric)| **metric >= best - 1e-12 * best.abs());
        tied.map(|(fits, _)| *fits).min_by_key(|(task, _)| *task)
    }

    /// One pass: of the tasks that each worker is first for, the one with the largest metric.
    fn pass(&self, fits: &[&Fits]) -> Vec<(TaskId, Worker)> {
        let mut suitors: BTreeMap<usize, (Worker, Vec<&Fits>)> = BTreeMap::new();
        for &task in fits {
            let worker = Self::first_done(&task.1);
            suitors.entry(worker.rank).or_insert((worker, Vec::new())).1.push(task);
        }
        let chosen = suitors.into_values().rev();
        chosen.filter_map(|(worker, tasks)| Some((self.largest(&tasks)?.0, worker))).collect()
    }

    /// The largest is best.
    fn metric(&self, task: TaskId, fits: &[Fit]) -> f64 {
        let mut fits = fits.to_vec();
        fits.sort_by(|one, other| one.1.total_cmp(&other.1));
        match (self.terms.pick, fits.get(1)) {
            (Pick::First | Pick::MinMin, _) => -fits[0].1,
            (Pick::MaxMin, _) => fits[0].1,
            (Pick::Sufferage | Pick::SufferagePasses, None) => 0.0,
            (Pick::Sufferage | Pick::SufferagePasses, Some(second)) => {
                let row = self.grid.classes().seconds_per_op_row(self.grid.task(task).class());
                let slower = row[second.0.class] - row[fits[0].0.class];
                let later = second.0.ready - fits[0].0.ready;
                if second.1 <= tied_least(&[fits[0].1]) { 0.0 } else { later + self.length(task) * slower }
            }
        }
    }
}
