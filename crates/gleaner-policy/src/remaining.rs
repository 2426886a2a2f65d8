//! SOCIAL weighed by what remains: each task counts as much as it is believed to have left to do.
//!
//! Σ n·h·l/(1−λ) is what all tasks of a machine take together until they are done if nothing changes, with l the operations
//! that a task has left, where the plain score has one operation of each. A newcomer costs ((n+1)·h·l + Σ h·l)/(1−λ), and a
//! move gains as much as the sum over both machines shrinks, relative to the moved task's own n·h·l/(1−λ) where it was. A task
//! that is believed to end at once weighs nothing and is not moved; one that would begin anew elsewhere weighs there all that it is.
//!
//! What is left of each run is another number at each moment, so that no index is kept: **a decision costs O(machines + runs)**,
//! and a search for a move away from a machine that times the runs there.

use crate::fleet::Fleet;
use crate::placement::{self, Within};
use crate::relocation::{Move, Turn, View};
use gleaner_core::{Grid, Machine, tie_threshold};
use gleaner_units::{MachineId, Ops, RunId, TaskClassId, TaskId, Time};

/// How long the task of a run is believed to be.
type Lengths<'a> = &'a dyn Fn(RunId) -> Option<Ops>;

/// The tasks at one moment, each with what it is believed to have left.
#[derive(Clone, Copy)]
pub(crate) struct Remaining<'a> {
    grid: &'a Grid,
    now: Time,
    lengths: Lengths<'a>,
}

impl<'a> Remaining<'a> {
    pub(crate) fn new(grid: &'a Grid, now: Time, lengths: Lengths<'a>) -> Self {
        Self { grid, now, lengths }
    }

    /// The operations that a run has left.
    fn left(&self, run: RunId) -> f64 {
        let length = (self.lengths)(run).map_or(0.0, Ops::amount);
        (length - self.grid.ops_done(self.now, run)).max(0.0)
    }

    /// Σ h·l over the tasks on a machine.
    fn sum(&self, machine: &Machine) -> f64 {
        machine.counts().fold(0.0, |sum, (class, _)| {
            let h = self.grid.classes().seconds_per_op(class, machine.class());
            // What cannot run there has no time there.
            if !h.is_finite() {
                return sum;
            }
            machine.runs_of(class).fold(sum, |sum, run| sum + h * self.left(run))
        })
    }

    /// The score of starting a task of that length on a machine that can run it; the highest wins.
    fn placement(&self, (class, length): (TaskClassId, f64), on: MachineId) -> f64 {
        let machine = self.grid.machine(on);
        let own = self.grid.seconds_per_op(class, on) * length;
        -(f64::from(machine.count() + 1) * own + self.sum(machine)) / (1.0 - machine.load())
    }

    /// The machine for a task of that length now, among equals the lowest.
    pub(crate) fn place(
        &self,
        fleet: &Fleet,
        (class, length): (TaskClassId, f64),
        within: Within<'_>,
    ) -> Option<MachineId> {
        let able = placement::able(self.grid, fleet, class, within);
        let scored: Vec<(f64, MachineId)> =
            able.map(|on| (self.placement((class, length), on), on)).collect();
        let threshold = tie_threshold(scored.iter().map(|(score, _)| *score).max_by(f64::total_cmp)?);
        scored.into_iter().filter(|(score, _)| *score >= threshold).map(|(_, on)| on).min()
    }

    /// The machines that can take a task now and that it likes best, the best first, with their scores: for explanations.
    pub(crate) fn ratings(&self, class: TaskClassId, length: f64) -> Vec<(MachineId, f64)> {
        let able = placement::able(self.grid, &Fleet::of(self.grid), class, Within::default());
        let mut ratings: Vec<_> = able.map(|on| (on, self.placement((class, length), on))).collect();
        ratings.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ratings
    }

    /// What a move gains, for a run that is on `from`; nothing where it is believed to end at once.
    fn gain(
        &self,
        (class, run): (TaskClassId, RunId),
        (from, before): (MachineId, f64),
        (to, there): (MachineId, f64),
    ) -> Option<f64> {
        let (source, target) = (self.grid.machine(from), self.grid.machine(to));
        let left = self.left(run);
        if left <= 0.0 {
            return None;
        }
        let own = self.grid.seconds_per_op(class, from) * left;
        if own == f64::INFINITY {
            // It cannot run where it is.
            return Some(f64::INFINITY);
        }
        let n = f64::from(source.count());
        // n·Σ less (n − 1)·(Σ − own): without a difference of large sums.
        let relief = before + (n - 1.0) * own;
        let free = 1.0 - source.load();
        if free <= 0.0 {
            // Both are infinite: the limit of their ratio as the source's load nears 1.
            return Some(relief / (n * own));
        }
        let length = if self.grid.classes().task_class(class).restarts {
            (self.lengths)(run).map_or(0.0, Ops::amount)
        } else {
            self.left(run)
        };
        let newcomer = self.grid.seconds_per_op(class, to) * length;
        let burden = ((f64::from(target.count()) + 1.0) * newcomer + there) / (1.0 - target.load());
        Some((relief / free - burden) / (n * own / free))
    }
}

/// Which task moves where, by what remains.
pub(crate) struct Moves<'a> {
    pub(crate) view: View<'a>,
    pub(crate) remaining: Remaining<'a>,
}

/// A move with its gain: the machine at the end that is not given, and when the task's turn is.
struct Candidate {
    gain: f64,
    other: MachineId,
    turn: Turn,
}

impl Moves<'_> {
    /// The best move away from a machine.
    pub(crate) fn push(&self, from: MachineId) -> Option<Move> {
        let sums = self.sums();
        let all = self.targets().flat_map(|to| self.between((from, to), to, &sums));
        choose(all.collect()).map(|(to, task)| (task, to))
    }

    /// The best move to a machine.
    pub(crate) fn pull(&self, to: MachineId) -> Option<Move> {
        if !self.view.grid.machine(to).takes_tasks() {
            return None;
        }
        let sums = self.sums();
        let all = self.machines().flat_map(|from| self.between((from, to), from, &sums));
        choose(all.collect()).map(|(_, task)| (task, to))
    }

    /// The best move anywhere.
    pub(crate) fn rebalance(&self) -> Option<Move> {
        let sums = self.sums();
        let ends = self.machines().flat_map(|from| self.targets().map(move |to| (from, to)));
        let all = ends.flat_map(|(from, to)| self.between((from, to), to, &sums));
        choose(all.collect()).map(|(to, task)| (task, to))
    }

    fn machines(&self) -> impl Iterator<Item = MachineId> + use<> {
        (0..self.view.grid.machines().len()).map(MachineId::new)
    }

    fn targets(&self) -> impl Iterator<Item = MachineId> + '_ {
        self.machines().filter(|to| self.view.grid.machine(*to).takes_tasks())
    }

    /// By machine.
    fn sums(&self) -> Vec<f64> {
        self.view.grid.machines().iter().map(|machine| self.remaining.sum(machine)).collect()
    }

    /// All moves that are worth their cost.
    fn between(&self, (from, to): (MachineId, MachineId), other: MachineId, sums: &[f64]) -> Vec<Candidate> {
        let source = self.view.grid.machine(from);
        let classes = source.counts().map(|(class, _)| class);
        let movable = classes.filter(|class| self.view.may_move(*class, from, to));
        let runs = movable.flat_map(|class| source.running_of(class).map(move |run| (class, run)));
        let ends = ((from, sums[from.index()]), (to, sums[to.index()]));
        let worthwhile = runs.filter_map(|(class, run)| {
            let gain = self.remaining.gain((class, run), ends.0, ends.1)?;
            let is_worth =
                self.view.rule.is_enough(gain) && self.view.is_worth((class, run), gain, (from, to));
            is_worth.then(|| Candidate { gain, other, turn: self.view.turn(run) })
        });
        worthwhile.collect()
    }
}

/// The highest gain; among equals the lowest machine, then the task whose turn is first.
fn choose(all: Vec<Candidate>) -> Option<(MachineId, TaskId)> {
    let threshold = tie_threshold(all.iter().map(|candidate| candidate.gain).max_by(f64::total_cmp)?);
    let tied = all.into_iter().filter(|candidate| candidate.gain >= threshold);
    tied.map(|candidate| (candidate.other, candidate.turn)).min().map(|(other, turn)| (other, turn.task))
}
