//! Policies as users write them, for tests.

use gleaner_policy::{PolicyError, PolicySpec, Recipe, Tree};
use serde_json::{Value, json};

pub(crate) fn tree(written: Value) -> Tree {
    let Value::Object(tree) = written else { panic!("{written} is no table") };
    tree
}

pub(crate) fn read(written: Value) -> Result<PolicySpec, PolicyError> {
    PolicySpec::read(tree(written))
}

pub(crate) fn recipe(written: Value) -> Recipe {
    let shown = written.to_string();
    read(written).unwrap_or_else(|error| panic!("{shown}: {error}")).recipe()
}

const BUDGET: &str = r#"{ "recharge": 10, "period_s": 5 }"#;

pub(crate) fn budget(more: Value) -> Value {
    let mut budget = tree(serde_json::from_str(BUDGET).expect("a budget"));
    budget.extend(tree(more));
    Value::Object(budget)
}

pub(crate) fn quorum(replicate: &Value) -> Value {
    json!({ "preset": "bertasi/greedy", "replicate": replicate })
}

/// Each is refused, with this key, and what was found and is expected has these words in it.
pub(crate) fn check_refused(rows: &[(Value, &str, &str, &str)]) {
    for (written, key, found, expected) in rows {
        let error = read(written.clone()).expect_err(&written.to_string());
        assert_eq!(error.key, *key, "{written}: {error}");
        assert!(error.found.contains(found) && error.expected.contains(expected), "{written}: {error}");
        assert!(!error.expected.contains('…'), "{error}");
    }
}
