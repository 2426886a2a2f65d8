//! A policy as `--policy` names it: a preset, and behind colons what is set of it, as `queue/easy:fill=shortest`.

use crate::cli::SimulateArguments;
use crate::failure::Failure;
use gleaner_policy::PolicySpec;
use gleaner_workload::{InputError, Shake};

/// What is laid over a scenario for one of the policies that were named.
pub(super) struct Choice {
    /// As the policy was named; none where the scenario says which.
    named: Option<String>,
    set: Vec<String>,
}

/// A preset, and the settings behind it.
pub(super) fn parts(policy: &str) -> (&str, impl Iterator<Item = &str>) {
    let mut parts = policy.split(':');
    (parts.next().unwrap_or_default(), parts)
}

impl Choice {
    /// What is set of a policy by its name comes after what is set of all.
    pub(super) fn of(overrides: &[String], policy: Option<&String>, seed: Option<&String>) -> Self {
        let mut set = overrides.to_vec();
        if let Some((preset, settings)) = policy.map(|policy| parts(policy)) {
            set.push(format!("policy.preset=\"{preset}\""));
            set.extend(settings.map(|setting| format!("policy.{setting}")));
        }
        set.extend(seed.cloned());
        Self { named: policy.cloned(), set }
    }

    /// What is loaded with that laid over. A mistake in a policy's name is told by that.
    pub(super) fn load<T>(&self, load: impl Fn(&[String]) -> Result<T, InputError>) -> Result<T, InputError> {
        load(&self.set).map_err(|error| {
            let is_it = |setting: &str| error.file == format!("--set policy.{setting}");
            match &self.named {
                Some(named) if parts(named).1.any(is_it) => {
                    InputError { file: format!("--policy {named}"), ..error }
                }
                Some(_) | None => error,
            }
        })
    }

    /// Calls a policy as it was named.
    pub(super) fn name(&self, policy: &mut String) {
        if let Some(named) = &self.named {
            policy.clone_from(named);
        }
    }

    /// Likewise.
    pub(super) fn called(&self, policy: PolicySpec) -> PolicySpec {
        match &self.named {
            Some(named) => policy.called(named),
            None => policy,
        }
    }
}

/// What is laid over the scenario, for each of the policies that were named; once, where none was.
pub(super) fn choices(arguments: &SimulateArguments) -> Result<Vec<Choice>, Failure> {
    let SimulateArguments { policy: policies, overrides, seed, .. } = arguments;
    if let Some((_, twice)) = policies.iter().enumerate().find(|(at, name)| policies[..*at].contains(name)) {
        return Err(Failure::Usage(format!("--policy: found {twice} twice; expected each once")));
    }
    let seed = seed.map(|seed| format!("run.seed={seed}"));
    let of = |policy: Option<&String>| Choice::of(overrides, policy, seed.as_ref());
    Ok(if policies.is_empty() {
        vec![of(None)]
    } else {
        policies.iter().map(|policy| of(Some(policy))).collect()
    })
}

/// How the arrivals of a run are moved, if they are.
pub(super) fn shake(arguments: &SimulateArguments, seed: u64) -> Option<Shake> {
    arguments.shake.map(|most| Shake { seed, most })
}
