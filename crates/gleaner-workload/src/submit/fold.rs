//! From one description a task to few jobs of many tasks. A task is a process there, as `HTCondor` calls it.

use crate::submit::JobDescription;
use gleaner_wire::Words;
use gleaner_wire::job::{INDEX, TaskList, fill_in};

/// How the columns that are made here are called; a text that looks like one is itself put into a column.
pub(super) const COLUMN: &str = "GLEANER_";

/// Collects processes; those that differ in texts only become tasks of one job.
#[derive(Default)]
pub(super) struct Folding {
    groups: Vec<Group>,
    bytes: usize,
}

struct Group {
    /// The job with all texts empty.
    shape: JobDescription,
    processes: Vec<u32>,
    /// One for each text of the job.
    columns: Vec<Words>,
}

impl Folding {
    pub(super) fn add(&mut self, process: u32, mut job: JobDescription) {
        let texts: Vec<String> = slots(&mut job).into_iter().map(std::mem::take).collect();
        self.bytes += texts.iter().map(String::len).sum::<usize>();
        // Neighbours are mostly alike.
        let at = self.groups.iter().rposition(|group| group.shape == job).unwrap_or_else(|| {
            let columns = vec![Words::default(); texts.len()];
            self.groups.push(Group { shape: job, processes: Vec::new(), columns });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        group.processes.push(process);
        group.columns.iter_mut().zip(&texts).for_each(|(column, text)| column.push(text));
    }

    /// Of all texts of all processes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_jobs(self) -> Vec<JobDescription> {
        self.groups.into_iter().map(Group::into_job).collect()
    }
}

impl Group {
    fn into_job(mut self) -> JobDescription {
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
        self.shape
    }

    fn write(&mut self, texts: Vec<String>) {
        slots(&mut self.shape).into_iter().zip(texts).for_each(|(slot, text)| *slot = text);
    }
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
    let JobDescription { spec, inputs, stdin, stdout, stderr } = job;
    // Where an input has a name of its own, its source is part of the shape: a job cannot send each task another file by
    // one name.
    let files = inputs.iter_mut().map(|input| input.target.as_mut().unwrap_or(&mut input.source));
    let of_spec = spec.command.iter_mut().chain(spec.env.values_mut()).chain(&mut spec.outputs);
    of_spec.chain(files).chain(stdin).chain(stdout).chain(stderr).collect()
}
