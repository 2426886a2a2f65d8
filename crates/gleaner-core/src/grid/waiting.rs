use gleaner_units::{TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tasks that wait, by class: what one machine could take is found without a look at each task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// No class without a task.
    by_class: BTreeMap<TaskClassId, Ranges>,
    /// How many; by class, with 0 for those that wait no more.
    counts: Vec<u32>,
}

/// Tasks as ranges of their numbers, each by its first with the last, which is in it. No two touch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ranges(BTreeMap<TaskId, TaskId>);

fn offset(task: TaskId, by: usize) -> TaskId {
    TaskId::new(task.index() + by)
}

impl Ranges {
    /// The range that begins at or before a task, and the nearest to it.
    fn before(&self, task: TaskId) -> Option<(TaskId, TaskId)> {
        self.0.range(..=task).next_back().map(|(&first, &last)| (first, last))
    }

    fn contains(&self, task: TaskId) -> bool {
        self.before(task).is_some_and(|(_, last)| task <= last)
    }

    /// None of them is here yet.
    fn add(&mut self, first: TaskId, count: u32) {
        let mut first = first;
        let mut last = offset(first, count as usize - 1);
        if let Some((earlier, end)) = self.before(first)
            && end.index() + 1 == first.index()
        {
            first = earlier;
        }
        if let Some((&later, &end)) = self.0.range(last..).next()
            && later.index() == last.index() + 1
        {
            self.0.remove(&later);
            last = end;
        }
        self.0.insert(first, last);
    }

    /// All of them are here, or none. Neighbours are one range, so that all are in the same.
    fn remove(&mut self, task: TaskId, count: u32) {
        let Some((first, last)) = self.before(task).filter(|(_, last)| task <= *last) else { return };
        if first == task {
            self.0.remove(&first);
        } else {
            self.0.insert(first, TaskId::new(task.index() - 1));
        }
        let end = offset(task, count as usize - 1);
        assert!(end <= last, "{end} waits with {task}");
        if end < last {
            self.0.insert(offset(end, 1), last);
        }
    }
}

impl Waiting {
    /// Costs O(log ranges), as [`remove`](Self::remove) does.
    pub(super) fn add(&mut self, class: TaskClassId, first: TaskId, count: u32) {
        self.by_class.entry(class).or_default().add(first, count);
        if self.counts.len() <= class.index() {
            self.counts.resize(class.index() + 1, 0);
        }
        self.counts[class.index()] += count;
    }

    pub(super) fn remove(&mut self, class: TaskClassId, first: TaskId, count: u32) {
        let Some(tasks) = self.by_class.get_mut(&class).filter(|tasks| tasks.contains(first)) else { return };
        tasks.remove(first, count);
        self.counts[class.index()] -= count;
        if tasks.0.is_empty() {
            self.by_class.remove(&class);
        }
    }

    #[inline]
    pub(super) fn count_of(&self, class: TaskClassId) -> u32 {
        self.counts.get(class.index()).copied().unwrap_or(0)
    }

    pub(super) fn contains(&self, class: TaskClassId, task: TaskId) -> bool {
        self.by_class.get(&class).is_some_and(|tasks| tasks.contains(task))
    }

    /// Each class that waits, with its lowest task. Ids are given in order of arrival, so that one has waited longest.
    pub(super) fn first_of_each(&self) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
        let classes = self.by_class.iter();
        classes.filter_map(|(&class, tasks)| Some((class, *tasks.0.first_key_value()?.0)))
    }

    /// All of them, class by class.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
        self.by_class.iter().flat_map(|(&class, tasks)| {
            let numbers = tasks.0.iter().flat_map(|(first, last)| first.index()..=last.index());
            numbers.map(move |number| (class, TaskId::new(number)))
        })
    }

    /// The lowest task of a class.
    pub(super) fn first_of(&self, class: TaskClassId) -> Option<TaskId> {
        Some(*self.by_class.get(&class)?.0.first_key_value()?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(text: &str) -> Ranges {
        let mut ranges = Ranges::default();
        for word in text.split_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let number = |word: &str| word.parse::<usize>().expect("a number");
            let count = (number(last) - number(first)) as u32 + 1;
            ranges.add(TaskId::new(number(first)), count);
        }
        ranges
    }

    fn text(ranges: &Ranges) -> String {
        let range = |(first, last): (&TaskId, &TaskId)| {
            if first == last {
                format!("{}", first.index())
            } else {
                format!("{}-{}", first.index(), last.index())
            }
        };
        ranges.0.iter().map(range).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranges_grow_together_and_are_split() {
        for (added, expected) in
            [("5", "5"), ("5 6", "5-6"), ("6 5", "5-6"), ("0-3 5-9 4", "0-9"), ("7 0-2 4", "0-2 4 7")]
        {
            assert_eq!(text(&ranges(added)), expected, "{added}");
        }
        for (removed, count, expected) in [
            (0, 1, "1-9"),
            (9, 1, "0-8"),
            (4, 1, "0-3 5-9"),
            (10, 1, "0-9"),
            (0, 10, ""),
            (0, 4, "4-9"),
            (5, 5, "0-4"),
            (2, 6, "0-1 8-9"),
        ] {
            let mut ranges = ranges("0-9");
            ranges.remove(TaskId::new(removed), count);
            assert_eq!(text(&ranges), expected, "without {count} from {removed} on");
        }
    }
}
