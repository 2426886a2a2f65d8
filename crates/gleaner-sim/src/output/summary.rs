use crate::bound::{BoundMachine, BoundTask, Instance, fluid_bound, lower_bound};
use crate::{Availability, Experiment, History, Period, Setup, Simulation, Waste};
use gleaner_core::{Budget, Policy};
use gleaner_units::{Credits, MachineClassId, TaskClassId, Time};
use serde::Serialize;

/// A run in a few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Of this document.
    pub version: u32,
    /// The preset's name.
    pub policy: String,
    /// What judges relocations; none if nothing moves.
    pub relocate: Option<&'static str>,
    /// The seed.
    pub seed: u64,
    /// How many tasks there are.
    pub tasks: usize,
    /// How many did not end.
    pub unfinished: usize,
    /// When the last task ended that did.
    pub makespan_s: f64,
    /// No schedule could end earlier; none where no schedule ends.
    pub lower_bound_s: Option<f64>,
    /// The distance of the makespan from that bound, relative to it; none unless every task ended.
    pub gap: Option<f64>,
    /// How many relocations there were.
    pub moves: u64,
    /// How often a machine went before its task was done.
    pub aborts: u64,
    /// What was done in vain; none where no task had several runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wasted: Option<Waste>,
    /// What was spent; none without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetUse>,
}

/// What became of a budget.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BudgetUse {
    /// What there was in each period.
    pub recharge: Credits,
    /// How long a period is.
    pub period_s: f64,
    /// What was spent in all, less what was given back.
    pub paid: Credits,
    /// The periods in which anything happened.
    pub periods: Vec<PeriodUse>,
}

/// What was spent in one period, less what was given back in it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PeriodUse {
    /// When it began.
    pub start_s: f64,
    /// What was spent.
    pub spent: Credits,
    /// What nobody spent.
    pub left: Credits,
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
    pub fn spent_max(&self) -> Credits {
        self.periods.iter().map(|period| period.spent).max().unwrap_or_default()
    }
}

impl Summary {
    /// Of a run as it stands. Costs a linear program for the bound.
    pub fn of<P: Policy>(experiment: &Experiment, seed: u64, run: &Simulation<'_, P>) -> Self {
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

/// No schedule of these tasks on these machines ends earlier, in seconds; none where no schedule ends.
pub fn makespan_bound(setup: &Setup) -> Option<f64> {
    if let Some(availability) = &setup.availability {
        return bound_by_trace(setup, availability);
    }
    let seconds_per_op = seconds_per_op(setup);
    let mut loads: Vec<Vec<(Time, f64)>> = vec![Vec::new(); setup.machines.len()];
    for row in &setup.loads {
        loads[row.machine.index()].push((row.time, row.load));
    }
    let machines = setup.machines.iter().zip(loads).map(|(class, loads)| BoundMachine {
        class: class.index(),
        cores: setup.machine_classes[class.index()].cores,
        loads,
    });
    let tasks = (0..setup.tasks.len()).map(|index| BoundTask {
        arrival: setup.tasks.arrivals[index],
        length: setup.tasks.lengths[index],
        kind: setup.tasks.classes[index].index(),
    });
    let (machines, tasks): (Vec<_>, Vec<_>) = (machines.collect(), tasks.collect());
    let instance = Instance { seconds_per_op: &seconds_per_op, tasks: &tasks, machines: &machines };
    lower_bound(&instance).map(|bound| bound.seconds)
}

fn bound_by_trace(setup: &Setup, availability: &Availability) -> Option<f64> {
    let tasks = setup.tasks.arrivals.iter().zip(&setup.tasks.lengths);
    let weight = setup.config.weights[0];
    let work: Vec<(Time, f64)> =
        tasks.map(|(arrival, length)| (*arrival, weight * length.amount())).collect();
    let cores = |machine: u32| {
        let kinds = availability.kinds.iter().max().map_or(1, |last| *last as usize + 1);
        let of_each_kind = setup.machine_classes.len() / kinds;
        setup.machine_classes[availability.kinds[machine as usize] as usize * of_each_kind].cores
    };
    fluid_bound(&availability.trace, cores, &work)
}

/// One row a task class, one column a machine class, as the scheduler computes it.
fn seconds_per_op(setup: &Setup) -> Vec<Vec<f64>> {
    let grid = setup.idle_grid();
    let columns = || (0..setup.machine_classes.len()).map(MachineClassId::new);
    let row = |kind| columns().map(|class| grid.classes().seconds_per_op(kind, class)).collect();
    (0..setup.task_classes.len()).map(TaskClassId::new).map(row).collect()
}

/// Runs with several seeds in a few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SeedsSummary {
    /// Of this document.
    pub version: u32,
    /// The preset's name.
    pub policy: String,
    /// What judges relocations; none if nothing moves.
    pub relocate: Option<&'static str>,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// How many tasks did not end, over all runs.
    pub unfinished: usize,
    /// Over the runs.
    pub makespan_s: Spread,
    /// Over the runs.
    pub moves: Spread,
    /// Each run's own.
    pub runs: Vec<Summary>,
}

/// How a number spreads over runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// Arithmetic.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
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
    pub fn of(runs: Vec<Summary>) -> Self {
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
