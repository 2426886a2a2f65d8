//! Bertasi, Pettarin, Scquizzato, Silvestri: *A Novel Resource-Driven Job Allocation Scheme for Desktop Grid
//! Environments*. The grids, the job sets and the owners' loads of its section 3 and its appendix.
//!
//! Kinds of operations are, in order, CPU (GHz), disk (MB/s) and network (KB/s).

pub mod claims;
mod compared;
pub mod distributed;
mod drawn;
mod experiments;
pub mod figure_1;
pub mod figure_2;
pub mod grids;
pub mod jobs;
pub mod late;
pub mod learnt;
pub mod movers;
pub mod owners;
pub mod permutations;
mod plots;
mod readings;
mod report;
pub mod scheme;
pub mod setups;
mod tables;
mod two_days;

pub use compared::{Compared, Conduct, Row};
pub use experiments::{Experiments, FigureId, Findings};
pub use readings::READINGS;

/// W: how many real operations of each kind one logical operation stands for.
pub const WEIGHTS: [f64; 3] = [2e-5, 0.1, 0.1];

/// C₀ to C₄ (table 1).
pub const COMPOSITIONS: [[f64; 3]; 5] =
    [[1.0, 0.0, 0.0], [0.7, 0.1, 0.2], [0.6, 0.0, 0.4], [0.5, 0.5, 0.0], [0.2, 0.8, 0.0]];

/// N: moves of a relocator after one event, in all experiments but figure 1.
pub const MOVES_MAX: u32 = 3;

/// θ: the gain that a move must exceed, in all experiments but figure 1.
pub const GAIN_MIN: f64 = 0.10;

/// θ of figure 1's three curves.
pub const FIGURE_1_GAINS: [f64; 3] = [0.10, 0.05, 0.01];

/// Runs for each point where nobody says how many: with the paper's five, intervals are too wide to decide anything.
pub const SEEDS: u64 = 50;
