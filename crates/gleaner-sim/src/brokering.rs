//! Brokers and computing elements: each broker and each element's queue is a [`Scheduler`], and all that a broker knows of an
//! element is what that published, as old as the index is.
//!
//! A job is handed in to a broker, which sends it to an element. The submission service keeps it until its input files are
//! there; then it stands in the element's queue, which is first come, first served, or by any rule for queues.
//!
//! # Invariants
//! - **Within an instant**: jobs end, then files arrive, then copies come from outside, then the index is refreshed, from below, then jobs are handed in.
//! - **What a letter says is checked before it is acted on** (`checked`).
//! - **A saved run that goes on is the run that was not saved**: what a broker draws depends on the seed, the broker and the task alone.

mod checked;
mod element;
mod index;
mod market;
mod quiet;
mod replicas;
mod setup;
mod ways;

pub use market::{JobRecord, Word};
pub use setup::{
    BrokeringError, BrokeringSetup, Element, File, IndexNode, Job, JobClass, LaterCopy, Link, Model,
    RankSource, Storage, first_come,
};

use crate::checkpoint::RestoreError;
use crate::mail::{Mail, Way};
use crate::mixing::seed_of_party;
use crate::parties::Parties;
use crate::refused::Refused;
use crate::saving;
use gleaner_core::explain::words;
use gleaner_core::{
    Ad, Event, Explanation, Grid, GridConfig, MachineClass, Migration, Room, Scheduler, TaskClass,
};
use gleaner_policy::{AnyPolicy, Recipe};
use gleaner_units::{FileId, MachineClassId, MachineId, PartyId, SiteId, TaskClassId, Time};
use market::Market;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A run of a setup under one rule.
pub struct Brokerage<'a> {
    rule: Recipe,
    parties: Parties<'a, AnyPolicy, Market<'a>>,
}

/// Jobs of a class that a broker could send nowhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Held {
    /// Which class.
    pub class: TaskClassId,
    /// How many.
    pub jobs: usize,
    /// What keeps them.
    pub why: String,
}

impl<'a> Brokerage<'a> {
    /// At the start.
    pub fn new(setup: &'a BrokeringSetup, rule: Recipe, seed: u64) -> Result<Self, BrokeringError> {
        if !rule.sends_once() {
            return Err(BrokeringError::Rule(rule.to_string()));
        }
        setup.check()?;
        setup.check_runnable()?;
        let market = Market::new(setup);
        let opening = opening(&market);
        let brokers = (0..setup.brokers).map(|_| Scheduler::new(empty_grid(), rule.build()));
        let elements = setup.elements.iter().map(|_| Scheduler::new(empty_grid(), setup.queue.build()));
        let mail = Mail::new(seed, Way { delay: setup.model.delay, loss: 0.0 });
        let mut parties = Parties::new(brokers.chain(elements).collect(), market, mail);
        for broker in (0..setup.brokers).map(PartyId::new) {
            parties.tell(broker, Event::SeedDrawn(seed_of_party(seed, broker.index())));
            for event in &opening {
                parties.tell(broker, event.clone());
            }
        }
        for (number, element) in setup.elements.iter().enumerate() {
            let party = PartyId::new(setup.brokers + number);
            for event in queue_opening(element) {
                parties.tell(party, event);
            }
        }
        Ok(Self { rule, parties })
    }

    /// One event and what follows from it at once; false when nothing more can happen.
    pub fn step(&mut self) -> bool {
        self.parties.step()
    }

    /// To the end.
    pub fn run(&mut self) {
        self.parties.run();
    }

    /// The simulated moment.
    pub fn now(&self) -> Time {
        self.parties.now()
    }

    /// The first seed of what it draws.
    pub fn seed(&self) -> u64 {
        self.broker(0).grid().seed()
    }

    /// What became of each job so far.
    pub fn records(&self) -> &[JobRecord] {
        self.parties.outside().state().records()
    }

    /// How many jobs are done.
    pub fn finished(&self) -> usize {
        self.parties.outside().state().finished()
    }

    /// A letter leaves that nothing here led to.
    pub fn send(&mut self, from: PartyId, to: PartyId, word: Word) {
        self.parties.send(from, to, word);
    }

    /// What brokers and elements wrote that made no sense, up to [`REFUSED_MAX`](crate::REFUSED_MAX) of it.
    pub fn refused(&self) -> &[Refused] {
        self.parties.outside().state().refused()
    }

    /// Jobs that came and were sent nowhere: by class and broker, how many, and what keeps them.
    pub fn held(&self) -> Vec<Held> {
        let setup = self.parties.outside().setup();
        let mut held: BTreeMap<(TaskClassId, usize), usize> = BTreeMap::new();
        for (job, record) in setup.jobs.iter().zip(self.records()) {
            if job.arrival <= self.now() && record.element.is_none() {
                *held.entry((job.class, job.broker)).or_default() += 1;
            }
        }
        let why = |(class, broker)| self.why(self.broker(broker).grid(), class);
        held.into_iter().map(|(of, jobs)| Held { class: of.0, jobs, why: why(of) }).collect()
    }

    fn why(&self, grid: &Grid, class: TaskClassId) -> String {
        let explanation = Explanation::of(grid, class);
        if explanation.able == 0 {
            return words::sentence(&explanation, &["cpu".to_owned()]);
        }
        let passed_over = self.rule.passed_over(grid, class).into_iter().map(|(reason, machines)| {
            format!("{} of {} elements {}", machines.len(), explanation.machines, reason.in_words())
        });
        passed_over.collect::<Vec<_>>().join("; ")
    }

    /// What a broker knows.
    pub fn broker(&self, number: usize) -> &Scheduler<AnyPolicy> {
        self.parties.scheduler(PartyId::new(number))
    }

    /// Everything needed to go on later, as a file's contents.
    pub fn save(&self) -> Vec<u8> {
        saving::save(&self.parties, &self.rule.to_string())
    }

    /// Goes on where a run of the same setup and rule was saved: it draws what that would have drawn.
    pub fn restore(setup: &'a BrokeringSetup, rule: Recipe, kept: &[u8]) -> Result<Self, RestoreError> {
        let policy = |party: usize| if party < setup.brokers { rule.build() } else { setup.queue.build() };
        let parties = saving::restore(setup, (&rule.to_string(), policy), kept)?;
        Ok(Self { rule, parties })
    }
}

fn empty_grid() -> Grid {
    Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() })
}

/// What an element's own scheduler is told: one machine that runs jobs on its processors.
fn queue_opening(element: &Element) -> [Event; 2] {
    let class = MachineClass {
        room: Room { slots: Some(element.cpus), ..Room::default() },
        ..MachineClass::plain(vec![1.0], element.cpus)
    };
    let joined = Event::MachineJoined { machine: MachineId::FIRST, class: MachineClassId::FIRST };
    [Event::MachineClassMet(Box::new(class)), joined]
}

/// What an element with so many processors has, and a job that takes them requires.
fn at_once(cores: u32) -> String {
    format!("{cores} processors at a time")
}

/// What each broker is told before anything happens.
fn opening(market: &Market<'_>) -> Vec<Event> {
    let setup = market.setup();
    let mut events = Vec::new();
    for (file, of) in setup.files.iter().enumerate() {
        let file = FileId::new(file);
        events.push(Event::FileMet { file, bytes: of.bytes });
        events.extend(of.at.iter().map(|&site| Event::FileStored { file, site }));
    }
    for (class, of) in setup.classes.iter().enumerate() {
        let ad = of.task.ad.clone().map(Ad::with_published_apart);
        let mut requires = of.task.requires.clone();
        requires.extend(Some(of.task.needs.cores).filter(|cores| *cores > 1).map(at_once));
        events.push(Event::TaskClassMet(Box::new(TaskClass { ad, requires, ..of.task.clone() })));
        events.push(Event::InputsNamed { class: TaskClassId::new(class), files: of.inputs.clone() });
    }
    let sites = || (0..setup.storage.len()).map(SiteId::new);
    for (from, to) in sites().flat_map(|from| sites().map(move |to| (from, to))) {
        let bytes_per_s = if from == to {
            Some(setup.storage[from.index()].bytes_per_s)
        } else {
            market.bytes_per_s(from, to)
        };
        events.extend(bytes_per_s.map(|bytes_per_s| Event::LinkMeasured { from, to, bytes_per_s }));
    }
    let widths: BTreeSet<u32> = setup.classes.iter().map(|class| class.task.needs.cores).collect();
    // By a class's bytes: where each element says its name, each is a class of its own.
    let mut met: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for (element, of) in setup.elements.iter().enumerate() {
        let machine = MachineId::new(element);
        let class = as_machine(of, &widths);
        let bytes = postcard::to_stdvec(&class).expect("plain data can always be written to memory");
        let next = met.len();
        let number = *met.entry(bytes).or_insert(next);
        if number == next {
            events.push(Event::MachineClassMet(Box::new(class)));
        }
        events.push(Event::MachineSited { machine, site: of.site });
        events.push(Event::MachineJoined { machine, class: MachineClassId::new(number) });
    }
    events
}

/// An element as a broker sees it: a machine that takes whatever comes.
fn as_machine(element: &Element, widths: &BTreeSet<u32>) -> MachineClass {
    let wide = widths.iter().filter(|cores| (2..=element.cpus).contains(*cores)).map(|cores| at_once(*cores));
    MachineClass {
        provides: element.provides.iter().cloned().chain(wide).collect(),
        ad: element.ad.clone(),
        ..MachineClass::plain(vec![element.ops_per_s], element.cpus)
    }
}

impl BrokeringSetup {
    /// Refuses a job that no element could ever run: it would wait for ever.
    ///
    /// # Panics
    /// Where the setup was not [checked](Self::check).
    pub fn check_runnable(&self) -> Result<(), BrokeringError> {
        let setup = self;
        let mut broker = Scheduler::new(empty_grid(), setup.queue.build());
        let later = setup.copies.iter().map(|copy| Event::FileStored { file: copy.file, site: copy.site });
        for event in opening(&Market::new(setup)).into_iter().chain(later) {
            broker.apply(Time::ZERO, &event);
        }
        let grid = broker.grid();
        let used: BTreeSet<TaskClassId> = setup.jobs.iter().map(|job| job.class).collect();
        for class in used {
            let elements = || (0..setup.elements.len()).map(MachineId::new);
            let able = elements().filter(|element| grid.seconds_per_op(class, *element).is_finite());
            let sites: Vec<SiteId> = able.map(|element| setup.elements[element.index()].site).collect();
            if sites.is_empty() {
                let why = words::sentence(&Explanation::of(grid, class), &["cpu".to_owned()]);
                return Err(BrokeringError::Stuck { class: class.index(), why });
            }
            let comes = |site: &SiteId| grid.catalogue().seconds_to_bring(class, *site).is_finite();
            if !sites.iter().any(comes) {
                let why = "no way leads there for its files from any site that holds them".to_owned();
                return Err(BrokeringError::Stuck { class: class.index(), why });
            }
        }
        Ok(())
    }
}
