//! Which tasks a job has: their numbers, and the parameters of each.

use super::INDEX;
use crate::Words;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which tasks a job has.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
}
