//! What tasks wait for: nouns, as in "it waits for …".

use super::closed::{all_closed, could_any};
use super::reasons::Reasons;
use crate::desk::Desk;
use crate::ledger::{Job, Ledger, Record, Wish};
use gleaner_core::{Alarm, Answer, Availability, Queue, Stage};
use gleaner_policy::{HeldBack, Names, Source, Word};
use gleaner_units::{Credits, MachineId, TaskClassId, TaskId, Time};
use gleaner_wire::api::{ExpectedStart, MORE_MACHINES, TaskPhase};
use gleaner_wire::session::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// Stretches of a job's tasks that are looked at to find one that waits, where neither a queue nor a rest has one.
const STRETCHES_MAX: usize = 1_000;

/// How things stand at a moment.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// What is known.
    pub ledger: &'a Ledger,
    /// When.
    pub now: Time,
    /// Until when no run begins, [after the journal was restored](Desk::quiet_until).
    pub quiet_until: Option<Time>,
}

impl<'a> Situation<'a> {
    /// The present one.
    pub fn of(desk: &'a Desk, now: Time) -> Self {
        Self { ledger: desk.ledger(), now, quiet_until: desk.quiet_until() }
    }

    fn seconds_until(&self, at: Time) -> u64 {
        if at > self.now { at.since(self.now).seconds().ceil() as u64 } else { 0 }
    }
}

/// A task of a job that waits, one that was sent to no machine if there is one. What is over is not looked at, unless all that wait were
/// sent: then it costs O(machines + runs of its class).
pub(super) fn find_waiting(ledger: &Ledger, job: &Job) -> Option<TaskId> {
    if job.tally.waiting == 0 {
        return None;
    }
    let (grid, all) = (ledger.grid(), job.range());
    let queued =
        ledger.classes_of(job).flat_map(|class| grid.waiting_between(class, (all.first(), all.last())));
    let queued = queued.map(|(first, _)| first).take(STRETCHES_MAX).find(|&task| !ledger.is_live(task));
    queued.or_else(|| ledger.first_resting(job)).or_else(|| find_sent(ledger, job))
}

/// A task of a job that no queue has, and that does not run yet.
fn find_sent(ledger: &Ledger, job: &Job) -> Option<TaskId> {
    let mut sent = None;
    for (tasks, record) in ledger.stretches(job.range()).take(STRETCHES_MAX) {
        let task = tasks.first();
        match record.phase {
            TaskPhase::Waiting if ledger.is_live(task) => sent = sent.or(Some(task)),
            TaskPhase::Waiting => return Some(task),
            _ => {}
        }
    }
    let waits =
        |task: &TaskId| job.range().contains(*task) && ledger.record(*task).phase == TaskPhase::Waiting;
    let on_machines = || {
        let runs = (0..ledger.agents().len()).flat_map(|on| ledger.live_on(MachineId::new(on)));
        runs.map(|run| run.id().task).find(waits)
    };
    sent.or_else(on_machines)
}

/// What a task waits for, and where and when it is expected to start, where cores are kept for it.
pub(super) fn of_task(situation: Situation<'_>, task: TaskId) -> (String, Option<ExpectedStart>) {
    if let Some(other) = before_the_policy(situation, task) {
        return (other, None);
    }
    let Situation { ledger, now, .. } = situation;
    let closed = || all_closed(ledger, ledger.grid().task(task).class());
    let (reason, starts) = match by_the_policy(ledger, now, task).or_else(closed) {
        Some(other) => (other, None),
        None => {
            held_back(ledger, now, task).unwrap_or_else(|| (ledger.recipe().waits_for().to_owned(), None))
        }
    };
    (reason + &learnt(ledger, task), starts)
}

/// What a job with waiting tasks waits for that has none on a machine.
pub(super) fn of_job(situation: Situation<'_>, job: &Job, reasons: &mut Reasons) -> Option<String> {
    let Situation { ledger, now, .. } = situation;
    let is_stuck = job.tally.waiting > 0 && job.tally.running + job.tally.suspended == 0;
    if !is_stuck {
        return None;
    }
    if ledger.agents().iter().all(|agent| agent.revoked) {
        let is_new = ledger.agents().iter().all(|agent| agent.forgotten);
        let why = if is_new { "none has joined yet" } else { "all that joined were revoked" };
        return Some(format!("a machine: {why}; `gleaner token join` shows how one does"));
    }
    let Some(task) = find_waiting(ledger, job) else {
        return Some(ledger.recipe().waits_for().to_owned());
    };
    let reason = before_the_policy(situation, task).or_else(|| by_the_policy(ledger, now, task));
    Some(reason.unwrap_or_else(|| reasons.machines(ledger, ledger.grid().task(task).class())))
}

/// What has to be over before the policy is asked about the task.
fn before_the_policy(situation: Situation<'_>, task: TaskId) -> Option<String> {
    if let Some(quiet) = for_quiet(situation) {
        return Some(quiet);
    }
    let ledger = situation.ledger;
    let record = ledger.record(task);
    if let Some(live) = ledger.grid().runs_of(task).find(|run| run.goes_on()) {
        let machine = &ledger.agent(live.on()).name;
        if let Some(wish) = record.wish {
            let then = match wish {
                Wish::Cancel => "cancelled",
                Wish::Hold => "held",
            };
            return Some(format!(
                "{machine} to say that its run has ended: it is {then} then; if {machine} never says so, an administrator gives up what it has with \
                 `gleaner machine revoke {machine}`"
            ));
        }
        let behind = ledger.grid().runs_of(task).find_map(|run| ledger.grid().run_before(run.id()));
        return Some(match behind {
            Some(before) => {
                let (job, spec) = ledger.job_of(before.task);
                format!("the end of {job}/{} on {machine}, where it begins then", spec.number(before.task))
            }
            None => format!("its start on {machine}, to which it was sent"),
        });
    }
    if let Some(until) = record.rests_until() {
        let given_up = ledger.grid().runs_of(task).filter(|run| run.stage() == Stage::Missing);
        let mut agents = given_up.map(|run| ledger.agent(run.on()));
        let why = match agents.find(|agent| !agent.lost) {
            Some(back) => format!("{} came back, and has something of it to hand in", back.name),
            None => ended_before(ledger, task),
        };
        return Some(format!("its next try, in {} s: {why}", situation.seconds_until(until)));
    }
    answers(ledger, task)
}

/// What the last run of a task came to that is to be tried again.
fn ended_before(ledger: &Ledger, task: TaskId) -> String {
    let record = ledger.record(task);
    let (_, job) = ledger.job_of(task);
    match record.last.as_deref().map(|last| &last.outcome) {
        Some(Outcome::Exited { code }) if Some(*code) == job.spec.checkpoint.exit_code => {
            format!("its program asked to be run again a moment ago, by exit code {code}")
        }
        Some(outcome @ (Outcome::Stopped | Outcome::Abandoned { .. })) => {
            format!("it did not come to its end a moment ago: {outcome}")
        }
        _ => format!("it failed a moment ago{}", end_told(record)),
    }
}

/// How the last run of a task ended that is tried again, or failed. One that ended well gave another answer than others.
pub(super) fn end_told(record: &Record) -> String {
    let outcome = record.last.as_deref().map(|last| &last.outcome);
    let outcome = outcome.filter(|outcome| **outcome != Outcome::Exited { code: 0 });
    outcome.map_or_else(String::new, |outcome| format!(": {outcome}"))
}

/// What everything waits for after the journal was restored.
pub(super) fn for_quiet(situation: Situation<'_>) -> Option<String> {
    let seconds = situation.seconds_until(situation.quiet_until?);
    Some(format!(
        "the end of the pause after `gleaner journal restore`, in {seconds} s: until then no run begins, since machines that \
         are away may have runs that the journal does not know"
    ))
}

/// Who answered a task so far, and what it takes until it is done.
fn answers(ledger: &Ledger, task: TaskId) -> Option<String> {
    let so_far = ledger.grid().comparison(task).filter(|so_far| !so_far.given().is_empty())?;
    let mut by_answer: BTreeMap<Answer, Vec<&str>> = BTreeMap::new();
    for given in so_far.given() {
        by_answer.entry(given.answer).or_default().push(&ledger.agent(given.on).name);
    }
    let groups: Vec<String> = by_answer.values().map(|names| names.join(" and ")).collect();
    let waits_for = match so_far.to_compare() {
        Some(_) => {
            "a machine to compare two answers that has given neither, and whose owner has no other that did"
        }
        None => "a machine that has not answered it yet, and whose owner has no other that did",
    };
    Some(format!(
        "{waits_for}: answers so far are of {}; {} machines have to give the same, and at most {} are asked",
        groups.join(", and another of "),
        so_far.quorum(),
        so_far.most()
    ))
}

/// How long it is believed to be where that goes by what ran before, since the decisions do.
fn learnt(ledger: &Ledger, task: TaskId) -> String {
    let (grid, policy) = (ledger.grid(), ledger.scheduler().policy());
    let Some(source) = policy.source_of_length(grid, task) else { return String::new() };
    let row = grid.classes().seconds_per_op_row(grid.task(task).class());
    let fastest = row.iter().copied().fold(f64::INFINITY, f64::min);
    let seconds = policy.length(grid, task).map(|length| length.amount() * fastest);
    let Some(seconds) = seconds.filter(|seconds| seconds.is_finite()) else { return String::new() };
    let by = match source {
        Source::Runs => "by what its user's tasks took before",
        Source::Declared => "as was declared, for too little ran before that is like it",
        Source::Nobody => "for nothing was declared, and too little ran before that is like it",
    };
    format!("; it is taken for {seconds:.1} s on the fastest machine, {by}")
}

/// What the rule in force, its batches, its budget or a quota have to do with it.
fn by_the_policy(ledger: &Ledger, now: Time, task: TaskId) -> Option<String> {
    let grid = ledger.grid();
    if grid.is_capped(grid.task(task).class()) {
        let (taken, most) = grid.cores_of_user(grid.task(task).class());
        let job = ledger.job_of(task).1;
        let (user, needs) = (&job.user, job.spec.needs.cores);
        if needs > most {
            return Some(format!(
                "a larger quota: it needs {needs} cores, and all runs of {user} together may take no more than {most}"
            ));
        }
        return Some(format!(
            "other tasks of its user to end: those of {user} run on {taken} cores, and the quota is {most}"
        ));
    }
    if has_no_length(ledger, task) {
        return Some(
            "a length: no length was declared for it, and the policy in force goes by lengths".to_owned(),
        );
    }
    // A rule that plans nothing does not heed what one before it planned.
    let plan = grid.plans().queue_of(task).filter(|_| ledger.recipe().plans());
    let planned = match plan {
        Some(Queue::Machine(on)) => Some(ledger.agent(on).name.clone()),
        Some(Queue::Class(class)) => {
            let on = grid.machines_of(class).next().map(|on| &ledger.agent(on).name);
            on.map(|name| format!("{name}, or a machine like it"))
        }
        None => None,
    };
    let alarms = [Alarm::Batch, Alarm::Recharge].into_iter().filter_map(|alarm| grid.alarm(alarm));
    let batch = alarms.min().map_or(String::new(), |at| format!(", in {:.0} s", at.since(now).seconds()));
    match planned {
        Some(machine) => Some(format!("{machine}, for which it is planned")),
        None if is_too_dear(ledger, now, task) => Some(
            too_dear_for_ever(ledger, task)
                .unwrap_or_else(|| format!("the next recharge of the budget{batch}")),
        ),
        None if ledger.recipe().plans() => {
            Some(format!("{}{batch}{}", ledger.recipe().waits_for(), price(ledger, now, task)))
        }
        None => None,
    }
}

/// Of a task for which no recharge will do.
fn too_dear_for_ever(ledger: &Ledger, task: TaskId) -> Option<String> {
    let recharge = ledger.grid().accounts()?.budget().recharge;
    let cost = least_cost(ledger, task).filter(|cost| *cost > recharge)?;
    Some(format!("a larger budget: it costs {cost} credits at least, and a recharge is {recharge}"))
}

/// What a price that moves keeps the task from.
fn price(ledger: &Ledger, now: Time, task: TaskId) -> String {
    let grid = ledger.grid();
    match ledger.scheduler().policy().price(grid, now, grid.task(task).class()) {
        Some(price) => format!(
            "; the budget pays for all machines up to {} credits for a million operations",
            (price * 1e9).round() / 1e3
        ),
        None => String::new(),
    }
}

/// What a queue keeps the task from, and its start, if cores are kept for it.
fn held_back(ledger: &Ledger, now: Time, task: TaskId) -> Option<(String, Option<ExpectedStart>)> {
    let back = ledger.scheduler().policy().holds_back(ledger.grid(), now, task)?;
    if back == HeldBack::NoMachine && !could_any(ledger, ledger.grid().task(task).class()) {
        return Some(("a machine that could take it: none that is there ever could".to_owned(), None));
    }
    let name = |task: TaskId| {
        let (id, job) = ledger.job_of(task);
        format!("{id}/{}", job.number(task))
    };
    let machine = |on: MachineId| ledger.agent(on).name.clone();
    let names = Names {
        task: &name,
        machine: &machine,
        moment: &|at| format!("in {:.0} s", at.since(now).seconds()),
    };
    let own = back.kept().filter(|kept| kept.task == task);
    let starts = own.map(|kept| ExpectedStart {
        machine: machine(kept.on),
        at_s: (kept.by != Word::Nobody && kept.at != Time::NEVER).then(|| kept.at.seconds()),
        by: kept.by.name().to_owned(),
    });
    Some((format!("its turn: {}", back.words(&names)), starts))
}

/// What would let it start, as far as that is a matter of lengths and budgets.
pub(super) fn remedies(ledger: &Ledger, task: TaskId) -> Vec<String> {
    let mut remedies = Vec::new();
    if has_no_length(ledger, task) {
        let policy = &ledger.policy().name();
        remedies.push(format!(
            "a declared length, as `gleaner submit --length 5G`: {policy} plans by lengths and prices"
        ));
    }
    if ledger.grid().is_capped(ledger.grid().task(task).class()) {
        let user = &ledger.job_of(task).1.user;
        remedies
            .push(format!("more cores, by an administrator: `gleaner quota set --user {user} --cores N`"));
    }
    let class = ledger.grid().task(task).class();
    let (quorum, voices) = (ledger.grid().quorum(class) as usize, voices(ledger, class));
    if (1..quorum).contains(&voices) {
        let can = if voices == 1 {
            "1 machine can take it".to_owned()
        } else {
            format!("{voices} machines can take it")
        };
        remedies.push(format!(
            "{MORE_MACHINES}{quorum} have to give the same answer, and {can}, where those of one owner count as one"
        ));
    }
    let recharge = ledger.grid().accounts().map(|accounts| accounts.budget().recharge);
    if let (Some(recharge), Some(cost)) = (recharge, least_cost(ledger, task))
        && cost > recharge
    {
        remedies.push(format!(
            "a recharge of {cost} credits, as `gleaner budget set {cost}`: it costs that at least, and there are \
             {recharge} in a period"
        ));
    }
    remedies
}

/// How many machines could answer a task of a class, at one time or another; those of one owner count as one. Costs O(machines).
fn voices(ledger: &Ledger, class: TaskClassId) -> usize {
    let grid = ledger.grid();
    let agents = ledger.agents().iter().enumerate();
    let able = agents.filter(|(_, agent)| !agent.revoked).map(|(index, _)| MachineId::new(index));
    let able = able.filter(|on| grid.seconds_per_op(class, *on).is_finite());
    able.map(|on| grid.owner_of(on).ok_or(on)).collect::<BTreeSet<_>>().len()
}

/// Whether the rule in force cannot place it for that.
fn has_no_length(ledger: &Ledger, task: TaskId) -> bool {
    let grid = ledger.grid();
    let is_unknown = ledger.scheduler().policy().length(grid, task).is_none();
    let costs_something = || grid.accounts().is_some() && least_cost(ledger, task).is_none();
    is_unknown && (ledger.recipe().plans() || costs_something())
}

/// Whether nothing that is left now would pay for it anywhere.
fn is_too_dear(ledger: &Ledger, now: Time, task: TaskId) -> bool {
    let grid = ledger.grid();
    let left = grid.account_of(grid.task(task).class()).map(|account| account.left(now));
    left.zip(least_cost(ledger, task)).is_some_and(|(left, cost)| cost > left)
}

/// On the cheapest machine that could run it; none where that cannot be said. Costs O(machines).
fn least_cost(ledger: &Ledger, task: TaskId) -> Option<Credits> {
    let grid = ledger.grid();
    let class = grid.task(task).class();
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let able = machines.filter(|&on| {
        grid.machine(on).availability() != Availability::Lost && grid.seconds_per_op(class, on).is_finite()
    });
    able.filter_map(|on| grid.cost(task, grid.machine(on).class())).min()
}
