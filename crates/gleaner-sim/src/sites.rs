//! Sites with many processors each, jobs that hold some of them from the start of distribution to the end of stage-out, and
//! the meta-schedulers that send jobs there.
//!
//! A meta-scheduler is a party; a site's local manager is part of what surrounds it, and alone knows what is free. **A job's
//! room is reserved and acknowledged on all its sites before anything is sent there**, and given up on all of them where one
//! refuses or stays silent; so several meta-schedulers book nothing twice.
//!
//! - [`SitesSetup`] is all that a run is given; [`SitesOutcome`] what comes of it.
//! - **What a letter says is checked before anybody acts on it** (`checked`).
//! - `manager` is a site's own account of its room, `notes` the requirements that it remembers, `news` what is told of both, `post` sees to it that what is said arrives,
//!   `orders` has how far each run is, `world` puts them together, and its `stages` are what moves a run on.

mod checked;
mod letters;
mod manager;
mod news;
mod notes;
mod orders;
mod outcome;
mod post;
mod setup;
mod world;

pub use letters::{Slip, Word};
pub use outcome::{JobOutcome, SitesOutcome, Used};
pub use setup::{Job, Protocol, Site, SitesSetup, Staging};
pub use world::SitesWorld;

use crate::{Mail, Parties, Way};
use gleaner_core::{Policy, Scheduler};

/// Runs the jobs to their ends, one policy for all meta-schedulers.
pub fn simulate<P: Policy>(setup: &SitesSetup, mut policy: impl FnMut() -> P) -> SitesOutcome {
    let mut parties = parties(setup, &mut policy);
    parties.run();
    parties.outside().outcome()
}

/// The same, before anything happened.
pub fn parties<'a, P: Policy>(
    setup: &'a SitesSetup,
    policy: &mut impl FnMut() -> P,
) -> Parties<'a, P, SitesWorld<'a>> {
    let schedulers = (0..setup.schedulers.max(1)).map(|_| Scheduler::new(SitesSetup::grid(), policy()));
    let Protocol { delay, loss, .. } = setup.protocol;
    let mail = Mail::new(setup.seed, Way { delay, loss });
    Parties::new(schedulers.collect(), SitesWorld::new(setup), mail)
}
