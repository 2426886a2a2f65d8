//! A run, or runs with several seeds, in a few numbers: what `--json` prints and `summary.json` holds.

use gleaner_core::{Budget, Policy};
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::{History, Period, Simulation, Waste};
use gleaner_units::Credits;
use gleaner_workload::Experiment;
use serde::Serialize;

/// A run in a few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Summary {
    /// Of this document.
    pub(crate) version: u32,
    /// The preset's name.
    pub(crate) policy: String,
    /// What judges relocations; none if nothing moves.
    pub(crate) relocate: Option<&'static str>,
    /// The seed.
    pub(crate) seed: u64,
    /// How many tasks there are.
    pub(crate) tasks: usize,
    /// How many did not end.
    pub(crate) unfinished: usize,
    /// When the last task ended that did.
    pub(crate) makespan_s: f64,
    /// No schedule could end earlier; none where no schedule ends.
    pub(crate) lower_bound_s: Option<f64>,
    /// The distance of the makespan from that bound, relative to it; none unless every task ended.
    pub(crate) gap: Option<f64>,
    /// How many relocations there were.
    pub(crate) moves: u64,
    /// How often a machine went before its task was done.
    pub(crate) aborts: u64,
    /// What was done in vain; none where no task had several runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wasted: Option<Waste>,
    /// What was spent; none without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<BudgetUse>,
}

/// What became of a budget.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct BudgetUse {
    /// What there was in each period.
    pub(crate) recharge: Credits,
    /// How long a period is.
    pub(crate) period_s: f64,
    /// What was spent in all, less what was given back.
    pub(crate) paid: Credits,
    /// The periods in which anything happened.
    pub(crate) periods: Vec<PeriodUse>,
}

/// What was spent in one period, less what was given back in it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct PeriodUse {
    /// When it began.
    pub(crate) start_s: f64,
    /// What was spent.
    pub(crate) spent: Credits,
    /// What nobody spent.
    pub(crate) left: Credits,
}

impl BudgetUse {
    fn of(budget: Budget, history: &History) -> Self {
        let periods = history.periods().iter();
        let periods =
            periods.map(|&Period { start, spent, left }| PeriodUse { start_s: start.seconds(), spent, left });
        Self {
            recharge: budget.recharge,
            period_s: budget.period.seconds(),
            paid: history.paid(),
            periods: periods.collect(),
        }
    }

    /// The largest sum that was spent in one period.
    pub(crate) fn spent_max(&self) -> Credits {
        self.periods.iter().map(|period| period.spent).max().unwrap_or_default()
    }
}

impl Summary {
    /// Of a run as it stands. Costs a linear program for the bound.
    pub(crate) fn of<P: Policy>(experiment: &Experiment, seed: u64, run: &Simulation<'_, P>) -> Self {
        let history = run.history();
        let makespan_s = history.makespan().seconds();
        let lower_bound_s = makespan_bound(&experiment.setup);
        let complete = history.unfinished() == 0;
        Self {
            version: 1,
            policy: experiment.policy.clone(),
            relocate: experiment.recipe.relocate.map(|rule| rule.score.name()),
            seed,
            tasks: history.tasks().len(),
            unfinished: history.unfinished(),
            makespan_s,
            lower_bound_s,
            gap: lower_bound_s.filter(|_| complete).map(|bound| makespan_s / bound - 1.0),
            moves: history.moves(),
            aborts: history.aborts(),
            wasted: Some(history.wasted()).filter(|wasted| wasted.runs > 0),
            budget: experiment.setup.budget.map(|budget| BudgetUse::of(budget, history)),
        }
    }
}

/// Runs with several seeds in a few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct SeedsSummary {
    /// Of this document.
    pub(crate) version: u32,
    /// The preset's name.
    pub(crate) policy: String,
    /// What judges relocations; none if nothing moves.
    pub(crate) relocate: Option<&'static str>,
    /// The seeds, in order.
    pub(crate) seeds: Vec<u64>,
    /// How many tasks did not end, over all runs.
    pub(crate) unfinished: usize,
    /// Over the runs.
    pub(crate) makespan_s: Spread,
    /// Over the runs.
    pub(crate) moves: Spread,
    /// Each run's own.
    pub(crate) runs: Vec<Summary>,
}

/// How a number spreads over runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Spread {
    /// Arithmetic.
    pub(crate) mean: f64,
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        Self {
            mean: values.clone().sum::<f64>() / count,
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl SeedsSummary {
    /// Of at least one run.
    pub(crate) fn of(runs: Vec<Summary>) -> Self {
        let first = runs.first().expect("at least one seed").clone();
        Self {
            version: 1,
            policy: first.policy,
            relocate: first.relocate,
            seeds: runs.iter().map(|run| run.seed).collect(),
            unfinished: runs.iter().map(|run| run.unfinished).sum(),
            makespan_s: Spread::of(runs.iter().map(|run| run.makespan_s)),
            moves: Spread::of(runs.iter().map(|run| run.moves as f64)),
            runs,
        }
    }
}
