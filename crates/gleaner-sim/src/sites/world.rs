//! What surrounds the meta-schedulers: users, sites with their managers, and the network between the sites.

mod stages;

use super::letters::{Slip, Word};
use super::manager::{Holder, Manager};
use super::notes::Notes;
use super::orders::{Orders, Phase};
use super::outcome::{JobOutcome, SitesOutcome, Used};
use super::post::Post;
use super::setup::SitesSetup;
use crate::refused::{Refusals, Refused};
use crate::saving::Lasting;
use crate::{Letter, LinkId, Network, Out, Outside, TransferId};
use gleaner_core::{Command, Event, Needs, Part, RunEnd};
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

    /// A site is asked for room, and answers.
    fn reserve(
        &mut self,
        now: Time,
        (from, to): (PartyId, PartyId),
        (run, needs): (RunId, Needs),
        out: &mut Out<Slip>,
    ) {
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

    fn hear(&mut self, now: Time, (from, to): (PartyId, PartyId), word: Word, out: &mut Out<Slip>) {
        match word {
            Word::Reserve(run, needs) => self.reserve(now, (from, to), (run, needs), out),
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
