//! Several rules on the same inputs: for each case and each seed one setup, and every rule run on it.
//!
//! Invariants:
//!
//! - **Rules are compared in pairs**: all runs of a case and a seed have the same machines, tasks and owners.
//! - **The number of threads changes nothing**: runs share no state, and results are kept in their order.

use crate::statistics::{Estimate, mean};
use gleaner_core::Policy;
use gleaner_policy::Recipe;
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::{Setup, Simulation};
use gleaner_units::MachineId;
use rayon::prelude::*;
use std::ops::ControlFlow;
use thiserror::Error;

/// Called after each simulation, from any thread: whether to go on.
pub type Watch<'a> = &'a (dyn Fn() -> ControlFlow<()> + Sync);

/// The watch asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("stopped before the end")]
pub struct Stopped;

/// What came of one simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Run {
    /// When the last task ended.
    pub makespan_s: f64,
    /// How many relocations there were.
    pub moves: u64,
    /// The part of the machines' time until then in which they had something to run.
    pub busy: f64,
    /// How alike the tasks' slowdowns are, by Jain's index: 1 where each task took as many times as long as alone on the
    /// machine that is best for it, 1/tasks where one had all to bear.
    pub fairness: f64,
}

impl Run {
    /// Of a run of a setup that came to its end.
    pub(crate) fn of<P: Policy>(setup: &Setup, simulation: &Simulation<'_, P>) -> Self {
        let history = simulation.history();
        let makespan_s = history.makespan().seconds();
        let machines = (0..setup.machines.len()).map(MachineId::new);
        let busy_s: f64 = machines.map(|machine| simulation.busy_seconds(machine)).sum();
        let tasks = history.tasks().iter().zip(&setup.tasks.arrivals);
        let slowdowns = tasks.zip(setup.tasks.lengths.iter().zip(&setup.tasks.classes)).map(
            |((task, arrival), (length, class))| {
                let least_s = length.amount() * seconds_per_op(setup, class.index());
                task.finished.since(*arrival).seconds() / least_s
            },
        );
        let (sum, squares) = slowdowns
            .fold((0.0, 0.0), |(sum, squares), slowdown| (sum + slowdown, squares + slowdown * slowdown));
        Self {
            makespan_s,
            moves: history.moves(),
            busy: busy_s / (setup.machines.len() as f64 * makespan_s),
            fairness: sum * sum / (setup.tasks.len() as f64 * squares),
        }
    }
}

/// On the machine that is best for it.
fn seconds_per_op(setup: &Setup, task_class: usize) -> f64 {
    let shares = setup.task_classes[task_class].composition.iter().zip(&setup.config.weights);
    let parts: Vec<f64> = shares.map(|(share, weight)| share * weight).collect();
    let seconds = setup.machine_classes.iter().map(|machine| {
        let terms = parts.iter().zip(&machine.speeds).filter(|(part, _)| **part > 0.0);
        terms.map(|(part, speed)| part / speed).sum::<f64>()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

/// All runs with one setup.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// No schedule of this setup ends earlier.
    pub bound_s: f64,
    /// One entry a rule, in their order.
    pub runs: Vec<Run>,
}

/// Runs by case, seed and rule. `K` is what tells rules apart.
#[derive(Clone, PartialEq, Debug)]
pub struct Trials<K> {
    rules: Vec<K>,
    /// By case, then by seed.
    trials: Vec<Vec<Trial>>,
}

impl<K: Copy + PartialEq> Trials<K> {
    /// From results: by case, then by seed, each with one run a rule.
    ///
    /// # Panics
    /// If there are no results, or not as many of each as of the others.
    pub fn new(rules: Vec<K>, trials: Vec<Vec<Trial>>) -> Self {
        let seeds = trials.first().expect("at least one case").len();
        assert!(seeds > 0 && trials.iter().all(|seed| seed.len() == seeds), "as many seeds in each case");
        let whole = trials.iter().flatten().all(|trial| trial.runs.len() == rules.len());
        assert!(whole, "one run a rule with each setup");
        Self { rules, trials }
    }

    /// Simulates, on all cores.
    pub fn conduct(
        cases: usize,
        seeds: u64,
        rules: &[(K, Recipe)],
        setup: impl Fn(usize, u64) -> Setup + Sync,
        watch: Watch<'_>,
    ) -> Result<Self, Stopped> {
        let recipes: Vec<Recipe> = rules.iter().map(|(_, recipe)| *recipe).collect();
        let inputs: Vec<(usize, u64)> =
            (0..cases).flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
        let trials: Result<Vec<Trial>, Stopped> =
            inputs.into_par_iter().map(|(case, seed)| trial(&setup(case, seed), &recipes, watch)).collect();
        let mut trials = trials?.into_iter();
        let by_case = (0..cases).map(|_| trials.by_ref().take(seeds as usize).collect());
        Ok(Self::new(rules.iter().map(|(rule, _)| *rule).collect(), by_case.collect()))
    }

    /// The rules compared, in their order.
    pub fn rules(&self) -> &[K] {
        &self.rules
    }

    /// How many cases.
    pub fn cases(&self) -> usize {
        self.trials.len()
    }

    /// How many seeds each case was run with.
    pub fn seeds(&self) -> usize {
        self.trials[0].len()
    }

    /// Whether this rule was run.
    pub fn has(&self, rule: K) -> bool {
        self.rules.contains(&rule)
    }

    /// One run.
    ///
    /// # Panics
    /// If the rule is not among those compared.
    pub fn run(&self, rule: K, case: usize, seed: usize) -> Run {
        let at = self.rules.iter().position(|known| *known == rule).expect("a rule that was run");
        self.trials[case][seed].runs[at]
    }

    /// When the last task ended.
    pub fn makespan_s(&self, rule: K, case: usize, seed: usize) -> f64 {
        self.run(rule, case, seed).makespan_s
    }

    /// No schedule ends earlier.
    pub fn bound_s(&self, case: usize, seed: usize) -> f64 {
        self.trials[case][seed].bound_s
    }

    /// How far the makespan is above the bound, relative to it.
    pub fn gap(&self, rule: K, case: usize, seed: usize) -> f64 {
        self.makespan_s(rule, case, seed) / self.bound_s(case, seed) - 1.0
    }

    /// How much longer `rule` takes than `other` with the same setup, relative to `other`.
    pub fn excess(&self, rule: K, other: K, case: usize, seed: usize) -> f64 {
        self.makespan_s(rule, case, seed) / self.makespan_s(other, case, seed) - 1.0
    }

    /// The largest over the cases of something reckoned from makespans that are averaged over the seeds. Each case has the
    /// jackknife's interval, so wide that all of them hold at a time.
    pub fn largest_of_averages(&self, statistic: impl Fn(&dyn Fn(K) -> f64) -> f64) -> Estimate {
        let of_case = |case: usize| {
            let reckon = |left_out: Option<usize>| {
                statistic(&|rule| {
                    let seeds = (0..self.seeds()).filter(|seed| Some(*seed) != left_out);
                    mean(seeds.map(|seed| self.makespan_s(rule, case, seed)))
                })
            };
            let without: Vec<f64> = (0..self.seeds()).map(|seed| reckon(Some(seed))).collect();
            Estimate::of_all_among(reckon(None), &without, self.cases())
        };
        Estimate::largest((0..self.cases()).map(of_case))
    }

    /// An estimate from one number a seed.
    pub fn over_seeds(&self, of: impl Fn(usize) -> f64) -> Estimate {
        Estimate::of(&(0..self.seeds()).map(of).collect::<Vec<f64>>())
    }

    /// An estimate from each seed's mean over all cases.
    pub fn over_all(&self, of: impl Fn(usize, usize) -> f64) -> Estimate {
        self.over_seeds(|seed| mean((0..self.cases()).map(|case| of(case, seed))))
    }
}

fn trial(setup: &Setup, recipes: &[Recipe], watch: Watch<'_>) -> Result<Trial, Stopped> {
    let runs: Result<Vec<Run>, Stopped> = recipes
        .iter()
        .map(|recipe| {
            let run = simulate(setup, *recipe);
            if watch().is_break() { Err(Stopped) } else { Ok(run) }
        })
        .collect();
    let bound_s = makespan_bound(setup).expect("an experiment's owners leave every machine something");
    Ok(Trial { bound_s, runs: runs? })
}

fn simulate(setup: &Setup, recipe: Recipe) -> Run {
    let mut simulation = Simulation::new(setup, recipe.build());
    simulation.run();
    assert_eq!(simulation.history().unfinished(), 0, "every task of an experiment ends");
    Run::of(setup, &simulation)
}
