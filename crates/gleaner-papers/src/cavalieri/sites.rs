//! Sites, network, files and jobs of a case: what the paper leaves open of them is in docs/cavalieri.md, with reasons.

use super::JOBS;
use super::case::{Case, Variant, Work};
use crate::Stream;
use gleaner_core::{Tags, TaskClass};
use gleaner_sim::Division;
use gleaner_sim::brokering::{
    BrokeringSetup, Element, File, IndexNode, Job, JobClass, Link, Model, RankSource, Storage, first_come,
};
use gleaner_units::{FileId, Ops, SiteId, Span, TaskClassId, Time};

/// What is drawn, by number.
const ARRIVALS: u64 = 50;
const POWER: u64 = 51;
const FILES: u64 = 52;
const BROKERS: u64 = 53;

/// Bytes a second of a megabit.
const MEGABIT: f64 = 125_000.0;
/// Between the four places.
const BACKBONE: f64 = 34.0 * MEGABIT;
/// From the sites of a place to it, in order.
const ACCESS: [f64; 4] = [68.0 * MEGABIT, 34.0 * MEGABIT, 34.0 * MEGABIT, 20.0 * MEGABIT];
/// Milano, Roma, Bologna, Napoli.
const PLACES: usize = 4;
/// At which heavy sites that are scaled saturate.
const SATURATES_S: f64 = 700.0;

/// MIPS of the sixteen, where files lie without regard to them.
const BALANCED: [f64; 3] = [300.0, 200.0, 100.0];
/// Where the large file is at four of 300 and the small one at four of 100.
const UNBALANCED: [[f64; 4]; 4] = [
    [300.0, 300.0, 200.0, 100.0],
    [300.0, 200.0, 200.0, 100.0],
    [300.0, 300.0, 200.0, 100.0],
    [300.0, 100.0, 200.0, 100.0],
];

/// All that a run is given, the rule and the draws aside.
pub fn setup(case: &Case, seed: u64) -> BrokeringSetup {
    let (powers, files) = if case.work.is_light() { light(case.work) } else { heavy(case.work, seed) };
    let sites = powers.len();
    let factor = if case.variant == Variant::FastNetwork { 10.0 } else { 1.0 };
    let place = |site: usize| if case.work.is_light() { site / ACCESS.len() } else { site % PLACES };
    let access = |site: usize| if case.work.is_light() { site % ACCESS.len() } else { site / PLACES };
    let access = |site: usize| Link {
        between: (site, sites + place(site)),
        bytes_per_s: factor * ACCESS[access(site)],
    };
    let mesh = (0..PLACES).flat_map(|one| (one + 1..PLACES).map(move |other| (sites + one, sites + other)));
    let mesh = mesh.map(|between| Link { between, bytes_per_s: factor * BACKBONE });
    let reading = if case.variant == Variant::FastStorage { 12.5e6 } else { 4e6 };
    let element = |(site, &(cpus, ops_per_s)): (usize, &(u32, f64))| Element {
        site: SiteId::new(site),
        cpus,
        ops_per_s,
        provides: Tags::new(),
        ad: None,
        index: 0,
    };
    BrokeringSetup {
        elements: powers.iter().enumerate().map(element).collect(),
        storage: vec![Storage { bytes_per_s: reading, quota: None }; sites],
        classes: vec![JobClass { task: job_class(), inputs: (0..files.len()).map(FileId::new).collect() }],
        files,
        copies: Vec::new(),
        links: (0..sites).map(access).chain(mesh).collect(),
        index: vec![IndexNode { ttl: span(case.ttl_s()), above: None }],
        jobs: jobs(case, seed),
        brokers: case.brokers as usize,
        queue: first_come(),
        model: model(case.variant),
    }
}

/// Processors and the power of each, by site, and files.
type Sites = (Vec<(u32, f64)>, Vec<File>);

fn light(work: Work) -> Sites {
    let power = |site: usize| match work {
        Work::Unbalanced => UNBALANCED[site / 4][site % 4],
        Work::Balanced | Work::Heavy | Work::HeavyScaled => BALANCED[site % 3],
    };
    let at = |position: usize| (0..PLACES).map(|place| SiteId::new(4 * place + position)).collect();
    let small = if work == Work::Unbalanced { 3 } else { 1 };
    let files = vec![File { bytes: 1_000_000_000, at: at(0) }, File { bytes: 50_000_000, at: at(small) }];
    ((0..16).map(|site| (1, power(site))).collect(), files)
}

fn heavy(work: Work, seed: u64) -> Sites {
    let mut stream = Stream::new(seed, POWER);
    let mut powers: Vec<(u32, f64)> =
        (0..5).map(|_| (20 + stream.below(11) as u32, stream.uniform(100.0, 300.0))).collect();
    if work == Work::HeavyScaled {
        let whole: f64 = powers.iter().map(|(cpus, mips)| f64::from(*cpus) * mips).sum();
        let factor = length(work) / SATURATES_S / whole;
        for (_, mips) in &mut powers {
            *mips *= factor;
        }
    }
    let mut stream = Stream::new(seed, FILES);
    let files = [1_000_000, 300_000].map(|bytes| File { bytes, at: vec![SiteId::new(stream.below(5))] });
    (powers, files.to_vec())
}

/// MIPS·s.
fn length(work: Work) -> f64 {
    if work.is_light() { 1e5 } else { 1e7 }
}

fn job_class() -> TaskClass {
    TaskClass::plain(vec![1.0])
}

/// The same for all rules and variants of a seed.
fn jobs(case: &Case, seed: u64) -> Vec<Job> {
    let (mut arrivals, mut brokers) = (Stream::new(seed, ARRIVALS), Stream::new(seed, BROKERS));
    let length = Ops::new(length(case.work)).expect("a length");
    let mut at = 0.0;
    let job = |_| {
        at += arrivals.exponential(case.inter_s);
        let arrival = Time::from_seconds(at).expect("a moment");
        Job {
            arrival,
            length,
            estimate: length,
            class: TaskClassId::FIRST,
            broker: brokers.below(case.brokers as usize),
        }
    };
    (0..JOBS).map(job).collect()
}

fn model(variant: Variant) -> Model {
    Model {
        rank_source: if variant == Variant::Asked { RankSource::Element } else { RankSource::Index },
        links: if variant == Variant::LinksUnshared { Division::Unshared } else { Division::Fair },
        transfers_seen: matches!(variant, Variant::TransfersSeen | Variant::SeenByLot | Variant::Asked),
        keeps_replicas: variant == Variant::KeepsReplicas,
        ..Model::default()
    }
}

fn span(seconds: f64) -> Span {
    Span::from_seconds(seconds).expect("a span")
}
