use gleaner_units::{TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tasks that wait, by class: what one machine could take is found without a look at each task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// By class; empty for those that wait no more.
    by_class: Vec<Ranges>,
    /// A bit for each class that has any, 64 to a word.
    present: Vec<u64>,
}

/// Tasks as ranges of their numbers, each its first and its last, which is in it. No two touch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ranges {
    /// The lowest is apart: most tasks come to an empty line, or leave at its head.
    lowest: Option<(TaskId, TaskId)>,
    /// The others, each by its first.
    later: BTreeMap<TaskId, TaskId>,
    count: u32,
}

fn offset(task: TaskId, by: usize) -> TaskId {
    TaskId::new(task.index() + by)
}

/// Whether a task comes right after another.
fn follows(task: TaskId, on: TaskId) -> bool {
    task.index() == on.index() + 1
}

impl Ranges {
    /// In order.
    fn each(&self) -> impl Iterator<Item = (TaskId, TaskId)> + '_ {
        self.lowest.into_iter().chain(self.later.iter().map(|(&first, &last)| (first, last)))
    }

    /// The range that a task is in.
    fn with(&self, task: TaskId) -> Option<(TaskId, TaskId)> {
        let lowest = self.lowest.filter(|(_, last)| task <= *last);
        let later = || self.later.range(..=task).next_back().map(|(&first, &last)| (first, last));
        lowest.or_else(later).filter(|(first, last)| (*first..=*last).contains(&task))
    }

    /// None of them is here yet.
    fn add(&mut self, first: TaskId, count: u32) {
        let last = offset(first, count as usize - 1);
        self.count += count;
        match &mut self.lowest {
            None => self.lowest = Some((first, last)),
            Some((_, end)) if follows(first, *end) => {
                *end = last;
                let (&next, &behind) = match self.later.first_key_value() {
                    Some(next) if follows(*next.0, last) => next,
                    Some(_) | None => return,
                };
                self.later.remove(&next);
                *end = behind;
            }
            Some((start, _)) if follows(*start, last) => *start = first,
            Some((start, end)) if last < *start => {
                self.later.insert(*start, *end);
                self.lowest = Some((first, last));
            }
            Some(_) => self.add_later((first, last)),
        }
    }

    fn add_later(&mut self, (mut first, mut last): (TaskId, TaskId)) {
        if let Some((&earlier, &end)) = self.later.range(..first).next_back()
            && follows(first, end)
        {
            first = earlier;
        }
        if let Some(end) = self.later.remove(&offset(last, 1)) {
            last = end;
        }
        self.later.insert(first, last);
    }

    /// All of them are here, or none. Neighbours are one range, so that all are in the same. Whether they were here.
    fn remove(&mut self, task: TaskId, count: u32) -> bool {
        let Some((first, last)) = self.with(task) else { return false };
        let end = offset(task, count as usize - 1);
        assert!(end <= last, "{end} waits with {task}");
        self.count -= count;
        let before = (first < task).then(|| (first, TaskId::new(task.index() - 1)));
        let behind = (end < last).then(|| (offset(end, 1), last));
        if self.lowest == Some((first, last)) {
            self.later.extend(before.and(behind));
            self.lowest = before.or(behind).or_else(|| self.later.pop_first());
        } else {
            self.later.remove(&first);
            self.later.extend(before.into_iter().chain(behind));
        }
        true
    }
}

impl Waiting {
    /// Costs O(log ranges), as [`remove`](Self::remove) does; mostly O(1).
    pub(super) fn add(&mut self, class: TaskClassId, first: TaskId, count: u32) {
        if self.by_class.len() <= class.index() {
            self.by_class.resize_with(class.index() + 1, Ranges::default);
            self.present.resize(class.index() / 64 + 1, 0);
        }
        self.by_class[class.index()].add(first, count);
        self.present[class.index() / 64] |= 1 << (class.index() % 64);
    }

    pub(super) fn remove(&mut self, class: TaskClassId, first: TaskId, count: u32) {
        let Some(tasks) = self.by_class.get_mut(class.index()) else { return };
        if tasks.remove(first, count) && tasks.count == 0 {
            self.present[class.index() / 64] &= !(1 << (class.index() % 64));
        }
    }

    #[inline]
    pub(super) fn count_of(&self, class: TaskClassId) -> u32 {
        self.by_class.get(class.index()).map_or(0, |tasks| tasks.count)
    }

    pub(super) fn contains(&self, class: TaskClassId, task: TaskId) -> bool {
        self.by_class.get(class.index()).is_some_and(|tasks| tasks.with(task).is_some())
    }

    /// Each class that waits, with its lowest task. Ids are given in order of arrival, so that one has waited longest. Costs
    /// O(classes / 64) besides.
    #[inline]
    pub(super) fn first_of_each(&self) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
        self.present.iter().enumerate().flat_map(move |(word, &bits)| {
            let left = std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
            left.take_while(|bits| *bits != 0).filter_map(move |bits| {
                let class = TaskClassId::new(64 * word + bits.trailing_zeros() as usize);
                Some((class, self.first_of(class)?))
            })
        })
    }

    /// All of them, class by class.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
        self.by_class.iter().enumerate().flat_map(|(class, tasks)| {
            let numbers = tasks.each().flat_map(|(first, last)| first.index()..=last.index());
            numbers.map(move |number| (TaskClassId::new(class), TaskId::new(number)))
        })
    }

    /// The lowest task of a class.
    #[inline]
    pub(super) fn first_of(&self, class: TaskClassId) -> Option<TaskId> {
        self.by_class.get(class.index())?.lowest.map(|(first, _)| first)
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
        let range = |(first, last): (TaskId, TaskId)| {
            if first == last {
                format!("{}", first.index())
            } else {
                format!("{}-{}", first.index(), last.index())
            }
        };
        ranges.each().map(range).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranges_grow_together_and_are_split() {
        for (added, expected) in [
            ("5", "5"),
            ("5 6", "5-6"),
            ("6 5", "5-6"),
            ("0-3 5-9 4", "0-9"),
            ("7 0-2 4", "0-2 4 7"),
            ("0 4-5 9 6-8", "0 4-9"),
            ("2 4 3 0", "0 2-4"),
        ] {
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
        for (removed, count, expected) in [(0, 1, "4-6 8"), (5, 1, "0 4 6 8"), (8, 1, "0 4-6"), (4, 3, "0 8")]
        {
            let mut ranges = ranges("0 4-6 8");
            assert!(ranges.remove(TaskId::new(removed), count));
            assert_eq!(text(&ranges), expected, "without {count} from {removed} on");
            assert!(!ranges.remove(TaskId::new(removed), count), "they are gone");
        }
    }
}
