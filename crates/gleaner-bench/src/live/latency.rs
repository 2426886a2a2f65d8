//! From handing in one task over the API to its result, on an agent that is warm.

use super::disk::Disk;
use super::grid::{Grid, trues};
use super::{Bench, Found, LiveError, bwrap, median, quantile, spawning};
use crate::table::Aim;
use gleaner_agent::confine::Settings;
use gleaner_wire::job::Confinement;
use std::time::Instant;

const ROUNDS: usize = 100;
/// Of each kind in each round.
const TIMES: usize = 3;
const WARM_UP: u32 = 40;
/// What may come on top of what the disk takes: the programs' own time.
const ON_TOP_MS: f64 = 1.5;
/// How often the disk has to keep something: the job, its end, and one to spare.
const SYNCS: f64 = 3.0;

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let grid = Grid::start(bench)?;
    let _agent = grid.agent(2)?;
    let mut disk = Disk::new(grid.folder())?;
    let folder = grid.folder().join("bare");
    std::fs::create_dir_all(&folder).map_err(LiveError::system("a folder for bare bubblewrap"))?;
    let settings = Settings::make(&grid.folder().join("settings"));
    for confinement in [Confinement::None, Confinement::Sandbox] {
        grid.run(&trues(WARM_UP, confinement))?;
    }
    let [mut syncs, mut bare, mut own, mut boxed] = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for _ in 0..TIMES {
            syncs.push(1e3 * disk.sync()?);
            own.push(1e3 * grid.run(&trues(1, Confinement::None))?);
            let from = Instant::now();
            spawning::run(bwrap::bare_run(&folder, &settings))?;
            bare.push(1e3 * from.elapsed().as_secs_f64());
            boxed.push(1e3 * grid.run(&trues(1, Confinement::Sandbox))?);
        }
    }
    let limit = SYNCS * median(&syncs) + ON_TOP_MS;
    let mut found = Found::default();
    found.add("fdatasync of this disk, p50", median(&syncs), "ms", None);
    found.add("bare bubblewrap, p50", median(&bare), "ms", None);
    found.add("submit to result, p50", median(&own), "ms", Some(Aim::AtMost(limit)));
    found.add("submit to result, p95", quantile(&own, 0.95), "ms", None);
    let limit = limit + median(&bare);
    found.add("submit to result in the sandbox, p50", median(&boxed), "ms", Some(Aim::AtMost(limit)));
    found.add("submit to result in the sandbox, p95", quantile(&boxed, 0.95), "ms", None);
    Ok(found)
}
