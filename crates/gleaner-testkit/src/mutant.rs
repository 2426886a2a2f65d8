//! Policies with a fault put in on purpose. A test that compares a policy with its reference must notice each.

use crate::random::Choices;
use gleaner_core::{Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineId, TaskId, Time};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// One change in so many is not observed: the index goes stale.
    Deaf(usize),
    /// One placement or move in so many goes to another machine that could take the task as well.
    Astray(usize),
}

/// A policy with a fault; the seed says when it shows.
pub struct Mutant<P> {
    policy: P,
    fault: Fault,
    choices: Choices,
}

impl<P> Mutant<P> {
    /// `policy`, with `fault`.
    pub fn new(policy: P, fault: Fault, seed: u64) -> Self {
        Self { policy, fault, choices: Choices::seeded(seed) }
    }
}

fn elsewhere(grid: &Grid, task: TaskId, on: MachineId) -> Option<MachineId> {
    let current = grid.placed_on(task);
    let others = (0..grid.machines().len()).map(MachineId::new);
    others.into_iter().find(|&machine| {
        machine != on && Some(machine) != current && grid.can_run(grid.task(task).class(), machine)
    })
}

impl<P: Policy> Policy for Mutant<P> {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        let noticed = matches!(
            change,
            Change::ResidentsChanged(_)
                | Change::RoomTaken(_)
                | Change::RoomFreed(..)
                | Change::LoadChanged(_)
                | Change::AvailabilityChanged(_)
                | Change::BeliefChanged(_)
        );
        match self.fault {
            Fault::Deaf(n) if noticed && self.choices.one_in(n) => {}
            Fault::Deaf(_) | Fault::Astray(_) => self.policy.observe(grid, change),
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let decision = self.policy.propose(grid, now, occasion)?;
        let Fault::Astray(n) = self.fault else { return Some(decision) };
        if !self.choices.one_in(n) {
            return Some(decision);
        }
        match decision {
            Decision::Start { task, on } => {
                elsewhere(grid, task, on).map_or(Some(decision), |on| Some(Decision::Start { task, on }))
            }
            Decision::Relocate { task, to } => {
                elsewhere(grid, task, to).map_or(Some(decision), |to| Some(Decision::Relocate { task, to }))
            }
            Decision::Replicate { task, on } => {
                elsewhere(grid, task, on).map_or(Some(decision), |on| Some(Decision::Replicate { task, on }))
            }
            Decision::StartWide { .. }
            | Decision::Follow { .. }
            | Decision::TakeBack { .. }
            | Decision::Ask { .. }
            | Decision::ReplicateWide { .. }
            | Decision::Collect
            | Decision::Survey { .. }
            | Decision::Plan { .. }
            | Decision::Lending(_)
            | Decision::Wake { .. } => Some(decision),
        }
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.policy.rebuild(grid);
    }

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}
