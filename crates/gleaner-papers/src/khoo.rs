//! Khoo, Veeravalli, Hung, See: *A Co-ordinate Based Resource Allocation Strategy for Grid Environments*. The simulation of
//! its section V, table I, and what else its text leaves to be tried.
//!
//! Two hundred rigid jobs arrive over three days at twenty sites; each holds its processors from the start of distribution to
//! the end of stage-out. What the paper leaves open is chosen in `khoo/scenario.toml`, each choice with its reason, and
//! swept.

mod case;
mod claims;
mod drawn;
mod experiments;
mod findings;
mod markdown;
mod plots;
mod readings;
mod report;

pub use case::{Case, Group, Log};
pub use drawn::gantt;
pub use experiments::{Experiments, Watch};
pub use findings::{Findings, Metric, Outcome};
pub use readings::READINGS;

/// The scenario that all others are made from.
pub const SCENARIO: &str = include_str!("khoo/scenario.toml");

/// Table I: average wait, queue completion, average utilisation in per cent.
pub const TABLE: [(&str, [f64; 3]); 3] = [
    (BACKFILL, [2579.43, 187_302.22, 57.78]),
    (REP, [1500.40, 320_362.16, 63.08]),
    (MRS, [1266.71, 152_810.98, 74.46]),
];

/// The paper's names, and ours.
pub const BACKFILL: &str = "BACKFILL";
/// Job replication.
pub const REP: &str = "REP";
/// The paper's own.
pub const MRS: &str = "MRS";
/// Ours.
pub const SITES: &str = "gleaner/sites";
