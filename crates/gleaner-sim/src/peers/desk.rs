//! What stands between a peer's scheduler and its letters: ids, loans, and what is refused.

use super::letters::{Loan, Word};
use gleaner_core::{Seek, Want};
use gleaner_units::{MachineClassId, MachineId, PartyId, RunId, Span, TaskClassId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A peer that gave a worker back without having used it gets none for so long.
pub(super) const SPURNED: Span = Span::from_nanos(1_000_000_000);

/// Why a letter is not acted on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unheard {
    /// It crossed another letter.
    Late,
    /// It makes no sense.
    Senseless(&'static str),
}

/// Where two peers' books differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences {
    /// Loans that the borrower thinks it has.
    pub(super) over: Vec<Loan>,
    /// Loans that the borrower does not have.
    pub(super) not_held: Vec<Loan>,
    /// Runs that the borrower thinks it has there.
    pub(super) not_there: Vec<(Loan, RunId)>,
}

/// A worker that a peer lent us.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Borrowed {
    pub(super) from: PartyId,
    pub(super) loan: Loan,
    class: MachineClassId,
    /// What was sent there, and when.
    pub(super) runs: Vec<(RunId, Time)>,
}

/// A worker of ours that a peer has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lent {
    pub(super) to: PartyId,
    pub(super) machine: MachineId,
    pub(super) is_used: bool,
    /// At the last heartbeat its holder did not say that it has it.
    is_missed: bool,
    /// What its holder thought at the last heartbeat runs there, and does not.
    missed: Vec<RunId>,
}

/// A question of the discovery service that the scheduler answers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Question {
    want: Want,
    lent: u32,
}

/// A peer's books.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Desk {
    me: PartyId,
    /// Machines with lower ids are its own.
    own: usize,
    /// The next id that no borrowed machine had yet.
    next_machine: usize,
    /// By class: ids of borrowed machines that went back.
    seats: BTreeMap<MachineClassId, Vec<MachineId>>,
    pub(super) borrowed: BTreeMap<MachineId, Borrowed>,
    by_loan: BTreeMap<(PartyId, Loan), MachineId>,
    /// The newest loan of each lender.
    newest: BTreeMap<PartyId, Loan>,
    /// How many loans came.
    pub(super) received: u64,
    /// Our workers that others have.
    pub(super) lent: BTreeMap<Loan, Lent>,
    /// What the scheduler last said that it wants and offers.
    pub(super) wants: BTreeMap<TaskClassId, (u32, Seek)>,
    pub(super) offers: Option<MachineClassId>,
    /// Who gave a worker back unused, and when.
    pub(super) spurned: BTreeMap<PartyId, Time>,
    loans_made: u64,
    questions: Vec<Question>,
    /// By its own number: which of all tasks it is, and of which job.
    pub(super) tasks: Vec<(u32, u32)>,
    /// When discovery was heard of.
    pub(super) heard: Time,
    /// Whether the scheduler thinks that discovery answers.
    pub(super) is_connected: bool,
}

impl Desk {
    pub(super) fn new(me: PartyId, own: usize) -> Self {
        Self {
            me,
            own,
            next_machine: own,
            seats: BTreeMap::new(),
            borrowed: BTreeMap::new(),
            by_loan: BTreeMap::new(),
            newest: BTreeMap::new(),
            received: 0,
            lent: BTreeMap::new(),
            wants: BTreeMap::new(),
            offers: None,
            spurned: BTreeMap::new(),
            loans_made: 0,
            questions: Vec::new(),
            tasks: Vec::new(),
            heard: Time::ZERO,
            is_connected: true,
        }
    }

    /// Whether a peer ever lent us something.
    pub(super) fn has_met(&self, peer: PartyId) -> bool {
        self.newest.contains_key(&peer)
    }

    pub(super) fn is_own(&self, machine: MachineId) -> bool {
        machine.index() < self.own
    }

    /// A worker is lent: the loan's name.
    pub(super) fn lend(&mut self, machine: MachineId, to: PartyId) -> Loan {
        self.loans_made += 1;
        let loan = Loan(self.loans_made);
        let lent = Lent { to, machine, is_used: false, is_missed: false, missed: Vec::new() };
        self.lent.insert(loan, lent);
        if let Some(question) = self.questions.iter_mut().find(|question| question.want.by == to) {
            question.lent += 1;
        }
        loan
    }

    /// The answer to what discovery asked, if it is complete or nothing more comes.
    pub(super) fn answer(&mut self, is_final: bool) -> Option<Word> {
        let is_complete = self.questions.iter().all(|question| question.lent >= question.want.workers);
        if self.questions.is_empty() || !(is_final || is_complete) {
            return None;
        }
        let served = self.questions.drain(..);
        Some(Word::Served(served.map(|Question { want, lent }| (want.by, want.class, lent)).collect()))
    }

    /// What of the wants makes sense to the scheduler.
    pub(super) fn asked(
        &mut self,
        now: Time,
        wants: &[Want],
        (peers, classes): (usize, usize),
    ) -> Result<Vec<Want>, Unheard> {
        let is_known = |want: &Want| {
            want.by != self.me && want.by.index() < peers && want.class.index() < classes && want.workers > 0
        };
        let whos = |want: &Want| (want.by, want.class);
        let mut seen: Vec<(PartyId, TaskClassId)> = wants.iter().map(whos).collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() < wants.len() || !wants.iter().all(is_known) {
            return Err(Unheard::Senseless("a question about peers or tasks that do not exist"));
        }
        self.questions = wants.iter().map(|want| Question { want: *want, lent: 0 }).collect();
        let spurned = |want: &&Want| self.spurned.get(&want.by).is_some_and(|at| now.since(*at) < SPURNED);
        Ok(wants.iter().filter(|want| !spurned(want)).copied().collect())
    }

    /// A peer lends a worker: the machine that it is here.
    pub(super) fn borrow(
        &mut self,
        from: PartyId,
        loan: Loan,
        (class, classes): (MachineClassId, usize),
    ) -> Result<MachineId, Unheard> {
        if class.index() >= classes {
            return Err(Unheard::Senseless("a worker of a kind that does not exist"));
        }
        if self.newest.get(&from).is_some_and(|newest| *newest >= loan) {
            return Err(Unheard::Senseless("a loan that came already"));
        }
        self.newest.insert(from, loan);
        self.received += 1;
        let seat = self.seats.get_mut(&class).and_then(Vec::pop);
        let machine = seat.unwrap_or_else(|| {
            self.next_machine += 1;
            MachineId::new(self.next_machine - 1)
        });
        self.by_loan.insert((from, loan), machine);
        self.borrowed.insert(machine, Borrowed { from, loan, class, runs: Vec::new() });
        Ok(machine)
    }

    /// A borrowed worker is here no more.
    pub(super) fn end_borrowed(&mut self, machine: MachineId) -> Option<Borrowed> {
        let borrowed = self.borrowed.remove(&machine)?;
        self.by_loan.remove(&(borrowed.from, borrowed.loan));
        self.seats.entry(borrowed.class).or_default().push(machine);
        Some(borrowed)
    }

    /// The machine here of another's loan to us.
    pub(super) fn machine_of(&self, from: PartyId, loan: Loan) -> Result<MachineId, Unheard> {
        let known = self.by_loan.get(&(from, loan)).copied();
        let was = self.newest.get(&from).is_some_and(|newest| *newest >= loan);
        let otherwise = if was { Unheard::Late } else { Unheard::Senseless("a loan that never was") };
        known.ok_or(otherwise)
    }

    /// A run that was sent to a borrowed worker is over: when it was sent.
    pub(super) fn end_run(&mut self, from: PartyId, loan: Loan, run: RunId) -> Result<Time, Unheard> {
        let machine = self.machine_of(from, loan)?;
        let runs = &mut self.borrowed.get_mut(&machine).expect("by loan and by machine alike").runs;
        let at = runs.iter().position(|(sent, _)| *sent == run);
        let is_known = run.task.index() < self.tasks.len();
        let otherwise =
            if is_known { Unheard::Late } else { Unheard::Senseless("a result that nobody asked for") };
        let at = at.ok_or(otherwise)?;
        Ok(runs.swap_remove(at).1)
    }

    /// What a peer thinks that it has of us: which of its loans are over, which of ours it never had or has no more, and which
    /// runs are not there. What crosses another letter is so once; what is so at two heartbeats on end is true.
    pub(super) fn holds(
        &mut self,
        peer: PartyId,
        held: &[(Loan, Vec<RunId>)],
        runs_there: impl Fn(MachineId, RunId) -> bool,
    ) -> Differences {
        let held: BTreeMap<Loan, &Vec<RunId>> = held.iter().map(|(loan, runs)| (*loan, runs)).collect();
        let over = held.keys().filter(|loan| self.lent.get(*loan).is_none_or(|lent| lent.to != peer));
        let mut found = Differences { over: over.copied().collect(), ..Differences::default() };
        for (&loan, lent) in self.lent.iter_mut().filter(|(_, lent)| lent.to == peer) {
            let Some(runs) = held.get(&loan) else {
                if std::mem::replace(&mut lent.is_missed, true) {
                    found.not_held.push(loan);
                }
                continue;
            };
            lent.is_missed = false;
            let missing: Vec<RunId> =
                runs.iter().filter(|run| !runs_there(lent.machine, **run)).copied().collect();
            let twice = missing.iter().filter(|run| lent.missed.contains(run));
            found.not_there.extend(twice.map(|run| (loan, *run)));
            lent.missed = missing;
        }
        found
    }

    /// Our machine behind a loan to a peer.
    pub(super) fn lent_to(&self, to: PartyId, loan: Loan) -> Result<MachineId, Unheard> {
        match self.lent.get(&loan) {
            Some(lent) if lent.to == to => Ok(lent.machine),
            Some(_) => Err(Unheard::Senseless("another's loan")),
            None if loan.0 >= 1 && loan.0 <= self.loans_made => Err(Unheard::Late),
            None => Err(Unheard::Senseless("a loan that never was")),
        }
    }

    /// Whether both sides of each index tell the same.
    pub(super) fn check(&self) -> Result<(), String> {
        let listed: BTreeMap<_, _> =
            self.borrowed.iter().map(|(machine, there)| ((there.from, there.loan), *machine)).collect();
        let seats: usize = self.seats.values().map(Vec::len).sum();
        let ids = self.next_machine - self.own;
        if listed == self.by_loan && seats + self.borrowed.len() == ids {
            Ok(())
        } else {
            Err(format!("the books of {} do not agree with themselves", self.me))
        }
    }
}
