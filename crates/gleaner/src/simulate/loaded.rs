//! A scenario of any kind that can be run again and again, and what a run of it came to in numbers.

use super::service::ServiceSummary;
use super::steps::finish;
use super::summary::Summary;
use super::{brokering, experiment, groups, peers, sites};
use crate::Outcome;
use crate::failure::Failure;
use crate::trials::{Numbers, Runnable, fingerprint};
use gleaner_core::Checking;
use gleaner_policy::PolicySpec;
use gleaner_sim::Simulation;
use gleaner_sim::peers::PeersSetup;
use gleaner_units::Span;
use gleaner_workload::sites::{self as over, OverSites, SitesScenario};
use gleaner_workload::{BrokeringScenario, Experiment, PeersScenario, Shake};
use std::path::Path;

/// A scenario, ready to run.
pub(crate) enum Loaded {
    /// Of machines.
    Machines(Box<Experiment>),
    /// Of brokers and sites.
    Brokers(Box<BrokeringScenario>),
    /// Of peers that lend each other workers.
    Peers(Box<PeersScenario>),
    /// Of jobs over sites.
    Sites(Box<(SitesScenario, PolicySpec)>),
}

/// How those were served whose work it was, as far as the lowest number is the best.
pub(crate) fn service_measures() -> impl Iterator<Item = &'static str> {
    let names = ServiceSummary::default().measures().into_iter().map(|(metric, _)| metric.name);
    names.filter(|name| !["utilisation", "fairness"].contains(name))
}

impl Loaded {
    /// Reads the scenario at `path`, with each of the `overrides` laid over it.
    pub(crate) fn load(path: &Path, overrides: &[String]) -> Result<Self, Failure> {
        if over::is_at(path)? {
            return Ok(match over::load(path, overrides)? {
                OverSites::Split(scenario) => {
                    let policy = sites::policy(&scenario)?.clone();
                    Self::Sites(Box::new((*scenario, policy)))
                }
                OverSites::Brokered(scenario) => Self::Brokers(scenario),
            });
        }
        if PeersScenario::is_at(path)? {
            return Ok(Self::Peers(Box::new(PeersScenario::load(path, overrides)?)));
        }
        Ok(Self::Machines(Box::new(experiment(path, overrides)?)))
    }

    /// Whether anything is drawn: otherwise runs with all seeds are one.
    pub(crate) fn draws(&self) -> bool {
        match self {
            Self::Machines(experiment) => {
                let Experiment { recipe, setup, groups, .. } = &**experiment;
                let checks_some = recipe.checking().is_some_and(|checking| checking.trust.is_some());
                recipe.choose.draws() || checks_some || groups.is_some() || setup.answers.liars.is_some()
            }
            Self::Peers(scenario) => {
                let PeersSetup { unrelated, usual, turnover, frail, .. } = &scenario.setup;
                let come_and_go = turnover.is_some() || !frail.is_empty();
                unrelated.is_some() || usual.loss > 0.0 || come_and_go || scenario.recipe.choose.draws()
            }
            Self::Brokers(_) | Self::Sites(_) => true,
        }
    }

    /// The rule with all its parts.
    pub(crate) fn rule(&self) -> String {
        match self {
            Self::Machines(experiment) => experiment.recipe.to_string(),
            Self::Brokers(scenario) => scenario.recipe.to_string(),
            Self::Peers(scenario) => scenario.recipe.to_string(),
            Self::Sites(of) => of.1.recipe().to_string(),
        }
    }

    /// Whether the rule keeps to what another may not give up: a budget, or so many machines that give the same answer.
    pub(crate) fn binds(&self) -> bool {
        match self {
            Self::Machines(experiment) => experiment.recipe.heeds_budget() || self.checking().is_some(),
            Self::Brokers(_) | Self::Peers(_) | Self::Sites(_) => false,
        }
    }

    /// How many machines have to give the same answer, if any.
    pub(crate) fn checking(&self) -> Option<Checking> {
        match self {
            Self::Machines(experiment) => experiment.recipe.checking(),
            Self::Brokers(_) | Self::Peers(_) | Self::Sites(_) => None,
        }
    }

    /// Refuses to move arrivals where that is asked for and they cannot be moved.
    pub(crate) fn check_shake(&self, asked: Option<Span>) -> Outcome {
        match self {
            Self::Sites(_) => sites::check_shake(asked),
            Self::Machines(_) | Self::Brokers(_) | Self::Peers(_) => Ok(()),
        }
    }

    /// One run with arrivals moved, where they are not drawn anyway.
    pub(crate) fn measure_shaken(&self, seed: u64, shake: Shake) -> Result<Numbers, Failure> {
        match self {
            Self::Machines(experiment) => Self::Machines(Box::new(experiment.shaken(shake))).measure(seed),
            Self::Brokers(scenario) => Self::Brokers(Box::new(scenario.shaken(shake))).measure(seed),
            Self::Peers(scenario) => Self::Peers(Box::new(scenario.shaken(shake))).measure(seed),
            Self::Sites(_) => self.measure(seed),
        }
    }

    /// What to look at where nobody says.
    pub(crate) fn usual_measure(&self) -> &'static str {
        match self {
            Self::Machines(_) => "makespan_s",
            Self::Brokers(_) | Self::Peers(_) | Self::Sites(_) => "flow_mean_s",
        }
    }

    /// What there is to look at.
    pub(crate) fn measures(&self) -> Vec<&'static str> {
        let own: &[_] = match self {
            Self::Machines(_) => &["makespan_s", "gap", "moves", "aborts"],
            Self::Peers(_) => {
                &["task_mean_s", "makespan_s", "load_deviation", "stopped", "failed", "energy_kwh"]
            }
            Self::Brokers(_) => &["makespan_s"],
            Self::Sites(_) => &["completion_s", "sites_a_job"],
        };
        own.iter().copied().chain(service_measures()).collect()
    }
}

impl Runnable for Loaded {
    fn fingerprint(&self) -> String {
        match self {
            Self::Machines(experiment) => fingerprint(format_args!("{experiment:?}")),
            Self::Brokers(scenario) => fingerprint(format_args!("{scenario:?}")),
            Self::Peers(scenario) => fingerprint(format_args!("{scenario:?}")),
            Self::Sites(of) => fingerprint(format_args!("{of:?}")),
        }
    }

    fn seed(&self) -> u64 {
        match self {
            Self::Machines(experiment) => experiment.seed,
            Self::Brokers(scenario) => scenario.seed,
            Self::Peers(scenario) => scenario.seed,
            Self::Sites(of) => of.0.seed,
        }
    }

    fn measure(&self, seed: u64) -> Result<Numbers, Failure> {
        match self {
            Self::Machines(experiment) => {
                if experiment.groups.is_some() {
                    return Ok(Numbers::of(&groups::run_seed(experiment, seed, (None, false))?));
                }
                let experiment = experiment.of_seed(seed);
                let mut run = Simulation::new(&experiment.setup, experiment.recipe.build()).with_seed(seed);
                finish(|| run.step())?;
                Ok(Numbers::of(&Summary::of(&experiment, seed, &run)))
            }
            Self::Peers(scenario) => Ok(Numbers::of(&peers::run_seed(scenario, seed, None)?)),
            Self::Brokers(scenario) => Ok(Numbers::of(&brokering::run_seed(scenario, seed, None)?)),
            Self::Sites(of) => Ok(Numbers::of(&sites::run_seed(&of.0, &of.1, seed, None)?)),
        }
    }
}
