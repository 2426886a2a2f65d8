//! The microbenchmark that fills the speed vector, in less than three seconds on a machine that is not stuck.
//!
//! Every part is measured several times, and the best counts: what disturbs a measurement only ever makes it slower.
//! How far the worst lies below is reported as its spread. All is wall time, so that an agent that may use only a
//! quarter of a core comes out a quarter as fast.

mod cpu;
mod disk;
mod network;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::speeds::Speeds;

pub use disk::ReadPath;
pub use network::{NETWORK_DEFAULT, measure_network};

/// A speed and how much its measurements disagreed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The best measurement.
    pub speed: f64,
    /// How far the worst lies below the best, as a share of it, from 0 to 1.
    pub spread: f64,
}

/// What a machine was measured to do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// Millions of reference operations a second of wall time, on one thread.
    pub cpu: Measured,
    /// The same for each second that the thread was on a core; more than `cpu` where there is a quota.
    pub cpu_on_core: f64,
    /// Megabytes a second written, with `fdatasync`.
    pub disk_write: Measured,
    /// Megabytes a second read.
    pub disk_read: Measured,
    /// How the reading got past the cache.
    pub read_path: ReadPath,
    /// Megabytes a second to the coordinator.
    pub net: Measured,
}

/// Measures CPU and disk; the file that this needs lies in `folder`, has no name, and holds 64 MiB at most. `net` is
/// from [`measure_network`], or [`NETWORK_DEFAULT`].
pub fn benchmark(folder: &Path, net: Measured) -> io::Result<Benchmark> {
    let (cpu, cpu_on_core) = cpu::measure();
    let disk = disk::measure(folder)?;
    Ok(Benchmark {
        cpu,
        cpu_on_core,
        disk_write: disk.write,
        disk_read: disk.read,
        read_path: disk.read_path,
        net,
    })
}

impl Benchmark {
    /// S, not yet rounded. A megabyte of disk is half written and half read.
    pub fn speeds(&self) -> Speeds {
        Speeds { cpu: self.cpu.speed, disk: self.disk(), net: self.net.speed }
    }

    /// What a second of each device's time is worth in operations, for [`super::composition`].
    pub fn rates(&self) -> Speeds {
        Speeds { cpu: self.cpu_on_core, ..self.speeds() }
    }

    fn disk(&self) -> f64 {
        2.0 / (1.0 / self.disk_write.speed + 1.0 / self.disk_read.speed)
    }
}

impl Measured {
    /// The best of several, each above 0; at least one.
    fn best_of(speeds: &[f64]) -> Self {
        let best = speeds.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let worst = speeds.iter().copied().fold(best, f64::min);
        Self { speed: best, spread: (best - worst) / best }
    }
}
