//! Cavalieri, Monforte, Scibilia: *Proposing and Evaluating Allocation Algorithms in a Grid Environment*: figures 3 to 5, and
//! what the paper did not ask: every choice and belief against the age of the index.

mod ages;
mod case;
mod claims;
mod drawn;
mod experiments;
mod plots;
mod readings;
mod report;
mod rule;
mod sites;
mod standings;

pub use case::{Case, Ttl, Variant, Work};
pub use drawn::gantt;
pub use experiments::{Experiments, Findings, Part};
pub use readings::READINGS;
pub use rule::Rule;
pub use sites::setup;

/// Jobs of a run.
pub const JOBS: usize = 1500;

/// The first of them, which do not count.
pub const WARM_UP: usize = 300;

/// The mean interarrival times of figures 3 and 4, in seconds.
pub const LIGHT_S: [f64; 8] = [50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 120.0, 150.0];

/// Those of figure 5.
pub const HEAVY_S: [f64; 8] = [720.0, 730.0, 740.0, 750.0, 760.0, 770.0, 780.0, 790.0];

/// Runs for each point of the figures, where nobody says how many.
pub const SEEDS: u64 = 30;

/// Seeds of what is not in a figure: enough to tell rules apart that differ by what matters.
pub const SEEDS_BESIDES: u64 = 10;
