//! What tasks wrote, put where a submit file wants it.

use crate::failure::Failure;
use crate::grid::{Grid, Stream};
use crate::{Outcome, logs};
use gleaner_wire::JobId;
use gleaner_wire::job::fill_in;
use gleaner_workload::submit::JobDescription;
use gleaner_workload::submit::condor::JOB_NUMBER;
use std::fs::File;
use std::path::Path;

/// Writes the outputs of all tasks of a job that is over.
pub(super) fn write(grid: &Grid, id: JobId, job: &JobDescription) -> Outcome {
    for (name, stream) in [(&job.stdout, Stream::Stdout), (&job.stderr, Stream::Stderr)] {
        let Some(name) = name else { continue };
        for position in 0..job.spec.tasks.count() {
            let name = fill_in(name, &job.spec.tasks.parameters(position));
            let name = name.replace(JOB_NUMBER, &id.to_string());
            let path = Path::new(&name);
            let mut file = File::create(path).map_err(|error| Failure::io("write", path, error))?;
            logs::whole(grid, (id, job.spec.tasks.number(position)), stream, &mut file)?;
        }
    }
    Ok(())
}
