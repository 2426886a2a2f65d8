//! Why a task is where it is, now or at a moment of the past, and where one would go.

use super::reasons::{dimensions, explanation, explanation_without};
use super::runs::open_runs;
use super::waits::{self, Situation};
use super::{Known, KnownTask, Unread, discreet, tried};
use crate::desk::{Desk, Rejection, RejectionKind, Terms, quiet_until};
use crate::journal::{Entry, Fact};
use crate::ledger::{Agent, Ledger, Record, RetiredTask};
use crate::moments::long;
use crate::recovery::{Recovered, RecoveryError, beginning, entries};
use crate::store::{Reader, Seq};
use gleaner_core::explain::{obstacles, words};
use gleaner_core::{Availability, Condition, Decision, Run, Stage};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{
    ExpectedStart, ExplanationView, Preview, PreviewStart, Rating, RuledOutView, TaskPhase,
};
use gleaner_wire::job::JobSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Machines that are named for each rule that ruled some out.
const NAMES_MAX: usize = 5;
/// Answers of the policy that a preview listens to, each of as many decisions as there may be at once.
const ANSWERS_MAX: usize = 64;

/// A task as things stand.
pub fn explain(known: &Known<'_>, now: Time, task: TaskId) -> Result<ExplanationView, Unread> {
    let KnownTask { record, .. } = known.task(task)?;
    let mut view = explained_as(Situation::of(known.desk(), now), task, &record);
    let stays = open_runs(known.desk(), task).into_iter().find_map(|run| run.why);
    if let Some(why) = stays {
        view.summary = format!("its program has ended, but {why}");
        view.remedies.push(
            "free space on the coordinator's disk, or inodes where its log says that it lacks these"
                .to_owned(),
        );
    }
    view.summary.extend(silent(known.desk(), now, task).into_iter().map(|told| format!("; {told}")));
    Ok(view)
}

/// In a sentence for each, which machines have something of a task and are not connected.
fn silent(desk: &Desk, now: Time, task: TaskId) -> Vec<String> {
    let ledger = desk.ledger();
    let runs = ledger.grid().runs_of(task).filter(|run| run.stage() != Stage::Missing);
    let away: BTreeSet<MachineId> = runs.map(Run::on).filter(|on| !desk.is_connected(*on)).collect();
    let told = |on: MachineId| {
        let (name, left) = (&ledger.agent(on).name, long(desk.lease_left(on, now)));
        format!("{name} is away: if it is not heard of within {left}, what it has of the task is given up")
    };
    away.into_iter().map(told).collect()
}

/// A moment of the past.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// By the clock.
    At(Time),
    /// Just before the policy gave the task this run, counted from 1.
    BeforeRun(u32),
}

/// A task as things stood at a moment; nothing if it was not submitted yet, or had no such run. Costs O(journal up to then).
pub fn explain_past(
    reader: &dyn Reader,
    moment: Moment,
    task: TaskId,
    terms: &Terms,
) -> Result<Option<ExplanationView>, RecoveryError> {
    let Recovered { mut ledger, at: begins, .. } = beginning(reader)?;
    let began = ledger.now();
    let is_over = ledger.is_retired(task);
    // As it was when it left memory: it may have run again since.
    let left = if is_over { RetiredTask::find_at_base(reader, task)? } else { None };
    let is_known = task.index() < ledger.task_count();
    let given = left.as_ref().map(|left| left.runs);
    let mut runs = given.unwrap_or_else(|| if is_known { ledger.grid().task(task).runs() } else { 0 });
    if (begins > Seq::NONE && matches!(moment, Moment::At(end) if end < began))
        || matches!(moment, Moment::BeforeRun(run) if run <= runs)
    {
        return Err(RecoveryError::Compacted { at: begins, moment: began });
    }
    let mut retired = left.map(|left| left.record);
    let (mut at, mut started) = (began, None);
    for entry in entries(reader, begins.next()) {
        let (_, entry) = entry?;
        match moment {
            Moment::At(end) if entry.at > end => break,
            Moment::At(end) => at = end,
            Moment::BeforeRun(run) => {
                at = entry.at;
                runs += runs_given(&entry.fact, task);
                if runs >= run {
                    break;
                }
            }
        }
        if let Fact::TasksRetired(tasks) = &entry.fact
            && tasks.iter().any(|range| range.contains(task))
        {
            retired = Some(ledger.record(task).clone());
        }
        if matches!(entry.fact, Fact::CoordinatorStarted { .. }) {
            started = Some(entry.at);
        }
        ledger.replay(&entry).map_err(RecoveryError::from)?;
    }
    if matches!(moment, Moment::BeforeRun(run) if runs < run) {
        return Ok(None);
    }
    let is_known = task.index() < ledger.task_count();
    Ok(is_known.then(|| {
        let retired = retired.as_ref().filter(|_| ledger.is_retired(task));
        let quiet_until = started.and_then(|started| quiet_until(&ledger, terms, started));
        let quiet_until = quiet_until.filter(|until| at < *until);
        let situation = Situation { ledger: &ledger, now: at, quiet_until };
        explained_as(situation, task, retired.unwrap_or_else(|| ledger.record(task)))
    }))
}

/// How many runs of a task are decided by a fact.
fn runs_given(fact: &Fact, task: TaskId) -> u32 {
    let Fact::Decided { decisions, .. } = fact else { return 0 };
    let gives = |decision: &&Decision| match **decision {
        Decision::Start { task: of, .. }
        | Decision::Follow { task: of, .. }
        | Decision::StartWide { task: of, .. }
        | Decision::Relocate { task: of, .. }
        | Decision::Replicate { task: of, .. }
        | Decision::ReplicateWide { task: of, .. }
        | Decision::Ask { task: of, .. } => of == task,
        Decision::Collect
        | Decision::TakeBack { .. }
        | Decision::Survey { .. }
        | Decision::Plan { .. }
        | Decision::Lending(_)
        | Decision::Wake { .. } => false,
    };
    decisions.iter().filter(gives).count() as u32
}

/// Where the tasks of an admitted job would go if it were submitted now, tried on a copy of the ledger. What the policy would start
/// only after a million decisions counts as waiting. Of a job that would be held nothing starts, and what is explained is its tasks released.
pub fn preview(
    mut ledger: Ledger,
    (now, quiet_until): (Time, Option<Time>),
    user: &str,
    spec: &Arc<JobSpec>,
) -> Result<Preview, Rejection> {
    let first = TaskId::new(ledger.task_count());
    let fact = Fact::JobSubmitted {
        job: ledger.next_job(),
        user: user.to_owned(),
        spec: if spec.hold {
            Arc::new(JobSpec { hold: false, ..(**spec).clone() })
        } else {
            Arc::clone(spec)
        },
        key: None,
        bytes: 0,
        described: 0,
    };
    ledger.apply(&Entry { at: now, fact });
    let mut summary = if spec.hold {
        "it would be held until `gleaner release`; as things stand, were it released".to_owned()
    } else {
        "as things stand, before any of its tasks starts".to_owned()
    };
    let situation = Situation { ledger: &ledger, now, quiet_until };
    summary.extend(waits::for_quiet(situation).map(|quiet| format!("; they would wait for {quiet}")));
    let explanation = view((&ledger, first), now, summary);
    let mut answers = std::iter::from_fn(|| ledger.decide(now)).take(ANSWERS_MAX).peekable();
    if answers.peek().is_none() {
        return Err(Rejection { kind: RejectionKind::Invalid, message: "the job has no tasks".to_owned() });
    }
    if spec.hold {
        let (starts, waiting) = (Vec::new(), spec.tasks.count());
        return Ok(Preview { version: VERSION, starts, waiting, explanation });
    }
    let mut starts: BTreeMap<MachineId, u32> = BTreeMap::new();
    for (fact, _) in answers {
        let Fact::Decided { decisions, .. } = fact else { continue };
        for decision in decisions {
            if let Decision::Start { task, on } = decision
                && task >= first
            {
                *starts.entry(on).or_default() += 1;
            }
        }
    }
    let started: u32 = starts.values().sum();
    let named =
        |(on, tasks): (MachineId, u32)| PreviewStart { machine: ledger.agent(on).name.clone(), tasks };
    let starts = starts.into_iter().map(named).collect();
    Ok(Preview { version: VERSION, starts, waiting: spec.tasks.count() - started, explanation })
}

pub(super) fn explained(situation: Situation<'_>, task: TaskId) -> ExplanationView {
    explained_as(situation, task, situation.ledger.record(task))
}

/// What is over waits for nothing: how it ended is all that there is to say.
fn explained_as(situation: Situation<'_>, task: TaskId, record: &Record) -> ExplanationView {
    let (summary, starts) = summary(situation, task, record);
    let Situation { ledger, now: at, .. } = situation;
    if !record.phase.is_over() {
        return ExplanationView { starts, ..view((ledger, task), at, summary) };
    }
    ExplanationView {
        version: VERSION,
        at_s: at.seconds(),
        summary,
        ruled_out: Vec::new(),
        ratings: Vec::new(),
        remedies: Vec::new(),
        starts: None,
        scores_are: None,
    }
}

/// In a sentence, with where and when it is expected to start, where that is known.
fn summary(situation: Situation<'_>, task: TaskId, record: &Record) -> (String, Option<ExpectedStart>) {
    let ledger = situation.ledger;
    let machine = record.machine.map_or("no machine", |on| &ledger.agent(on).name);
    let wanted = match record.wish {
        Some(crate::ledger::Wish::Cancel) => "; it is being cancelled",
        Some(crate::ledger::Wish::Hold) => "; it is being stopped to be held",
        None => "",
    };
    let mut starts = None;
    let phase = match record.phase {
        TaskPhase::Waiting => {
            let (waits_for, expected) = waits::of_task(situation, task);
            starts = expected;
            format!("it waits for {waits_for}")
        }
        TaskPhase::Running | TaskPhase::Suspended => whereabouts(ledger, task, machine),
        TaskPhase::Held => "it is held; `gleaner release` lets it wait for a machine".to_owned(),
        TaskPhase::Done => format!("it is done; it ended on {machine}"),
        TaskPhase::Failed => format!("it failed; it ended on {machine}{}", waits::end_told(record)),
        TaskPhase::Cancelled => "it was cancelled".to_owned(),
    };
    let target = ledger.grid().runs_of(task).find(|run| run.stage() == Stage::Held);
    let moves = target.map_or_else(String::new, |run| {
        format!("; it moves to {}, when its program here has ended", ledger.agent(run.on()).name)
    });
    (format!("{phase}{wanted}{moves}"), starts)
}

/// Where the runs of a task go on, and where they stand still. `last` is where the newest was started.
fn whereabouts(ledger: &Ledger, task: TaskId, last: &str) -> String {
    let (mut going, mut still, mut paused) = (Vec::new(), Vec::new(), Vec::new());
    for run in ledger.begun(task) {
        let agent = ledger.agent(run.on());
        match &agent.paused_by {
            _ if !agent.is_suspended() => going.push(agent.name.as_str()),
            None => still.push(agent.name.as_str()),
            Some(by) => paused.push(format!("it stands still on {}, paused by {by}", agent.name)),
        }
    }
    let names = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(" and ")
    };
    let used = |still: Vec<&str>| match still.len() {
        1 => format!("it stands still on {}, whose owner is using it", names(still)),
        _ => format!("it stands still on {}, whose owners are using them", names(still)),
    };
    if going.is_empty() && still.is_empty() && paused.is_empty() {
        return format!("it runs on {last}");
    }
    let going = (!going.is_empty()).then(|| format!("it runs on {}", names(going)));
    let still = (!still.is_empty()).then(|| used(still));
    going.into_iter().chain(still).chain(paused).collect::<Vec<String>>().join("; ")
}

fn view((ledger, task): (&Ledger, TaskId), at: Time, summary: String) -> ExplanationView {
    let class = ledger.grid().task(task).class();
    let spoken = spoken(ledger, task);
    let explanation = explanation(ledger, class);
    let kinds = dimensions();
    let names = failing_machines(ledger, class);
    let ruled_out = explanation.ruled_out.iter().filter(|ruled| ruled.told() > 0).map(|ruled| RuledOutView {
        rule: words::failing(&discreet::condition(&ruled.condition), &kinds)
            + &why_closed(ledger, &ruled.condition),
        count: ruled.told(),
        machines: names.get(&ruled.condition).cloned().unwrap_or_default(),
    });
    let passed_over =
        ledger.recipe().passed_over(ledger.grid(), class).into_iter().map(|(reason, mut machines)| {
            machines.retain(|on| !ledger.agent(*on).revoked);
            (reason, machines)
        });
    let passed_over =
        passed_over.filter(|(_, machines)| !machines.is_empty()).map(|(reason, machines)| RuledOutView {
            rule: reason.in_words().to_owned(),
            count: machines.len(),
            machines: first_names(ledger, &machines),
        });
    let revoked = revoked(ledger, class);
    let revoked = (!revoked.is_empty()).then(|| RuledOutView {
        rule: "were revoked: no task will ever start there".to_owned(),
        count: revoked.len(),
        machines: first_names(ledger, &revoked),
    });
    let answered = (!spoken.is_empty()).then(|| RuledOutView {
        rule: "have answered it, are at it or did not begin it, or are of one owner with a machine that is"
            .to_owned(),
        count: spoken.len(),
        machines: first_names(ledger, &spoken),
    });
    let remedies = remedies(ledger, task, &spoken);
    let ratings = rated_by_policy(ledger, at, task).into_iter().filter(|(on, _)| !spoken.contains(on));
    let rated = |(on, score): (MachineId, f64)| Rating { machine: ledger.agent(on).name.clone(), score };
    let ratings: Vec<Rating> = ratings.map(rated).collect();
    let scores_are = (!ratings.is_empty()).then(|| ledger.recipe().ratings_are());
    ExplanationView {
        version: VERSION,
        at_s: at.seconds(),
        summary,
        ruled_out: ruled_out.chain(passed_over).chain(revoked).chain(answered).collect(),
        ratings,
        remedies,
        starts: None,
        scores_are,
    }
}

/// What would help a task, each by itself. Where some machine could take it already, no other machine's change would.
fn remedies(ledger: &Ledger, task: TaskId, spoken: &[MachineId]) -> Vec<String> {
    let class = ledger.grid().task(task).class();
    let among = explanation_without(ledger, class, spoken);
    let kinds = dimensions();
    let of_machines = among.remedies.iter().filter(|_| among.able == 0);
    let of_machines: Vec<String> =
        of_machines.map(|remedy| words::change(&discreet::remedy(remedy), &kinds)).collect();
    let others = (of_machines.is_empty() && among.able == 0 && !spoken.is_empty())
        .then(|| "another machine, of an owner none of whose machines was asked".to_owned());
    let again = others.as_ref().and_then(|_| of_those_that_refused(ledger, task));
    let of_rules = waits::remedies(ledger, task);
    match (&of_machines[..], &of_rules[..]) {
        // It needs both.
        ([machines], [rule]) => vec![format!("{rule}; and {machines}")],
        _ => of_machines.into_iter().chain(others).chain(again).chain(of_rules).collect(),
    }
}

/// What to do where machines did not begin a task, and are not asked for it again.
fn of_those_that_refused(ledger: &Ledger, task: TaskId) -> Option<String> {
    let refused: Vec<MachineId> = ledger.grid().comparison(task)?.refused().collect();
    let names = first_names(ledger, &refused).join(", ");
    (!refused.is_empty())
        .then(|| format!("once it is submitted again: {names} did not begin it (`gleaner history` says why)"))
}

/// The machines that may not take a task any more, where several have to answer it.
fn spoken(ledger: &Ledger, task: TaskId) -> Vec<MachineId> {
    let grid = ledger.grid();
    let apart = if grid.comparison(task).is_some() { grid.apart_from(task) } else { Vec::new() };
    apart.into_iter().filter(|on| !ledger.agent(*on).forgotten).collect()
}

/// The machines that could take tasks of a class, and are listed as revoked.
fn revoked(ledger: &Ledger, class: TaskClassId) -> Vec<MachineId> {
    let agents = ledger.agents().iter().enumerate();
    let listed = agents.filter(|(_, agent)| agent.revoked && !agent.forgotten);
    let listed = listed.map(|(index, _)| MachineId::new(index));
    listed.filter(|on| ledger.grid().seconds_per_op(class, *on).is_finite()).collect()
}

fn first_names(ledger: &Ledger, machines: &[MachineId]) -> Vec<String> {
    machines.iter().take(NAMES_MAX).map(|on| ledger.agent(*on).name.clone()).collect()
}

/// Why machines take no tasks, where that is what rules them out.
fn why_closed(ledger: &Ledger, condition: &Condition) -> String {
    if *condition != Condition::IsOpen {
        return String::new();
    }
    let is_closed =
        |index: usize| ledger.grid().machine(MachineId::new(index)).availability() != Availability::Open;
    let closed = ledger.agents().iter().enumerate();
    let closed = closed.filter(|(index, agent)| !agent.revoked && is_closed(*index));
    let why = |agent: &Agent| if agent.lost { Some("away".to_owned()) } else { agent.why() };
    let reasons: BTreeSet<String> = closed.filter_map(|(_, agent)| why(agent)).collect();
    match reasons.len() {
        0 => String::new(),
        1 => reasons.first().map_or(String::new(), |why| format!(": {why}")),
        _ => ", for several reasons: see `gleaner machines`".to_owned(),
    }
}

/// The machines by the rule in force: by its score, or by how soon each would be done.
fn rated_by_policy(ledger: &Ledger, at: Time, task: TaskId) -> Vec<(MachineId, f64)> {
    let (grid, class) = (ledger.grid(), ledger.grid().task(task).class());
    let policy = ledger.scheduler().policy();
    let length = policy.length(grid, task);
    ledger.recipe().ratings(grid, at, (class, length), &|run| policy.expected_length(grid, at, run))
}

/// Some of the machines that each condition is told of.
fn failing_machines(ledger: &Ledger, class: TaskClassId) -> BTreeMap<Condition, Vec<String>> {
    let mut names: BTreeMap<Condition, Vec<String>> = BTreeMap::new();
    let listed = ledger.agents().iter().enumerate().filter(|(_, agent)| !agent.revoked);
    for (on, conditions) in obstacles(ledger.grid(), class, listed.map(|(index, _)| MachineId::new(index))) {
        let told = conditions.into_iter().enumerate();
        let told = told.filter(|(place, condition)| *place == 0 || !condition.is_passing());
        for (_, condition) in told {
            let named = names.entry(tried::condition(condition)).or_default();
            if named.len() < NAMES_MAX {
                named.push(ledger.agent(on).name.clone());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_core::DECISIONS_MAX;
    use gleaner_wire::api::Actor;
    use gleaner_wire::job::TaskList;
    use gleaner_wire::session::Profile;

    /// More than the policy decides at once.
    #[test]
    fn a_preview_counts_all_starts() {
        let (slots, token) = (2_048, "t".to_owned());
        let machines = DECISIONS_MAX as u32 / slots + 1;
        let mut ledger = Ledger::new();
        let mut add = |fact: Fact| ledger.apply(&Entry { at: Time::ZERO, fact });
        let (expires, by) = (Time::NEVER, Actor::Coordinator);
        add(Fact::JoinTokenIssued { token: token.clone(), expires, uses: machines, owner: None, by });
        for number in 0..machines {
            let (agent, name) = (MachineId::new(number as usize), format!("m{number}"));
            let (key, profile) = (name.clone(), Profile::new([1.0; 3], slots));
            add(Fact::AgentEnrolled { agent, name, key, token: token.clone(), profile: profile.clone() });
            add(Fact::AgentStarted { agent, incarnation: 1, profile, brings: Vec::new() });
        }
        let tasks = TaskList::Array { first: 1, last: machines * slots, step: 1 };
        let spec = Arc::new(JobSpec { tasks, ..JobSpec::new(["true"]) });
        let preview = preview(ledger, (Time::ZERO, None), "ada", &spec).expect("it has tasks");
        let starts: Vec<u32> = preview.starts.iter().map(|start| start.tasks).collect();
        assert_eq!((starts, preview.waiting), (vec![slots; machines as usize], 0));
    }
}
