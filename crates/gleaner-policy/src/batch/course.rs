//! The course of a batch: from one priority to the next, and from one task, or one pass, to the next.

use super::kinds::{self, Kind};
use super::looks::Looks;
use super::{Assignment, Batch, Batching, heuristics};
use crate::backlog::Backlog;
use crate::parts::order::TaskOrder;
use std::collections::{BTreeSet, VecDeque};

/// Gives all waiting tasks that are not planned yet their places, as far as there are any. Tasks of whose
/// length nothing is known have none. The backlog is left as it was.
pub(crate) fn assignments(
    recipe: &Batching,
    looks: Looks<'_>,
    backlog: &mut Backlog,
) -> VecDeque<Assignment> {
    let mut batch = Batch::new(recipe, looks, backlog);
    batch.run();
    batch.kinds.into_iter().for_each(Kind::put_back);
    batch.made
}

impl Batch<'_> {
    /// The highest priority comes first.
    fn run(&mut self) {
        let priorities: BTreeSet<i32> = self.kinds.iter().map(|tasks| tasks.priority).collect();
        for priority in priorities.into_iter().rev() {
            // Mostly nothing has a place; then it is not worked out who is the oldest.
            if !self.goes_on() {
                return;
            }
            self.priority = priority;
            self.place_those_of_the_priority();
        }
    }

    fn place_those_of_the_priority(&mut self) {
        let first = match self.recipe.order {
            TaskOrder::Submission => usize::MAX,
            TaskOrder::MinMin | TaskOrder::MaxMin | TaskOrder::Sufferage | TaskOrder::SufferagePasses => {
                self.recipe.aging as usize
            }
        };
        // Where nothing limits what is spent, it makes no difference for others who finds no machine.
        let is_free = first == usize::MAX && self.conditions_of_each.is_empty();
        let counts =
            |tasks: &Kind<'_>| tasks.priority == self.priority && (!is_free || !tasks.bids.is_empty());
        let oldest = kinds::oldest(&self.kinds, first, counts);
        for (kind, task) in oldest {
            if !self.goes_on() {
                return;
            }
            self.assign_by_aim(kind, task);
        }
        while self.goes_on() {
            heuristics::set_impossible_aside(self);
            let went_on = match self.recipe.order {
                TaskOrder::SufferagePasses => self.assign_in_a_pass(),
                TaskOrder::Submission | TaskOrder::MinMin | TaskOrder::MaxMin | TaskOrder::Sufferage => {
                    self.assign_next()
                }
            };
            if !went_on {
                return;
            }
        }
    }

    /// Gives the next task its place, if any is left.
    fn assign_next(&mut self) -> bool {
        let Some(((kind, task), bid)) = heuristics::next(self) else { return false };
        self.assign(kind, task, self.place((kind, task), bid));
        true
    }

    /// Gives each machine that is best for some task one of those, if any is left. What the budget no longer allows when
    /// its turn comes is left for the next pass.
    fn assign_in_a_pass(&mut self) -> bool {
        let pass = heuristics::pass(self);
        for &((kind, task), target) in &pass {
            if self.still_allows(kind, task.length.amount(), target) {
                self.assign(kind, task, target);
            }
        }
        !pass.is_empty()
    }
}
