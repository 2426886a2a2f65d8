//! What the end of a run means for its task, which depends on how often it was tried.

use gleaner_units::Span;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;
use serde::{Deserialize, Serialize};

/// How often in a row machines may be unable to start a task before it counts as failed.
const NOT_STARTED_MAX: u32 = 3;
/// How long a task rests after its first failure; twice as long after each further one, up to the longest.
const REST: Span = Span::from_nanos(1_000_000_000);
const REST_MAX: Span = Span::from_nanos(300_000_000_000);

/// What the end of a run means for its task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Its program ended well.
    Done,
    /// It did not, and is not tried again.
    Failed,
    /// It waits for another run.
    Again,
    /// So it does, but not before it has rested: what failed a moment ago would fail again.
    AgainAfter(Span),
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
            Outcome::NotStarted { .. } if self.not_started < NOT_STARTED_MAX => {
                Verdict::AgainAfter(rest(self.not_started))
            }
            Outcome::Exited { .. }
            | Outcome::Signalled { .. }
            | Outcome::TimedOut
            | Outcome::OverLimit { .. }
                if self.retries < spec.retries =>
            {
                self.retries += 1;
                Verdict::AgainAfter(rest(self.retries))
            }
            _ => Verdict::Failed,
        }
    }
}

/// How long to rest after that many failures.
fn rest(failures: u32) -> Span {
    let doubled = REST.nanos().saturating_mul(1 << (failures.saturating_sub(1)).min(30));
    Span::from_nanos(doubled).min(REST_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_followed_by_a_longer_rest() {
        let mut tries = Tries::NONE;
        let spec = JobSpec { retries: 12, ..JobSpec::new(["false"]) };
        let failed = Outcome::Exited { code: 1 };
        let rests: Vec<u64> = std::iter::from_fn(|| match tries.verdict(&spec, &failed) {
            Verdict::AgainAfter(rest) => Some(rest.nanos() / 1_000_000_000),
            _ => None,
        })
        .collect();
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(tries.verdict(&spec, &Outcome::Stopped), Verdict::Again, "nobody's fault");
    }
}
