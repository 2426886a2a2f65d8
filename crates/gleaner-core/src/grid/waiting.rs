use gleaner_units::{TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tasks that wait, by class: what one machine could take is found without a look at each task.
///
/// Of each class they are ranges of tasks' numbers, no two of which touch. **The lowest is apart: most tasks come to an empty
/// line, or leave at its head**, and what lies side by side of all classes is small.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// By class.
    lines: Vec<Line>,
    /// By class: the ranges behind the lowest, each by its first.
    later: Vec<BTreeMap<TaskId, TaskId>>,
    /// A bit for each class that has any, 64 to a word.
    present: Vec<u64>,
}

/// The waiting tasks of a class.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// How many they are; 0 for those that wait no more.
    count: u32,
    /// Of how many of them the numbers follow on each other, from the first on.
    together: u32,
    first: TaskId,
}

/// Its first and its last, which is in it.
type Range = (TaskId, TaskId);

fn offset(task: TaskId, by: usize) -> TaskId {
    TaskId::new(task.index() + by)
}

/// Whether a task comes right after another.
fn follows(task: TaskId, on: TaskId) -> bool {
    task.index() == on.index() + 1
}

impl Line {
    fn lowest(self) -> Option<Range> {
        (self.count > 0).then(|| (self.first, offset(self.first, self.together as usize - 1)))
    }

    fn set_lowest(&mut self, (first, last): Range) {
        (self.first, self.together) = (first, (last.index() - first.index()) as u32 + 1);
    }
}

fn add_later(later: &mut BTreeMap<TaskId, TaskId>, (mut first, mut last): Range) {
    if let Some((earlier, end)) = last_until(later, first)
        && follows(first, end)
    {
        first = earlier;
    }
    if let Some(end) = later.remove(&offset(last, 1)) {
        last = end;
    }
    later.insert(first, last);
}

/// The last range that begins at or before a task.
fn last_until(later: &BTreeMap<TaskId, TaskId>, task: TaskId) -> Option<Range> {
    later.range(..=task).next_back().map(|(&first, &last)| (first, last))
}

impl Waiting {
    /// None of them is here yet. Costs O(log ranges), as [`remove`](Self::remove) does; mostly O(1).
    pub(super) fn add(&mut self, class: TaskClassId, first: TaskId, count: u32) {
        if self.lines.len() <= class.index() {
            self.lines.resize(class.index() + 1, Line::default());
            self.later.resize_with(class.index() + 1, BTreeMap::new);
            self.present.resize(class.index() / 64 + 1, 0);
        }
        self.present[class.index() / 64] |= 1 << (class.index() % 64);
        let last = offset(first, count as usize - 1);
        let (line, later) = (&mut self.lines[class.index()], &mut self.later[class.index()]);
        let lowest = line.lowest();
        line.count += count;
        match lowest {
            None => line.set_lowest((first, last)),
            Some((start, end)) if follows(first, end) => {
                line.set_lowest((start, last));
                if line.count > line.together
                    && let Some(behind) = later.remove(&offset(last, 1))
                {
                    line.set_lowest((start, behind));
                }
            }
            Some((start, end)) if follows(start, last) => line.set_lowest((first, end)),
            Some((start, end)) if last < start => {
                line.set_lowest((first, last));
                later.insert(start, end);
            }
            Some(_) => add_later(later, (first, last)),
        }
    }

    /// The range that a task is in.
    fn with(&self, class: TaskClassId, task: TaskId) -> Option<Range> {
        let lowest = self.lines.get(class.index())?.lowest()?;
        let later = || last_until(&self.later[class.index()], task);
        let range = if task <= lowest.1 { Some(lowest) } else { later() };
        range.filter(|(first, last)| (*first..=*last).contains(&task))
    }

    /// All of them are here, or none. Neighbours are one range, so that all are in the same.
    pub(super) fn remove(&mut self, class: TaskClassId, task: TaskId, count: u32) {
        let Some((first, last)) = self.with(class, task) else { return };
        let end = offset(task, count as usize - 1);
        assert!(end <= last, "{end} waits with {task}");
        let before = (first < task).then(|| (first, TaskId::new(task.index() - 1)));
        let behind = (end < last).then(|| (offset(end, 1), last));
        let (line, later) = (&mut self.lines[class.index()], &mut self.later[class.index()]);
        line.count -= count;
        if line.count == 0 {
            self.present[class.index() / 64] &= !(1 << (class.index() % 64));
        } else if line.first == first {
            later.extend(before.and(behind));
            let lowest = before.or(behind).or_else(|| later.pop_first());
            line.set_lowest(lowest.expect("some are left"));
        } else {
            later.remove(&first);
            later.extend(before.into_iter().chain(behind));
        }
    }

    #[inline]
    pub(super) fn count_of(&self, class: TaskClassId) -> u32 {
        self.lines.get(class.index()).map_or(0, |line| line.count)
    }

    pub(super) fn contains(&self, class: TaskClassId, task: TaskId) -> bool {
        self.with(class, task).is_some()
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
        (0..self.lines.len()).map(TaskClassId::new).flat_map(|class| {
            let numbers = self.ranges_of(class).flat_map(|(first, last)| first.index()..=last.index());
            numbers.map(move |number| (class, TaskId::new(number)))
        })
    }

    /// In order.
    fn ranges_of(&self, class: TaskClassId) -> impl Iterator<Item = Range> + '_ {
        let lowest = self.lines[class.index()].lowest();
        lowest.into_iter().chain(self.later[class.index()].iter().map(|(&first, &last)| (first, last)))
    }

    /// What of them lies from one task to another, in order.
    pub(super) fn ranges_between(
        &self,
        class: TaskClassId,
        (first, last): Range,
    ) -> impl Iterator<Item = Range> + '_ {
        let lowest = self.lines.get(class.index()).and_then(|line| line.lowest());
        let later = self.later.get(class.index()).into_iter().flat_map(move |later| {
            let from = last_until(later, first).map_or(first, |(from, _)| from);
            later.range(from..=last).map(|(&first, &last)| (first, last))
        });
        let within =
            lowest.into_iter().chain(later).map(move |range| (range.0.max(first), range.1.min(last)));
        within.filter(|(first, last)| first <= last)
    }

    /// The lowest task of a class.
    #[inline]
    pub(super) fn first_of(&self, class: TaskClassId) -> Option<TaskId> {
        self.lines.get(class.index()).filter(|line| line.count > 0).map(|line| line.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const CLASS: TaskClassId = TaskClassId::new(1);

    fn waiting(text: &str) -> Waiting {
        let mut waiting = Waiting::default();
        for word in text.split_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let number = |word: &str| word.parse::<usize>().expect("a number");
            let count = (number(last) - number(first)) as u32 + 1;
            waiting.add(CLASS, TaskId::new(number(first)), count);
        }
        waiting
    }

    fn text(waiting: &Waiting) -> String {
        let range = |(first, last): (TaskId, TaskId)| {
            if first == last {
                format!("{}", first.index())
            } else {
                format!("{}-{}", first.index(), last.index())
            }
        };
        waiting.ranges_of(CLASS).map(range).collect::<Vec<_>>().join(" ")
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
            assert_eq!(text(&waiting(added)), expected, "{added}");
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
            let mut waiting = waiting("0-9");
            waiting.remove(CLASS, TaskId::new(removed), count);
            assert_eq!(text(&waiting), expected, "without {count} from {removed} on");
        }
        for (removed, count, expected) in [(0, 1, "4-6 8"), (5, 1, "0 4 6 8"), (8, 1, "0 4-6"), (4, 3, "0 8")]
        {
            let mut waiting = waiting("0 4-6 8");
            waiting.remove(CLASS, TaskId::new(removed), count);
            assert_eq!(text(&waiting), expected, "without {count} from {removed} on");
            assert!(!waiting.contains(CLASS, TaskId::new(removed)), "they are gone");
        }
    }

    #[test]
    fn it_is_a_set_of_tasks_for_each_class() {
        let mut random = 3_u64;
        let mut draw = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let (mut waiting, mut sets) = (Waiting::default(), vec![BTreeSet::new(); 3]);
        for step in 0..6_000 {
            let (class, task) = (draw(3), TaskId::new(draw(60)));
            let id = TaskClassId::new(class);
            assert_eq!(waiting.contains(id, task), sets[class].contains(&task));
            let grows = draw(4) < if step % 2_000 < 1_000 { 3 } else { 1 };
            if grows && sets[class].insert(task) {
                waiting.add(id, task, 1);
            } else if !grows {
                sets[class].remove(&task);
                waiting.remove(id, task, 1);
            }
            assert_eq!(waiting.first_of(id), sets[class].first().copied());
            assert_eq!(waiting.count_of(id) as usize, sets[class].len());
            let all = sets
                .iter()
                .enumerate()
                .flat_map(|(class, set)| set.iter().map(move |task| (TaskClassId::new(class), *task)));
            assert!(waiting.tasks().eq(all), "after {step}");
            let (from, to) = (draw(60), draw(60));
            let (from, to) = (TaskId::new(from.min(to)), TaskId::new(from.max(to)));
            let between = waiting.ranges_between(id, (from, to));
            let between = between.flat_map(|(first, last)| (first.index()..=last.index()).map(TaskId::new));
            assert!(between.eq(sets[class].range(from..=to).copied()), "from {from} to {to} after {step}");
        }
    }
}
