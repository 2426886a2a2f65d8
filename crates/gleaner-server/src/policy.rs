//! The policy that a live grid starts with, and what it asks of one beyond that it makes sense.

use gleaner_policy::{PolicyError, PolicySpec};
use gleaner_units::Span;
use gleaner_wire::api::PolicyKeys;
use gleaner_wire::limits::{PERIOD_MIN_S, QUORUM_MAX};
use serde_json::json;

/// What a policy may ask for, a job may.
const _: () = assert!(gleaner_policy::Replicate::QUORUM_MAX == QUORUM_MAX, "one limit for policies and jobs");

/// The policy that a new grid begins with: `bertasi/greedy`, which moves tasks too, and sends short ones ahead.
///
/// # Panics
/// Never: it makes sense.
pub fn default_policy() -> PolicySpec {
    let written =
        json!({ "preset": "bertasi/greedy", "relocate": { "score": "greedy" }, "ahead": "where-short" });
    serde_json::from_value(written).expect("a policy that makes sense")
}

/// The policy in force where the journal says of none: so it was when it began.
///
/// # Panics
/// Never: it makes sense.
pub(crate) fn earlier_policy() -> PolicySpec {
    let written = json!({ "preset": "bertasi/greedy", "relocate": { "score": "greedy" } });
    serde_json::from_value(written).expect("a policy that makes sense")
}

/// The policy that is asked for where another is in force: what is not said of the budget stays, and whether short tasks go
/// ahead, where the policy can do that.
pub fn asked(keys: PolicyKeys, in_force: &PolicySpec) -> Result<PolicySpec, PolicyError> {
    bearable(PolicySpec::read_beside(keys.0, in_force)?)
}

/// The policy in force with another budget, or with none. What it cannot go on with then is given up, unless somebody asked for it.
pub fn with_budget(in_force: &PolicySpec, budget: Option<PolicyKeys>) -> Result<PolicySpec, PolicyError> {
    let budget = budget.map(|keys| keys.0);
    let mut tree = in_force.tree().clone();
    let mut found = in_force.with_budget(budget.clone());
    for key in given_up(in_force) {
        if found.is_err() && tree.remove(*key).is_some() {
            found = PolicySpec::read(tree.clone())?.with_budget(budget.clone());
        }
    }
    bearable(found?)
}

/// Whether short tasks go ahead goes by what the policy can do, as where another is [asked] for; all else only where the policy is the one
/// that the grid began with.
fn given_up(in_force: &PolicySpec) -> &'static [&'static str] {
    let mut tree = in_force.tree().clone();
    tree.remove("budget");
    let began = [default_policy(), earlier_policy()].iter().any(|spec| *spec.tree() == tree);
    if began { &["ahead", "relocate"] } else { &["ahead"] }
}

/// A coordinator has more to do than to decide, does not know what will be, and its agents run no parts of a task.
fn bearable(spec: PolicySpec) -> Result<PolicySpec, PolicyError> {
    spec.check_live()?;
    spec.check_periods(Span::from_seconds(PERIOD_MIN_S).expect("a span"))?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn keys(written: Value) -> PolicyKeys {
        serde_json::from_value(written).expect("a table")
    }

    fn spec(written: Value) -> PolicySpec {
        asked(keys(written), &default_policy()).expect("it makes sense")
    }

    #[test]
    fn what_happens_too_often_is_refused() {
        for (written, key) in [
            (json!({ "preset": "elleuch/min-min", "period_s": 0.5 }), "period_s"),
            (
                json!({ "preset": "bertasi/greedy", "relocate": { "score": "social", "period_s": 0.1 } }),
                "relocate.period_s",
            ),
            (
                json!({ "preset": "elleuch/b-min-min", "budget": { "recharge": 1, "period_s": 0.9 } }),
                "budget.period_s",
            ),
        ] {
            let error = asked(keys(written), &default_policy()).expect_err(key);
            assert_eq!((error.key.as_str(), error.expected.as_str()), (key, "seconds, at least 1"));
        }
    }

    #[test]
    fn what_only_a_simulator_knows_is_refused() {
        let written = json!({ "preset": "queue/easy", "lengths": "true" });
        let error = asked(keys(written), &default_policy()).expect_err("nobody knows");
        assert_eq!(error.key, "lengths");
        spec(json!({ "preset": "queue/easy", "lengths": "learnt", "fill": "shortest" }));
    }

    #[test]
    fn what_starts_tasks_in_parts_is_refused() {
        for preset in ["khoo/mrs", "khoo/rep", "khoo/backfill", "gleaner/sites"] {
            let error = asked(keys(json!({ "preset": preset })), &default_policy()).expect_err(preset);
            assert_eq!((&*error.key, &*error.found), ("preset", &*format!("\"{preset}\"")));
        }
    }

    #[test]
    fn a_budget_stays_when_the_policy_changes() {
        let budget = json!({ "recharge": 10, "period_s": 5, "per": "user" });
        let greedy = with_budget(&default_policy(), Some(keys(budget))).expect("a budget");
        assert_eq!(greedy.budget(), None, "nothing heeds it");
        let batches = asked(keys(json!({ "preset": "elleuch/btt-min-min" })), &greedy).expect("a budget");
        assert_eq!(batches.budget(), greedy.amounts());
        assert!(batches.budget().is_some());
        let capped = json!({ "preset": "bertasi/greedy", "budget": { "rule": "b", "recharge": 20 } });
        let capped = asked(keys(capped), &batches).expect("a rule");
        let recharge =
            |spec: &PolicySpec| spec.budget().map(|budget| (budget.recharge.count(), budget.scope));
        assert_eq!(recharge(&capped), Some((20, gleaner_core::Scope::PerUser)));
        let none = asked(keys(json!({ "preset": "bertasi/greedy", "budget": "none" })), &capped);
        assert_eq!(none.expect("no budget").amounts(), None);
    }

    #[test]
    fn a_new_grid_takes_any_budget() {
        let budget = json!({ "recharge": 50_000, "period_s": 3_600, "rule": "b" });
        let spending = with_budget(&default_policy(), Some(keys(budget))).expect("a budget");
        assert_eq!(spending.budget().map(|budget| budget.recharge.count()), Some(50_000));
        let mut tree = spending.tree().clone();
        tree.remove("budget");
        assert_eq!(
            Value::Object(tree),
            json!({ "preset": "bertasi/greedy" }),
            "it neither moves nor sends ahead"
        );
        let budget = || Some(keys(json!({ "recharge": 5, "period_s": 5, "rule": "b" })));
        let own = spec(json!({ "preset": "bertasi/social", "ahead": "where-short" }));
        assert!(with_budget(&own, budget()).expect("a budget").tree().get("ahead").is_none());
        let own = spec(json!({ "preset": "bertasi/social", "relocate": { "score": "social" } }));
        assert_eq!(with_budget(&own, budget()).expect_err("somebody asked for moves").key, "relocate");
        let unheeded = json!({ "recharge": 50_000, "period_s": 3_600 });
        let unheeded = with_budget(&default_policy(), Some(keys(unheeded))).expect("a budget");
        assert_eq!(unheeded.tree().get("ahead"), Some(&json!("where-short")), "it can go on");
    }

    #[test]
    fn another_budget_is_spent_by_the_same_rule() {
        let budget = json!({ "rule": "btt", "savings": "as-derived", "recharge": 10, "period_s": 5 });
        let before = spec(json!({ "preset": "elleuch/min-min", "budget": budget }));
        let after =
            with_budget(&before, Some(keys(json!({ "recharge": 20, "period_s": 6 })))).expect("a budget");
        assert_eq!(after.recipe().spending, before.recipe().spending);
        assert_eq!(after.budget().map(|budget| budget.recharge.count()), Some(20));
        let error = with_budget(
            &spec(json!({ "preset": "elleuch/b-min-min", "budget": { "recharge": 1, "period_s": 1 } })),
            None,
        );
        assert_eq!(error.expect_err("it spends one").key, "budget");
    }
}
