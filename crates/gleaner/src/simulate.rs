//! `gleaner simulate`.

mod answers;
mod brokering;
mod choice;
mod compare;
mod figures;
mod groups;
mod loaded;
mod log;
mod peers;
mod ran;
mod report;
mod results;
mod service;
mod sites;
mod steps;
mod summary;
mod tables;
mod text;

pub(crate) use choice::{Choice, preset_and_set};
pub(crate) use loaded::{Loaded, service_measures};
pub(crate) use log::{check_some_fit, log_numbers, log_processors};

use crate::cli::SimulateArguments;
use crate::earlier::Earlier;
use crate::failure::Failure;
use crate::{Outcome, interrupt};
use choice::{choices, shake};
use gleaner_workload::sites::{self as over, OverSites};
use gleaner_workload::{Experiment, InputError, PeersScenario, Scenario};
use std::path::Path;
use std::sync::Once;
use steps::{OfMachines, advance, check_places, conclude, finish, start};
use summary::Summary;
use text::describe;

pub(crate) fn run(arguments: &SimulateArguments) -> Outcome {
    interrupt::listen();
    let earlier = Earlier::in_folder(arguments.out.as_deref());
    simulate(arguments)?;
    earlier.tell_what_is_left();
    Ok(())
}

fn simulate(arguments: &SimulateArguments) -> Outcome {
    if let Some(file) = &arguments.log.swf {
        return log::run(arguments, file);
    }
    arguments.log.reading.check_no_log()?;
    let scenario = arguments.scenario.as_ref().expect("a scenario where there is no log");
    if over::is_at(scenario)? {
        return run_over_sites(arguments, scenario);
    }
    if PeersScenario::is_at(scenario)? {
        return run_among_peers(arguments, scenario);
    }
    let load = |choice: &Choice| {
        let mut experiment = choice.load(|set| experiment(scenario, set))?;
        choice.name(&mut experiment.policy);
        Ok(experiment)
    };
    let experiments: Vec<Experiment> =
        choices(arguments)?.iter().map(load).collect::<Result<_, InputError>>()?;
    for experiment in experiments.iter().filter(|experiment| experiment.passes_over_ranks()) {
        anstream::eprintln!(
            "note: {} does not read a task's Rank: such a task goes where any other would that may go there",
            experiment.policy
        );
    }
    if let ([only], false) = (&experiments[..], compare::is_wanted(arguments)) {
        check_places(arguments)?;
        return run_once(arguments, only);
    }
    let names: Vec<String> = experiments.iter().map(|experiment| experiment.policy.clone()).collect();
    compare::run(arguments, &names, compare::seeds(arguments, experiments[0].seed)?, |policy, seed| {
        run_seed(arguments, &experiments[policy], seed)
    })
}

/// A scenario of machines. What may be missing there is said once, however often the scenario is read.
fn experiment(file: &Path, overrides: &[String]) -> Result<Experiment, InputError> {
    static SAID: Once = Once::new();
    let scenario = Scenario::load(file, overrides)?;
    if scenario.lacks_weights {
        let weights = scenario.dimensions.iter().map(|kind| format!("{kind} = 1.0"));
        let weights = weights.collect::<Vec<_>>().join(", ");
        SAID.call_once(|| {
            anstream::eprintln!(
                "note: [work] weights is not there, so an operation of each kind counts alike beside a machine's speed of \
                 that kind: times may come out far too long; say it as weights = {{ {weights} }}"
            );
        });
    }
    Experiment::of(scenario)
}

fn run_among_peers(arguments: &SimulateArguments, file: &Path) -> Outcome {
    let load = |choice: &Choice| {
        let mut scenario = choice.load(|set| PeersScenario::load(file, set))?;
        choice.name(&mut scenario.policy);
        Ok(scenario)
    };
    let scenarios: Vec<PeersScenario> =
        choices(arguments)?.iter().map(load).collect::<Result<_, InputError>>()?;
    peers::run(arguments, &scenarios)
}

fn run_over_sites(arguments: &SimulateArguments, file: &Path) -> Outcome {
    let (mut split, mut brokered) = (Vec::new(), Vec::new());
    for choice in choices(arguments)? {
        match choice.load(|set| over::load(file, set))? {
            OverSites::Split(mut scenario) => {
                scenario.policy = scenario.policy.map(|policy| choice.called(policy));
                split.push(*scenario);
            }
            OverSites::Brokered(mut scenario) => {
                choice.name(&mut scenario.policy);
                brokered.push(*scenario);
            }
        }
    }
    if brokered.is_empty() { sites::run(arguments, &split) } else { brokering::run(arguments, &brokered) }
}

fn run_once(arguments: &SimulateArguments, experiment: &Experiment) -> Outcome {
    if experiment.groups.is_some() {
        return groups::run_once(arguments, experiment);
    }
    let mut run = start(arguments, experiment)?;
    let tasks = (experiment.setup.tasks.len(), "tasks");
    let reached = advance(arguments, &mut OfMachines(&mut run, experiment.recipe.to_string()), tasks)?;
    let summary = Summary::of(experiment, experiment.seed, &run);
    if let Some(dir) = &arguments.out {
        results::write_run(dir, experiment, &run, &summary)?;
    }
    let text = describe(&summary, arguments.out.as_deref());
    conclude(arguments, &summary, text, &reached)
}

/// One of several.
fn run_seed(arguments: &SimulateArguments, experiment: &Experiment, seed: u64) -> Result<Summary, Failure> {
    // Of several seeds the first stands for all.
    let is_drawn = seed == experiment.seed;
    let shaken = shake(arguments, seed).map(|shake| experiment.shaken(shake));
    let experiment = shaken.as_ref().unwrap_or(experiment);
    if experiment.groups.is_some() {
        let folder = compare::folder(arguments, &experiment.policy, seed);
        let is_drawn = is_drawn && folder.is_some();
        return groups::run_seed(experiment, seed, (folder.as_deref(), is_drawn));
    }
    let experiment = &*experiment.of_seed(seed);
    let mut run = start(arguments, experiment)?.with_seed(seed);
    finish(|| run.step())?;
    let mut summary = Summary::of(experiment, seed, &run);
    if let Some(dir) = compare::folder(arguments, &experiment.policy, seed) {
        results::write_run(&dir, experiment, &run, &summary)?;
        summary.schedule = is_drawn.then(|| report::schedule(experiment, &run));
    }
    Ok(summary)
}
