use crate::{Change, Command, Decision, Event, Grid, Policy};
use gleaner_units::Time;

/// The most decisions that one call of [`Scheduler::decide`] admits or refuses. What is left then waits for a
/// wake-up at the same instant, so that a caller is never away for long.
pub const DECISIONS_MAX: usize = 16_384;

/// The sole owner of mutable state. Drive it with [`apply`](Self::apply) and [`decide`](Self::decide).
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

    /// Takes in a fact.
    pub fn apply(&mut self, now: Time, event: &Event) {
        self.grid.apply(now, event, &mut self.changes);
        self.tell_policy();
    }

    /// Lets the policy answer what happened; the orders that follow are added to `commands`, in order.
    /// Ends after [`DECISIONS_MAX`] decisions at the latest and then orders a wake-up at once.
    pub fn decide(&mut self, now: Time, commands: &mut Vec<Command>) {
        let mut refused: Vec<Decision> = Vec::new();
        let mut decisions = 0;
        while let Some(occasion) = self.grid.occasion() {
            if decisions == DECISIONS_MAX {
                commands.push(Command::WakeAt { at: now });
                return;
            }
            match self.policy.propose(&self.grid, now, occasion) {
                Some(decision) if !refused.contains(&decision) => {
                    decisions += 1;
                    match self.grid.admit(now, decision, &mut self.changes) {
                        Ok(command) => commands.push(command),
                        Err(refusal) => {
                            refused.push(decision);
                            self.changes.push(Change::Refused(decision, refusal));
                        }
                    }
                    self.tell_policy();
                }
                // A policy that insists on what was refused has nothing else to say.
                Some(_) | None => self.grid.settle(),
            }
        }
    }

    /// Asserts that the grid and the policy's indices are what they would be if derived afresh.
    /// Costs O(machines + tasks): for tests.
    pub fn check(&self) -> Result<(), String> {
        self.grid.check().map_err(|broken| broken.to_string())?;
        self.policy.check(&self.grid)
    }

    fn tell_policy(&mut self) {
        for change in &self.changes {
            self.policy.observe(&self.grid, change);
        }
        self.changes.clear();
    }
}
