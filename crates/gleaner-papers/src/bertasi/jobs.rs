//! Job sets 0, 1 and 2 (table 2), and the 24 orders of arrival (table 4).
//!
//! Invariants, for every seed:
//!
//! - Tasks are in order of arrival; those of one instant stay in the order in which they were drawn.
//! - Each step of a type's lengths has exactly its share of the type's jobs.
//! - Steps, lengths and arrivals of each type are drawn from streams of their own: the same type has the same
//!   lengths in all permutations of job set 2.

use crate::Stream;
use gleaner_units::{Ops, Time};

/// What arrives: one entry a task, in order of arrival, which is the tasks' own order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobSet {
    /// When.
    pub arrivals: Vec<Time>,
    /// ℓ: whole operations, at least one.
    pub lengths: Vec<Ops>,
    /// Which of [`COMPOSITIONS`](super::COMPOSITIONS).
    pub kinds: Vec<usize>,
}

/// The type that arrives at 0 s, 25 s, 50 s and 75 s.
pub type Permutation = [usize; 4];

/// Table 4: the permutation with the paper's ID i is at i − 1.
pub const PERMUTATIONS: [Permutation; 24] = [
    [0, 1, 2, 3],
    [1, 0, 2, 3],
    [0, 2, 1, 3],
    [2, 0, 1, 3],
    [2, 1, 0, 3],
    [1, 2, 0, 3],
    [0, 1, 3, 2],
    [1, 0, 3, 2],
    [0, 3, 1, 2],
    [3, 0, 1, 2],
    [3, 1, 0, 2],
    [1, 3, 0, 2],
    [0, 3, 2, 1],
    [3, 0, 2, 1],
    [0, 2, 3, 1],
    [2, 0, 3, 1],
    [2, 3, 0, 1],
    [3, 2, 0, 1],
    [3, 1, 2, 0],
    [1, 3, 2, 0],
    [3, 2, 1, 0],
    [2, 3, 1, 0],
    [2, 1, 3, 0],
    [1, 2, 3, 0],
];

const SECONDS_BETWEEN_BURSTS: f64 = 25.0;

/// One step of a discrete power law: a share of the jobs has lengths near the mean.
#[derive(Clone, Copy)]
struct Step {
    percent: usize,
    mean: f64,
    deviation: f64,
}

/// N(`mean_k`·1000, `deviation_k`·1000) for so many per cent.
const fn step(percent: usize, mean_k: f64, deviation_k: f64) -> Step {
    Step { percent, mean: mean_k * 1000.0, deviation: deviation_k * 1000.0 }
}

const SET_0_CPU: [Step; 3] = [step(24, 400.0, 8.0), step(38, 200.0, 4.0), step(38, 100.0, 2.0)];
const SET_0_GENERIC: [Step; 3] = [step(24, 100.0, 4.0), step(38, 50.0, 2.0), step(38, 25.0, 1.0)];
const SET_1: [Step; 3] = [step(20, 500.0, 40.0), step(38, 250.0, 20.0), step(38, 125.0, 10.0)];
const SET_2: [Step; 4] =
    [step(20, 250.0, 75.0), step(30, 100.0, 30.0), step(30, 40.0, 12.0), step(20, 10.0, 3.0)];

#[derive(Clone, Copy)]
enum Arrival {
    Together { at_s: f64 },
    Evenly { until_s: f64 },
}

/// All jobs of one type in a set.
struct Batch<'a> {
    kind: usize,
    count: usize,
    steps: &'a [Step],
    arrival: Arrival,
}

/// Job set 0 (figure 1): 200 jobs of type 0 and 800 of type 1 within 100 s.
pub fn job_set_0(seed: u64) -> JobSet {
    let arrival = Arrival::Evenly { until_s: 100.0 };
    let cpu = Batch { kind: 0, count: 200, steps: &SET_0_CPU, arrival };
    let generic = Batch { kind: 1, count: 800, steps: &SET_0_GENERIC, arrival };
    draw(seed, 0, &[cpu, generic])
}

/// Job set 1 (figure 2): 500 jobs each of types 0 and 4 within 1000 s. Its shares, which add up to 96 %, grow in proportion.
pub fn job_set_1(seed: u64) -> JobSet {
    let arrival = Arrival::Evenly { until_s: 1000.0 };
    draw(seed, 1, &[0, 4].map(|kind| Batch { kind, count: 500, steps: &SET_1, arrival }))
}

/// Job set 2 (figures 3 and 4): four bursts of 500 jobs, 25 s apart, each of one type.
pub fn job_set_2(seed: u64, order: &Permutation) -> JobSet {
    let batch = |burst: usize| {
        let at_s = burst as f64 * SECONDS_BETWEEN_BURSTS;
        Batch { kind: order[burst], count: 500, steps: &SET_2, arrival: Arrival::Together { at_s } }
    };
    draw(seed, 2, &[0, 1, 2, 3].map(batch))
}

/// What a stream is for; its number is part of what a seed means.
#[derive(Clone, Copy)]
enum Purpose {
    Steps = 0,
    Lengths = 1,
    Arrivals = 2,
}

fn draw(seed: u64, set: u64, batches: &[Batch<'_>]) -> JobSet {
    let mut jobs = Vec::new();
    for batch in batches {
        let stream =
            |purpose: Purpose| Stream::new(seed, set << 16 | (batch.kind as u64) << 8 | purpose as u64);
        let mut steps = steps_of(batch);
        stream(Purpose::Steps).shuffle(&mut steps);
        let (mut lengths, mut arrivals) = (stream(Purpose::Lengths), stream(Purpose::Arrivals));
        jobs.extend(
            steps
                .into_iter()
                .map(|step| (arrival(&mut arrivals, batch.arrival), length(&mut lengths, step), batch.kind)),
        );
    }
    jobs.sort_by_key(|&(arrival, ..)| arrival);
    let mut set = JobSet::default();
    for (arrival, length, kind) in jobs {
        set.arrivals.push(arrival);
        set.lengths.push(length);
        set.kinds.push(kind);
    }
    set
}

/// Each step as often as its share says. What rounding down leaves goes to the steps that lost most by it, the
/// first of equals.
fn steps_of(batch: &Batch<'_>) -> Vec<Step> {
    let percents: usize = batch.steps.iter().map(|step| step.percent).sum();
    let of_all = |step: &Step| batch.count * step.percent;
    let mut counts: Vec<usize> = batch.steps.iter().map(|step| of_all(step) / percents).collect();
    let mut by_loss: Vec<usize> = (0..counts.len()).collect();
    by_loss.sort_by_key(|&at| std::cmp::Reverse(of_all(&batch.steps[at]) % percents));
    let left = batch.count - counts.iter().sum::<usize>();
    by_loss.into_iter().take(left).for_each(|at| counts[at] += 1);
    batch.steps.iter().zip(counts).flat_map(|(&step, count)| std::iter::repeat_n(step, count)).collect()
}

fn arrival(stream: &mut Stream, arrival: Arrival) -> Time {
    let seconds = match arrival {
        Arrival::Together { at_s } => at_s,
        Arrival::Evenly { until_s } => stream.uniform(0.0, until_s),
    };
    Time::from_seconds(seconds).expect("an experiment's times are neither negative nor huge")
}

fn length(stream: &mut Stream, step: Step) -> Ops {
    loop {
        let length = stream.normal(step.mean, step.deviation).round();
        if length >= 1.0 {
            return Ops::new(length).expect("finite and at least 1");
        }
    }
}
