//! What a user submits, and how one job becomes many tasks.
//!
//! A job is one program with parameters. In each of its texts (arguments, variables, file names), `{NAME}` stands for
//! the task's value of that parameter; braces around anything else are left as they are, and so is `${NAME}`, which a
//! shell reads. Each parameter is also a
//! variable in the task's environment, under its own name, and [`INDEX`] is always among them.

mod filling;
mod held;
mod numbers;
mod own;
mod placing;
mod signed;

pub use filling::{Filled, fill_in};
pub use numbers::ranges;
pub use own::{OwnInputs, ReadBy, Whose};
pub use placing::stays_inside;
pub use signed::{Signed, SignedText};

use crate::limits::{LENGTH_MAX, LENGTHS_PER_JOB_MAX};
use crate::{BlobHash, Words};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use thiserror::Error;

/// The parameter that each task has: its number within its job.
pub const INDEX: &str = "GLEANER_INDEX";
/// The parameter by which the tasks of a job say how long each of them is, where they differ: see [`JobSpec::length`].
pub const LENGTH: &str = "GLEANER_LENGTH";

/// A program and how often, with what and where it runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobSpec {
    /// For people.
    #[serde(default)]
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// One task, or many.
    #[serde(default)]
    pub tasks: TaskList,
    /// Variables besides those that Gleaner sets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Where it runs; its own empty folder if nothing is said. Only a task outside the sandbox may ask for another.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What it reads from standard input.
    #[serde(default)]
    pub stdin: Option<BlobHash>,
    /// Files that lie in the task's folder before it starts.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Files of which each task finds its own there.
    #[serde(default)]
    pub own_inputs: Vec<OwnInputs>,
    /// Files in the task's folder, or patterns of them, that are kept when it ends.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// Tasks of one label are taken to be alike in how they use a machine: what is learnt from one holds for all.
    #[serde(default)]
    pub label: Option<String>,
    /// How its operations divide over CPU, disk and network, if the user knows; else it is learnt from the label.
    #[serde(default)]
    pub composition: Option<[f64; 3]>,
    /// How many operations each of its tasks takes, if the user knows: what policies plan by that think of costs and of
    /// when machines will be ready. A machine's speeds are in millions of them a second.
    #[serde(default)]
    pub length: Option<f64>,
    /// What it needs of a machine.
    #[serde(default)]
    pub needs: Needs,
    /// Requirements on machines, in the `ClassAd` language.
    #[serde(default)]
    pub requirements: Option<String>,
    /// Which machines it likes best, in the `ClassAd` language.
    #[serde(default)]
    pub rank: Option<String>,
    /// Higher goes first; 0 unless something is said.
    #[serde(default)]
    pub priority: i32,
    /// How often it is tried again when it fails.
    #[serde(default)]
    pub retries: u32,
    /// How many machines have to give the same answer (exit code, standard output and output files) before a task is done.
    #[serde(default = "one")]
    pub quorum: u32,
    /// A program and its arguments that says whether two answers of a task that ended well are the same, by exit code 0, or not, by 1;
    /// it gets the folders with the output files of each as its last two arguments. Equal bytes are the same if nothing is said.
    #[serde(default)]
    pub compare: Vec<String>,
    /// How it can be stopped and go on elsewhere.
    #[serde(default)]
    pub checkpoint: Checkpointing,
    /// Whether it waits to be released before it may start.
    #[serde(default)]
    pub hold: bool,
    /// Where it may reach.
    #[serde(default)]
    pub confinement: Confinement,
    /// That its user wants it to run, for machines whose owners ask for that.
    #[serde(default)]
    pub signed: Option<Box<Signed>>,
}

fn one() -> u32 {
    1
}

/// Which tasks a job has.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = JobTasks))]
pub enum TaskList {
    /// One task, number 0.
    #[default]
    One,
    /// One task for each number from `first` to `last`, `step` apart; a task's number is its own.
    Array {
        /// The first number.
        first: u32,
        /// No task has a higher number.
        last: u32,
        /// At least 1.
        step: u32,
    },
    /// One task for each of these numbers, which rise; a task's number is its own.
    Numbers(Vec<u32>),
    /// One task for each row of a table; numbered from 0.
    Rows {
        /// The names of the columns, which are the parameters.
        names: Vec<String>,
        /// Row after row.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
        values: Words,
    },
    /// One task for each combination of values, the last parameter changing fastest; numbered from 0.
    Sweep {
        /// Each parameter with its values.
        axes: Vec<(String, Vec<String>)>,
    },
}

/// A file that a task finds in its folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Input {
    /// Its name there, relative, without `..`.
    pub path: String,
    /// Its bytes, uploaded before.
    pub blob: BlobHash,
    /// Whether it may be run.
    #[serde(default)]
    pub executable: bool,
}

/// What a task needs of a machine while it runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Needs {
    /// How many places it takes on a machine.
    pub cores: u32,
    /// Bytes of memory that are kept free for it, and that it may not exceed; 0 for no claim and no limit.
    pub memory: u64,
    /// Bytes that its folder may grow to; 0 for no limit.
    pub disk: u64,
    /// Seconds after which a run is stopped as failed; 0 for no limit.
    pub time_limit_s: f64,
}

impl Default for Needs {
    fn default() -> Self {
        Self { cores: 1, memory: 0, disk: 0, time_limit_s: 0.0 }
    }
}

/// How a task can be stopped without losing what it has done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Checkpointing {
    /// Whether it keeps in the folder `GLEANER_CHECKPOINT` what it needs to go on from there.
    pub folder: bool,
    /// An exit code by which it says: "I have checkpointed, run me again".
    pub exit_code: Option<i32>,
    /// Seconds from the request to stop (SIGTERM) until it is killed.
    pub grace_s: f64,
}

impl Default for Checkpointing {
    fn default() -> Self {
        Self { folder: false, exit_code: None, grace_s: 10.0 }
    }
}

/// What of its machine a task can reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Confinement {
    /// Its own folder, and the system read-only.
    #[default]
    Sandbox,
    /// Likewise, and the network.
    SandboxWithNetwork,
    /// All that its user can: only on agents that run as the very user who submitted it.
    None,
}

impl JobSpec {
    /// The files that its tasks read.
    pub fn files(&self) -> impl Iterator<Item = &BlobHash> {
        let own = self.own_inputs.iter().flat_map(|own| own.files.values().flatten());
        self.inputs.iter().chain(own).map(|input| &input.blob).chain(&self.stdin)
    }

    /// How long its tasks are, where that is known: how many in a row are of one length. A task's own [`LENGTH`] goes
    /// before the job's.
    ///
    /// Costs O(rows) for a table, and O(stretches) else.
    pub fn lengths(&self) -> Result<Vec<(u32, Option<f64>)>, InvalidLengths> {
        let count = self.tasks.count();
        let mut lengths: Vec<(u32, Option<f64>)> = Vec::new();
        let mut last = None;
        let mut add = |tasks: u32, text: &str| {
            // Most are as the one before.
            let is_same = last.as_deref() == Some(text);
            match lengths.last_mut() {
                Some((count, _)) if is_same => *count += tasks,
                _ => {
                    let length = text.parse().ok().filter(|&length| is_length(length));
                    let length = length.ok_or_else(|| InvalidLengths::NoLength(text.to_owned()))?;
                    if lengths.len() == LENGTHS_PER_JOB_MAX {
                        return Err(InvalidLengths::TooMany);
                    }
                    lengths.push((tasks, Some(length)));
                    last = Some(text.to_owned());
                }
            }
            Ok(())
        };
        match &self.tasks {
            TaskList::Rows { names, values } if self.tasks.has(LENGTH) => {
                let column = names.iter().position(|name| name == LENGTH).unwrap_or_default();
                for row in 0..count as usize {
                    add(1, values.get(row * names.len() + column))?;
                }
            }
            TaskList::Sweep { axes } if self.tasks.has(LENGTH) => {
                let place = axes.iter().position(|(name, _)| name == LENGTH).unwrap_or_default();
                // Those behind it change faster.
                let in_a_row =
                    axes[place + 1..].iter().map(|(_, values)| values.len() as u32).product::<u32>();
                let values = &axes[place].1;
                for stretch in 0..(count / in_a_row.max(1)) as usize {
                    add(in_a_row, &values[stretch % values.len()])?;
                }
            }
            TaskList::One
            | TaskList::Array { .. }
            | TaskList::Numbers(_)
            | TaskList::Rows { .. }
            | TaskList::Sweep { .. } => {
                return Ok(vec![(count, self.length)]);
            }
        }
        Ok(lengths)
    }

    /// One task of a program, in the sandbox, with nothing else said.
    pub fn new<'a>(command: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            name: String::new(),
            command: command.into_iter().map(str::to_owned).collect(),
            tasks: TaskList::One,
            env: BTreeMap::new(),
            cwd: None,
            stdin: None,
            inputs: Vec::new(),
            own_inputs: Vec::new(),
            outputs: Vec::new(),
            label: None,
            composition: None,
            length: None,
            needs: Needs::default(),
            requirements: None,
            rank: None,
            priority: 0,
            retries: 0,
            quorum: 1,
            compare: Vec::new(),
            checkpoint: Checkpointing::default(),
            hold: false,
            confinement: Confinement::Sandbox,
            signed: None,
        }
    }
}

/// Why the lengths of a job's tasks cannot be taken.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidLengths {
    /// What is written there is none.
    #[error("{LENGTH} is {0:?}; expected operations as a number above 0, at most {LENGTH_MAX:e}")]
    NoLength(String),
    /// They change too often from one task to the next.
    #[error(
        "{LENGTH} changes more than {LENGTHS_PER_JOB_MAX} times from one task to the next; put tasks of one length \
         next to each other, or submit several jobs"
    )]
    TooMany,
}

/// Whether a task can be so long.
pub fn is_length(operations: f64) -> bool {
    operations > 0.0 && operations <= LENGTH_MAX
}

impl TaskList {
    /// Whether its tasks have a parameter of that name, besides those that all tasks have.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::One | Self::Array { .. } | Self::Numbers(_) => false,
            Self::Rows { names, .. } => names.iter().any(|other| other == name),
            Self::Sweep { axes } => axes.iter().any(|(other, _)| other == name),
        }
    }

    /// The names of its tasks' parameters, [`INDEX`] among them.
    pub fn names(&self) -> Vec<&str> {
        let own: Vec<&str> = match self {
            Self::One | Self::Array { .. } | Self::Numbers(_) => Vec::new(),
            Self::Rows { names, .. } => names.iter().map(String::as_str).collect(),
            Self::Sweep { axes } => axes.iter().map(|(name, _)| name.as_str()).collect(),
        };
        own.into_iter().chain(std::iter::once(INDEX)).collect()
    }

    /// How many tasks; saturates far above [`TASKS_PER_JOB_MAX`](crate::limits::TASKS_PER_JOB_MAX).
    pub fn count(&self) -> u32 {
        let count = match self {
            Self::One => 1,
            Self::Array { first, last, step } if first <= last => {
                u64::from((last - first) / (*step).max(1)) + 1
            }
            Self::Array { .. } => 0,
            Self::Numbers(numbers) => numbers.len() as u64,
            Self::Rows { names, values } => (values.len() / names.len().max(1)) as u64,
            Self::Sweep { axes } => {
                axes.iter().fold(1, |all: u64, (_, values)| all.saturating_mul(values.len() as u64))
            }
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The number within its job of the task at a position, counted from 0.
    pub fn number(&self, position: u32) -> u32 {
        match self {
            Self::Array { first, step, .. } => first + position * step,
            Self::Numbers(numbers) => numbers[position as usize],
            Self::One | Self::Rows { .. } | Self::Sweep { .. } => position,
        }
    }

    /// The position of the task with that number.
    pub fn position(&self, number: u32) -> Option<u32> {
        let position = match self {
            Self::Array { first, step, .. } => {
                let offset = number.checked_sub(*first)?;
                (offset % step == 0).then(|| offset / step)?
            }
            Self::Numbers(numbers) => numbers.binary_search(&number).ok()? as u32,
            Self::One | Self::Rows { .. } | Self::Sweep { .. } => number,
        };
        (position < self.count()).then_some(position)
    }

    /// The parameters of the task at a position, each with its value; [`INDEX`] first.
    pub fn parameters(&self, position: u32) -> Vec<(&str, String)> {
        let mut parameters = vec![(INDEX, self.number(position).to_string())];
        match self {
            Self::One | Self::Array { .. } | Self::Numbers(_) => {}
            Self::Rows { names, values } => {
                let row = position as usize * names.len();
                let pairs = names.iter().zip(row..);
                parameters.extend(pairs.map(|(name, at)| (name.as_str(), values.get(at).to_owned())));
            }
            Self::Sweep { axes } => {
                let mut rest = position as usize;
                let mut chosen = Vec::new();
                for (name, values) in axes.iter().rev() {
                    chosen.push((name.as_str(), values[rest % values.len()].clone()));
                    rest /= values.len();
                }
                parameters.extend(chosen.into_iter().rev());
            }
        }
        parameters
    }

    /// The value of one of the parameters of the task at a position, where its tasks have that.
    pub fn parameter(&self, name: &str, position: u32) -> Option<Cow<'_, str>> {
        if name == INDEX {
            return Some(Cow::Owned(self.number(position).to_string()));
        }
        match self {
            Self::One | Self::Array { .. } | Self::Numbers(_) => None,
            Self::Rows { names, values } => {
                let column = names.iter().position(|other| other == name)?;
                Some(Cow::Borrowed(values.get(position as usize * names.len() + column)))
            }
            Self::Sweep { axes } => {
                let place = axes.iter().position(|(other, _)| other == name)?;
                // Those behind it change faster.
                let in_a_row: usize = axes[place + 1..].iter().map(|(_, values)| values.len()).product();
                let values = &axes[place].1;
                Some(Cow::Borrowed(&values[position as usize / in_a_row % values.len()]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep() -> TaskList {
        let values = |values: &[&str]| values.iter().map(ToString::to_string).collect();
        TaskList::Sweep {
            axes: vec![("a".into(), values(&["1", "2"])), ("b".into(), values(&["x", "y", "z"]))],
        }
    }

    #[test]
    fn numbers_and_positions_agree() {
        let rows = TaskList::Rows {
            names: vec!["a".into(), "b".into()],
            values: ["", "b", "", "", "e", "f"].into_iter().collect(),
        };
        let array = TaskList::Array { first: 3, last: 10, step: 3 };
        let listed = TaskList::Numbers(vec![1, 3, 11]);
        for (list, numbers) in [
            (TaskList::One, vec![0]),
            (array, vec![3, 6, 9]),
            (listed, vec![1, 3, 11]),
            (rows, vec![0, 1, 2]),
        ] {
            assert_eq!(list.count() as usize, numbers.len());
            let found: Vec<u32> = (0..list.count()).map(|position| list.number(position)).collect();
            assert_eq!(found, numbers);
            for number in 0..12 {
                let position = numbers.iter().position(|&other| other == number);
                assert_eq!(list.position(number), position.map(|position| position as u32), "{number}");
            }
        }
        assert_eq!(TaskList::Array { first: 5, last: 4, step: 1 }.count(), 0);
        assert_eq!(TaskList::Array { first: 0, last: u32::MAX, step: 1 }.count(), u32::MAX);
    }

    #[test]
    fn a_row_has_one_value_for_each_name() {
        let json = r#"{"rows": {"names": ["a", "b"], "values": ["1", "", "x\ny", "ü"]}}"#;
        let rows: TaskList = serde_json::from_str(json).expect("a list of tasks");
        let index = (INDEX, "1".to_owned());
        assert_eq!(rows.parameters(1), [index, ("a", "x\ny".to_owned()), ("b", "ü".to_owned())]);
        let written = serde_json::to_string(&rows).expect("plain data");
        assert_eq!(serde_json::from_str::<TaskList>(&written).expect("it was just written"), rows);
    }

    #[test]
    fn the_last_parameter_of_a_sweep_changes_fastest() {
        let sweep = sweep();
        let tasks = (0..sweep.count()).map(|position| {
            let parameters = sweep.parameters(position);
            parameters.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("")
        });
        assert_eq!(tasks.collect::<Vec<_>>(), ["01x", "11y", "21z", "32x", "42y", "52z"]);
    }

    #[test]
    fn each_parameter_is_the_one_of_all_that_has_its_name() {
        let rows = TaskList::Rows {
            names: vec!["a".into(), "b".into()],
            values: ["1", "x", "2", "y"].into_iter().collect(),
        };
        for tasks in [TaskList::One, TaskList::Numbers(vec![3, 7]), rows, sweep()] {
            for position in 0..tasks.count() {
                for (name, value) in tasks.parameters(position) {
                    let found = tasks.parameter(name, position);
                    assert_eq!(found.as_deref(), Some(value.as_str()), "{name} of {position}");
                }
                assert_eq!(tasks.parameter("other", position), None);
            }
        }
    }

    #[test]
    fn a_tasks_own_length_goes_before_the_jobs() {
        let rows = |values: &[&str]| TaskList::Rows {
            names: vec![LENGTH.into()],
            values: values.iter().copied().collect(),
        };
        for (tasks, length, expected) in [
            (TaskList::One, None, Ok(vec![(1, None)])),
            (TaskList::One, Some(5.0), Ok(vec![(1, Some(5.0))])),
            (rows(&["12e6"]), Some(5.0), Ok(vec![(1, Some(12e6))])),
            (rows(&["7", "7", "8", "7"]), None, Ok(vec![(2, Some(7.0)), (1, Some(8.0)), (1, Some(7.0))])),
            (rows(&["0"]), None, Err(InvalidLengths::NoLength("0".to_owned()))),
            (rows(&["long"]), None, Err(InvalidLengths::NoLength("long".to_owned()))),
            (sweep(), Some(5.0), Ok(vec![(6, Some(5.0))])),
            (along(&["a", LENGTH, "b"]), None, Ok([(3, Some(1.0)), (3, Some(2.0))].repeat(2))),
            (along(&["a", "b", LENGTH]), None, Ok([(1, Some(1.0)), (1, Some(2.0))].repeat(6))),
        ] {
            let job = JobSpec { tasks, length, ..JobSpec::new(["run"]) };
            assert_eq!(job.lengths(), expected);
        }
    }

    /// A sweep over axes of these names in this order, of two lengths, two a and three b.
    fn along(names: &[&str]) -> TaskList {
        let count = |name: &str| if name == "b" { 3 } else { 2 };
        let values = |name: &str| (1..=count(name)).map(|value: u32| value.to_string()).collect();
        TaskList::Sweep { axes: names.iter().map(|name| ((*name).to_owned(), values(name))).collect() }
    }

    #[test]
    fn lengths_of_tasks_change_so_often_at_most() {
        let sweep = |axes: &[(&str, usize)]| {
            let values = |count: usize| (1..=count).map(|value| value.to_string()).collect();
            TaskList::Sweep { axes: axes.iter().map(|&(name, count)| (name.into(), values(count))).collect() }
        };
        let lengths = |tasks| JobSpec { tasks, ..JobSpec::new(["run"]) }.lengths();
        let last = lengths(sweep(&[("a", LENGTHS_PER_JOB_MAX / 100), (LENGTH, 100)]));
        assert_eq!(last.expect("just as many").len(), LENGTHS_PER_JOB_MAX);
        assert_eq!(
            lengths(sweep(&[("a", 1 + LENGTHS_PER_JOB_MAX / 100), (LENGTH, 100)])),
            Err(InvalidLengths::TooMany)
        );
        // Ten million tasks of a hundred lengths.
        assert_eq!(lengths(sweep(&[(LENGTH, 100), ("a", 100_000)])).expect("lengths").len(), 100);
    }
}
