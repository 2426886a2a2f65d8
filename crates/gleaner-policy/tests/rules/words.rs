//! What users write, and what it stands for.

use crate::written::{budget, check_refused, quorum, read, recipe, tree};
use gleaner_policy::{Input, PolicySpec, Preset, Spending, When};
use serde_json::{Value, json};

#[test]
fn what_kind_of_rule_it_is_is_said() {
    let spending = |preset: &str, key: &str, word: &str| {
        let mut written = tree(json!({ "preset": preset, "budget": budget(json!({})) }));
        written.insert(key.to_owned(), json!(word));
        Value::Object(written)
    };
    check_refused(&[
        (
            spending("elleuch/btt-max-min", "correction", "firm"),
            "correction",
            "\"firm\"",
            "plans tasks in batches",
        ),
        (spending("gleaner/budget", "fill", "shortest"), "fill", "\"shortest\"", "plans tasks in batches"),
        (json!({ "preset": "queue/easy", "replan": "lost" }), "replan", "\"lost\"", "wait in one line"),
        (json!({ "preset": "khoo/mrs", "aging": 3 }), "aging", "3", "wait in line for their sites"),
        (json!({ "preset": "immediate/mct", "fill": "shortest" }), "fill", "\"shortest\"", "plans each task"),
        (
            json!({ "preset": "elleuch/min-min", "score": "energy" }),
            "score",
            "\"energy\"",
            "one of earliest, ",
        ),
        (
            json!({ "preset": "bertasi/greedy", "relocate": { "gain_min": 0.2 } }),
            "relocate.gain_min",
            "0.2",
            "without a score no task moves",
        ),
        (json!({ "preset": "bertasi/greedy", "order": "min-min" }), "order", "\"min-min\"", "submission"),
    ]);
}

#[test]
fn a_rule_for_sites_is_said_in_a_table() {
    let sites = json!({ "copies": 3, "apart": false, "root": "as-printed", "crossing": 0.5, "weights": { "disk": 2 } });
    let rule = recipe(json!({ "preset": "khoo/rep", "sites": sites })).site_rule().expect("a rule for sites");
    assert_eq!((rule.copies, rule.apart), (3, false));
    assert_eq!(rule.crossing.to_bits(), 0.5_f64.to_bits());
    let shown = rule.to_string();
    assert!(shown.contains("as-printed") && shown.contains("K 1 1 2 1"), "{shown}");
    let axes = recipe(json!({ "preset": "khoo/mrs", "sites": { "quality": true, "cost": true } }));
    let rule = axes.site_rule().expect("a rule for sites");
    assert!(rule.axes.quality && rule.axes.cost);
    assert!(axes.to_string().contains("quality counted, cost counted"), "{axes}");
}

#[test]
fn a_preset_is_found_by_its_name_and_no_two_are_alike() {
    let presets = Preset::all();
    assert_eq!(presets.len(), 49);
    for (at, preset) in presets.iter().enumerate() {
        assert_eq!(Preset::named(&preset.name).as_ref(), Some(preset));
        preset.recipe.check().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert!(
            presets[..at].iter().all(|other| other.recipe.to_string() != preset.recipe.to_string()),
            "{}",
            preset.name
        );
    }
    assert!(Preset::named("immediate/kpb:12.5").is_some_and(|preset| preset.name == "immediate/kpb:12.5"));
}

#[test]
fn every_rule_may_be_given_where_a_name_says_none() {
    for rule in
        ["b", "bt", "bt-within-period", "btt", "moving-price", "share", "least-share", "lb", "lbt", "lbtt"]
    {
        let budget = budget(json!({ "rule": rule }));
        let built = recipe(json!({ "preset": "elleuch/max-min", "budget": budget }));
        assert!(
            built.heeds_budget() && built.when.period().is_some_and(|period| period.seconds() == 5.0),
            "{rule}"
        );
        assert_eq!(
            built.parts().iter().find(|part| part.part == "budget").map(|part| part.name.as_str()),
            Some(rule)
        );
    }
    // By a name of its own, or by a rule given to another.
    let own = recipe(json!({ "preset": "elleuch/lbtt-min-min", "budget": budget(json!({})) }));
    let given = recipe(json!({ "preset": "elleuch/min-min", "budget": budget(json!({ "rule": "lbtt" })) }));
    assert_eq!(own, given);
}

#[test]
fn groups_follow_what_places_each_task_by_itself() {
    let wrong_at = |written| recipe(written).check_in_groups().err().map(|error| error.key);
    for preset in Preset::all() {
        let found = preset.recipe.check_in_groups().err().map(|error| error.key);
        let expected = (!preset.name.starts_with("bertasi/")).then_some("preset");
        assert_eq!(found.as_deref(), expected, "{}", preset.name);
    }
    assert_eq!(wrong_at(json!({ "preset": "bertasi/greedy", "replicate": 2 })).as_deref(), Some("preset"));
    assert_eq!(
        wrong_at(json!({ "preset": "bertasi/greedy", "ahead": "where-short" })).as_deref(),
        Some("ahead")
    );
}

#[test]
fn a_broker_s_numbers_are_heard() {
    let keys = json!({
        "preset": "cavalieri/stochastic", "alpha": 0.5, "beta": 0, "power": 4, "belief": "own-dispatches", "brokers": 3,
        "score": "rank-with-execution", "candidates": "most-files",
    });
    assert_eq!(
        recipe(keys).to_string(),
        "rank with execution, α = 0.5, β = 0, proportional to its power 4, where most files are; sites with what was sent, \
         times 3"
    );
    let plain = recipe(json!({ "preset": "cavalieri/stochastic" }));
    assert_eq!(
        plain.to_string(),
        "rank, α = 0.75, β = 0.25, proportional to its power 1; sites as published"
    );
}

#[test]
fn a_rule_names_its_machines_once() {
    let told = recipe(json!({ "preset": "immediate/kpb:50" })).to_string();
    let expected = "for the earliest end among the fastest 50 %, on machines, as tasks come";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn batches_follow_the_budget() {
    let period = |written| recipe(written).when;
    let seconds = |seconds| When::Every(gleaner_units::Span::from_seconds(seconds).expect("a period"));
    assert_eq!(
        period(json!({ "preset": "elleuch/btt-sufferage", "budget": budget(json!({})) })),
        seconds(5.0)
    );
    assert_eq!(period(json!({ "preset": "elleuch/sufferage" })), seconds(120.0));
    assert_eq!(period(json!({ "preset": "elleuch/sufferage", "period_s": 7 })), seconds(7.0));
}

#[test]
fn a_policy_says_what_it_goes_by() {
    let reads = |written: Value| recipe(written).reads();
    assert_eq!(
        reads(json!({ "preset": "bertasi/min-num" })).into_iter().collect::<Vec<_>>(),
        [Input::Counts]
    );
    let batch = reads(json!({ "preset": "elleuch/b-min-min", "budget": budget(json!({})) }));
    assert!(
        batch.contains(&Input::Lengths)
            && batch.contains(&Input::Prices)
            && !batch.contains(&Input::Deadline)
    );
    assert!(
        reads(json!({ "preset": "nimrod/cost", "budget": budget(json!({})) })).contains(&Input::Deadline)
    );
}

#[test]
fn what_is_written_is_kept_and_nothing_said_is_nothing() {
    let written = json!({ "preset": "bertasi/greedy", "relocate": { "score": "social", "period_s": null }, "aging": null });
    let spec = read(written).expect("a policy");
    assert_eq!(json!(spec), json!({ "preset": "bertasi/greedy", "relocate": { "score": "social" } }));
    assert_eq!(spec.toml(), "[policy]\npreset = \"bertasi/greedy\"\nrelocate = { score = \"social\" }\n");
    assert_eq!(serde_json::from_value::<PolicySpec>(json!(spec)).expect("what was written"), spec);
}

#[test]
fn every_choice_has_a_name_of_its_own() {
    fn check<C: gleaner_policy::Choice>() {
        for choice in C::all() {
            assert!(C::named(&choice.name()) == Some(choice), "{choice:?}");
            assert!(choice.about().meaning.ends_with('.'), "{choice:?}");
        }
    }
    check::<gleaner_policy::TaskOrder>();
    check::<gleaner_policy::Goal>();
    check::<Spending>();
    check::<gleaner_policy::Replan>();
    check::<gleaner_policy::Choose>();
    check::<gleaner_policy::Belief>();
    check::<gleaner_policy::Candidates>();
    check::<gleaner_policy::Savings>();
}

#[test]
fn a_quorum_says_how_many_are_asked_and_who_is_asked_alone() {
    for (replicate, expected) in [
        (json!({ "quorum": 2 }), (2, 5, None)),
        (json!({ "quorum": 7 }), (7, 15, None)),
        (json!({ "quorum": 2, "most": 2 }), (2, 2, None)),
        (json!({ "quorum": 2, "trust_after": 10 }), (2, 5, Some((10, 20)))),
        (json!({ "quorum": 3, "trust_after": 1, "check_every": 7 }), (3, 7, Some((1, 7)))),
    ] {
        let checking = read(quorum(&replicate)).expect("it makes sense").checking().expect("a quorum");
        let trust = checking.trust.map(|trust| (trust.after, trust.check_every));
        assert_eq!((checking.quorum, checking.most, trust), expected, "{replicate}");
    }
    assert_eq!(read(quorum(&json!(2))).expect("two runs").checking(), None);
}

/// `--set lengths=true` says the word, and is read as a truth value first.
#[test]
fn a_choice_may_be_called_true() {
    let spec = |lengths: Value| read(json!({ "preset": "queue/easy", "lengths": lengths }));
    let [bare, word] = [json!(true), json!("true")].map(|said| spec(said).expect("a policy").recipe());
    assert_eq!(bare, word);
    assert!(spec(json!(false)).is_err());
}
