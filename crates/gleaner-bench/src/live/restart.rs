//! How long the coordinator takes to start with a million finished tasks behind it, after it was killed.

use super::grid::{Grid, trues};
use super::process::{private_bytes, processor_seconds};
use super::simulated::Simulated;
use super::{Bench, Found, LiveError};
use crate::table::Aim;
use gleaner_wire::job::Confinement;
use std::thread;
use std::time::Instant;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

const TASKS: u32 = 1_000_000;
/// Tasks that are under way at a time, so that their facts share commits.
const SLOTS: u32 = 1_024;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let mut grid = Grid::start(bench)?;
    let agent = Simulated::join(&grid, "simulated", SLOTS)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let working = thread::spawn(move || work(agent, stopped));
    let (from, before) = (Instant::now(), processor_seconds(grid.coordinator())?);
    let job = grid.submit(&trues(TASKS, Confinement::Sandbox))?;
    grid.finish(job)?;
    let took = from.elapsed().as_secs_f64();
    let used = processor_seconds(grid.coordinator())? - before;
    let grown = private_bytes(grid.coordinator())?;
    // The agent may have ended with an error, which its thread tells.
    let _ = stop.send(());
    working.join().expect("a simulated agent does not panic")?;
    let mut found = Found::default();
    let each = 1e6 * used / f64::from(TASKS);
    found.add("tasks through the coordinator alone", f64::from(TASKS) / took, "tasks/s", None);
    found.add("the coordinator's work for a task", each, "µs", None);
    found.add("memory with 1,000,000 finished tasks", grown as f64 / f64::from(1 << 20), "MiB", None);
    let seconds = grid.crash_and_restart()?;
    found.add("start with 1,000,000 finished tasks", seconds, "s", Some(Aim::AtMost(5.0)));
    Ok(found)
}

fn work(agent: Simulated, stopped: oneshot::Receiver<()>) -> Result<(), LiveError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(LiveError::system("a runtime"))?.block_on(async {
        let connected = agent.connect().await?;
        tokio::select! {
            ended = connected.work(0.5) => ended.map(|never| match never {}),
            _ = stopped => Ok(()),
        }
    })
}
