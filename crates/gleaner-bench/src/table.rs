//! The measurements that `gleaner bench` shows, each with what it is to be held against.

use crate::growth::{self, Steady};
use crate::{batches, brokers, crowd, figure_3, peers, processor_seconds, rigid, sites};
use gleaner_papers::dasilva;
use gleaner_policy::{Backfill, Belief, Choice as _, Choose, TaskOrder};
use gleaner_sim::sharing::ClosedLoop;

/// The least of so many runs counts: what disturbs a run only makes it slower.
const RUNS: usize = 3;
const COMPLETIONS: u64 = 300_000;
const ARRIVALS: usize = 10_000;
/// With relocation the largest grid takes a second for each few thousand arrivals.
const GROWTH_SCHEMES: [usize; 3] = [0, 2, 4];

/// One line of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// What was measured.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it is to be held against, in the same unit.
    pub aim: Option<Aim>,
}

/// What a number should keep to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Aim {
    /// No less.
    AtLeast(f64),
    /// No more.
    AtMost(f64),
}

/// One or more lines that are measured together.
pub struct Step(Box<dyn Fn() -> Vec<Measurement>>);

impl Step {
    pub(crate) fn of(measure: impl Fn() -> Vec<Measurement> + 'static) -> Self {
        Self(Box::new(measure))
    }

    /// Takes from some milliseconds to a few seconds.
    pub fn measure(&self) -> Vec<Measurement> {
        self.0()
    }
}

/// All of them, in order.
pub fn steps() -> Vec<Step> {
    let engine = [(70, 30, Some(8e6)), (7_000, 30, Some(5e6)), (1, 40, None), (1, 4_000, None)];
    let engine = engine.map(|(machines, tasks, aim)| Step::of(move || vec![sharing(machines, tasks, aim)]));
    let large = [0, 2, 4].map(|scheme| Step::of(move || vec![large_grid(scheme)]));
    let grown = GROWTH_SCHEMES.map(|scheme| Step::of(move || growth_of(scheme)));
    let queues = QUEUES.map(|queue| Step::of(move || queue_of(queue)));
    let batches = BATCHES.map(|batch| Step::of(move || vec![batch_of(batch)]));
    let logs = Step::of(whole_log);
    let maps = [false, true].map(|is_known| Step::of(move || virtual_maps(is_known)));
    let sent = brokers::RULES.map(|rule| Step::of(move || vec![sent_by(rule)]));
    let decided = [brokers::RULES[0], brokers::RULES[3]].map(|rule| Step::of(move || decisions_of(rule)));
    let lent = [Step::of(growth_of_peers), Step::of(largest_of_peers)];
    let grids = engine.into_iter().chain([Step::of(figure)]).chain(large).chain(grown);
    let sites = maps.into_iter().chain(sent).chain(decided).chain(lent);
    grids.chain(batches).chain(queues).chain([logs]).chain(sites).collect()
}

/// Jobs, the load, the rule, and the seconds that it may take.
type Queue = (usize, f64, Backfill, f64);

const QUEUE_CORES: u32 = 1_024;
const QUEUES: [Queue; 6] = [
    (100_000, 0.8, Backfill::Easy, 0.15),
    (100_000, 1.2, Backfill::Easy, 0.15),
    (1_000_000, 0.8, Backfill::Easy, 3.0),
    (1_000_000, 1.2, Backfill::Easy, 3.0),
    (100_000, 0.8, Backfill::Conservative, 3.0),
    (100_000, 1.2, Backfill::Conservative, 3.0),
];

/// The order, tasks, and the seconds that the batch may take.
type Batch = (TaskOrder, usize, f64);

const BATCH_MACHINES: usize = 10_000;
const BATCHES: [Batch; 6] = [
    (TaskOrder::MinMin, 100_000, 0.025),
    (TaskOrder::MaxMin, 100_000, 0.025),
    (TaskOrder::Sufferage, 100_000, 0.025),
    (TaskOrder::SufferagePasses, 100_000, 0.025),
    (TaskOrder::MinMin, 1_000_000, 0.3),
    (TaskOrder::SufferagePasses, 1_000_000, 0.3),
];

fn batch_of((order, tasks, most_s): Batch) -> Measurement {
    Measurement {
        name: format!("batch of {tasks} tasks, {BATCH_MACHINES} machines, {}", order.name()),
        value: least(|| batches::Due::new(order, tasks, BATCH_MACHINES).seconds()),
        unit: "s",
        aim: Some(Aim::AtMost(most_s)),
    }
}

fn queue_of((jobs, load, backfill, most_s): Queue) -> Vec<Measurement> {
    let setup = rigid::setup(jobs, QUEUE_CORES, load);
    // The first run shows what memory it takes: later ones use what it gave back.
    let bytes = rigid::peak_bytes(&setup, backfill);
    let name = format!("{}, {jobs} jobs, {QUEUE_CORES} cores, load {load}", backfill.name());
    let took = least(|| rigid::seconds(&setup, backfill));
    let memory = bytes.map(|bytes| Measurement {
        name: format!("{name}: memory at most"),
        value: bytes as f64 / jobs as f64,
        unit: "bytes/job",
        aim: None,
    });
    let time = Measurement { name, value: took, unit: "s", aim: Some(Aim::AtMost(most_s)) };
    [time].into_iter().chain(memory).collect()
}

/// A log from its bytes to its results, beside the least that its bytes take.
fn whole_log() -> Vec<Measurement> {
    let log = rigid::log(&rigid::setup(100_000, QUEUE_CORES, 0.8), QUEUE_CORES);
    let line = |name: &str, value| Measurement {
        name: format!("log of 100,000 jobs, {name}"),
        value,
        unit: "s",
        aim: None,
    };
    vec![
        line("read, run, summed up", least(|| rigid::seconds_from_bytes(&log))),
        line("its bytes looked at", least(|| rigid::seconds_of_bytes(&log))),
    ]
}

/// Looks at a job for each measurement.
const LOOKS: usize = 20;
/// For each site, where a kind of job was not met before.
const MAP_NS_MAX: f64 = 100.0;

/// A look at a job by MRS while sites multiply.
fn virtual_maps(is_known: bool) -> Vec<Measurement> {
    let kind = if is_known { "a known kind" } else { "a new kind" };
    let points = sites::SITES.map(|count| {
        let mut idle = sites::Idle::new(count);
        let looks = (0..RUNS).map(|_| idle.seconds_per_site(LOOKS, is_known));
        (count as f64, looks.fold(f64::INFINITY, f64::min) * count as f64)
    });
    let line = |(count, seconds): (f64, f64)| Measurement {
        name: format!("MRS, a job of {kind}, {count} sites, a site"),
        value: 1e9 * seconds / count,
        unit: "ns",
        aim: Some(Aim::AtMost(MAP_NS_MAX)),
    };
    let exponent = Measurement {
        name: format!("growth of MRS, {kind}, 100 to 10,000 sites"),
        value: growth::exponent(&points),
        unit: "exponent",
        aim: None,
    };
    points.into_iter().map(line).chain([exponent]).collect()
}

const JOBS_A_PEER: usize = 100;

fn growth_of_peers() -> Vec<Measurement> {
    let points = peers::PEERS.map(|count| {
        let setup = peers::setup(count, JOBS_A_PEER);
        (count as f64, least(|| peers::seconds_per_job(&setup, peers::greedy())))
    });
    let line = |(count, seconds): (f64, f64)| Measurement {
        name: format!("job among {count} peers, dasilva/greedy"),
        value: 1e9 * seconds,
        unit: "ns",
        aim: None,
    };
    let exponent = Measurement {
        name: "growth under dasilva/greedy, 10 to 1,000 peers".to_owned(),
        value: growth::exponent(&points),
        unit: "exponent",
        aim: None,
    };
    points.into_iter().map(line).chain([exponent]).collect()
}

/// The largest cell of Da Silva and Nesmachnow's table 2, once under each rule.
fn largest_of_peers() -> Vec<Measurement> {
    let largest = dasilva::CELLS.iter().max_by_key(|cell| cell.jobs).expect("a table with cells");
    let line = |(name, (_, seconds, tasks)): (&str, (String, f64, u64))| Measurement {
        name: format!("{tasks} jobs, {} peers, dasilva/{name}", largest.peers),
        value: seconds,
        unit: "s",
        aim: Some(Aim::AtMost(20.0)),
    };
    ["traditional", "greedy"].into_iter().zip(dasilva::largest(largest)).map(line).collect()
}

type BrokerRule = (&'static str, Choose, Belief);

/// Once: the runs take long enough.
fn sent_by((name, choose, belief): BrokerRule) -> Measurement {
    let setup = brokers::setup(1_000, 100, 1_000_000);
    Measurement {
        name: format!("10⁶ jobs, 100 brokers, 1,000 elements, {name}"),
        value: brokers::seconds(&setup, brokers::recipe(choose, belief)),
        unit: "s",
        aim: Some(Aim::AtMost(30.0)),
    }
}

fn decisions_of((name, choose, belief): BrokerRule) -> Vec<Measurement> {
    let points = brokers::ELEMENTS.map(|elements| {
        let mut broker = brokers::Informed::new(elements, brokers::recipe(choose, belief));
        let took = (0..RUNS).map(|_| broker.seconds_per_decision(ARRIVALS)).fold(f64::INFINITY, f64::min);
        (elements as f64, took)
    });
    let line = |(elements, seconds): (f64, f64)| Measurement {
        name: format!("decision by {name}, {elements} elements"),
        value: 1e9 * seconds,
        unit: "ns",
        aim: None,
    };
    let exponent = Measurement {
        name: format!("growth by {name}, 100 to 10,000 elements"),
        value: growth::exponent(&points),
        unit: "exponent",
        aim: None,
    };
    points.into_iter().map(line).chain([exponent]).collect()
}

/// The least of what several runs took.
pub(crate) fn least(measure: impl Fn() -> f64) -> f64 {
    (0..RUNS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// The processor time of some work.
pub(crate) fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    // What comes of it is used, so that the work is not optimised away.
    processor_seconds(|| drop(std::hint::black_box(work())))
}

fn sharing(machines: usize, tasks: usize, aim: Option<f64>) -> Measurement {
    let mut looped = ClosedLoop::new(machines, tasks, 1);
    looped.run(COMPLETIONS);
    let took = (0..RUNS).map(|_| seconds(|| looped.run(COMPLETIONS))).fold(f64::INFINITY, f64::min);
    Measurement {
        name: format!("sharing engine, {machines} × {tasks} tasks"),
        value: 2.0 * COMPLETIONS as f64 / took,
        unit: "events/s",
        aim: aim.map(Aim::AtLeast),
    }
}

fn figure() -> Vec<Measurement> {
    let setups = figure_3::setups();
    let line =
        |name: &str, value| Measurement { name: format!("figure 3, {name}"), value, unit: "s", aim: None };
    let mut lines: Vec<Measurement> = figure_3::schemes()
        .map(|scheme| line(scheme.name, least(|| seconds(|| figure_3::run(&setups, scheme.recipe)))))
        .into();
    let all = lines.iter().map(|line| line.value).sum();
    lines.push(Measurement { aim: Some(Aim::AtMost(2.0)), ..line("all six schemes, 720 runs", all) });
    lines
}

fn large_grid(scheme: usize) -> Measurement {
    let (setup, scheme) = (crowd(7_000, 200_000, 100.0), figure_3::schemes()[scheme]);
    Measurement {
        name: format!("200,000 tasks, 7,000 machines, {}", scheme.name),
        value: least(|| seconds(|| figure_3::run(std::slice::from_ref(&setup), scheme.recipe))),
        unit: "s",
        aim: Some(Aim::AtMost(1.0)),
    }
}

fn growth_of(scheme: usize) -> Vec<Measurement> {
    let scheme = figure_3::schemes()[scheme];
    let points = growth::MACHINES.map(|machines| {
        let steady = Steady::new(machines, ARRIVALS);
        (machines as f64, least(|| steady.seconds_per_event(scheme.recipe)))
    });
    let line = |(machines, seconds): (f64, f64)| Measurement {
        name: format!("event under {}, {machines} machines", scheme.name),
        value: 1e9 * seconds,
        unit: "ns",
        aim: None,
    };
    let exponent = Measurement {
        name: format!("growth under {}, 70 to 70,000 machines", scheme.name),
        value: growth::exponent(&points),
        unit: "exponent",
        aim: None,
    };
    points.into_iter().map(line).chain([exponent]).collect()
}
