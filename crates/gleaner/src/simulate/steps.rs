//! A run that goes on event by event: from its beginning or a checkpoint, to its end or until somebody interrupts it.

use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, stdout};
use gleaner_policy::AnyPolicy;
use gleaner_sim::{Saved, Simulation};
use gleaner_units::Time;
use gleaner_workload::Experiment;
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often a run looks up from its events: for progress, Ctrl-C and checkpoints.
const EVENTS_BETWEEN_LOOKS: u32 = 20_000;

/// A long run should not end at a folder that cannot be written.
pub(super) fn check_places(arguments: &SimulateArguments) -> Outcome {
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

/// From the beginning, or from where a checkpoint left off.
pub(super) fn start<'a>(
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
pub(super) fn check_seed(file: &Path, found: u64, expected: u64) -> Outcome {
    if found == expected {
        return Ok(());
    }
    let file = file.display();
    Err(Failure::Usage(format!("--resume {file}: found a run with seed {found}; expected seed {expected}")))
}

pub(super) fn read_saved(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let found = match error.kind() {
            ErrorKind::NotFound => "found no such file; expected one that --checkpoint wrote".to_owned(),
            _ => error.to_string(),
        };
        Failure::Usage(format!("--resume {}: {found}", file.display()))
    })
}

pub(super) enum Ended {
    Whole,
    Interrupted,
}

/// A run that goes on event by event, and can be saved.
pub(super) trait Steps {
    /// One event; false when nothing more can happen.
    fn step(&mut self) -> bool;
    /// How many tasks or jobs are done, and the simulated moment.
    fn done(&self) -> (usize, Time);
    /// All that it takes to go on, as a file's contents.
    fn saved(&self) -> Vec<u8>;
}

/// A run of machines, under the rule that its file names.
pub(super) struct OfMachines<'a, 'b>(pub(super) &'b mut Simulation<'a, AnyPolicy>, pub(super) String);

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
pub(super) fn finish(mut step: impl FnMut() -> bool) -> Outcome {
    while (0..EVENTS_BETWEEN_LOOKS).all(|_| step()) {
        if interrupt::asked() {
            return Err(Failure::Interrupted("a run was not done".to_owned()));
        }
    }
    Ok(())
}

pub(super) fn advance(
    arguments: &SimulateArguments,
    run: &mut impl Steps,
    bar: &ProgressBar,
) -> Result<Ended, Failure> {
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

/// Says what came of a run, and what is kept of one that was interrupted.
pub(super) fn conclude(
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

pub(super) fn what_is_kept_of(arguments: &SimulateArguments, run: &Simulation<'_, AnyPolicy>) -> String {
    let now = run.progress();
    what_is_kept(arguments, (now.finished, now.tasks), "tasks", now.now)
}

pub(super) fn what_is_kept(
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

pub(super) fn how_to_go_on(arguments: &SimulateArguments) -> String {
    let saved = arguments.checkpoint.as_ref().map(|file| format!("; go on with --resume {}", file.display()));
    saved.unwrap_or_default()
}
