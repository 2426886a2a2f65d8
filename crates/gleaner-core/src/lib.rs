//! One scheduler for two worlds: the simulator and the live grid both feed it [`Event`]s and carry out its
//! [`Command`]s.
//!
//! ```text
//! outside ──Event──▶ Grid::apply ──Change──▶ Policy::observe
//!                                            Policy::propose ──Decision──▶ Grid::admit ──Command──▶ outside
//! ```
//!
//! Invariants, each held by a test:
//!
//! - **Nothing here reads a clock, a file, the environment or a source of randomness.** Time is an argument.
//! - **The same events and configuration give the same decisions and commands, byte for byte.** Iteration is over ordered
//!   containers; arithmetic is + − × ÷ only.
//! - **The grid holds all history.** A policy keeps only indices that it can rebuild from the grid.
//! - **[`Scheduler`] is the sole owner of mutable state.**

mod ad;
mod alarm;
mod chance;
mod change;
mod checking;
mod classes;
mod command;
mod decision;
mod effects;
mod event;
pub mod explain;
mod grid;
mod lending;
mod occasion;
mod parts;
mod policy;
mod room;
mod scheduler;
mod seen;
mod size;
mod ties;

pub use ad::{Ad, Work};
pub use alarm::Alarm;
pub use chance::{Chance, Purpose};
pub use change::Change;
pub use checking::{Answer, Checking, Likeness, Owner, Said, Trusting};
pub use classes::{
    Classes, Demand, InvalidClass, MachineClass, QUALITY, Tags, TaskClass, WATTS, WATTS_USUAL, WOULD_PAY,
};
pub use command::{Command, StopReason};
pub use decision::{Decision, Queue, Refusal};
pub use event::{Event, RunEnd, SiteState};
pub use explain::{Condition, Explanation, Remedy, RuledOut};
pub use grid::{
    ALONE_MAX, Account, Accounts, Asked, Availability, Belief, BrokenInvariant, Budget, Catalogue, Charged,
    Comparison, Ends, FORGIVEN_AFTER, Favours, Given, Grid, GridConfig, Judgement, Loan, Loans, Machine,
    Migration, OwnRank, Plans, Run, Scope, SentRun, Stage, Sum, Task, TaskState, Took, Trust, Vote,
};
pub use lending::{Lending, LendingEvent, LendingRefusal, Seek, Want};
pub use occasion::{Cause, Occasion, Settled};
pub use parts::{PARTS_MAX, Part};
pub use policy::Policy;
pub use room::{Needs, Room};
pub use scheduler::{DECISIONS_MAX, Diverged, Rule, Scheduler};
pub use seen::Seen;
pub use size::size;
pub use ties::{exceeds, least_above, tie_threshold};
