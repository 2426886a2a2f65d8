//! `gleaner tune` from outside: a sweep, the same again after a stop, and bad input.

use crate::program::{example, gleaner_on};
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn tune(scenario: &Path, arguments: &[&str]) -> Output {
    gleaner_on("tune", scenario, arguments)
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_sweep_finds_the_setting_to_use_and_goes_on_where_it_was_stopped() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let sweep =
        ["--param", "policy.alpha=0..1", "--param", "policy.beta=0,0.5", "--steps", "3", "--seeds", "4"];
    let arguments = [&sweep[..], &["--out", out, "--json"]].concat();
    let first = tune(&example("brokers"), &arguments);
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let document: Value = serde_json::from_slice(&first.stdout).expect("one document");
    let settings = document["settings"].as_array().expect("a list");
    assert_eq!((settings.len(), &document["seeds"]), (6, &4.into()));
    let mean = |setting: &Value| setting["measured"]["mean"].as_f64().expect("a number");
    let lowest = settings.iter().map(mean).fold(f64::INFINITY, f64::min);
    let best = &settings[usize::try_from(document["best"].as_u64().expect("one")).expect("small")];
    assert_eq!(mean(best), lowest, "{document}");
    assert_eq!(best["above_best"]["high"], 0.0, "{document}");
    let alpha_0 = &settings[0];
    assert!(mean(alpha_0) > lowest && alpha_0["is_alike"] == false, "files alone: {document}");
    assert_eq!(read(dir.path(), "settings.csv").lines().count(), 7);
    assert!(
        read(dir.path(), "heat.svg").starts_with("<svg") && read(dir.path(), "report.html").contains("Use ")
    );

    // As if it had been stopped after ten runs, in the middle of a line.
    let kept = read(dir.path(), "simulations.jsonl");
    let lines: Vec<&str> = kept.lines().collect();
    assert_eq!(lines.len(), 24);
    let torn = lines[..10].join("\n") + "\n" + &lines[10][..20];
    std::fs::write(dir.path().join("simulations.jsonl"), &torn).expect("written");
    let again = tune(&example("brokers"), &arguments);
    assert_eq!(again.stdout, first.stdout);
    let kept = read(dir.path(), "simulations.jsonl");
    assert!(kept.starts_with(&lines[..10].join("\n")), "what was done is not done again");
    assert_eq!(kept.lines().count(), 24);

    // Another scenario takes nothing of what was kept.
    let other = tune(&example("brokers"), &[&arguments[..], &["--set", "index.ttl_s=[600]"]].concat());
    assert_ne!(other.stdout, first.stdout);
    assert_eq!(read(dir.path(), "simulations.jsonl").lines().count(), 48);
}

#[test]
fn one_parameter_makes_a_curve_and_any_kind_of_scenario_can_be_tuned() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let lab = tune(
        &example("lab"),
        &["--param", "policy.relocate.gain_min=0..0.5", "--out", out, "--measure", "moves"],
    );
    assert_eq!(lab.status.code(), Some(0), "{lab:?}");
    assert!(String::from_utf8_lossy(&lab.stdout).contains("--set policy.relocate.gain_min="), "{lab:?}");
    assert!(read(dir.path(), "curve.svg").starts_with("<svg"));
    let once = tune(&example("lab"), &["--param", "policy.relocate.gain_min=0,0.5", "--seeds", "1"]);
    let said = String::from_utf8_lossy(&once.stdout);
    assert!(said.contains("one run each") && !said.contains("confidence"), "{said}");
    // Who lies is drawn, and so is when a peer comes and goes.
    let liars = ["--param", "faults.liars=0.25,0.5", "--seeds", "2", "--measure", "makespan_s", "--json"];
    let liars: Value = serde_json::from_slice(&tune(&example("trust"), &liars).stdout).expect("one document");
    let makespan = |seed: &str| {
        let options = ["simulate", "--set", "faults.liars=0.25", "--json", "--seed", seed];
        let mut run = Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
        let run = run.args(options).arg(example("trust")).output().expect("it runs");
        let run: Value = serde_json::from_slice(&run.stdout).expect("one document");
        run["makespan_s"].as_f64().expect("a number")
    };
    let mean = f64::midpoint(makespan("1"), makespan("2"));
    assert_eq!(liars["seeds"], 2, "{liars}");
    assert!(
        (liars["settings"][0]["measured"]["mean"].as_f64().expect("a number") - mean).abs() < 1e-6,
        "{liars}"
    );
    let coming = example("peers").with_file_name("coming-and-going.toml");
    let quiet = ["--set", "letters.loss=0", "--param", "peers.inputs_s=0,20", "--seeds", "2", "--json"];
    let coming: Value = serde_json::from_slice(&tune(&coming, &quiet).stdout).expect("one document");
    assert_eq!(coming["seeds"], 2, "{coming}");
    // Where the first setting draws nothing, another one may.
    let unrelated = ["--set", "letters.loss=0", "--param", "peers.unrelated=0,0.3", "--seeds", "2", "--json"];
    let unrelated: Value =
        serde_json::from_slice(&tune(&example("peers"), &unrelated).stdout).expect("one document");
    assert_eq!(unrelated["seeds"], 2, "{unrelated}");
    let sites =
        ["--policy", "khoo/mrs", "--param", "sites.load=0.4,0.9", "--seeds", "2", "--set", "work.count=10"];
    let sites = tune(&example("sites"), &sites);
    assert_eq!(sites.status.code(), Some(0), "{sites:?}");
    let own = example("sites").with_file_name("own.toml");
    let own = tune(&own, &["--param", "network.crossing=0,1", "--seeds", "3", "--json"]);
    let own: Value = serde_json::from_slice(&own.stdout).expect("one document");
    assert_eq!(own["seeds"], 1, "runs that come to the same are no sample: {own}");
    let peers = tune(&example("peers"), &["--param", "peers.inputs_s=0,60", "--seeds", "2", "--json"]);
    let document: Value = serde_json::from_slice(&peers.stdout).expect("one document");
    assert_eq!((&document["measure"], &document["seeds"]), (&"flow_mean_s".into(), &2.into()));
}

#[test]
fn bad_input_is_found_before_anything_runs() {
    let bad: [(&[&str], &[&str]); 10] = [
        (&["--param", "policy.alhpa=0..1"], &["--param policy.alhpa=0", "unknown key", "alpha"]),
        (&["--param", "policy.preset=0..1"], &["policy.preset: found 0", "expected the name of a preset"]),
        (&["--param", "policy.alpha=1..0"], &["empty range 1..0", "expected"]),
        (&["--param", "policy.alpha=NaN..1"], &["found \"NaN\"", "expected a finite number"]),
        (
            &["--param", "policy.alpha=0..2"],
            &["--param policy.alpha=1.5: policy.alpha: found 1.5", "from 0 to 1"],
        ),
        (&["--param", "policy.alpha"], &["found no =", "expected KEY=LOW..HIGH"]),
        (&["--param", "policy.alpha=0,1", "--param", "policy.alpha=0,1"], &["policy.alpha: found it twice"]),
        (
            &["--param", "policy.alpha=0..1", "--measure", "speed"],
            &["--measure: found \"speed\"", "flow_mean_s"],
        ),
        (&["--param", "run.seed=1,2"], &["--param run.seed: found the seed", "the same seeds"]),
        (&["--param", "protocol.brokers=1..2"], &["protocol.brokers: found 1.25", "a whole number"]),
    ];
    for (arguments, says) in bad {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("out");
        let output =
            tune(&example("brokers"), &[arguments, &["--out", out.to_str().expect("plain")]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(says.iter().all(|part| error.contains(part)), "{arguments:?}: {error}");
        assert!(!out.exists(), "{arguments:?}: nothing is written");
    }
}
