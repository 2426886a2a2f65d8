//! From what a user calls jobs and tasks to their numbers.

use crate::api::Api;
use crate::cli::{JobOrTask, Jobs, TaskNumbers, Which};
use crate::failure::Failure;
use gleaner_wire::JobId;
use gleaner_wire::api::JobView;
use gleaner_wire::limits::TASKS_LISTED_MAX;
use gleaner_wire::meant::meant;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// So many of several are told.
const TOLD: usize = 20;

/// What is meant of one job.
pub(crate) struct Chosen {
    pub(crate) job: JobId,
    /// None for the whole job.
    pub(crate) tasks: Vec<u32>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tasks[..] {
            [] => write!(f, "{}", self.job),
            [task] => write!(f, "{}/{task}", self.job),
            [first, .., last] => write!(f, "{}/{first}…{last}", self.job),
        }
    }
}

/// The jobs or tasks that are meant, each once, in the order in which they were named.
pub(crate) fn all(grid: &Api, named: &[Which]) -> Result<Vec<JobOrTask>, Failure> {
    let (mut found, mut met) = (Vec::new(), BTreeSet::new());
    for which in named {
        found.extend(resolve(grid, which, usize::MAX)?.into_iter().filter(|one| met.insert(*one)));
    }
    Ok(found)
}

/// Likewise, job by job.
pub(crate) fn chosen(grid: &Api, named: &[Which]) -> Result<Vec<Chosen>, Failure> {
    Ok(by_job(&all(grid, named)?))
}

/// Whether it is one task of each of these jobs, named by its number.
pub(crate) fn are_single(named: &[Which], chosen: &[Chosen]) -> bool {
    named.iter().all(Which::is_one_task) && chosen.iter().all(|chosen| chosen.tasks.len() == 1)
}

/// The one job or task that is meant.
pub(crate) fn one(grid: &Api, named: &Which) -> Result<JobOrTask, Failure> {
    match resolve(grid, named, TOLD + 1)?[..] {
        [one] => Ok(one),
        ref several => {
            let what = if named.tasks.is_some() { "tasks" } else { "jobs" };
            let told: Vec<String> = several.iter().take(TOLD).map(ToString::to_string).collect();
            let more = if several.len() > TOLD { ", …" } else { "" };
            Err(Failure::Usage(format!(
                "these are several {what}: {}{more}; name one of them",
                told.join(", ")
            )))
        }
    }
}

/// Likewise, where only a job can be meant.
pub(crate) fn one_job(grid: &Api, named: &Which) -> Result<JobId, Failure> {
    whole(one(grid, named)?)
}

/// Likewise, where several can be: each once.
pub(crate) fn jobs(grid: &Api, named: &[Which]) -> Result<Vec<JobId>, Failure> {
    all(grid, named)?.into_iter().map(whole).collect()
}

/// A line for each range of jobs in which there are numbers of none that was found: of those nothing is known or done.
pub(crate) fn passed_over(named: &[Which], found: &[JobId]) -> String {
    let found: BTreeSet<JobId> = found.iter().copied().collect();
    let lines = named.iter().filter_map(|which| {
        let Jobs::Range(first, last) = which.jobs else { return None };
        let mut lacking = (first.0..=last.0).filter(|number| !found.contains(&JobId(*number)));
        let told: Vec<String> = lacking.by_ref().take(TOLD).map(|number| number.to_string()).collect();
        let more = if lacking.next().is_some() { ", …" } else { "" };
        let range = format!("{first}-{last}");
        (!told.is_empty())
            .then(|| format!("of {range} these are no jobs of yours: {}{more}\n", told.join(", ")))
    });
    lines.collect()
}

/// The job, unless only a task of it is meant.
fn whole(JobOrTask { job, task }: JobOrTask) -> Result<JobId, Failure> {
    let is_task = |task| Failure::Usage(format!("{job}/{task} is a task; expected a job, as {job}"));
    task.map_or(Ok(job), |task| Err(is_task(task)))
}

/// The jobs named, in that order, each once.
fn by_job(named: &[JobOrTask]) -> Vec<Chosen> {
    let mut jobs: Vec<(JobId, Option<Vec<u32>>)> = Vec::new();
    let mut places: BTreeMap<JobId, usize> = BTreeMap::new();
    for &JobOrTask { job, task } in named {
        let place = *places.entry(job).or_insert_with(|| {
            jobs.push((job, Some(Vec::new())));
            jobs.len() - 1
        });
        let tasks = &mut jobs[place].1;
        match (tasks.as_mut(), task) {
            (Some(tasks), Some(task)) => tasks.push(task),
            (Some(_), None) => *tasks = None,
            (None, _) => {}
        }
    }
    jobs.into_iter().map(|(job, tasks)| Chosen { job, tasks: tasks.unwrap_or_default() }).collect()
}

/// What is meant; who needs no more than so many tasks has not all of them looked for.
fn resolve(grid: &Api, which: &Which, enough: usize) -> Result<Vec<JobOrTask>, Failure> {
    let jobs = jobs_of(grid, &which.jobs)?;
    let Some(tasks) = &which.tasks else {
        return Ok(jobs.into_iter().map(|job| JobOrTask { job, task: None }).collect());
    };
    let mut found = Vec::new();
    for &job in &jobs {
        // Of several jobs those are meant that have such tasks; of one, a number that it does not have is a mistake.
        let of_job = if jobs.len() == 1 { named } else { there };
        let numbers = of_job(grid, job, tasks, enough)?;
        found.extend(numbers.into_iter().map(|task| JobOrTask { job, task: Some(task) }));
        if found.len() >= enough {
            break;
        }
    }
    if found.is_empty() {
        let told: Vec<String> = jobs.iter().take(TOLD).map(ToString::to_string).collect();
        let told = told.join(", ");
        return Err(Failure::Usage(format!("none of the jobs {told} has a task with a number of {tasks}")));
    }
    Ok(found)
}

/// The tasks of a job that are named: one by its number as it is, whether it is there or not; of a range those that are there.
fn named(grid: &Api, job: JobId, tasks: &TaskNumbers, enough: usize) -> Result<Vec<u32>, Failure> {
    let mut numbers = Vec::new();
    for &(first, last) in tasks.spans() {
        let before = numbers.len();
        if before >= enough {
            break;
        }
        if first == last {
            numbers.push(first);
        } else {
            add_those_there(grid, job, (first, last), enough, &mut numbers)?;
        }
        if numbers.len() == before {
            return Err(Failure::Usage(format!(
                "job {job} has no task with a number from {first} to {last}"
            )));
        }
    }
    Ok(numbers)
}

/// Those of the tasks that a job has.
fn there(grid: &Api, job: JobId, tasks: &TaskNumbers, enough: usize) -> Result<Vec<u32>, Failure> {
    let mut numbers = Vec::new();
    for &span in tasks.spans() {
        add_those_there(grid, job, span, enough, &mut numbers)?;
    }
    Ok(numbers)
}

/// Of a range, one at least if there is one. Costs O(log first) requests before the first page of tasks.
fn add_those_there(
    grid: &Api,
    job: JobId,
    (first, last): (u32, u32),
    enough: usize,
    numbers: &mut Vec<u32>,
) -> Result<(), Failure> {
    let from = position_of(grid, job, first)?;
    let at_most = (last - from).saturating_add(1);
    grid.each_task(job, from, at_most, None, |task| {
        if (first..=last).contains(&task.task) {
            numbers.push(task.task);
        }
        Ok(task.task >= last || numbers.len() >= enough)
    })?;
    Ok(())
}

/// A position in a job, not behind that of its first task with this number or a higher one. Numbers rise with positions, and none is
/// lower than its position.
fn position_of(grid: &Api, job: JobId, number: u32) -> Result<u32, Failure> {
    let (mut low, mut high) = (0, number);
    // The rest of the way is one answer.
    while high - low > TASKS_LISTED_MAX / 2 {
        let middle = low + (high - low) / 2;
        match grid.tasks(job, middle, 1, None)?.tasks.first() {
            Some(task) if task.task < number => low = middle + 1,
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}

fn jobs_of(grid: &Api, jobs: &Jobs) -> Result<Vec<JobId>, Failure> {
    let found = match jobs {
        Jobs::One(job) => return Ok(vec![*job]),
        Jobs::Range(first, last) => {
            numbers(own(grid, u32::MAX)?.into_iter().filter(|job| (first..=last).contains(&&job.job)))
        }
        Jobs::Last => last(grid)?,
        Jobs::Name(name) => numbers(own(grid, u32::MAX)?.into_iter().filter(|job| job.name == *name)),
    };
    if found.is_empty() {
        return Err(none(grid, jobs)?);
    }
    Ok(found)
}

/// The newest of one's own, and what of one's own was submitted from here together with it and is there still.
fn last(grid: &Api) -> Result<Vec<JobId>, Failure> {
    let Some(newest) = own(grid, 1)?.first().map(|newest| newest.job) else { return Ok(Vec::new()) };
    let together = grid.submitted_with(newest);
    let first = together.iter().copied().min().unwrap_or(newest);
    if first == newest {
        return Ok(vec![newest]);
    }
    let since = own(grid, (newest.0 - first.0).saturating_add(1))?;
    Ok(numbers(since.into_iter().filter(|job| together.contains(&job.job))))
}

/// Nothing of one's own is meant.
fn none(grid: &Api, jobs: &Jobs) -> Result<Failure, Failure> {
    let (what, end) = match jobs {
        Jobs::Range(first, last) => (format!("with a number from {first} to {last}"), SEE.to_owned()),
        Jobs::Name(name) => {
            let (user, seen) = (grid.overview()?.user, grid.jobs(u32::MAX, None, None)?.jobs);
            (format!("with the name \"{name}\""), named_so(name, &user, &seen))
        }
        Jobs::One(_) | Jobs::Last => ("yet".to_owned(), SEE.to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_named_as_a_whole_is_meant_as_a_whole() {
        let named = |text: &str| {
            let number = |text: &str| text.parse::<u32>().expect("a number");
            let (job, task) = text.split_once('/').map_or((text, None), |(job, task)| (job, Some(task)));
            JobOrTask { job: JobId(number(job)), task: task.map(number) }
        };
        for (text, expected) in [
            ("7", "{7: []}"),
            ("7/1 2 7/3", "{7: [1, 3], 2: []}"),
            ("7/1 7", "{7: []}"),
            ("7 7/1", "{7: []}"),
        ] {
            let named: Vec<JobOrTask> = text.split(' ').map(named).collect();
            let jobs = by_job(&named).into_iter().map(|Chosen { job, tasks }| format!("{job}: {tasks:?}"));
            assert_eq!(format!("{{{}}}", jobs.collect::<Vec<_>>().join(", ")), expected);
        }
        for (tasks, expected) in [(vec![], "7"), (vec![3], "7/3"), (vec![3, 4, 9], "7/3…9")] {
            assert_eq!(Chosen { job: JobId(7), tasks }.to_string(), expected);
        }
    }

    #[test]
    fn numbers_that_a_range_passes_over_are_told() {
        for (range, expected) in [
            ("4-5", ""),
            ("3-5", "of 3-5 these are no jobs of yours: 3\n"),
            (
                "4-4294967295",
                "of 4-4294967295 these are no jobs of yours: 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ",
            ),
        ] {
            let named: Which = range.parse().expect("jobs");
            let told = passed_over(&[named], &[JobId(5), JobId(4)]);
            assert!(told.starts_with(expected) && expected.is_empty() == told.is_empty(), "{told}");
            assert_eq!(told.ends_with(", …\n"), range.ends_with("95"), "{told}");
        }
    }
}
