//! How often a commit syncs, counted by the system: less loses facts, more loses time.

use super::{open, row};
use crate::small_world::{folder, run_prepared};
use gleaner_server::store::Store as _;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const COMMITS: usize = 300;
/// Making the folder and the file, and closing them.
const BESIDE: usize = 20;

#[test]
fn a_commit_syncs_once() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("syncs");
    let traced = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(&log);
        command
    };
    if !traced().arg("true").output().is_ok_and(|probe| probe.status.success()) {
        eprintln!("NOT TESTED: how often a commit syncs: there is no strace, or it may not trace");
        return;
    }
    run_prepared(&mut traced(), "", "store::syncs::commits");
    let syncs = fs::read_to_string(log).unwrap().lines().filter(|line| line.contains("sync(")).count();
    assert!((COMMITS..=COMMITS + BESIDE).contains(&syncs), "{syncs} syncs for {COMMITS} commits");
}

#[test]
#[ignore = "run by another test, traced"]
fn commits() {
    let mut store = open(&folder());
    for number in 1..=COMMITS as u64 {
        store.commit(&[row(number)]).unwrap();
    }
}
