use crate::{Change, Command, Decision, Event, Grid, Policy, Refusal};
use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most decisions that one call of [`Scheduler::decide`] admits or refuses. What is left then waits for a
/// wake-up at the same instant, so that a caller is never away for long.
pub const DECISIONS_MAX: usize = 16_384;

/// How far a call of [`Scheduler::decide`] came with what happened: recorded beside its commands, it lets
/// [`Scheduler::carry_out`] leave the same grid behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Settled {
    /// How many occasions still want an answer.
    pub occasions_left: usize,
    /// How many moves were made about the first of them.
    pub moves: u32,
}

/// Why recorded commands cannot be carried out: they were not decided about this grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Diverged {
    /// The grid does not admit one.
    #[error("the record orders {command:?}, which this grid refuses: {refusal}")]
    Refused {
        /// As recorded.
        command: Command,
        /// What stands in its way.
        refusal: Refusal,
    },
    /// The grid admits the wish as another command.
    #[error("the record orders {recorded:?} where this grid would order {admitted:?}")]
    Differs {
        /// As recorded.
        recorded: Command,
        /// As this grid has it.
        admitted: Command,
    },
    /// Fewer occasions want an answer than the record left.
    #[error("the record left {recorded} occasions where this grid has {found}")]
    Occasions {
        /// As recorded.
        recorded: usize,
        /// As this grid has them.
        found: usize,
    },
}

/// The sole owner of mutable state. Drive it with [`apply`](Self::apply) and [`decide`](Self::decide).
#[derive(Clone, Debug)]
pub struct Scheduler<P> {
    grid: Grid,
    policy: P,
    changes: Vec<Change>,
}

impl<P: Policy> Scheduler<P> {
    /// A scheduler that goes on from `grid` under `policy`, whose indices are rebuilt.
    pub fn new(grid: Grid, mut policy: P) -> Self {
        policy.rebuild(&grid);
        Self { grid, policy, changes: Vec::new() }
    }

    /// What is known.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The rule in force.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Goes on under another rule. Running tasks stay where they are.
    pub fn set_policy(&mut self, mut policy: P) {
        policy.rebuild(&self.grid);
        self.policy = policy;
    }

    /// Takes in a fact, and shows what came of it.
    pub fn apply(&mut self, now: Time, event: &Event) -> &[Change] {
        self.changes.clear();
        self.grid.apply(now, event, &mut self.changes);
        self.tell_policy();
        &self.changes
    }

    /// Whether anything happened that the policy was not asked about yet.
    pub fn is_asked(&self) -> bool {
        self.grid.occasion().is_some()
    }

    /// Lets the policy answer what happened; the orders that follow are added to `commands`, in order.
    /// Ends after [`DECISIONS_MAX`] decisions at the latest and then orders a wake-up at once.
    pub fn decide(&mut self, now: Time, commands: &mut Vec<Command>) -> Settled {
        let mut refused: Vec<Decision> = Vec::new();
        let mut decisions = 0;
        while let Some(occasion) = self.grid.occasion() {
            if decisions == DECISIONS_MAX {
                commands.push(Command::WakeAt { at: now });
                return Settled { occasions_left: self.grid.occasions(), moves: occasion.moves };
            }
            match self.policy.propose(&self.grid, now, occasion) {
                Some(decision) if !refused.contains(&decision) => {
                    decisions += 1;
                    match self.admit(now, decision) {
                        Ok(command) => commands.push(command),
                        Err(_) => refused.push(decision),
                    }
                }
                // A policy that insists on what was refused has nothing else to say.
                Some(_) | None => self.grid.settle(),
            }
        }
        Settled::default()
    }

    /// Does what an earlier run decided at this point, without asking the policy: afterwards the grid is, to the byte,
    /// what [`decide`](Self::decide) left then. Every call of `decide` is to be carried out, also one without commands.
    ///
    /// After an error the grid is of no further use: part of the commands may be in it.
    pub fn carry_out(&mut self, now: Time, commands: &[Command], after: Settled) -> Result<(), Diverged> {
        for &recorded in commands {
            let decision = match recorded {
                Command::Start { task, on, .. } => Decision::Start { task, on },
                Command::Move { task, to, .. } => Decision::Relocate { task, to },
                // No policy can wish for this moment: it is how `decide` ends at its bound, and the grid has no part in it.
                Command::WakeAt { at } if at == now => continue,
                Command::Collect => Decision::Collect,
                Command::Plan { task, on } => Decision::Plan { task, on },
                Command::WakeAt { at } => Decision::Wake { at },
            };
            match self.admit(now, decision) {
                Ok(admitted) if admitted == recorded => {}
                Ok(admitted) => return Err(Diverged::Differs { recorded, admitted }),
                Err(refusal) => return Err(Diverged::Refused { command: recorded, refusal }),
            }
        }
        let found = self.grid.occasions();
        if found < after.occasions_left {
            return Err(Diverged::Occasions { recorded: after.occasions_left, found });
        }
        self.grid.settle_as(after);
        Ok(())
    }

    /// Asserts that the grid and the policy's indices are what they would be if derived afresh.
    /// Costs O(machines + tasks): for tests.
    pub fn check(&self) -> Result<(), String> {
        self.grid.check().map_err(|broken| broken.to_string())?;
        self.policy.check(&self.grid)
    }

    fn admit(&mut self, now: Time, decision: Decision) -> Result<Command, Refusal> {
        self.changes.clear();
        let admitted = self.grid.admit(now, decision, &mut self.changes);
        if let Err(refusal) = admitted {
            self.changes.push(Change::Refused(decision, refusal));
        }
        self.tell_policy();
        admitted
    }

    fn tell_policy(&mut self) {
        for change in &self.changes {
            self.policy.observe(&self.grid, change);
        }
    }
}
