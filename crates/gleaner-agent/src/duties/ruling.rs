//! What comes of a run, from how its program ended and from what was wanted of it.

use gleaner_units::Span;
use gleaner_wire::job::Checkpointing;
use gleaner_wire::session::{Obstacle, Outcome, Run, StopCause};
use gleaner_wire::text::amount;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By a signal, whoever sent it.
    Signal(i32),
    /// It went over a limit that the system holds it to.
    OverLimit(String),
    /// It never began, for a reason that lies in the machine.
    NotStarted(String),
    /// It never began, since its machine had nothing left of what a start takes, as descriptors or processes.
    Lacking(String),
    /// It never began, since it, or what it needs to begin, is not there.
    NoProgram(String),
    /// It never began, since it may not.
    Refused(String),
    /// It was killed with the lease, by a process that knows nothing else of it.
    LeaseEnded,
    /// The kernel ended it for want of memory, though it had not taken what it may.
    MemoryGone,
}

/// What of the disk a run took more of than it may. So much it may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// Bytes, as its job names them; 0 where it names none.
    Named(u64),
    /// Bytes of a run that names none, where the disk is nearly full.
    Bytes(u64),
    /// Files, where the disk can hold hardly any more.
    Files(u64),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Named(0) => f.write_str("disk"),
            Self::Named(bytes) => write!(f, "disk: it may take {}, as its job asks (--disk)", amount(bytes)),
            Self::Bytes(bytes) => write!(
                f,
                "disk: it may take {} where its machine's disk is nearly full, since its job names none (--disk)",
                amount(bytes)
            ),
            Self::Files(files) => write!(
                f,
                "disk: it may have {files} files where its machine's disk can hold hardly any more of them"
            ),
        }
    }
}

/// Why a program is to end before its own end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// The coordinator wants it.
    Asked(StopCause),
    /// The coordinator was not heard of for too long.
    LeaseEnds,
    /// This agent is to leave.
    Leaving,
    /// The owner wants it gone, by hand or because it was suspended for too long.
    Evicted,
    /// The owner's rules do not let it come any more.
    Forbidden,
    /// It took longer than its user lets it.
    TimeLimit,
    /// It took longer than the machine's owner lets a run take.
    OwnersLimit(Span),
    /// Its folder grew larger than it may.
    DiskLimit(Excess),
    /// What it writes cannot be kept.
    OutputLost,
    /// Its minder is gone.
    MinderGone,
    /// The memory of its machine, or what tasks may use of it together, was used up.
    MemoryGone,
    /// The coordinator does not count it among ours, or knows a later run of the task: nobody waits for its end.
    Disowned,
}

/// What to say of a run, and what to keep of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Ruling {
    pub(crate) outcome: Outcome,
    pub(crate) keeps_checkpoint: bool,
    pub(crate) keeps_files: bool,
}

/// Whether the program keeps something to go on from.
pub(crate) fn can_go_on(checkpointing: &Checkpointing) -> bool {
    checkpointing.folder || checkpointing.exit_code.is_some()
}

/// SIGXFSZ.
const FILE_TOO_LARGE: i32 = 25;

/// Files are kept whenever the run is an end of the task for which its program or its limits are to answer; a
/// checkpoint whenever the task should go on, or may, after a limit of time.
pub(crate) fn rule(run: &Run, mut wanted: Option<Reason>, exit: Exit) -> Ruling {
    let (checkpointing, disk) = (&run.checkpoint, run.needs.disk);
    let final_end = |outcome| Ruling { outcome, keeps_checkpoint: false, keeps_files: true };
    let (code, by_itself) = match exit {
        Exit::NotStarted(why) => return unfinished(not_started(why, Obstacle::Machine), false),
        Exit::Lacking(why) => return unfinished(abandoned(&lacked(&why)), false),
        Exit::NoProgram(why) => return unfinished(not_started(why, Obstacle::NotThere), false),
        Exit::Refused(why) => return unfinished(not_started(why, Obstacle::Task), false),
        Exit::OverLimit(what) => return final_end(Outcome::OverLimit { what }),
        Exit::Code(code) => (Some(code), Outcome::Exited { code }),
        // One file grew to the limit of its disk: the kernel is faster than who measures the folder.
        Exit::Signal(FILE_TOO_LARGE) => return final_end(outcome_of(Reason::DiskLimit(Excess::Named(disk)))),
        Exit::Signal(signal) => (None, Outcome::Signalled { signal }),
        Exit::LeaseEnded => {
            wanted.get_or_insert(Reason::LeaseEnds);
            (None, Outcome::Stopped)
        }
        Exit::MemoryGone => {
            wanted.get_or_insert(Reason::MemoryGone);
            (None, Outcome::Stopped)
        }
    };
    let asks_to_go_on = code.is_some() && code == checkpointing.exit_code;
    if code == Some(0) {
        return final_end(by_itself);
    }
    let Some(wanted) = wanted else {
        return Ruling { outcome: by_itself, keeps_checkpoint: asks_to_go_on, keeps_files: !asks_to_go_on };
    };
    let outcome = outcome_of(wanted);
    match wanted {
        Reason::TimeLimit | Reason::OwnersLimit(_) => {
            let keeps_checkpoint = can_go_on(checkpointing) && !run.fails_at_limit;
            Ruling { keeps_checkpoint, ..final_end(outcome) }
        }
        Reason::DiskLimit(_) => final_end(outcome),
        Reason::Asked(StopCause::Cancel) | Reason::OutputLost | Reason::Disowned => {
            unfinished(outcome, false)
        }
        Reason::Asked(StopCause::Move | StopCause::Hold | StopCause::TakeBack)
        | Reason::LeaseEnds
        | Reason::Leaving
        | Reason::MinderGone
        | Reason::MemoryGone
        | Reason::Evicted
        | Reason::Forbidden => unfinished(outcome, can_go_on(checkpointing)),
    }
}

/// What to say of a run that ended because of this.
pub(crate) fn outcome_of(reason: Reason) -> Outcome {
    match reason {
        Reason::Asked(_) => Outcome::Stopped,
        Reason::LeaseEnds => abandoned("the lease ended without the coordinator"),
        Reason::Leaving => abandoned("the agent was told to leave"),
        Reason::Evicted => abandoned("the machine's owner wanted it back"),
        Reason::Forbidden => abandoned("the machine's owner takes no such tasks any more"),
        Reason::OutputLost => abandoned("what it wrote could not be kept on its machine"),
        Reason::MinderGone => abandoned("the process that held it died"),
        Reason::MemoryGone => Outcome::memory_gone(),
        Reason::Disowned => abandoned("the coordinator disowned it"),
        Reason::TimeLimit => Outcome::TimedOut,
        Reason::OwnersLimit(limit) => Outcome::OverLimit {
            what: format!(
                "time: the {} h that its machine's owner lets a run take (run_hours_max)",
                limit.seconds() / 3_600.0
            ),
        },
        Reason::DiskLimit(excess) => Outcome::OverLimit { what: excess.to_string() },
    }
}

/// It counts against nobody, and another machine may have more.
fn lacked(why: &str) -> String {
    format!("its machine could not start it now: {why}")
}

fn not_started(why: String, obstacle: Obstacle) -> Outcome {
    Outcome::NotStarted { why, obstacle }
}

/// The task was not at its end.
pub(crate) fn unfinished(outcome: Outcome, keeps_checkpoint: bool) -> Ruling {
    Ruling { outcome, keeps_checkpoint, keeps_files: false }
}

pub(crate) fn abandoned(why: &str) -> Outcome {
    Outcome::Abandoned { why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;

    const PLAIN: (bool, Option<i32>) = (false, None);
    const FOLDER: (bool, Option<i32>) = (true, None);
    const ASKS_BY_85: (bool, Option<i32>) = (false, Some(85));

    fn ruled(way: (bool, Option<i32>), wanted: Option<Reason>, exit: Exit) -> String {
        let checkpoint = Checkpointing { folder: way.0, exit_code: way.1, grace_s: 1.0 };
        let ruling = rule(&Run { checkpoint, ..run(1, 1) }, wanted, exit);
        let outcome = match ruling.outcome {
            Outcome::Exited { code } => format!("exited {code}"),
            Outcome::Signalled { signal } => format!("signalled {signal}"),
            Outcome::Stopped => "stopped".into(),
            Outcome::TimedOut => "timed out".into(),
            Outcome::OverLimit { what } => format!("over {what}"),
            Outcome::Abandoned { .. } => "abandoned".into(),
            Outcome::NotStarted { .. } => "not started".into(),
        };
        let checkpoint = if ruling.keeps_checkpoint { " +checkpoint" } else { "" };
        let files = if ruling.keeps_files { " +files" } else { "" };
        format!("{outcome}{checkpoint}{files}")
    }

    #[test]
    fn every_end_has_its_outcome() {
        use Reason::{
            Asked, DiskLimit, Evicted, Forbidden, LeaseEnds, Leaving, MinderGone, OwnersLimit, TimeLimit,
        };
        use StopCause::{Cancel, Move};
        for (way, wanted, exit, expected) in [
            (PLAIN, None, Exit::Code(0), "exited 0 +files"),
            (FOLDER, None, Exit::Code(3), "exited 3 +files"),
            (PLAIN, None, Exit::Signal(11), "signalled 11 +files"),
            (PLAIN, None, Exit::Signal(25), "over disk +files"),
            (PLAIN, None, Exit::NotStarted("no such program".into()), "not started"),
            (PLAIN, None, Exit::Lacking("too many open files".into()), "abandoned"),
            (FOLDER, Some(Asked(Move)), Exit::OverLimit("memory".into()), "over memory +files"),
            (ASKS_BY_85, None, Exit::Code(85), "exited 85 +checkpoint"),
            (ASKS_BY_85, Some(Asked(Move)), Exit::Code(85), "stopped +checkpoint"),
            (PLAIN, Some(Asked(Move)), Exit::Signal(15), "stopped"),
            (FOLDER, Some(Asked(Move)), Exit::Signal(15), "stopped +checkpoint"),
            (FOLDER, Some(Asked(Move)), Exit::Signal(9), "stopped +checkpoint"),
            (FOLDER, Some(Asked(Move)), Exit::Code(143), "stopped +checkpoint"),
            (FOLDER, Some(Asked(Move)), Exit::Code(0), "exited 0 +files"),
            (FOLDER, Some(Asked(Cancel)), Exit::Signal(15), "stopped"),
            (FOLDER, Some(LeaseEnds), Exit::Signal(15), "abandoned +checkpoint"),
            (FOLDER, Some(LeaseEnds), Exit::Code(0), "exited 0 +files"),
            (FOLDER, None, Exit::LeaseEnded, "abandoned +checkpoint"),
            (PLAIN, Some(Asked(Cancel)), Exit::LeaseEnded, "stopped"),
            (FOLDER, None, Exit::MemoryGone, "abandoned +checkpoint"),
            (PLAIN, None, Exit::MemoryGone, "abandoned"),
            (PLAIN, Some(Asked(Cancel)), Exit::MemoryGone, "stopped"),
            (FOLDER, Some(Leaving), Exit::Code(1), "abandoned +checkpoint"),
            (FOLDER, Some(Evicted), Exit::Signal(15), "abandoned +checkpoint"),
            (FOLDER, Some(Forbidden), Exit::Signal(15), "abandoned +checkpoint"),
            (FOLDER, Some(MinderGone), Exit::Signal(9), "abandoned +checkpoint"),
            (PLAIN, Some(TimeLimit), Exit::Signal(15), "timed out +files"),
            (FOLDER, Some(TimeLimit), Exit::Signal(15), "timed out +checkpoint +files"),
            (ASKS_BY_85, Some(TimeLimit), Exit::Code(85), "timed out +checkpoint +files"),
            (FOLDER, Some(TimeLimit), Exit::Code(0), "exited 0 +files"),
            (
                FOLDER,
                Some(OwnersLimit(Span::from_nanos(5_400_000_000_000))),
                Exit::Signal(15),
                "over time: the 1.5 h that its machine's owner lets a run take (run_hours_max) +checkpoint +files",
            ),
            (
                PLAIN,
                Some(DiskLimit(Excess::Named(64_000_000))),
                Exit::Signal(9),
                "over disk: it may take 64 MB, as its job asks (--disk) +files",
            ),
            (
                PLAIN,
                Some(DiskLimit(Excess::Bytes(256 << 20))),
                Exit::Signal(9),
                "over disk: it may take 256 MiB where its machine's disk is nearly full, since its job names none (--disk) \
                 +files",
            ),
        ] {
            let row = format!("{way:?} {wanted:?} {exit:?}");
            assert_eq!(ruled(way, wanted, exit), expected, "{row}");
        }
    }
}
