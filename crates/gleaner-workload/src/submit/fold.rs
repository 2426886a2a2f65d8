//! From one description a task to few jobs of many tasks. A task is a process there, as `HTCondor` calls it.

use crate::limits::JOBS_PER_FILE_MAX;
use crate::submit::JobDescription;
use gleaner_wire::Words;
use gleaner_wire::job::{INDEX, TaskList, fill_in};
use gleaner_wire::limits::{JOB_BYTES_MAX, OWN_INPUTS_MAX, TASKS_PER_JOB_MAX};
use hashbrown::{HashMap, HashSet};

/// How the columns that are made here are called; a text that looks like one is itself put into a column.
pub(super) const COLUMN: &str = "GLEANER_";

/// Collects processes; those that differ in texts only become tasks of one job, or of several where it would have too many files.
#[derive(Default)]
pub(super) struct Folding {
    groups: Vec<Group>,
    /// Where each group is, by its shape written out; of several with one shape the last, since the others are full.
    by_shape: HashMap<String, usize>,
    /// The group of the last process: neighbours are mostly alike.
    last: usize,
    processes: u32,
    /// Of all texts of all processes.
    bytes: usize,
}

/// How a description calls its tasks, and what says how many files one is sent and gives back.
pub(super) struct Terms {
    pub(super) tasks: &'static str,
    pub(super) inputs: &'static str,
    pub(super) outputs: &'static str,
}

struct Group {
    /// The job with all texts empty.
    shape: JobDescription,
    processes: Vec<u32>,
    /// One for each text of the job.
    columns: Vec<Words>,
    /// The files that each input is.
    sources: Vec<HashSet<String>>,
    /// Where the description names each input and standard input; empty where not all processes have one place.
    places: Vec<String>,
}

impl Folding {
    pub(super) fn add(&mut self, process: u32, mut job: JobDescription) {
        let sources: Vec<String> = job.inputs.iter().map(|input| input.source.clone()).collect();
        let files = job.inputs.iter_mut().chain(&mut job.stdin);
        let places: Vec<String> = files.map(|file| std::mem::take(&mut file.at)).collect();
        let texts: Vec<String> = slots(&mut job).into_iter().map(std::mem::take).collect();
        self.bytes += texts.iter().map(String::len).sum::<usize>();
        self.processes += 1;
        if self.groups.get(self.last).is_none_or(|group| group.shape != job) {
            let known = self.by_shape.get(&format!("{job:?}"));
            self.last = known.copied().unwrap_or(self.groups.len());
        }
        if self.groups.get(self.last).is_none_or(|group| !group.has_room_for(&sources)) {
            self.last = self.groups.len();
            self.by_shape.insert(format!("{job:?}"), self.last);
            self.groups.push(Group {
                shape: job,
                processes: Vec::new(),
                columns: vec![Words::default(); texts.len()],
                sources: vec![HashSet::new(); sources.len()],
                places: places.clone(),
            });
        }
        let group = &mut self.groups[self.last];
        group.processes.push(process);
        group.columns.iter_mut().zip(&texts).for_each(|(column, text)| column.push(text));
        for (known, source) in group.sources.iter_mut().zip(sources) {
            known.insert(source);
        }
        for (known, place) in group.places.iter_mut().zip(&places) {
            if *known != *place {
                known.clear();
            }
        }
    }

    /// What there is too much of already, and how much there may be, in the terms of the description.
    pub(super) fn excess(&self, terms: &Terms) -> Option<(String, String)> {
        let tasks = terms.tasks;
        if let [first, .., last] = &self.groups[..]
            && self.groups.len() > JOBS_PER_FILE_MAX
        {
            let settings = differing(&first.shape, &last.shape, terms);
            let found = format!(
                "more than {JOBS_PER_FILE_MAX} jobs, since {tasks} differ in {}",
                settings.join(" and ")
            );
            let expected = format!("{tasks} that are alike in that, which are one job, or fewer of them");
            return Some((found, expected));
        }
        if self.processes > TASKS_PER_JOB_MAX || self.bytes > JOB_BYTES_MAX {
            let found = format!("more than {} {tasks}", self.processes - 1);
            let expected = format!("at most {TASKS_PER_JOB_MAX}, of {JOB_BYTES_MAX} bytes of text in all");
            return Some((found, expected));
        }
        None
    }

    pub(super) fn into_jobs(self) -> Vec<JobDescription> {
        let is_one = self.groups.len() == 1;
        let of_group = |group: Group| {
            let job = group.into_job();
            // The tasks of the only job are all processes in their order.
            if is_one { JobDescription { processes: Vec::new(), ..job } } else { job }
        };
        self.groups.into_iter().map(of_group).collect()
    }
}

impl Group {
    /// Whether a job may have the files of one more process with these. What is the same file for all counts as none.
    fn has_room_for(&self, sources: &[String]) -> bool {
        let files =
            |(known, source): (&HashSet<String>, &String)| known.len() + usize::from(!known.contains(source));
        let own = self.sources.iter().zip(sources).map(files).filter(|files| *files > 1);
        own.sum::<usize>() <= OWN_INPUTS_MAX
    }

    fn into_job(mut self) -> JobDescription {
        let files = self.shape.inputs.iter_mut().chain(&mut self.shape.stdin);
        files.zip(std::mem::take(&mut self.places)).for_each(|(file, place)| file.at = place);
        let (first, last) = (self.processes[0], *self.processes.last().expect("it has one"));
        let count = self.processes.len() as u32;
        // Without columns, the tasks' numbers are the processes' own.
        if last - first + 1 == count
            && let Some(texts) = self.columns.iter().map(|column| numbered(column, first)).collect()
        {
            self.write(texts);
            let many = TaskList::Array { first, last, step: 1 };
            self.shape.spec.tasks = if last == 0 { TaskList::One } else { many };
            return self.shape;
        }
        let mut names = Vec::new();
        let mut varying = Vec::new();
        let mut texts = Vec::new();
        for column in &self.columns {
            texts.push(numbered(column, 0).unwrap_or_else(|| {
                names.push(format!("{COLUMN}{}", names.len() + 1));
                varying.push(column);
                format!("{{{COLUMN}{}}}", names.len())
            }));
        }
        let mut values = Words::default();
        for row in 0..self.processes.len() {
            for column in &varying {
                values.push(column.get(row));
            }
        }
        self.write(texts);
        self.shape.spec.tasks = if names.is_empty() {
            TaskList::Array { first: 0, last: count - 1, step: 1 }
        } else {
            TaskList::Rows { names, values }
        };
        if !self.processes.iter().copied().eq(0..count) {
            self.shape.processes = self.processes;
        }
        self.shape
    }

    fn write(&mut self, texts: Vec<String>) {
        slots(&mut self.shape).into_iter().zip(texts).for_each(|(slot, text)| *slot = text);
    }
}

/// One or two settings that make two jobs of tasks, as submit files call what is not among the `terms`. OurGrid's tasks
/// differ in these only.
fn differing(one: &JobDescription, other: &JobDescription, terms: &Terms) -> Vec<&'static str> {
    let (of_one, of_other) = (&one.spec, &other.spec);
    let (needs, others) = (&of_one.needs, &of_other.needs);
    let (checkpoint, other_checkpoint) = (&of_one.checkpoint, &of_other.checkpoint);
    let settings = [
        (of_one.command.len() != of_other.command.len(), "arguments (how many)"),
        (!of_one.env.keys().eq(of_other.env.keys()), "environment (which variables)"),
        (one.inputs != other.inputs, terms.inputs),
        (of_one.outputs.len() != of_other.outputs.len(), terms.outputs),
        (one.stdin.is_some() != other.stdin.is_some(), "input"),
        (one.stdout.is_some() != other.stdout.is_some(), "output"),
        (one.stderr.is_some() != other.stderr.is_some(), "error"),
        (of_one.name != of_other.name, "batch_name"),
        (of_one.length != of_other.length, "gleaner_length"),
        (needs.cores != others.cores, "request_cpus"),
        (needs.memory != others.memory, "request_memory"),
        (needs.disk != others.disk, "request_disk"),
        (needs.time_limit_s != others.time_limit_s, "allowed_execute_duration"),
        (of_one.requirements != of_other.requirements, "requirements"),
        (of_one.rank != of_other.rank, "rank"),
        (of_one.priority != of_other.priority, "priority"),
        (of_one.retries != of_other.retries, "max_retries"),
        (checkpoint.exit_code != other_checkpoint.exit_code, "checkpoint_exit_code"),
        (checkpoint.grace_s != other_checkpoint.grace_s, "job_max_vacate_time"),
        (of_one.hold != of_other.hold, "hold"),
    ];
    let differing = settings.into_iter().filter(|(differs, _)| *differs).map(|(_, setting)| setting);
    let differing: Vec<&str> = differing.take(2).collect();
    // A job that has as many files as it may is another too.
    if differing.is_empty() { vec![terms.inputs] } else { differing }
}

/// A text that is each of the values, when the tasks are numbered from `first`.
fn numbered(values: &Words, first: u32) -> Option<String> {
    let last = values.get(values.len() - 1);
    let column = format!("{{{COLUMN}");
    if values.iter().any(|value| value.contains(&column)) {
        return None;
    }
    if values.iter().all(|value| value == last) {
        return Some(last.to_owned());
    }
    // A guess, which holds only if it gives every value.
    let number = first + values.len() as u32 - 1;
    let text = last.replace(&number.to_string(), &format!("{{{INDEX}}}"));
    let mut numbers = first..;
    let holds = values.iter().all(|value| {
        let number = numbers.next().expect("there are more numbers than values");
        fill_in(&text, &[(INDEX, number.to_string())]) == value
    });
    holds.then_some(text)
}

/// The texts of a job, in which parameters are filled in.
pub(super) fn slots(job: &mut JobDescription) -> Vec<&mut String> {
    let JobDescription { spec, inputs, stdin, stdout, stderr, processes: _ } = job;
    let files =
        inputs.iter_mut().flat_map(|input| std::iter::once(&mut input.source).chain(&mut input.target));
    let of_spec = spec.command.iter_mut().chain(spec.env.values_mut()).chain(&mut spec.outputs);
    let stdin = stdin.iter_mut().map(|file| &mut file.source);
    of_spec.chain(files).chain(stdin).chain(stdout).chain(stderr).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submit::LocalFile;
    use gleaner_wire::job::JobSpec;

    #[test]
    fn what_has_more_files_than_one_job_may_is_several() {
        let file = |source: String| LocalFile { target: Some("in".to_owned()), ..LocalFile::new(source) };
        let mut folding = Folding::default();
        // Of the files that one job may have, a hundredth each; and one that all have.
        for process in 0..=100 {
            let own = (0..OWN_INPUTS_MAX / 100).map(|input| file(format!("{input}/{process}")));
            let inputs = own.chain([file("all".to_owned())]).collect();
            let job = JobDescription { inputs, ..JobDescription::new(JobSpec::new(["run"])) };
            folding.add(process, job);
        }
        let jobs = folding.into_jobs();
        let tasks: Vec<u32> = jobs.iter().map(|job| job.spec.tasks.count()).collect();
        assert_eq!(tasks, [100, 1]);
        assert_eq!(jobs[1].spec.tasks, TaskList::Array { first: 100, last: 100, step: 1 });
    }

    #[test]
    fn a_job_that_counts_its_tasks_itself_says_which_processes_they_are() {
        let folded = |cores: &[u32]| {
            let mut folding = Folding::default();
            for (process, (&cores, word)) in (0..).zip(cores.iter().zip(["a", "b", "c", "d"])) {
                let mut job = JobDescription::new(JobSpec::new([word]));
                job.spec.needs.cores = cores;
                folding.add(process, job);
            }
            folding.into_jobs().into_iter().map(|job| job.processes).collect::<Vec<_>>()
        };
        assert_eq!(folded(&[1, 2, 1, 2]), [[0, 2], [1, 3]]);
        let from_0: [Vec<u32>; 2] = [vec![], vec![2, 3]];
        assert_eq!(folded(&[1, 1, 2, 2]), from_0);
        assert_eq!(folded(&[1, 1, 1, 1]), [[0_u32; 0]]);
    }

    #[test]
    fn what_makes_two_jobs_is_named_by_its_setting() {
        let job = |change: fn(&mut JobDescription)| {
            let mut job = JobDescription::new(JobSpec::new(["run"]));
            change(&mut job);
            job
        };
        let (plain, terms) = (job(|_| {}), Terms { tasks: "tasks", inputs: "init", outputs: "final" });
        for (other, expected) in [
            (job(|job| job.spec.needs.cores = 2), "request_cpus"),
            (job(|job| job.spec.needs.time_limit_s = 2.0), "allowed_execute_duration"),
            (job(|job| job.spec.command.push(String::new())), "arguments (how many)"),
            (job(|job| job.spec.outputs.push(String::new())), "final"),
            (job(|job| job.inputs.push(LocalFile::new(""))), "init"),
            (job(|_| {}), "init"),
            (
                job(|job| (job.spec.priority, job.spec.retries, job.spec.hold) = (1, 1, true)),
                "priority, max_retries",
            ),
        ] {
            assert_eq!(differing(&plain, &other, &terms).join(", "), expected);
        }
    }
}
