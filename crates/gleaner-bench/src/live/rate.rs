//! Tasks a second outside the sandbox, beside bare spawning, and beside `HyperQueue` where it is.

use super::race::{AT_A_TIME, Race};
use super::{Bench, Found, LiveError, hyperqueue, spawning};
use crate::table::Aim;
use gleaner_wire::job::Confinement;

const TASKS: u32 = 4_000;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let mut found = Found::default();
    let race = Race {
        name: "outside the sandbox",
        bare_name: "bare posix_spawn",
        confinement: Confinement::None,
        tasks: TASKS,
        bare: &|_| spawning::bare_true(),
        aim: 0.7,
    };
    let share = race.run(bench, &mut found)?;
    beside_hyperqueue(bench, share, &mut found)?;
    Ok(found)
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
    found.add("outside the sandbox, of HyperQueue", share / its_share, "×", Some(Aim::AtLeast(3.0)));
    Ok(())
}
