//! What goes wrong, when, and how it is mended: as a seed draws it.

use crate::grid::Grid;
use crate::processes::kill;
use gleaner_testkit::random::Choices;
use std::time::{Duration, Instant, SystemTime};

/// Between two troubles, in milliseconds.
const PAUSE_MS: (usize, usize) = (200, 1_200);
/// Until what was killed is started again.
const DOWN_MS: (usize, usize) = (0, 1_500);
/// How long a link is cut; longer than a lease and its margin in the worst case.
const CUT_MS: (usize, usize) = (200, 20_000);

pub(crate) struct Trouble {
    choices: Choices,
    left: u64,
    done: u64,
    next: Instant,
    mends: Vec<(Instant, Mend)>,
    /// When something was killed, in nanoseconds since 1970.
    kills: Vec<u64>,
}

/// What makes a trouble good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mend {
    StartCoordinator,
    StartAgent(usize),
    HealLink(usize),
    GoOn(usize),
}

impl Trouble {
    pub(crate) fn new(seed: u64, count: u64) -> Self {
        let now = Instant::now();
        Self {
            choices: Choices::seeded(seed),
            left: count,
            done: 0,
            next: now,
            mends: Vec::new(),
            kills: Vec::new(),
        }
    }

    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// When something was killed, in nanoseconds since 1970.
    pub(crate) fn kills(&self) -> &[u64] {
        &self.kills
    }

    /// Whether there is trouble to come.
    pub(crate) fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// Mends what is due, and does the next thing if its time has come.
    pub(crate) fn make(&mut self, grid: &mut Grid) {
        self.mend(grid);
        if self.next > Instant::now() {
            return;
        }
        let did = match self.choices.below(12) {
            0 | 1 => self.kill_coordinator(grid),
            2..=5 => self.kill_agent(grid),
            6 => self.kill_part(grid, "keeper"),
            7 => self.kill_part(grid, "mind"),
            8 => self.kill_all_parts(grid),
            9 => self.stall_agent(grid),
            _ => self.cut_link(grid),
        };
        let Some(what) = did else { return };
        (self.done, self.left) = (self.done + 1, self.left - 1);
        eprintln!("{:4} {what}", self.done);
        self.next = self.after(PAUSE_MS);
    }

    /// Kills something now, if it is there.
    pub(crate) fn kill_something(&mut self, grid: &mut Grid) {
        let did = match self.choices.below(10) {
            0..=2 => self.kill_coordinator(grid),
            3..=6 => self.kill_agent(grid),
            7 => self.kill_part(grid, "keeper"),
            8 => self.kill_part(grid, "mind"),
            _ => self.kill_all_parts(grid),
        };
        if let Some(what) = did {
            eprintln!("{:4} {what}", self.kills.len());
        }
    }

    /// Mends what is due.
    pub(crate) fn mend(&mut self, grid: &mut Grid) {
        grid.expect_all_alive();
        let now = Instant::now();
        let due: Vec<_> = self.mends.extract_if(.., |(at, _)| *at <= now).collect();
        for (_, mend) in due {
            apply(grid, mend);
        }
    }

    /// Mends everything, now.
    pub(crate) fn heal(&mut self, grid: &mut Grid) {
        for (_, mend) in std::mem::take(&mut self.mends) {
            apply(grid, mend);
        }
    }

    fn after(&mut self, (low, high): (usize, usize)) -> Instant {
        Instant::now() + Duration::from_millis((low + self.choices.below(high - low + 1)) as u64)
    }

    fn mend_after(&mut self, range: (usize, usize), mend: Mend) {
        let at = self.after(range);
        self.mends.push((at, mend));
    }

    fn kill_coordinator(&mut self, grid: &mut Grid) -> Option<String> {
        if !grid.is_serving() {
            return None;
        }
        self.note_kill();
        grid.kill_coordinator();
        self.mend_after(DOWN_MS, Mend::StartCoordinator);
        Some("the coordinator is killed".to_owned())
    }

    fn kill_agent(&mut self, grid: &mut Grid) -> Option<String> {
        let index = self.choices.below(grid.machines.len());
        let machine = &mut grid.machines[index];
        if !machine.is_running() {
            return None;
        }
        self.note_kill();
        machine.kill();
        let what = format!("the agent of {} is killed", machine.name);
        self.mend_after(DOWN_MS, Mend::StartAgent(index));
        Some(what)
    }

    /// Nobody is left who would end what runs.
    fn kill_all_parts(&mut self, grid: &mut Grid) -> Option<String> {
        let index = self.choices.below(grid.machines.len());
        let machine = &mut grid.machines[index];
        if !machine.is_running() {
            return None;
        }
        self.note_kill();
        machine.kill_all_parts();
        let what = format!("agent, keeper and minders of {} are killed at once", machine.name);
        self.mend_after(DOWN_MS, Mend::StartAgent(index));
        Some(what)
    }

    /// Longer than a lease, or not.
    fn stall_agent(&mut self, grid: &Grid) -> Option<String> {
        let index = self.choices.below(grid.machines.len());
        let machine = &grid.machines[index];
        if !machine.is_running() || self.mends.iter().any(|(_, mend)| *mend == Mend::GoOn(index)) {
            return None;
        }
        machine.stall();
        let what = format!("the agent of {} is stopped", machine.name);
        self.mend_after(CUT_MS, Mend::GoOn(index));
        Some(what)
    }

    fn note_kill(&mut self) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later than 1970");
        self.kills.push(now.as_nanos() as u64);
    }

    fn kill_part(&mut self, grid: &Grid, called: &str) -> Option<String> {
        let machine = &grid.machines[self.choices.below(grid.machines.len())];
        let parts = machine.parts(called);
        let pid = *parts.get(self.choices.below(parts.len().max(1)))?;
        self.note_kill();
        kill(pid);
        Some(format!("`gleaner {called}` of {} is killed", machine.name))
    }

    fn cut_link(&mut self, grid: &Grid) -> Option<String> {
        let index = self.choices.below(grid.machines.len());
        if self.mends.iter().any(|(_, mend)| *mend == Mend::HealLink(index)) {
            return None;
        }
        grid.machines[index].wire.cut();
        self.mend_after(CUT_MS, Mend::HealLink(index));
        Some(format!("the link of {} is cut", grid.machines[index].name))
    }
}

fn apply(grid: &mut Grid, mend: Mend) {
    match mend {
        Mend::StartCoordinator => grid.launch(),
        Mend::StartAgent(index) => grid.machines[index].start(),
        Mend::HealLink(index) => grid.machines[index].wire.heal(),
        // One that was killed meanwhile is another by now, which goes on anyway.
        Mend::GoOn(index) if grid.machines[index].is_running() => grid.machines[index].go_on(),
        Mend::GoOn(_) => {}
    }
}
