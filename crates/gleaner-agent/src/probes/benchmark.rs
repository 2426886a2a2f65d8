//! The microbenchmark that fills the speed vector, in less than three seconds on a machine that is not stuck.
//!
//! Every part is measured several times, and the best counts: what disturbs a measurement only ever makes it slower.
//! How far the worst lies below is reported as its spread. All is wall time, so that an agent that may use only a
//! quarter of a core comes out a quarter as fast.

mod cpu;
mod disk;
mod measured;
mod network;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use self::network::NETWORK_DEFAULT;
use super::speeds::Speeds;

pub use disk::ReadPath;
pub use measured::Measured;
pub use network::measure_network;

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
    /// Megabytes a second to the coordinator; `None` until there is one to measure it with.
    pub net: Option<Measured>,
}

impl Benchmark {
    /// The faster of two measurements, number by number; of the network the later, since ways change.
    pub(crate) fn best(&self, later: &Self) -> Self {
        Self {
            cpu: self.cpu.best(later.cpu),
            cpu_on_core: self.cpu_on_core.max(later.cpu_on_core),
            disk_write: self.disk_write.best(later.disk_write),
            disk_read: self.disk_read.best(later.disk_read),
            read_path: later.read_path,
            net: later.net,
        }
    }
}

/// Measures CPU and disk; the file that this needs lies in `folder`, has no name, and holds 64 MiB at most. `net` is
/// from [`measure_network`].
pub fn benchmark(folder: &Path, net: Option<Measured>) -> io::Result<Benchmark> {
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
        let net = self.net.unwrap_or(NETWORK_DEFAULT);
        Speeds { cpu: self.cpu.speed, disk: self.disk(), net: net.speed }
    }

    fn disk(&self) -> f64 {
        2.0 / (1.0 / self.disk_write.speed + 1.0 / self.disk_read.speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benchmark(cpu: f64) -> Benchmark {
        let measured = |speed| Measured { speed, spread: 0.0 };
        Benchmark {
            cpu: measured(cpu),
            cpu_on_core: 100.0,
            disk_write: measured(100.0),
            disk_read: measured(300.0),
            read_path: ReadPath::Direct,
            net: None,
        }
    }

    #[test]
    fn a_megabyte_of_disk_is_half_written_and_half_read() {
        assert_eq!(benchmark(25.0).speeds(), Speeds { cpu: 25.0, disk: 150.0, net: 120.0 });
    }

    #[test]
    fn a_busy_machine_is_not_slower_for_it() {
        let (idle, busy) = (benchmark(130.0), benchmark(82.0));
        assert_eq!(idle.best(&busy).cpu.speed, 130.0);
        assert_eq!(busy.best(&idle).cpu.speed, 130.0);
    }

    #[test]
    fn the_best_counts_and_the_worst_is_told() {
        assert_eq!(Measured::best_of(&[80.0, 100.0, 75.0]), Measured { speed: 100.0, spread: 0.25 });
        assert_eq!(NETWORK_DEFAULT.speed, benchmark(1.0).speeds().rounded().net);
    }
}
