//! The world around the peers: what is true of workers and tasks, and what becomes of letters and orders.

mod service;
mod state;
mod told;

pub(super) use state::{Happening, State};

use super::accounts::OpenJob;
use super::believed::Believed;
use super::desk::{Lent, Unheard};
use super::letters::{Loan, Word};
use super::setup::PeersSetup;
use super::spans::Spans;
use super::workers::{Running, Worker, Workers};
use crate::mail::Letter;
use crate::parties::{Out, Outside};
use crate::saving::Lasting;
use gleaner_core::{Chance, Command, Event, LendingEvent, Purpose, RunEnd};
use gleaner_units::{MachineId, PartyId, RunId, Span, TaskId, Time};
use std::cmp::Reverse;

/// A peer of which nothing is heard for so many heartbeats is forgotten.
const HEARTBEATS_MISSED: u64 = 3;

/// Workers, tasks, the discovery service and each peer's desk.
#[derive(Clone, Debug)]
pub struct PeersWorld<'a> {
    pub(super) setup: &'a PeersSetup,
    /// By peer: its first worker.
    first_worker: Vec<usize>,
    /// The first of a job's tasks.
    first_task: Vec<u32>,
    /// By worker: how long a run goes on there on average before it fails, where runs do.
    fails_after: Vec<Option<Span>>,
    /// What workers can be taken for.
    pub(super) believed: Believed,
    /// By peer: when nobody hears it.
    silences: Spans<PartyId>,
    /// By peer and its broker: when that is away.
    pub(super) brokers_away: Spans<(PartyId, u32)>,
    pub(super) state: State,
}

/// Letters and events that leave a deed.
pub(super) type Leaves<'b> = &'b mut Out<Word>;

impl<'a> PeersWorld<'a> {
    pub(super) fn new(setup: &'a PeersSetup) -> Self {
        let believed = Believed::of(setup);
        let mut workers = Workers::default();
        let mut first_worker = Vec::new();
        for (peer, site) in setup.peers.iter().enumerate() {
            first_worker.push(workers.all.len());
            for (index, class) in site.workers.iter().enumerate() {
                let cores = setup.machine_classes[class.index()].cores;
                let (owner, machine) = (PartyId::new(peer), MachineId::new(index));
                let taken_for = believed.at_first(*class);
                workers.all.push(Worker::new((owner, machine), (*class, taken_for), cores));
            }
        }
        let first_task = setup.jobs.iter().scan(0, |next, job| {
            let first = *next;
            *next += job.tasks;
            Some(first)
        });
        let state = State::of(setup, workers);
        let mut fails_after = vec![None; state.workers.all.len()];
        for frail in &setup.frail {
            fails_after[first_worker[frail.peer.index()] + frail.worker] = Some(frail.fails_after);
        }
        let first_task = first_task.collect();
        let silences =
            Spans::of(setup.silences.iter().map(|silence| (silence.peer, silence.from, silence.until)));
        let brokers_away = setup.brokers_away.iter();
        let brokers_away =
            Spans::of(brokers_away.map(|away| ((away.peer, away.broker), away.from, away.until)));
        let mut world =
            Self { setup, first_worker, first_task, fails_after, believed, silences, brokers_away, state };
        world.skip_followers();
        (0..setup.absences.len()).for_each(|index| world.date_absence(index));
        (0..setup.peers.len()).map(PartyId::new).for_each(|peer| world.draw_absence(peer, Time::ZERO));
        world
    }

    /// Where letters to and from the discovery service go.
    fn service(&self) -> PartyId {
        PartyId::new(self.setup.peers.len())
    }

    /// Jobs that come after others do not come by themselves.
    fn skip_followers(&mut self) {
        while self.setup.jobs.get(self.state.next_job).is_some_and(|job| job.after.is_some()) {
            self.state.next_job += 1;
        }
    }

    pub(super) fn worker_of(&self, peer: PartyId, machine: MachineId) -> usize {
        self.first_worker[peer.index()] + machine.index()
    }

    pub(super) fn is_away(&self, peer: PartyId) -> bool {
        self.state.away.get(peer.index()).is_some_and(|reasons| *reasons > 0)
    }

    fn is_silent(&self, peer: PartyId, now: Time) -> bool {
        self.silences.last_end(&peer, now).is_some()
    }

    fn job_arrives(&mut self, now: Time, index: u32, out: Leaves<'_>) {
        let job = self.setup.jobs[index as usize];
        let desk = &mut self.state.desks[job.peer.index()];
        let first = TaskId::new(desk.tasks.len());
        let first_task = self.first_task[index as usize];
        desk.tasks.extend((first_task..first_task + job.tasks).map(|task| (task, index)));
        self.state.open.insert(index, OpenJob::new(now, (first, job.tasks)));
        if self.setup.declares_lengths {
            for (task, at) in (first_task..first_task + job.tasks).zip(first.index()..) {
                let (first, length) = (TaskId::new(at), Some(self.setup.lengths[task as usize]));
                out.tell(job.peer, Event::TasksSubmitted { first, count: 1, class: job.class, length });
            }
        } else {
            let (count, class) = (job.tasks, job.class);
            out.tell(job.peer, Event::TasksSubmitted { first, count, class, length: None });
        }
    }

    /// The seconds that a task takes on a worker, inputs apart.
    fn seconds(&self, task: u32, worker: usize) -> f64 {
        let class = &self.setup.machine_classes[self.state.workers.all[worker].class.index()];
        let seconds = self.setup.weights[0] * self.setup.lengths[task as usize].amount() / class.speeds[0];
        match self.setup.unrelated {
            None => seconds,
            Some(unrelated) => seconds * unrelated.factor(task, worker),
        }
    }

    pub(super) fn begin(
        &mut self,
        now: Time,
        (party, run): (PartyId, RunId),
        worker: usize,
        loan: Option<Loan>,
    ) {
        let (task, job) = self.state.desks[party.index()].tasks[run.task.index()];
        self.state.outcome.started[job as usize].get_or_insert(now);
        let computes_from = if loan.is_some() { now + self.setup.inputs } else { now };
        let done = computes_from.after_seconds(self.seconds(task, worker));
        let failure = self.fails_after[worker].map_or(Time::NEVER, |mean| {
            let nth = u64::from(run.number) << 32 | u64::from(task);
            let unit = Chance::of_nth(self.setup.seed, Purpose::Failure, nth).unit();
            now.after_seconds(-mean.seconds() * libm::log(1.0 - unit))
        });
        let running = Running::new((party, run), (worker, loan), (now, computes_from), failure < done);
        self.state.workers.begin(running, done.min(failure));
    }

    /// The next of what its owner sent a worker begins, if it can.
    pub(super) fn begin_queued(&mut self, now: Time, worker: usize, out: Leaves<'_>) {
        while self.state.workers.all[worker].has_free_core()
            && let Some(run) = self.state.workers.all[worker].queue.pop_front()
        {
            let owner = self.state.workers.all[worker].owner;
            self.begin(now, (owner, run), worker, None);
            out.tell(owner, Event::RunStarted(run));
        }
    }

    fn run_ends(&mut self, now: Time, slot: u32, out: Leaves<'_>) {
        let Some(running) = self.state.workers.end(now, slot) else { return };
        let Running { party, run, worker, loan, began, computes_from, fails } = running;
        let owner = self.state.workers.all[worker].owner;
        if fails {
            self.state.outcome.failed += 1;
            if let Some(loan) = loan {
                out.send(owner, party, Word::Ended { loan, run, finished: false });
            } else {
                out.tell(party, Event::RunEnded { run, end: RunEnd::Lost });
                self.begin_queued(now, worker, out);
            }
            return;
        }
        let took = now.since(computes_from);
        self.show_power((party, run, worker), took, out);
        if let Some(loan) = loan {
            out.tell(owner, Event::Lending(LendingEvent::FavourDone { to: party, worth: took }));
            out.send(owner, party, Word::Ended { loan, run, finished: true });
            return;
        }
        self.task_ends(now, (party, owner), run, (now.since(began), took), out);
        out.tell(party, Event::RunEnded { run, end: RunEnd::Finished });
        self.begin_queued(now, worker, out);
    }

    /// What a worker did of a task shows its owner how powerful it is.
    fn show_power(&mut self, (party, run, worker): (PartyId, RunId, usize), took: Span, out: Leaves<'_>) {
        if !self.setup.learns_power {
            return;
        }
        let (task, _) = self.state.desks[party.index()].tasks[run.task.index()];
        let there = &mut self.state.workers.all[worker];
        there.shown.add(self.setup.weights[0] * self.setup.lengths[task as usize].amount(), took);
        let class = self.believed.nearest(there.class, there.shown);
        if std::mem::replace(&mut there.taken_for, class) != class {
            let (owner, machine) = (there.owner, there.machine);
            out.tell(owner, Event::MachineMeasured { machine, class });
        }
    }

    /// A task is done, as its peer knows from now on.
    pub(super) fn task_ends(
        &mut self,
        now: Time,
        (peer, lender): (PartyId, PartyId),
        run: RunId,
        (on_worker, computed): (Span, Span),
        out: Leaves<'_>,
    ) {
        let (_, index) = self.state.desks[peer.index()].tasks[run.task.index()];
        let job = self.state.open.get_mut(&index).expect("a job with a task left is open");
        if lender == peer {
            job.local(computed);
        } else {
            job.remote(lender, computed);
        }
        job.left -= 1;
        self.state.tasks_left -= 1;
        if self.state.tasks_left == 0 {
            // Nobody waits for their orders to stop to come.
            let workers = 0..self.state.workers.all.len();
            let stopped: usize = workers.map(|worker| self.state.workers.stop_all(now, worker)).sum();
            self.state.outcome.stopped += stopped as u64;
        }
        let parties = (peer.index(), lender.index());
        self.state.outcome.finished(parties, (job.submitted, now), (on_worker, computed));
        if job.left > 0 {
            return;
        }
        let job = self.state.open.remove(&index).expect("it was there");
        self.state.outcome.job_ended(peer.index(), index, (job.submitted, now));
        for (from, worth) in job.worth() {
            out.tell(peer, Event::Lending(LendingEvent::FavourReceived { from, worth }));
        }
        if let Some(next) = self.state.followers.remove(&index) {
            let (_, thinks) = self.setup.jobs[next as usize].after.expect("it follows");
            let comes = self.setup.jobs[next as usize].submitted.max(now + thinks);
            self.state.next_arrivals.push(Reverse((comes, next)));
        }
    }

    /// A loan is over, and whatever ran there for it.
    pub(super) fn end_loan(&mut self, now: Time, peer: PartyId, loan: Loan) -> Option<(PartyId, MachineId)> {
        let Lent { to: holder, machine, .. } = self.state.desks[peer.index()].lent.remove(&loan)?;
        let worker = self.worker_of(peer, machine);
        self.state.workers.all[worker].loan = None;
        self.state.outcome.stopped += self.state.workers.stop_all(now, worker) as u64;
        Some((holder, machine))
    }

    fn loan_of(&self, worker: usize) -> Option<Loan> {
        self.state.workers.all[worker].loan.map(|(_, loan)| loan)
    }

    pub(super) fn goes_down(&mut self, now: Time, worker: usize, out: Leaves<'_>) {
        let Worker { owner, machine, .. } = self.state.workers.all[worker];
        self.state.workers.all[worker].downs += 1;
        if self.state.workers.all[worker].downs > 1 {
            return;
        }
        if let Some(loan) = self.loan_of(worker)
            && let Some((holder, _)) = self.end_loan(now, owner, loan)
        {
            out.send(owner, holder, Word::Recalled(loan));
        }
        self.state.workers.all[worker].queue.clear();
        self.state.outcome.stopped += self.state.workers.stop_all(now, worker) as u64;
        out.tell(owner, Event::MachineLost { machine });
    }

    pub(super) fn comes_up(&mut self, worker: usize, out: Leaves<'_>) {
        let Worker { owner, machine, .. } = self.state.workers.all[worker];
        self.state.workers.all[worker].downs -= 1;
        if self.state.workers.all[worker].downs == 0 {
            out.tell(owner, Event::MachineReturned { machine });
        }
    }

    /// A peer has what it had from others and lent to them no more.
    pub(super) fn part(&mut self, now: Time, one: PartyId, other: PartyId, out: Leaves<'_>) {
        let desk = &self.state.desks[one.index()];
        let lent = desk.lent.iter().filter(|(_, lent)| lent.to == other);
        let lent: Vec<Loan> = lent.map(|(loan, _)| *loan).collect();
        let borrowed = desk.borrowed.iter().filter(|(_, borrowed)| borrowed.from == other);
        let borrowed: Vec<MachineId> = borrowed.map(|(machine, _)| *machine).collect();
        for loan in lent {
            if let Some((_, machine)) = self.end_loan(now, one, loan) {
                out.tell(one, Event::Lending(LendingEvent::Returned { machine }));
            }
        }
        for machine in borrowed {
            self.state.desks[one.index()].end_borrowed(machine);
            out.tell(one, Event::MachineLost { machine });
        }
    }

    /// Who is not silent says so; who was not heard of for too long is forgotten.
    fn heartbeat(&mut self, now: Time, out: Leaves<'_>) {
        let Some(period) = self.setup.heartbeat else { return };
        self.state.dated.push(Reverse((now + period, Happening::Heartbeat)));
        let service = self.service();
        let patience = period.nanos().saturating_mul(HEARTBEATS_MISSED);
        let is_over = |heard: Time| now.since(heard).nanos() > patience;
        for peer in (0..self.state.desks.len()).map(PartyId::new) {
            if !self.is_away(peer) {
                self.say_again(peer, out);
            }
            if !self.is_away(peer) && is_over(self.state.desks[peer.index()].heard) {
                // Nothing comes through: whatever it has of others, and they of it, is gone.
                if std::mem::replace(&mut self.state.desks[peer.index()].is_connected, false) {
                    out.tell(peer, Event::Lending(LendingEvent::Connected { is_connected: false }));
                }
                for other in (0..self.state.desks.len()).map(PartyId::new) {
                    self.part(now, peer, other, out);
                }
            }
            if self.state.heard[peer.index()].is_some_and(is_over) {
                self.state.heard[peer.index()] = None;
                self.state.discovery.forget_peer(peer, &mut |to, word| out.send(service, to, word));
                for other in (0..self.state.desks.len()).map(PartyId::new).filter(|other| *other != peer) {
                    out.send(service, other, Word::Gone(peer));
                }
            }
        }
    }
}

impl<'a> Lasting<'a> for PeersWorld<'a> {
    type Setup = PeersSetup;
    type State = State;

    fn setup(&self) -> &PeersSetup {
        self.setup
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn at(setup: &'a PeersSetup, state: State) -> Self {
        Self { state, ..Self::new(setup) }
    }
}

impl Outside for PeersWorld<'_> {
    type Happening = Happening;
    type Letter = Word;

    fn is_over(&self) -> bool {
        self.state.tasks_left == 0
    }

    #[inline]
    fn next(&self) -> Option<(Time, Happening)> {
        let end = self.state.workers.next_end().map(|(time, slot)| (time, Happening::End(slot)));
        let dated = self.state.dated.peek().map(|Reverse(next)| *next);
        let job = self.setup.jobs.get(self.state.next_job);
        let job = job.map(|job| (job.submitted, Happening::Arrival(self.state.next_job as u32)));
        let follower =
            self.state.next_arrivals.peek().map(|Reverse((time, job))| (*time, Happening::Arrival(*job)));
        // The first of equals: ends before what is dated before arrivals.
        let next = [end, dated, job, follower].into_iter().flatten().min_by_key(|(time, _)| *time)?;
        (next.0 < Time::NEVER).then_some(next)
    }

    fn take(&mut self, now: Time, happening: Happening, out: Leaves<'_>) {
        match happening {
            Happening::End(slot) => self.run_ends(now, slot, out),
            Happening::Arrival(index) => {
                if index as usize == self.state.next_job {
                    self.state.next_job += 1;
                    self.skip_followers();
                } else {
                    self.state.next_arrivals.pop();
                }
                match self.broker_is_back(now, index) {
                    None => self.job_arrives(now, index, out),
                    Some(back) => self.state.next_arrivals.push(Reverse((back, index))),
                }
            }
            Happening::Down(index) | Happening::Up(index) => {
                self.state.dated.pop();
                let outage = self.setup.outages[index as usize];
                let worker = self.first_worker[outage.peer.index()] + outage.worker;
                if happening == Happening::Up(index) {
                    self.comes_up(worker, out);
                } else {
                    self.goes_down(now, worker, out);
                }
            }
            Happening::Leaves(index) | Happening::Comes(index) => {
                self.state.dated.pop();
                let peer = self.state.absences[index as usize].peer;
                if happening == Happening::Leaves(index) {
                    self.leaves(now, peer, out);
                } else {
                    self.comes_back(now, peer, out);
                    let is_drawn = index as usize >= self.setup.absences.len();
                    if is_drawn {
                        self.draw_absence(peer, now);
                    }
                }
            }
            Happening::BrokerLeaves(index) | Happening::BrokerComes(index) => {
                self.state.dated.pop();
                let is_back = matches!(happening, Happening::BrokerComes(_));
                self.broker_moves(now, &self.setup.brokers_away[index as usize], is_back, out);
            }
            Happening::Forged(index) => {
                self.state.dated.pop();
                let letter = &self.setup.forged[index as usize];
                out.send(letter.from, letter.to, letter.word.clone());
            }
            Happening::Heartbeat => {
                self.state.dated.pop();
                self.heartbeat(now, out);
            }
        }
    }

    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: Leaves<'_>) {
        match order {
            Command::Start { run, on } if self.state.desks[party.index()].is_own(on) => {
                let worker = self.worker_of(party, on);
                // Of several that go at once, the scheduler hears one after another.
                if self.state.workers.all[worker].downs == 0 {
                    self.state.workers.all[worker].queue.push_back(run);
                    self.begin_queued(now, worker, out);
                }
            }
            Command::Start { run, on } => {
                // Where the loan ended at this instant, the scheduler hears that its machine is lost, and the run with it.
                if let Some(there) = self.state.desks[party.index()].borrowed.get_mut(&on) {
                    there.runs.push((run, now));
                    out.send(party, there.from, Word::Run { loan: there.loan, run });
                    // Nobody writes when it begins there: to the borrower it runs from now on.
                    out.tell(party, Event::RunStarted(run));
                }
            }
            Command::Stop { run, on, .. } => {
                if self.state.desks[party.index()].is_own(on) {
                    let worker = self.worker_of(party, on);
                    self.state.workers.all[worker].queue.retain(|other| *other != run);
                    self.state.outcome.stopped +=
                        u64::from(self.state.workers.stop(now, worker, (party, run)));
                    self.begin_queued(now, worker, out);
                } else if let Some(there) = self.state.desks[party.index()].borrowed.get_mut(&on) {
                    there.runs.retain(|(other, _)| *other != run);
                    out.send(party, there.from, Word::Stop { loan: there.loan, run });
                }
                out.answer(party, Event::RunEnded { run, end: RunEnd::Lost });
            }
            // A setup whose tasks take more is refused.
            Command::StartWide { .. } | Command::Ask { .. } | Command::Survey { .. } => {
                unreachable!("a task among peers takes one core, on a worker that is there")
            }
            Command::Recheck { .. } | Command::Close { .. } => unreachable!("peers compare no answers"),
            Command::StartAfter { .. } => unreachable!("peers send nothing ahead"),
            Command::Lending(wish) => self.lend(now, party, wish, out),
        }
    }

    fn deliver(&mut self, now: Time, letter: Letter<Word>, out: Leaves<'_>) {
        let Letter { from, to, sent, body } = letter;
        let service = self.service();
        let is_heard = |peer: PartyId| !self.is_silent(peer, now) && !self.is_away(peer);
        if (from != service && self.is_silent(from, sent)) || (to != service && !is_heard(to)) {
            return;
        }
        let heard =
            if from.index() > service.index() || (to != service && to.index() >= self.state.desks.len()) {
                Err(Unheard::Senseless("from or to nobody"))
            } else if to != service {
                self.receive(now, (from, to), body, out)
            } else if from == service {
                Err(Unheard::Senseless("from itself"))
            } else {
                self.hear(now, from, body, out)
            };
        if let Err(why) = heard {
            self.unheard(now, (to, from), why);
        }
    }
}
