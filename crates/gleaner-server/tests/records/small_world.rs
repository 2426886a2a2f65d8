//! Runs a test again in a small world of its own: with limits of its own, or in a mount namespace that ends with it.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const FOLDER: &str = "TEST_FOLDER";

/// Runs the ignored test `name` behind the shell command `prepare`, which finds the test's folder in `$TEST_FOLDER`.
pub(crate) fn run_prepared(shell: &mut Command, prepare: &str, name: &str) {
    let folder = TempDir::new().unwrap();
    let script = format!("{prepare}\nexec \"$0\" --exact --ignored --nocapture {name}");
    let ran = shell.args(["sh", "-euc", &script]).arg(env::current_exe().unwrap());
    let output = ran.env(FOLDER, folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

/// The same where `prepare` may mount.
pub(crate) fn run_in_namespace(prepare: &str, name: &str) {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    let folder = TempDir::new().unwrap();
    let probe = unshare().args(["mount", "-t", "tmpfs", "none"]).arg(folder.path()).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("NOT TESTED: {name}: this system lets nobody mount in a namespace of their own");
        return;
    }
    run_prepared(&mut unshare(), prepare, name);
}

/// The folder of the test that runs in the small world.
pub(crate) fn folder() -> PathBuf {
    env::var_os(FOLDER).expect("run by another test").into()
}
