//! What surrounds brokers and elements: users, the submission service, transfers, processors, the index. It knows jobs by
//! their positions in the setup, and each party by what that calls them.

use super::element::{Piece, Station};
use super::index::Index;
use super::quiet::Quiet;
use super::replicas::{Replicas, Stored};
use super::setup::{BrokeringSetup, LaterCopy, RankSource};
use super::ways::Ways;
use crate::mail::Letter;
use crate::network::{Network, TransferId};
use crate::parties::{Out, Outside};
use crate::refused::{Refusals, Refused};
use crate::saving::Lasting;
use gleaner_core::{Command, Event, Needs, RunEnd, SiteState, TaskClass};
use gleaner_units::{FileId, MachineId, Ops, PartyId, RunId, SiteId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What happens by itself, in the order in which things of one instant happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Happening {
    /// A job ends.
    End(u32),
    /// A file is where it goes.
    Transfer(TransferId),
    /// A copy of a file comes from outside.
    Copy,
    /// A part of the index takes in what is below it.
    Refresh,
    /// The next job is handed in.
    Arrival,
}

/// What brokers and elements say to each other about a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Word {
    /// All that it needs is there.
    Job(u32),
    /// It stands in the queue.
    Arrived(u32),
    /// It runs.
    Started(u32),
    /// It is done.
    Ended(u32),
}

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobRecord {
    /// Where it was sent.
    pub element: Option<u32>,
    /// When its files were there, and it stood in the queue.
    pub queued: Option<Time>,
    /// When it began.
    pub started: Option<Time>,
    /// When it was done.
    pub finished: Option<Time>,
}

/// A job between its broker and its element.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Way {
    /// As its broker calls it.
    run: RunId,
    /// As its element does.
    local: Option<RunId>,
    files_left: u32,
}

/// All that changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    network: Network,
    next_job: usize,
    next_copy: usize,
    /// How many jobs were sent to an element.
    sent: usize,
    records: Vec<JobRecord>,
    ways: BTreeMap<u32, Way>,
    stations: Vec<Station>,
    /// By broker and task: which job.
    of_broker: Vec<Vec<u32>>,
    ends: BTreeSet<(Time, u32)>,
    transfers: BTreeMap<TransferId, (u32, FileId)>,
    index: Index,
    replicas: Replicas,
    finished: usize,
    /// Since anything else happened than that the index was refreshed.
    quiet: Quiet,
    refused: Refusals,
}

pub(super) struct Market<'a> {
    setup: &'a BrokeringSetup,
    ways: Ways,
    keeps_to_bookings: bool,
    state: State,
}

impl<'a> Market<'a> {
    pub(super) fn new(setup: &'a BrokeringSetup) -> Self {
        let (ways, network) = Ways::of(setup);
        let state = State {
            network,
            next_job: 0,
            next_copy: 0,
            sent: 0,
            records: vec![JobRecord::default(); setup.jobs.len()],
            ways: BTreeMap::new(),
            stations: vec![Station::default(); setup.elements.len()],
            of_broker: vec![Vec::new(); setup.brokers],
            ends: BTreeSet::new(),
            transfers: BTreeMap::new(),
            index: Index::new(setup),
            replicas: Replicas::new(setup),
            finished: 0,
            quiet: Quiet::default(),
            refused: Refusals::default(),
        };
        Self { setup, ways, keeps_to_bookings: setup.keeps_to_bookings(), state }
    }

    pub(super) fn setup(&self) -> &'a BrokeringSetup {
        self.setup
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// How fast data goes from one site to another at best; nothing where no way leads there.
    pub(super) fn bytes_per_s(&self, from: SiteId, to: SiteId) -> Option<f64> {
        self.ways.route(from, to).map(|route| self.state.network.capacity(route))
    }

    pub(super) fn party_of(&self, element: usize) -> PartyId {
        PartyId::new(self.setup.brokers + element)
    }

    fn broker_of(&self, job: u32) -> PartyId {
        PartyId::new(self.setup.jobs[job as usize].broker)
    }

    fn element_of(&self, job: u32) -> usize {
        self.state.records[job as usize].element.expect("a job that was sent") as usize
    }

    fn site_state(&self, now: Time, element: usize) -> SiteState {
        let (of, station) = (&self.setup.elements[element], &self.state.stations[element]);
        SiteState {
            cores_free: of.cpus - station.cores_taken(),
            memory_free: 0,
            disk_free: self.state.replicas.free(self.setup, of.site),
            waiting: u32::try_from(station.waiting()).unwrap_or(u32::MAX),
            traversal_s: station.traversal_s(
                now,
                of.cpus,
                (self.setup.model.transfers_seen, self.keeps_to_bookings),
            ),
        }
    }

    fn arrive(&mut self, now: Time, out: &mut Out<Word>) {
        let number = self.state.next_job;
        self.state.next_job += 1;
        let job = &self.setup.jobs[number];
        let broker = PartyId::new(job.broker);
        if self.setup.model.rank_source == RankSource::Element {
            for element in 0..self.setup.elements.len() {
                out.tell(broker, publication(element, self.site_state(now, element), now));
            }
        }
        let own = &mut self.state.of_broker[job.broker];
        let (first, class) = (TaskId::new(own.len()), job.class);
        own.push(u32::try_from(number).expect("fewer than 2^32 jobs"));
        out.tell(broker, Event::TasksSubmitted { first, count: 1, class, length: Some(job.estimate) });
    }

    fn refresh(&mut self, now: Time, out: &mut Out<Word>) {
        let part = self.state.index.due();
        let elements = self.setup.elements.iter().enumerate();
        let published: Vec<Option<SiteState>> =
            elements.map(|(element, of)| (of.index == part).then(|| self.site_state(now, element))).collect();
        let news = self.state.index.refresh(self.setup, now, &published);
        // Also where elements are asked for each new job: what waits for something that is published hears of it so.
        for (element, (state, known_at)) in news {
            for broker in 0..self.setup.brokers {
                out.tell(PartyId::new(broker), publication(element, state, known_at));
            }
        }
    }

    /// A broker sent a job to an element: what is not there yet is brought.
    fn send(&mut self, now: Time, broker: PartyId, (run, element): (RunId, usize), out: &mut Out<Word>) {
        let number = self.state.of_broker[broker.index()][run.task.index()];
        let job = &self.setup.jobs[number as usize];
        let site = self.setup.elements[element].site;
        self.state.sent += 1;
        self.state.records[number as usize].element = Some(u32::try_from(element).expect("few elements"));
        let place = number as usize;
        let (seconds, estimated_s) =
            (self.setup.service_s(place, element), self.setup.estimated_s(place, element));
        let piece = Piece { job: number, cores: self.setup.cores(place), seconds, estimated_s };
        self.state.stations[element].coming.push(piece);
        let mut files_left = 0;
        for &file in &self.setup.classes[job.class.index()].inputs {
            let holders = self.state.replicas.holders(file);
            if holders.contains(&site) {
                continue;
            }
            let rate = |from: SiteId| self.bytes_per_s(from, site).unwrap_or(0.0);
            let nearest = holders
                .iter()
                .copied()
                .max_by(|one, other| rate(*one).total_cmp(&rate(*other)).then(other.cmp(one)));
            let route = nearest.and_then(|from| self.ways.route(from, site));
            let route = route.expect("a broker sends no job where its files cannot come");
            let bytes = self.setup.files[file.index()].bytes as f64;
            let transfer = self.state.network.start(now, route, bytes);
            self.state.transfers.insert(transfer, (number, file));
            files_left += 1;
        }
        self.state.ways.insert(number, Way { run, local: None, files_left });
        if files_left == 0 {
            out.send(broker, self.party_of(element), Word::Job(number));
        }
    }

    fn brought(&mut self, now: Time, transfer: TransferId, out: &mut Out<Word>) {
        self.state.network.end(now, transfer);
        let (job, file) = self.state.transfers.remove(&transfer).expect("a transfer of a job's file");
        let element = self.element_of(job);
        let site = self.setup.elements[element].site;
        let stored = self.state.replicas.brought(self.setup, file, site);
        self.tell_of_copies(file, site, &stored, out);
        let way = self.state.ways.get_mut(&job).expect("a job whose files are on their way");
        way.files_left -= 1;
        if way.files_left == 0 {
            out.send(self.broker_of(job), self.party_of(element), Word::Job(job));
        }
    }

    /// A copy comes that nobody here sent for.
    fn copy_comes(&mut self, out: &mut Out<Word>) {
        let LaterCopy { file, site, .. } = self.setup.copies[self.state.next_copy];
        self.state.next_copy += 1;
        let stored = self.state.replicas.came(self.setup, file, site);
        self.tell_of_copies(file, site, &stored, out);
    }

    fn tell_of_copies(&self, file: FileId, site: SiteId, stored: &Stored, out: &mut Out<Word>) {
        for broker in (0..self.setup.brokers).map(PartyId::new) {
            stored.gone.iter().for_each(|&file| out.tell(broker, Event::FileRemoved { file, site }));
            if stored.kept {
                out.tell(broker, Event::FileStored { file, site });
            }
        }
    }

    /// An element starts a job that it has.
    fn begin(&mut self, now: Time, element: usize, run: RunId, out: &mut Out<Word>) {
        let station = &mut self.state.stations[element];
        let job = station.jobs[run.task.index()];
        let end = station.begins(now, job);
        self.state.ends.insert((end, job));
        self.state.ways.get_mut(&job).expect("a job that was sent").local = Some(run);
        self.state.records[job as usize].started = Some(now);
        out.tell(self.party_of(element), Event::RunStarted(run));
        out.send(self.party_of(element), self.broker_of(job), Word::Started(job));
    }

    fn end(&mut self, now: Time, job: u32, out: &mut Out<Word>) {
        let element = self.element_of(job);
        self.state.ends.remove(&(now, job));
        self.state.stations[element].ends(now, job);
        self.state.records[job as usize].finished = Some(now);
        self.state.finished += 1;
        let run = self.state.ways[&job].local.expect("a job that runs");
        out.tell(self.party_of(element), Event::RunEnded { run, end: RunEnd::Finished });
        out.send(self.party_of(element), self.broker_of(job), Word::Ended(job));
    }
}

/// A job of so many processors, as an element's own scheduler knows it.
fn local_class(cores: u32) -> TaskClass {
    TaskClass { needs: Needs { cores, ..Needs::default() }, ..TaskClass::plain(vec![1.0]) }
}

fn publication(element: usize, state: SiteState, known_at: Time) -> Event {
    Event::StatePublished { machine: MachineId::new(element), state, known_at }
}

impl<'a> Lasting<'a> for Market<'a> {
    type Setup = BrokeringSetup;
    type State = State;

    fn setup(&self) -> &BrokeringSetup {
        self.setup
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn at(setup: &'a BrokeringSetup, state: State) -> Self {
        let keeps_to_bookings = setup.keeps_to_bookings();
        Self { setup, ways: Ways::of(setup).0, keeps_to_bookings, state }
    }
}

impl Outside for Market<'_> {
    type Happening = Happening;
    type Letter = Word;

    /// Also where nothing is left but jobs that found no element, and all that is known is known.
    fn is_over(&self) -> bool {
        let State { finished, next_job, next_copy, records, quiet, index, .. } = &self.state;
        let nothing_comes = *next_job == records.len() && *next_copy == self.setup.copies.len();
        *finished == records.len() || (nothing_comes && quiet.is_everything_known(index.levels()))
    }

    fn next(&self) -> Option<(Time, Happening)> {
        let State { ends, network, index, next_job, next_copy, sent, .. } = &self.state;
        let end = ends.first().map(|&(at, job)| (at, Happening::End(job)));
        let transfer = network.next().map(|(at, transfer)| (at, Happening::Transfer(transfer)));
        // Once all jobs are sent, nobody decides anything any more.
        let is_heeded = *sent < self.setup.jobs.len();
        let refresh = index.next().filter(|_| is_heeded).map(|at| (at, Happening::Refresh));
        let arrival = self.setup.jobs.get(*next_job).map(|job| (job.arrival, Happening::Arrival));
        let copy = self.setup.copies.get(*next_copy).map(|copy| (copy.at, Happening::Copy));
        [end, transfer, copy, refresh, arrival].into_iter().flatten().min()
    }

    fn take(&mut self, now: Time, happening: Happening, out: &mut Out<Word>) {
        let part = self.state.index.due();
        match happening {
            Happening::End(job) => self.end(now, job, out),
            Happening::Transfer(transfer) => self.brought(now, transfer, out),
            Happening::Copy => self.copy_comes(out),
            Happening::Refresh => self.refresh(now, out),
            Happening::Arrival => self.arrive(now, out),
        }
        // A job is on its way until its broker knows that it is done.
        if happening == Happening::Refresh && self.state.ways.is_empty() {
            self.state.quiet.refreshed(part, self.setup.index.len());
        } else {
            self.state.quiet = Quiet::default();
        }
    }

    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: &mut Out<Word>) {
        let Command::Start { run, on } = order else {
            panic!("{party} stops a run, which neither brokers nor elements do");
        };
        match party.index().checked_sub(self.setup.brokers) {
            None => self.send(now, party, (run, on.index()), out),
            Some(element) => self.begin(now, element, run, out),
        }
    }

    fn deliver(&mut self, now: Time, letter: Letter<Word>, out: &mut Out<Word>) {
        if let Err(why) = self.checked(&letter) {
            self.state.refused.note(now, (letter.to, letter.from), why);
            return;
        }
        self.state.quiet = Quiet::default();
        match letter.body {
            Word::Job(job) => {
                let element = self.element_of(job);
                let (station, cpus) = (&mut self.state.stations[element], self.setup.elements[element].cpus);
                let at = station
                    .coming
                    .iter()
                    .position(|other| other.job == job)
                    .expect("a job that was sent here");
                let piece = station.coming.remove(at);
                station.joins(now, cpus, piece);
                let first = TaskId::new(station.jobs.len());
                station.jobs.push(job);
                self.state.records[job as usize].queued = Some(now);
                let (class, is_new) = station.kind(piece.cores);
                if is_new {
                    out.tell(letter.to, Event::TaskClassMet(Box::new(local_class(piece.cores))));
                }
                // An element's own machine does one operation a second.
                let (count, length) = (1, Ops::new(piece.estimated_s));
                out.tell(letter.to, Event::TasksSubmitted { first, count, class, length });
                out.send(letter.to, letter.from, Word::Arrived(job));
            }
            Word::Arrived(job) => {
                let run = self.state.ways[&job].run;
                let since = self.state.records[job as usize].queued.expect("a job that stood in the queue");
                out.tell(letter.to, Event::RunArrived { run, since });
            }
            Word::Started(job) => out.tell(letter.to, Event::RunStarted(self.state.ways[&job].run)),
            Word::Ended(job) => {
                let way = self.state.ways.remove(&job).expect("a job that was sent");
                out.tell(letter.to, Event::RunEnded { run: way.run, end: RunEnd::Finished });
            }
        }
    }
}

impl State {
    pub(super) fn records(&self) -> &[JobRecord] {
        &self.records
    }

    pub(super) fn finished(&self) -> usize {
        self.finished
    }

    pub(super) fn refused(&self) -> &[Refused] {
        self.refused.kept()
    }

    /// How many files of a job are still on their way; none where it was sent nowhere, or its broker knows that it is done.
    pub(super) fn files_left(&self, job: u32) -> Option<u32> {
        self.ways.get(&job).map(|way| way.files_left)
    }
}
