//! Tasks a second, beside bare starts of the same in turn.

use super::grid::{Grid, trues};
use super::{Bench, Found, LiveError, median, spawning};
use crate::table::Aim;
use gleaner_wire::job::Confinement;
use std::path::Path;
use std::process::Command;

/// Bare starts at a time, as the aims have it.
pub(super) const AT_A_TIME: u32 = 2;
/// How many slots the agent has: as many as bare starts go on at a time; and enough to hide that each run waits for a
/// commit, as a machine for very short tasks would be set up.
const SLOTS: [u32; 2] = [AT_A_TIME, 4 * AT_A_TIME];
const ROUNDS: usize = 5;

/// What is raced.
pub(super) struct Race<'a> {
    /// What it is called.
    pub(super) name: &'a str,
    /// What the bare starts are called.
    pub(super) bare_name: &'a str,
    /// Where the tasks run.
    pub(super) confinement: Confinement,
    /// Tasks a round.
    pub(super) tasks: u32,
    /// A bare start; it may use the folder.
    pub(super) bare: &'a (dyn Fn(&Path) -> Command + Sync),
    /// The share of the bare rate to be reached.
    pub(super) aim: f64,
}

impl Race<'_> {
    /// Runs it for each number of slots; the share that the last of them reached.
    pub(super) fn run(&self, bench: &Bench, found: &mut Found) -> Result<f64, LiveError> {
        let mut share = 0.0;
        for slots in SLOTS {
            share = self.run_with(bench, slots, found)?;
        }
        Ok(share)
    }

    fn run_with(&self, bench: &Bench, slots: u32, found: &mut Found) -> Result<f64, LiveError> {
        let grid = Grid::start(bench)?;
        let _agent = grid.agent(slots)?;
        let folder = grid.folder().join("bare");
        std::fs::create_dir_all(&folder).map_err(LiveError::system("a folder for bare starts"))?;
        // What has to be there before a round counts: minders, connections, pages of memory.
        grid.run(&trues(self.tasks / 10, self.confinement))?;
        let [mut bare, mut ours, mut shares] = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            bare.push(spawning::rate(self.tasks, AT_A_TIME, || (self.bare)(&folder))?);
            ours.push(f64::from(self.tasks) / grid.run(&trues(self.tasks, self.confinement))?);
            shares.extend(ours.last().zip(bare.last()).map(|(ours, bare)| ours / bare));
        }
        let Self { name, bare_name, aim, .. } = self;
        found.add(format!("{bare_name}, {AT_A_TIME} at a time"), median(&bare), "tasks/s", None);
        found.add(format!("{name}, {slots} slots"), median(&ours), "tasks/s", None);
        let share = median(&shares);
        found.add(format!("{name}, {slots} slots, of bare"), share, "×", Some(Aim::AtLeast(*aim)));
        Ok(share)
    }
}
