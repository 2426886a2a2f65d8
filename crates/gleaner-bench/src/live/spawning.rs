//! How fast this machine starts programs when nothing else is done: the limit for everyone who runs tasks.

use super::LiveError;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

/// Runs a second of what `command` makes, so many at a time.
pub(super) fn rate(
    runs: u32,
    at_a_time: u32,
    command: impl Fn() -> Command + Sync,
) -> Result<f64, LiveError> {
    let each = runs / at_a_time;
    let from = Instant::now();
    thread::scope(|scope| {
        let loops: Vec<_> =
            (0..at_a_time).map(|_| scope.spawn(|| (0..each).try_for_each(|_| run(command())))).collect();
        loops.into_iter().try_for_each(|one| one.join().expect("a loop of starts does not panic"))
    })?;
    Ok(f64::from(each * at_a_time) / from.elapsed().as_secs_f64())
}

/// Starts a program and waits for its end.
pub(super) fn run(mut command: Command) -> Result<(), LiveError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(LiveError::system(&name))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LiveError::Command { command: name, status: output.status.to_string(), said })
}

/// The bare floor: `/bin/true`, which the standard library starts by `posix_spawn`.
pub(super) fn bare_true() -> Command {
    Command::new("/bin/true")
}
