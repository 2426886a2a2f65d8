//! The model of Lublin and Feitelson (The workload on parallel supercomputers, JPDC 2003), by its published parameters.
//!
//! Batch and interactive jobs come in streams of their own; each job has a number of processors, and a run time that
//! depends on it. A job's queue is 0 if it is interactive, 1 if it is batch.

use super::cycle::{Clock, Cycle};
use super::gamma;
use crate::swf::{Job, Log};
use crate::{InputError, Stream};

/// The parameters of one kind of jobs, as the paper calls them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// Of a job on one processor.
    pub serial: f64,
    /// Of a parallel job on a power of two.
    pub power_of_two: f64,
    /// The logarithms between which sizes lie: `ULow`, `UMed`, `UHi`.
    pub sizes: [f64; 3],
    /// How many of the parallel jobs lie between the first two: `Uprob`.
    pub smaller: f64,
    /// Shape and scale of the first gamma distribution of the run time's logarithm.
    pub short: [f64; 2],
    /// Of the second.
    pub long: [f64; 2],
    /// pa and pb: the first has the probability pa·size + pb.
    pub mix: [f64; 2],
    /// Shape and scale of the logarithm of gaps in rush hours: `aarr` times ARAR, and `barr`.
    pub gap: [f64; 2],
    /// Shape and scale of the day's cycle: `anum`, `bnum`.
    pub day: [f64; 2],
}

/// A log of the model.
#[derive(Clone, PartialEq, Debug)]
pub struct Lublin {
    /// Each with the number of its queue.
    kinds: Vec<(u64, Parameters)>,
    cores: u32,
}

/// A run time's logarithm above is drawn again.
const LOG_RUN_MAX: f64 = 12.0;
/// A gap's logarithm above is drawn again.
const LOG_GAP_MAX: f64 = 13.0;
/// What the published sizes are for.
const CORES: u32 = 128;

impl Parameters {
    /// Batch jobs.
    pub const BATCH: Self = Self {
        serial: 0.2927,
        power_of_two: 0.6686,
        sizes: [1.2, 5.0, 7.0],
        smaller: 0.875,
        short: [6.57, 0.823],
        long: [639.1, 0.0156],
        mix: [-0.003, 0.6986],
        gap: [6.0415 * 1.0519, 0.8531],
        day: [6.1271, 5.2740],
    };
    /// Interactive jobs.
    pub const INTERACTIVE: Self = Self {
        serial: 0.1541,
        power_of_two: 0.625,
        sizes: [1.0, 3.0, 5.5],
        smaller: 0.705,
        short: [3.8351, 0.6605],
        long: [7.073, 0.6856],
        mix: [-0.0118, 0.9156],
        gap: [6.5510 * 0.9797, 0.6621],
        day: [8.9186, 3.6680],
    };
    /// Jobs of one kind, where a log does not tell them apart.
    pub const ALL: Self = Self {
        serial: 0.244,
        power_of_two: 0.576,
        sizes: [0.8, 4.5, 7.0],
        smaller: 0.86,
        short: [4.2, 0.94],
        long: [312.0, 0.03],
        mix: [-0.0054, 0.78],
        gap: [10.2303 * 1.0225, 0.4871],
        day: [8.1737, 3.9631],
    };

    /// For a machine of another size: the upper two logarithms move along with its own.
    fn for_cores(mut self, cores: u32) -> Self {
        let more = libm::log2(f64::from(cores) / f64::from(CORES));
        let [low, middle, high] = self.sizes;
        let high = (high + more).max(0.0);
        let middle = (middle + more).clamp(low.min(high), high);
        self.sizes = [low.min(middle), middle, high];
        self
    }

    fn size(&self, stream: &mut Stream) -> f64 {
        // One draw decides both.
        let which = stream.unit();
        if which <= self.serial {
            return 1.0;
        }
        let [low, middle, high] = self.sizes;
        let (from, to) = if stream.unit() <= self.smaller { (low, middle) } else { (middle, high) };
        let log = stream.uniform(from, to);
        let is_power = which <= self.serial + self.power_of_two;
        (libm::exp2(if is_power { (log + 0.5).floor() } else { log }) + 0.5).floor()
    }

    fn run_s(&self, size: f64, stream: &mut Stream) -> f64 {
        let share = (self.mix[0] * size + self.mix[1]).clamp(0.0, 1.0);
        loop {
            let [shape, scale] = if stream.unit() <= share { self.short } else { self.long };
            let log = gamma::draw(stream, shape, scale);
            if log <= LOG_RUN_MAX {
                return libm::exp(log).floor();
            }
        }
    }

    fn gap_s(&self, stream: &mut Stream) -> f64 {
        loop {
            let log = gamma::draw(stream, self.gap[0], self.gap[1]);
            if log <= LOG_GAP_MAX {
                return libm::exp(log);
            }
        }
    }
}

impl Lublin {
    /// Batch and interactive jobs, on 128 processors.
    pub fn of_two_kinds() -> Self {
        Self { kinds: vec![(0, Parameters::INTERACTIVE), (1, Parameters::BATCH)], cores: CORES }
    }

    /// Jobs of one kind, on 128 processors.
    pub fn of_one_kind() -> Self {
        Self { kinds: vec![(0, Parameters::ALL)], cores: CORES }
    }

    /// On a machine of another size, which is at least 1.
    #[must_use]
    pub fn for_cores(self, cores: u32) -> Self {
        let kinds = self.kinds.into_iter().map(|(queue, kind)| (queue, kind.for_cores(cores)));
        Self { kinds: kinds.collect(), cores }
    }

    /// The first `count` jobs.
    pub fn draw(&self, seed: u64, count: usize) -> Vec<Job> {
        let mut sources: Vec<Source<'_>> =
            (0..).zip(&self.kinds).map(|(at, kind)| Source::new(kind, seed, at)).collect();
        let mut jobs = Vec::with_capacity(count);
        for number in 1..=count as u64 {
            let next = sources.iter_mut().min_by(|one, other| one.next_s.total_cmp(&other.next_s));
            let source = next.expect("there is a kind");
            let size = source.kind.size(&mut source.sizes).min(f64::from(self.cores));
            jobs.push(Job {
                number: Some(number),
                submit_s: Some(source.next_s),
                run_s: Some(source.kind.run_s(size, &mut source.runs)),
                processors: Some(size as u32),
                status: Some(1),
                queue: Some(source.queue),
                ..Job::default()
            });
            source.advance();
        }
        jobs
    }

    /// Likewise, as a log.
    pub fn log(&self, seed: u64, count: usize) -> Result<Log, InputError> {
        let header = [
            ("Version", "2.2".to_owned()),
            ("Computer", format!("none: the Lublin-Feitelson model, seed {seed}")),
            ("MaxJobs", count.to_string()),
            ("MaxProcs", self.cores.to_string()),
            ("Queue", "0 interactive".to_owned()),
            ("Queue", "1 batch".to_owned()),
        ];
        Log::of("the Lublin-Feitelson model", &header, &self.draw(seed, count))
    }
}

/// The jobs of one kind.
struct Source<'a> {
    queue: u64,
    kind: &'a Parameters,
    cycle: Cycle,
    clock: Clock,
    next_s: f64,
    gaps: Stream,
    sizes: Stream,
    runs: Stream,
}

impl<'a> Source<'a> {
    fn new((queue, kind): &'a (u64, Parameters), seed: u64, at: u64) -> Self {
        let stream = |purpose| Stream::new(seed, 3 * at + purpose);
        let mut source = Self {
            queue: *queue,
            kind,
            cycle: Cycle::new(kind.day[0], kind.day[1]),
            clock: Clock::default(),
            next_s: 0.0,
            gaps: stream(0),
            sizes: stream(1),
            runs: stream(2),
        };
        source.advance();
        source
    }

    fn advance(&mut self) {
        let gap_s = self.kind.gap_s(&mut self.gaps);
        self.next_s = self.clock.advance(&self.cycle, gap_s);
    }
}
