//! How a run ended, what it used and what it left.

use crate::BlobHash;
use crate::job::Needs;
use crate::text::amount_beside;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a run ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct End {
    /// What came of it.
    pub outcome: Outcome,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
    /// What it left to go on from: kept if it was stopped, asked to be run again, or reached a limit of time and has a retry left.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub checkpoint: Option<Stored>,
    /// Its output files, as a tar archive.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub files: Option<Stored>,
    /// For its user: where the machine's owner allowed it less than was asked for.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub notes: Vec<String>,
    /// Short output that was not sent before.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub stdout: Tail,
    /// Likewise.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub stderr: Tail,
}

/// What need not be said: the journal has a row for each end, and most leave little.
pub(super) fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl End {
    /// Of a run that used nothing and left nothing.
    pub fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            usage: Usage::default(),
            checkpoint: None,
            files: None,
            notes: Vec::new(),
            stdout: Tail::default(),
            stderr: Tail::default(),
        }
    }
}

/// The end of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tail {
    /// How much was sent before.
    #[serde(skip_serializing_if = "is_nothing")]
    pub offset: u64,
    /// The rest.
    #[serde(with = "crate::bytes", skip_serializing_if = "is_nothing")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub bytes: Vec<u8>,
    /// How many bytes were dropped, because there were more than the limit.
    #[serde(skip_serializing_if = "is_nothing")]
    pub dropped: u64,
}

/// What came of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// The program ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal that Gleaner did not send ended it.
    Signalled {
        /// Its number.
        signal: i32,
    },
    /// It was stopped, because it was asked for.
    Stopped,
    /// It took longer than it may.
    TimedOut,
    /// It used more than it may of something.
    OverLimit {
        /// Of what.
        what: String,
    },
    /// The machine's lease ended or the agent was told to end it: it counts as lost.
    Abandoned {
        /// Why, for people.
        why: String,
    },
    /// It could not be started here.
    NotStarted {
        /// Why, for people.
        why: String,
        /// What was in the way.
        // Never left out: snapshots and the store have it in a form that says no field's name.
        #[serde(default)]
        obstacle: Obstacle,
    },
}

/// Why a run cannot be started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Obstacle {
    /// The machine is at fault: its sandbox, its launcher or its disk.
    Machine,
    /// The program, its interpreter or its folder is not on the machine.
    NotThere,
    /// Anything else about the task: it may not run there, or its files cannot be had.
    #[default]
    Task,
}

/// How a note begins that says why a run's checkpoint was not kept.
pub const CHECKPOINT_NOT_KEPT: &str = "its checkpoint was not kept";
/// How [`Outcome::OverLimit`] begins where nothing was too much, and what a run left is not to be stored.
const REFUSED: &str = "refused: ";
/// What [`Outcome::Abandoned`] says of one that the kernel ended for want of memory, though it had not taken what it may.
const MEMORY_GONE: &str = "its machine had no more memory for tasks, and the kernel ended it";

impl Outcome {
    /// That a run left what is not to be stored, however small it is. It counts as what went over a limit.
    pub fn refused(what: &str, why: &str) -> Self {
        Self::OverLimit { what: format!("{REFUSED}{what}: {why}") }
    }

    /// Of what [`Self::OverLimit`] says: what was refused and why, if that is what it is about.
    pub fn find_refused(what: &str) -> Option<&str> {
        what.strip_prefix(REFUSED)
    }

    /// Of a run that took too much time or memory, in words: how much it took, and of time how much it may take, since the rest does
    /// not say that.
    pub fn taken(&self, needs: &Needs, usage: &Usage) -> Option<String> {
        let took = || format!("it took {:.1} s", usage.elapsed_s);
        match self {
            Self::TimedOut if needs.time_limit_s > 0.0 => {
                let limit_s = needs.time_limit_s;
                Some(format!("its job lets it take {limit_s} s (--time-limit), and {}", took()))
            }
            Self::TimedOut => Some(took()),
            Self::OverLimit { what } if what.starts_with("time") => Some(took()),
            Self::OverLimit { what } if what.starts_with("memory") && usage.memory_bytes > 0 => {
                Some(format!("at its peak it used {}", amount_beside(usage.memory_bytes, needs.memory)))
            }
            Self::OverLimit { .. }
            | Self::Exited { .. }
            | Self::Signalled { .. }
            | Self::Stopped
            | Self::Abandoned { .. }
            | Self::NotStarted { .. } => None,
        }
    }

    /// That the kernel ended a run for want of memory, though it had not taken what it may.
    pub fn memory_gone() -> Self {
        Self::Abandoned { why: MEMORY_GONE.to_owned() }
    }

    /// Whether that is what came of a run.
    pub fn is_memory_gone(&self) -> bool {
        matches!(self, Self::Abandoned { why } if why == MEMORY_GONE)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "its program ended with exit code {code}"),
            Self::Signalled { signal } => write!(f, "signal {signal} ended its program"),
            Self::Stopped => f.write_str("its run was stopped"),
            Self::TimedOut => f.write_str("it took longer than its time limit"),
            Self::OverLimit { what } => match Self::find_refused(what) {
                Some(refused) => write!(f, "what it left was refused: {refused}"),
                None => write!(f, "it used more than it may: {what}"),
            },
            Self::Abandoned { why } => write!(f, "its run was given up: {why}"),
            Self::NotStarted { why, .. } => write!(f, "it could not be started: {why}"),
        }
    }
}

/// What a run used.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// From its start to its end, without the time it was suspended.
    pub elapsed_s: f64,
    /// Of all its processes.
    pub cpu_s: f64,
    /// From disks.
    pub read_bytes: u64,
    /// To disks.
    pub written_bytes: u64,
    /// Both ways; where the machine can tell.
    pub network_bytes: Option<u64>,
    /// At its peak.
    pub memory_bytes: u64,
}

/// Something stored, and how large it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stored {
    /// The BLAKE3 hash of its content.
    pub blob: BlobHash,
    /// Bytes.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_much_it_is_told_how_much_it_was() {
        let over = |what: &str| Outcome::OverLimit { what: what.to_owned() };
        let usage = Usage { elapsed_s: 10.24, memory_bytes: 64_000_000, ..Usage::default() };
        for (outcome, time_limit_s, expected) in [
            (Outcome::TimedOut, 10.0, Some("its job lets it take 10 s (--time-limit), and it took 10.2 s")),
            (Outcome::TimedOut, 0.0, Some("it took 10.2 s")),
            (over("time: the 0.1 h that its machine's owner lets a run take"), 0.0, Some("it took 10.2 s")),
            (over("memory: it may use 64 MB"), 0.0, Some("at its peak it used 64 MB")),
            (over("disk: it may take 64 MB"), 0.0, None),
            (Outcome::Exited { code: 1 }, 10.0, None),
        ] {
            let needs = Needs { time_limit_s, ..Needs::default() };
            assert_eq!(outcome.taken(&needs, &usage).as_deref(), expected, "{outcome:?}");
        }
        assert_eq!(over("memory").taken(&Needs::default(), &Usage::default()), None, "nobody measured it");
    }

    #[test]
    fn what_is_refused_is_not_said_to_be_too_much() {
        for (outcome, expected) in [
            (
                Outcome::refused("output files", "a: not its own"),
                "what it left was refused: output files: a: not its own",
            ),
            (Outcome::OverLimit { what: "memory".to_owned() }, "it used more than it may: memory"),
        ] {
            assert_eq!(outcome.to_string(), expected);
        }
    }
}
