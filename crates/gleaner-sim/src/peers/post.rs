//! What a peer sends to others, and does about what they send.

use super::desk::Unheard;
use super::letters::{Loan, Word};
use super::world::{Leaves, PeersWorld};
use gleaner_core::{Event, Lending, LendingEvent, RunEnd};
use gleaner_units::{PartyId, RunId, Span, Time};

impl PeersWorld<'_> {
    /// Carries out what a scheduler orders among peers.
    pub(super) fn lend(&mut self, now: Time, peer: PartyId, order: Lending, out: Leaves<'_>) {
        let service = PartyId::new(self.state.desks.len());
        let is_away = self.is_away(peer);
        let desk = &mut self.state.desks[peer.index()];
        match order {
            Lending::Ask { class, workers, seek } => {
                let received = desk.received;
                desk.wants.insert(class, (workers, seek));
                // Who is away says it when it is back.
                let asks = (!is_away).then_some(Word::Wants { class, workers, seek, received });
                out.send_all(peer, service, asks);
            }
            Lending::Offer { best } => {
                desk.offers = best;
                out.send_all(peer, service, (!is_away).then_some(Word::Offers { best }));
            }
            Lending::Lend { machine, to } => {
                let loan = desk.lend(machine, to);
                let answer = desk.answer(false);
                let worker = self.worker_of(peer, machine);
                self.state.workers.all[worker].loan = Some((to, loan));
                out.send(peer, to, Word::Lent { loan, class: self.state.workers.all[worker].taken_for });
                out.send_all(peer, service, answer);
            }
            Lending::Refuse => {
                let answer = desk.answer(true);
                out.send_all(peer, service, answer);
            }
            Lending::Recall { machine } => {
                let worker = self.worker_of(peer, machine);
                let Some((holder, loan)) = self.state.workers.all[worker].loan else { return };
                self.end_loan(now, peer, loan);
                out.send(peer, holder, Word::Recalled(loan));
                out.answer(peer, Event::Lending(LendingEvent::Returned { machine }));
            }
            Lending::GiveBack { machine } => {
                if let Some(borrowed) = desk.end_borrowed(machine) {
                    out.send(peer, borrowed.from, Word::GivenBack(borrowed.loan));
                }
            }
        }
    }

    /// All that may have been lost on the way is said once more.
    pub(super) fn say_again(&mut self, peer: PartyId, out: Leaves<'_>) {
        let service = PartyId::new(self.state.desks.len());
        let desk = &self.state.desks[peer.index()];
        for (&class, &(workers, seek)) in &desk.wants {
            out.send(peer, service, Word::Wants { class, workers, seek, received: desk.received });
        }
        out.send(peer, service, Word::Offers { best: desk.offers });
        out.send(peer, service, Word::Here);
        // Also to those of whom it has nothing any more: they may think that it has.
        let mut held: Vec<Vec<(Loan, Vec<RunId>)>> = vec![Vec::new(); self.state.desks.len()];
        for borrowed in desk.borrowed.values() {
            let runs = borrowed.runs.iter().map(|(run, _)| *run).collect();
            held[borrowed.from.index()].push((borrowed.loan, runs));
        }
        for (other, loans) in held.into_iter().enumerate() {
            let other = PartyId::new(other);
            if other != peer && desk.has_met(other) {
                out.send(peer, other, Word::Holds(loans));
            }
        }
    }

    /// What a borrower thinks that it has is compared with what is so.
    fn compare(
        &mut self,
        now: Time,
        (from, to): (PartyId, PartyId),
        held: &[(Loan, Vec<RunId>)],
        out: Leaves<'_>,
    ) {
        let mut desk = std::mem::replace(&mut self.state.desks[to.index()], super::desk::Desk::new(to, 0));
        let runs_there = |machine, run| {
            let worker = self.worker_of(to, machine);
            self.state.workers.on(worker).any(|running| running.party == from && running.run == run)
        };
        let found = desk.holds(from, held, runs_there);
        self.state.desks[to.index()] = desk;
        for loan in found.over {
            out.send(to, from, Word::Recalled(loan));
        }
        for (loan, run) in found.not_there {
            out.send(to, from, Word::Ended { loan, run, finished: false });
        }
        for loan in found.not_held {
            if let Some((_, machine)) = self.end_loan(now, to, loan) {
                out.tell(to, Event::Lending(LendingEvent::Returned { machine }));
            }
        }
    }

    /// A letter comes to a peer. **What it says is checked here.**
    pub(super) fn receive(
        &mut self,
        now: Time,
        (from, to): (PartyId, PartyId),
        word: Word,
        out: Leaves<'_>,
    ) -> Result<(), Unheard> {
        let service = PartyId::new(self.state.desks.len());
        if from == service {
            self.hear_of_discovery(now, to, word, out)
        } else {
            self.hear_of_peer(now, (from, to), word, out)
        }
    }

    fn hear_of_discovery(
        &mut self,
        now: Time,
        to: PartyId,
        word: Word,
        out: Leaves<'_>,
    ) -> Result<(), Unheard> {
        let service = PartyId::new(self.state.desks.len());
        let known = (self.state.desks.len(), self.setup.task_classes.len());
        let desk = &mut self.state.desks[to.index()];
        desk.heard = now;
        if !std::mem::replace(&mut desk.is_connected, true) {
            out.tell(to, Event::Lending(LendingEvent::Connected { is_connected: true }));
        }
        match word {
            Word::Wanted(wants) => {
                let unanswered = desk.answer(true);
                let wants = desk.asked(now, &wants, known)?;
                let none = if wants.is_empty() { desk.answer(true) } else { None };
                out.send_all(to, service, unanswered.into_iter().chain(none));
                out.tell(to, Event::Lending(LendingEvent::Wanted(wants)));
            }
            Word::NothingLent { class, seek } if class.index() < known.1 => {
                out.tell(to, Event::Lending(LendingEvent::NothingLent { class, seek }));
            }
            Word::NothingLent { .. } => {
                return Err(Unheard::Senseless("an answer about tasks that do not exist"));
            }
            Word::Gone(other) => self.part(now, to, other, out),
            Word::Here => {}
            Word::Wants { .. }
            | Word::Offers { .. }
            | Word::Served(_)
            | Word::Lent { .. }
            | Word::Recalled(_)
            | Word::GivenBack(_)
            | Word::Holds(_)
            | Word::Run { .. }
            | Word::Stop { .. }
            | Word::Ended { .. } => return Err(Unheard::Senseless("not what discovery says")),
        }
        Ok(())
    }

    fn hear_of_peer(
        &mut self,
        now: Time,
        (from, to): (PartyId, PartyId),
        word: Word,
        out: Leaves<'_>,
    ) -> Result<(), Unheard> {
        if from == to {
            return Err(Unheard::Senseless("from itself"));
        }
        let classes = self.believed.classes.len();
        let desk = &mut self.state.desks[to.index()];
        match word {
            Word::Lent { loan, class } => {
                let machine = desk.borrow(from, loan, (class, classes))?;
                out.tell(to, Event::Lending(LendingEvent::Borrowed { machine, class, from }));
            }
            Word::Recalled(loan) => {
                let machine = desk.machine_of(from, loan)?;
                desk.end_borrowed(machine);
                out.tell(to, Event::MachineLost { machine });
            }
            Word::GivenBack(loan) => {
                let machine = desk.lent_to(from, loan)?;
                if !desk.lent[&loan].is_used {
                    desk.spurned.insert(from, now);
                }
                self.end_loan(now, to, loan);
                out.tell(to, Event::Lending(LendingEvent::Returned { machine }));
            }
            Word::Holds(held) => self.compare(now, (from, to), &held, out),
            Word::Run { loan, run } => return self.run_for(now, (from, to), (loan, run), out),
            Word::Stop { loan, run } => {
                let machine = desk.lent_to(from, loan)?;
                let worker = self.worker_of(to, machine);
                if !self.state.workers.stop(now, worker, (from, run)) {
                    return Err(Unheard::Late);
                }
                self.state.outcome.stopped += 1;
            }
            Word::Ended { loan, run, finished } => {
                let sent = desk.end_run(from, loan, run)?;
                let end = if finished { RunEnd::Finished } else { RunEnd::Lost };
                if finished {
                    // By the borrower's own clock: a lender that lies about it gains nothing.
                    let away = now.since(sent);
                    let inputs = self.setup.inputs;
                    let computed = Span::from_nanos(away.nanos().saturating_sub(inputs.nanos()));
                    self.task_ends(now, (to, from), run, (away, computed), out);
                }
                out.tell(to, Event::RunEnded { run, end });
            }
            Word::Wants { .. }
            | Word::Offers { .. }
            | Word::Served(_)
            | Word::Here
            | Word::Wanted(_)
            | Word::NothingLent { .. }
            | Word::Gone(_) => return Err(Unheard::Senseless("not what a peer says to another")),
        }
        Ok(())
    }

    /// A peer wants a run on a worker that it has of us. Whoever sends what cannot run is told that it is over.
    fn run_for(
        &mut self,
        now: Time,
        (from, to): (PartyId, PartyId),
        (loan, run): (Loan, RunId),
        out: Leaves<'_>,
    ) -> Result<(), Unheard> {
        let machine = self.state.desks[to.index()].lent_to(from, loan);
        let is_known = run.task.index() < self.state.desks[from.index()].tasks.len();
        let checked = machine.and_then(|machine| {
            let worker = self.worker_of(to, machine);
            let is_there = self.state.workers.on(worker).any(|running| running.run == run);
            if !is_known || is_there || !self.state.workers.all[worker].has_free_core() {
                return Err(Unheard::Senseless("a run that is unknown, there already, or one too many"));
            }
            Ok(worker)
        });
        match checked {
            Ok(worker) => {
                if let Some(lent) = self.state.desks[to.index()].lent.get_mut(&loan) {
                    lent.is_used = true;
                }
                self.begin(now, (from, run), worker, Some(loan));
            }
            Err(_) => out.send(to, from, Word::Ended { loan, run, finished: false }),
        }
        checked.map(drop)
    }
}
