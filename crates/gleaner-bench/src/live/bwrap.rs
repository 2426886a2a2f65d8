//! Tasks a second in the sandbox, beside a bare loop of bubblewrap with the same namespaces and mounts.

use super::race::Race;
use super::{Bench, Found, LiveError};
use gleaner_agent::confine::bare_sandbox;
use gleaner_wire::job::Confinement;
use std::path::Path;
use std::process::Command;

const TASKS: u32 = 400;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let mut found = Found::default();
    let race = Race {
        name: "in the sandbox",
        bare_name: "bare bubblewrap",
        confinement: Confinement::Sandbox,
        tasks: TASKS,
        bare: &bare_run,
        aim: 0.9,
    };
    race.run(bench, &mut found)?;
    Ok(found)
}

/// Bubblewrap around `/bin/true`, with this for the task's folder.
///
/// # Panics
/// Where it is not installed: then the grid has refused its tasks before.
pub(super) fn bare_run(folder: &Path) -> Command {
    bare_sandbox(folder, "/bin/true").expect("bubblewrap is installed")
}
