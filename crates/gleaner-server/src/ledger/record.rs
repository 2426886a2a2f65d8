//! What is known of each task beyond what the scheduler needs, and **what each step of its life makes of that**. Which runs a
//! task has, the ledger asks the grid.

use super::tries::{Ended, NOT_STARTED_MAX, Tries, Verdict, disputed, given_up};
use crate::journal::{Judged, Last, Settlement};
use gleaner_core::{Answer, Judgement};
use gleaner_units::{MachineId, RunId, Span, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome, Stored};
use serde::{Deserialize, Serialize};

/// Ended runs of a task that are remembered, in case their agents did not hear what came of them.
const SETTLED_MAX: usize = 16;

/// What a user wants of a task that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Wish {
    /// That it end for good.
    Cancel,
    /// That it wait to be released.
    Hold,
}

impl Wish {
    /// Where a task is once the wish is fulfilled.
    pub(crate) fn phase(self) -> TaskPhase {
        match self {
            Self::Cancel => TaskPhase::Cancelled,
            Self::Hold => TaskPhase::Held,
        }
    }
}

/// A task's own record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Where it is in its life.
    pub phase: TaskPhase,
    /// What happens when its runs have ended.
    pub wish: Option<Wish>,
    /// Until when it rests after a failure; the scheduler does not know of it meanwhile.
    pub(super) rests_until: Option<Time>,
    /// How often it was tried.
    pub tries: Tries,
    /// Where it is or was last.
    pub machine: Option<MachineId>,
    /// When its last run began.
    pub started: Option<Time>,
    /// When it was over.
    pub ended: Option<Time>,
    /// What it goes on from.
    pub checkpoint: Option<Stored>,
    /// How its last run ended.
    pub last: Option<Box<Last>>,
    /// What the agents of the latest runs that ended were told.
    pub(crate) settled: Vec<Settlement>,
    /// The different answers of its runs, where they are compared: the scheduler knows each by its place.
    pub(super) answers: Vec<BlobHash>,
    /// Whether the store has all else.
    pub(super) is_retired: bool,
}

/// Which runs a task has now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Others {
    /// An agent is at one, or may be.
    pub(crate) go_on: bool,
    /// The program of one runs, and is not to stop.
    pub(crate) runs: bool,
}

impl Judged {
    /// What a run is for its task that compared two answers of others.
    fn of_a_program(&self) -> Verdict {
        let is_well = |last: &Last| last.outcome == Outcome::Exited { code: 0 };
        match self.judgement {
            Judgement::Agreed if self.result.as_deref().is_some_and(is_well) => Verdict::Done,
            Judgement::Agreed => Verdict::Failed,
            Judgement::Disputed => Verdict::Disputed,
            Judgement::Kept | Judgement::Void => Verdict::Judges,
        }
    }
}

/// A run that ended, and counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// The run's name.
    pub(crate) id: RunId,
    /// Where.
    pub(crate) on: MachineId,
    /// How.
    pub(crate) end: &'a End,
    /// How many machines are to agree on the task's answer; 1 where none are compared.
    pub(crate) quorum: u32,
    /// Whether it was ordered to stop, or another one of its task is wanted.
    pub(crate) was_asked_for: bool,
    /// What came of the comparison of its answer, where there is one.
    pub(crate) judged: Option<&'a Judged>,
    /// Of one that could not be started, and whose machine is not asked again: whether another machine is left.
    pub(crate) is_left: Option<bool>,
}

pub(super) const UNTOUCHED: Record = blank(TaskPhase::Waiting);

/// What tasks have no record of their own for: they never left the queue, or are held since then, or are retired, of which nothing
/// else is known here.
pub(super) const BRIEF: [Record; 5] = [
    UNTOUCHED,
    blank(TaskPhase::Held),
    retired(TaskPhase::Done),
    retired(TaskPhase::Failed),
    retired(TaskPhase::Cancelled),
];

const fn blank(phase: TaskPhase) -> Record {
    Record {
        phase,
        wish: None,
        rests_until: None,
        tries: Tries::NONE,
        machine: None,
        started: None,
        ended: None,
        checkpoint: None,
        last: None,
        settled: Vec::new(),
        answers: Vec::new(),
        is_retired: false,
    }
}

const fn retired(phase: TaskPhase) -> Record {
    let mut record = blank(phase);
    record.is_retired = true;
    record
}

impl Default for Record {
    fn default() -> Self {
        UNTOUCHED
    }
}

impl Record {
    /// Whether the end of a run counted; none if none was reported, or so long ago that nobody asks any more.
    pub fn counted(&self, run: RunId, on: MachineId) -> Option<bool> {
        let settled = self.settled.iter().find(|settled| (settled.number, settled.on) == (run.number, on));
        settled.map(|settled| settled.counted)
    }

    /// What the scheduler calls an answer of this digest: that of the first that was equal, or the next number.
    pub(super) fn answer(&self, digest: &BlobHash, outcome: &Outcome) -> Answer {
        let known = self.answers.iter().position(|other| other == digest);
        let number = known.unwrap_or(self.answers.len()) as u32;
        // Only what ended well is handed to a user's program.
        Answer(if *outcome == (Outcome::Exited { code: 0 }) { number } else { number | Answer::EXACT })
    }

    /// The digest of an answer.
    pub(super) fn digest(&self, answer: Answer) -> Option<&BlobHash> {
        self.answers.get((answer.0 & !Answer::EXACT) as usize)
    }

    /// The number of the latest run whose end is settled.
    pub fn last_settled(&self) -> Option<u32> {
        self.settled.iter().map(|settled| settled.number).max()
    }

    /// Whether what a run left is the task's. **Of a task that may run again, or whose answers are still compared, nothing is**, and
    /// one that was cancelled keeps nothing.
    fn has_result(&self) -> bool {
        matches!(self.phase, TaskPhase::Done | TaskPhase::Failed)
    }

    /// The number of the run whose output is the task's: of copies side by side, the one that was first, and not those that were stopped
    /// then; of answers that are the same, the first.
    pub fn result_run(&self) -> Option<u32> {
        let counted = self.settled.iter().rfind(|settled| settled.counted);
        counted.map(|settled| settled.number).filter(|_| self.has_result())
    }

    /// Its result is that of a run that ended before: it is told last of those that counted.
    pub(super) fn result_is_of(&mut self, run: RunId, on: MachineId) {
        self.machine = Some(on);
        self.settled.retain(|settled| settled.number != run.number);
        self.settle(run, on, true);
    }

    /// The files that are the task's.
    pub fn files(&self) -> Option<&Stored> {
        self.last.as_ref().filter(|_| self.has_result())?.files.as_ref()
    }

    /// Whether a user's wish changes anything about the task. What is to end for good cannot be held.
    pub(crate) fn can_wish(&self, wish: Wish) -> bool {
        let is_late = self.phase.is_over() || self.phase == wish.phase();
        !is_late && self.wish != Some(Wish::Cancel) && self.wish != Some(wish)
    }

    /// Whether it is held, or will be once its run ends.
    pub(crate) fn can_release(&self) -> bool {
        self.phase == TaskPhase::Held || self.wish == Some(Wish::Hold)
    }

    /// A run of it is ordered to a machine.
    pub(crate) fn run_ordered(&mut self, on: MachineId, others: Others) {
        self.machine = Some(on);
        // When its program started is asked for as long as one runs.
        self.started = self.started.filter(|_| others.runs);
    }

    /// Its program started.
    pub(crate) fn run_started(&mut self, at: Time, on: MachineId) {
        (self.started, self.machine) = (Some(at), Some(on));
    }

    /// A run of it ended, and that counts.
    pub(crate) fn run_ended(&mut self, at: Time, spec: &JobSpec, run: Ending<'_>) -> Verdict {
        let Ending { id, on, end, quorum, was_asked_for, judged, is_left } = run;
        let is_refusal = judged.is_some_and(Judged::is_refusal);
        let ended = Ended {
            outcome: &end.outcome,
            on,
            quorum,
            lasted: self.started.map_or(Span::ZERO, |started| at.since(started)),
            was_asked_for: was_asked_for || self.wish.is_some(),
            got_further: end.checkpoint.is_some() && end.checkpoint != self.checkpoint,
            is_left,
            // What some cannot start, others may.
            not_started_max: NOT_STARTED_MAX.saturating_mul(if is_refusal { quorum } else { 1 }),
        };
        // What compares is no try of its task.
        let verdict = match judged {
            Some(judged) if judged.likeness.is_some() => judged.of_a_program(),
            _ => self.tries.verdict(spec, ended),
        };
        let verdict = match (judged, self.over_by(verdict)) {
            (Some(judged), Some(_)) if judged.likeness.is_none() && !is_refusal => {
                let digest = judged.digest.as_ref().filter(|digest| !self.answers.contains(digest));
                self.answers.extend(digest.copied());
                self.tries.begin_anew(on);
                verdict.compared(judged.judgement)
            }
            _ => verdict,
        };
        self.settle(id, on, true);
        self.machine = Some(on);
        let outcome = match verdict {
            Verdict::GivenUp => given_up(),
            Verdict::Disputed => disputed(self.answers.len()),
            Verdict::Done
            | Verdict::Failed
            | Verdict::Compared
            | Verdict::Judges
            | Verdict::Again
            | Verdict::AgainAfter(_) => end.outcome.clone(),
        };
        let own = Last { outcome, ..Last::of(end) };
        match judged {
            Some(Judged { result: Some(result), .. }) => self.last = Some(result.clone()),
            Some(Judged { likeness: Some(_), .. }) if verdict == Verdict::Judges => {}
            // What was given back before it began is no end of the task's.
            None if own.outcome == Outcome::Stopped && self.started.is_none() => {}
            _ => self.last = Some(Box::new(own)),
        }
        if end.checkpoint.is_some() {
            self.checkpoint.clone_from(&end.checkpoint);
        }
        verdict
    }

    /// A run of it that had begun ended with its machine's agent. What that means for the task, unless its user wants it to end anyway.
    pub(crate) fn vanished(&mut self, (on, quorum): (MachineId, u32)) -> Option<Verdict> {
        if self.wish.is_some() || self.phase.is_over() || self.phase == TaskPhase::Held {
            return None;
        }
        Some(self.tries.vanished((on, quorum)))
    }

    /// Runs of it ended with their machine's agent as often as may be. That is the end of it, but where it is one machine's word, which
    /// was judged so.
    pub(super) fn gave_up(&mut self, on: MachineId, judged: Option<&Judged>) -> Verdict {
        let verdict = match judged {
            None => Verdict::GivenUp,
            Some(judged) => {
                self.tries.begin_anew(on);
                let digest = judged.digest.filter(|digest| !self.answers.contains(digest));
                self.answers.extend(digest);
                match judged.digest {
                    Some(_) => Verdict::GivenUp.compared(judged.judgement),
                    None => judged.of_a_program(),
                }
            }
        };
        let result = judged.and_then(|judged| judged.result.clone());
        let own = match verdict {
            // What compares leaves no end of the task's.
            Verdict::Judges => None,
            Verdict::Disputed => Some(disputed(self.answers.len())),
            _ => Some(given_up()),
        };
        let last = result.or_else(|| own.map(|outcome| Box::new(Last::nothing(outcome))));
        if last.is_some() {
            self.last = last;
        }
        verdict
    }

    /// Where it is to stay after that verdict; nothing if it is to go on.
    pub(crate) fn over_by(&self, verdict: Verdict) -> Option<TaskPhase> {
        match verdict {
            Verdict::Done => Some(TaskPhase::Done),
            Verdict::Failed | Verdict::GivenUp | Verdict::Disputed if self.wish.is_none() => {
                Some(TaskPhase::Failed)
            }
            Verdict::Failed
            | Verdict::GivenUp
            | Verdict::Disputed
            | Verdict::Compared
            | Verdict::Judges
            | Verdict::Again
            | Verdict::AgainAfter(_) => None,
        }
    }

    /// A run is over or given up, and the task is not: it goes where its user wants it, or back into the queue, unless
    /// another run of it goes on.
    pub(crate) fn after_a_run(&mut self, others: Others) -> TaskPhase {
        // A held task of which a lost run is heard after all stays held.
        if others.runs || self.phase == TaskPhase::Held || self.phase.is_over() {
            return self.phase;
        }
        match self.wish {
            Some(_) if others.go_on => self.phase,
            Some(wish) => {
                self.wish = None;
                wish.phase()
            }
            None => TaskPhase::Waiting,
        }
    }

    /// It runs again from its beginning: what was settled stays, since an agent that did not hear what came of an earlier
    /// run may still ask.
    pub(crate) fn begun_anew(self) -> Self {
        let Self { phase, machine, settled, .. } = self;
        Self { phase, machine, settled, ..UNTOUCHED }
    }

    /// Whether the store has all of it but its phase.
    pub fn is_retired(&self) -> bool {
        self.is_retired
    }

    /// Until when it rests after a failure.
    pub fn rests_until(&self) -> Option<Time> {
        self.rests_until
    }

    pub(super) fn settle(&mut self, run: RunId, on: MachineId, counted: bool) {
        if self.settled.len() == SETTLED_MAX {
            self.settled.remove(0);
        }
        // Most tasks run once.
        self.settled.reserve_exact(1);
        self.settled.push(Settlement { number: run.number, on, counted });
    }
}
