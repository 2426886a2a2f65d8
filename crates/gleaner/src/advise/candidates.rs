//! The rules that are tried: what is in force, and every preset by itself and with each part that it can be combined with.

use super::candidate::Candidate;
use super::subject::{Ready, Subject};
use crate::failure::Failure;
use gleaner_policy::{PolicySpec, Preset};
use serde::Serialize;
use std::collections::BTreeMap;

/// Each is laid over every preset; where a preset has no such part, the combination is left out.
const PARTS: [&[&str]; 18] = [
    &[],
    &["relocate={score=\"greedy\"}"],
    &["relocate={score=\"social\"}"],
    &["relocate={score=\"min-num\"}"],
    &["fill=\"shortest\""],
    &["fill=\"smallest-area\""],
    &["lengths=\"last-two\""],
    &["lengths=\"learnt\""],
    &["fill=\"shortest\"", "lengths=\"last-two\""],
    &["fill=\"smallest-area\"", "lengths=\"last-two\""],
    &["choose=\"two-choices\""],
    &["belief=\"own-dispatches\""],
    &["choose=\"proportional\""],
    &["choose=\"proportional\"", "power=4"],
    &["choose=\"proportional\"", "power=4", "belief=\"own-dispatches\""],
    &["favours=\"none\""],
    &["replicate=2"],
    &["replicate=\"idle\""],
];

/// Readings of a paper that are there to be compared.
const NOT_FOR_USE: [&str; 2] = ["bertasi/social-whole", "bertasi/social-as-printed"];

/// A preset that cannot be used here, and why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) preset: String,
    pub(super) why: String,
}

/// What can be run, the rule that others are compared with first, each rule once; and the presets that cannot. `only` names presets, all where
/// it is empty.
pub(super) fn that_work(
    subject: &Subject,
    now: &Ready<'_>,
    only: &[String],
) -> Result<(Vec<Candidate>, Vec<LeftOut>), Failure> {
    let presets: Vec<String> = Preset::all().into_iter().map(|preset| preset.name).collect();
    if let Some(unknown) = only.iter().find(|name| Preset::named(name).is_none()) {
        let expected =
            PolicySpec::preset(unknown).map_or_else(|error| error.expected, |spec| spec.name().to_owned());
        return Err(Failure::Usage(format!("--policy: found \"{unknown}\"; expected {expected}")));
    }
    let wanted = |name: &String| match only {
        [] => !NOT_FOR_USE.contains(&name.as_str()),
        only => only.contains(name),
    };
    let parametric = only.iter().filter(|name| !presets.contains(name)).cloned();
    let (mut tried, mut left_out) = (vec![subject.first()], Vec::new());
    let mut met: BTreeMap<String, usize> = BTreeMap::from([(now.rule(), 0)]);
    for preset in presets.iter().filter(|name| wanted(name)).cloned().chain(parametric) {
        for parts in PARTS {
            let set = parts.iter().map(|part| (*part).to_owned()).collect();
            let candidate = Candidate { preset: Some(preset.clone()), set };
            match subject.load(&candidate) {
                // What believes every answer is no other way to do the same.
                Ok(ready) if now.checking().is_some() && ready.checking() != now.checking() => {
                    if parts.is_empty() {
                        let why = "machines have to agree on an answer now, and would not with it".to_owned();
                        left_out.push(LeftOut { preset: preset.clone(), why });
                    }
                }
                Ok(ready) => {
                    // Two names for one rule are run once.
                    met.entry(ready.rule()).or_insert_with(|| {
                        tried.push(candidate);
                        tried.len() - 1
                    });
                }
                Err(failure) if parts.is_empty() => {
                    left_out.push(LeftOut { preset, why: failure.to_string() });
                    break;
                }
                // A preset without such a part.
                Err(_) => {}
            }
        }
    }
    Ok((tried, left_out))
}
