//! Instances: sites drawn from table 1, and what their users hand in. `docs/dasilva.md` says why each is as it is.

use super::band::Band;
use super::table_1::{Processor, processors};
use super::table_2::Cell;
use crate::Stream;
use gleaner_core::{MachineClass, TaskClass};
use gleaner_policy::{Choose, Favours, Overflow, Peering, Reach, Recalling, Recipe, Score};
use gleaner_sim::peers::{Job, PeersSetup, Site, Unrelated};
use gleaner_units::{MachineClassId, Ops, PartyId, Span, TaskClassId, Time};
use gleaner_workload::ourgrid::trace::Workload;
use gleaner_workload::peers::Gap;

/// What a worker is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Power {
    /// One task, by all operations.
    Total,
    /// One task, by those of a core.
    Core,
    /// A task a core.
    Slots,
}

/// How the paper was taken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reading {
    /// For ids.
    pub name: &'static str,
    /// For people.
    pub says: &'static str,
    pub(super) power: Power,
    /// The most tasks of a job.
    pub(super) bag: u32,
    /// Of the grid's power.
    pub(super) load: f64,
    pub(super) overflow: Overflow,
    pub(super) recall: Recalling,
    pub(super) favours: Favours,
    pub(super) inputs_s: f64,
    /// Whether the mean time of a task on its worker is taken for the execution time.
    pub(super) by_task: bool,
}

const DEFAULT: Reading = Reading {
    name: "default",
    says: "jobs of one task, a load of 0.3, one task a worker by all its operations, tasks wait at their peer",
    power: Power::Total,
    bag: 1,
    load: 0.3,
    overflow: Overflow::Peer,
    recall: Recalling::Never,
    favours: Favours::Nof,
    inputs_s: 0.0,
    by_task: false,
};

/// The default first.
pub const READINGS: [Reading; 14] = [
    DEFAULT,
    Reading {
        name: "task-time",
        says: "execution time is a task's time on its worker",
        by_task: true,
        ..DEFAULT
    },
    Reading { name: "load-0.1", says: "a load of 0.1", load: 0.1, ..DEFAULT },
    Reading { name: "load-0.6", says: "a load of 0.6", load: 0.6, ..DEFAULT },
    Reading { name: "load-0.9", says: "a load of 0.9", load: 0.9, ..DEFAULT },
    Reading { name: "bags", says: "jobs of 1 to 40 tasks", bag: 40, ..DEFAULT },
    Reading {
        name: "bags-task-time",
        says: "jobs of 1 to 40 tasks, and execution time is a task's time on its worker",
        bag: 40,
        by_task: true,
        ..DEFAULT
    },
    Reading {
        name: "per-core",
        says: "one task a worker by the operations of a core",
        power: Power::Core,
        ..DEFAULT
    },
    Reading { name: "slots", says: "a task a core", power: Power::Slots, bag: 40, ..DEFAULT },
    Reading {
        name: "on-workers",
        says: "tasks queue on the workers, the shortest queue first",
        overflow: Overflow::Machines,
        ..DEFAULT
    },
    Reading {
        name: "bags-on-workers",
        says: "jobs of 1 to 40 tasks, which queue on the workers",
        overflow: Overflow::Machines,
        bag: 40,
        ..DEFAULT
    },
    Reading {
        name: "recalled",
        says: "lent workers are taken back, at a load of 0.6",
        recall: Recalling::WhenShort,
        load: 0.6,
        ..DEFAULT
    },
    Reading { name: "no-favours", says: "no favours", favours: Favours::None, ..DEFAULT },
    Reading {
        name: "inputs",
        says: "inputs take 600 s to another site's workers",
        inputs_s: 600.0,
        ..DEFAULT
    },
];

impl Reading {
    /// The traditional rule, and the greedy one.
    pub fn recipes(&self) -> [Recipe; 2] {
        let score = if self.power == Power::Core { Score::PowerPerCore } else { Score::Power };
        let Self { favours, overflow: queue, recall, .. } = *self;
        let peering = Some(Peering { favours, queue, recall, reach: Reach::Site });
        [Choose::First, Choose::BestLatest].map(|choose| Recipe { choose, peering, ..Recipe::by(score) })
    }
}

fn deviation(site: &[Processor]) -> f64 {
    let count = site.len() as f64;
    let mean = site.iter().map(|row| row.ops_per_s).sum::<f64>() / count;
    let squares: f64 = site.iter().map(|row| (row.ops_per_s - mean).powi(2)).sum();
    (squares / count).sqrt() / mean
}

/// Rows drawn evenly until the site is in its band; then single rows anew, as long as that leads towards it.
fn site(stream: &mut Stream, rows: &[Processor], band: Band, workers: usize) -> Vec<Processor> {
    let (low, high) = band.range();
    let off = |site: &[Processor]| {
        let found = deviation(site);
        if found < low {
            low - found
        } else if found >= high {
            found - high + 1e-9
        } else {
            0.0
        }
    };
    let mut drawn: Vec<Processor> = Vec::new();
    for _ in 0..100 {
        drawn = (0..workers).map(|_| rows[stream.below(rows.len())]).collect();
        if off(&drawn) == 0.0 {
            return drawn;
        }
    }
    while off(&drawn) > 0.0 {
        let mut other = drawn.clone();
        other[stream.below(workers)] = rows[stream.below(rows.len())];
        if off(&other) <= off(&drawn) {
            drawn = other;
        }
    }
    drawn
}

pub(super) fn tasks() -> TaskClass {
    TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) }
}

pub(super) fn worker(ops_per_s: f64, cores: u32) -> MachineClass {
    MachineClass::plain(vec![ops_per_s], cores)
}

const MONTH_S: f64 = 365.0 / 12.0 * 86_400.0;
/// Of the logarithms of lengths.
const SIGMA: f64 = 0.83;
const OTHER_SITES: u64 = 0;
const ARRIVALS: u64 = 1;
const LENGTHS: u64 = 2;
const BAGS: u64 = 3;

/// An instance of a cell, with so many jobs at most; each seed another.
pub(super) fn instance(cell: &Cell, reading: &Reading, seed: u64, jobs_max: u32) -> PeersSetup {
    // Cells of the same size differ in nothing but what their band says.
    let key = seed * 1_000 + u64::from(cell.peers) * 7 + u64::from(cell.months);
    let rows = processors();
    let mut stream = Stream::new(key, OTHER_SITES);
    let mut sites = Vec::new();
    for _ in 0..cell.peers {
        let workers = [8, 16, 32, 64][stream.below(4)];
        let band = match cell.band {
            Band::Mixed => [Band::Low, Band::Medium, Band::High][stream.below(3)],
            Band::Low | Band::Medium | Band::High => cell.band,
        };
        sites.push(site(&mut stream, &rows, band, workers));
    }
    let class = |row: &Processor| match reading.power {
        Power::Total => worker(row.ops_per_s, 1),
        Power::Core => worker(row.per_core(), 1),
        Power::Slots => worker(row.per_core(), row.cores),
    };
    let power = |row: &Processor| match reading.power {
        Power::Total | Power::Slots => row.ops_per_s,
        Power::Core => row.per_core(),
    };
    let all: f64 = sites.iter().flatten().map(power).sum();
    let jobs = cell.jobs.min(jobs_max) as usize;
    let horizon = f64::from(cell.months) * MONTH_S * jobs as f64 / f64::from(cell.jobs);
    let mut arrivals = Stream::new(key, ARRIVALS);
    // A Poisson process, given how many come.
    let mut times: Vec<(f64, usize)> =
        (0..jobs).map(|_| (horizon * arrivals.unit(), arrivals.below(cell.peers as usize))).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut bags = Stream::new(key, BAGS);
    let job = |(at, peer): (f64, usize)| Job {
        submitted: Time::from_seconds(at).expect("within years"),
        peer: PartyId::new(peer),
        broker: 0,
        class: TaskClassId::FIRST,
        tasks: 1 + bags.below(reading.bag as usize) as u32,
        after: None,
    };
    let jobs: Vec<Job> = times.into_iter().map(job).collect();
    let tasks: usize = jobs.iter().map(|job| job.tasks as usize).sum();
    let mean = reading.load * all * horizon / tasks as f64;
    let mut lengths = Stream::new(key, LENGTHS);
    let length = |_| {
        let log = lengths.normal(-SIGMA * SIGMA / 2.0, SIGMA);
        Ops::new(mean * libm::exp(log)).expect("above 0")
    };
    let kind = |row: &Processor| MachineClassId::new(row.id as usize - 1);
    PeersSetup {
        seed,
        weights: vec![1.0],
        machine_classes: rows.iter().map(class).collect(),
        task_classes: vec![self::tasks()],
        peers: sites.iter().map(|site| Site { workers: site.iter().map(kind).collect() }).collect(),
        jobs,
        lengths: (0..tasks).map(length).collect(),
        inputs: Span::from_seconds(reading.inputs_s).expect("seconds"),
        unrelated: (cell.band == Band::Mixed).then_some(Unrelated { spread: 0.5, seed }),
        ..PeersSetup::default()
    }
}

/// A trace's work on sites of table 1, each of a band of its own; each seed others. A task takes as long as in the trace on
/// a worker of table 1's mean power, and a user's next job comes a think time after the last one ended.
pub(super) fn week(workload: &Workload, seed: u64) -> PeersSetup {
    let rows = processors();
    let mut stream = Stream::new(seed, OTHER_SITES);
    let mut drawn_site = || {
        let workers = [8, 16, 32, 64][stream.below(4)];
        let band = [Band::Low, Band::Medium, Band::High][stream.below(3)];
        let drawn = site(&mut stream, &rows, band, workers);
        Site { workers: drawn.iter().map(|row| MachineClassId::new(row.id as usize - 1)).collect() }
    };
    let mean = rows.iter().map(|row| row.ops_per_s).sum::<f64>() / rows.len() as f64;
    let peers: Vec<usize> = (0..workload.peers.len()).collect();
    let (_, jobs, lengths) = gleaner_workload::peers::jobs(workload, &peers, Gap::Think, mean);
    PeersSetup {
        seed,
        weights: vec![1.0],
        machine_classes: rows.iter().map(|row| worker(row.ops_per_s, 1)).collect(),
        task_classes: vec![tasks()],
        peers: peers.iter().map(|_| drawn_site()).collect(),
        jobs,
        lengths,
        ..PeersSetup::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dasilva::CELLS;

    #[test]
    fn sites_are_in_their_band_and_instances_are_whole() {
        let rows = processors();
        for (band, seed) in [Band::Low, Band::Medium, Band::High].into_iter().zip(1..) {
            for workers in [8, 16, 32, 64] {
                let drawn = site(&mut Stream::new(seed, 9), &rows, band, workers);
                let (low, high) = band.range();
                assert!(drawn.len() == workers && (low..high).contains(&deviation(&drawn)), "{band:?}");
            }
        }
        for reading in &READINGS {
            let setup = instance(&CELLS[30], reading, 3, 50);
            assert_eq!(setup.check(), Ok(()), "{}", reading.name);
            assert_eq!(setup, instance(&CELLS[30], reading, 3, 50));
        }
    }
}
