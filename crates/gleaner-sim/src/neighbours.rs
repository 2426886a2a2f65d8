//! Groups of machines, each with a scheduler of its own that asks its neighbours: what the first paper leaves to the future.
//!
//! - [`GroupsSetup`] is all that a run is given; [`neighbours`] makes the parties of it.
//! - **A group's scheduler follows an ordinary recipe.** Its grid has its own machines, and after them those of its
//!   neighbours, each as it was last published, with what the group itself sent there (`places`). So a score needs no second
//!   version.
//! - What it starts on a neighbour's machine is handed over by `letters`, with the part of its length that is left. To that
//!   neighbour it is a task like any other: its own rule says on which machine it runs, and may hand it on, over so many hops
//!   at most. The last group keeps it: it is of a class that asks for machines of its own.
//! - **A task is in one group's hands at a time**: what was handed over is repeated until the other side says that it has
//!   it, and so is its end. Letters of one way take equally long, so that none overtakes another: what was noted as over is
//!   not heard of again.
//! - **What a letter says is checked before a group acts on it** (`checked`).
//! - `telling` says when a group publishes how its machines are.

mod books;
mod checked;
mod letters;
mod news;
mod places;
mod post;
mod results;
mod setup;
mod telling;
mod world;

pub use letters::{MachineState, Ticket, Word};
pub use results::GroupsOutcome;
pub use setup::{Change, GroupsSetup, InvalidSetup, Topology};
pub use world::Neighbourhood;

use crate::mail::Mail;
use crate::mixing::seed_of_party;
use crate::parties::Parties;
use gleaner_core::{Event, Grid, Policy, Scheduler};
use gleaner_units::{MachineClassId, MachineId, PartyId};

/// What the machines of a group provide to its own scheduler: no task of a user asks for such a word, as words have no blanks.
const OWN: &str = "the group's own";

/// A run before anything happened, where each group follows the policy that is made for it.
///
/// # Panics
/// Where the setup is not whole: see [`GroupsSetup::check`]. Later, where the policy gives a task several runs at a time or
/// has it wait for a machine's turn.
pub fn neighbours<P: Policy>(
    setup: &GroupsSetup,
    policy: impl Fn(usize) -> P,
) -> Parties<'_, P, Neighbourhood<'_>> {
    if let Err(broken) = setup.check() {
        panic!("no run can be made of this setup: {broken}");
    }
    let world = Neighbourhood::new(setup);
    let grid = &setup.grid;
    let empty = (0..setup.count()).map(|group| Scheduler::new(Grid::new(grid.config.clone()), policy(group)));
    let mail = Mail::new(setup.seed, setup.way);
    let mut parties = Parties::new(empty.collect(), world, mail);
    for group in (0..setup.count()).map(PartyId::new) {
        let classes = grid.machine_classes.len();
        let own = grid.machine_classes.iter().cloned().map(|mut class| {
            class.provides.insert(OWN.to_owned());
            class
        });
        let machine_classes =
            own.chain(grid.machine_classes.iter().cloned()).map(Box::new).map(Event::MachineClassMet);
        let at_home = grid.task_classes.iter().cloned().map(|mut class| {
            class.requires.insert(OWN.to_owned());
            class
        });
        let task_classes =
            grid.task_classes.iter().cloned().chain(at_home).map(Box::new).map(Event::TaskClassMet);
        let places = parties.outside().places();
        let machines = places.seen(group).enumerate().map(|(at, machine)| {
            let others = if places.is_own(group, MachineId::new(at)) { 0 } else { classes };
            let class = MachineClassId::new(others + grid.machines[machine].index());
            Event::MachineJoined { machine: MachineId::new(at), class }
        });
        let events: Vec<Event> = machine_classes.chain(task_classes).chain(machines).collect();
        for event in events {
            parties.tell(group, event);
        }
        parties.tell(group, Event::SeedDrawn(seed_of_party(setup.seed, group.index())));
    }
    parties
}

/// Keeps, from now on, how many tasks each machine runs over time, and where runs were.
#[must_use]
pub fn with_timeline<'a, P: Policy>(
    mut parties: Parties<'a, P, Neighbourhood<'a>>,
) -> Parties<'a, P, Neighbourhood<'a>> {
    parties.both().1.keep_timeline();
    parties
}
