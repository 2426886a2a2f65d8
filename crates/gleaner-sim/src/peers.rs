//! Sites that lend each other workers: each a scheduler of its own, with a discovery service, and mail between them.
//!
//! - [`PeersSetup`] is all that a run is given; [`peers`] makes the parties of it.
//! - `letters` is what they say to each other; `discovery` is who knows of whom.
//! - A `desk` stands between each scheduler and its letters: it translates ids, and **what a peer sends is checked there
//!   and nowhere else**. What it refuses is shown in [`PeersWorld::refused`].
//! - [`PeersWorld`] has the true workers and tasks. A task on another site's worker takes its inputs there first.

mod absences;
mod accounts;
mod believed;
mod desk;
mod discovery;
mod letters;
mod post;
mod results;
mod setup;
mod spans;
mod workers;
mod world;

pub use accounts::worth;
pub use letters::{Loan, Word};
pub use results::{PeerOutcome, PeersOutcome};
pub use setup::{
    Absence, BrokerAbsence, Forged, Frail, InvalidSetup, Job, Outage, PeersSetup, Silence, Site, Turnover,
    Unrelated,
};
pub use workers::{Ended, RUNS_KEPT_MAX, Ran};
pub use world::PeersWorld;

use crate::mail::Mail;
use crate::parties::Parties;
use believed::Believed;
use gleaner_core::{Event, Grid, GridConfig, LendingEvent, Migration, Policy, Scheduler};
use gleaner_units::{MachineClassId, MachineId, PartyId, Time};

/// A run before anything happened, where each peer follows the policy that is made for it.
///
/// # Panics
/// Where the setup is not whole: see [`PeersSetup::check`].
pub fn peers<P: Policy>(setup: &PeersSetup, policy: impl Fn(usize) -> P) -> Parties<'_, P, PeersWorld<'_>> {
    if let Err(broken) = setup.check() {
        panic!("no run can be made of this setup: {broken}");
    }
    let believed = Believed::of(setup);
    let schedulers = setup.peers.iter().enumerate();
    let schedulers = schedulers.map(|(index, site)| {
        let config = GridConfig { weights: setup.weights.clone(), migration: Migration::default() };
        let mut scheduler = Scheduler::new(Grid::new(config), policy(index));
        let mut tell = |event: Event| {
            scheduler.apply(Time::ZERO, &event);
        };
        // Every peer knows all kinds of workers from the beginning: their ids are the same everywhere.
        believed.classes.iter().cloned().map(Box::new).map(Event::MachineClassMet).for_each(&mut tell);
        setup.task_classes.iter().cloned().map(Box::new).map(Event::TaskClassMet).for_each(&mut tell);
        let joined = |(machine, class): (usize, &MachineClassId)| Event::MachineJoined {
            machine: MachineId::new(machine),
            class: believed.at_first(*class),
        };
        site.workers.iter().enumerate().map(joined).for_each(&mut tell);
        scheduler
    });
    let mail = Mail::new(setup.seed, setup.usual);
    let mut parties = Parties::new(schedulers.collect(), PeersWorld::new(setup), mail);
    // They have workers to offer before any task comes.
    for peer in (0..setup.peers.len()).map(PartyId::new) {
        parties.tell(peer, Event::Lending(LendingEvent::Connected { is_connected: true }));
        parties.tell(peer, Event::RuleChanged);
    }
    parties
}
