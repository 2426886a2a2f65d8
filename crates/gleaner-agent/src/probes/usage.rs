//! What a finished task consumed: from its cgroup where it had one, else from its process and what `wait` said.

use gleaner_units::Span;

use super::cgroup::Cgroup;
use super::error::ProbeError;
use super::process;
use super::root::Root;

/// What a task consumed; `None` where the machine did not count it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Time on a core, all processes and threads together.
    pub cpu_seconds: Option<f64>,
    /// Bytes read from storage; what came from the cache is not counted.
    pub read_bytes: Option<u64>,
    /// Bytes written to storage.
    pub written_bytes: Option<u64>,
    /// The most memory held at one time, in bytes.
    pub peak_memory: Option<u64>,
    /// Bytes over the network, both ways; known only to whoever gave the task a network of its own.
    pub net_bytes: Option<u64>,
}

/// What the system says when a task's first process was waited for (`struct rusage`), its waited-for children
/// included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaped {
    /// User and system time.
    pub cpu: Span,
    /// `ru_maxrss`, in KiB as Linux has it: of the largest process, not of all together.
    pub peak_kib: u64,
    /// `ru_inblock`: blocks of 512 bytes read.
    pub blocks_read: u64,
    /// `ru_oublock`: blocks of 512 bytes written.
    pub blocks_written: u64,
}

/// The unit of `ru_inblock` and `ru_oublock`.
const BLOCK: u64 = 512;

impl Usage {
    /// What all processes of a cgroup consumed. Ask before the cgroup is removed.
    pub fn of_cgroup(cgroup: &Cgroup) -> Result<Self, ProbeError> {
        let (read, written) = cgroup.io_bytes()?.unzip();
        Ok(Self {
            cpu_seconds: cgroup.cpu_used()?.map(Span::seconds),
            read_bytes: read,
            written_bytes: written,
            peak_memory: cgroup.peak_memory()?,
            net_bytes: None,
        })
    }

    /// What a process consumed so far, with the children it waited for. A process that has ended and was not waited
    /// for still answers.
    pub fn of_process(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        let (read, written) = process::io_bytes(root, pid)?.unzip();
        Ok(Self {
            cpu_seconds: process::cpu_used(root, pid)?.map(Span::seconds),
            read_bytes: read,
            written_bytes: written,
            peak_memory: None,
            net_bytes: None,
        })
    }

    /// What a process consumed that was waited for.
    pub fn of_reaped(reaped: &Reaped) -> Self {
        Self {
            cpu_seconds: Some(reaped.cpu.seconds()),
            read_bytes: Some(reaped.blocks_read.saturating_mul(BLOCK)),
            written_bytes: Some(reaped.blocks_written.saturating_mul(BLOCK)),
            peak_memory: Some(reaped.peak_kib.saturating_mul(1024)),
            net_bytes: None,
        }
    }

    /// This, with what is unknown here taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            cpu_seconds: self.cpu_seconds.or(other.cpu_seconds),
            read_bytes: self.read_bytes.or(other.read_bytes),
            written_bytes: self.written_bytes.or(other.written_bytes),
            peak_memory: self.peak_memory.or(other.peak_memory),
            net_bytes: self.net_bytes.or(other.net_bytes),
        }
    }
}
