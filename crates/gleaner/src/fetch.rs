//! `gleaner fetch`: the files that tasks left.

use crate::api::Api;
use crate::cli::{FetchArguments, JobOrTask};
use crate::columns::plural;
use crate::failure::Failure;
use crate::logs::task_numbers;
use crate::{Outcome, progress, stdout, which};
use gleaner_agent::archive::{ArchiveError, Taking, unpack};
use gleaner_agent::beneath::open_root;
use gleaner_net::ClientError;
use gleaner_wire::JobId;
use gleaner_wire::api::TaskView;
use gleaner_wire::text::tamed;
use serde_json::json;
use std::io::{Seek, SeekFrom};
use std::path::Path;

pub(crate) fn run(arguments: &FetchArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let JobOrTask { job, task: only } = which::one(&grid, &arguments.of)?;
    let tasks = match only {
        Some(task) => vec![task],
        None => task_numbers(&grid, job)?,
    };
    let taking = if arguments.force { Taking::FilesOverOthers } else { Taking::Files };
    let bar = progress::bar(tasks.len() as u64, "tasks");
    let (mut fetched, mut bytes, mut damaged) = (Vec::new(), 0, Vec::new());
    for &task in &tasks {
        let folder = match only {
            Some(_) => arguments.to.clone(),
            None => arguments.to.join(task.to_string()),
        };
        let is_new = !folder.exists();
        let found = fetch_into(&grid, (job, task), &folder, taking);
        if is_new {
            // Only one in which nothing is goes.
            drop(std::fs::remove_dir(&folder));
        }
        match found {
            Ok(Some(size)) => {
                fetched.push(task);
                bytes += size;
            }
            Ok(None) => {}
            // Those of other tasks may be sound.
            Err(why) if only.is_none() && is_damage(&why) => damaged.push(why.to_string()),
            Err(why) => return Err(why),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(first) = damaged.first() {
        return Err(Failure::Difference(format!(
            "the files of {} are in {}; those of {} are damaged and not there: {first}",
            plural(fetched.len() as u64, "task"),
            arguments.to.display(),
            plural(damaged.len() as u64, "task"),
        )));
    }
    if arguments.grid.json {
        return stdout::print_json(&json!({ "version": 1, "job": job, "tasks": fetched, "bytes": bytes }));
    }
    let (to, left) = (arguments.to.display(), tasks.len() - fetched.len());
    let without = plural(left as u64, "task");
    let tasks = plural(fetched.len() as u64, "task");
    stdout::print(match (fetched.len(), left) {
        (0, _) => format!("nothing to fetch: {without} left no files, or none yet\n"),
        (_, 0) => format!("the files of {tasks} are in {to}\n"),
        _ => format!("the files of {tasks} are in {to}; {without} left no files, or none yet\n"),
    })
}

/// Whether a task's files are not what the task left, here or on the coordinator's disk.
fn is_damage(why: &Failure) -> bool {
    let is_refused = matches!(why, Failure::Grid(ClientError::Refused { code, .. }) if code == "damaged");
    is_refused || matches!(why, Failure::Difference(_))
}

/// Unpacks a task's files, if it left any, and tells how large their archive is.
fn fetch_into(
    grid: &Api,
    (job, task): (JobId, u32),
    folder: &Path,
    taking: Taking,
) -> Result<Option<u64>, Failure> {
    let TaskView { files, results_removed, .. } = grid.task(job, task)?;
    if results_removed.is_some() {
        // The coordinator says when they were, and why.
        grid.files_of((job, task), &mut std::io::sink())?;
    }
    let Some(files) = files else { return Ok(None) };
    std::fs::create_dir_all(folder).map_err(|error| Failure::io("create", folder, error))?;
    let failed = |error| Failure::io("write to", folder, error);
    // In a file, since it may be large; without a name, so that nothing of it stays.
    let mut archive = tempfile::tempfile_in(folder).map_err(failed)?;
    grid.files_of((job, task), &mut archive)?;
    let mut hasher = blake3::Hasher::new();
    archive
        .seek(SeekFrom::Start(0))
        .and_then(|_| hasher.update_reader(&archive).map(drop))
        .map_err(failed)?;
    if hasher.finalize().to_hex().as_str() != files.blob.as_str() {
        return Err(Failure::Difference(format!(
            "what came as the files of {job}/{task} is not what the task left: nothing of it was unpacked; fetch it \
             again, and if that does not help look at the coordinator's disk with `gleaner journal verify --files`"
        )));
    }
    archive.seek(SeekFrom::Start(0)).map_err(failed)?;
    // By whatever way its owner named it, a link to a folder too; from here on no link is followed.
    let into = folder.canonicalize().and_then(|folder| Ok(open_root(&folder)?)).map_err(failed)?;
    // The archive is a task's, or of an agent that says so: nothing in it is believed.
    unpack(archive, into, taking).map_err(|error| not_unpacked((job, task), folder, &error))?;
    Ok(Some(files.size))
}

fn not_unpacked((job, task): (JobId, u32), folder: &Path, error: &ArchiveError) -> Failure {
    let folder = folder.display();
    match error {
        ArchiveError::Exists(path) => Failure::Usage(format!(
            "{folder}/{} is there already: fetch into another folder, or replace what is there with --force",
            tamed(&path.to_string_lossy(), usize::MAX)
        )),
        other => {
            Failure::Difference(format!("the files of {job}/{task} cannot be put into {folder}: {other}"))
        }
    }
}
