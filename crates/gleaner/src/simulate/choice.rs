//! A policy as `--policy` names it: a preset, and behind colons what is set of it, as `queue/easy:fill=shortest`.

use crate::Outcome;
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use gleaner_policy::{PolicySpec, Preset};
use gleaner_workload::{InputError, Shake};
use std::collections::BTreeSet;

/// What is laid over a scenario for one of the policies that were named.
pub(crate) struct Choice {
    /// As the policy was named; none where the scenario says which.
    named: Option<String>,
    set: Vec<String>,
}

/// A preset, and the settings behind it. A preset may have a number behind a colon of its own, as `immediate/kpb:20`.
pub(super) fn parts(policy: &str) -> (&str, impl Iterator<Item = &str>) {
    let ends = policy.match_indices(':').map(|(at, _)| at).chain([policy.len()]);
    let numbered = || ends.clone().nth(1).filter(|end| !policy[..*end].contains('='));
    let first = ends.clone().next().unwrap_or_default();
    let end = if Preset::named(&policy[..first]).is_some() { first } else { numbered().unwrap_or(first) };
    let settings = policy[end..].split(':').skip(1);
    (&policy[..end], settings)
}

/// A policy as somebody named it: the preset, and what is set of it.
pub(crate) fn preset_and_set(policy: &str) -> Result<(&str, Vec<String>), Failure> {
    check_name(policy)?;
    let (preset, set) = parts(policy);
    Ok((preset, set.map(str::to_owned).collect()))
}

impl Choice {
    /// A policy as somebody named it, if they did.
    pub(crate) fn named(overrides: &[String], policy: Option<&String>) -> Result<Self, Failure> {
        if let Some(policy) = policy {
            check_name(policy)?;
        }
        Ok(Self::of(overrides, policy, None))
    }

    /// What is set of a policy by its name comes after what is set of all.
    fn of(overrides: &[String], policy: Option<&String>, seed: Option<&String>) -> Self {
        let mut set = overrides.to_vec();
        if let Some((preset, settings)) = policy.map(|policy| parts(policy)) {
            set.push(format!("policy.preset=\"{preset}\""));
            set.extend(settings.map(|setting| format!("policy.{setting}")));
        }
        set.extend(seed.cloned());
        Self { named: policy.cloned(), set }
    }

    /// What is loaded with that laid over. A mistake in a policy's name is told by that.
    pub(crate) fn load<T>(&self, load: impl Fn(&[String]) -> Result<T, InputError>) -> Result<T, InputError> {
        load(&self.set).map_err(|error| {
            let set = error.file.strip_prefix("--set ");
            let set = set.map(|set| set.strip_prefix("policy.").unwrap_or(set));
            let is_it = |setting: &str| set == Some(setting);
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
    policies.iter().try_for_each(|policy| check_name(policy))?;
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

/// A preset stands before the colons, and each key behind them once: a policy is what its name says.
fn check_name(policy: &str) -> Outcome {
    if policy.is_empty() {
        let found = "--policy: found an empty name; expected a preset, as queue/easy";
        return Err(Failure::Usage(found.to_owned()));
    }
    let mut keys = BTreeSet::new();
    for (key, _) in parts(policy).1.filter_map(|setting| setting.split_once('=')) {
        let key = key.trim();
        if key == "preset" {
            let found = "found preset behind a colon; expected another key";
            return Err(Failure::Usage(format!("--policy {policy}: {found}")));
        }
        if !keys.insert(key) {
            return Err(Failure::Usage(format!("--policy {policy}: found {key} twice; expected it once")));
        }
    }
    Ok(())
}

/// How the arrivals of a run are moved, if they are.
pub(super) fn shake(arguments: &SimulateArguments, seed: u64) -> Option<Shake> {
    arguments.shake.map(|most| Shake { seed, most, keeps_together: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_number_is_no_setting() {
        for (policy, preset, settings) in [
            ("queue/easy", "queue/easy", vec![]),
            (
                "queue/easy:fill=shortest:lengths=learnt",
                "queue/easy",
                vec!["fill=shortest", "lengths=learnt"],
            ),
            ("immediate/kpb:20", "immediate/kpb:20", vec![]),
            ("immediate/kpb:12.5:deadline_s=9", "immediate/kpb:12.5", vec!["deadline_s=9"]),
            ("immediate/kpb:0", "immediate/kpb:0", vec![]),
            ("queue/easy:shortest", "queue/easy", vec!["shortest"]),
            ("queue/esy:fill=shortest", "queue/esy", vec!["fill=shortest"]),
        ] {
            let (named, set) = parts(policy);
            assert_eq!((named, set.collect::<Vec<_>>()), (preset, settings), "{policy}");
        }
    }
}
