//! How fast the live grid is, beside what nothing can be faster than: `gleaner bench live`.
//!
//! - Each measurement starts a coordinator and agents of its own, processes of this very program, in a folder that is
//!   gone afterwards. The journal is on, and commits reach the disk.
//! - **The limit and the grid take turns within one run**, so that whatever else the machine does disturbs both alike.
//!   A ratio within a run means something; numbers of two runs beside each other mean little.
//! - What is compared with must be there: a peer that is not installed is said to be missing.

mod bwrap;
mod commands;
mod crowd;
mod disk;
mod grid;
mod hyperqueue;
mod idle;
mod latency;
mod process;
mod queue;
mod race;
mod rate;
mod restart;
mod simulated;
mod spawning;
mod subject;

pub use subject::Subject;

use crate::table::{Aim, Measurement};
use gleaner_net::ClientError;
use gleaner_wire::JobId;
use gleaner_wire::api::Tally;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Where and with what to measure.
#[derive(Clone, Debug)]
pub struct Bench {
    /// This program.
    pub program: PathBuf,
    /// A folder for what is made and removed again; its disk is the one that is measured.
    pub scratch: PathBuf,
    /// How long an agent with nothing to do is watched.
    pub idle_for: Duration,
}

/// What a measurement found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The numbers.
    pub lines: Vec<Measurement>,
    /// What is to be said besides, such as what is missing.
    pub notes: Vec<String>,
}

/// Why something could not be measured.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The system refused.
    #[error("{what}: {why}")]
    System {
        /// What was tried.
        what: String,
        /// What it said.
        why: io::Error,
    },
    /// A process that was started is not there in time, or gone.
    #[error("{what} did not happen within {seconds} s")]
    Late {
        /// What was waited for.
        what: String,
        /// For how long.
        seconds: u64,
    },
    /// A command went wrong.
    #[error("{command} ended with {status}: {said}")]
    Command {
        /// The command line.
        command: String,
        /// How.
        status: String,
        /// What it said.
        said: String,
    },
    /// The coordinator did not do what it was asked for.
    #[error(transparent)]
    Grid(#[from] ClientError),
    /// Tasks that cannot fail did.
    #[error("job {job} went wrong: {tally:?}")]
    Tasks {
        /// Which job.
        job: JobId,
        /// What became of its tasks.
        tally: Tally,
    },
    /// A simulated agent could not go on.
    #[error("a simulated agent: {0}")]
    Simulated(String),
}

impl LiveError {
    fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |why| Self::System { what, why }
    }
}

impl Found {
    fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str, aim: Option<Aim>) {
        self.lines.push(Measurement { name: name.into(), value, unit, aim });
    }
}

/// The middle one; the higher of two.
///
/// # Panics
/// Where there is none.
fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which that share of the values lies.
///
/// # Panics
/// Where there is none.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::{median, quantile};

    #[test]
    fn quantiles_are_values() {
        for (values, share, expected) in
            [(&[1.0][..], 0.95, 1.0), (&[3.0, 1.0, 2.0], 0.5, 2.0), (&[1.0, 2.0, 3.0, 4.0], 1.0, 4.0)]
        {
            assert_eq!(quantile(values, share), expected);
        }
        assert_eq!(median(&[2.0, 1.0]), 2.0);
    }
}
