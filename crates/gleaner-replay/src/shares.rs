//! What share of a core each run had where it ran, as the simulator's machines would have given it.
//!
//! A machine of c cores whose owner uses λ of it gives each of the n cores that are wanted there min(1, c·(1−λ)/n). **So a
//! run's work is the time that it ran times its mean share**: put back among the same neighbours, it takes as long as it
//! took. While its owner uses all of a machine nothing runs there, and an agent counts no such time.

use gleaner_core::{Grid, Stage};
use gleaner_server::store::TaskRange;
use gleaner_units::{MachineId, RunId, Time};
use std::collections::BTreeMap;

/// All runs that go on, and the machines they are on.
#[derive(Default)]
pub(crate) struct Shares {
    machines: Vec<Machine>,
    runs: BTreeMap<RunId, Run>,
}

#[derive(Clone, Copy, Default)]
struct Machine {
    /// Cores that the runs there want.
    wanted: u64,
    /// What each of them gets since `as_of`; 0 while nothing runs.
    share: f64,
    as_of: Time,
    had: Had,
}

/// What a run had that was on a machine from the start.
#[derive(Clone, Copy, Default)]
struct Had {
    /// Of a core of its own.
    seconds: f64,
    /// Seconds in which it had any.
    running_s: f64,
}

#[derive(Clone, Copy)]
struct Run {
    on: MachineId,
    cores: u64,
    /// What its machine showed when it began.
    since: Had,
    /// Whether its machine is heard of.
    is_there: bool,
}

impl Shares {
    /// Of what runs as the journal begins.
    pub(crate) fn begun_with(grid: &Grid) -> Self {
        let mut shares = Self::default();
        for on in (0..grid.machines().len()).map(MachineId::new) {
            let running = |run: &RunId| grid.find_run(*run).is_some_and(|run| run.stage() == Stage::Running);
            let runs: Vec<RunId> = grid.machine(on).runs().filter(running).collect();
            for run in runs {
                shares.began(grid, Time::ZERO, run, on);
            }
        }
        shares
    }

    /// A run began, or its machine is heard of again.
    pub(crate) fn began(&mut self, grid: &Grid, now: Time, run: RunId, on: MachineId) {
        self.advance(now, on);
        let machine = &mut self.machines[on.index()];
        let class = grid.classes().task_class(grid.task(run.task).class());
        let begins = Run { on, cores: u64::from(class.needs.cores), since: machine.had, is_there: false };
        let known = self.runs.entry(run).or_insert(begins);
        if !known.is_there {
            known.is_there = true;
            machine.wanted += known.cores;
        }
        self.rate(grid, now, on);
    }

    /// Its machine is out of reach.
    pub(crate) fn lost(&mut self, grid: &Grid, now: Time, run: RunId) {
        let Some(known) = self.runs.get_mut(&run).filter(|known| known.is_there) else { return };
        known.is_there = false;
        let Run { on, cores, .. } = *known;
        self.advance(now, on);
        self.machines[on.index()].wanted -= cores;
        self.rate(grid, now, on);
    }

    /// A run is over. Its mean share while it had any; all of a core where nothing is known of it.
    pub(crate) fn ended(&mut self, grid: &Grid, now: Time, run: RunId) -> f64 {
        self.lost(grid, now, run);
        let Some(Run { on, since, .. }) = self.runs.remove(&run) else { return 1.0 };
        let had = self.machines[on.index()].had;
        let running_s = had.running_s - since.running_s;
        if running_s > 0.0 { (had.seconds - since.seconds) / running_s } else { 1.0 }
    }

    /// What is known of the runs of some tasks is of no interest any more.
    pub(crate) fn forget(&mut self, grid: &Grid, now: Time, tasks: TaskRange) {
        let of_tasks = RunId::new(tasks.first(), 0)..=RunId::new(tasks.last(), u32::MAX);
        let runs: Vec<RunId> = self.runs.range(of_tasks).map(|(run, _)| *run).collect();
        for run in runs {
            self.ended(grid, now, run);
        }
    }

    /// Something about a machine changed, as the grid has it now.
    pub(crate) fn rate(&mut self, grid: &Grid, now: Time, on: MachineId) {
        self.advance(now, on);
        let (known, machine) = (grid.machine(on), &mut self.machines[on.index()]);
        let is_running = machine.wanted > 0 && known.capacity() > 0.0;
        machine.share = if is_running { known.share(machine.wanted) } else { 0.0 };
    }

    fn advance(&mut self, now: Time, on: MachineId) {
        if self.machines.len() <= on.index() {
            self.machines.resize(on.index() + 1, Machine::default());
        }
        let Machine { share, as_of, had, .. } = &mut self.machines[on.index()];
        if *share > 0.0 {
            let seconds = now.since(*as_of).seconds();
            had.seconds += *share * seconds;
            had.running_s += seconds;
        }
        *as_of = now;
    }
}
