//! What a group looks at before it acts on a letter. **What a neighbour says is checked here and nowhere else.**
//!
//! A letter may only name what is there. It is refused if acting on it would give a task to two groups, or to none: a task goes with
//! what is left of it, and nobody can hand over, give back or take what is not there.

use super::books::{Guest, Stage};
use super::letters::{MachineState, Ticket, Word};
use super::world::Neighbourhood;
use gleaner_core::RunEnd;
use gleaner_units::{MachineId, PartyId, TaskId};

impl Neighbourhood<'_> {
    /// Why a letter is not acted on, if it is not.
    pub(super) fn checked(&self, (from, to): (PartyId, PartyId), word: &Word) -> Result<(), &'static str> {
        match *word {
            Word::State(ref states) => self.checked_states((from, to), states),
            Word::Take { ticket, task, on, hops } => {
                self.checked_take((from, to), (ticket, task), (on, hops))
            }
            Word::Taken(ticket) => {
                let is_expected = self.is_sent(to, (from, ticket));
                let is_there = self.guest(from, (to, ticket)).is_some();
                if is_expected && !is_there { Err("that a task came which did not") } else { Ok(()) }
            }
            // Whoever never had it says that it does not have it.
            Word::TakeBack(_) => Ok(()),
            Word::Over(ticket, end) => {
                let Some(sent) = self.state.books[to.index()].sent.get(&(from, ticket)) else {
                    // It is repeated until it is noted.
                    return Ok(());
                };
                let is_so = match self.guest(from, (to, ticket)) {
                    Some(guest) => guest.over == Some(end),
                    None => end == RunEnd::Kept && sent.stage == Stage::AskedBack,
                };
                if is_so { Ok(()) } else { Err("an end that did not come") }
            }
            Word::Noted(ticket) => {
                let is_over = self.guest(to, (from, ticket)).is_none_or(|guest| guest.over.is_some());
                let is_noted = !self.is_sent(from, (to, ticket));
                if is_over && is_noted { Ok(()) } else { Err("that an end is known which is not") }
            }
        }
    }

    fn checked_states(
        &self,
        (from, to): (PartyId, PartyId),
        states: &[MachineState],
    ) -> Result<(), &'static str> {
        if !self.places.knows(to, from) {
            return Err("news of machines that are not known here");
        }
        if states.len() != self.places.own(from).count() {
            return Err("news of other machines than it has");
        }
        let classes = self.setup.grid.task_classes.len();
        let are_there = |state: &MachineState| {
            let count: u64 = state.others.iter().map(|(_, count)| u64::from(*count)).sum();
            let are_classes = state.others.is_sorted_by(|one, other| one.0 < other.0)
                && state.others.iter().all(|(class, _)| class.index() < classes);
            are_classes && count <= self.setup.grid.tasks.len() as u64
        };
        if !states.iter().all(are_there) {
            return Err("news of tasks that do not exist");
        }
        let are_loads = states.iter().all(|state| (0.0..=1.0).contains(&state.load));
        if are_loads { Ok(()) } else { Err("a load that is no part of a machine") }
    }

    fn checked_take(
        &self,
        (from, to): (PartyId, PartyId),
        (ticket, task): (Ticket, TaskId),
        (on, hops): (MachineId, u32),
    ) -> Result<(), &'static str> {
        if task.index() >= self.setup.grid.tasks.len() {
            return Err("a task that does not exist");
        }
        if !self.places.knows(from, to) || !self.places.is_own(to, on) {
            return Err("a task for a machine that is not here");
        }
        if hops == 0 || hops > self.setup.hops_max {
            return Err("a task that was handed on too often");
        }
        let (here, there) = (&self.state.books[to.index()], &self.state.books[from.index()]);
        // What came is repeated until that is known.
        let known = match here.guests.get(&(from, ticket)) {
            Some(id) => Some(here.tasks[id.index()].task),
            None => there.sent.get(&(to, ticket)).map(|sent| there.tasks[sent.run.task.index()].task),
        };
        if known == Some(task) { Ok(()) } else { Err("a task that the sender does not have") }
    }

    /// What a group handed to another, as far as it knows.
    fn is_sent(&self, from: PartyId, ticket: (PartyId, Ticket)) -> bool {
        self.state.books[from.index()].sent.contains_key(&ticket)
    }

    /// What a group has of a neighbour.
    fn guest(&self, host: PartyId, ticket: (PartyId, Ticket)) -> Option<Guest> {
        let book = &self.state.books[host.index()];
        book.guests.get(&ticket).and_then(|id| book.tasks[id.index()].guest)
    }
}
