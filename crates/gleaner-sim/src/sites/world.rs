//! What surrounds the meta-schedulers: users, sites with their managers, and the network between the sites.

use super::letters::{Slip, Word};
use super::manager::{Holder, Manager};
use super::notes::Notes;
use super::orders::{Orders, Phase};
use super::outcome::{JobOutcome, SitesOutcome, Used};
use super::post::Post;
use super::setup::{SitesSetup, Staging};
use crate::refused::{Refusals, Refused};
use crate::saving::Lasting;
use crate::{Letter, LinkId, Network, Out, Outside, TransferId};
use gleaner_core::{Command, Event, Part, RunEnd};
use gleaner_policy::sites::estimate::crossing;
use gleaner_units::{FileId, MachineId, Ops, PartyId, RunId, SiteId, TaskClassId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The world of a run over sites.
#[derive(Clone, Debug)]
pub struct SitesWorld<'a> {
    pub(super) setup: &'a SitesSetup,
    pub(super) state: State,
}

/// All that changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// How many jobs came.
    came: usize,
    /// By meta-scheduler, by task: the job's place in the list.
    pub(super) handed_in: Vec<Vec<usize>>,
    pub(super) managers: Vec<Manager>,
    network: Network,
    /// The link out of each site, and the one into it.
    links: Vec<(LinkId, LinkId)>,
    pub(super) orders: Orders,
    pub(super) post: Post,
    pub(super) outcome: SitesOutcome,
    /// When what is counted over time was last brought up to date.
    counted: Time,
    waiting: usize,
    ended: usize,
    in_use: BTreeSet<usize>,
    holding: u64,
    /// How many processors compute.
    computing: u64,
    /// When each site last said or did something.
    pub(super) acted: Vec<Time>,
    pub(super) notes: Vec<Notes>,
    refused: Refusals,
}

/// What happens by itself.
#[derive(Clone, Copy, Debug)]
pub enum Happening {
    /// Users hand in jobs.
    Arrival,
    /// Data is where it was sent.
    Transfer(TransferId),
    /// A run has computed.
    Moment,
    /// A letter was not acknowledged.
    Silence,
}

impl<'a> SitesWorld<'a> {
    pub(super) fn new(setup: &'a SitesSetup) -> Self {
        let mut network = Network::new(setup.division);
        let links = setup.sites.iter();
        let links =
            links.map(|site| (network.add_link(site.upload), network.add_link(site.download))).collect();
        let jobs = setup.jobs.iter().map(|job| JobOutcome {
            submitted: job.submitted,
            dispatched: Time::NEVER,
            dispatched_last: Time::NEVER,
            ended: Time::NEVER,
            parts: Vec::new(),
            computed_s: 0.0,
        });
        let outcome = SitesOutcome {
            jobs: jobs.collect(),
            processors: setup.processors(),
            used: Used::default(),
            used_at_last_end: Used::default(),
            wasted: 0.0,
            sites: setup.sites.len(),
            waited: 0.0,
            refused: 0,
            letters: 0,
            requirements: (0, 0),
        };
        let state = State {
            came: 0,
            handed_in: vec![Vec::new(); setup.schedulers.max(1)],
            managers: setup.sites.iter().map(|site| Manager::new(*site)).collect(),
            network,
            links,
            orders: Orders::default(),
            post: Post::new(setup.protocol.patience),
            outcome,
            counted: Time::ZERO,
            waiting: 0,
            ended: 0,
            in_use: BTreeSet::new(),
            holding: 0,
            computing: 0,
            acted: vec![Time::ZERO; setup.sites.len()],
            notes: vec![Notes::default(); setup.sites.len()],
            refused: Refusals::default(),
        };
        Self { setup, state }
    }

    /// What came of it so far.
    pub fn outcome(&self) -> SitesOutcome {
        self.state.outcome.clone()
    }

    /// What was written that made no sense, up to [`REFUSED_MAX`](crate::REFUSED_MAX) of it.
    pub fn refused(&self) -> &[Refused] {
        self.state.refused.kept()
    }

    /// How many jobs are done.
    pub fn ended(&self) -> usize {
        self.state.ended
    }

    /// Asserts that no site holds more than it has.
    ///
    /// # Panics
    /// If one does.
    pub fn check(&self) {
        self.state.managers.iter().for_each(Manager::check);
        self.state.notes.iter().for_each(Notes::check);
        let held: u64 = self.state.managers.iter().map(Manager::cores_held).sum();
        assert_eq!(held, self.state.holding, "what is held does not add up");
        if self.state.post.is_idle() && self.state.ended == self.setup.jobs.len() {
            assert!(
                self.state.notes.iter().all(Notes::is_empty),
                "a site remembers a job that waits no more"
            );
            assert!(
                self.state.managers.iter().all(Manager::has_forgotten),
                "a site remembers a run that is over"
            );
        }
    }

    pub(super) fn party_of(&self, site: usize) -> PartyId {
        PartyId::new(self.state.handed_in.len() + site)
    }

    fn site_of(&self, party: PartyId) -> usize {
        party.index() - self.state.handed_in.len()
    }

    /// Which site a party is, if it is one.
    pub(super) fn find_site(&self, party: PartyId) -> Option<usize> {
        let site = party.index().checked_sub(self.state.handed_in.len())?;
        (site < self.setup.sites.len()).then_some(site)
    }

    /// What a site is to the meta-schedulers.
    fn machine_of(&self, party: PartyId) -> MachineId {
        MachineId::new(self.site_of(party))
    }

    /// Brings up to date what is counted over time.
    fn count(&mut self, now: Time) {
        let seconds = now.since(self.state.counted).seconds();
        let used = &mut self.state.outcome.used;
        used.held += self.state.holding as f64 * seconds;
        used.computed += self.state.computing as f64 * seconds;
        used.sites_in_use += self.state.in_use.len() as f64 * seconds;
        self.state.outcome.waited += self.state.waiting as f64 * seconds;
        self.state.counted = now;
    }

    fn arrive(&mut self, now: Time, out: &mut Out<Slip>) {
        if self.state.came == 0 {
            for party in (0..self.state.handed_in.len()).map(PartyId::new) {
                self.setup.introductions(party.index()).into_iter().for_each(|event| out.tell(party, event));
                self.introduce(party, out);
            }
        }
        while let Some(job) = self.setup.jobs.get(self.state.came).filter(|job| job.submitted <= now) {
            let party = PartyId::new(job.scheduler);
            let tasks = &mut self.state.handed_in[job.scheduler];
            let next = tasks.len();
            tasks.push(self.state.came);
            let class = TaskClassId::new(next);
            out.tell(party, Event::TaskClassMet(Box::new(job.class())));
            let file = FileId::new(next);
            out.tell(party, Event::FileMet { file, bytes: job.data });
            if job.data > 0 {
                out.tell(party, Event::FileStored { file, site: SiteId::new(job.source) });
                out.tell(party, Event::InputsNamed { class, files: vec![file] });
            }
            let first = TaskId::new(next);
            out.tell(
                party,
                Event::TasksSubmitted { first, count: 1, class, length: Ops::new(job.estimate_s) },
            );
            self.state.came += 1;
            self.state.waiting += 1;
        }
    }

    fn ask(&mut self, now: Time, holder: Holder, parts: Vec<Part>, out: &mut Out<Slip>) {
        let (party, run) = holder;
        let job = self.state.handed_in[party.index()][run.task.index()];
        let needs = self.setup.jobs[job].needs();
        for part in &parts {
            let word = Word::Reserve(run, needs.of_part(part.cores));
            let site = self.party_of(part.on.index());
            self.state.post.say(now, (party, site), word, out);
        }
        self.state.orders.add(holder, job, parts);
    }

    /// A run is not wanted any more, or cannot be: all of its sites are told.
    fn give_up(&mut self, now: Time, holder: Holder, end: RunEnd, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find(holder) else { return };
        if matches!(order.phase, Phase::GivenUp(..) | Phase::Done) {
            return;
        }
        let sites: BTreeSet<usize> = order.parts.iter().map(|part| part.on.index()).collect();
        if let Phase::Computing(until) = order.phase {
            debug_assert!(until >= now, "it has ended");
            let cores = order.cores();
            self.count(now);
            self.state.computing -= cores;
        }
        for site in &sites {
            let to = self.party_of(*site);
            self.state.post.say(now, (holder.0, to), Word::Release(holder.1), out);
        }
        for transfer in self.state.orders.set(holder, Phase::GivenUp(sites, end)) {
            self.state.network.cancel(now, transfer);
        }
    }

    fn release(&mut self, now: Time, site: usize, holder: Holder, out: &mut Out<Slip>) {
        self.count(now);
        self.state.holding -= u64::from(self.state.managers[site].release(holder));
        self.changed(now, site, out);
    }

    /// A site holds other than before, and says so.
    fn changed(&mut self, now: Time, site: usize, out: &mut Out<Slip>) {
        if self.state.managers[site].cores_held() > 0 {
            self.state.in_use.insert(site);
        } else {
            self.state.in_use.remove(&site);
        }
        self.publish(now, site, out);
    }

    /// All sites hold their part: the data may come.
    fn stage_in(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find(holder) else { return };
        let job = &self.setup.jobs[order.job];
        let (source, data) = (job.source, job.data as f64);
        let shares = self.shares(&order.parts);
        let mut transfers = BTreeSet::new();
        for (part, share) in order.parts.clone().iter().zip(shares) {
            let to = part.on.index();
            if to != source && data > 0.0 {
                let route = [self.state.links[source].0, self.state.links[to].1];
                transfers.insert(self.state.network.start(now, &route, data * share));
            }
        }
        let is_there = transfers.is_empty();
        self.state.orders.set(holder, Phase::StagingIn(transfers));
        if is_there {
            self.compute(now, holder, out);
        }
    }

    /// What falls to each part of data, by what a part is sent.
    fn shares(&self, parts: &[Part]) -> Vec<f64> {
        let all: f64 = parts.iter().map(|part| f64::from(part.cores)).sum();
        let share = |part: &Part| match self.setup.staging {
            Staging::Share => f64::from(part.cores) / all,
            Staging::Whole => 1.0,
        };
        parts.iter().map(share).collect()
    }

    fn compute(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let (party, run) = holder;
        let Some(order) = self.state.orders.find_mut(holder) else { return };
        order.began = now;
        let job = &self.setup.jobs[order.job];
        let slowest = order.parts.iter().map(|part| self.setup.sites[part.on.index()].gflops);
        let slowest = slowest.fold(f64::INFINITY, f64::min);
        let crossing = crossing(order.parts.iter().map(|part| part.cores));
        let seconds = job.run_s / slowest * (1.0 + self.setup.crossing * crossing);
        let cores = order.cores();
        self.count(now);
        self.state.computing += cores;
        self.state.orders.set(holder, Phase::Computing(now.after_seconds(seconds)));
        // Its sites tell its meta-scheduler; nothing waits for that.
        out.tell(party, Event::RunStarted(run));
    }

    fn stage_out(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        self.count(now);
        let Some(order) = self.state.orders.find(holder) else { return };
        let (job, cores) = (&self.setup.jobs[order.job], order.cores());
        self.state.computing -= cores;
        let (source, result) = (job.source, job.result as f64);
        let mut transfers = BTreeSet::new();
        for part in &order.parts {
            let from = part.on.index();
            if from != source && result > 0.0 {
                let route = [self.state.links[from].0, self.state.links[source].1];
                // A result has as many pieces as its job has parts, whatever each part was sent.
                let share = f64::from(part.cores) / cores as f64;
                transfers.insert(self.state.network.start(now, &route, result * share));
            }
        }
        let is_back = transfers.is_empty();
        self.state.orders.set(holder, Phase::StagingOut(transfers));
        if is_back {
            self.finish(now, holder, out);
        }
    }

    fn finish(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find(holder).cloned() else { return };
        self.state.orders.set(holder, Phase::Done);
        for part in &order.parts {
            self.release(now, part.on.index(), holder, out);
        }
        let job = &mut self.state.outcome.jobs[order.job];
        if job.ended == Time::NEVER {
            job.ended = now;
            job.dispatched_last = order.dispatched;
            job.computed_s = now.since(order.began).seconds();
            job.parts.clone_from(&order.parts);
            self.state.ended += 1;
            self.state.outcome.used_at_last_end = self.state.outcome.used;
        } else {
            self.waste(now, holder);
        }
        let first = self.party_of(order.parts[0].on.index());
        self.state.post.say(now, (first, holder.0), Word::Ended(holder.1), out);
    }

    fn waste(&mut self, now: Time, holder: Holder) {
        let Some(order) = self.state.orders.find(holder) else { return };
        self.state.outcome.wasted += order.cores() as f64 * now.since(order.dispatched).seconds();
    }

    fn hear(&mut self, now: Time, (from, to): (PartyId, PartyId), word: Word, out: &mut Out<Slip>) {
        match word {
            Word::Reserve(run, needs) => {
                let (site, holder) = (self.site_of(to), (from, run));
                self.count(now);
                let since = self.own_moment(now, site);
                if self.state.managers[site].reserve(holder, needs) {
                    self.state.holding += u64::from(needs.cores);
                    self.state.post.say(now, (to, from), Word::Granted(run, since), out);
                    self.changed(now, site, out);
                } else {
                    self.state.outcome.refused += 1;
                    self.publish(now, site, out);
                    self.state.post.say(now, (to, from), Word::Refused(run), out);
                }
            }
            Word::Granted(run, since) => {
                let on = self.machine_of(from);
                out.tell(to, Event::RunGranted { run, on, since });
            }
            Word::Refused(run) => out.tell(to, Event::RunRefused { run, on: self.machine_of(from) }),
            Word::Dispatch(run) => {
                let (holder, site) = ((from, run), self.site_of(to));
                let Some(order) = self.state.orders.find_mut(holder) else { return };
                let Phase::Granted(silent) = &mut order.phase else { return };
                silent.remove(&site);
                if silent.is_empty() {
                    self.stage_in(now, holder, out);
                }
            }
            Word::Release(run) => {
                let (site, holder) = (self.site_of(to), (from, run));
                self.release(now, site, holder, out);
                self.state.post.say(now, (to, from), Word::Released(run), out);
            }
            Word::Released(run) => self.released(now, (to, run), self.site_of(from), out),
            Word::Ended(run) => {
                self.state.orders.remove((to, run));
                out.tell(to, Event::RunEnded { run, end: RunEnd::Finished });
            }
            Word::Survey(number, new) => {
                let site = self.site_of(to);
                self.state.notes[site].note(from, &new);
                self.answer(now, site, (from, number), out);
            }
            Word::Answer(number, state, known_at) => {
                let machine = self.machine_of(from);
                out.tell(to, Event::SurveyAnswered { number, machine, state, known_at });
            }
            Word::Forget(task) => {
                let site = self.site_of(to);
                self.state.notes[site].forget(from, task);
            }
            Word::State(state, known_at) => {
                let machine = self.machine_of(from);
                out.tell(to, Event::StatePublished { machine, state, known_at });
            }
        }
    }

    /// All sites hold their part, and their meta-scheduler knows.
    fn dispatch(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let order = self.state.orders.find_mut(holder).expect("only what was asked for is sent");
        order.dispatched = now;
        let job = &mut self.state.outcome.jobs[order.job];
        let sites: BTreeSet<usize> = order.parts.iter().map(|part| part.on.index()).collect();
        if job.dispatched == Time::NEVER {
            job.dispatched = now;
            self.count(now);
            self.state.waiting -= 1;
            self.forget(now, (holder.0, holder.1.task), out);
        }
        for site in &sites {
            let to = self.party_of(*site);
            self.state.post.say(now, (holder.0, to), Word::Dispatch(holder.1), out);
        }
        self.state.orders.set(holder, Phase::Granted(sites));
    }

    fn released(&mut self, now: Time, holder: Holder, site: usize, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find_mut(holder) else { return };
        let Phase::GivenUp(silent, end) = &mut order.phase else { return };
        silent.remove(&site);
        if silent.is_empty() {
            let (end, was_dispatched) = (*end, order.dispatched != Time::NEVER);
            if was_dispatched {
                self.waste(now, holder);
            }
            self.state.orders.remove(holder);
            out.tell(holder.0, Event::RunEnded { run: holder.1, end });
        }
    }

    fn moment(&mut self, now: Time, out: &mut Out<Slip>) {
        let Some((_, holder)) = self.state.orders.next() else { return };
        match self.state.orders.find(holder).map(|order| order.phase.clone()) {
            Some(Phase::Computing(_)) => self.stage_out(now, holder, out),
            _ => unreachable!("only what computes waits for a moment"),
        }
    }
}

impl<'a> Lasting<'a> for SitesWorld<'a> {
    type Setup = SitesSetup;
    type State = State;

    fn setup(&self) -> &SitesSetup {
        self.setup
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn at(setup: &'a SitesSetup, state: State) -> Self {
        Self { setup, state }
    }
}

impl Outside for SitesWorld<'_> {
    type Happening = Happening;
    type Letter = Slip;

    fn is_over(&self) -> bool {
        self.state.ended == self.setup.jobs.len() && self.state.orders.is_empty()
    }

    fn next(&self) -> Option<(Time, Happening)> {
        let arrival = self.setup.jobs.get(self.state.came).map(|job| (job.submitted, Happening::Arrival));
        let transfer = self.state.network.next().map(|(at, transfer)| (at, Happening::Transfer(transfer)));
        let moment = self.state.orders.next().map(|(at, _)| (at, Happening::Moment));
        let silence = self.state.post.next().map(|at| (at, Happening::Silence));
        // Of what happens at one time ends come first, then arrivals, then what is said again.
        [moment, transfer, arrival, silence].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    fn take(&mut self, now: Time, happening: Happening, out: &mut Out<Slip>) {
        match happening {
            Happening::Arrival => {
                self.count(now);
                self.arrive(now, out);
            }
            Happening::Transfer(transfer) => {
                self.state.network.end(now, transfer);
                let holder = self.state.orders.arrived(transfer);
                match self.state.orders.find(holder).map(|order| order.phase.clone()) {
                    Some(Phase::StagingIn(left)) if left.is_empty() => self.compute(now, holder, out),
                    Some(Phase::StagingOut(left)) if left.is_empty() => self.finish(now, holder, out),
                    _ => {}
                }
            }
            Happening::Moment => self.moment(now, out),
            Happening::Silence => self.state.post.say_again(now, out),
        }
    }

    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: &mut Out<Slip>) {
        match order {
            Command::Lending(_) => unreachable!("nobody lends sites"),
            Command::Recheck { .. } | Command::Close { .. } => unreachable!("sites compare no answers"),
            Command::StartAfter { .. } => unreachable!("nothing is sent to sites ahead"),
            Command::Ask { run, parts } => self.ask(now, (party, run), parts.into(), out),
            Command::Survey { number, sites } => self.survey(now, (party, number), &sites, out),
            Command::Start { run, .. } | Command::StartWide { run, .. } => {
                self.dispatch(now, (party, run), out);
            }
            Command::Stop { run, .. } => self.stop(now, (party, run), out),
        }
    }

    fn deliver(&mut self, now: Time, letter: Letter<Slip>, out: &mut Out<Slip>) {
        self.state.outcome.letters += 1;
        let ends = (letter.from, letter.to);
        if let Err(why) = self.checked(ends, &letter.body) {
            self.state.refused.note(now, (letter.to, letter.from), why);
            return;
        }
        if let Some(word) = self.state.post.hear(ends, letter.body, out) {
            self.hear(now, ends, word, out);
        }
    }
}

impl SitesWorld<'_> {
    /// A copy that is not wanted any more; one that has just ended is told as it was.
    fn stop(&mut self, now: Time, holder: (PartyId, RunId), out: &mut Out<Slip>) {
        self.give_up(now, holder, RunEnd::Lost, out);
    }
}
