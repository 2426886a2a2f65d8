//! How runs end: what of it is recorded, and what it says of the machine.

use super::{Desk, Effect, SessionId, Written};
use crate::journal::{Fact, Judged};
use crate::ledger::{Record, RetiredTask};
use crate::limits::NOT_STARTED_CLOSES;
use crate::store::{PastReader, ReadError};
use gleaner_core::FORGIVEN_AFTER;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::api::Actor;
use gleaner_wire::limits::{
    NOTES_MAX, OUTPUT_BYTES_MAX, OUTPUT_CHUNK_MAX, OUTPUT_INLINE_MAX, REASON_BYTES_MAX, SPEED_DOUBT,
};
use gleaner_wire::session::{CHECKPOINT_NOT_KEPT, End, Obstacle, Outcome, Stored, Stream, ToAgent};
use gleaner_wire::text::tamed;
use std::borrow::Cow;

impl Desk {
    /// An end is reported until it is settled, so it may come again.
    pub(super) fn ended(
        &mut self,
        now: Time,
        (session, agent): (SessionId, MachineId),
        run: RunId,
        (end, digest): (End, Option<BlobHash>),
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        let is_known = run.task.index() < self.ledger.task_count();
        let is_awaited = is_known && self.ledger.is_awaited(run, agent);
        // What nobody waits for may have to be looked up in the store.
        if !is_awaited && !self.may_report(now, session, agent, 0) {
            return Ok(());
        }
        if !is_known {
            self.send(session, ToAgent::Settled { run, accepted: false });
            return Ok(());
        }
        let end = sound(end, self.most_used(now, run, agent));
        let record = self.known_record(run.task, past)?;
        if !is_awaited && let Some(accepted) = record.counted(run, agent) {
            self.send(session, ToAgent::Settled { run, accepted });
            return Ok(());
        }
        let came_to_nothing =
            matches!(end.outcome, Outcome::NotStarted { .. } | Outcome::Abandoned { .. } | Outcome::Stopped);
        let is_unasked = is_awaited && came_to_nothing && !self.ledger.is_asked_to_end(run);
        if is_unasked && !self.may_report(now, session, agent, 0) {
            return Ok(());
        }
        if is_awaited && !self.has_sent(now, agent, run, &end) {
            self.send(session, ToAgent::StoreAgain { run });
            return Ok(());
        }
        let end = if is_awaited { self.with_sizes(agent, end) } else { end };
        let compares = self.ledger.pair_of(run).is_some();
        let is_compared = is_awaited && self.ledger.is_compared(run);
        // Who did not begin it has said nothing of it.
        let refuses = is_compared && matches!(end.outcome, Outcome::NotStarted { .. });
        if is_compared && digest.is_none() && !compares && !refuses {
            let is_new = self.sessions.get_mut(&session).is_some_and(|session| session.comparing.insert(run));
            // What it answered is being read for the same end already.
            if !is_new {
                return Ok(());
            }
            self.batch.effects.push(Effect::Compare(session, run, Box::new(end)));
            return Ok(());
        }
        if is_awaited {
            let is_left = self.ledger.is_left(run.task, agent, &end.outcome);
            let end = self.naming_machines(run.task, is_left, end);
            let end = self.without_what_nobody_needs(now, (run, agent), end);
            let end = self.saying_that_nothing_is_kept(run, end);
            let (end, is_kept) = self.within_quota(run, end);
            self.named(agent, &end);
            // What its user's quota cuts off is no answer: no machine is outvoted for it.
            let is_said = compares || digest.is_some() && is_kept;
            let digest = digest.filter(|_| !compares);
            let judged = if refuses {
                Some(Judged::refusal())
            } else {
                is_said.then(|| self.ledger.judged(now, (run, agent), &end, digest)).flatten()
            };
            let (end, answer) = (Box::new(self.keep_tails(run, end)), judged.map(Box::new));
            self.record(now, Fact::RunEnded { run, agent, end, answer, is_left });
            self.doubt(now, agent);
            self.close_if_broken(now, agent);
        } else {
            let end = Box::new(without_tails(end));
            self.record(now, Fact::ResultRefused { run, agent, end });
        }
        self.send(session, ToAgent::Settled { run, accepted: is_awaited });
        Ok(())
    }

    /// What is known of a task, in memory or in the store.
    fn known_record(&self, task: TaskId, past: &dyn PastReader) -> Result<Cow<'_, Record>, ReadError> {
        let record = self.ledger.record(task);
        if !record.is_retired() {
            return Ok(Cow::Borrowed(record));
        }
        let found = RetiredTask::find(past, task)?;
        Ok(found.map_or(Cow::Borrowed(record), |found| Cow::Owned(found.record)))
    }

    /// What a run left without files for which its user's quota has no room: the run failed then, and says so. A checkpoint
    /// is kept, since its run would be for nothing. Whether all of it is kept.
    fn within_quota(&self, run: RunId, mut end: End) -> (End, bool) {
        let Some((above, most)) = self.ledger.bytes_above_quota(run, &end) else { return (end, true) };
        let size = end.files.take().map_or(0, |files| files.size);
        let what = format!(
            "storage: its {size} bytes of files would be {above} above its user's quota of {most} and were not kept; \
             `gleaner quota show` has what is used"
        );
        end.outcome = Outcome::OverLimit { what };
        (end, false)
    }

    /// What nobody will go on from is in no fact: whoever reads of the end would take it to be stored. Nor does it count as sent any
    /// longer: what its run might send beside its user's quota ends with it.
    fn without_what_nobody_needs(
        &mut self,
        now: Time,
        (run, agent): (RunId, MachineId),
        mut end: End,
    ) -> End {
        let is_needed = self.ledger.is_furthest(now, run) && self.ledger.may_go_on(run, &end.outcome);
        if !is_needed
            && let Some(left) = end.checkpoint.take()
            && let Some(uploads) = self.stored.get_mut(&agent)
        {
            uploads.thrown_away(left.blob);
        }
        end
    }

    /// The user of a task that was to go on from what it kept, and has no try left, is told: if it is run again by order, it begins
    /// anew. Its agent sends no checkpoint then.
    fn saying_that_nothing_is_kept(&self, run: RunId, mut end: End) -> End {
        let keeps = &self.ledger.job_of(run.task).1.spec.checkpoint;
        let is_last = end.outcome == Outcome::TimedOut && !self.ledger.may_go_on(run, &end.outcome);
        let is_told = end.notes.iter().any(|note| note.starts_with(CHECKPOINT_NOT_KEPT));
        let has_one = keeps.folder || keeps.exit_code.is_some();
        if has_one && is_last && !self.ledger.is_compared(run) && !is_told && end.notes.len() < NOTES_MAX {
            end.notes.push(format!("{CHECKPOINT_NOT_KEPT}, since its task had no try left (--retries)"));
        }
        end
    }

    /// An end of a run for which no machine is left says on which ones of its job could not be started before.
    fn naming_machines(&self, task: TaskId, is_left: Option<bool>, mut end: End) -> End {
        let Outcome::NotStarted { why, obstacle: Obstacle::NotThere } = &mut end.outcome else { return end };
        let before = self.ledger.not_there_of(self.ledger.job_of(task).0);
        if is_left == Some(true) || before.is_empty() {
            return end;
        }
        let names = before.iter().map(|&machine| self.ledger.agent(machine).name.as_str());
        let mut names: Vec<&str> = names.collect();
        let more = names.len().saturating_sub(MACHINES_NAMED);
        names.truncate(MACHINES_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        *why = format!("{why}; nor could tasks of this job be started on {}{more}", names.join(", "));
        if is_left == Some(false) {
            why.push_str(", and no other machine could take it");
        }
        *why = tamed(why, REASON_BYTES_MAX);
        end
    }

    /// Whether an agent has sent what it says that a run left, or the run found it: whoever only knows the name of another's
    /// file would get it by naming it. What was sent long ago and nothing named since is not there any more.
    fn has_sent(&self, now: Time, agent: MachineId, run: RunId, end: &End) -> bool {
        let found = self.ledger.record(run.task).checkpoint.as_ref();
        let sent =
            |left: &Stored| self.stored.get(&agent).is_some_and(|uploads| uploads.is_there(left.blob, now));
        end.files.iter().all(sent) && end.checkpoint.iter().all(|left| Some(left) == found || sent(left))
    }

    /// With the sizes of files that came, whatever the agent says.
    fn with_sizes(&self, agent: MachineId, mut end: End) -> End {
        let uploads = self.stored.get(&agent);
        for left in end.files.iter_mut().chain(&mut end.checkpoint) {
            left.size = uploads.and_then(|uploads| uploads.size(left.blob)).unwrap_or(left.size);
        }
        end
    }

    /// When one began that was sent ahead only its agent knows.
    fn most_used(&self, now: Time, run: RunId, agent: MachineId) -> MostUsed {
        let grid = self.ledger.grid();
        let since = if self.ledger.is_retired(run.task) {
            self.ledger.began()
        } else {
            grid.task(run.task).submitted()
        };
        let profile = &self.ledger.agent(agent).profile;
        let seconds = now.since(since).seconds() + CLOCKS_DIFFER_S;
        MostUsed { seconds, cores: profile.cores, memory: profile.memory }
    }

    /// What is kept of a run is counted with it from now on, and no more as what was sent.
    fn named(&mut self, agent: MachineId, end: &End) {
        let Some(uploads) = self.stored.get_mut(&agent) else { return };
        for left in end.files.iter().chain(&end.checkpoint) {
            uploads.named(left.blob);
        }
    }

    /// Counts a machine with the speeds that its tasks show, where it says many times more.
    pub(super) fn doubt(&mut self, now: Time, agent: MachineId) {
        if let Some(share) = self.ledger.due_share(agent) {
            let why = format!(
                "it is counted with {share} of the speeds that it says: its tasks show no more than a {SPEED_DOUBT}th"
            );
            self.record(now, Fact::SpeedDoubted { agent, share, why });
        }
    }

    /// Gives nothing more to a machine that cannot start what others can, for reasons of its own.
    fn close_if_broken(&mut self, now: Time, id: MachineId) {
        let agent = self.ledger.agent(id);
        if agent.not_started < NOT_STARTED_CLOSES || agent.closed_by_order {
            return;
        }
        let why = format!(
            "{NOT_STARTED_CLOSES} runs in a row could not be started there for reasons of its own, of jobs that run elsewhere; their histories say why. \
             Mend it, and open it again with `gleaner machine resume {}`",
            agent.name
        );
        self.record(now, Fact::MachineOpened { agent: id, open: false, why, by: Actor::Coordinator });
    }

    /// What a run answered is known: its end can be recorded.
    pub(super) fn answered(
        &mut self,
        now: Time,
        session: SessionId,
        run: RunId,
        (end, digest): (End, BlobHash),
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        // Over the next connection the agent reports the end again.
        let Some(known) = self.sessions.get_mut(&session) else { return Ok(()) };
        known.comparing.remove(&run);
        let agent = known.agent;
        self.ended(now, (session, agent), run, (end, Some(digest)), past)
    }

    /// Gives nothing more to a machine that is outvoted again and again.
    pub(super) fn close_as_outvoted(&mut self, now: Time, id: MachineId) {
        let (agent, strikes) = (self.ledger.agent(id), self.ledger.grid().strikes(id));
        if agent.closed_by_order {
            return;
        }
        let why = format!(
            "when it was closed, {strikes} of its answers were outvoted by other machines, without {FORGIVEN_AFTER} in a row in between that \
             were agreed on (of the jobs for which one user alone wants a quorum, one counts); `gleaner audit` says which. Look into it, and open it again with `gleaner machine resume {}`",
            agent.name
        );
        self.record(now, Fact::MachineOpened { agent: id, open: false, why, by: Actor::Coordinator });
    }

    /// Short output stays with the fact; the end of long output follows the rest of it.
    fn keep_tails(&mut self, run: RunId, mut end: End) -> End {
        for (stream, tail) in [(Stream::Stdout, &mut end.stdout), (Stream::Stderr, &mut end.stderr)] {
            if tail.offset > 0 || tail.bytes.len() > OUTPUT_INLINE_MAX {
                let (offset, bytes) = (tail.offset, std::mem::take(&mut tail.bytes));
                tail.offset = tail.offset.saturating_add(bytes.len() as u64);
                self.batch.written.push(Written { run, stream, offset, bytes });
            }
        }
        end
    }
}

/// Machines that are named on which tasks of a job could not be started.
const MACHINES_NAMED: usize = 10;
/// An agent's clock may be that much faster, and the coordinator's stands still while its machine sleeps.
const CLOCKS_DIFFER_S: f64 = 60.0;

/// What a run can have used at most.
#[derive(Clone, Copy)]
struct MostUsed {
    seconds: f64,
    cores: u32,
    memory: u64,
}

/// Makes a reported end safe to record. Text that is too long is cut, as if the agent had dropped it. Values that are not numbers are
/// ignored. Time and memory are limited to what was possible. The result counts all the same.
fn sound(mut end: End, most: MostUsed) -> End {
    end.notes.truncate(NOTES_MAX);
    end.notes.iter_mut().for_each(|note| *note = tamed(note, REASON_BYTES_MAX));
    for tail in [&mut end.stdout, &mut end.stderr] {
        let sent = tail.offset.min(OUTPUT_BYTES_MAX);
        let kept = tail.bytes.len().min(OUTPUT_CHUNK_MAX).min((OUTPUT_BYTES_MAX - sent) as usize);
        let cut = (tail.offset - sent).saturating_add((tail.bytes.len() - kept) as u64);
        tail.dropped = tail.dropped.saturating_add(cut);
        tail.offset = sent;
        tail.bytes.truncate(kept);
    }
    for seconds in [&mut end.usage.elapsed_s, &mut end.usage.cpu_s] {
        if !(seconds.is_finite() && *seconds >= 0.0) {
            *seconds = 0.0;
        }
    }
    end.usage.elapsed_s = end.usage.elapsed_s.min(most.seconds);
    end.usage.cpu_s = end.usage.cpu_s.min(most.seconds * f64::from(most.cores));
    end.usage.memory_bytes = end.usage.memory_bytes.min(most.memory);
    match &mut end.outcome {
        Outcome::OverLimit { what: text }
        | Outcome::Abandoned { why: text }
        | Outcome::NotStarted { why: text, .. } => {
            *text = tamed(text, REASON_BYTES_MAX);
        }
        Outcome::Exited { .. } | Outcome::Signalled { .. } | Outcome::Stopped | Outcome::TimedOut => {}
    }
    end
}

/// Of what did not count, the output is not kept.
fn without_tails(mut end: End) -> End {
    end.stdout.bytes = Vec::new();
    end.stderr.bytes = Vec::new();
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::session::Tail;

    #[test]
    fn an_end_is_cut_to_what_may_be_recorded() {
        let text = |bytes: usize| "x".repeat(bytes);
        let end = |more: usize| {
            let why = text(REASON_BYTES_MAX + more);
            let mut end = End::of(Outcome::Abandoned { why });
            end.notes = vec![text(REASON_BYTES_MAX + more); NOTES_MAX + more];
            end.stdout.bytes = vec![b'x'; OUTPUT_CHUNK_MAX + more];
            end
        };
        let most = MostUsed { seconds: 1.0, cores: 1, memory: u64::MAX };
        assert_eq!(sound(end(0), most), end(0), "as much as may be is left as it is");
        let cut = sound(end(1), most);
        let Outcome::Abandoned { why } = &cut.outcome else { panic!("{cut:?}") };
        let texts = cut.notes.iter().chain([why]);
        assert!(texts.clone().all(|text| text.len() <= REASON_BYTES_MAX), "{cut:?}");
        assert_eq!(texts.count(), NOTES_MAX + 1);
        assert_eq!((cut.stdout.bytes.len(), cut.stdout.dropped), (OUTPUT_CHUNK_MAX, 1));
    }

    #[test]
    fn no_stream_is_longer_than_what_is_kept_of_one_and_no_run_larger_than_its_machine() {
        for (offset, bytes, expected) in [
            (OUTPUT_BYTES_MAX - 3, 3, (OUTPUT_BYTES_MAX - 3, 3, 0)),
            (OUTPUT_BYTES_MAX - 3, 5, (OUTPUT_BYTES_MAX - 3, 3, 2)),
            (OUTPUT_BYTES_MAX + 3, 5, (OUTPUT_BYTES_MAX, 0, 8)),
            (u64::MAX, 1, (OUTPUT_BYTES_MAX, 0, u64::MAX - OUTPUT_BYTES_MAX + 1)),
        ] {
            let mut end = End::of(Outcome::Exited { code: 0 });
            end.usage.memory_bytes = u64::MAX;
            end.stderr = Tail { offset, bytes: vec![b'x'; bytes], dropped: 0 };
            let End { stderr, usage, .. } = sound(end, MostUsed { seconds: 1.0, cores: 1, memory: 1 << 30 });
            assert_eq!(
                (stderr.offset, stderr.bytes.len() as u64, stderr.dropped),
                expected,
                "{offset} {bytes}"
            );
            assert_eq!(usage.memory_bytes, 1 << 30);
        }
    }

    #[test]
    fn no_run_took_more_time_than_there_was() {
        for (said, counted) in [
            ((1e308, 1e308), (100.0, 400.0)),
            ((100.0, 400.0), (100.0, 400.0)),
            ((7.0, 9.0), (7.0, 9.0)),
            ((f64::NAN, -1.0), (0.0, 0.0)),
        ] {
            let mut end = End::of(Outcome::Exited { code: 0 });
            (end.usage.elapsed_s, end.usage.cpu_s) = said;
            let usage = sound(end, MostUsed { seconds: 100.0, cores: 4, memory: 1 }).usage;
            assert_eq!((usage.elapsed_s, usage.cpu_s), counted, "{said:?}");
        }
    }
}
