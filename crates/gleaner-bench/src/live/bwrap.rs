//! Tasks a second in the sandbox, beside a bare loop of bubblewrap with the same namespaces and mounts.

use super::grid::{Grid, trues};
use super::{Bench, Found, LiveError, median, spawning};
use crate::table::Aim;
use gleaner_agent::confine::bare_sandbox;
use gleaner_wire::job::Confinement;
use std::path::Path;
use std::process::Command;

const AT_A_TIME: u32 = 2;
const TASKS: u32 = 400;
const ROUNDS: usize = 5;
const WARM_UP: u32 = 40;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let grid = Grid::start(bench)?;
    let _agent = grid.agent(AT_A_TIME)?;
    let bare = bare_folder(grid.folder())?;
    grid.run(&trues(WARM_UP, Confinement::Sandbox))?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let floor = spawning::rate(TASKS, AT_A_TIME, || bare_run(&bare))?;
        let ours = f64::from(TASKS) / grid.run(&trues(TASKS, Confinement::Sandbox))?;
        rounds.push((floor, ours));
    }
    let over = |value: fn(&(f64, f64)) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
    let mut found = Found::default();
    found.add("bare bubblewrap, 2 at a time", over(|(floor, _)| *floor), "tasks/s", None);
    found.add("in the sandbox, 2 at a time", over(|(_, ours)| *ours), "tasks/s", None);
    let share = over(|(floor, ours)| ours / floor);
    found.add("in the sandbox, of bare bubblewrap", share, "×", Some(Aim::AtLeast(0.8)));
    Ok(found)
}

/// A folder for bare runs, which takes the place of a task's own.
pub(super) fn bare_folder(within: &Path) -> Result<std::path::PathBuf, LiveError> {
    let folder = within.join("bare");
    std::fs::create_dir_all(&folder).map_err(LiveError::system("a folder for bare bubblewrap"))?;
    Ok(folder)
}

/// Bubblewrap around `/bin/true`.
///
/// # Panics
/// Where it is not installed: then the grid has refused its tasks before.
pub(super) fn bare_run(folder: &Path) -> Command {
    bare_sandbox(folder, "/bin/true").expect("bubblewrap is installed")
}
