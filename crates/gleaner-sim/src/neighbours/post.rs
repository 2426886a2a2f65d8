//! Handing tasks over, taking them, and giving them back.

use super::books::{Entry, Guest, Place, Sent, Stage, Unanswered};
use super::letters::{Ticket, Word};
use super::world::{Leaves, Neighbourhood};
use gleaner_core::{Event, RunEnd};
use gleaner_units::{MachineId, Ops, PartyId, RunId, TaskClassId, TaskId, Time};

impl Neighbourhood<'_> {
    /// A task comes into a group's hands.
    pub(super) fn comes(
        &mut self,
        party: PartyId,
        (task, hops): (TaskId, u32),
        guest: Option<Guest>,
        out: Leaves<'_>,
    ) {
        let first = self.state.books[party.index()].next_task();
        self.state.books[party.index()].tasks.push(Entry { task, hops, place: Place::Nowhere, guest });
        let tasks = &self.setup.grid.tasks;
        let class = tasks.classes[task.index()];
        // Whoever may not hand it on has it as one that asks for machines of its own.
        let is_last = hops >= self.setup.hops_max;
        let last = self.setup.grid.task_classes.len();
        let class = if is_last { TaskClassId::new(last + class.index()) } else { class };
        let left = self.state.world.part_left(&self.given, task);
        let length = tasks.declared[task.index()].and_then(|length| Ops::new(length.amount() * left));
        out.tell(party, Event::TasksSubmitted { first, count: 1, class, length });
    }

    /// A run that its scheduler wishes on a neighbour's machine.
    pub(super) fn hand_over(
        &mut self,
        now: Time,
        (party, run): (PartyId, RunId),
        on: MachineId,
        out: Leaves<'_>,
    ) {
        self.state.outcome.hands_over(self.state.news.age(now, party, on));
        let (to, own) = self.places.owner(self.places.machine(party, on));
        let book = &mut self.state.books[party.index()];
        let ticket = book.next_ticket();
        book.tasks[run.task.index()].place = Place::Away(to, ticket);
        book.sent.insert((to, ticket), Sent { run, on: own, stage: Stage::Offered });
        self.say(Unanswered::Sent(party, to, ticket), now, out);
    }

    /// A run on a neighbour's machine is to stop.
    pub(super) fn take_back(
        &mut self,
        now: Time,
        party: PartyId,
        (to, ticket): (PartyId, Ticket),
        out: Leaves<'_>,
    ) {
        let sent = self.state.books[party.index()].sent.get_mut(&(to, ticket));
        let sent = sent.expect("what is away was sent");
        if sent.stage != Stage::AskedBack {
            sent.stage = Stage::AskedBack;
            self.say(Unanswered::Sent(party, to, ticket), now, out);
        }
    }

    /// Says it, and notes when to say it again.
    fn say(&mut self, what: Unanswered, now: Time, out: Leaves<'_>) {
        let (from, to, word) = match what {
            Unanswered::Sent(from, to, ticket) => {
                let book = &self.state.books[from.index()];
                let Some(&Sent { run, on, stage }) = book.sent.get(&(to, ticket)) else { return };
                let Entry { task, hops, .. } = book.tasks[run.task.index()];
                match stage {
                    Stage::Offered => (from, to, Word::Take { ticket, task, on, hops: hops + 1 }),
                    Stage::Taken => return,
                    Stage::AskedBack => (from, to, Word::TakeBack(ticket)),
                }
            }
            Unanswered::Over(from, to, ticket) => {
                let book = &self.state.books[from.index()];
                let guest = book.guests.get(&(to, ticket)).and_then(|task| book.tasks[task.index()].guest);
                let Some(end) = guest.and_then(|guest| guest.over) else { return };
                (from, to, Word::Over(ticket, end))
            }
        };
        out.send(from, to, word);
        if let Some(repeat) = self.setup.repeat {
            self.state.unanswered.insert((now + repeat, what));
        }
    }

    pub(super) fn says_again(&mut self, now: Time, what: Unanswered, out: Leaves<'_>) {
        self.state.unanswered.remove(&(now, what));
        let before = self.state.unanswered.len();
        self.say(what, now, out);
        self.state.outcome.repeated += (self.state.unanswered.len() - before) as u64;
    }

    /// A run is over, on whosever machine: its scheduler hears of it, and whoever else has the task.
    pub(super) fn run_over(
        &mut self,
        now: Time,
        (party, run): (PartyId, RunId),
        end: RunEnd,
        out: Leaves<'_>,
    ) {
        self.state.books[party.index()].tasks[run.task.index()].place = Place::Nowhere;
        out.tell(party, Event::RunEnded { run, end });
        match self.state.books[party.index()].tasks[run.task.index()].guest {
            Some(guest) if end == RunEnd::Finished || guest.is_asked_back => {
                self.guest_over(now, (party, run.task), end, out);
            }
            None if end == RunEnd::Finished => {
                self.state.outcome.known += 1;
                self.state.outcome.known_at = now;
            }
            Some(_) | None => {}
        }
    }

    fn guest_over(&mut self, now: Time, (party, id): (PartyId, TaskId), end: RunEnd, out: Leaves<'_>) {
        let book = &mut self.state.books[party.index()];
        let entry = &mut book.tasks[id.index()];
        let class = self.setup.grid.tasks.classes[entry.task.index()];
        let guest = entry.guest.as_mut().expect("it is a neighbour's");
        guest.over = Some(end);
        let counted = book.counted.get_mut(&(guest.from, guest.counted_on)).expect("it was counted");
        counted.take(class);
        let what = Unanswered::Over(party, guest.from, guest.ticket);
        self.say(what, now, out);
    }

    /// A letter about a task comes to a group.
    pub(super) fn receive(
        &mut self,
        now: Time,
        (from, to): (PartyId, PartyId),
        word: &Word,
        out: Leaves<'_>,
    ) {
        let book = &mut self.state.books[to.index()];
        match *word {
            Word::State(_) => unreachable!("news goes its own way"),
            Word::Take { ticket, task, on, hops } => match book.guests.get(&(from, ticket)) {
                Some(id) if book.tasks[id.index()].guest.is_some_and(|guest| guest.over.is_some()) => {
                    // Its end is repeated until it is noted, which this letter left before.
                }
                Some(_) => out.send(to, from, Word::Taken(ticket)),
                None => {
                    book.guests.insert((from, ticket), book.next_task());
                    let class = self.setup.grid.tasks.classes[task.index()];
                    book.counted.entry((from, on)).or_default().add(class);
                    out.send(to, from, Word::Taken(ticket));
                    let guest = Guest { from, ticket, counted_on: on, is_asked_back: false, over: None };
                    self.comes(to, (task, hops), Some(guest), out);
                }
            },
            Word::Taken(ticket) => {
                if let Some(sent) = book.sent.get_mut(&(from, ticket))
                    && sent.stage == Stage::Offered
                {
                    sent.stage = Stage::Taken;
                    // Nobody writes when it begins there: from here it runs.
                    out.tell(to, Event::RunStarted(sent.run));
                }
            }
            Word::TakeBack(ticket) => match book.guests.get(&(from, ticket)).copied() {
                // It never came, and nothing is sent after this that could bring it.
                None => out.send(to, from, Word::Over(ticket, RunEnd::Kept)),
                Some(id) => self.give_back(now, to, id, out),
            },
            Word::Over(ticket, end) => {
                let sent = book.sent.remove(&(from, ticket));
                out.send(to, from, Word::Noted(ticket));
                if let Some(Sent { run, .. }) = sent {
                    self.run_over(now, (to, run), end, out);
                }
            }
            Word::Noted(ticket) => {
                book.guests.remove(&(from, ticket));
            }
        }
    }

    /// Whoever handed a task over wants it back.
    fn give_back(&mut self, now: Time, party: PartyId, id: TaskId, out: Leaves<'_>) {
        let entry = &mut self.state.books[party.index()].tasks[id.index()];
        let guest = entry.guest.as_mut().expect("it is a neighbour's");
        if guest.over.is_some() || std::mem::replace(&mut guest.is_asked_back, true) {
            return;
        }
        let waits = entry.place == Place::Nowhere;
        out.tell(party, Event::TasksWithdrawn { first: id, count: 1 });
        if waits {
            self.guest_over(now, (party, id), RunEnd::Kept, out);
        }
    }
}
