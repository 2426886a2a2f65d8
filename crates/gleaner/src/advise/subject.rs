//! What rules are tried on: a scenario, a log of rigid jobs, or what a live grid did.

use super::candidate::Candidate;
use crate::cli::AdviseArguments;
use crate::failure::Failure;
use crate::home;
use crate::simulate::{Loaded, check_some_fit, log_numbers, log_processors, service_measures};
use crate::trials::{Numbers, Runnable, fingerprint};
use gleaner_core::Checking;
use gleaner_policy::{PolicySpec, Recipe};
use gleaner_replay::{Past, read_last};
use gleaner_units::Span;
use gleaner_wire::api::PolicyKeys;
use gleaner_workload::swf::Log;
use gleaner_workload::{InputError, LogExperiment, PolicySource, Reading, Shake, read_policy};
use std::path::PathBuf;

/// Of a live grid, so many days count.
const SECONDS_A_DAY: f64 = 86_400.0;

/// By how much arrivals are moved where nobody says.
const SHAKE: Span = Span::from_nanos(60_000_000_000);

/// What others are compared with on a log, in which no rule is in force.
const OF_LOGS: &str = "queue/fcfs";

/// One of them.
pub(super) struct Subject {
    of: Of,
    /// By how much arrivals are moved in each run.
    shake: Span,
    /// With how many seeds rules are tried, and the best once more.
    seeds: u64,
    overrides: Vec<String>,
}

enum Of {
    /// `binds`: see [`Loaded::binds`].
    Scenario {
        file: PathBuf,
        binds: bool,
    },
    Log {
        file: PathBuf,
        log: Box<Log>,
        cores: u32,
    },
    Past {
        journal: PathBuf,
        past: Box<Past>,
    },
}

/// A subject under one rule.
pub(super) struct Ready<'a> {
    under: Under<'a>,
    shake: Span,
    first_seed: u64,
}

enum Under<'a> {
    Scenario(Box<Loaded>),
    Log { log: &'a Log, cores: u32, policy: Box<PolicySpec> },
    Past { past: &'a Past, policy: Box<PolicySpec> },
}

impl Subject {
    /// What the arguments name; the past of the grid whose folder is here, where they name nothing.
    pub(super) fn of(arguments: &AdviseArguments) -> Result<Self, Failure> {
        let of = match (arguments.scenario.as_deref(), arguments.swf.as_deref()) {
            (Some(file), _) => {
                let own = Loaded::load(file, &arguments.overrides)?;
                own.check_shake(arguments.shake)?;
                Of::Scenario { file: file.to_owned(), binds: own.binds() }
            }
            (None, Some(file)) => {
                let log = gleaner_workload::logs::load(file, None)?;
                let cores = log_processors(&log, arguments.cores)?;
                check_some_fit(file, cores, &log.kept(cores))?;
                Of::Log { file: file.to_owned(), log: Box::new(log), cores }
            }
            (None, None) => {
                let journal = match &arguments.journal {
                    Some(journal) => journal.clone(),
                    None => home::folder(arguments.home.as_deref())?,
                };
                let last = Span::from_seconds(arguments.days * SECONDS_A_DAY);
                let last =
                    last.ok_or_else(|| Failure::Usage("--days: found more days than there are".to_owned()))?;
                let past = read_last(&journal, last)?;
                if past.setup.tasks.is_empty() {
                    let found = format!(
                        "{}: no task that came in the last {} days ran to its end; expected some, or more --days",
                        journal.display(),
                        arguments.days
                    );
                    return Err(Failure::Usage(found));
                }
                Of::Past { journal, past: Box::new(past) }
            }
        };
        let (shake, seeds) = (arguments.shake.unwrap_or(SHAKE), arguments.seeds);
        Ok(Self { of, shake, seeds, overrides: arguments.overrides.clone() })
    }

    /// The rule that others are compared with.
    pub(super) fn first(&self) -> Candidate {
        match self.of {
            Of::Log { .. } => Candidate::plain(OF_LOGS),
            Of::Scenario { .. } | Of::Past { .. } => Candidate::now(),
        }
    }

    /// In words, for a heading.
    pub(super) fn title(&self) -> String {
        match &self.of {
            Of::Scenario { file, .. } => file.display().to_string(),
            Of::Log { file, cores, .. } => format!("{} on {cores} processors", file.display()),
            Of::Past { journal, past } => {
                format!("{} tasks of {}", past.setup.tasks.len(), journal.display())
            }
        }
    }

    /// The command that uses a rule.
    pub(super) fn command(&self, candidate: &Candidate) -> Option<String> {
        let preset = candidate.preset.as_deref()?;
        let chosen = || candidate.set.iter().map(String::as_str);
        Some(match &self.of {
            Of::Scenario { file, .. } => {
                // `--policy` keeps the scenario's own keys.
                let keeps_keys = Loaded::load(file, &self.laid_over(candidate, preset, true)).is_ok();
                let own = set("", self.overrides.iter().map(String::as_str));
                let rule = if keeps_keys {
                    format!("--policy {preset}")
                } else {
                    format!("--set '{}'", alone(preset))
                };
                format!("gleaner simulate {}{own} {rule}{}", file.display(), set("policy.", chosen()))
            }
            Of::Log { file, cores, .. } => {
                let file = file.display();
                let set = set("policy.", chosen().chain(self.keys_of_policy()));
                format!("gleaner simulate --swf {file} --cores {cores} --policy {preset}{set}")
            }
            Of::Past { .. } => {
                format!("gleaner policy set {preset}{}", set("", chosen().chain(self.keys_of_policy())))
            }
        })
    }

    /// Fails where the rule has no meaning here.
    pub(super) fn load(&self, candidate: &Candidate) -> Result<Ready<'_>, Failure> {
        let under = match &self.of {
            Of::Scenario { file, binds } => {
                Under::Scenario(Box::new(self.scenario(file, *binds, candidate)?))
            }
            Of::Log { log, cores, .. } => {
                let preset = candidate.preset.as_deref().unwrap_or(OF_LOGS);
                let policy = self.read(preset, candidate, PolicySpec::read)?;
                if !policy.recipe().queues() {
                    let found = format!("{preset} runs no rigid jobs in a line; expected one that does");
                    return Err(Failure::Usage(found));
                }
                Under::Log { log, cores: *cores, policy: Box::new(policy) }
            }
            Of::Past { past, .. } => {
                let policy = match &candidate.preset {
                    None => past.policy.clone(),
                    // As `gleaner policy set` would.
                    Some(preset) => self.read(preset, candidate, |tree| {
                        gleaner_server::policy::asked(PolicyKeys(tree), &past.policy)
                    })?,
                };
                refuse_peers(policy.name(), policy.recipe())?;
                Under::Past { past, policy: Box::new(policy) }
            }
        };
        let first_seed = match &under {
            Under::Scenario(loaded) => loaded.seed(),
            Under::Log { .. } => 1,
            Under::Past { past, .. } => past.seed,
        };
        Ok(Ready { under, shake: self.shake, first_seed })
    }

    /// What was asked for, where nothing but a policy has keys.
    fn keys_of_policy(&self) -> impl Iterator<Item = &str> {
        self.overrides.iter().map(|set| set.strip_prefix("policy.").unwrap_or(set))
    }

    fn read(
        &self,
        preset: &str,
        candidate: &Candidate,
        read: impl Fn(gleaner_policy::Tree) -> Result<PolicySpec, gleaner_policy::PolicyError>,
    ) -> Result<PolicySpec, InputError> {
        let own = self.keys_of_policy().map(str::to_owned);
        let set: Vec<String> = candidate.set.iter().cloned().chain(own).collect();
        read_policy(PolicySource::Preset(preset), &set, read)
    }

    /// A scenario's keys, with a rule laid over its own or in the place of all that is said of it.
    fn laid_over(&self, candidate: &Candidate, preset: &str, keeps_keys: bool) -> Vec<String> {
        let first = if keeps_keys { format!("policy.preset=\"{preset}\"") } else { alone(preset) };
        let set = candidate.set.iter().map(|set| format!("policy.{set}"));
        self.overrides.iter().cloned().chain([first]).chain(set).collect()
    }

    /// The scenario's own keys are kept where the preset has them; all but what binds may go.
    fn scenario(
        &self,
        file: &std::path::Path,
        binds: bool,
        candidate: &Candidate,
    ) -> Result<Loaded, Failure> {
        let Some(preset) = &candidate.preset else { return Loaded::load(file, &self.overrides) };
        let load = |keeps_keys| Loaded::load(file, &self.laid_over(candidate, preset, keeps_keys));
        let loaded = match load(true) {
            Err(failure) if binds => return Err(failure),
            Err(_) => load(false)?,
            Ok(loaded) => loaded,
        };
        match &loaded {
            Loaded::Machines(experiment) => refuse_peers(preset, experiment.recipe)?,
            // Whether jobs fit, what is drawn for a seed says.
            Loaded::Sites(of) => {
                for number in 0..self.seeds.saturating_mul(2) {
                    of.0.setup(of.0.seed.saturating_add(number))?;
                }
            }
            Loaded::Brokers(_) | Loaded::Peers(_) => {}
        }
        Ok(loaded)
    }
}

/// Options that set keys under a section.
fn set<'a>(under: &str, keys: impl Iterator<Item = &'a str>) -> String {
    keys.map(|key| format!(" --set '{under}{key}'")).collect()
}

/// A preset and nothing else, as a key of a scenario.
fn alone(preset: &str) -> String {
    format!("policy={{preset=\"{preset}\"}}")
}

/// What peers owe each other makes no difference where there is one site.
fn refuse_peers(preset: &str, recipe: Recipe) -> Result<(), Failure> {
    if recipe.lends() {
        return Err(Failure::Usage(format!("{preset} is for peers; expected one for machines of one site")));
    }
    Ok(())
}

impl Ready<'_> {
    /// The same with other seeds.
    pub(super) fn with_seed(self, first_seed: u64) -> Self {
        Self { first_seed, ..self }
    }

    /// The same with arrivals where they are.
    pub(super) fn unshaken(self) -> Self {
        Self { shake: Span::ZERO, ..self }
    }

    /// The number that is to be low.
    pub(super) fn measure_of(&self, asked: Option<&str>) -> Result<String, Failure> {
        let (usual, known): (&str, Vec<&str>) = match &self.under {
            Under::Scenario(loaded) => (loaded.usual_measure(), loaded.measures()),
            Under::Log { .. } => ("slowdown_mean", service_measures().collect()),
            Under::Past { .. } => (
                "flow_mean_s",
                vec!["flow_mean_s", "wait_mean_s", "wait_max_s", "makespan_s", "machine_s", "moves"],
            ),
        };
        match asked {
            None => Ok(usual.to_owned()),
            Some(asked) if known.contains(&asked) => Ok(asked.to_owned()),
            Some(asked) => {
                let known = known.join(", ");
                Err(Failure::Usage(format!("--measure: found \"{asked}\"; expected one of {known}")))
            }
        }
    }

    /// How many machines have to agree, if any.
    pub(super) fn checking(&self) -> Option<Checking> {
        match &self.under {
            Under::Scenario(loaded) => loaded.checking(),
            Under::Log { policy, .. } | Under::Past { policy, .. } => policy.recipe().checking(),
        }
    }

    /// By up to how many seconds each run moves arrivals; 0 where they stay, as of jobs over sites.
    pub(super) fn shake_s(&self) -> f64 {
        match &self.under {
            Under::Scenario(loaded) if matches!(**loaded, Loaded::Sites(_)) => 0.0,
            Under::Scenario(_) | Under::Log { .. } | Under::Past { .. } => self.shake.seconds(),
        }
    }

    /// The rule with all its parts.
    pub(super) fn rule(&self) -> String {
        match &self.under {
            Under::Scenario(loaded) => loaded.rule(),
            Under::Log { policy, .. } | Under::Past { policy, .. } => {
                let budget = policy.budget().map(|budget| format!(" {budget:?}")).unwrap_or_default();
                format!("{}{budget}", policy.recipe())
            }
        }
    }
}

impl Runnable for Ready<'_> {
    fn fingerprint(&self) -> String {
        let shake = self.shake.nanos();
        match &self.under {
            Under::Scenario(loaded) => format!("{} shaken by {shake}", loaded.fingerprint()),
            Under::Log { log, cores, .. } => {
                let (rule, text) = (self.rule(), blake3::hash(log.text()));
                fingerprint(format_args!("{rule} of {text} on {cores} shaken by {shake}"))
            }
            Under::Past { past, .. } => {
                let (rule, setup, caps) = (self.rule(), &past.setup, &past.caps);
                fingerprint(format_args!("{rule} of {setup:?} {caps:?} shaken by {shake}"))
            }
        }
    }

    fn seed(&self) -> u64 {
        self.first_seed
    }

    fn measure(&self, seed: u64) -> Result<Numbers, Failure> {
        // The tasks of an array came as one; that two jobs of a log have one second says nothing of them.
        let keeps_together = matches!(self.under, Under::Past { .. });
        let shake = Shake { seed, most: self.shake, keeps_together };
        match &self.under {
            Under::Scenario(loaded) => loaded.measure_shaken(seed, shake),
            Under::Log { log, cores, policy } => {
                let reading = Reading { shake: Some(shake), ..Reading::default() };
                log_numbers(&LogExperiment::of(log, *cores, policy, reading, seed), *cores)
            }
            Under::Past { past, policy } => {
                let (tasks, _) = shake.tasks(&past.setup.tasks);
                Ok(Numbers::of(&past.under(policy, &tasks, seed)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_a_log_sets_what_the_rules_were_measured_with() {
        let job = b"1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n".to_vec();
        let log = Box::new(Log::parse("log.swf", job).expect("a log"));
        let subject = Subject {
            of: Of::Log { file: PathBuf::from("log.swf"), log, cores: 4 },
            shake: Span::ZERO,
            seeds: 2,
            overrides: vec!["policy.fill=\"shortest\"".to_owned(), "replicate=2".to_owned()],
        };
        let candidate =
            Candidate { preset: Some("queue/easy".to_owned()), set: vec!["lengths=\"learnt\"".to_owned()] };
        let expected = "gleaner simulate --swf log.swf --cores 4 --policy queue/easy --set 'policy.lengths=\"learnt\"' \
                        --set 'policy.fill=\"shortest\"' --set 'policy.replicate=2'";
        assert_eq!(subject.command(&candidate).as_deref(), Some(expected));
    }
}
