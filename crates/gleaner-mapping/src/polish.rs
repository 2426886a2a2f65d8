//! Improves any mapping: simulated annealing on how far the machines lie above the lower bound.
//!
//! - **Energy**: the sum over machines of (load − aim)², where positive. A move gives a task to another machine, or
//!   lets two tasks on two machines change places; both cost O(1).
//! - **Rounds**: the budget is divided into [`ROUNDS`] coolings, one after the other, since how well one ends is
//!   mostly luck. The first aims at the bound; each later one half way from there to the best so far, since a
//!   mapping that is to be shorter needs no machine to be less busy than its others.
//! - **Prices guide it.** Σ price·load = bound + what all tasks cost beyond their cheapest machine, and no makespan
//!   is below Σ price·load. So a mapping close to the bound puts hardly any task where it costs much more, and most
//!   moves are drawn from the machines where a task costs at most a thirty-second of a mean task more. One in eight is
//!   drawn from all machines, for instances in which even the best mapping is far from the bound.
//! - **The start** is the linear program's solution, rounded: even where a heuristic's mapping is shorter, more of
//!   its tasks are where they cost least. Only where it is much longer the given mapping is the start. The result is
//!   never longer than the given mapping.
//!
//! No clock is read: the caller says how much of its budget is used, and the temperatures follow from that. For a
//! given instance, seed, and sequence of calls the result is the same on every machine: PCG by name, thresholds by
//! `libm`. Cost: some 15 ns a move for 512 × 16; 30 bytes a task and 4 for each machine that is cheap for it.

mod guide;
mod state;

use crate::Matrix;
use crate::bound::Bound;
use crate::mapping::Mapping;
use guide::{Guide, below};
use rand_core::Rng;
use rand_pcg::Pcg64;
use state::State;

/// This module's random stream among those of a seed.
const STREAM: u128 = 0x706f_6c69_7368;
/// How many times the temperature falls.
pub const ROUNDS: u32 = 6;
/// How far from the bound to the best makespan so far a round aims, but for the first.
const AIM: f64 = 0.5;
/// The temperatures at the start and at the end of a round, in squares of a mean task's part of the bound.
const HOT: f64 = 0.5;
const COLD: f64 = 1e-3;
/// How much longer than the given mapping the rounded solution may be to be the start.
const ROUNDED_MAX: f64 = 1.5;
/// After at least so many moves, and as many as there are tasks, loads are added up again, so that no error grows.
const SETTLED_AFTER: u64 = 1 << 14;
/// Of so many moves one may go to any machine.
const WIDE_ONE_IN: u64 = 8;
/// How finely the thresholds for a rise in energy are drawn.
const THRESHOLDS: usize = 1 << 12;

/// A mapping while it is improved.
pub struct Polisher<'a> {
    guide: Guide<'a>,
    state: State<'a>,
    random: Pcg64,
    /// −ln of the middle of each of the equal parts of 0 to 1.
    thresholds: Vec<f64>,
    bound: f64,
    /// The energy of one mean task above the bound.
    scale: f64,
    given: Mapping,
    round: u32,
    moves: u64,
    /// How many were made when the loads were last added up.
    settled_at: u64,
}

impl<'a> Polisher<'a> {
    /// Starts from `given`, a mapping of `matrix` to idle machines.
    ///
    /// # Panics
    /// If `given` or `bound` is of another instance.
    pub fn new(matrix: &'a Matrix, given: &Mapping, bound: &Bound, seed: u64) -> Self {
        let given = Mapping::of(matrix, given.assignment.clone());
        let rounded = Mapping::of(matrix, bound.rounded.clone());
        let start = if rounded.makespan < ROUNDED_MAX * given.makespan { rounded } else { given.clone() };
        let mean = bound.value * matrix.machines() as f64 / matrix.tasks() as f64;
        let middle = |part: usize| -libm::log((part as f64 + 0.5) / THRESHOLDS as f64);
        Self {
            guide: Guide::new(matrix, bound),
            state: State::new(matrix, start, bound.value),
            random: Pcg64::new(u128::from(seed), STREAM),
            thresholds: (0..THRESHOLDS).map(middle).collect(),
            bound: bound.value,
            scale: mean * mean,
            given,
            round: 0,
            moves: 0,
            settled_at: 0,
        }
    }

    /// Tries so many moves, when `progress` of the whole budget, from 0 to 1, is used.
    pub fn advance(&mut self, moves: u64, progress: f64) {
        let rounds = progress.clamp(0.0, 1.0) * f64::from(ROUNDS);
        let round = (rounds as u32).min(ROUNDS - 1);
        if round != self.round {
            self.round = round;
            self.state.aim_at(self.bound + AIM * (self.makespan() - self.bound));
        }
        let heat = self.scale * HOT * libm::pow(COLD / HOT, rounds - f64::from(round));
        for _ in 0..moves {
            self.attempt(heat);
        }
        self.moves += moves;
        if self.moves - self.settled_at >= SETTLED_AFTER.max(self.guide.tasks() as u64) {
            self.settled_at = self.moves;
            self.state.settle();
        }
    }

    /// How many moves were tried.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The shortest makespan so far.
    pub fn makespan(&self) -> f64 {
        self.state.best_makespan().min(self.given.makespan)
    }

    /// Whether no mapping can be shorter.
    pub fn is_optimal(&self) -> bool {
        self.makespan() <= self.bound
    }

    /// The shortest mapping so far.
    pub fn into_best(self) -> Mapping {
        let best = Mapping::of(self.state.matrix(), self.state.into_best());
        if best.makespan < self.given.makespan { best } else { self.given }
    }

    #[inline]
    fn attempt(&mut self, heat: f64) {
        let (where_to, how) = (self.random.next_u64(), self.random.next_u64());
        let wide = how.is_multiple_of(WIDE_ONE_IN);
        let task = below(where_to >> 32, self.guide.tasks());
        let to = self.guide.machine(task, where_to & u64::from(u32::MAX), wide);
        if to == self.state.machine_of(task) {
            return;
        }
        let rise = heat * self.thresholds[(how >> 52) as usize];
        let others = self.state.tasks_on(to);
        if how & WIDE_ONE_IN == 0 || others.is_empty() {
            self.state.try_move(task, to, rise);
            return;
        }
        let other = others[below((how >> 16) & u64::from(u32::MAX), others.len())] as usize;
        if wide || self.guide.is_cheap(other, self.state.machine_of(task)) {
            self.state.try_swap(task, other, rise);
        }
    }
}
