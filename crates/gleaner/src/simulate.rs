//! `gleaner simulate`.

mod brokering;
mod figures;
mod loaded;
mod log;
mod peers;
mod report;
mod results;
mod sites;
mod summary;
mod tables;

pub(crate) use loaded::{Loaded, Measured};

use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, progress, stdout};
use figures::Figures;
use gleaner_policy::AnyPolicy;
use gleaner_report::numbers::grouped;
use gleaner_sim::{Saved, Simulation};
use gleaner_units::Time;
use gleaner_workload::brokering::is_brokering;
use gleaner_workload::sites::SitesScenario;
use gleaner_workload::{Experiment, PeersScenario, Scenario};
use indicatif::ProgressBar;
use rayon::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};
use summary::{SeedsSummary, Summary};

/// How often a run looks up from its events: for progress, Ctrl-C and checkpoints.
const EVENTS_BETWEEN_LOOKS: u32 = 20_000;

pub(crate) fn run(arguments: &SimulateArguments) -> Outcome {
    interrupt::listen();
    if let Some(file) = &arguments.log.swf {
        return log::run(arguments, file);
    }
    if arguments.scenario.as_ref().is_some_and(SitesScenario::is_at) {
        return sites::run(arguments);
    }
    let (scenario, overrides) = named(arguments)?;
    if PeersScenario::is_at(scenario)? {
        return peers::run(arguments, scenario, &overrides);
    }
    if is_brokering(scenario)? {
        return brokering::run(arguments, scenario, &overrides);
    }
    let experiment = Experiment::of(Scenario::load(scenario, &overrides)?)?;
    check_places(arguments)?;
    match arguments.seeds {
        None => run_once(arguments, &experiment),
        Some(seeds) => run_seeds(arguments, &experiment, seeds),
    }
}

/// The scenario, and what is laid over it.
fn named(arguments: &SimulateArguments) -> Result<(&Path, Vec<String>), Failure> {
    let mut overrides = arguments.overrides.clone();
    if let [_, _, ..] = arguments.policy[..] {
        let found = "--policy: found several for a scenario; expected one, or --swf";
        return Err(Failure::Usage(found.to_owned()));
    }
    overrides.extend(arguments.policy.iter().map(|name| format!("policy.preset=\"{name}\"")));
    overrides.extend(arguments.seed.iter().map(|seed| format!("run.seed={seed}")));
    let scenario = arguments.scenario.as_ref().expect("a scenario where there is no log");
    Ok((scenario, overrides))
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
    let mut run = start(arguments, experiment)?;
    let bar = progress::bar(experiment.setup.tasks.len() as u64, "tasks");
    let ended = advance(arguments, &mut OfMachines(&mut run, experiment.recipe.to_string()), &bar)?;
    bar.finish_and_clear();
    let summary = Summary::of(experiment, experiment.seed, &run);
    if let Some(dir) = &arguments.out {
        results::write_run(dir, experiment, &run, &summary)?;
    }
    if arguments.json {
        stdout::print_json(&summary)?;
    } else {
        stdout::print(describe(&summary, arguments.out.as_deref()))?;
    }
    match ended {
        Ended::Whole => Ok(()),
        Ended::Interrupted => Err(Failure::Interrupted(what_is_kept_of(arguments, &run))),
    }
}

/// From the beginning, or from where a checkpoint left off.
fn start<'a>(
    arguments: &SimulateArguments,
    experiment: &'a Experiment,
) -> Result<Simulation<'a, AnyPolicy>, Failure> {
    let policy = experiment.recipe.build();
    let Some(file) = &arguments.resume else {
        let run = Simulation::new(&experiment.setup, policy);
        // A run that may be resumed keeps what the resumed run may be asked to write.
        let keeps = arguments.out.is_some() || arguments.checkpoint.is_some();
        return Ok(if keeps { run.with_timeline() } else { run });
    };
    let saved = Saved::from_bytes(&read_saved(file)?);
    saved
        .and_then(|saved| {
            Simulation::restore(&experiment.setup, policy, &experiment.recipe.to_string(), saved)
        })
        .map_err(|error| Failure::Usage(format!("--resume {}: {error}", file.display())))
}

fn read_saved(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::Usage(format!("--resume {}: {error}", file.display())))
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

fn advance(arguments: &SimulateArguments, run: &mut impl Steps, bar: &ProgressBar) -> Result<Ended, Failure> {
    let mut saved_at = Instant::now();
    loop {
        let mut going = true;
        for _ in 0..EVENTS_BETWEEN_LOOKS {
            going = run.step();
            if !going {
                break;
            }
        }
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
    let done = format!("{finished} of {all} {what} had ended by {now} s");
    let written = arguments.out.as_ref().map(|dir| format!("; what is done so far is in {}", dir.display()));
    let saved = arguments.checkpoint.as_ref().map(|file| format!("; go on with --resume {}", file.display()));
    done + &written.unwrap_or_default() + &saved.unwrap_or_default()
}

/// All seeds, on all cores. Each run's folder is written as soon as it is done.
fn run_seeds(arguments: &SimulateArguments, experiment: &Experiment, count: u64) -> Outcome {
    let bar = progress::bar(count, "runs");
    let runs: Result<Vec<Option<Summary>>, Failure> = (0..count)
        .into_par_iter()
        .map(|offset| {
            let summary = run_seed(arguments, experiment, experiment.seed.saturating_add(offset))?;
            bar.inc(1);
            Ok(summary)
        })
        .collect();
    bar.finish_and_clear();
    let runs: Vec<Summary> = runs?.into_iter().flatten().collect();
    if interrupt::asked() {
        return Err(Failure::Interrupted(format!("{} of {count} runs were done", runs.len())));
    }
    let summary = SeedsSummary::of(runs);
    if let Some(dir) = &arguments.out {
        files::write_json(dir, "summary.json", &summary)?;
    }
    if arguments.json {
        stdout::print_json(&summary)
    } else {
        stdout::print(describe_seeds(&summary, arguments.out.as_deref()))
    }
}

/// None if it was stopped before its end.
fn run_seed(
    arguments: &SimulateArguments,
    experiment: &Experiment,
    seed: u64,
) -> Result<Option<Summary>, Failure> {
    let run = Simulation::new(&experiment.setup, experiment.recipe.build());
    let mut run = if arguments.out.is_some() { run.with_timeline() } else { run };
    while run.step() {
        if run.progress().events.is_multiple_of(EVENTS_BETWEEN_LOOKS.into()) && interrupt::asked() {
            return Ok(None);
        }
    }
    let summary = Summary::of(experiment, seed, &run);
    if let Some(dir) = &arguments.out {
        results::write_run(&dir.join(format!("seed-{seed}")), experiment, &run, &summary)?;
    }
    Ok(Some(summary))
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
    if let Some(budget) = &summary.budget {
        let [recharge, most, paid] =
            [budget.recharge, budget.spent_max(), budget.paid].map(|sum| grouped(sum.count()));
        lines.push(("spent", format!("{paid} credits; in one period {most} of {recharge} at most")));
    }
    lines.extend(out.map(|dir| ("report", dir.join("report.html").display().to_string())));
    aligned(lines)
}

fn describe_seeds(summary: &SeedsSummary, out: Option<&Path>) -> String {
    let SeedsSummary { policy, relocate, seeds, unfinished, makespan_s, moves, .. } = summary;
    let mut lines = vec![
        ("policy", format!("{policy}, relocation {}", relocate.unwrap_or("none"))),
        ("runs", format!("{}, {unfinished} tasks unfinished in all", seeds.len())),
        (
            "makespan",
            format!("{:.3} s on average, {:.3} to {:.3} s", makespan_s.mean, makespan_s.min, makespan_s.max),
        ),
        ("moves", format!("{:.1} on average", moves.mean)),
    ];
    lines.extend(out.map(|dir| ("results", dir.join("summary.json").display().to_string())));
    aligned(lines)
}

fn aligned(lines: Vec<(&str, String)>) -> String {
    lines.into_iter().map(|(what, value)| format!("{what:12} {value}\n")).collect()
}
