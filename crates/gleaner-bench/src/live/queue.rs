//! A million tasks in the queue: how long it takes to hand them in, and what they take of the coordinator's memory.

use super::grid::Grid;
use super::process::private_bytes;
use super::{Bench, Found, LiveError, spawning};
use crate::table::Aim;
use std::fmt::Write as _;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

const TASKS: u32 = 1_000_000;
/// What was only needed to read a job is given back by then.
const SETTLING: Duration = Duration::from_secs(2);

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let mut found = Found::default();
    distinct(bench, &mut found)?;
    array(bench, &mut found)?;
    Ok(found)
}

fn distinct(bench: &Bench, found: &mut Found) -> Result<(), LiveError> {
    let grid = Grid::start(bench)?;
    let mut lines = String::new();
    for number in 0..TASKS {
        writeln!(lines, "data/sample-{number:07}.fits").expect("a string takes all");
    }
    let file = grid.folder().join("lines");
    fs::write(&file, lines).map_err(LiveError::system("a file of lines"))?;
    let file = file.to_string_lossy();
    let words = ["submit", "--each-line", &file, "--", "process", "{GLEANER_LINE}"];
    let (seconds, grown) = submit(&grid, &words)?;
    found.add("1,000,000 distinct tasks, submitted in", seconds, "s", Some(Aim::AtMost(5.0)));
    found.add("1,000,000 distinct tasks, memory", grown, "MiB", Some(Aim::AtMost(500.0)));
    Ok(())
}

fn array(bench: &Bench, found: &mut Found) -> Result<(), LiveError> {
    let grid = Grid::start(bench)?;
    let (seconds, grown) = submit(&grid, &["submit", "--array", &format!("1-{TASKS}"), "--", "process"])?;
    found.add("an array of 1,000,000, submitted in", seconds, "s", None);
    found.add("an array of 1,000,000, memory", grown, "MiB", Some(Aim::AtMost(20.0)));
    Ok(())
}

/// The seconds that a command took, and by how many MiB the coordinator grew.
fn submit(grid: &Grid, words: &[&str]) -> Result<(f64, f64), LiveError> {
    let before = private_bytes(grid.coordinator())?;
    let from = Instant::now();
    spawning::run(grid.command(words.iter().copied()))?;
    let seconds = from.elapsed().as_secs_f64();
    thread::sleep(SETTLING);
    let after = private_bytes(grid.coordinator())?;
    Ok((seconds, after.saturating_sub(before) as f64 / f64::from(1 << 20)))
}
