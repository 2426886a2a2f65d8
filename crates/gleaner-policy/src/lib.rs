//! Policies are recipes: a choice of parts, so that what one paper found can be used with what another found.
//!
//! A [`Recipe`] names the parts; [`Recipe::build`] makes the policy. [`presets`] lists the recipes that carry a
//! paper's name.
//!
//! - [`score`] holds the papers' formulas, for one task class and one machine at a time.
//! - [`batcher`] plans all waiting tasks together, every so often; [`spending`] divides a budget among tasks.
//! - [`fleet`] is the index that finds the machine with the best score without scoring each machine.
//! - [`outlook`] tells when a task would be done where.
//! - [`placement`] and [`relocation`] say what is looked for; [`matchmaker`] says when.

mod any_policy;
mod backlog;
mod batch;
pub mod batcher;
mod crew;
pub mod fleet;
pub mod matchmaker;
pub mod outlook;
pub mod placement;
pub mod presets;
pub mod recipe;
pub mod relocation;
pub mod score;
pub mod spending;

pub use any_policy::AnyPolicy;
pub use batcher::Batcher;
pub use matchmaker::Matchmaker;
pub use presets::{PRESETS, Preset};
pub use recipe::{Aim, Batching, Level, Matching, Order, Recipe, Relocate, Replan, UnknownName, When};
pub use score::Score;
pub use spending::{Savings, Spending};
