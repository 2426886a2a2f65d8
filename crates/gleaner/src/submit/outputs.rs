//! What tasks wrote, put where a submit file wants it.

use crate::api::Api;
use crate::failure::Failure;
use crate::lacking::Lacking;
use crate::{Outcome, files, logs};
use gleaner_wire::JobId;
use gleaner_wire::job::fill_in;
use gleaner_wire::session::Stream;
use gleaner_workload::submit::JobDescription;
use gleaner_workload::submit::condor::JOB_NUMBER;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::io;
use std::path::Path;

/// Says before anything is submitted where what tasks write could not be put: in no folder, or in one that this user may not
/// write to. The name of the first task stands for those of the others.
pub(super) fn check(job: &JobDescription) -> Outcome {
    for name in [&job.stdout, &job.stderr].into_iter().flatten() {
        let name = fill_in(name, &job.spec.tasks.parameters(0));
        let folder = files::folder_of(Path::new(&name));
        let may_write = accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok();
        if !(folder.is_dir() && may_write) {
            let folder = folder.display();
            let why = format!(
                "what a task writes is to go to {name}, and {folder} is no folder that can be written to"
            );
            return Err(Failure::Usage(why));
        }
    }
    Ok(())
}

const BOTH: &[Stream] = &Stream::ALL;

/// Writes the outputs of all tasks of a job that is over, as far as they are there.
pub(super) fn write(grid: &Api, id: JobId, job: &JobDescription) -> Outcome {
    let tasks = &job.spec.tasks;
    let mut lacking = Lacking::default();
    for position in 0..tasks.count() {
        let task = tasks.number(position);
        let parameters = tasks.parameters(position);
        let filled_in = |name: &String| fill_in(name, &parameters).replace(JOB_NUMBER, &id.to_string());
        let places = places(job.stdout.as_ref().map(filled_in), job.stderr.as_ref().map(filled_in));
        let written = places.iter().map(|(name, streams)| write_one(grid, (id, task), name, streams));
        if let Err(why) = written.fold(Ok(()), Outcome::and) {
            lacking.note(task, why)?;
        }
    }
    lacking.expect_none(tasks.count() as usize, "the outputs of the other tasks are written")
}

/// Where what a task writes goes. Where both streams go into one file, errors stand behind the rest.
fn places(stdout: Option<String>, stderr: Option<String>) -> Vec<(String, &'static [Stream])> {
    match (stdout, stderr) {
        (Some(one), Some(other)) if one == other => vec![(one, BOTH)],
        (stdout, stderr) => {
            let each = [(stdout, &BOTH[..1]), (stderr, &BOTH[1..])];
            each.into_iter().filter_map(|(name, streams)| Some((name?, streams))).collect()
        }
    }
}

/// Writes one file whole, or leaves the one that is there.
fn write_one(grid: &Api, task: (JobId, u32), name: &str, streams: &[Stream]) -> Outcome {
    let mut missing = None;
    let written = files::write_file(Path::new(""), name, |out| {
        for &stream in streams {
            match logs::whole(grid, task, stream, out) {
                Ok(()) => {}
                Err(Failure::Io { error, .. }) => return Err(error),
                Err(why) => {
                    missing = Some(why);
                    return Err(io::Error::other("what the task wrote did not come"));
                }
            }
        }
        Ok(())
    });
    match missing {
        Some(why) => Err(why),
        None => written.map_err(Failure::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::job::JobSpec;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    /// Root may write where no bit of the mode says so.
    #[test]
    fn who_asks_counts_and_not_the_bits_of_a_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut job = JobDescription::new(JobSpec::new(["true"]));
        job.stdout = Some(folder.path().join("out").display().to_string());
        for mode in [0o555, 0o755] {
            fs::set_permissions(folder.path(), Permissions::from_mode(mode)).expect("it is ours");
            let can_write = fs::write(folder.path().join(format!("{mode:o}")), "").is_ok();
            assert_eq!(check(&job).is_ok(), can_write, "{mode:o}");
        }
        job.stdout = Some(folder.path().join("missing/out").display().to_string());
        assert!(check(&job).is_err());
    }
}
