//! What an agent with nothing to do takes of its machine.

use super::grid::Grid;
use super::process::{family, private_bytes, processor_seconds};
use super::{Bench, Found, LiveError};
use crate::table::Aim;
use std::thread;
use std::time::{Duration, Instant};

/// Joining and the first measurements are over by then.
const SETTLING: Duration = Duration::from_secs(10);

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let grid = Grid::start(bench)?;
    let agent = grid.agent(2)?;
    thread::sleep(SETTLING);
    let all = family(agent.id());
    let used = || all.iter().map(|&pid| processor_seconds(pid)).sum::<Result<f64, _>>();
    let (from, before) = (Instant::now(), used()?);
    thread::sleep(bench.idle_for);
    let share = (used()? - before) / from.elapsed().as_secs_f64();
    let bytes = all.iter().map(|&pid| private_bytes(pid)).sum::<Result<u64, _>>()?;
    let mut found = Found::default();
    let mib = bytes as f64 / f64::from(1 << 20);
    found.add("idle agent with its keeper, memory", mib, "MiB", Some(Aim::AtMost(5.0)));
    found.add(
        format!("idle agent with its keeper, over {} s", bench.idle_for.as_secs()),
        100.0 * share,
        "% of a core",
        Some(Aim::AtMost(0.1)),
    );
    Ok(found)
}
