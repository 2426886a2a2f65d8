//! What can be wrong with a file that describes the machine.

use std::io;
use std::path::PathBuf;

/// Why a probe has no value although there is something to read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The file is there and the system would not read it.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// Which file or folder.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file says something that it never should.
    #[error("{}, line {line}: expected {expected}, found {found:?}", file.display())]
    Garbled {
        /// Which file.
        file: PathBuf,
        /// Which line of it, from 1.
        line: usize,
        /// What should have been there.
        expected: &'static str,
        /// The beginning of what was.
        found: String,
    },
    /// The file is far longer than what the kernel writes there.
    #[error("{} is longer than {limit} bytes", file.display())]
    TooLong {
        /// Which file.
        file: PathBuf,
        /// What is read at most.
        limit: u64,
    },
    /// The folder holds more than any machine has of these.
    #[error("{} holds more than {limit} entries", folder.display())]
    TooMany {
        /// Which folder.
        folder: PathBuf,
        /// How many are listed at most.
        limit: usize,
    },
    /// The cgroup to measure in does not exist, or its CPU time is not accounted for.
    #[error(
        "no CPU time is accounted for in a cgroup {path}; create it in the cpuacct hierarchy (or v2) too"
    )]
    NotAccounted {
        /// Its path in the hierarchy.
        path: String,
    },
}
