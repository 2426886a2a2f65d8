//! Judges a history by what was seen and what the journal says, and by nothing else: it shares no code with the ledger
//! or the desk.

use super::bad_machine;
use super::flaw::BROKEN;
use super::history::{History, Seen};
use super::journal::{Journal, Step};
use gleaner_core::{Decision, Judgement};
use gleaner_server::journal::Fact;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::Outcome;
use gleaner_wire::{BlobHash, JobId};
use std::collections::{BTreeMap, BTreeSet};

type Check = fn(&History, &Journal) -> Result<(), String>;

const CHECKS: [(&str, Check); 15] = [
    ("the journal's time never goes back", time_never_goes_back),
    ("no two runs of one task go on at once", no_two_runs_at_once),
    ("a machine never holds more than it has", no_machine_is_overfull),
    ("a run begins only after the order was committed", runs_rest_on_commits),
    ("what was acknowledged stands", acknowledgements_stand),
    ("a key counts once", keys_count_once),
    ("what an agent was told of a result is in the books", settlements_agree),
    ("each task has one result, and it is real", one_result_each),
    ("a checkpoint is stored before it counts, and runs go on from the latest", checkpoints_hold),
    ("what was cancelled does not start again", cancelled_stays),
    ("what has begun is stopped only for a reason", stopped_for_a_reason),
    ("an end that counts has its whole output", output_is_whole),
    ("a try that failed is followed by one elsewhere", bad_machine::tries_go_elsewhere),
    ("a bad machine is closed, and a closed one gets nothing", bad_machine::bad_machines_are_closed),
    ("what one machine says is not the answer of two", bad_machine::lies_count_for_nothing),
];

/// The first promise that was broken.
pub(crate) fn judge(history: &History) -> Result<(), String> {
    let journal = Journal::read(history)?;
    CHECKS.iter().try_for_each(|(promise, check)| {
        check(history, &journal).map_err(|broken| format!("broken: {promise}: {broken}"))
    })
}

fn time_never_goes_back(_: &History, journal: &Journal) -> Result<(), String> {
    let back = journal.facts.windows(2).find(|pair| pair[1].at < pair[0].at);
    back.map_or(Ok(()), |pair| Err(format!("{} after {}", pair[1].at, pair[0].at)))
}

/// A machine that stands still runs nothing. Of a task that several machines answer, as many runs may go on, each on another.
fn no_two_runs_at_once(history: &History, _: &Journal) -> Result<(), String> {
    // With how many there may be at a time.
    let mut running: BTreeMap<TaskId, BTreeMap<(RunId, u32), usize>> = BTreeMap::new();
    let mut asleep: BTreeSet<u32> = BTreeSet::new();
    for (at, seen) in &history.seen {
        match seen {
            Seen::Began { run, on, copies, .. } => {
                running.entry(run.task).or_default().insert((*run, *on), *copies);
            }
            Seen::Over { run, on, .. } => {
                running.entry(run.task).or_default().remove(&(*run, *on));
            }
            Seen::Slept { on } => drop(asleep.insert(*on)),
            Seen::Woke { on } => drop(asleep.remove(on)),
            _ => {}
        }
        if matches!(seen, Seen::Began { .. } | Seen::Woke { .. }) {
            let is_too_much = |runs: &BTreeMap<(RunId, u32), usize>| {
                let awake = runs.iter().filter(|((_, on), _)| !asleep.contains(on));
                let (runs, copies): (Vec<_>, Vec<_>) = awake.map(|((_, on), copies)| (*on, *copies)).unzip();
                let machines: BTreeSet<u32> = runs.iter().copied().collect();
                machines.len() < runs.len() || copies.iter().any(|copies| runs.len() > *copies)
            };
            if let Some((task, runs)) = running.iter().find(|(_, runs)| is_too_much(runs)) {
                return Err(format!("{task} at {at}: {runs:?}"));
            }
        }
    }
    Ok(())
}

/// As the agents see it: from when they take a run on until nothing of it is left.
fn no_machine_is_overfull(history: &History, journal: &Journal) -> Result<(), String> {
    let enrolled = journal.facts.iter().filter_map(|written| match &written.fact {
        Fact::AgentEnrolled { profile, .. } => Some((profile.slots, profile.memory)),
        _ => None,
    });
    let has: Vec<(u32, u64)> = enrolled.collect();
    let mut there: BTreeMap<u32, BTreeMap<RunId, (u32, u64)>> = BTreeMap::new();
    for (at, seen) in &history.seen {
        match seen {
            Seen::Took { run, on, cores, memory } => {
                let runs = there.entry(*on).or_default();
                runs.insert(*run, (*cores, *memory));
                let cores: u32 = runs.values().map(|(cores, _)| cores).sum();
                let memory: u64 = runs.values().map(|(_, memory)| memory).sum();
                let (slots, bytes) = has[*on as usize];
                if cores > slots || memory > bytes {
                    return Err(format!("agent {on} of {slots} slots and {bytes} bytes at {at}: {runs:?}"));
                }
            }
            Seen::LetGo { run, on } => {
                there.entry(*on).or_default().remove(run);
            }
            _ => {}
        }
    }
    Ok(())
}

fn runs_rest_on_commits(history: &History, journal: &Journal) -> Result<(), String> {
    let was_put_back = history.seen.iter().any(|(_, seen)| matches!(seen, Seen::PutBack { .. }));
    for (at, seen) in &history.seen {
        let Seen::Began { run, lineage, on, .. } = seen else { continue };
        if was_put_back && !journal.has(*run, *lineage) {
            continue;
        }
        let sent = journal.steps(run.task).any(|(written, step)| {
            let to = MachineId::new(*on as usize);
            matches!(step, Step::Sent(number, on) if number == run.number && on == to)
                && written.durable <= *at
        });
        if !sent {
            return Err(format!("{run:?} began on {on} at {at}"));
        }
    }
    Ok(())
}

fn acknowledgements_stand(history: &History, journal: &Journal) -> Result<(), String> {
    let mut told: BTreeMap<(&str, Option<JobId>), usize> = BTreeMap::new();
    for (_, seen) in &history.seen {
        match seen {
            Seen::Ordered { what, job } => *told.entry((what, Some(*job))).or_default() += 1,
            Seen::Administered { what } => *told.entry((what, None)).or_default() += 1,
            _ => {}
        }
    }
    let written = |what: (&str, Option<JobId>)| {
        journal.facts.iter().filter(|written| kind_of(&written.fact) == Some(what)).count()
    };
    let gone = told.iter().find(|&(&what, &count)| written(what) < count);
    gone.map_or(Ok(()), |(what, count)| {
        Err(format!("{what:?}: {count} were acknowledged, {} are in the journal", written(*what)))
    })
}

fn kind_of(fact: &Fact) -> Option<(&'static str, Option<JobId>)> {
    match fact {
        Fact::TasksCancelled(chosen) => Some(("cancel", Some(chosen.job))),
        Fact::TasksHeld(chosen) => Some(("hold", Some(chosen.job))),
        Fact::TasksReleased(chosen) => Some(("release", Some(chosen.job))),
        Fact::TasksRerun(chosen) => Some(("rerun", Some(chosen.job))),
        Fact::PolicySet { .. } => Some(("policy", None)),
        Fact::PriceSet { .. } => Some(("price", None)),
        Fact::MachineOwnerSet { .. } => Some(("owner", None)),
        Fact::MachineOpened { .. } => Some(("open", None)),
        Fact::AgentRevoked { .. } => Some(("revoke", None)),
        _ => None,
    }
}

fn keys_count_once(history: &History, journal: &Journal) -> Result<(), String> {
    let mut jobs = BTreeMap::new();
    let mut keys = BTreeSet::new();
    for written in &journal.facts {
        let Fact::JobSubmitted { job, user, spec, key, .. } = &written.fact else { continue };
        jobs.insert(*job, (user, key, spec.tasks.count()));
        if key.is_some() && !keys.insert((user, key)) {
            return Err(format!("{user}'s {key:?} is {job}, and another"));
        }
    }
    for (_, seen) in &history.seen {
        let Seen::Submitted { user, key, job, tasks } = seen else { continue };
        if jobs.get(job) != Some(&(user, key, *tasks)) {
            return Err(format!("{user} was told that {key:?} is job {job}, which is {:?}", jobs.get(job)));
        }
    }
    Ok(())
}

fn settlements_agree(history: &History, journal: &Journal) -> Result<(), String> {
    for (at, seen) in &history.seen {
        let Seen::Settled { run, lineage, on, accepted } = seen else { continue };
        // Another run has its number by now.
        if !accepted && lineage.is_some_and(|lineage| !journal.has(*run, lineage)) {
            continue;
        }
        let counted = journal.steps(run.task).find_map(|(written, step)| match step {
            Step::Ended(ended, agent, ..) if ended == *run && agent.index() == *on as usize => {
                Some(written.durable)
            }
            _ => None,
        });
        let agrees = counted.map_or(!accepted, |durable| *accepted && durable <= *at);
        if !agrees {
            return Err(format!("{run:?} on {on}: told {accepted} at {at}, counted {counted:?}"));
        }
    }
    Ok(())
}

fn one_result_each(history: &History, journal: &Journal) -> Result<(), String> {
    for task in journal.tasks() {
        let mut ended = BTreeSet::new();
        let (mut is_done, mut has_failed, mut is_cancelled) = (false, false, false);
        for (_, step) in journal.steps(task) {
            match step {
                Step::Ended(run, on, end, answer) => {
                    if is_done || !ended.insert(run.number) {
                        return Err(format!("{run:?} on {on} counts though there was a result"));
                    }
                    is_real((history, journal), run, on, &end.outcome)?;
                    match answer.map(|answer| answer.judgement) {
                        // It may have been once too often.
                        Some(Judgement::Void) if matches!(end.outcome, Outcome::NotStarted { .. }) => {
                            has_failed = true;
                        }
                        Some(Judgement::Kept | Judgement::Void) => {}
                        Some(Judgement::Disputed) => has_failed = true,
                        // It is tried again.
                        None if journal.quorum(task) > 1 => {}
                        Some(Judgement::Agreed) | None => {
                            is_done = end.outcome == Outcome::Exited { code: 0 };
                            has_failed |= matches!(
                                end.outcome,
                                Outcome::Exited { code: 3 | BROKEN } | Outcome::NotStarted { .. }
                            );
                        }
                    }
                }
                Step::Cancelled => is_cancelled = true,
                Step::Rerun => (is_done, has_failed, is_cancelled) = (false, false, false),
                Step::RerunIfOver => is_done = false,
                Step::Sent(..) => {}
            }
        }
        let Some(&phase) = history.phases.get(task.index()) else {
            return Err(format!("{task} is unknown in the end"));
        };
        let fits = match phase {
            TaskPhase::Done => is_done,
            TaskPhase::Failed => has_failed && !is_done,
            TaskPhase::Cancelled => is_cancelled && !is_done,
            _ => false,
        };
        if !fits {
            return Err(format!("{task} is {phase:?} in the end"));
        }
    }
    Ok(())
}

/// What never began cannot have exited; nor did a run of a past that is no more.
fn is_real(
    (history, journal): (&History, &Journal),
    ended: RunId,
    on: MachineId,
    outcome: &Outcome,
) -> Result<(), String> {
    let happened = history.seen.iter().any(|(_, seen)| {
        matches!(seen, Seen::Over { run, lineage, on: at, outcome: real, .. }
            if *run == ended && *at as usize == on.index() && real == outcome && journal.has(*run, *lineage))
    });
    if happened || !matches!(outcome, Outcome::Exited { .. }) {
        Ok(())
    } else {
        Err(format!("{ended:?} never ended on {on} with {outcome:?}"))
    }
}

fn checkpoints_hold(history: &History, journal: &Journal) -> Result<(), String> {
    let mut stored: BTreeMap<&BlobHash, (TaskId, Time)> = BTreeMap::new();
    for (at, seen) in &history.seen {
        if let Seen::Stored { blob, task } = seen {
            stored.entry(blob).or_insert((*task, *at));
        }
    }
    for task in journal.tasks() {
        for (written, step) in journal.steps(task) {
            let Step::Ended(run, _, end, _) = step else { continue };
            let Some(checkpoint) = &end.checkpoint else { continue };
            if stored.get(&checkpoint.blob).is_none_or(|&(of, at)| of != task || at > written.durable) {
                return Err(format!("{run:?} counts with a checkpoint that is not stored"));
            }
        }
    }
    history.seen.iter().try_for_each(|(at, seen)| match seen {
        Seen::Began { run, lineage, from, .. }
            if !history.may_be_lost(*at, *lineage)
                && !latest_checkpoints(journal, *run).contains(&from.as_ref()) =>
        {
            Err(format!("{run:?} began at {at} from {from:?}"))
        }
        _ => Ok(()),
    })
}

/// What a run may go on from: the checkpoint of the last run before it, or nothing if it may be a rerun.
fn latest_checkpoints(journal: &Journal, run: RunId) -> Vec<Option<&BlobHash>> {
    let mut latest = vec![None];
    let mut is_sent = false;
    for (_, step) in journal.steps(run.task) {
        match step {
            // What comes later is no concern of this run.
            Step::Rerun if is_sent => break,
            Step::RerunIfOver if is_sent => {}
            Step::Rerun => latest = vec![None],
            Step::RerunIfOver => latest.push(None),
            Step::Sent(number, _) => is_sent |= number == run.number,
            Step::Ended(ended, _, end, _) if ended.number < run.number && end.checkpoint.is_some() => {
                latest = vec![end.checkpoint.as_ref().map(|stored| &stored.blob)];
            }
            Step::Ended(ended, ..) if ended.number >= run.number => break,
            Step::Ended(..) | Step::Cancelled => {}
        }
    }
    latest
}

/// The scheduler may still plan with a task whose run is being stopped, but nothing comes of it.
/// Somebody wanted its task elsewhere or not any more, or another run of it came before. That it was asked back is no reason.
fn stopped_for_a_reason(history: &History, journal: &Journal) -> Result<(), String> {
    let was_put_back = history.seen.iter().any(|(_, seen)| matches!(seen, Seen::PutBack { .. }));
    for (at, seen) in &history.seen {
        let Seen::Over { run: stopped, outcome: Outcome::Stopped, .. } = seen else { continue };
        let is_reason = |fact: &Fact| match fact {
            Fact::TasksCancelled(chosen) | Fact::TasksHeld(chosen) | Fact::TasksRerun(chosen) => {
                journal.chooses(chosen, stopped.task)
            }
            Fact::RunEnded { run, .. } => run.task == stopped.task && run != stopped,
            Fact::Decided { decisions, .. } => decisions
                .iter()
                .any(|decision| matches!(decision, Decision::Relocate { task, .. } if *task == stopped.task)),
            _ => false,
        };
        let mut until = journal.facts.iter().take_while(|written| written.durable <= *at);
        if !was_put_back && !until.any(|written| is_reason(&written.fact)) {
            return Err(format!("{stopped} at {at}"));
        }
    }
    Ok(())
}

fn cancelled_stays(history: &History, journal: &Journal) -> Result<(), String> {
    for task in journal.tasks() {
        let mut is_cancelled = false;
        let mut banned = BTreeSet::new();
        for (_, step) in journal.steps(task) {
            match step {
                Step::Cancelled => is_cancelled = true,
                Step::Rerun | Step::RerunIfOver => is_cancelled = false,
                Step::Sent(number, _) if is_cancelled => drop(banned.insert(number)),
                Step::Sent(..) | Step::Ended(..) => {}
            }
        }
        let began = history.seen.iter().find_map(|(at, seen)| match seen {
            Seen::Began { run, lineage, .. }
                if run.task == task
                    && banned.contains(&run.number)
                    && !history.may_be_lost(*at, *lineage) =>
            {
                Some((at, run))
            }
            _ => None,
        });
        if let Some((at, run)) = began {
            return Err(format!("{run:?} began at {at}"));
        }
    }
    Ok(())
}

fn output_is_whole(history: &History, journal: &Journal) -> Result<(), String> {
    for task in journal.tasks() {
        for (written, step) in journal.steps(task) {
            let Step::Ended(ended, _, end, _) = step else { continue };
            let mut reach = 0;
            for (at, seen) in &history.seen {
                if let Seen::Kept { run, offset, bytes } = seen
                    && *run == ended
                    && *at <= written.durable
                    && *offset <= reach
                {
                    reach = reach.max(offset + bytes);
                }
            }
            if reach < end.stdout.offset {
                return Err(format!("of {ended:?} {reach} bytes are kept, not {}", end.stdout.offset));
            }
        }
    }
    Ok(())
}
