//! Samples: what the owner leaves over, at one moment.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gleaner_net::Disk;
use gleaner_units::{Span, Time};

use super::domain::{Domain, Ours};
use super::error::ProbeError;
use super::{sensors, sessions};

/// A moment on both clocks that sampling needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// On a clock that nobody sets, and that counts the machine's sleep.
    pub steady: Time,
    /// The time of day, since files bear it.
    pub wall: SystemTime,
}

/// The state of the machine; a value is `None` where the machine does not tell it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// λ: the share of the CPU that others than we used since the sample before, from 0 to 1; `None` in the first.
    pub load: Option<f64>,
    /// What `load` is a share of: cores, or a quota in cores.
    pub cores: f64,
    /// Bytes of memory that one more program could take.
    pub free_memory: Option<u64>,
    /// Bytes that may be written where tasks have their folders.
    pub free_disk: Option<u64>,
    /// How long programs waited for what they lacked.
    pub pressure: Pressure,
    /// The highest temperature, in degrees Celsius.
    pub temperature: Option<f64>,
    /// Whether the machine lives on its battery; `None` if it has none.
    pub on_battery: Option<bool>,
    /// The shortest time that a logged-in person has been idle; `None` if nobody is logged in.
    pub session_idle: Option<Span>,
}

/// The share of the last ten seconds in which some task waited for a resource, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Waiting for a core.
    pub cpu: Option<f64>,
    /// Waiting for memory.
    pub memory: Option<f64>,
    /// Waiting for storage.
    pub io: Option<f64>,
}

/// A sample and what was wrong with the files behind the values it lacks.
#[derive(Debug)]
pub struct Observation {
    /// What could be read.
    pub sample: Sample,
    /// What could not, and why.
    pub faults: Vec<ProbeError>,
}

/// Takes samples of one machine. It remembers the counters of the sample before, and nothing else.
#[derive(Debug)]
pub struct Sampler {
    domain: Domain,
    folder: PathBuf,
    before: Option<Counters>,
}

#[derive(Clone, Copy, Debug)]
struct Counters {
    at: Time,
    all: Span,
    processes: Span,
    tasks: Option<Span>,
}

impl Sampler {
    /// Samples `domain`, and the free space of the file system that holds `folder`.
    pub fn new(domain: Domain, folder: impl Into<PathBuf>) -> Self {
        Self { domain, folder: folder.into(), before: None }
    }

    /// What the machine is measured in.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The state at `now`, with the load since the call before. `ours` is whose CPU use is not the owner's.
    pub fn sample(&mut self, now: Moment, ours: Ours<'_>) -> Observation {
        let mut faults = Vec::new();
        let counters = self.counters(now.steady, ours, &mut faults);
        let load =
            self.before.zip(counters).and_then(|(before, after)| load(before, after, self.domain.cores()));
        self.before = counters;
        let root = self.domain.root();
        let sample = Sample {
            load,
            cores: self.domain.cores(),
            free_memory: keep(self.domain.memory_free(), &mut faults),
            free_disk: keep(free_disk(&self.folder), &mut faults),
            pressure: Pressure {
                cpu: keep(sensors::pressure(root, "cpu"), &mut faults),
                memory: keep(sensors::pressure(root, "memory"), &mut faults),
                io: keep(sensors::pressure(root, "io"), &mut faults),
            },
            temperature: keep(sensors::temperature(root), &mut faults),
            on_battery: keep(sensors::on_battery(root), &mut faults),
            session_idle: keep(sessions::shortest_idle(root, now.wall), &mut faults),
        };
        Observation { sample, faults }
    }

    fn counters(&self, at: Time, ours: Ours<'_>, faults: &mut Vec<ProbeError>) -> Option<Counters> {
        let (processes, tasks) = (ours.cpu_used(self.domain.root(), faults), ours.tasks);
        let all = keep(self.domain.cpu_used(), faults)?;
        Some(Counters { at, all, processes, tasks })
    }
}

/// The owner's share. Ours is read before the whole, so that what runs in between is not taken for less than nothing;
/// counters that went back (a task's processes that nobody waited for) count as no use.
fn load(before: Counters, after: Counters, cores: f64) -> Option<f64> {
    let used = |after: Span, before: Span| after.nanos().saturating_sub(before.nanos());
    let elapsed = after.at.since(before.at).nanos() as f64;
    let tasks = after.tasks.zip(before.tasks).map_or(0, |(after, before)| used(after, before));
    let ours = used(after.processes, before.processes).max(tasks);
    let others = used(after.all, before.all).saturating_sub(ours);
    (elapsed > 0.0).then(|| (others as f64 / (elapsed * cores)).min(1.0))
}

/// How much more whoever asks can write to the disk that a folder is on.
pub(crate) fn free_disk(folder: &Path) -> Result<Option<u64>, ProbeError> {
    match Disk::of(folder) {
        Ok(disk) => Ok(Some(disk.free)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ProbeError::Unreadable { file: folder.to_owned(), source }),
    }
}

fn keep<T>(read: Result<Option<T>, ProbeError>, faults: &mut Vec<ProbeError>) -> Option<T> {
    read.unwrap_or_else(|fault| {
        faults.push(fault);
        None
    })
}
