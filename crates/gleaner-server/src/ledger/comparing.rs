//! What runs say of their tasks where answers of several machines are compared.

use super::tries::{given_up, not_compared};
use super::{Ending, Ledger, Verdict};
use crate::journal::{Judged, Last};
use gleaner_core::{Answer, Comparison, Judgement, Likeness, RunEnd, Said};
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::session::{End, Outcome, Stored};

/// What it is the digest of that a machine's agent ended with the task's runs: no program's end is the same, and each machine that says so
/// says the same.
const GAVE_UP: &[u8] = b"gleaner: the agent ended with its runs";

impl Ledger {
    /// Whether what a run answers is compared with what others do.
    pub(crate) fn is_compared(&self, run: RunId) -> bool {
        self.grid().is_compared(run.task)
    }

    /// How many machines are to agree on a task's answer; 1 where none are compared.
    pub(super) fn quorum_of(&self, task: TaskId) -> u32 {
        self.grid().comparison(task).map_or(1, Comparison::quorum)
    }

    /// Whether answers to a task are kept that others are to be compared with.
    pub(super) fn has_answers(&self, task: TaskId) -> bool {
        self.grid().comparison(task).is_some_and(|so_far| !so_far.given().is_empty())
    }

    /// What the word of a run would be for its task now; nothing where the task is to be run again whatever it said. The digest is
    /// that of its answer, where it gave one.
    pub(crate) fn judged(
        &self,
        at: Time,
        (run, on): (RunId, MachineId),
        end: &End,
        digest: Option<BlobHash>,
    ) -> Option<Judged> {
        let known = self.grid().find_run(run)?;
        let end = self.as_far(at, run, end);
        let end = &*end;
        let mut record = self.record(run.task).clone();
        let said = match &digest {
            None => Said::Likeness(likeness(&end.outcome)?),
            Some(digest) => {
                let (_, job) = self.job_of(run.task);
                let was_asked_for = self.is_asked_to_end(run);
                let quorum = self.quorum_of(run.task);
                let ending = Ending { id: run, on, end, quorum, was_asked_for, judged: None, is_left: None };
                let verdict = record.run_ended(at, &job.spec, ending);
                record.over_by(verdict)?;
                if verdict == Verdict::GivenUp && !record.tries.is_word_of(on) {
                    return None;
                }
                Said::Answer(record.answer(digest, &end.outcome))
            }
        };
        let is_heard = self.grid().hears(known) || self.rests(run.task);
        let (judgement, so_far) = self.grid().judge(known, said, is_heard);
        let so_far = so_far.as_ref();
        let agreed = so_far.filter(|_| judgement == Judgement::Agreed);
        let (likeness, result) = match said {
            Said::Answer(_) => (None, None),
            Said::Likeness(likeness) => {
                (Some(likeness), so_far.and_then(|so_far| self.result(run.task, so_far)))
            }
        };
        let wrong = agreed.map_or_else(Vec::new, |so_far| so_far.wrong().collect());
        Some(Judged { digest, judgement, wrong, likeness, result })
    }

    /// What a task came to, or why it came to nothing, as far as that is known by what was said of it.
    fn result(&self, task: TaskId, so_far: &Comparison) -> Option<Box<Last>> {
        if so_far.has_failed() {
            return Some(Box::new(Last::nothing(not_compared(so_far.quorum()))));
        }
        let digest = self.record(task).digest(so_far.agreed()?)?;
        self.books.answers.get(&task)?.get(digest).cloned().map(Box::new)
    }

    /// A task is over by what a run said. **Its result is the first of the answers that are the same**, whoever spoke last.
    pub(super) fn note_result(&mut self, run: RunId, end: RunEnd) {
        let said = match end {
            RunEnd::Answered(answer) => Said::Answer(answer),
            RunEnd::Compared(likeness) => Said::Likeness(likeness),
            RunEnd::Finished | RunEnd::Kept | RunEnd::Lost | RunEnd::Refused => return,
        };
        let known = self.grid().find_run(run);
        let so_far = known.and_then(|known| self.grid().judge(known, said, true).1);
        if let Some(first) = so_far.and_then(|so_far| so_far.result()) {
            self.books.records.own(run.task).result_is_of(first.run, first.on);
        }
    }

    /// What a run took is kept that said something of its task: it was for nothing once its machine is outvoted.
    pub(super) fn count_outvoted(
        &mut self,
        (task, on): (TaskId, MachineId),
        judged: Option<&Judged>,
        end: &End,
    ) {
        let Some(judged) = judged.filter(|judged| judged.judgement != Judgement::Void) else { return };
        let is_first = !self.has_answers(task);
        let said = self.books.said.entry(task).or_default();
        if is_first {
            said.clear();
        }
        said.push((on, end.usage.elapsed_s));
        let outvoted = said.iter().filter(|(on, _)| judged.wrong.contains(on));
        let seconds: f64 = outvoted.map(|(_, elapsed_s)| elapsed_s).sum();
        let (id, _) = self.job_of(task);
        if let Some(job) = self.books.jobs.get_mut(id) {
            job.wasted_s += seconds;
        }
    }

    /// Agents ended with the runs of a task as often in a row as may be, the last of them a machine's with this run: what that means for the
    /// task, and for the run. Where others are asked too, it is the machine's answer or vote if it was its own agent as often, and counts
    /// for no more than one of theirs.
    pub(super) fn gave_up(&mut self, (run, on): (RunId, MachineId)) -> (Option<Verdict>, RunEnd) {
        let is_word = self.is_compared(run) && self.record(run.task).tries.is_word_of(on);
        let known = self.grid().find_run(run).copied().filter(|_| is_word);
        let Some(known) = known else {
            return (Some(self.books.records.own(run.task).gave_up(on, None)), RunEnd::Finished);
        };
        let (said, end, digest) = if self.pair_of(run).is_some() {
            (Said::Likeness(Likeness::Failed), RunEnd::Compared(Likeness::Failed), None)
        } else {
            let digest = BlobHash::of(GAVE_UP);
            let answer = self.record(run.task).answer(&digest, &given_up());
            (Said::Answer(answer), RunEnd::Answered(answer), Some(digest))
        };
        let (judgement, so_far) = self.grid().judge(&known, said, self.grid().hears(&known));
        if judgement == Judgement::Void {
            return (None, RunEnd::Lost);
        }
        let is_vote = digest.is_none();
        let result = so_far.filter(|_| is_vote).and_then(|so_far| self.result(run.task, &so_far));
        let judged = Judged {
            digest,
            judgement,
            wrong: Vec::new(),
            likeness: is_vote.then_some(Likeness::Failed),
            result,
        };
        self.keep_for_comparing(run.task, Some(&judged), &End::of(given_up()));
        (Some(self.books.records.own(run.task).gave_up(on, Some(&judged))), end)
    }

    /// The output files of the two answers that a run compares.
    pub(crate) fn compared_by(&self, run: RunId) -> Option<[Option<Stored>; 2]> {
        let (one, other) = self.pair_of(run)?;
        let answers = self.books.answers.get(&run.task)?;
        let files = |answer| Some(answers.get(self.record(run.task).digest(answer)?)?.files.clone());
        Some([files(one)?, files(other)?])
    }

    /// The two answers that a run compares.
    pub(crate) fn pair_of(&self, run: RunId) -> Option<(Answer, Answer)> {
        self.grid().comparison(run.task)?.compared_by(run)
    }

    /// What an answer was is kept that a user's program is to compare with others.
    pub(super) fn keep_for_comparing(&mut self, task: TaskId, judged: Option<&Judged>, end: &End) {
        let is_first = !self.has_answers(task);
        let (_, job) = self.job_of(task);
        let is_compared = !job.spec.compare.is_empty();
        let judged = judged.filter(|judged| is_compared && judged.judgement == Judgement::Kept);
        let Some(digest) = judged.and_then(|judged| judged.digest.as_ref()) else { return };
        let kept = self.books.answers.entry(task).or_default();
        if is_first {
            kept.clear();
        }
        kept.entry(*digest).or_insert(Last::of(end));
    }
}

/// What a user's program said of two answers by how it ended; nothing where it did not come to it.
fn likeness(outcome: &Outcome) -> Option<Likeness> {
    match outcome {
        Outcome::Exited { code: 0 } => Some(Likeness::Alike),
        Outcome::Exited { code: 1 } => Some(Likeness::Different),
        Outcome::Exited { .. }
        | Outcome::Signalled { .. }
        | Outcome::TimedOut
        | Outcome::OverLimit { .. } => Some(Likeness::Failed),
        Outcome::NotStarted { .. } | Outcome::Abandoned { .. } | Outcome::Stopped => None,
    }
}
