//! Tasks a second outside the sandbox, beside bare spawning, and beside `HyperQueue` where it is.

use super::grid::{Grid, trues};
use super::{Bench, Found, LiveError, hyperqueue, median, spawning};
use crate::table::Aim;
use gleaner_wire::job::Confinement;

/// As many at a time as the aims are about.
const AT_A_TIME: u32 = 2;
/// As many slots hide that each run waits for a commit: what a machine for very short tasks would be set to.
const SLOTS: u32 = 8;
const TASKS: u32 = 4_000;
const ROUNDS: usize = 5;
/// What has to be there before the first round counts: minders, connections, pages of memory.
const WARM_UP: u32 = 400;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let mut found = Found::default();
    beside_bare_spawning(bench, AT_A_TIME, &mut found)?;
    let share = beside_bare_spawning(bench, SLOTS, &mut found)?;
    beside_hyperqueue(bench, share, &mut found)?;
    Ok(found)
}

/// What share of the bare rate an agent with so many slots reaches.
fn beside_bare_spawning(bench: &Bench, slots: u32, found: &mut Found) -> Result<f64, LiveError> {
    let grid = Grid::start(bench)?;
    let _agent = grid.agent(slots)?;
    grid.run(&trues(WARM_UP, Confinement::None))?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let floor = spawning::rate(TASKS, AT_A_TIME, spawning::bare_true)?;
        let ours = f64::from(TASKS) / grid.run(&trues(TASKS, Confinement::None))?;
        rounds.push((floor, ours));
    }
    let over = |value: fn(&(f64, f64)) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
    let share = over(|(floor, ours)| ours / floor);
    found.add(format!("bare posix_spawn beside {slots} slots"), over(|(floor, _)| *floor), "tasks/s", None);
    found.add(format!("outside the sandbox, {slots} slots"), over(|(_, ours)| *ours), "tasks/s", None);
    let name = format!("outside the sandbox, {slots} slots, of bare");
    found.add(name, share, "×", Some(Aim::AtLeast(0.6)));
    Ok(share)
}

/// Both in shares of the bare spawning beside them: the peer's long run cannot take turns.
fn beside_hyperqueue(bench: &Bench, share: f64, found: &mut Found) -> Result<(), LiveError> {
    let before = spawning::rate(TASKS, AT_A_TIME, spawning::bare_true)?;
    let peer = match hyperqueue::rate(bench, AT_A_TIME)? {
        Ok(rate) => rate,
        Err(missing) => {
            found.notes.push(missing);
            return Ok(());
        }
    };
    let after = spawning::rate(TASKS, AT_A_TIME, spawning::bare_true)?;
    let its_share = peer / f64::midpoint(before, after);
    found.add("HyperQueue, 2 at a time", peer, "tasks/s", None);
    found.add("outside the sandbox, 8 slots, of HyperQueue", share / its_share, "×", Some(Aim::AtLeast(2.0)));
    Ok(())
}
