//! What tasks wrote, put where a submit file wants it.

use crate::api::{Api, Stream};
use crate::failure::Failure;
use crate::{Outcome, files, logs};
use gleaner_wire::JobId;
use gleaner_wire::job::fill_in;
use gleaner_workload::submit::JobDescription;
use gleaner_workload::submit::condor::JOB_NUMBER;
use std::fs::File;
use std::path::Path;

/// Says before anything is submitted where what tasks write could not be put. The name of the first task stands for those
/// of the others.
pub(super) fn check(job: &JobDescription) -> Outcome {
    for name in [&job.stdout, &job.stderr].into_iter().flatten() {
        let name = fill_in(name, &job.spec.tasks.parameters(0));
        let folder = files::folder_of(Path::new(&name));
        let is_there = folder.metadata().is_ok_and(|found| found.is_dir() && !found.permissions().readonly());
        if !is_there {
            let folder = folder.display();
            let why = format!(
                "what a task writes is to go to {name}, and {folder} is no folder that can be written to"
            );
            return Err(Failure::Usage(why));
        }
    }
    Ok(())
}

/// Writes the outputs of all tasks of a job that is over.
pub(super) fn write(grid: &Api, id: JobId, job: &JobDescription) -> Outcome {
    let streams = [(&job.stdout, Stream::Stdout), (&job.stderr, Stream::Stderr)];
    for position in 0..job.spec.tasks.count() {
        let mut before: Option<(String, File)> = None;
        for (name, stream) in streams {
            let Some(name) = name else { continue };
            let name = fill_in(name, &job.spec.tasks.parameters(position));
            let name = name.replace(JOB_NUMBER, &id.to_string());
            // Where both go into one file, errors stand behind the rest.
            let both = before.take().filter(|(known, _)| *known == name);
            let mut file = if let Some((_, file)) = both {
                file
            } else {
                let path = Path::new(&name);
                File::create(path).map_err(|error| Failure::io("write", path, error))?
            };
            logs::whole(grid, (id, job.spec.tasks.number(position)), stream, &mut file)?;
            before = Some((name, file));
        }
    }
    Ok(())
}
