//! `gleaner fetch`: the files that tasks left.

use crate::api::Api;
use crate::cli::FetchArguments;
use crate::columns::plural;
use crate::failure::Failure;
use crate::lacking::{self, Lacking};
use crate::logs::task_numbers;
use crate::which::{self, Chosen};
use crate::{Outcome, interrupt, progress, stdout};
use gleaner_agent::archive::{ArchiveError, Existing, Taking, place, unpack};
use gleaner_agent::beneath::open_root;
use gleaner_net::ClientError;
use gleaner_wire::api::{TaskPhase, TaskView};
use gleaner_wire::text::tamed;
use gleaner_wire::{BlobHash, JobId};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// What the folder is called in which files are until all of a task's are there.
const UNFINISHED: &str = ".gleaner-fetch-";

pub(crate) fn run(arguments: &FetchArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let jobs = which::chosen(&grid, &arguments.of)?;
    interrupt::listen();
    let mut documents = Vec::new();
    let mut outcomes = Vec::new();
    for chosen in &jobs {
        let Fetched { document, told, ended } = match fetch_job(&grid, chosen, &jobs, arguments) {
            // Of the others there may be something to fetch.
            Err(why) if why.is_refused() && jobs.len() > 1 => {
                outcomes.push((chosen.job, Err(why)));
                continue;
            }
            fetched => fetched?,
        };
        documents.push(document);
        if ended.is_ok() && !arguments.grid.json {
            stdout::print(told)?;
        }
        outcomes.push((chosen.job, ended));
    }
    if arguments.grid.json {
        stdout::print_jobs(&documents, jobs.len())?;
    }
    lacking::of_jobs(outcomes)
}

/// What came of a job's files.
struct Fetched {
    document: Value,
    told: String,
    /// A failure if files are lacking.
    ended: Outcome,
}

/// Gets the files of the tasks that are meant of a job, one of these: where one task is named of each job into the job's folder itself,
/// else into a folder for each.
fn fetch_job(
    grid: &Api,
    chosen: &Chosen,
    jobs: &[Chosen],
    arguments: &FetchArguments,
) -> Result<Fetched, Failure> {
    let (job, is_one) = (chosen.job, which::are_single(&arguments.of, jobs));
    let to = if jobs.len() == 1 { arguments.to.clone() } else { arguments.to.join(job.to_string()) };
    let tasks = task_numbers(grid, chosen)?;
    let existing = if arguments.force { Existing::GivesWay } else { Existing::Stays };
    let bar = progress::bar(tasks.len() as u64, "tasks");
    let (mut fetched, mut bytes, mut lacking) = (Vec::new(), 0, Lacking::default());
    let mut without = Without::default();
    for &task in &tasks {
        let folder = if is_one { to.clone() } else { to.join(task.to_string()) };
        let is_new = !folder.exists();
        let found = fetch_into(grid, (job, task), &folder, existing);
        if is_new {
            // Only one in which nothing is goes.
            drop(std::fs::remove_dir(&folder));
        }
        match found {
            Ok(Found::Files { size }) => {
                fetched.push(task);
                bytes += size;
            }
            Ok(Found::None { phase }) => without.note(phase),
            // It ended since somebody asked to stop.
            Err(Failure::Grid(ClientError::Local(_)) | Failure::Io { .. } | Failure::Difference(_))
                if interrupt::asked() => {}
            // Of several jobs the others have such a task too.
            Err(why) if is_one && jobs.len() == 1 => return Err(why),
            Err(why) => lacking.note(task, why)?,
        }
        if interrupt::asked() {
            bar.finish_and_clear();
            let (done, all) = (fetched.len(), plural(tasks.len() as u64, "task"));
            let to = to.display();
            return Err(Failure::Interrupted(format!("the files of {done} of {all} are in {to}")));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let there = format!("the files of {} are in {}", plural(fetched.len() as u64, "task"), to.display());
    let ended = lacking.expect_none(tasks.len(), &there);
    let there = if fetched.is_empty() { "nothing to fetch" } else { &there };
    let whose = if jobs.len() > 1 { format!("job {job}: ") } else { String::new() };
    let told = format!("{whose}{there}{}\n", without.told());
    let Without { left_none, yet } = without;
    let without = json!({ "left_none": left_none, "not_over": yet });
    let document =
        json!({ "version": 1, "job": job, "tasks": fetched, "bytes": bytes, "without_files": without });
    Ok(Fetched { document, told, ended })
}

/// What a task left.
enum Found {
    /// So large is their archive.
    Files {
        size: u64,
    },
    None {
        phase: TaskPhase,
    },
}

/// How many tasks have no files.
#[derive(Default)]
struct Without {
    left_none: u64,
    /// They are not over.
    yet: u64,
}

impl Without {
    fn note(&mut self, phase: TaskPhase) {
        *(if phase.is_over() { &mut self.left_none } else { &mut self.yet }) += 1;
    }

    /// What is said behind what was fetched.
    fn told(&self) -> String {
        let none =
            (self.left_none > 0).then(|| format!("; {} left no files", plural(self.left_none, "task")));
        let verb = if self.yet == 1 { "is" } else { "are" };
        let yet = (self.yet > 0).then(|| format!("; {} {verb} not over yet", plural(self.yet, "task")));
        none.into_iter().chain(yet).collect()
    }
}

/// Unpacks a task's files, if it left any.
fn fetch_into(
    grid: &Api,
    (job, task): (JobId, u32),
    folder: &Path,
    existing: Existing,
) -> Result<Found, Failure> {
    let TaskView { files, results_removed, phase, .. } = grid.task(job, task)?;
    if results_removed.is_some() {
        // The coordinator says when they were, and why.
        grid.files_of((job, task), &mut io::sink())?;
    }
    let Some(files) = files else { return Ok(Found::None { phase }) };
    std::fs::create_dir_all(folder).map_err(|error| Failure::io("create", folder, error))?;
    let failed = |error| Failure::io("write to", folder, error);
    // In a file, since it may be large; without a name, so that nothing of it stays.
    let mut archive = tempfile::tempfile_in(folder).map_err(failed)?;
    receive(grid, (job, task), &mut archive)?;
    let mut hasher = blake3::Hasher::new();
    archive
        .seek(SeekFrom::Start(0))
        .and_then(|_| hasher.update_reader(&archive).map(drop))
        .map_err(failed)?;
    if BlobHash::from(hasher.finalize()) != files.blob {
        return Err(Failure::Difference(format!(
            "what came as the files of {job}/{task} is not what the task left: nothing of it was unpacked; fetch it \
             again, and if that does not help look at the coordinator's disk with `gleaner journal verify --files`"
        )));
    }
    archive.seek(SeekFrom::Start(0)).map_err(failed)?;
    // By whatever way its owner named it, a link to a folder too; from here on no link is followed.
    let into = folder.canonicalize().and_then(|folder| Ok(open_root(&folder)?)).map_err(failed)?;
    // The archive is a task's, or of an agent that says so: nothing in it is believed.
    let part = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(folder).map_err(failed)?;
    let within = part.path().canonicalize().and_then(|part| Ok(open_root(&part)?)).map_err(failed)?;
    let unpacked = unpack(UntilAsked(archive), &within, Taking::Files);
    unpacked.map_err(|error| not_unpacked((job, task), folder, error))?;
    place(within, into, existing).map_err(|error| match error {
        ArchiveError::Exists(path) => Failure::Usage(format!(
            "{}/{} is there already: fetch into another folder, or replace what is there with --force",
            folder.display(),
            tamed(&path.to_string_lossy(), usize::MAX)
        )),
        other => not_unpacked((job, task), folder, other),
    })?;
    Ok(Found::Files { size: files.size })
}

/// A file until somebody asks to stop: what is half there is removed then.
struct UntilAsked<F>(F);

fn expect_unasked() -> io::Result<()> {
    if interrupt::asked() { Err(io::Error::other("somebody asked to stop")) } else { Ok(()) }
}

impl<F: Read> Read for UntilAsked<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        expect_unasked()?;
        self.0.read(into)
    }
}

impl<F: Write> Write for UntilAsked<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        expect_unasked()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Has the archive sent. Where the coordinator finds on the way that it is damaged, it ends the connection, and says why when it is asked
/// again.
fn receive(grid: &Api, of: (JobId, u32), archive: &mut File) -> Result<(), Failure> {
    match grid.files_of(of, &mut UntilAsked(&mut *archive)) {
        Err(Failure::Grid(ClientError::Unreachable { .. } | ClientError::Malformed { .. })) => {}
        received => return received.map(drop),
    }
    let again = archive.set_len(0).and_then(|()| archive.rewind());
    again.map_err(|error| Failure::Grid(ClientError::Local(error)))?;
    grid.files_of(of, &mut UntilAsked(archive)).map(drop)
}

fn not_unpacked((job, task): (JobId, u32), folder: &Path, error: ArchiveError) -> Failure {
    // A full disk here says nothing of what came.
    if let ArchiveError::File { path, why } = error {
        return Failure::io("write", &folder.join(path), why);
    }
    let why = match &error {
        // The folder was empty.
        ArchiveError::Exists(path) => {
            format!("the archive holds {:?} twice", tamed(&path.to_string_lossy(), usize::MAX))
        }
        other => other.to_string(),
    };
    Failure::Difference(format!("the files of {job}/{task} cannot be put into {}: {why}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_without_files_are_told_apart() {
        for (phases, expected) in [
            (&[][..], ""),
            (&[TaskPhase::Done], "; 1 task left no files"),
            (&[TaskPhase::Running], "; 1 task is not over yet"),
            (
                &[TaskPhase::Done, TaskPhase::Held, TaskPhase::Failed, TaskPhase::Waiting],
                "; 2 tasks left no files; 2 tasks are not over yet",
            ),
        ] {
            let mut without = Without::default();
            for phase in phases {
                without.note(*phase);
            }
            assert_eq!(without.told(), expected);
        }
    }

    #[test]
    fn an_archive_with_a_name_twice_is_damaged_and_no_mistake_of_who_fetches() {
        let twice = ArchiveError::Exists("a\u{1b}".into());
        let why = not_unpacked((JobId(1), 2), Path::new("to"), twice);
        let said = why.to_string();
        assert!(matches!(why, Failure::Difference(_)) && said.contains("twice"), "{said}");
        assert!(!said.contains(['\u{1b}']) && !said.contains("--force"), "{said}");
    }
}
