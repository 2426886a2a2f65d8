//! Which tasks get which workers, one after the other.

use super::priority;
use super::terms::{Goal, Pick, Rule};
use super::view::{Fit, Fits, Means, View, Worker, tied_least};
use gleaner_units::{TaskId, Time};
use std::collections::BTreeMap;

impl View<'_> {
    pub(super) fn fits(&self, task: TaskId, workers: &[Worker], means: Option<&Means>) -> Vec<Fit> {
        let allowed = workers.iter().filter(|worker| self.allowed(task, **worker, workers, means));
        let kept = self.kept(task, allowed.copied().collect());
        kept.into_iter().map(|worker| (worker, self.counted_end(task, worker))).collect()
    }

    /// When the task would be done there; where machines leave, as if it took longer by as many times that as one is expected to
    /// be lost until then.
    pub(super) fn counted_end(&self, task: TaskId, worker: Worker) -> f64 {
        let end = worker.ready + self.seconds(task, worker.class);
        let losses = if self.terms.weighs { self.books.losses_per_s(worker.class, self.now) } else { 0.0 };
        end * (1.0 + losses * end)
    }

    /// Whom the goal looks at: all workers that are allowed, or some that are fast for the task.
    fn kept(&self, task: TaskId, mut others: Vec<Worker>) -> Vec<Worker> {
        let Goal::EarliestOfFastest(percent) = self.terms.goal else { return others };
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
    pub(super) fn lowest_least(workers: &[Worker], values: &[f64]) -> Worker {
        let limit = tied_least(values);
        let tied = workers.iter().zip(values).filter(|(_, value)| **value <= limit);
        tied.map(|(worker, _)| *worker).min_by_key(|worker| worker.rank).expect("the least is among them")
    }

    /// The one done first, the lowest of those that tie.
    pub(super) fn first_done(fits: &[Fit]) -> Worker {
        let ends: Vec<f64> = fits.iter().map(|fit| fit.1).collect();
        let limit = tied_least(&ends);
        let tied = fits.iter().filter(|fit| fit.1 <= limit);
        let ranked = tied
            .min_by(|one, other| one.0.rank.cmp(&other.0.rank).then(one.0.ready.total_cmp(&other.0.ready)));
        ranked.expect("the least is among them").0
    }

    pub(super) fn chosen(&self, task: TaskId, fits: &[Fit]) -> Worker {
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
        let left = self.most_urgent(self.tasks_left());
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
            return (self.removed_first(removed, &workers), Vec::new());
        }
        let fits: Vec<&Fits> = fits.iter().collect();
        if self.terms.pick == Pick::SufferagePasses {
            return (Vec::new(), self.pass(&fits));
        }
        let next = self.largest(&fits).map(|(task, fits)| (*task, self.chosen(*task, fits)));
        (Vec::new(), next.into_iter().collect())
    }

    /// Those of the highest priority that there is among them.
    pub(super) fn most_urgent(&self, mut tasks: Vec<TaskId>) -> Vec<TaskId> {
        let highest = tasks.iter().map(|task| priority(self.grid, *task)).max();
        tasks.retain(|task| Some(priority(self.grid, *task)) == highest);
        tasks
    }

    /// Where what is left is shared, whoever is removed leaves more for each of the others: one goes at a time, the dearest on the
    /// cheapest worker that could do it, and of such the last.
    fn removed_first(&self, tasks: Vec<TaskId>, workers: &[Worker]) -> Vec<TaskId> {
        if !matches!(self.terms.rule, Rule::Share | Rule::LeastShare) {
            return tasks;
        }
        let cost = |task: TaskId| {
            let able = workers.iter().filter(|worker| self.seconds(task, worker.class).is_finite());
            able.map(|worker| self.length(task) * worker.price).fold(f64::INFINITY, f64::min)
        };
        let dearest = |tasks: Vec<TaskId>| {
            let costs = tasks.into_iter().map(|task| (cost(task), task));
            let dearest = costs.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            dearest.map(|(_, task)| task)
        };
        let Some(first) = dearest(tasks) else { return Vec::new() };
        let urgency = |task: TaskId| priority(self.grid, task);
        // Less urgent ones of the same account that have no place either leave their share before.
        let mut less = self.tasks_left();
        less.retain(|&task| {
            urgency(task) < urgency(first)
                && self.share(task, first)
                && self.fits(task, workers, self.means(task).as_ref()).is_empty()
        });
        let least = less.iter().map(|task| urgency(*task)).min();
        less.retain(|task| Some(urgency(*task)) == least);
        vec![dearest(less).unwrap_or(first)]
    }

    /// The lowest of the tasks whose metric ties with the best.
    pub(super) fn largest<'f>(&self, fits: &[&'f Fits]) -> Option<&'f Fits> {
        let metrics: Vec<f64> = fits.iter().map(|(task, fits)| self.metric(*task, fits)).collect();
        let best = metrics.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tied = fits.iter().zip(&metrics).filter(|(_, metric)| **metric >= best - 1e-12 * best.abs());
        tied.map(|(fits, _)| *fits).min_by_key(|(task, _)| *task)
    }

    /// One pass: of the tasks that each worker is first for, the one with the largest metric.
    pub(super) fn pass(&self, fits: &[&Fits]) -> Vec<(TaskId, Worker)> {
        let mut suitors: BTreeMap<usize, (Worker, Vec<&Fits>)> = BTreeMap::new();
        for &task in fits {
            let worker = Self::first_done(&task.1);
            suitors.entry(worker.rank).or_insert((worker, Vec::new())).1.push(task);
        }
        let chosen = suitors.into_values().rev();
        chosen.filter_map(|(worker, tasks)| Some((self.largest(&tasks)?.0, worker))).collect()
    }

    /// The largest is best.
    pub(super) fn metric(&self, task: TaskId, fits: &[Fit]) -> f64 {
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
