//! What the end of a run means for its task, which depends on how often it was tried.

use gleaner_core::Judgement;
use gleaner_units::{MachineId, Span};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often in a row machines may be unable to start a task before it counts as failed.
pub(super) const NOT_STARTED_MAX: u32 = 3;
/// How many runs in a row may come to nothing before the task counts as failed: about an hour of trying.
const FRUITLESS_MAX: u32 = 20;
/// A run that lasted so long was one: whatever it left, running the task again costs no more than running it.
const STEADY: Span = Span::from_nanos(10_000_000_000);
/// How long a task rests after its first failure or short run; twice as long after each further one, up to the longest.
const REST: Span = Span::from_nanos(1_000_000_000);
const REST_MAX: Span = Span::from_nanos(300_000_000_000);

/// What the end of a run means for its task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its program ended well.
    Done,
    /// It did not, and is not tried again.
    Failed,
    /// It is not tried again, since the last `FRUITLESS_MAX` runs came to nothing, or that many for each machine that is to answer.
    GivenUp,
    /// Its answer is kept, or is of no use: more machines have to give theirs.
    Compared,
    /// It said of two answers whether they are the same.
    Judges,
    /// As many machines were asked as may be, and too few of them agree.
    Disputed,
    /// It waits for another run.
    Again,
    /// So it does, but not before it has rested: what failed a moment ago would fail again.
    AgainAfter(Span),
}

impl Verdict {
    /// What becomes of one that would be the last, once its answer is compared with others.
    pub(super) fn compared(self, judgement: Judgement) -> Self {
        match judgement {
            Judgement::Agreed => self,
            Judgement::Kept | Judgement::Void => Self::Compared,
            Judgement::Disputed => Self::Disputed,
        }
    }
}

/// A run that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a> {
    /// How.
    pub(crate) outcome: &'a Outcome,
    /// Where.
    pub(crate) on: MachineId,
    /// How many machines are to agree on the task's answer; 1 where none are compared.
    pub(crate) quorum: u32,
    /// From the start of its program on; zero if that was not heard of.
    pub(crate) lasted: Span,
    /// Whether the task was to be moved, held or cancelled.
    pub(crate) was_asked_for: bool,
    /// Whether it left another checkpoint than the one it went on from.
    pub(crate) got_further: bool,
    /// Of one that could not be started, and whose machine is not asked again: whether a machine is left on which it was not tried, or
    /// nothing of its job. Nothing where its tasks cannot be kept from machines.
    pub(crate) is_left: Option<bool>,
    /// How often in a row machines may be unable to start the task.
    pub(crate) not_started_max: u32,
}

/// How often a task was tried.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tries {
    /// How often it was tried again after a failure.
    retries: u32,
    /// How often in a row a machine could not start it.
    not_started: u32,
    /// How many runs in a row were short and are followed by another.
    short: u32,
    /// How many of these in a row got no further, by where they were.
    fruitless: BTreeMap<MachineId, u32>,
}

impl Tries {
    pub(super) const NONE: Self = Self { retries: 0, not_started: 0, short: 0, fruitless: BTreeMap::new() };

    /// Counts one more.
    pub(crate) fn verdict(&mut self, spec: &JobSpec, run: Ended<'_>) -> Verdict {
        self.not_started = match run.outcome {
            Outcome::NotStarted { .. } if run.is_left.is_none() => self.not_started + 1,
            // It may not have begun.
            Outcome::NotStarted { .. } | Outcome::Stopped | Outcome::Abandoned { .. } => self.not_started,
            _ => 0,
        };
        match *run.outcome {
            Outcome::Exited { code } if Some(code) == spec.checkpoint.exit_code => self.again(run),
            Outcome::Exited { code: 0 } => Verdict::Done,
            // Nobody's fault: it does not count as a try.
            Outcome::Stopped | Outcome::Abandoned { .. } => self.again(run),
            // A machine that lacks the program says nothing of the others, and none is tried twice.
            Outcome::NotStarted { .. } if run.is_left == Some(true) && !run.was_asked_for => {
                Verdict::AgainAfter(REST)
            }
            Outcome::NotStarted { .. } if run.is_left == Some(false) && !run.was_asked_for => Verdict::Failed,
            // Where another run of it goes on, that one is yet to say.
            Outcome::NotStarted { .. } if self.not_started < run.not_started_max || run.was_asked_for => {
                self.again(run)
            }
            Outcome::Exited { .. }
            | Outcome::Signalled { .. }
            | Outcome::TimedOut
            | Outcome::OverLimit { .. }
                if self.has_retry_left(spec) =>
            {
                self.retries += 1;
                Verdict::AgainAfter(rest(self.retries))
            }
            _ => Verdict::Failed,
        }
    }

    /// Whether it is tried again if it fails.
    pub(crate) fn has_retry_left(&self, spec: &JobSpec) -> bool {
        self.retries < spec.retries
    }

    /// **No task runs again and again without a rest**, whoever is to blame: a program that asks for it, an agent that
    /// refuses, files that cannot be had or stored. Moves are the policy's, which has bounds of its own.
    fn again(&mut self, run: Ended<'_>) -> Verdict {
        if run.was_asked_for {
            return Verdict::Again;
        }
        // What needs more memory than its machines have would run for ever.
        if run.lasted >= STEADY && !run.outcome.is_memory_gone() {
            self.short = 0;
            self.fruitless.clear();
            return Verdict::Again;
        }
        self.short += 1;
        if run.got_further {
            self.fruitless.clear();
        } else {
            self.count_fruitless(run.on);
        }
        self.after_nothing((run.on, run.quorum))
    }

    /// The agent of its machine ended with a run that had begun: by the machine's doing, and the task goes on at once; or by the program's,
    /// and so does the next.
    pub(crate) fn vanished(&mut self, (on, quorum): (MachineId, u32)) -> Verdict {
        self.short += 1;
        self.count_fruitless(on);
        if self.fruitless_runs() == 1 { Verdict::Again } else { self.after_nothing((on, quorum)) }
    }

    /// A machine has spoken, and others are asked: what came to nothing on one says little of them.
    pub(super) fn begin_anew(&mut self, on: MachineId) {
        self.short = 0;
        self.fruitless.remove(&on);
    }

    /// Whether a machine alone had as many runs that came to nothing as may be. **Otherwise that a task is given up is no machine's word**: most
    /// of those runs may have been another's.
    pub(super) fn is_word_of(&self, on: MachineId) -> bool {
        self.fruitless.get(&on).is_some_and(|&runs| runs >= FRUITLESS_MAX)
    }

    fn count_fruitless(&mut self, on: MachineId) {
        *self.fruitless.entry(on).or_default() += 1;
    }

    fn fruitless_runs(&self) -> u32 {
        self.fruitless.values().sum()
    }

    fn after_nothing(&self, (on, quorum): (MachineId, u32)) -> Verdict {
        if self.is_word_of(on) || self.fruitless_runs() >= FRUITLESS_MAX.saturating_mul(quorum) {
            return Verdict::GivenUp;
        }
        Verdict::AgainAfter(rest(self.short))
    }
}

/// Why a task is given up, as the end of "too much …".
pub(crate) fn given_up() -> Outcome {
    let seconds = STEADY.seconds();
    let what = format!(
        "running again: {FRUITLESS_MAX} runs in a row took less than {seconds} s, or their machine had no memory left for them, or \
         its agent ended with them, and left no new checkpoint"
    );
    Outcome::OverLimit { what }
}

/// Why a task is given up whose answers differ, likewise.
pub(crate) fn disputed(different: usize) -> Outcome {
    Outcome::OverLimit {
        what: format!("asking machines: they gave {different} different answers, and too few gave the same"),
    }
}

/// Why a task is given up whose answers its user's program cannot compare, likewise.
pub(crate) fn not_compared(machines: u32) -> Outcome {
    Outcome::OverLimit {
        what: format!(
            "comparing answers: on {machines} machines the job's program to compare ended with another exit code than 0 (the same) \
             or 1 (not the same), or went over a limit; `gleaner history` has its runs, and `gleaner logs --run` what each wrote"
        ),
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
    use gleaner_wire::session::Obstacle;

    const LASTED: Span = Span::from_nanos(STEADY.nanos());

    fn short(outcome: &Outcome) -> Ended<'_> {
        let (on, quorum) = (MachineId::new(0), 1);
        Ended {
            outcome,
            on,
            quorum,
            lasted: Span::ZERO,
            was_asked_for: false,
            got_further: false,
            is_left: None,
            not_started_max: NOT_STARTED_MAX,
        }
    }

    /// The rests in seconds until something else than a rest comes, and that.
    fn rests(tries: &mut Tries, spec: &JobSpec, run: Ended<'_>) -> (Vec<u64>, Verdict) {
        let mut rests = Vec::new();
        loop {
            match tries.verdict(spec, run) {
                Verdict::AgainAfter(rest) => rests.push(rest.nanos() / 1_000_000_000),
                other => return (rests, other),
            }
        }
    }

    #[test]
    fn each_failure_is_followed_by_a_longer_rest() {
        let mut tries = Tries::NONE;
        let spec = JobSpec { retries: 12, ..JobSpec::new(["false"]) };
        let (rests, last) = rests(&mut tries, &spec, short(&Outcome::Exited { code: 1 }));
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(last, Verdict::Failed);
    }

    #[test]
    fn whoever_has_a_task_run_again_it_rests_and_comes_to_an_end() {
        let mut spec = JobSpec::new(["sh"]);
        spec.checkpoint.exit_code = Some(85);
        let why = String::new;
        for (outcome, count, last) in [
            (Outcome::Exited { code: 85 }, 19, Verdict::GivenUp),
            (Outcome::Stopped, 19, Verdict::GivenUp),
            (Outcome::Abandoned { why: why() }, 19, Verdict::GivenUp),
            (Outcome::NotStarted { why: why(), obstacle: Obstacle::Task }, 2, Verdict::Failed),
        ] {
            let mut tries = Tries::NONE;
            let (rests, end) = rests(&mut tries, &spec, short(&outcome));
            assert_eq!((rests.len(), end), (count, last), "{outcome:?}");
            assert!(rests.starts_with(&[1, 2]) && rests.is_sorted(), "{outcome:?}: {rests:?}");
        }
    }

    #[test]
    fn what_machines_have_no_memory_for_rests_and_comes_to_an_end_however_long_it_ran() {
        let (mut tries, spec, outcome) = (Tries::NONE, JobSpec::new(["sh"]), Outcome::memory_gone());
        let long = Ended { lasted: LASTED, ..short(&outcome) };
        let (rests, end) = rests(&mut tries, &spec, long);
        assert_eq!((rests.len(), end), (19, Verdict::GivenUp));
        assert!(rests.starts_with(&[1, 2]), "{rests:?}");
    }

    #[test]
    fn where_answers_are_compared_each_machine_has_its_own_count_and_all_have_one_together() {
        let on = MachineId::new;
        for (machines, quorum, ends_after, is_word) in
            [(1, 1, 20, true), (2, 1, 20, false), (1, 2, 20, true), (2, 2, 39, true), (3, 2, 40, false)]
        {
            let mut tries = Tries::NONE;
            let last = (1..=100).find(|&run: &u32| {
                let on = on(run as usize % machines);
                tries.vanished((on, quorum)) == Verdict::GivenUp
            });
            assert_eq!(last, Some(ends_after), "{machines} machines of which {quorum} are to agree");
            let is_word_of_last = tries.is_word_of(on(ends_after as usize % machines));
            assert_eq!(is_word_of_last, is_word, "{machines} machines of which {quorum} are to agree");
        }
    }

    #[test]
    fn what_could_not_be_started_is_no_try_while_a_machine_is_left() {
        let (mut tries, spec) = (Tries::NONE, JobSpec::new(["nosuch"]));
        let outcome = Outcome::NotStarted { why: String::new(), obstacle: Obstacle::Task };
        let run = short(&outcome);
        let left = Ended { is_left: Some(true), ..run };
        for _ in 0..3 * FRUITLESS_MAX {
            assert_eq!(tries.verdict(&spec, left), Verdict::AgainAfter(REST));
        }
        let last = Ended { is_left: Some(false), ..run };
        assert_eq!(tries.verdict(&spec, Ended { was_asked_for: true, ..last }), Verdict::Again);
        assert_eq!(tries.verdict(&spec, last), Verdict::Failed);
        let unknown = rests(&mut tries, &spec, run);
        assert_eq!(unknown, (vec![1, 2], Verdict::Failed), "as often as ever");
    }

    #[test]
    fn what_gets_further_rests_but_is_never_given_up() {
        let (mut tries, spec, outcome) = (Tries::NONE, JobSpec::new(["sh"]), Outcome::Stopped);
        let run = short(&outcome);
        for number in 1..=3 * FRUITLESS_MAX {
            let verdict = tries.verdict(&spec, Ended { got_further: true, ..run });
            assert_eq!(verdict, Verdict::AgainAfter(rest(number)));
        }
        assert_eq!(tries.verdict(&spec, Ended { lasted: LASTED, ..run }), Verdict::Again);
        assert_eq!(tries.verdict(&spec, run), Verdict::AgainAfter(REST), "it lasted in between");
        let asked = Ended { was_asked_for: true, ..run };
        assert!((0..=FRUITLESS_MAX).all(|_| tries.verdict(&spec, asked) == Verdict::Again), "nobody's fault");
    }
}
