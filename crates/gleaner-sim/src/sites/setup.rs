//! What a run over sites is given.

use crate::Division;
use crate::mixing::seed_of_party;
use gleaner_core::{
    Ad, Event, Grid, GridConfig, MachineClass, Migration, Needs, QUALITY, Room, TaskClass, WOULD_PAY,
};
use gleaner_policy::SiteRule;
use gleaner_policy::parts::sites::{Queues, Split};
use gleaner_units::{MachineClassId, MachineId, SiteId, Span, Time};
use serde::{Deserialize, Serialize};

/// A cluster behind one link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Site {
    /// How many there are.
    pub processors: u32,
    /// What each of them does, in `GFlops`.
    pub gflops: f64,
    /// Bytes, of all processors together.
    pub memory: u64,
    /// Bytes that jobs may fill.
    pub disk: u64,
    /// Bytes a second, out of the site.
    pub upload: f64,
    /// Bytes a second, into the site.
    pub download: f64,
    /// Credits for an operation: a second of a processor of one `GFlops`.
    pub price: f64,
    /// The quality of service that it offers; 0 where that is not said.
    pub quality: f64,
}

/// A rigid parallel job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// When it is handed in.
    pub submitted: Time,
    /// How many processors it needs together.
    pub processors: u32,
    /// How long it runs, in seconds on processors of one `GFlops`.
    pub run_s: f64,
    /// How long its user says that it runs.
    pub estimate_s: f64,
    /// Bytes that each of its processes needs.
    pub memory: u64,
    /// Bytes of disk that each of its processes needs.
    pub disk: u64,
    /// The size of what it reads, in bytes.
    pub data: u64,
    /// Where that lies, and where the result goes: the site's place in the list.
    pub source: usize,
    /// The size of what it leaves, in bytes.
    pub result: u64,
    /// Which meta-scheduler it is handed to.
    pub scheduler: usize,
    /// The quality of service that it asks for; 0 where that is not said.
    pub quality: f64,
    /// The credits that its user would pay for an operation; infinitely many where that is not said.
    pub would_pay: f64,
}

/// What each part of a job that is split is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Staging {
    /// What falls to its processors.
    #[default]
    Share,
    /// All of the data.
    Whole,
}

/// How meta-schedulers and sites talk.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Protocol {
    /// How long a letter takes.
    pub delay: Span,
    /// The part of the letters that is lost.
    pub loss: f64,
    /// After how long a letter that was not acknowledged is sent again. How long a meta-scheduler waits for sites that it
    /// asks is its policy's.
    pub patience: Span,
    /// Whether sites say how things are there whenever that changes, where there is more than one meta-scheduler; else they
    /// say so when they are asked.
    pub publishes: bool,
}

impl Protocol {
    /// All is known at once, as the paper assumes.
    pub const AT_ONCE: Self =
        Self { delay: Span::ZERO, loss: 0.0, patience: Span::from_nanos(1_000_000_000), publishes: true };
}

/// All that a run is given.
#[derive(Clone, PartialEq, Debug)]
pub struct SitesSetup {
    /// In order of their ids.
    pub sites: Vec<Site>,
    /// In order of submission.
    pub jobs: Vec<Job>,
    /// What each part of a job that is split is sent.
    pub staging: Staging,
    /// How transfers that meet on a link divide it.
    pub division: Division,
    /// How much longer a job takes for the part of its processes' pairs whose two are at different sites.
    pub crossing: f64,
    /// How many meta-schedulers there are.
    pub schedulers: usize,
    /// How they talk with sites.
    pub protocol: Protocol,
    /// Which letters are lost, and at which sites jobs wait where that is drawn.
    pub seed: u64,
}

impl SitesSetup {
    /// `B_ij`: what comes from one site to another in a second, if nothing else takes the way.
    pub fn bytes_per_s(&self, from: usize, to: usize) -> f64 {
        self.sites[from].upload.min(self.sites[to].download)
    }

    /// A job that could never start as a rule has it, whatever ends, or of whose copies never all could run: sites have too
    /// little for it. Without a rule, jobs are split.
    pub fn find_stuck(&self, rule: Option<&SiteRule>) -> Option<usize> {
        let is_split = rule.is_none_or(|rule| rule.split != Split::Whole);
        // Where jobs wait at sites, there are as many copies as there are sites for them.
        let copies = rule.filter(|rule| rule.queues == Queues::Central).map_or(1, |rule| rule.copies);
        let is_apart = copies == 1 || rule.is_some_and(|rule| rule.apart);
        self.jobs.iter().position(|job| {
            let wanted = u64::from(job.processors);
            let here = |site: &Site| {
                let takes = u64::from(site.takes(job.memory, job.disk));
                match (is_split, is_apart) {
                    (true, true) => takes.min(wanted),
                    (true, false) => takes,
                    (false, true) => {
                        if takes < wanted {
                            0
                        } else {
                            wanted
                        }
                    }
                    (false, false) => takes / wanted.max(1) * wanted,
                }
            };
            let most: u64 = self.sites.iter().map(here).sum();
            most < wanted.saturating_mul(u64::from(copies)) || job.find_needs().is_none()
        })
    }

    /// All processors.
    pub fn processors(&self) -> u64 {
        self.sites.iter().map(|site| u64::from(site.processors)).sum()
    }

    /// The work of all jobs, divided by what all sites could do from the first submission to the last; none where jobs come at
    /// one moment.
    pub fn offered_load(&self) -> Option<f64> {
        let span_s = self.jobs.last()?.submitted.since(self.jobs.first()?.submitted).seconds();
        let work: f64 = self.jobs.iter().map(|job| f64::from(job.processors) * job.run_s).sum();
        let power: f64 = self.sites.iter().map(|site| f64::from(site.processors) * site.gflops).sum();
        (span_s > 0.0).then(|| work / (power * span_s))
    }

    /// How long a job would take if nothing else ran: on the fastest site that takes it whole, or where none does, over the fastest
    /// that take it together. In seconds, without its data.
    pub fn alone_s(&self, job: &Job) -> f64 {
        let takes = |site: &Site| site.takes(job.memory, job.disk);
        let whole = self.sites.iter().filter(|site| takes(site) >= job.processors);
        let fastest = whole.map(|site| site.gflops).reduce(f64::max);
        let gflops = fastest.unwrap_or_else(|| {
            let mut sites: Vec<&Site> = self.sites.iter().filter(|site| takes(site) > 0).collect();
            sites.sort_by(|one, other| other.gflops.total_cmp(&one.gflops));
            let mut left = job.processors;
            let needed = sites.iter().find(|site| {
                left = left.saturating_sub(takes(site));
                left == 0
            });
            needed.or(sites.last()).map_or(1.0, |site| site.gflops)
        });
        job.run_s / gflops
    }

    /// Before anything is known.
    pub(super) fn grid() -> Grid {
        Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() })
    }

    /// What a meta-scheduler is told of the sites.
    pub(super) fn introductions(&self, scheduler: usize) -> Vec<Event> {
        let mut events = vec![Event::SeedDrawn(seed_of_party(self.seed, scheduler))];
        for (index, site) in self.sites.iter().enumerate() {
            let (machine, at) = (MachineId::new(index), SiteId::new(index));
            let room =
                Room { slots: Some(site.processors), memory: Some(site.memory), disk: Some(site.disk) };
            events.push(Event::MachineClassMet(Box::new(MachineClass {
                room,
                price: site.price,
                ad: (site.quality > 0.0).then(|| ad(&[(QUALITY, site.quality)])),
                ..MachineClass::plain(vec![site.gflops], site.processors)
            })));
            events.push(Event::MachineJoined { machine, class: MachineClassId::new(index) });
            events.push(Event::MachineSited { machine, site: at });
        }
        for from in 0..self.sites.len() {
            for to in (0..self.sites.len()).filter(|to| *to != from) {
                let (bytes_per_s, from, to) =
                    (self.bytes_per_s(from, to), SiteId::new(from), SiteId::new(to));
                events.push(Event::LinkMeasured { from, to, bytes_per_s });
            }
        }
        events
    }
}

impl Site {
    /// How many processes that need so many bytes of memory and of disk it takes while nothing else is there.
    pub fn takes(&self, memory: u64, disk: u64) -> u32 {
        let by = |has: u64, each: u64| has.checked_div(each).unwrap_or(u64::MAX);
        let most = by(self.memory, memory).min(by(self.disk, disk));
        u32::try_from(most).unwrap_or(u32::MAX).min(self.processors)
    }
}

impl Job {
    /// What it needs together; none where that is more than can be counted.
    fn find_needs(&self) -> Option<Needs> {
        let all = |each: u64| each.checked_mul(u64::from(self.processors));
        Some(Needs { cores: self.processors, memory: all(self.memory)?, disk: all(self.disk)? })
    }

    pub(super) fn needs(&self) -> Needs {
        self.find_needs().expect("a setup whose jobs can all start")
    }

    pub(super) fn class(&self) -> TaskClass {
        let quality = (self.quality > 0.0).then_some((QUALITY, self.quality));
        let would_pay = self.would_pay.is_finite().then_some((WOULD_PAY, self.would_pay));
        let said: Vec<(&str, f64)> = quality.into_iter().chain(would_pay).collect();
        let ad = (!said.is_empty()).then(|| ad(&said));
        TaskClass { needs: self.needs(), restarts: true, ad, ..TaskClass::plain(vec![1.0]) }
    }
}

/// An ad that says these numbers.
fn ad(numbers: &[(&str, f64)]) -> Ad {
    let said: String = numbers.iter().map(|(name, number)| format!("{name} = {number:?}; ")).collect();
    Ad::parse(&format!("[ {said}]")).expect("numbers make an ad")
}
