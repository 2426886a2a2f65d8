//! Where runs were, and when: what a schedule is drawn from. A task that was moved has a stay on each machine where it ran.

use crate::parties::Observer;
use gleaner_core::{Command, Decision, Event};
use gleaner_units::{MachineId, PartyId, RunId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A run, or a part of one, on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// Of which task.
    pub run: RunId,
    /// Where.
    pub on: MachineId,
    /// When it began.
    pub from: Time,
    /// When it ended or was stopped; [`Time::NEVER`] while it goes on.
    pub until: Time,
}

/// What an [`Observer`] of a lone scheduler's run took down: 32 bytes a stay, up to so many, and of those the first.
#[derive(Clone, Debug)]
pub struct Stays(Rc<RefCell<Book>>);

#[derive(Debug)]
struct Book {
    most: usize,
    left_out: u64,
    sent: BTreeMap<RunId, Vec<MachineId>>,
    /// By run: the places of its stays.
    open: BTreeMap<RunId, Vec<usize>>,
    stays: Vec<Stay>,
}

impl Stays {
    /// None yet, and never more than so many.
    pub fn new(most: usize) -> Self {
        let (sent, open) = (BTreeMap::new(), BTreeMap::new());
        Self(Rc::new(RefCell::new(Book { most, left_out: 0, sent, open, stays: Vec::new() })))
    }

    /// What takes them down.
    pub fn observer(&self) -> impl Observer + use<> {
        self.clone()
    }

    /// In order of their beginnings.
    pub fn all(&self) -> Vec<Stay> {
        self.0.borrow().stays.clone()
    }

    /// How many later ones were not taken down.
    pub fn left_out(&self) -> u64 {
        self.0.borrow().left_out
    }
}

impl Observer for Stays {
    fn event(&mut self, now: Time, _: PartyId, event: &Event) {
        let book = &mut *self.0.borrow_mut();
        match *event {
            Event::RunStarted(run) => book.begin(now, run),
            Event::RunEnded { run, .. } => {
                book.sent.remove(&run);
                for place in book.open.remove(&run).unwrap_or_default() {
                    book.stays[place].until = now;
                }
            }
            Event::MachineLost { machine } => book.lose(now, machine),
            _ => {}
        }
    }

    fn decision(&mut self, _: Time, _: PartyId, _: &Decision) {}

    fn command(&mut self, _: Time, _: PartyId, command: &Command) {
        let sent = &mut self.0.borrow_mut().sent;
        match command {
            Command::Start { run, on } => drop(sent.insert(*run, vec![*on])),
            Command::StartWide { run, parts } => {
                drop(sent.insert(*run, parts.iter().map(|part| part.on).collect()));
            }
            Command::Stop { .. } | Command::Lending(_) => {}
        }
    }
}

impl Book {
    fn begin(&mut self, now: Time, run: RunId) {
        for on in self.sent.remove(&run).unwrap_or_default() {
            if self.stays.len() >= self.most {
                self.left_out += 1;
                continue;
            }
            self.open.entry(run).or_default().push(self.stays.len());
            self.stays.push(Stay { run, on, from: now, until: Time::NEVER });
        }
    }

    /// Costs O(runs that go on).
    fn lose(&mut self, now: Time, machine: MachineId) {
        let Self { open, stays, .. } = self;
        open.retain(|_, places| {
            places.retain(|place| {
                let stay = &mut stays[*place];
                if stay.on == machine {
                    stay.until = now;
                }
                stay.on != machine
            });
            !places.is_empty()
        });
        self.sent.retain(|_, on| !on.contains(&machine));
    }
}
