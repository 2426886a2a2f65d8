//! Which numbers the tasks of a job have, in words.

use super::TaskList;

/// So many ranges of numbers are told.
const RANGES_TOLD: usize = 12;

/// Numbers that rise, those that follow each other as a range; `more` stands for those that are too many to be told.
pub fn ranges(numbers: &[u32], more: &str) -> String {
    let mut ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        [] | [_] => range.iter().map(u32::to_string).collect(),
    });
    let told: Vec<String> = ranges.by_ref().take(RANGES_TOLD).collect();
    told.join(", ") + if ranges.next().is_some() { more } else { "" }
}

impl TaskList {
    /// Which numbers its tasks have, as `its tasks are 1-4`.
    pub fn numbers_told(&self) -> String {
        let count = self.count();
        if count == 1 {
            return format!("its only task is {}", self.number(0));
        }
        let numbers = match self {
            Self::Numbers(numbers) => ranges(numbers, ", …"),
            Self::Array { first, step, .. } if *step > 1 => {
                format!("{first}-{} in steps of {step}", self.number(count.saturating_sub(1)))
            }
            Self::One | Self::Array { .. } | Self::Rows { .. } | Self::Sweep { .. } => {
                format!("{}-{}", self.number(0), self.number(count.saturating_sub(1)))
            }
        };
        format!("its tasks are {numbers}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_ranges() {
        assert_eq!(ranges(&[3], ""), "3");
        assert_eq!(ranges(&[0, 2, 3, 4, 7, 8], ""), "0, 2-4, 7-8");
        let odd: Vec<u32> = (0..100).map(|number| 2 * number + 1).collect();
        assert_eq!(ranges(&odd, ", and more"), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, and more");
    }

    #[test]
    fn the_numbers_of_tasks_are_told_however_they_were_given() {
        let rows = |count: usize| TaskList::Rows {
            names: vec!["a".into()],
            values: std::iter::repeat_n("x", count).collect(),
        };
        for (tasks, expected) in [
            (TaskList::One, "its only task is 0"),
            (TaskList::Array { first: 1, last: 4, step: 1 }, "its tasks are 1-4"),
            (TaskList::Array { first: 3, last: 10, step: 3 }, "its tasks are 3-9 in steps of 3"),
            (TaskList::Array { first: 7, last: 7, step: 1 }, "its only task is 7"),
            (TaskList::Numbers(vec![1, 3, 4, 5]), "its tasks are 1, 3-5"),
            (rows(1), "its only task is 0"),
            (rows(40), "its tasks are 0-39"),
        ] {
            assert_eq!(tasks.numbers_told(), expected, "{tasks:?}");
        }
    }
}
