//! Policies are recipes: a choice of parts, so that what one paper found can be used with what another found.
//!
//! A [`PolicySpec`] is a policy as users write it, whoever they write it to; it resolves to a [`Recipe`], which names the
//! parts, and [`Recipe::build`] makes the policy. [`Preset`]s are the recipes that carry a paper's name.
//!
//! - [`parts`] has a room for each part, with its choices.
//! - [`spec`] reads and changes what users write.
//! - [`broker`] sends each task to a site, by what sites publish and where files are.
//! - [`batcher`] plans all waiting tasks together, every so often; `spending` divides a budget among tasks.
//! - [`queue`] has rigid jobs wait in one line, and fills gaps by when what runs is believed to end.
//! - [`sites`] has rigid jobs wait for one site or several, over which a job may be split.
//! - [`fleet`] is the index that finds the machine with the best score without scoring each machine.
//! - [`ends`] tells when a task would be done where.
//! - [`peer`] is a site among others, which lend each other machines.
//! - [`placement`] and [`relocation`] say what is looked for; [`matchmaker`] says when.

mod any_policy;
mod backlog;
mod batch;
pub mod batcher;
pub mod broker;
mod copies;
mod drawing;
pub mod ends;
mod error;
pub mod fleet;
mod following;
mod forecast;
pub mod matchmaker;
mod open_machines;
pub mod parts;
pub mod peer;
pub mod placement;
pub mod presets;
pub mod queue;
pub mod recipe;
pub mod relocation;
mod remaining;
pub mod sites;
pub mod spec;
mod spending;
mod standing;
mod tournament;
mod wait_for_all;

pub use any_policy::AnyPolicy;
pub use batcher::Batcher;
pub use broker::{Broker, NoCandidate};
pub use error::PolicyError;
pub use forecast::{LABEL, Source};
pub use matchmaker::Matchmaker;
pub use parts::ahead::Ahead;
pub use parts::aim::Aim;
pub use parts::belief::Belief;
pub use parts::budget::{Cheapest, Level, Savings, Spending};
pub use parts::choose::Choose;
pub use parts::favours::{Favours, Overflow, Peering, Reach, Recalling};
pub use parts::lengths::Lengths;
pub use parts::order::TaskOrder;
pub use parts::queue::{Backfill, Correction, Fill, Queueing};
pub use parts::rank::{Candidates, Rank, Until};
pub use parts::relocate::{Mover, Relocate};
pub use parts::replicate::Replicate;
pub use parts::score::Score;
pub use parts::sites::SiteRule;
pub use parts::staying::Staying;
pub use parts::when::{Holding, Replan, When};
pub use parts::{Choice, Input};
pub use peer::Peer;
pub use presets::Preset;
pub use queue::{Backfiller, HeldBack, Names, Reservation, Word};
pub use recipe::{Goal, Recipe};
pub use sites::dispatcher::Dispatcher;
pub use spec::{PolicySpec, Tree, as_set};
pub use tournament::Tournament;
