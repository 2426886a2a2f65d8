//! What the file of a saved run begins with, and how it is refused: not whole, of another version, of another run.

use crate::availability::MachineTraces;
use crate::setup::Setup;
use gleaner_units::Ops;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug, Write as _};
use thiserror::Error;

/// How every checkpoint begins.
const MAGIC: &[u8] = b"gleaner checkpoint\n";
/// Changes whenever the layout does.
const FORMAT: u32 = 25;

/// Why a run cannot go on from a file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RestoreError {
    /// Not one of our files.
    #[error("found no checkpoint; expected a file that --checkpoint wrote")]
    NoCheckpoint,
    /// Cut off, or changed since it was written.
    #[error("found a damaged checkpoint; expected it whole, as it was written")]
    Damaged,
    /// Of another version.
    #[error("found a checkpoint of format {found}; expected format {FORMAT}, which this program reads")]
    Format {
        /// As the file says.
        found: u32,
    },
    /// Of another run.
    #[error("found a checkpoint of another scenario; expected one with these machines, tasks and loads")]
    OtherSetup,
    /// Of the same scenario under another policy.
    #[error("found a checkpoint of a run under {found}; expected one under {expected}")]
    OtherPolicy {
        /// As the file says.
        found: String,
        /// As the scenario says.
        expected: String,
    },
}

/// A file's contents of what was saved.
fn seal(body: &[u8]) -> Vec<u8> {
    let mut sum = Hash::NEW;
    sum.add_all(body);
    [MAGIC, &FORMAT.to_le_bytes(), &sum.0.to_le_bytes(), body].concat()
}

/// What was saved, whole, from a file's contents.
fn unseal(bytes: &[u8]) -> Result<&[u8], RestoreError> {
    let header = bytes.strip_prefix(MAGIC).ok_or(RestoreError::NoCheckpoint)?;
    let (format, header) = header.split_first_chunk::<4>().ok_or(RestoreError::Damaged)?;
    let found = u32::from_le_bytes(*format);
    if found != FORMAT {
        return Err(RestoreError::Format { found });
    }
    let (kept, body) = header.split_first_chunk::<8>().ok_or(RestoreError::Damaged)?;
    let mut sum = Hash::NEW;
    sum.add_all(body);
    if sum.0 == u64::from_le_bytes(*kept) { Ok(body) } else { Err(RestoreError::Damaged) }
}

/// Whether what was saved is of this setup under this rule.
fn check((setup, rule): (u64, &str), (own, expected): (u64, &str)) -> Result<(), RestoreError> {
    if setup != own {
        return Err(RestoreError::OtherSetup);
    }
    if rule == expected {
        return Ok(());
    }
    Err(RestoreError::OtherPolicy { found: rule.to_owned(), expected: expected.to_owned() })
}

/// A file's contents of a run of the setup that has this fingerprint, under a rule.
pub(crate) fn seal_run(setup: u64, rule: &str, run: &impl Serialize) -> Vec<u8> {
    seal(&postcard::to_stdvec(&(setup, rule, run)).expect("plain data can always be written to memory"))
}

/// What [`seal_run`] wrote of the same setup and rule.
pub(crate) fn unseal_run<T: DeserializeOwned>(
    setup: u64,
    rule: &str,
    bytes: &[u8],
) -> Result<T, RestoreError> {
    let damaged = |_| RestoreError::Damaged;
    let (of, rest) = postcard::take_from_bytes::<(u64, String)>(unseal(bytes)?).map_err(damaged)?;
    check((of.0, &of.1), (setup, rule))?;
    postcard::from_bytes(rest).map_err(damaged)
}

/// Tells a setup from others by all that it shows of itself.
pub(crate) fn fingerprint_of(setup: &impl Debug) -> u64 {
    let mut hash = Hash::NEW;
    write!(hash, "{setup:?}").expect("a hash takes all");
    hash.0
}

/// FNV-1a: tells scenarios apart and notices damage; no defence against what is made to collide.
struct Hash(u64);

impl Hash {
    const NEW: Hash = Hash(0xcbf2_9ce4_8422_2325);

    fn add_all(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add(&mut self, word: u64) {
        self.add_all(&word.to_le_bytes());
    }
}

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add_all(text.as_bytes());
        Ok(())
    }
}

/// The same of a setup of machines, which may have a million tasks: faster than writing it out.
pub(crate) fn fingerprint_of_machines(setup: &Setup) -> u64 {
    let mut hash = Hash::NEW;
    let answers = (&setup.answers.checking, &setup.answers.liars);
    let classes = postcard::to_stdvec(&(
        &setup.config,
        &setup.machine_classes,
        &setup.task_classes,
        setup.budget,
        answers,
    ));
    hash.add_all(&classes.expect("plain data can always be written to memory"));
    setup.machines.iter().for_each(|class| hash.add(class.index() as u64));
    if let Some(availability) = &setup.availability {
        add_availability(&mut hash, availability);
    }
    for row in &setup.loads {
        hash.add(row.time.nanos());
        hash.add(row.machine.index() as u64);
        hash.add(row.load.to_bits());
    }
    for index in 0..setup.tasks.len() {
        hash.add(setup.tasks.arrivals[index].nanos());
        hash.add(setup.tasks.lengths[index].amount().to_bits());
        hash.add(setup.tasks.declared[index].map_or(0.0, Ops::amount).to_bits());
        hash.add(setup.tasks.classes[index].index() as u64);
    }
    hash.0
}

fn add_availability(hash: &mut Hash, availability: &MachineTraces) {
    let MachineTraces { trace, kinds, scale, look_every, prediction, pricing, saboteurs, aborts_max } =
        availability;
    for (index, interval) in trace.intervals().iter().enumerate() {
        hash.add(u64::from(interval.machine));
        hash.add(interval.until.nanos());
        for piece in trace.pieces(index) {
            hash.add(piece.from.nanos());
            hash.add(piece.speed.to_bits());
        }
    }
    let rest =
        postcard::to_stdvec(&(kinds, scale.values(), look_every, prediction, pricing, saboteurs, aborts_max));
    hash.add_all(&rest.expect("plain data can always be written to memory"));
}
