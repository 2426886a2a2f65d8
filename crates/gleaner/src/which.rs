//! From what a user calls jobs to their numbers.

use crate::api::Api;
use crate::cli::{JobOrTask, Which};
use crate::failure::Failure;
use gleaner_wire::JobId;
use gleaner_wire::api::JobView;
use gleaner_wire::meant::meant;

/// The jobs or tasks that are meant, each once, in the order in which they were named.
pub(crate) fn all(grid: &Api, named: &[Which]) -> Result<Vec<JobOrTask>, Failure> {
    let mut found: Vec<JobOrTask> = Vec::new();
    for which in named {
        for one in resolve(grid, which)? {
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    Ok(found)
}

/// The one job or task that is meant.
pub(crate) fn one(grid: &Api, named: &Which) -> Result<JobOrTask, Failure> {
    match resolve(grid, named)?[..] {
        [one] => Ok(one),
        ref several => {
            let numbers: Vec<String> = several.iter().map(|one| one.job.to_string()).collect();
            Err(Failure::Usage(format!("these are several jobs: {}; name one of them", numbers.join(", "))))
        }
    }
}

/// Likewise, where only a job can be meant.
pub(crate) fn one_job(grid: &Api, named: &Which) -> Result<JobId, Failure> {
    whole(one(grid, named)?)
}

/// Likewise, where several can be.
pub(crate) fn jobs(grid: &Api, named: &Which) -> Result<Vec<JobId>, Failure> {
    resolve(grid, named)?.into_iter().map(whole).collect()
}

/// The job, unless only a task of it is meant.
pub(crate) fn whole(JobOrTask { job, task }: JobOrTask) -> Result<JobId, Failure> {
    let is_task = |task| Failure::Usage(format!("{job}/{task} is a task; expected a job, as {job}"));
    task.map_or(Ok(job), |task| Err(is_task(task)))
}

fn resolve(grid: &Api, which: &Which) -> Result<Vec<JobOrTask>, Failure> {
    let (found, task): (Vec<JobId>, _) = match which {
        Which::One(one) => return Ok(vec![*one]),
        Which::Range(first, last) => {
            (numbers(own(grid, u32::MAX)?.into_iter().filter(|job| (first..=last).contains(&&job.job))), None)
        }
        Which::Last(task) => (numbers(own(grid, 1)?.into_iter()), *task),
        Which::Name(name, task) => {
            (numbers(own(grid, u32::MAX)?.into_iter().filter(|job| job.name == *name)), *task)
        }
    };
    if found.is_empty() {
        return Err(none(grid, which)?);
    }
    Ok(found.into_iter().map(|job| JobOrTask { job, task }).collect())
}

/// Nothing of one's own is meant.
fn none(grid: &Api, which: &Which) -> Result<Failure, Failure> {
    let (what, end) = match which {
        Which::Range(first, last) => (format!("with a number from {first} to {last}"), SEE.to_owned()),
        Which::Name(name, _) => {
            let (user, seen) = (grid.overview()?.user, grid.jobs(u32::MAX, None, None)?.jobs);
            (format!("with the name \"{name}\""), named_so(name, &user, &seen))
        }
        Which::One(_) | Which::Last(_) => ("yet".to_owned(), SEE.to_owned()),
    };
    Ok(Failure::Usage(format!("there is no job of yours {what}; {end}")))
}

const SEE: &str = "see `gleaner status`";

/// Whose job has that name, for somebody who sees those of others, the newest first; or else which of one's own may be meant.
fn named_so(name: &str, user: &str, seen: &[JobView]) -> String {
    let mut of_others = seen.iter().filter(|job| job.name == name);
    let Some(JobView { job, user: whose, .. }) = of_others.next() else {
        let own = seen.iter().filter(|job| job.user == user).map(|job| job.name.as_str());
        return format!("{SEE}{}", meant(name, own.chain(["last"])));
    };
    let more = match of_others.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("job {job} of {whose} has that name{more}: name jobs of others by number")
}

/// In rising order.
fn numbers(jobs: impl Iterator<Item = JobView>) -> Vec<JobId> {
    let mut numbers: Vec<JobId> = jobs.map(|job| job.job).collect();
    numbers.sort_unstable();
    numbers
}

/// One's own newest jobs, so many at most, the newest first: an administrator sees those of others too, and means none of them by a name.
fn own(grid: &Api, limit: u32) -> Result<Vec<JobView>, Failure> {
    let user = grid.overview()?.user;
    Ok(grid.jobs(limit, None, Some(&user))?.jobs)
}
