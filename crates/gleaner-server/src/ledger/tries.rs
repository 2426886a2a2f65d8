//! What the end of a run means for its task, which depends on how often it was tried.

use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;
use serde::{Deserialize, Serialize};

/// How often in a row machines may be unable to start a task before it counts as failed.
const NOT_STARTED_MAX: u32 = 3;

/// What the end of a run means for its task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Its program ended well.
    Done,
    /// It did not, and is not tried again.
    Failed,
    /// It waits for another run.
    Again,
}

/// How often a task was tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tries {
    /// How often it was tried again after a failure.
    retries: u32,
    /// How often in a row a machine could not start it.
    not_started: u32,
}

impl Tries {
    pub(super) const NONE: Self = Self { retries: 0, not_started: 0 };

    /// Counts one more.
    pub(crate) fn verdict(&mut self, spec: &JobSpec, outcome: &Outcome) -> Verdict {
        let starts = !matches!(outcome, Outcome::NotStarted { .. });
        self.not_started = if starts { 0 } else { self.not_started + 1 };
        match *outcome {
            Outcome::Exited { code } if Some(code) == spec.checkpoint.exit_code => Verdict::Again,
            Outcome::Exited { code: 0 } => Verdict::Done,
            // Nobody's fault: it does not count as a try.
            Outcome::Stopped | Outcome::Abandoned { .. } => Verdict::Again,
            Outcome::NotStarted { .. } if self.not_started < NOT_STARTED_MAX => Verdict::Again,
            Outcome::Exited { .. }
            | Outcome::Signalled { .. }
            | Outcome::TimedOut
            | Outcome::OverLimit { .. }
                if self.retries < spec.retries =>
            {
                self.retries += 1;
                Verdict::Again
            }
            _ => Verdict::Failed,
        }
    }
}
