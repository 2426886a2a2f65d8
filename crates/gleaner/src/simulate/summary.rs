//! A run in a few numbers: what `--json` prints and `summary.json` holds.

use super::compare::{Measured, Metric};
use gleaner_core::{Budget, Policy};
use gleaner_report::Gantt;
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::{History, Period, Simulation, Waste};
use gleaner_units::{Credits, Time};
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
    /// From arrival to end, on average; none where no task ended.
    pub(crate) flow_mean_s: Option<f64>,
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
    /// What ran where, for the report of several runs.
    #[serde(skip)]
    pub(crate) schedule: Option<Gantt>,
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
            flow_mean_s: flow_mean_s(experiment, history),
            lower_bound_s,
            gap: lower_bound_s.filter(|_| complete).map(|bound| makespan_s / bound - 1.0),
            moves: history.moves(),
            aborts: history.aborts(),
            wasted: Some(history.wasted()).filter(|wasted| wasted.runs > 0),
            budget: experiment.setup.budget.map(|budget| BudgetUse::of(budget, history)),
            schedule: None,
        }
    }
}

fn flow_mean_s(experiment: &Experiment, history: &History) -> Option<f64> {
    let tasks = experiment.setup.tasks.arrivals.iter().zip(history.tasks());
    let ended = tasks.filter(|(_, task)| task.finished != Time::NEVER);
    let flow_s: f64 = ended.map(|(arrival, task)| task.finished.since(*arrival).seconds()).sum();
    (history.finished() > 0).then(|| flow_s / history.finished() as f64)
}

impl Measured for Summary {
    const METRICS: &'static [Metric] = &[
        Metric { name: "makespan_s", unit: "s", decimals: 3 },
        Metric { name: "flow_mean_s", unit: "s", decimals: 3 },
        Metric { name: "unfinished", unit: "tasks", decimals: 1 },
        Metric { name: "moves", unit: "", decimals: 1 },
        Metric { name: "aborts", unit: "", decimals: 1 },
        Metric { name: "paid", unit: "credits", decimals: 0 },
    ];

    fn values(&self) -> Vec<Option<f64>> {
        let paid = self.budget.as_ref().map(|budget| budget.paid.amount());
        let (moves, aborts) = (self.moves as f64, self.aborts as f64);
        vec![
            Some(self.makespan_s),
            self.flow_mean_s,
            Some(self.unfinished as f64),
            Some(moves),
            Some(aborts),
            paid,
        ]
    }

    fn schedule(&self) -> Option<&Gantt> {
        self.schedule.as_ref()
    }
}
