//! Da Silva, Nesmachnow: *Heterogeneous Resource Allocation in the OurGrid Middleware: A Greedy Approach*. The experiments of its
//! section 6, and the Network of Favours that it builds on.
//!
//! What the paper leaves open was fixed in `docs/dasilva.md` before anything was compared.

mod bags;
mod band;
mod claims;
mod drawn;
mod experiments;
mod favours;
mod instances;
mod keeping;
mod measures;
mod plots;
mod report;
mod table_1;
mod table_2;

pub use bags::Bagged;
pub use band::Band;
pub use drawn::gantt;
pub use experiments::{Case, Experiments, Findings, Pair, largest};
pub use favours::{Contention, Need, Shares};
pub use instances::{READINGS, Reading};
pub use keeping::EDITION;
pub use measures::{Judged, Measured};
pub use table_1::{PROCESSORS, Processor, processors};
pub use table_2::{CELLS, Cell};

/// Instances of each cell, unless said otherwise: as many as the paper had.
pub const SEEDS: u64 = 30;
/// Without `--full`, no instance has more jobs than this.
pub const JOBS_MAX: u32 = 4_000;
