//! A task of a scenario, as things stand when it arrives.

use super::kept::{Back, Called};
use super::length::Believed;
use crate::cli::ExplainArguments;
use crate::failure::Failure;
use crate::simulate::Choice;
use crate::{Outcome, stdout};
use gleaner_core::explain::words::{change, failing};
use gleaner_core::{Explanation, Grid, Run};
use gleaner_sim::Simulation;
use gleaner_units::{MachineId, TaskId};
use gleaner_workload::{Experiment, Scenario};
use serde::Serialize;
use std::path::Path;

/// Further machines are counted, not listed.
const RATINGS_SHOWN: usize = 20;

#[derive(Serialize)]
struct Explained<'a> {
    version: u32,
    task: &'a str,
    arrival_s: f64,
    policy: &'a str,
    #[serde(flatten)]
    explanation: Explanation,
    /// Where it starts as it arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_on: Option<&'a str>,
    /// Where further runs of it start then, of which the rule did not choose the machine by these scores alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies_on: Vec<&'a str>,
    /// Where a queue keeps cores, and the task does not start as it arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<Back>,
    /// What the policy believes of its length, where that is not what is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    believed: Option<Believed>,
    scores: Vec<Scored<'a>>,
    /// Why the rule itself passes machines over that could run it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<String>,
}

#[derive(Serialize)]
struct Scored<'a> {
    machine: &'a str,
    score: f64,
    chosen: bool,
}

pub(super) fn run(arguments: &ExplainArguments, task: &str) -> Outcome {
    let scenario = Path::new(&arguments.subject);
    let choice = Choice::named(&arguments.overrides, arguments.policy.as_ref())?;
    let experiment = Experiment::of(choice.load(|set| Scenario::load(scenario, set))?)?;
    if experiment.groups.is_some() {
        let found = "a scenario of groups, of which each knows something else; expected one without [groups]";
        return Err(Failure::Usage(format!("{}: found {found}", scenario.display())));
    }
    let position = experiment.task_names.iter().position(|name| name == task);
    let Some(position) = position else {
        let scenario = scenario.display();
        return Err(Failure::Usage(format!("{scenario} has no task called \"{task}\"")));
    };
    let mut run = Simulation::new(&experiment.setup, experiment.recipe.build()).with_seed(experiment.seed);
    run.run_until_submission(TaskId::new(position));
    let before = run.scheduler().grid().clone();
    run.run_through_instant();
    let id = TaskId::new(position);
    // Of several runs the first is on the machine that the rule chose; each further one was added to those before it.
    let counted = run.scheduler().grid().runs_of(id).filter(|of_task| of_task.counts());
    let mut placed: Vec<MachineId> = counted.map(Run::on).collect();
    placed.reverse();
    if placed.is_empty() {
        placed.extend(run.history().tasks()[position].machine);
    }
    let called = Called {
        task: &|task| experiment.task_names.id(task.index()).to_owned(),
        machine: &|machine| experiment.machine_names[machine.index()].clone(),
    };
    let held_back_by = if placed.is_empty() { Back::of(&run, id, &called) } else { None };
    let why = (held_back_by, Believed::of(&run, id));
    let explained = explained(task, &experiment, &before, (position, &placed), why);
    if arguments.grid.json {
        stdout::print_json(&explained)
    } else {
        stdout::print(describe(&explained, &experiment))
    }
}

fn explained<'a>(
    task: &'a str,
    experiment: &'a Experiment,
    grid: &Grid,
    (position, placed): (usize, &[MachineId]),
    (held_back_by, believed): (Option<Back>, Option<Believed>),
) -> Explained<'a> {
    let class = experiment.setup.tasks.classes[position];
    let arrival = experiment.setup.tasks.arrivals[position];
    // Where a task goes that is planned depends on what else is in its batch: its length says nothing of that.
    let ratings =
        experiment.recipe.ratings(grid, arrival, (class, None), &|run| grid.declared_length(run.task));
    let all = grid.machines().len();
    let passed_over = experiment.recipe.passed_over(grid, class).into_iter();
    let passed_over = passed_over
        .map(|(reason, machines)| format!("{} of {all} machines {}", machines.len(), reason.in_words()));
    let name = |machine: MachineId| experiment.machine_names[machine.index()].as_str();
    Explained {
        version: 1,
        task,
        arrival_s: arrival.seconds(),
        policy: &experiment.policy,
        explanation: Explanation::of(grid, class),
        starts_on: placed.first().copied().map(name),
        copies_on: placed.iter().skip(1).copied().map(name).collect(),
        held_back_by,
        believed,
        scores: ratings
            .into_iter()
            .map(|(machine, score)| Scored {
                machine: name(machine),
                score,
                chosen: placed.first() == Some(&machine),
            })
            .collect(),
        passed_over: passed_over.collect(),
    }
}

fn describe(explained: &Explained<'_>, experiment: &Experiment) -> String {
    let Explained { task, arrival_s, policy, explanation, scores, .. } = explained;
    let Explanation { machines, able, ruled_out, remedies } = explanation;
    let mut text =
        format!("{task} arrives at {arrival_s} s; {able} of {machines} machines can take it then\n");
    if !ruled_out.is_empty() {
        text += "\nmachines ruled out\n";
    }
    for ruled in ruled_out {
        let alone = if ruled.alone == ruled.machines {
            String::new()
        } else {
            format!(" ({} by this alone)", ruled.alone)
        };
        text += &format!(
            "  {:>6}  {}{alone}\n",
            ruled.machines,
            failing(&ruled.condition, &experiment.dimensions)
        );
    }
    if !remedies.is_empty() {
        text += "\nit could also run\n";
    }
    for remedy in remedies {
        text += &format!("  {}\n", change(remedy, &experiment.dimensions));
    }
    if experiment.recipe.plans() {
        let when = experiment.recipe.when;
        return text + &format!("\nunder {policy} it is planned with all tasks that wait, {when}\n");
    }
    if let Some(believed) = &explained.believed {
        text += &format!("\n{}\n", believed.words());
    }
    if let Some(back) = &explained.held_back_by {
        text += &format!("\nunder {policy} it waits: {}\n", back.words());
    }
    if let ([], Some(machine)) = (&scores[..], explained.starts_on) {
        return text + &format!("\nunder {policy} it starts at once on {machine}\n");
    }
    if scores.is_empty() && explained.held_back_by.is_some() {
        return text;
    }
    text += &format!("\nscores under {policy}, best first\n");
    for Scored { machine, score, chosen } in scores.iter().take(RATINGS_SHOWN) {
        let mark = match (*chosen, explained.copies_on.contains(machine)) {
            (true, _) => "  ← chosen",
            (false, true) => "  ← copy",
            (false, false) => "",
        };
        text += &format!("  {}  {machine}{mark}\n", crate::columns::score_cell(*score));
    }
    for passed_over in &explained.passed_over {
        text += &format!("  passed over: {passed_over}\n");
    }
    match scores.len() {
        0 => text += "  none: it waits until a machine that it can use takes it\n",
        count if count > RATINGS_SHOWN => text += &format!("  … and {} more\n", count - RATINGS_SHOWN),
        _ => {}
    }
    text
}
