//! Any text as a scenario of each kind: reading it ends, and what the scenarios mean that it may be is drawn or refused.
#![no_main]

use gleaner_workload::{PeersScenario, Scenario, sites};
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|text: &str| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenario.toml");
    fs::write(&path, text).expect("a file");
    let _ = (Scenario::load(&path, &[]), sites::load(&path, &[]), PeersScenario::load(&path, &[]));
});
