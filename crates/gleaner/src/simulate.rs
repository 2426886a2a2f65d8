//! `gleaner simulate`.

mod answers;
mod brokering;
mod choice;
mod compare;
mod figures;
mod groups;
mod loaded;
mod log;
mod peers;
mod ran;
mod report;
mod results;
mod service;
mod sites;
mod summary;
mod tables;

pub(crate) use loaded::{Loaded, service_measures};
pub(crate) use log::{log_numbers, log_processors};

use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, progress, stdout};
use choice::Choice;
use gleaner_policy::AnyPolicy;
use gleaner_report::numbers::grouped;
use gleaner_sim::{Saved, Simulation, Waste};
use gleaner_units::Time;
use gleaner_workload::sites::{self as over, OverSites};
use gleaner_workload::{Experiment, InputError, PeersScenario, Scenario, Shake};
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};
use summary::Summary;

/// How often a run looks up from its events: for progress, Ctrl-C and checkpoints.
const EVENTS_BETWEEN_LOOKS: u32 = 20_000;

pub(crate) fn run(arguments: &SimulateArguments) -> Outcome {
    interrupt::listen();
    if let Some(file) = &arguments.log.swf {
        return log::run(arguments, file);
    }
    arguments.log.reading.check_no_log()?;
    let scenario = arguments.scenario.as_ref().expect("a scenario where there is no log");
    if over::is_at(scenario)? {
        return run_over_sites(arguments, scenario);
    }
    if PeersScenario::is_at(scenario)? {
        return run_among_peers(arguments, scenario);
    }
    let load = |choice: &Choice| {
        let mut experiment = choice.load(|set| experiment(scenario, set))?;
        choice.name(&mut experiment.policy);
        Ok(experiment)
    };
    let experiments: Vec<Experiment> =
        choices(arguments)?.iter().map(load).collect::<Result<_, InputError>>()?;
    if let ([only], false) = (&experiments[..], compare::is_wanted(arguments)) {
        check_places(arguments)?;
        return run_once(arguments, only);
    }
    let names: Vec<String> = experiments.iter().map(|experiment| experiment.policy.clone()).collect();
    compare::run(arguments, &names, compare::seeds(arguments, experiments[0].seed), |policy, seed| {
        run_seed(arguments, &experiments[policy], seed)
    })
}

/// A scenario of machines. What may be missing there is said once, however often the scenario is read.
fn experiment(file: &Path, overrides: &[String]) -> Result<Experiment, InputError> {
    static SAID: Once = Once::new();
    let scenario = Scenario::load(file, overrides)?;
    if scenario.lacks_weights {
        let weights = scenario.dimensions.iter().map(|kind| format!("{kind} = 1.0"));
        let weights = weights.collect::<Vec<_>>().join(", ");
        SAID.call_once(|| {
            anstream::eprintln!(
                "note: [work] weights is not there, so an operation of each kind counts alike beside a machine's speed of \
                 that kind: times may come out far too long; say it as weights = {{ {weights} }}"
            );
        });
    }
    Experiment::of(scenario)
}

fn run_among_peers(arguments: &SimulateArguments, file: &Path) -> Outcome {
    let load = |choice: &Choice| {
        let mut scenario = choice.load(|set| PeersScenario::load(file, set))?;
        choice.name(&mut scenario.policy);
        Ok(scenario)
    };
    let scenarios: Vec<PeersScenario> =
        choices(arguments)?.iter().map(load).collect::<Result<_, InputError>>()?;
    peers::run(arguments, &scenarios)
}

fn run_over_sites(arguments: &SimulateArguments, file: &Path) -> Outcome {
    let (mut split, mut brokered) = (Vec::new(), Vec::new());
    for choice in choices(arguments)? {
        match choice.load(|set| over::load(file, set))? {
            OverSites::Split(mut scenario) => {
                scenario.policy = scenario.policy.map(|policy| choice.called(policy));
                split.push(*scenario);
            }
            OverSites::Brokered(mut scenario) => {
                choice.name(&mut scenario.policy);
                brokered.push(*scenario);
            }
        }
    }
    if brokered.is_empty() { sites::run(arguments, &split) } else { brokering::run(arguments, &brokered) }
}

/// What is laid over the scenario, for each of the policies that were named; once, where none was.
fn choices(arguments: &SimulateArguments) -> Result<Vec<Choice>, Failure> {
    let SimulateArguments { policy: policies, overrides, seed, .. } = arguments;
    if let Some((_, twice)) = policies.iter().enumerate().find(|(at, name)| policies[..*at].contains(name)) {
        return Err(Failure::Usage(format!("--policy: found {twice} twice; expected each once")));
    }
    let seed = seed.map(|seed| format!("run.seed={seed}"));
    let of = |policy: Option<&String>| Choice::of(overrides, policy, seed.as_ref());
    Ok(if policies.is_empty() {
        vec![of(None)]
    } else {
        policies.iter().map(|policy| of(Some(policy))).collect()
    })
}

/// A long run should not end at a folder that cannot be written.
fn check_places(arguments: &SimulateArguments) -> Outcome {
    if let Some(dir) = &arguments.out {
        files::check_writable(dir).map_err(|error| Failure::Usage(format!("--out: {error}")))?;
    }
    let Some(file) = &arguments.checkpoint else { return Ok(()) };
    let folder = files::folder_of(file);
    if file.is_dir() || !folder.is_dir() {
        let found = if file.is_dir() { "a folder" } else { "no such folder" };
        let expected = "expected a file in a folder that is there";
        return Err(Failure::Usage(format!("--checkpoint {}: found {found}; {expected}", file.display())));
    }
    files::check_writable(folder).map_err(|error| Failure::Usage(format!("--checkpoint: {error}")))
}

fn run_once(arguments: &SimulateArguments, experiment: &Experiment) -> Outcome {
    if experiment.groups.is_some() {
        return groups::run_once(arguments, experiment);
    }
    let mut run = start(arguments, experiment)?;
    let bar = progress::bar(experiment.setup.tasks.len() as u64, "tasks");
    let ended = advance(arguments, &mut OfMachines(&mut run, experiment.recipe.to_string()), &bar)?;
    bar.finish_and_clear();
    let summary = Summary::of(experiment, experiment.seed, &run);
    if let Some(dir) = &arguments.out {
        results::write_run(dir, experiment, &run, &summary)?;
    }
    let text = describe(&summary, arguments.out.as_deref());
    conclude(arguments, &summary, text, (ended, what_is_kept_of(arguments, &run)))
}

/// Says what came of a run, and what is kept of one that was interrupted.
fn conclude(
    arguments: &SimulateArguments,
    summary: &impl Serialize,
    text: String,
    (ended, kept): (Ended, String),
) -> Outcome {
    if arguments.json {
        stdout::print_json(summary)?;
    } else {
        stdout::print(text)?;
    }
    match ended {
        Ended::Whole => Ok(()),
        Ended::Interrupted => Err(Failure::Interrupted(kept)),
    }
}

/// From the beginning, or from where a checkpoint left off.
fn start<'a>(
    arguments: &SimulateArguments,
    experiment: &'a Experiment,
) -> Result<Simulation<'a, AnyPolicy>, Failure> {
    let policy = experiment.recipe.build();
    let Some(file) = &arguments.resume else {
        let run = Simulation::new(&experiment.setup, policy).with_seed(experiment.seed);
        // A run that may be resumed keeps what the resumed run may be asked to write.
        let keeps = arguments.out.is_some() || arguments.checkpoint.is_some();
        return Ok(if keeps { run.with_timeline() } else { run });
    };
    let rule = experiment.recipe.to_string();
    let saved = Saved::from_bytes(&read_saved(file)?);
    let run = saved
        .and_then(|saved| Simulation::restore(&experiment.setup, policy, &rule, saved))
        .map_err(|error| Failure::Usage(format!("--resume {}: {error}", file.display())))?;
    check_seed(file, run.scheduler().grid().seed(), experiment.seed)?;
    Ok(run)
}

/// A run that goes on keeps its seed: another would not be heeded.
fn check_seed(file: &Path, found: u64, expected: u64) -> Outcome {
    if found == expected {
        return Ok(());
    }
    let file = file.display();
    Err(Failure::Usage(format!("--resume {file}: found a run with seed {found}; expected seed {expected}")))
}

fn read_saved(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let found = match error.kind() {
            ErrorKind::NotFound => "found no such file; expected one that --checkpoint wrote".to_owned(),
            _ => error.to_string(),
        };
        Failure::Usage(format!("--resume {}: {found}", file.display()))
    })
}

enum Ended {
    Whole,
    Interrupted,
}

/// A run that goes on event by event, and can be saved.
trait Steps {
    /// One event; false when nothing more can happen.
    fn step(&mut self) -> bool;
    /// How many tasks or jobs are done, and the simulated moment.
    fn done(&self) -> (usize, Time);
    /// All that it takes to go on, as a file's contents.
    fn saved(&self) -> Vec<u8>;
}

/// A run of machines, under the rule that its file names.
struct OfMachines<'a, 'b>(&'b mut Simulation<'a, AnyPolicy>, String);

impl Steps for OfMachines<'_, '_> {
    fn step(&mut self) -> bool {
        self.0.step()
    }

    fn done(&self) -> (usize, Time) {
        let now = self.0.progress();
        (now.finished, now.now)
    }

    fn saved(&self) -> Vec<u8> {
        self.0.save(&self.1).to_bytes()
    }
}

/// To its end, without a checkpoint.
fn finish(mut step: impl FnMut() -> bool) -> Outcome {
    while (0..EVENTS_BETWEEN_LOOKS).all(|_| step()) {
        if interrupt::asked() {
            return Err(Failure::Interrupted("a run was not done".to_owned()));
        }
    }
    Ok(())
}

fn advance(arguments: &SimulateArguments, run: &mut impl Steps, bar: &ProgressBar) -> Result<Ended, Failure> {
    let mut saved_at = Instant::now();
    loop {
        let going = (0..EVENTS_BETWEEN_LOOKS).all(|_| run.step());
        let (finished, now) = run.done();
        bar.set_position(finished as u64);
        bar.set_message(format!("at {:.0} s", now.seconds()));
        let stop = interrupt::asked();
        if let Some(file) = &arguments.checkpoint {
            let due = saved_at.elapsed() >= Duration::from_secs(arguments.checkpoint_every);
            if stop || due || !going {
                save(file, &run.saved())?;
                saved_at = Instant::now();
            }
        }
        match (going, stop) {
            (false, _) => return Ok(Ended::Whole),
            (true, true) => return Ok(Ended::Interrupted),
            (true, false) => {}
        }
    }
}

fn save(file: &Path, saved: &[u8]) -> Outcome {
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let dir = files::folder_of(file);
    files::write_file(dir, &name, |out| out.write_all(saved))?;
    Ok(())
}

fn what_is_kept_of(arguments: &SimulateArguments, run: &Simulation<'_, AnyPolicy>) -> String {
    let now = run.progress();
    what_is_kept(arguments, (now.finished, now.tasks), "tasks", now.now)
}

fn what_is_kept(
    arguments: &SimulateArguments,
    (finished, all): (usize, usize),
    what: &str,
    now: Time,
) -> String {
    let written = arguments.out.as_ref().map(|dir| format!("; what is done so far is in {}", dir.display()));
    format!(
        "{finished} of {all} {what} had ended by {now} s{}{}",
        written.unwrap_or_default(),
        how_to_go_on(arguments)
    )
}

fn how_to_go_on(arguments: &SimulateArguments) -> String {
    let saved = arguments.checkpoint.as_ref().map(|file| format!("; go on with --resume {}", file.display()));
    saved.unwrap_or_default()
}

/// One of several.
fn run_seed(arguments: &SimulateArguments, experiment: &Experiment, seed: u64) -> Result<Summary, Failure> {
    // Of several seeds the first stands for all.
    let is_drawn = seed == experiment.seed;
    let shaken = shake(arguments, seed).map(|shake| experiment.shaken(shake));
    let experiment = shaken.as_ref().unwrap_or(experiment);
    if experiment.groups.is_some() {
        return groups::run_seed(
            experiment,
            seed,
            compare::folder(arguments, &experiment.policy, seed).as_deref(),
        );
    }
    let with_liars = experiment.setup.answers.liars.is_some().then(|| experiment.with_liars_of(seed));
    let experiment = with_liars.as_ref().unwrap_or(experiment);
    let mut run = start(arguments, experiment)?.with_seed(seed);
    finish(|| run.step())?;
    let mut summary = Summary::of(experiment, seed, &run);
    if let Some(dir) = compare::folder(arguments, &experiment.policy, seed) {
        results::write_run(&dir, experiment, &run, &summary)?;
        summary.schedule = is_drawn.then(|| report::schedule(experiment, &run));
    }
    Ok(summary)
}

/// How the arrivals of a run are moved, if they are.
fn shake(arguments: &SimulateArguments, seed: u64) -> Option<Shake> {
    arguments.shake.map(|most| Shake { seed, most })
}

fn describe(summary: &Summary, out: Option<&Path>) -> String {
    let Summary { policy, relocate, tasks, unfinished, makespan_s, lower_bound_s, gap, moves, .. } = summary;
    let bound = match (lower_bound_s, gap) {
        (Some(bound), Some(gap)) => {
            format!("{bound:.3} s; the makespan is {:.2} % above it", 100.0 * gap)
        }
        (Some(bound), None) => format!("{bound:.3} s"),
        (None, _) => "none: no schedule ends all tasks".to_owned(),
    };
    let mut lines = vec![
        ("policy", format!("{policy}, relocation {}", relocate.unwrap_or("none"))),
        ("tasks", format!("{}, of which {} unfinished", grouped(*tasks as u64), grouped(*unfinished as u64))),
        ("makespan", format!("{makespan_s:.3} s")),
        ("lower bound", bound),
        ("moves", grouped(*moves)),
    ];
    lines.extend(summary.service.lines());
    if let Some(budget) = &summary.budget {
        let [recharge, most, paid] =
            [budget.recharge, budget.spent_max(), budget.paid].map(|sum| grouped(sum.count()));
        lines.push(("spent", format!("{paid} credits; in one period {most} of {recharge} at most")));
    }
    if let Some(between) = &summary.between {
        let handed_over = 100.0 * between.handed_over_share;
        let age = between.age_mean_s.map_or(String::new(), |age| {
            format!(", by what was known of their machines for {age:.2} s on average")
        });
        lines.push((
            "letters",
            format!("{:.2} a task, {} in all", between.letters_per_task, grouped(between.letters)),
        ));
        lines.push(("neighbours", format!("were handed {handed_over:.1} % of the runs{age}")));
    }
    if let Some(Waste { runs, ops }) = summary.wasted {
        let ops = grouped(ops.round() as u64);
        lines.push(("wasted", format!("{ops} operations, by {} runs beside faster ones", grouped(runs))));
    }
    lines.extend(summary.answers.iter().flat_map(answers::lines));
    lines.extend(out.map(|dir| ("report", dir.join("report.html").display().to_string())));
    aligned(lines)
}

fn aligned(lines: Vec<(&str, String)>) -> String {
    lines.into_iter().map(|(what, value)| format!("{what:12} {value}\n")).collect()
}
