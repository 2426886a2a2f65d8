use crate::effects::Effects;
use crate::{Accounts, Budget, Change, Checking, Command, Decision, Event, Grid, Policy, Refusal, Settled};
use gleaner_units::Time;
use thiserror::Error;

/// The most decisions that one call of [`Scheduler::decide`] admits or refuses. What is left then waits for the next
/// call, at the same instant, so that a caller is never away for long.
pub const DECISIONS_MAX: usize = 16_384;

/// Why recorded decisions cannot be carried out: they were not made about this grid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Diverged {
    /// The grid does not admit one.
    #[error("the record has {decision:?}, which this grid refuses: {refusal}")]
    Refused {
        /// As recorded.
        decision: Decision,
        /// What stands in its way.
        refusal: Refusal,
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

/// By what is scheduled.
#[derive(Clone, Debug)]
pub struct Rule<P> {
    /// Who decides.
    pub policy: P,
    /// What may be spent; none where running costs nothing.
    pub budget: Option<Budget>,
    /// How many machines have to give the same answer to a task; none where one has.
    pub checking: Option<Checking>,
}

/// The sole owner of mutable state. Drive it with [`apply`](Self::apply) and [`decide`](Self::decide).
#[derive(Clone, Debug)]
pub struct Scheduler<P> {
    grid: Grid,
    policy: P,
    effects: Effects,
}

impl<P: Policy> Scheduler<P> {
    /// A scheduler that goes on from `grid` under `policy`, whose indices are rebuilt.
    pub fn new(grid: Grid, mut policy: P) -> Self {
        policy.rebuild(&grid);
        Self { grid, policy, effects: Effects::default() }
    }

    /// What is known.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The rule in force.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Goes on under another rule from now on: it hears of the change, and of what it changes. Running tasks stay where they
    /// are. [Orders](Self::take_orders) may follow from it alone.
    pub fn set_rule(&mut self, now: Time, rule: Rule<P>) {
        let Rule { policy, budget, checking } = rule;
        self.set_policy(policy);
        if budget != self.grid.accounts().map(Accounts::budget) {
            self.apply(now, &Event::BudgetSet(budget));
        }
        if checking != self.grid.checking() {
            self.apply(now, &Event::CheckingSet(checking));
        }
        self.apply(now, &Event::RuleChanged);
    }

    /// Has another policy decide from now on, or the same that forgets all but what the grid tells. It is asked about nothing
    /// for that.
    pub fn set_policy(&mut self, mut policy: P) {
        policy.rebuild(&self.grid);
        self.policy = policy;
    }

    /// Applies an event, and returns the changes that it made. [Orders](Self::take_orders) may follow from it alone.
    pub fn apply(&mut self, now: Time, event: &Event) -> &[Change] {
        self.effects.changes.clear();
        self.grid.apply(now, event, &mut self.effects);
        self.tell_policy();
        &self.effects.changes
    }

    /// Whether anything happened that the policy was not asked about yet.
    pub fn is_asked(&self) -> bool {
        self.grid.occasion().is_some()
    }

    /// Lets the policy answer what happened; what was decided is added to `decisions`, in order. Ends after
    /// [`DECISIONS_MAX`] decisions at the latest: then it [is asked](Self::is_asked) still, and is to be called again.
    pub fn decide(&mut self, now: Time, decisions: &mut Vec<Decision>) -> Settled {
        let mut refused: Vec<Decision> = Vec::new();
        let mut made = 0;
        while let Some(occasion) = self.grid.occasion() {
            if made == DECISIONS_MAX {
                return Settled { occasions_left: self.grid.occasions(), moves: occasion.moves };
            }
            match self.policy.propose(&self.grid, now, occasion) {
                Some(decision) if !refused.contains(&decision) => {
                    made += 1;
                    match self.admit(now, &decision) {
                        Ok(()) => decisions.push(decision),
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
    /// what [`decide`](Self::decide) left then. Every call of `decide` is to be carried out, also one without decisions.
    ///
    /// After an error the grid is of no further use: part of the decisions may be in it.
    pub fn carry_out(&mut self, now: Time, decisions: &[Decision], after: Settled) -> Result<(), Diverged> {
        for decision in decisions {
            self.admit(now, decision)
                .map_err(|refusal| Diverged::Refused { decision: decision.clone(), refusal })?;
        }
        let found = self.grid.occasions();
        if found < after.occasions_left {
            return Err(Diverged::Occasions { recorded: after.occasions_left, found });
        }
        self.grid.settle_as(after);
        Ok(())
    }

    /// Whether any order came since they were last taken.
    #[inline]
    pub fn has_orders(&self) -> bool {
        !self.effects.orders.is_empty()
    }

    /// The orders that came of events and decisions since the last call, in order.
    pub fn take_orders(&mut self) -> impl DoubleEndedIterator<Item = Command> + '_ {
        self.effects.orders.drain(..)
    }

    /// Asserts that the grid and the policy's indices are what they would be if derived afresh.
    /// Costs O(machines + tasks): for tests.
    pub fn check(&self) -> Result<(), String> {
        self.grid.check().map_err(|broken| broken.to_string())?;
        self.policy.check(&self.grid)
    }

    fn admit(&mut self, now: Time, decision: &Decision) -> Result<(), Refusal> {
        self.effects.changes.clear();
        let admitted = self.grid.admit(now, decision, &mut self.effects);
        if let Err(refusal) = admitted {
            self.effects.changes.push(Change::Refused(refusal));
        }
        self.tell_policy();
        admitted
    }

    fn tell_policy(&mut self) {
        self.policy.observe_all(&self.grid, &self.effects.changes);
    }
}
