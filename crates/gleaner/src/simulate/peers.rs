//! `gleaner simulate` of a scenario of peers.

mod report;
mod summary;

pub(super) use summary::Summary;

use super::choice::shake;
use super::compare;
use super::steps::{Steps, advance, check_places, conclude, finish, not_resumed, read_saved};
use crate::Outcome;
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use gleaner_policy::{AnyPolicy, Recipe};
use gleaner_sim::peers::{PeersSetup, PeersWorld, peers};
use gleaner_sim::{Parties, restore, save};
use gleaner_units::{Ops, Time};
use gleaner_workload::PeersScenario;
use report::{describe, write};
use std::path::Path;
use summary::summary;

/// The scenario under each policy.
pub(super) fn run(arguments: &SimulateArguments, scenarios: &[PeersScenario]) -> Outcome {
    if !compare::is_wanted(arguments) {
        check_places(arguments)?;
        return run_once(arguments, &scenarios[0]);
    }
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.policy.clone()).collect();
    let seeds = compare::seeds(arguments, scenarios[0].seed)?;
    compare::run(arguments, &names, seeds, |at, seed| {
        let shaken = shake(arguments, seed).map(|shake| scenarios[at].shaken(shake));
        let scenario = shaken.as_ref().unwrap_or(&scenarios[at]);
        run_seed(scenario, seed, compare::folder(arguments, &scenario.policy, seed).as_deref())
    })
}

/// A run, with what it takes to go on.
struct Run<'a> {
    setup: &'a PeersSetup,
    parties: Parties<'a, AnyPolicy, PeersWorld<'a>>,
    rule: String,
    patience_s: f64,
}

impl<'a> Run<'a> {
    fn new(setup: &'a PeersSetup, recipe: Recipe) -> Self {
        Self::at(setup, recipe, peers(setup, |_| recipe.build()))
    }

    /// Where a checkpoint left off.
    fn go_on(setup: &'a PeersSetup, recipe: Recipe, file: &Path) -> Result<Self, Failure> {
        let rule = (&*recipe.to_string(), |_| recipe.build());
        let parties = restore(setup, rule, &read_saved(file)?).map_err(|error| not_resumed(file, error))?;
        Ok(Self::at(setup, recipe, parties))
    }

    fn at(setup: &'a PeersSetup, recipe: Recipe, parties: Parties<'a, AnyPolicy, PeersWorld<'a>>) -> Self {
        Self { setup, parties, rule: recipe.to_string(), patience_s: patience_s(setup) }
    }
}

impl Steps for Run<'_> {
    fn step(&mut self) -> bool {
        // Heartbeats go on for ever, also where nobody lends to a peer that has no workers.
        let waits = self.parties.now().since(self.parties.outside().last_end());
        waits.seconds() <= self.patience_s && self.parties.step()
    }

    fn done(&self) -> (usize, Time) {
        let left = self.parties.outside().tasks_left() as usize;
        (self.setup.lengths.len() - left, self.parties.now())
    }

    fn saved(&self) -> Vec<u8> {
        save(&self.parties, &self.rule)
    }
}

fn run_once(arguments: &SimulateArguments, scenario: &PeersScenario) -> Outcome {
    let (setup, recipe) = (scenario.seeded(scenario.seed), scenario.recipe);
    let mut run = match &arguments.resume {
        None => Run::new(&setup, recipe),
        Some(file) => Run::go_on(&setup, recipe, file)?,
    };
    let reached = advance(arguments, &mut run, (setup.lengths.len(), "tasks"))?;
    let out = arguments.out.as_deref();
    let summary = finished(scenario, scenario.seed, &run, out)?;
    conclude(arguments, &summary, describe(&summary, out), &reached)
}

/// One run; its results go to a folder, if one is named.
pub(super) fn run_seed(scenario: &PeersScenario, seed: u64, out: Option<&Path>) -> Result<Summary, Failure> {
    let setup = scenario.seeded(seed);
    let mut run = Run::new(&setup, scenario.recipe);
    finish(|| run.step())?;
    finished(scenario, seed, &run, out)
}

/// What came of it so far.
fn finished(
    scenario: &PeersScenario,
    seed: u64,
    run: &Run<'_>,
    out: Option<&Path>,
) -> Result<Summary, Failure> {
    let came = run.parties.outside().outcome();
    let until = if run.parties.outside().tasks_left() > 0 { run.parties.now() } else { came.makespan };
    let summary = summary((scenario, run.setup), seed, &came, until);
    if let Some(dir) = out {
        write(dir, scenario, (run.setup, &came), (&summary, run.parties.outside()))?;
    }
    Ok(summary)
}

/// A run in which no task ends for so long ends itself: longer than all users wait and all absences last, and ten times what
/// the longest task takes on the slowest worker.
fn patience_s(setup: &PeersSetup) -> f64 {
    let slowest = setup.machine_classes.iter().map(|class| class.speeds[0]).fold(f64::INFINITY, f64::min);
    let longest = setup.lengths.iter().map(|length| Ops::amount(*length)).fold(0.0, f64::max);
    let comes = setup.jobs.last().map_or(0.0, |job| job.submitted.seconds());
    let thinks = setup.jobs.iter().filter_map(|job| Some(job.after?.1.seconds())).fold(0.0, f64::max);
    let away = setup.outages.iter().map(|outage| outage.until);
    let away = away.chain(setup.silences.iter().map(|silence| silence.until));
    let away = away.chain(setup.absences.iter().map(|absence| absence.until));
    let away = away.chain(setup.brokers_away.iter().map(|broker| broker.until)).max().unwrap_or_default();
    // One in half a million lasts longer than 13 times the mean.
    let gone = setup.turnover.map_or(0.0, |turnover| 13.0 * turnover.away.seconds());
    gone + comes + thinks + away.seconds() + 10.0 * (longest / slowest + setup.inputs.seconds()) + 86_400.0
}
