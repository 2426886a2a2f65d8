//! Tasks a second in the sandbox, beside a bare loop of bubblewrap with the same namespaces and mounts.

use super::race::Race;
use super::{Bench, Found, LiveError};
use gleaner_agent::confine::{Settings, bare_sandbox};
use gleaner_wire::job::Confinement;
use std::path::Path;
use std::process::Command;

const TASKS: u32 = 400;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let mut found = Found::default();
    let beside = tempfile::tempdir().map_err(LiveError::system("a folder for the machine's settings"))?;
    let settings = Settings::make(&beside.path().join("settings"));
    let race = Race {
        name: "in the sandbox",
        bare_name: "bare bubblewrap",
        confinement: Confinement::Sandbox,
        tasks: TASKS,
        bare: &|folder: &Path| bare_run(folder, &settings),
        aim: 0.9,
    };
    race.run(bench, &mut found)?;
    Ok(found)
}

/// Bubblewrap around `/bin/true`, with this for the task's folder, and settings as an agent's tasks see them.
///
/// # Panics
/// Where it is not installed: then the grid has refused its tasks before.
pub(super) fn bare_run(folder: &Path, settings: &Settings) -> Command {
    bare_sandbox(folder, settings.folder(), "/bin/true").expect("bubblewrap is installed")
}
