//! A whole command of the command line: a process that starts, asks the coordinator, prints and ends.

use super::grid::Grid;
use super::{Bench, Found, LiveError, median, quantile, spawning};
use crate::table::Aim;
use std::time::Instant;

const TIMES: usize = 200;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let grid = Grid::start(bench)?;
    let took = (0..TIMES).map(|_| {
        let from = Instant::now();
        spawning::run(grid.command(["status", "--json"]))?;
        Ok(1e3 * from.elapsed().as_secs_f64())
    });
    let took = took.collect::<Result<Vec<f64>, LiveError>>()?;
    let mut found = Found::default();
    found.add("gleaner status --json, p50", median(&took), "ms", Some(Aim::AtMost(10.0)));
    found.add("gleaner status --json, p95", quantile(&took, 0.95), "ms", None);
    Ok(found)
}
