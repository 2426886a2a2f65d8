//! Policies and budgets as users write them, and what the scheduler builds from them.

use gleaner_core::{Budget, Charged, Scope};
use gleaner_policy::{
    Batching, Level, Matching, Recipe, Relocate, Replan, Savings, Score, Spending, UnknownName, When,
};
use gleaner_units::{Credits, Span, Time};
use gleaner_wire::api::{BudgetSpec, ChargedSpec, PerSpec, PolicySpec, RelocateSpec, ReplanSpec};
use gleaner_wire::limits::PERIOD_MIN_S;
use thiserror::Error;

/// What no policy or budget can be built from.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum PolicyError {
    /// Nothing is called so.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A batch moves nothing.
    #[error("{0} plans tasks anew in each batch and moves none: leave relocation out")]
    Relocates(String),
    /// It would spend what there is not.
    #[error(
        "{0} spends a budget, and this grid has none: set one first, as `gleaner budget set 1000000 --period 2min`"
    )]
    NoBudget(String),
    /// A move would change what a task costs.
    #[error("{0} cannot both move tasks and spend a budget: leave one of them out")]
    MovesAndSpends(String),
    /// A number for policies of another kind.
    #[error("{key} means nothing to {preset}: it is for {what}")]
    NotFor {
        /// Which.
        key: &'static str,
        /// The policy.
        preset: String,
        /// Which policies read it.
        what: &'static str,
    },
    /// Batches follow the budget.
    #[error("period_s is {found} where the budget's period is {expected}; leave it out")]
    OtherPeriod {
        /// As it was given.
        found: f64,
        /// As the budget has it.
        expected: f64,
    },
    /// No rule is called so.
    #[error("spend is \"{found}\"; expected {}", known.join(", "))]
    UnknownRule {
        /// As it was given.
        found: String,
        /// What may be said with that policy.
        known: Vec<&'static str>,
    },
    /// A number that has no meaning.
    #[error("{key} is {found}; expected {expected}")]
    OutOfRange {
        /// Which.
        key: &'static str,
        /// As it was given.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
}

/// The rules for tasks that are placed each by itself.
const RULES: [(&str, Spending); 4] = [
    ("b", Spending::Cap),
    ("bt", Spending::PerTask),
    ("btt", Spending::PerTaskAndTime(Savings::AsPrinted)),
    ("btt-as-derived", Spending::PerTaskAndTime(Savings::AsDerived)),
];

/// The rules that only batches know, besides.
const RULES_OF_BATCHES: [(&str, Spending, Level); 3] = [
    ("bt-within-period", Spending::PerTaskWithinPeriod, Level::Machines),
    ("lbtt", Spending::PerTaskAndTime(Savings::AsPrinted), Level::Classes),
    ("lbtt-as-derived", Spending::PerTaskAndTime(Savings::AsDerived), Level::Classes),
];

/// N = 3 and θ = 10 % by GREEDY, at events: what a grid starts with.
pub fn default_relocation() -> RelocateSpec {
    let Relocate { score, moves_max, gain_min, difference_min, .. } = Relocate::by(Score::Greedy);
    RelocateSpec { score: score.name().to_owned(), moves_max, gain_min, difference_min, period_s: 0.0 }
}

/// The recipe that a policy stands for on a grid with that budget.
pub fn recipe(spec: &PolicySpec, budget: Option<&BudgetSpec>) -> Result<Recipe, PolicyError> {
    let recipe = match Recipe::preset(&spec.preset)? {
        Recipe::Match(preset) => Recipe::Match(matching(spec, preset)?),
        Recipe::Batch(preset) => Recipe::Batch(batching(spec, spending(spec, preset)?, budget)?),
    };
    if recipe.spending() != Spending::Free && budget.is_none() {
        return Err(PolicyError::NoBudget(spec.preset.clone()));
    }
    Ok(recipe)
}

/// The budget that is meant.
pub fn budget(spec: &BudgetSpec) -> Result<Budget, PolicyError> {
    if !(1..=Credits::MAX.count()).contains(&spec.recharge) {
        let expected = "credits as a whole number, from 1 to 2^53";
        return Err(PolicyError::OutOfRange { key: "recharge", found: spec.recharge as f64, expected });
    }
    Ok(Budget {
        recharge: Credits::new(spec.recharge),
        period: period("period_s", spec.period_s)?,
        charged: match spec.charged {
            ChargedSpec::Planned => Charged::Planned,
            ChargedSpec::Started => Charged::Started,
            ChargedSpec::Ended => Charged::Ended,
        },
        scope: match spec.per {
            PerSpec::Grid => Scope::Shared,
            PerSpec::User => Scope::PerUser,
        },
    })
}

fn matching(spec: &PolicySpec, preset: Matching) -> Result<Matching, PolicyError> {
    let for_batches = [
        ("period_s", spec.period_s.is_some()),
        ("aging", spec.aging.is_some()),
        ("deadline_s", spec.deadline_s.is_some()),
        ("replan", spec.replan.is_some()),
    ];
    refuse_given(spec, &for_batches, "policies that plan in batches")?;
    let relocate = spec.relocate.as_ref().map(relocate).transpose()?;
    let spending = match spec.spend.as_deref() {
        None => preset.spending,
        Some(_) if relocate.is_some() => return Err(PolicyError::MovesAndSpends(spec.preset.clone())),
        Some(name) => one_of(name, &RULES)?,
    };
    Ok(Matching { relocate, spending, ..preset })
}

/// The recipe with the rule that is asked for.
fn spending(spec: &PolicySpec, preset: Batching) -> Result<Batching, PolicyError> {
    let Some(name) = spec.spend.as_deref() else { return Ok(preset) };
    if preset.spending != Spending::Free {
        return Err(not_for("spend", spec, "policies without a rule of their own, as elleuch/min-min"));
    }
    let for_each = RULES.map(|(name, spending)| (name, (spending, Level::Machines)));
    let for_batches = RULES_OF_BATCHES.map(|(name, spending, level)| (name, (spending, level)));
    let (spending, level) = one_of(name, &[&for_each[..], &for_batches].concat())?;
    Ok(Batching { spending, level, ..preset })
}

fn one_of<T: Copy>(name: &str, known: &[(&'static str, T)]) -> Result<T, PolicyError> {
    let named = known.iter().find(|(known, _)| *known == name);
    named.map(|(_, rule)| *rule).ok_or_else(|| PolicyError::UnknownRule {
        found: name.to_owned(),
        known: known.iter().map(|(name, _)| *name).collect(),
    })
}

fn batching(
    spec: &PolicySpec,
    preset: Batching,
    budget: Option<&BudgetSpec>,
) -> Result<Batching, PolicyError> {
    if spec.relocate.is_some() {
        return Err(PolicyError::Relocates(spec.preset.clone()));
    }
    if preset.when == When::AtEvents {
        let periodic = [
            ("period_s", spec.period_s.is_some()),
            ("aging", spec.aging.is_some()),
            ("replan", spec.replan.is_some()),
        ];
        refuse_given(spec, &periodic, "policies that plan at every so many seconds")?;
    }
    if spec.deadline_s.is_some() && !spec.preset.starts_with("nimrod/") {
        return Err(not_for("deadline_s", spec, "policies that read one, as nimrod/cost"));
    }
    let heeded = budget.filter(|_| preset.spending != Spending::Free);
    if let (Some(found), Some(expected)) = (spec.period_s, heeded.map(|budget| budget.period_s))
        && found != expected
    {
        return Err(PolicyError::OtherPeriod { found, expected });
    }
    let period_s = spec.period_s.or(heeded.map(|budget| budget.period_s));
    let deadline = spec.deadline_s.map(|found| {
        let expected = "a moment, in seconds since 1970";
        Time::from_seconds(found).ok_or(PolicyError::OutOfRange { key: "deadline_s", found, expected })
    });
    Ok(Batching {
        when: match (preset.when, period_s) {
            (When::Every(_), Some(period_s)) => When::Every(period("period_s", period_s)?),
            (when, _) => when,
        },
        aging: spec.aging.unwrap_or(preset.aging),
        deadline: deadline.transpose()?,
        replan: match spec.replan {
            Some(ReplanSpec::Lost) => Replan::Lost,
            Some(ReplanSpec::Unbegun) => Replan::Unbegun,
            None => preset.replan,
        },
        ..preset
    })
}

/// The first of these keys that is given means nothing here.
fn refuse_given(
    spec: &PolicySpec,
    keys: &[(&'static str, bool)],
    what: &'static str,
) -> Result<(), PolicyError> {
    match keys.iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => Err(not_for(key, spec, what)),
        None => Ok(()),
    }
}

fn not_for(key: &'static str, spec: &PolicySpec, what: &'static str) -> PolicyError {
    PolicyError::NotFor { key, preset: spec.preset.clone(), what }
}

fn period(key: &'static str, found: f64) -> Result<Span, PolicyError> {
    let period = Span::from_seconds(found).filter(|_| found >= PERIOD_MIN_S);
    period.ok_or(PolicyError::OutOfRange { key, found, expected: "seconds, at least 1" })
}

fn relocate(spec: &RelocateSpec) -> Result<Relocate, PolicyError> {
    let RelocateSpec { moves_max, gain_min, difference_min, period_s, .. } = *spec;
    if !(gain_min.is_finite() && gain_min >= 0.0) {
        let expected = "a finite number, 0 or more";
        return Err(PolicyError::OutOfRange { key: "relocate.gain_min", found: gain_min, expected });
    }
    let when = match Span::from_seconds(period_s) {
        Some(Span::ZERO) => When::AtEvents,
        // What was set before periods had a least length goes on with that.
        Some(period) => When::Every(period.max(Span::from_seconds(PERIOD_MIN_S).expect("a span"))),
        None => {
            let expected = "a number of seconds, or 0 to move at events";
            return Err(PolicyError::OutOfRange { key: "relocate.period_s", found: period_s, expected });
        }
    };
    Ok(Relocate { score: Score::named(&spec.score)?, moves_max, gain_min, difference_min, when })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(preset: &str, budget: Option<&BudgetSpec>, change: fn(&mut PolicySpec)) -> String {
        let mut spec = PolicySpec::new(preset);
        change(&mut spec);
        recipe(&spec, budget).expect_err(preset).to_string()
    }

    fn relocating(change: fn(&mut RelocateSpec)) -> String {
        let mut relocate = default_relocation();
        change(&mut relocate);
        let spec = PolicySpec { relocate: Some(relocate), ..PolicySpec::new("bertasi/social") };
        recipe(&spec, None).expect_err("it makes no sense").to_string()
    }

    const BUDGET: BudgetSpec =
        BudgetSpec { recharge: 10, period_s: 5.0, charged: ChargedSpec::Started, per: PerSpec::User };

    #[test]
    fn what_cannot_be_built_is_refused_with_the_reason() {
        let some = Some(&BUDGET);
        for (refused, named) in [
            (relocating(|relocate| relocate.gain_min = f64::NAN), "relocate.gain_min is NaN"),
            (relocating(|relocate| relocate.period_s = -1.0), "relocate.period_s is -1"),
            (relocating(|relocate| relocate.score = "best".into()), "no score is called \"best\""),
            (refusal("x", None, |_| {}), "\"x\""),
            (refusal("elleuch/b-min-min", None, |_| {}), "`gleaner budget set"),
            (refusal("bertasi/greedy", None, |spec| spec.spend = Some("b".into())), "`gleaner budget set"),
            (refusal("bertasi/greedy", some, |spec| spec.spend = Some("lbtt".into())), "spend is \"lbtt\""),
            (refusal("bertasi/greedy", some, |spec| spec.aging = Some(1)), "aging means nothing"),
            (refusal("immediate/mct", None, |spec| spec.period_s = Some(5.0)), "period_s means nothing"),
            (refusal("immediate/kpb:0", None, |_| {}), "immediate/kpb:20"),
            (refusal("bertasi/greedy", some, |spec| spec.replan = Some(ReplanSpec::Lost)), "replan means"),
            (
                refusal("elleuch/min-min", None, |spec| spec.spend = Some("lbtt".into())),
                "`gleaner budget set",
            ),
            (refusal("elleuch/min-min", some, |spec| spec.spend = Some("share".into())), "lbtt-as-derived"),
            (
                refusal("elleuch/b-min-min", some, |spec| spec.spend = Some("bt".into())),
                "spend means nothing",
            ),
            (refusal("elleuch/min-min", some, |spec| spec.deadline_s = Some(1.0)), "deadline_s means"),
            (refusal("elleuch/bt-min-min", some, |spec| spec.period_s = Some(7.0)), "period is 5"),
            (refusal("elleuch/min-min", None, |spec| spec.period_s = Some(0.5)), "at least 1"),
            (
                refusal("elleuch/min-min", None, |spec| spec.relocate = Some(default_relocation())),
                "moves none",
            ),
        ] {
            assert!(refused.contains(named), "{refused}");
        }
    }

    #[test]
    fn a_batch_follows_the_budget() {
        let period = |preset: &str, budget| match recipe(&PolicySpec::new(preset), budget) {
            Ok(Recipe::Batch(Batching { when: When::Every(period), .. })) => period.seconds(),
            other => panic!("{other:?}"),
        };
        assert_eq!(period("elleuch/btt-sufferage", Some(&BUDGET)), 5.0);
        assert_eq!(period("elleuch/sufferage", Some(&BUDGET)), 120.0, "it heeds none");
    }

    #[test]
    fn every_rule_can_be_had_with_every_heuristic_in_batches() {
        for name in RULES.map(|rule| rule.0).into_iter().chain(RULES_OF_BATCHES.map(|rule| rule.0)) {
            let spec = PolicySpec { spend: Some(name.to_owned()), ..PolicySpec::new("elleuch/max-min") };
            let Ok(Recipe::Batch(built)) = recipe(&spec, Some(&BUDGET)) else { panic!("{name}") };
            assert_eq!(built.level == Level::Classes, name.starts_with("lbtt"), "{name}");
            assert_ne!(built.spending, Spending::Free, "{name}");
            assert_eq!(built.when, When::Every(period("", BUDGET.period_s).expect("a period")), "{name}");
        }
    }

    #[test]
    fn a_budget_of_nothing_is_none() {
        let wrong = [BudgetSpec { recharge: 0, ..BUDGET }, BudgetSpec { period_s: 0.0, ..BUDGET }];
        for (spec, named) in wrong.iter().zip(["recharge is 0", "period_s is 0"]) {
            let error = budget(spec).expect_err(named).to_string();
            assert!(error.contains(named), "{error}");
        }
        assert_eq!(budget(&BUDGET).map(|budget| budget.scope), Ok(Scope::PerUser));
    }
}
