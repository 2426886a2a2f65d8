//! A run that goes on event by event: from its beginning or a checkpoint, to its end or until somebody interrupts it.

use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, progress, stdout};
use gleaner_policy::AnyPolicy;
use gleaner_sim::{Lasting, Outside, Parties, Simulation, save};
use gleaner_units::Time;
use gleaner_workload::Experiment;
use serde::Serialize;
use std::fmt::Display;
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
    let policy = || experiment.recipe.build();
    let Some(file) = &arguments.resume else {
        let run = Simulation::new(&experiment.setup, policy()).with_seed(experiment.seed);
        // A run that may be resumed keeps what the resumed run may be asked to write.
        let keeps = arguments.out.is_some() || arguments.checkpoint.is_some();
        return Ok(if keeps { run.with_timeline() } else { run });
    };
    let rule = experiment.recipe.to_string();
    let run = Simulation::restore(&experiment.setup, policy, &rule, &read_saved(file)?)
        .map_err(|error| not_resumed(file, error))?;
    check_seed(file, run.scheduler().grid().seed(), experiment.seed)?;
    Ok(run)
}

/// A run that goes on keeps its seed: another would not be heeded.
pub(super) fn check_seed(file: &Path, found: u64, expected: u64) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(not_resumed(file, format!("found a run with seed {found}; expected seed {expected}")))
}

pub(super) fn read_saved(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let found = match error.kind() {
            ErrorKind::NotFound => "found no such file; expected one that --checkpoint wrote".to_owned(),
            _ => error.to_string(),
        };
        not_resumed(file, found)
    })
}

/// Why a run cannot go on from a file.
pub(super) fn not_resumed(file: &Path, why: impl Display) -> Failure {
    Failure::Usage(format!("--resume {}: {why}", file.display()))
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
        self.0.save(&self.1)
    }
}

/// A run of several parties, under the rule that its file names.
pub(super) struct OfParties<'a, O: Outside> {
    pub(super) parties: Parties<'a, AnyPolicy, O>,
    pub(super) rule: String,
    /// How many tasks or jobs are done.
    pub(super) done: fn(&O) -> usize,
}

impl<'a, O: Lasting<'a, Letter: Clone>> Steps for OfParties<'a, O> {
    fn step(&mut self) -> bool {
        self.parties.step()
    }

    fn done(&self) -> (usize, Time) {
        ((self.done)(self.parties.outside()), self.parties.now())
    }

    fn saved(&self) -> Vec<u8> {
        save(&self.parties, &self.rule)
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

/// How far a run came.
pub(super) struct Reached {
    is_whole: bool,
    done: usize,
    all: u64,
    what: &'static str,
    now: Time,
}

impl Reached {
    /// Refuses a run that was interrupted; of what it did so far, the tables may be in a folder.
    pub(super) fn check_whole(&self, arguments: &SimulateArguments, written: Option<&Path>) -> Outcome {
        if self.is_whole {
            return Ok(());
        }
        let Self { done, all, what, now, .. } = self;
        let written = written.map(|dir| format!("; what is done so far is in {}", dir.display()));
        let saved = arguments.checkpoint.as_ref();
        let saved = saved.map(|file| format!("; go on with --resume {}", file.display()));
        Err(Failure::Interrupted(format!(
            "{done} of {all} {what} had ended by {now} s{}{}",
            written.unwrap_or_default(),
            saved.unwrap_or_default()
        )))
    }
}

/// To its end, or until somebody interrupts it, with a checkpoint now and then; it has so many tasks or jobs.
pub(super) fn advance(
    arguments: &SimulateArguments,
    run: &mut impl Steps,
    (all, what): (usize, &'static str),
) -> Result<Reached, Failure> {
    let all = all as u64;
    let bar = progress::bar(all, what);
    let mut saved_at = Instant::now();
    loop {
        let going = (0..EVENTS_BETWEEN_LOOKS).all(|_| run.step());
        let (done, now) = run.done();
        bar.set_position(done as u64);
        bar.set_message(format!("at {:.0} s", now.seconds()));
        let stop = interrupt::asked();
        if let Some(file) = &arguments.checkpoint {
            let due = saved_at.elapsed() >= Duration::from_secs(arguments.checkpoint_every);
            if stop || due || !going {
                write_saved(file, &run.saved())?;
                saved_at = Instant::now();
            }
        }
        if stop || !going {
            bar.finish_and_clear();
            return Ok(Reached { is_whole: !going, done, all, what, now });
        }
    }
}

fn write_saved(file: &Path, saved: &[u8]) -> Outcome {
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
    reached: &Reached,
) -> Outcome {
    if arguments.json {
        stdout::print_json(summary)?;
    } else {
        stdout::print(text)?;
    }
    reached.check_whole(arguments, arguments.out.as_deref())
}
