//! Elleuch, Chourou, Jemni: *Dynamic Scheduling of Independent Tasks with a Budget Constraint on a Desktop Grid*. The
//! simulations of its section 5, and what else its text leaves to be tried.
//!
//! Every two minutes up to 200 tasks arrive, for two weeks; all that wait are planned together on volunteers' machines
//! that come, go and change their speed, for no more than a budget that is recharged with each batch. Machines follow
//! traces drawn by [`Profile`](gleaner_workload::availability::Profile), since those of the paper are not public.

mod case;
mod claims;
mod drawn;
mod experiments;
mod findings;
mod outcome;
mod patterns;
mod plots;
mod readings;
mod report;
mod setups;
mod tables;

pub use case::{Case, Heuristic, Month, Part, Rule, Variant};
pub use experiments::Experiments;
pub use findings::Findings;
pub use outcome::{EDITION, Outcome};
pub use readings::READINGS;

/// So many patterns of arrivals where nobody says how many: a pattern takes minutes, and the paper's 50 hours.
pub const SEEDS: u64 = 5;

/// R: seconds between two batches.
pub const PERIOD_S: u32 = 120;
/// How long tasks arrive, in days.
pub const DAYS: f64 = 14.0;
/// The shortest and the longest task, in operations.
pub const LENGTHS: (f64, f64) = (5e6, 12e6);
/// The most tasks that arrive together.
pub const ARRIVALS_MAX: usize = 200;

/// B: credits for each period. The paper names 3·10¹¹ and 7·10¹¹ and says that one version needs "a little more than"
/// the first; what else is on the axes of its figures is not in its text.
pub const BUDGETS: [u64; 5] =
    [300_000_000_000, 350_000_000_000, 400_000_000_000, 500_000_000_000, 700_000_000_000];
/// A little more than 3·10¹¹.
pub const SCARCE: u64 = BUDGETS[1];
/// Where the paper's last version catches up.
pub const AMPLE: u64 = BUDGETS[4];

/// Seconds between two batches that were tried: the paper tuned them by hand from a bound of 70.
pub const PERIODS_S: [u32; 6] = [70, 80, 90, 100, 120, 150];
