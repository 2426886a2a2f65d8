//! What the bounds on users' cores do to tasks: see [`super::caps`].

use super::{Grid, Part};
use crate::effects::Effects;
use crate::{Cause, Change, Demand, Refusal};
use gleaner_units::{TaskClassId, TaskId, UserId};

impl Grid {
    /// How many cores the runs of a class's user take, and how many they may.
    pub fn cores_of_user(&self, class: TaskClassId) -> (u64, u32) {
        let user = self.classes.demand(class).payer;
        (self.caps.taken(user), self.caps.of(user))
    }

    /// How many cores a user's runs take.
    pub fn cores_taken(&self, user: UserId) -> u64 {
        self.caps.taken(user)
    }

    /// Whether any user may have so many cores at a time and no more.
    pub fn has_caps(&self) -> bool {
        self.caps.any()
    }

    /// Whether a task of the class has to wait until other runs of its user end.
    #[inline]
    pub fn is_capped(&self, class: TaskClassId) -> bool {
        // Mostly nobody has a bound, and then no class is looked up.
        if !self.caps.any() {
            return false;
        }
        let Demand { payer, needs, .. } = self.classes.demand(class);
        !self.caps.holds(payer, needs.cores)
    }

    pub(super) fn check_cap(&self, task: TaskId) -> Result<(), Refusal> {
        let class = self.task(task).class;
        if self.is_capped(class) {
            let (taken, most) = self.cores_of_user(class);
            return Err(Refusal::CoresOfUser { task, taken, most });
        }
        Ok(())
    }

    pub(super) fn cores_capped(&mut self, user: Option<UserId>, cores: Option<u32>, effects: &mut Effects) {
        self.caps.set(user, cores);
        effects.changes.push(Change::CapsChanged);
        // Also where nothing waits: a task that runs may be to run once more.
        self.ask(Cause::RuleChanged);
    }

    /// Cores of a user are free again. If that is what tasks of theirs waited for, they may start anywhere, not only where
    /// these cores are. Costs O(classes that wait) where the user has a bound that was met.
    pub(super) fn free_cores(&mut self, class: TaskClassId, part: Part) {
        let user = self.classes.demand(class).payer;
        let waited = self.caps.of(user) != u32::MAX
            && self
                .waiting
                .first_of_each()
                .any(|(class, _)| self.classes.demand(class).payer == user && self.is_capped(class));
        self.caps.free(user, part.cores);
        if waited {
            self.ask(Cause::RuleChanged);
        }
    }
}
