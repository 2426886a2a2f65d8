//! What is reported for scenarios and overrides that are bad input.

use super::folder::{Folder, MACHINES, SCENARIO};

/// Each case replaces a part of the right scenario.
#[track_caller]
fn check_edits(cases: &[(&str, &str, &str)]) {
    for &(old, new, expected) in cases {
        Folder::new().edited(old, new).check_error(&[], expected);
    }
}

#[test]
fn documents_that_cannot_be_read() {
    let none = "scenario.toml: found no such file; expected a scenario, which is a TOML document";
    Folder::new().without("scenario.toml").check_error(&[], none);
    let not_text = "scenario.toml:2: found bytes that are not UTF-8; expected UTF-8 text";
    Folder::new().with("scenario.toml", b"[grid]\nmachines = \"\xff\"").check_error(&[], not_text);
    let long = "scenario.toml: found more than 1 MiB; expected a scenario of at most 1 MiB";
    Folder::new().with("scenario.toml", "#".repeat((1 << 20) + 1)).check_error(&[], long);
    for (text, line) in [("[grid]\nmachines =", 2), ("[grid]\n\n[grid]\n", 3), ("[grid]\na = 1\na = 2\n", 3)]
    {
        let error = Folder::new().with("scenario.toml", text).load(&[]).expect_err(text);
        assert!(error.found.starts_with("no TOML: "), "{error}");
        assert_eq!(error.line, Some(line), "{error}");
    }
}

#[test]
fn deep_documents_do_not_exhaust_the_stack() {
    let dotted = format!("{}a = 1", "a.".repeat(500_000));
    let nested = format!("a = {}", "[".repeat(1_000_000));
    let tables = format!("a = {}", "{a=".repeat(300_000));
    let header = format!("[{}a]", "a.".repeat(500_000));
    for text in [dotted, nested, tables, header] {
        Folder::new().with("scenario.toml", &text).load(&[]).expect_err("a document that means nothing");
        Folder::new().load(&[&text]).expect_err("an override that means nothing");
    }
}

#[test]
fn unknown_keys() {
    check_edits(&[
        (
            "[policy]",
            "[polcy]",
            "scenario.toml:9: polcy: found an unknown key; expected one of grid, groups, letters, work, policy, migration, faults, run; did you mean policy?",
        ),
        (
            "machines =",
            "machnes =",
            "scenario.toml:2: grid.machnes: found an unknown key; expected one of machines, availability, owner_load, sharing; did you mean machines?",
        ),
        (
            "tasks =",
            "task =",
            "scenario.toml:6: work.task: found an unknown key; expected one of tasks, weights, labels; did you mean tasks?",
        ),
        (
            "preset =",
            "presets =",
            "scenario.toml:10: policy.presets: found an unknown key; expected one of preset, period_s, order, score, alpha, beta, candidates, choose, power, belief, brokers, lengths, fill, correction, sites, aging, deadline_s, replan, relocate, budget, replicate, favours, queue, recall, reach, hold, availability, ahead; did you mean preset?",
        ),
        (
            "[policy]",
            "[run]\nsed = 1\n[policy]",
            "scenario.toml:10: run.sed: found an unknown key; expected one of seed; did you mean seed?",
        ),
        (
            "[policy]",
            "[migration]\nbits = 1\n[policy]",
            "scenario.toml:10: migration.bits: found an unknown key; expected one of seconds, bytes",
        ),
        (
            "[policy]",
            "[policy.relocate]\nscore = \"greedy\"\nmoves = 1\n[policy]",
            "scenario.toml:11: policy.relocate.moves: found an unknown key; expected one of score, moves_max, gain_min, difference_min, period_s, mover; did you mean mover?",
        ),
    ]);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let key = "scenario.toml:1: \\u{1b}[2J: found an unknown key; expected one of grid, groups, letters, work, policy, migration, faults, run";
    Folder::new().with("scenario.toml", "\"\\u001b[2J\" = 1").check_error(&[], key);
    let set = "--set \\u{1b}=1: \\u{1b}: found an unknown key; expected one of grid, groups, letters, work, policy, migration, faults, run";
    Folder::new().check_error(&["\u{1b}=1"], set);
}

#[test]
fn missing_and_mistyped_keys() {
    check_edits(&[
        (
            "machines = \"machines.csv\"\n",
            "",
            "scenario.toml:1: grid.machines: found nothing; expected the name of a file, as \"machines.csv\"",
        ),
        (
            "tasks = \"tasks.csv\"\n",
            "",
            "scenario.toml:5: work.tasks: found nothing; expected the name of a file, as \"tasks.csv\"",
        ),
        (
            "preset = \"bertasi/greedy\"\n",
            "",
            "scenario.toml:9: policy.preset: found nothing; expected the name of a preset, as \"bertasi/greedy\"",
        ),
        (
            "[policy]\npreset = \"bertasi/greedy\"\n",
            "",
            "scenario.toml: policy.preset: found nothing; expected the name of a preset, as \"bertasi/greedy\"",
        ),
        (
            "\"machines.csv\"",
            "1979-05-27",
            "scenario.toml:2: grid.machines: found a date; expected the name of a file, as \"machines.csv\"",
        ),
        (
            "\"owner_load.csv\"",
            "[]",
            "scenario.toml:3: grid.owner_load: found a list; expected the name of a file, as \"owner_load.csv\"",
        ),
        (
            "{ cpu = 2e-5, disk = 0.1, net = 0.1 }",
            "1",
            "scenario.toml:7: work.weights: found 1; expected a table",
        ),
        (
            "{ cpu = 2e-5, disk = 0.1, net = 0.1 }",
            "{}",
            "scenario.toml:7: work.weights: found no dimension; expected at least one, as { cpu = 1 }",
        ),
        (
            "2e-5",
            "-2e-5",
            "scenario.toml:7: work.weights.cpu: found -2e-5; expected a weight as a finite number above 0",
        ),
        (
            "2e-5",
            "nan",
            "scenario.toml:7: work.weights.cpu: found NaN; expected a weight as a finite number above 0",
        ),
        (
            "2e-5",
            "0",
            "scenario.toml:7: work.weights.cpu: found 0; expected a weight as a finite number above 0",
        ),
        (
            "cpu = 2e-5",
            "length = 1",
            "scenario.toml:7: work.weights.length: found a dimension of that name; expected a name that no other column has",
        ),
        (
            "cpu = 2e-5",
            "user = 1",
            "scenario.toml:7: work.weights.user: found a dimension of that name; expected a name that no other column has",
        ),
    ]);
    let grid = "scenario.toml:1: grid: found 1; expected a table";
    Folder::new().with("scenario.toml", "grid = 1").check_error(&[], grid);
}

#[test]
fn settings_out_of_bounds() {
    let score = "one of greedy, social, social-whole, social-as-printed, min-num, power, power-per-core, reliable-power, energy, energy-delay, reliable-energy-delay";
    let count = "a whole number, 0 or more, below 2^32";
    let difference = "a whole number, 1 or more, below 2^32";
    let gain = "a finite number, 0 or more";
    let period = "seconds above 0, from a nanosecond to the end of time";
    let seconds = "seconds as a finite number, 0 or more";
    let credits = "credits as a whole number, from 1 to 2^53";
    let seed = "a whole number, 0 or more, below 2^64";
    for (key, value, found, expected) in [
        ("grid.sharing", "space", "\"space\"", "one of time, exclusive"),
        ("grid.sharing", "1", "1", "one of time, exclusive"),
        ("policy.preset", "1", "1", "the name of a preset, as \"bertasi/greedy\""),
        ("policy.relocate", "greedy", "\"greedy\"", "\"none\", or a table with a score"),
        ("policy.relocate.score", "gredy", "\"gredy\"", &format!("{score}; did you mean greedy?")),
        ("policy.relocate.score", "true", "a truth value", score),
        ("policy.relocate.moves_max", "-1", "-1", count),
        ("policy.relocate.moves_max", "1.5", "1.5", count),
        ("policy.relocate.moves_max", "4294967296", "4294967296", count),
        ("policy.relocate.moves_max", "many", "\"many\"", count),
        ("policy.relocate.gain_min", "-0.1", "-0.1", gain),
        ("policy.relocate.gain_min", "nan", "\"NaN\"", gain),
        ("policy.relocate.gain_min", "inf", "\"inf\"", gain),
        ("policy.relocate.difference_min", "0", "0", difference),
        ("policy.relocate.period_s", "0", "0", period),
        ("policy.relocate.period_s", "-1.0", "-1.0", period),
        ("policy.relocate.period_s", "1e-12", "1e-12", period),
        ("policy.relocate.period_s", "1e30", "1e30", period),
        ("policy.relocate.period_s", "nan", "\"NaN\"", period),
        ("policy.budget", "1000", "1000", "\"none\", or a table with recharge and period_s"),
        ("policy.budget.rule", "1", "1", "the name of a rule, as \"b\""),
        ("policy.budget.recharge", "0.5", "0.5", credits),
        ("policy.budget.recharge", "0", "0", credits),
        ("policy.budget.recharge", "-5", "-5", credits),
        ("policy.budget.recharge", "9007199254740993", "9007199254740993", credits),
        ("policy.budget.charged", "never", "\"never\"", "one of planned, reserved, started, ended"),
        ("policy.budget.per", "team", "\"team\"", "one of grid, user"),
        ("policy.period_s", "0", "0", period),
        ("policy.aging", "-1", "-1", "a whole number, 0 or more, below 2^32"),
        ("policy.replan", "all", "\"all\"", "one of unbegun, lost"),
        ("policy.deadline_s", "0", "0", "seconds above 0, before the end of time"),
        ("policy.budget.period_s", "0", "0", period),
        ("migration.seconds", "-1", "-1", seconds),
        ("migration.seconds", "nan", "NaN", seconds),
        ("migration.bytes", "inf", "inf", "bytes as a finite number, 0 or more"),
        ("run.seed", "-1", "-1", seed),
        ("run.seed", "18446744073709551616", "18446744073709551616", seed),
        ("run.seed", &"9".repeat(99), "a number of too many digits", seed),
    ] {
        let set = format!("{key}={value}");
        let budget = "policy.budget={ rule = \"b\", recharge = 1, period_s = 1 }";
        let overrides: &[&str] = match key {
            "policy.relocate.score" => &[&set],
            _ if key.starts_with("policy.relocate.") => &["policy.relocate.score=greedy", &set],
            _ if key.starts_with("policy.budget.") => &[budget, &set],
            "policy.period_s" | "policy.aging" | "policy.replan" | "policy.deadline_s" => {
                &["policy.preset=elleuch/min-min", &set]
            }
            _ => &[&set],
        };
        let expected = format!("--set {set}: {key}: found {found}; expected {expected}");
        Folder::new().check_error(overrides, &expected);
    }
}

#[test]
fn overrides_that_do_not_fit() {
    let form = "expected key=value, as policy.preset=bertasi/greedy";
    for (set, expected) in [
        ("run.seed", &*format!("--set run.seed: found no =; {form}")),
        ("run..seed=1", &*format!("--set run..seed=1: found the key \"run..seed\"; {form}")),
        ("=1", &*format!("--set =1: found the key \"\"; {form}")),
        (
            "policy.preset.name=a",
            "--set policy.preset.name=a: policy.preset: found a value that has no keys; expected a table, to set name in it",
        ),
        (
            "policy.relocate.gain_min=0",
            "--set policy.relocate.gain_min=0: policy.relocate.gain_min: found 0; expected relocate.score beside it, one of greedy, social, social-whole, social-as-printed, min-num, power, power-per-core, reliable-power, energy, energy-delay, reliable-energy-delay: without a score no task moves",
        ),
        (
            "run.sede=1",
            "--set run.sede=1: run.sede: found an unknown key; expected one of seed; did you mean seed?",
        ),
    ] {
        Folder::new().check_error(&[set], expected);
    }
}

#[test]
fn bytes_need_a_way() {
    let set = "migration.bytes=1000";
    let machines = MACHINES.replace("m1,2,100,250", "m1,2,100,0");
    Folder::new().with("machines.csv", machines).check_error(
        &[set],
        "--set migration.bytes=1000: migration.bytes: found 1000 with machine \"m1\", whose net speed is 0; expected 0, or a net speed above 0 on every machine",
    );
    let text = format!("{}[migration]\nbytes = 8.0\n", SCENARIO.replace("net =", "lan ="));
    Folder::new().with("scenario.toml", text).with("machines.csv", MACHINES.replace("net", "lan")).check_error(
        &[],
        "scenario.toml:12: migration.bytes: found 8 with no dimension net; expected 0, or a dimension net to send them over",
    );
}
