//! Whether a task may be scheduled on a worker: line 9, and what it asks.

use super::terms::{First, Rule};
use super::view::{Means, Sums, View, Worker, works};
use gleaner_core::TaskState;
use gleaner_units::TaskId;

impl View<'_> {
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
    pub(super) fn had_better_wait(&self, task: TaskId, worker: Worker, means: Option<&Means>) -> bool {
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
            let class = self.grid.machine(id).class().index();
            if row[class] < row[worker.class] && self.price(class) <= (paid * (1.0 + 1e-12)).min(price) {
                let capacity = self.capacity(id);
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
    pub(super) fn line_9(&self, task: TaskId, worker: Worker, workers: &[Worker], means: &Means) -> bool {
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
    pub(super) fn speeds(&self) -> Vec<(f64, f64)> {
        let mut most = (0.0, Vec::new());
        for task in 0..self.grid.classes().task_classes().len() {
            let row = self.grid.classes().seconds_per_op_row(gleaner_units::TaskClassId::new(task));
            let mut speeds = Vec::new();
            for id in self.present() {
                let class = self.grid.machine(id).class().index();
                speeds.push((self.price(class), self.capacity(id) / row[class]));
            }
            let together = speeds.iter().map(|machine| machine.1).sum::<f64>();
            if together > most.0 {
                most = (together, speeds);
            }
        }
        most.1
    }

    /// What it costs to do so many operations in R on machines up to a price, the dearest first, and how many are done.
    pub(super) fn doing(machines: &[(f64, f64)], period_s: f64, upto: f64, demand: f64) -> (f64, f64) {
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
    pub(super) fn going(&self, means: &Means) -> Option<(f64, f64, f64, f64)> {
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
    pub(super) fn is_in_the_price(&self, task: TaskId, worker: Worker, means: &Means) -> bool {
        let Some((price, next, average, surplus)) = self.going(means) else { return true };
        if worker.price <= price || worker.price > next {
            return worker.price <= price;
        }
        let Sums { allocated, done, .. } = means.sums;
        let own = self.length(task);
        let allowed = average * (done + own) + surplus;
        allocated + own * worker.price <= allowed * (1.0 + 1e-12)
    }

    pub(super) fn is_cheapest(&self, task: TaskId, worker: Worker, workers: &[Worker]) -> bool {
        let able = workers.iter().filter(|other| self.seconds(task, other.class).is_finite());
        let positive = able.map(|other| other.price).filter(|price| *price > 0.0);
        worker.price > 0.0 && worker.price <= positive.fold(f64::INFINITY, f64::min)
    }

    /// B̄ = B − B̲ of the budget that pays for a task: what was charged in this period, is held or is planned, each for what was
    /// or is to be taken for it, and what is scheduled beside; M̄, the operations of these; and M, those of all that waits too.
    pub(super) fn sums(&self, task: TaskId) -> Sums {
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
    pub(super) fn condition(&self, task: TaskId, worker: Worker, means: &Means, busy: bool) -> bool {
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
}
