//! What users write that makes no sense, and the reason with which it is refused.

use crate::written::{budget, check_refused, quorum, read};
use serde_json::json;

#[test]
fn what_is_no_policy_is_refused_with_key_found_and_expected() {
    check_refused(&[
        (json!({}), "preset", "nothing", "the name of a preset"),
        (
            json!({ "preset": "elleuch/bt-minmin" }),
            "preset",
            "\"elleuch/bt-minmin\"",
            "did you mean elleuch/bt-min-min?",
        ),
        (json!({ "preset": "immediate/kpb:0" }), "preset", "\"immediate/kpb:0\"", "immediate/kpb:20"),
        (
            json!({ "preset": "bertasi/greedy", "relocat": 1 }),
            "relocat",
            "an unknown key",
            "did you mean relocate?",
        ),
        (
            json!({ "preset": "bertasi/greedy", "relocate": { "score": "best" } }),
            "relocate.score",
            "\"best\"",
            "one of greedy, social,",
        ),
        (
            json!({ "preset": "bertasi/greedy", "aging": 1 }),
            "aging",
            "1",
            "gives each task its place as it comes",
        ),
        (json!({ "preset": "bertasi/greedy", "replan": "lost" }), "replan", "\"lost\"", "no such key"),
        (json!({ "preset": "bertasi/greedy", "period_s": 5 }), "period_s", "5", "no such key"),
        (json!({ "preset": "bertasi/greedy", "deadline_s": 5 }), "deadline_s", "5", "no such key"),
        (
            json!({ "preset": "bertasi/greedy", "order": "min-min" }),
            "order",
            "min-min",
            "submission: greedy places each task",
        ),
        (
            json!({ "preset": "bertasi/greedy", "score": "social" }),
            "score",
            "\"social\"",
            "\"greedy\", or no such key",
        ),
        (
            json!({ "preset": "bertasi/greedy", "budget": budget(json!({})) }),
            "budget.rule",
            "nothing",
            "one of none, b, bt, btt",
        ),
        (
            json!({ "preset": "bertasi/greedy", "budget": budget(json!({ "rule": "lbtt" })) }),
            "budget.rule",
            "lbtt",
            "one of none, b, bt, btt",
        ),
        (
            json!({ "preset": "bertasi/greedy", "budget": budget(json!({ "rule": "share" })) }),
            "budget.rule",
            "share",
            "one of none, b, bt, btt",
        ),
    ]);
}

#[test]
fn what_is_learnt_is_refused_where_it_means_nothing() {
    check_refused(&[
        (
            json!({ "preset": "elleuch/sufferage", "availability": "learnt" }),
            "availability",
            "learnt",
            "no straight line",
        ),
        (
            json!({ "preset": "immediate/met", "availability": "learnt" }),
            "availability",
            "learnt",
            "does not go by when a task would be done",
        ),
        (
            json!({ "preset": "nimrod/cost", "availability": "learnt", "budget": budget(json!({})) }),
            "availability",
            "learnt",
            "its deadline is about expected ends",
        ),
        (
            json!({ "preset": "queue/easy", "availability": "learnt" }),
            "availability",
            "learnt",
            "only batches and plans",
        ),
        (
            json!({ "preset": "elleuch/b-min-min", "lengths": "learnt", "budget": budget(json!({})) }),
            "lengths",
            "learnt",
            "charged by declared lengths",
        ),
        (
            json!({ "preset": "bertasi/greedy", "lengths": "learnt" }),
            "lengths",
            "learnt",
            "only batches, plans, queues and social",
        ),
        (
            json!({ "preset": "bertasi/social", "lengths": "learnt", "choose": "best-by-lot" }),
            "lengths",
            "learnt",
            "where the best is sought",
        ),
    ]);
}

#[test]
fn what_does_not_go_together_is_refused_with_its_reason() {
    let moving = json!({ "score": "greedy" });
    check_refused(&[
        (
            json!({ "preset": "bertasi/greedy", "relocate": moving, "budget": budget(json!({ "rule": "b" })) }),
            "relocate",
            "moves",
            "change what a task costs",
        ),
        (json!({ "preset": "immediate/mct", "period_s": 5 }), "period_s", "5", "as it comes"),
        (json!({ "preset": "immediate/mct", "replan": "unbegun" }), "replan", "\"unbegun\"", "as it comes"),
        (
            json!({ "preset": "immediate/met", "order": "max-min" }),
            "order",
            "max-min",
            "Max-Min is about ends",
        ),
        (json!({ "preset": "elleuch/min-min", "relocate": moving }), "relocate", "moves", "is not moved"),
        (json!({ "preset": "elleuch/min-min", "score": "cheapest" }), "order", "min-min", "submission"),
        (
            json!({ "preset": "elleuch/min-min", "order": "max-min" }),
            "order",
            "\"max-min\"",
            "the name elleuch/min-min says it",
        ),
        (
            json!({ "preset": "elleuch/min-min", "deadline_s": 5 }),
            "deadline_s",
            "a deadline",
            "earliest reads none",
        ),
        (
            json!({ "preset": "immediate/mct", "hold": "when-slower" }),
            "hold",
            "when-slower",
            "never: what is planned as it comes is planned once",
        ),
        (
            json!({ "preset": "elleuch/btt-min-min", "hold": "when-slower", "budget": budget(json!({})) }),
            "hold",
            "when-slower",
            "would wait for ever",
        ),
        (
            json!({ "preset": "bertasi/greedy", "hold": "when-slower" }),
            "hold",
            "when-slower",
            "only batches and peers hold tasks back",
        ),
        (
            json!({ "preset": "elleuch/min-min", "budget": budget(json!({ "rule": "bbt" })) }),
            "budget.rule",
            "\"bbt\"",
            "least-share, lb, lbt,",
        ),
        (
            json!({ "preset": "elleuch/min-min", "budget": budget(json!({ "savings": "as-derived" })) }),
            "budget.savings",
            "\"as-derived\"",
            "the rules btt and lbtt",
        ),
        (
            json!({ "preset": "elleuch/bt-min-min", "budget": budget(json!({ "cheapest": "if-ready" })) }),
            "budget.cheapest",
            "\"if-ready\"",
            "bt-within-period, btt and lbtt, and as-others with bt too",
        ),
        (json!({ "preset": "elleuch/b-min-min" }), "budget", "nothing", "recharge = 1000000"),
        (json!({ "preset": "elleuch/b-min-min", "budget": "none" }), "budget", "\"none\"", "spends a budget"),
        (
            json!({ "preset": "elleuch/b-min-min", "budget": budget(json!({ "rule": "bt" })) }),
            "budget.rule",
            "\"bt\"",
            "\"b\", or no such key",
        ),
        (
            json!({ "preset": "elleuch/b-min-min", "budget": budget(json!({})), "period_s": 7 }),
            "period_s",
            "7",
            "5, the period of the budget",
        ),
        (
            json!({ "preset": "nimrod/cost", "budget": budget(json!({})), "aging": 2 }),
            "aging",
            "2",
            "the oldest tasks come first anyway",
        ),
    ]);
}

#[test]
fn how_many_runs_a_task_has_is_refused_where_that_makes_no_sense() {
    check_refused(&[
        (json!({ "preset": "bertasi/greedy", "replicate": 0 }), "replicate", "0", "from 1 to 16"),
        (json!({ "preset": "bertasi/greedy", "replicate": 17 }), "replicate", "17", "from 1 to 16"),
        (json!({ "preset": "bertasi/greedy", "replicate": "one" }), "replicate", "\"one\"", "from 1 to 16"),
        (
            json!({ "preset": "bertasi/greedy", "replicate": {} }),
            "replicate.quorum",
            "nothing",
            "from 2 to 7",
        ),
        (quorum(&json!({ "quorum": 1 })), "replicate.quorum", "1", "from 2 to 7"),
        (quorum(&json!({ "quorum": 8 })), "replicate.quorum", "8", "from 2 to 7"),
        (quorum(&json!({ "quorum": 3, "most": 2 })), "replicate.most", "2", "from the quorum, 3, to 16"),
        (quorum(&json!({ "quorum": 2, "most": 17 })), "replicate.most", "17", "to 16"),
        (quorum(&json!({ "quorum": 2, "trust_after": 0 })), "replicate.trust_after", "0", "from 1"),
        (quorum(&json!({ "quorum": 2, "check_every": 9 })), "replicate.check_every", "9", "trust_after"),
        (quorum(&json!({ "quorum": 2, "trust": 9 })), "replicate.trust", "unknown", "trust_after"),
        (
            json!({ "preset": "bertasi/greedy", "replicate": { "quorum": 2 }, "relocate": { "score": "greedy" } }),
            "replicate",
            "quorum = 2",
            "one machine's",
        ),
        (
            json!({ "preset": "bertasi/greedy", "replicate": { "quorum": 2 }, "budget": budget(json!({ "rule": "b" })) }),
            "replicate",
            "quorum = 2",
            "will have cost",
        ),
        (
            json!({ "preset": "elleuch/min-min", "replicate": { "quorum": 2 } }),
            "replicate",
            "quorum",
            "plans one run",
        ),
        (
            json!({ "preset": "queue/easy", "replicate": { "quorum": 2 } }),
            "replicate",
            "quorum",
            "is one run",
        ),
        (
            json!({ "preset": "dasilva/greedy", "replicate": { "quorum": 2 } }),
            "replicate",
            "quorum",
            "for one run",
        ),
        (json!({ "preset": "elleuch/min-min", "replicate": 2 }), "replicate", "2", "plans one run"),
        (json!({ "preset": "queue/easy", "replicate": 2 }), "replicate", "2", "is one run"),
        (json!({ "preset": "cavalieri/current", "replicate": 2 }), "replicate", "2", "to one site"),
        (json!({ "preset": "khoo/mrs", "replicate": 2 }), "replicate", "2", "sites.copies"),
        (json!({ "preset": "dasilva/greedy", "replicate": 2 }), "replicate", "2", "for one run"),
        (json!({ "preset": "gleaner/bags", "replicate": 2 }), "replicate", "2", "for one run"),
        (json!({ "preset": "bertasi/greedy", "replicate": "idle" }), "replicate", "idle", "among peers"),
        (json!({ "preset": "elleuch/min-min", "replicate": "idle" }), "replicate", "idle", "plans one run"),
        (
            json!({ "preset": "bertasi/greedy", "replicate": 2, "relocate": { "score": "greedy" } }),
            "replicate",
            "2",
            "relocate = \"none\"",
        ),
        (
            json!({ "preset": "bertasi/greedy", "replicate": 2, "budget": budget(json!({ "rule": "b" })) }),
            "replicate",
            "2",
            "budget.rule = \"none\"",
        ),
    ]);
}

#[test]
fn moves_without_end_are_refused_where_a_move_takes_a_period() {
    let spec = |difference: u32, period: Option<f64>| {
        let relocate = json!({ "score": "min-num", "difference_min": difference, "period_s": period });
        read(json!({ "preset": "bertasi/greedy", "relocate": relocate })).expect("it makes sense")
    };
    let endless = spec(1, Some(5.0));
    for move_s in [None, Some(5.0), Some(9.0)] {
        let error = endless.check_moves_end(move_s).expect_err("it never ends");
        assert_eq!((error.key.as_str(), error.found.as_str()), ("relocate.difference_min", "1"));
    }
    assert!(endless.check_live().is_err());
    for (spec, move_s) in [(endless, Some(4.9)), (spec(1, None), None), (spec(2, Some(5.0)), None)] {
        assert_eq!(spec.check_moves_end(move_s), Ok(()));
    }
}

#[test]
fn choices_that_a_rule_does_not_know_are_refused_with_the_reason() {
    check_refused(&[
        (json!({ "preset": "bertasi/greedy", "choose": "worst" }), "choose", "\"worst\"", "one of best"),
        (
            json!({ "preset": "elleuch/min-min", "choose": "two-choices" }),
            "choose",
            "two-choices",
            "earliest plans for ends",
        ),
        (
            json!({ "preset": "dasilva/greedy", "choose": "two-choices" }),
            "choose",
            "two-choices",
            "a peer does not draw",
        ),
        (
            json!({ "preset": "bertasi/social-as-printed", "choose": "proportional" }),
            "choose",
            "proportional",
            "above 0 on some machines and below on others",
        ),
        (
            json!({ "preset": "bertasi/greedy", "belief": "as-published" }),
            "belief",
            "as-published",
            "own-dispatches",
        ),
    ]);
}

#[test]
fn what_makes_no_sense_for_sites_is_refused_with_its_reason() {
    let moving = json!({ "score": "greedy" });
    check_refused(&[
        (json!({ "preset": "bertasi/greedy", "alpha": 0.5 }), "alpha", "0.5", "no such key"),
        (json!({ "preset": "bertasi/greedy", "brokers": 2 }), "brokers", "2", "no such key"),
        (json!({ "preset": "cavalieri/current", "alpha": 1.5 }), "alpha", "1.5", "from 0 to 1"),
        (json!({ "preset": "cavalieri/deterministic", "alpha": -0.1 }), "alpha", "-0.1", "from 0 to 1"),
        (json!({ "preset": "cavalieri/deterministic", "beta": "much" }), "beta", "\"much\"", "from 0 to 1"),
        (json!({ "preset": "cavalieri/stochastic", "choose": "best" }), "choose", "\"best\"", "the name"),
        (json!({ "preset": "cavalieri/stochastic", "power": 0 }), "power", "0", "from 1 to 16"),
        (json!({ "preset": "cavalieri/stochastic", "power": 17 }), "power", "17", "from 1 to 16"),
        (json!({ "preset": "cavalieri/current", "power": 2 }), "power", "2", "proportional"),
        (json!({ "preset": "cavalieri/current", "brokers": 2 }), "brokers", "2", "own-dispatches"),
        (json!({ "preset": "cavalieri/current", "relocate": moving }), "relocate", "moves", "own queue"),
        (json!({ "preset": "cavalieri/current", "score": "greedy" }), "score", "greedy", "rank"),
        (json!({ "preset": "cavalieri/current", "order": "min-min" }), "order", "min-min", "submission"),
        (
            json!({ "preset": "khoo/mrs", "sites": { "behind": "never" } }),
            "sites.behind",
            "\"never\"",
            "starts",
        ),
        (
            json!({ "preset": "khoo/mrs", "sites": { "behnd": "easy" } }),
            "sites.behnd",
            "unknown key",
            "behind",
        ),
        (json!({ "preset": "khoo/mrs", "sites": { "queues": "drawn" } }), "sites.split", "nearest", "whole"),
        (
            json!({ "preset": "gleaner/sites", "sites": { "copies": 2 } }),
            "sites.copies",
            "2",
            "one run is enough",
        ),
        (
            json!({ "preset": "khoo/mrs", "sites": { "weights": { "memory": 0 } } }),
            "sites.weights.memory",
            "0",
            "above 0",
        ),
        (json!({ "preset": "khoo/mrs", "sites": { "cost": 2 } }), "sites.cost", "2", "true or false"),
        (json!({ "preset": "bertasi/greedy", "sites": {} }), "sites", "", "no such key"),
        (json!({ "preset": "khoo/mrs", "order": "min-min" }), "order", "min-min", ""),
    ]);
}
