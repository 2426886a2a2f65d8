//! How long a job's tasks are, as its user says.

use super::{JobSpec, LENGTH, TaskList};
use crate::limits::{LENGTH_MAX, LENGTHS_PER_JOB_MAX};
use thiserror::Error;

impl JobSpec {
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

#[cfg(test)]
mod tests {
    use super::*;

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
            (along(&["a", "b"]), Some(5.0), Ok(vec![(6, Some(5.0))])),
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
