//! What a run of groups is given.

use crate::mail::Way;
use crate::setup::Setup;
use gleaner_core::{Chance, Purpose};
use gleaner_units::{PartyId, Span};
use thiserror::Error;

/// Which groups a group knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topology {
    /// All others.
    All,
    /// So many next to it in a ring, on either side in turn.
    Ring(u32),
    /// So many others, drawn for each group.
    Drawn(u32),
}

/// When a group tells before its time that a machine is other than was told.
///
/// **What one tells makes others move tasks there, which is news again**: without a gap, groups that all know each other were
/// seen to move tasks to and fro for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// By how many tasks it must differ; a change of its owner's load is always told.
    pub tasks: u32,
    /// How long the group is silent after it told anything.
    pub gap: Span,
}

/// All that a run is given, besides the policies.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupsSetup {
    /// Machines, tasks and owners.
    pub grid: Setup,
    /// By machine: its group. None is empty.
    pub groups: Vec<PartyId>,
    /// Who knows whom.
    pub topology: Topology,
    /// How long a group may be silent about its machines. The first time groups take turns.
    pub every: Span,
    /// When it tells before.
    pub change: Option<Change>,
    /// How often a task may be handed on.
    pub hops_max: u32,
    /// What letters meet with.
    pub way: Way,
    /// After so long, what was not answered is said again. Needed where letters are lost.
    pub repeat: Option<Span>,
    /// Of what is drawn: where tasks are handed in, who knows whom, which letters are lost.
    pub seed: u64,
}

/// Why no run can be made of a setup.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum InvalidSetup {
    /// A machine is in one group.
    #[error("{groups} machines are in groups; there are {machines}")]
    Machines {
        /// That are in groups.
        groups: usize,
        /// That there are.
        machines: usize,
    },
    /// A group has machines.
    #[error("group {0} has no machine")]
    Empty(usize),
    /// Machines that come and go by a trace are in no group.
    #[error("machines come and go by a trace; in groups they are always there")]
    Trace,
    /// Nobody keeps one account for several schedulers.
    #[error("there is a budget; several schedulers cannot keep to one")]
    Budget,
    /// Time would not go on.
    #[error("a period is 0; it must be above 0")]
    Period,
    /// What is lost would never come.
    #[error("letters are lost, and none is repeated")]
    Loss,
}

impl GroupsSetup {
    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.groups.iter().map(|group| group.index() + 1).max().unwrap_or(0)
    }

    /// Whether a run can be made of it.
    pub fn check(&self) -> Result<(), InvalidSetup> {
        let (groups, machines) = (self.groups.len(), self.grid.machines.len());
        if self.grid.availability.is_some() {
            return Err(InvalidSetup::Trace);
        }
        if groups != machines {
            return Err(InvalidSetup::Machines { groups, machines });
        }
        let is_empty = |group: &usize| !self.groups.contains(&PartyId::new(*group));
        if let Some(group) = (0..self.count()).find(is_empty) {
            return Err(InvalidSetup::Empty(group));
        }
        if self.grid.budget.is_some() {
            return Err(InvalidSetup::Budget);
        }
        if self.every == Span::ZERO || self.repeat == Some(Span::ZERO) {
            return Err(InvalidSetup::Period);
        }
        if self.way.loss > 0.0 && self.repeat.is_none() { Err(InvalidSetup::Loss) } else { Ok(()) }
    }

    /// Whom a group knows, in order.
    pub fn neighbours_of(&self, group: PartyId) -> Vec<PartyId> {
        let (own, count) = (group.index(), self.count());
        let mut known: Vec<usize> = match self.topology {
            Topology::All => (0..count).filter(|other| *other != own).collect(),
            Topology::Ring(most) => {
                let most = (most as usize).min(count - 1);
                let at = |step: usize| {
                    let by = step.div_ceil(2);
                    if step % 2 == 1 { (own + by) % count } else { (own + count - by) % count }
                };
                (1..=most).map(at).collect()
            }
            Topology::Drawn(most) => {
                let mut others: Vec<usize> = (0..count).filter(|other| *other != own).collect();
                let mut chance = Chance::of_nth(self.seed, Purpose::Neighbour, own as u64);
                let most = (most as usize).min(others.len());
                for at in 0..most {
                    let left = (others.len() - at) as u32;
                    others.swap(at, at + chance.below(left) as usize);
                }
                others.truncate(most);
                others
            }
        };
        known.sort_unstable();
        known.into_iter().map(PartyId::new).collect()
    }
}
