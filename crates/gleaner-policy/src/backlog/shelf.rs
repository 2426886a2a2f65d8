//! Tasks in order of length, and of id where they are equally long.
//!
//! They lie in blocks of bounded size: **no block is empty, and all that is in one comes before all that is in the
//! next.** With the lowest id of each block, the lowest of a range is found without a look at each task.

use super::{Size, Waiting};
use gleaner_units::{OpsTotal, TaskId};

/// A block that would have more is cut in two.
const BLOCK_MAX: usize = 256;

/// The tasks of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    blocks: Vec<Block>,
    ops: OpsTotal,
    /// The memory of the last block, which is soon wanted again where few wait.
    spare: Vec<Waiting>,
}

/// Where a task lies, as long as nothing is put on the shelf or taken off it that comes before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    block: usize,
    index: usize,
}

impl Place {
    /// Of the shortest task.
    pub(crate) const FIRST: Self = Self { block: 0, index: 0 };
}

#[derive(Clone, Debug)]
struct Block {
    tasks: Vec<Waiting>,
    /// The last of them, here so that a block is found without a look into others.
    last: Waiting,
    /// By id.
    lowest: Waiting,
}

/// Shelves are equal if they hold the same, however that is cut into blocks.
impl PartialEq for Shelf {
    fn eq(&self, other: &Self) -> bool {
        self.ops == other.ops && self.tasks().eq(other.tasks())
    }
}

fn lowest(tasks: &[Waiting]) -> Option<Waiting> {
    tasks.iter().copied().min_by_key(|task| task.id)
}

impl Block {
    fn of(tasks: Vec<Waiting>) -> Self {
        let (last, lowest) = tasks.last().copied().zip(lowest(&tasks)).expect("no block is empty");
        Self { tasks, last, lowest }
    }
}

impl Shelf {
    /// Costs O(blocks), and O(log tasks) in all but the moving of what is already in memory's nearest levels.
    pub(crate) fn insert(&mut self, task: Waiting) {
        self.ops += task.length.into();
        if self.blocks.is_empty() {
            let mut tasks = std::mem::take(&mut self.spare);
            tasks.push(task);
            self.blocks.push(Block { tasks, last: task, lowest: task });
            return;
        }
        let number = self.block_of(task).min(self.blocks.len() - 1);
        let block = &mut self.blocks[number];
        let at = block.tasks.partition_point(|other| other.key() < task.key());
        if at == block.tasks.len() {
            block.last = task;
        }
        block.tasks.insert(at, task);
        if task.id < block.lowest.id {
            block.lowest = task;
        }
        if block.tasks.len() > BLOCK_MAX {
            let upper = block.tasks.split_off(BLOCK_MAX / 2);
            let lower = std::mem::take(&mut block.tasks);
            *block = Block::of(lower);
            self.blocks.insert(number + 1, Block::of(upper));
        }
    }

    /// Whether it was there.
    pub(crate) fn remove(&mut self, task: Waiting) -> bool {
        let number = self.block_of(task);
        let Some(block) = self.blocks.get_mut(number) else { return false };
        let Ok(at) = block.tasks.binary_search_by_key(&task.key(), Waiting::key) else { return false };
        self.ops -= task.length.into();
        block.tasks.remove(at);
        let Some(&last) = block.tasks.last() else {
            self.spare = self.blocks.remove(number).tasks;
            return true;
        };
        block.last = last;
        if block.lowest.id == task.id {
            block.lowest = lowest(&block.tasks).expect("there is a last one");
        }
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Costs O(blocks).
    pub(crate) fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.tasks.len()).sum()
    }

    /// How long all of it is together.
    pub(crate) fn ops(&self) -> OpsTotal {
        self.ops
    }

    /// The shortest first.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = Waiting> + '_ {
        self.blocks.iter().flat_map(|block| &block.tasks).copied()
    }

    /// What lies at a place; nothing at the end.
    #[inline]
    pub(crate) fn at(&self, place: Place) -> Option<Waiting> {
        self.blocks.get(place.block)?.tasks.get(place.index).copied()
    }

    /// The place of the first of that size or larger, or the end.
    #[inline]
    pub(crate) fn place_of(&self, size: Size) -> Place {
        let block = self.blocks.partition_point(|block| block.last.size() < size);
        let smaller = |block: &Block| block.tasks.partition_point(|task| task.size() < size);
        Place { block, index: self.blocks.get(block).map_or(0, smaller) }
    }

    /// The place after one that is not the end.
    #[inline]
    pub(crate) fn next(&self, Place { block, index }: Place) -> Place {
        let is_last = index + 1 == self.blocks[block].tasks.len();
        if is_last { Place { block: block + 1, index: 0 } } else { Place { block, index: index + 1 } }
    }

    /// The place before one that is not the first.
    #[inline]
    pub(crate) fn previous(&self, Place { block, index }: Place) -> Place {
        match index.checked_sub(1) {
            Some(index) => Place { block, index },
            None => Place { block: block - 1, index: self.blocks[block - 1].tasks.len() - 1 },
        }
    }

    /// How many lie from one place until another. Costs O(blocks) between them, of which it does not look into any.
    pub(crate) fn count_between(&self, from: Place, until: Place) -> usize {
        self.parts(from, until).map(|(_, tasks)| tasks.len()).sum()
    }

    /// The lowest of those from one place until another, if it is below `bound`. Costs O(blocks) between them; it looks into
    /// the first and the last of them only if that may hold the lowest.
    pub(crate) fn lowest_between(&self, from: Place, until: Place, bound: Option<TaskId>) -> Option<Waiting> {
        let mut best: Option<Waiting> = None;
        for (block, tasks) in self.parts(from, until) {
            let below = best.map(|best| best.id).or(bound);
            let is_below = |task: &Waiting| below.is_none_or(|below| task.id < below);
            if !is_below(&block.lowest) {
                continue;
            }
            let lowest = if tasks.len() == block.tasks.len() { Some(block.lowest) } else { lowest(tasks) };
            best = lowest.filter(is_below).or(best);
        }
        best
    }

    /// The lowest of all. Costs O(blocks).
    pub(crate) fn lowest(&self) -> Option<TaskId> {
        self.blocks.iter().map(|block| block.lowest.id).min()
    }

    /// Each block with what lies in it between two places.
    fn parts(&self, from: Place, until: Place) -> impl Iterator<Item = (&Block, &[Waiting])> {
        let numbered = self.blocks.iter().enumerate().take(until.block + 1).skip(from.block);
        numbered.map(move |(number, block)| {
            let first = if number == from.block { from.index } else { 0 };
            let end = if number == until.block { until.index } else { block.tasks.len() };
            (block, &block.tasks[first..end])
        })
    }

    /// The first block that does not end before that task.
    fn block_of(&self, task: Waiting) -> usize {
        self.blocks.partition_point(|block| block.last.key() < task.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::Ops;
    use std::collections::BTreeSet;

    fn task(length: u64, id: usize) -> Waiting {
        Waiting { length: Ops::new(length as f64).expect("above 0"), id: TaskId::new(id) }
    }

    /// What is on a shelf after many changes is what a set holds after them, asked in every way.
    #[test]
    fn it_is_a_set_in_order() {
        let mut random = 1_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut shelf, mut set) = (Shelf::default(), BTreeSet::<(Size, TaskId)>::new());
        for step in 0..6_000 {
            let drawn = task(1 + draw(60), draw(2_000) as usize);
            // First it mostly grows, then it mostly shrinks.
            if draw(4) < if step < 3_000 { 3 } else { 1 } {
                if set.insert(drawn.key()) {
                    shelf.insert(drawn);
                }
            } else {
                assert_eq!(shelf.remove(drawn), set.remove(&drawn.key()));
            }
            let (one, other) = (1 + draw(62), 1 + draw(62));
            let (first, last) = (Size::of(one.min(other) as f64), Size::of(one.max(other) as f64));
            let between = || set.iter().filter(move |key| first <= key.0 && key.0 <= last);
            let (from, until) = (shelf.place_of(first), shelf.place_of(last.next()));
            assert_eq!(shelf.count_between(from, until), between().count());
            assert_eq!(shelf.lowest(), set.iter().map(|key| key.1).min());
            let lowest = between().map(|key| key.1).min();
            let lowest_between = |bound| shelf.lowest_between(from, until, bound).map(|task| task.id);
            assert_eq!(lowest_between(None), lowest);
            let bound = TaskId::new(draw(2_000) as usize);
            assert_eq!(lowest_between(Some(bound)), lowest.filter(|lowest| *lowest < bound));
            let key = |place: Place| shelf.at(place).map(|task| task.key());
            let mut after = set.iter().filter(|key| key.0 >= first).copied();
            assert_eq!(key(from), after.next());
            assert_eq!(key(from).and_then(|_| key(shelf.next(from))), after.next());
            let before = set.iter().rfind(|key| key.0 < first).copied();
            let previous = (from > Place::FIRST).then(|| shelf.previous(from));
            assert_eq!(previous.and_then(key), before);
            assert_eq!(shelf.is_empty(), set.is_empty());
        }
        assert!(shelf.blocks.len() > 1, "one block is no test");
        assert!(shelf.tasks().map(|task| task.key()).eq(set.iter().copied()));
        assert_eq!(shelf.ops(), shelf.tasks().map(|task| task.length.into()).sum());
        assert_eq!(shelf.count(), set.len());
    }
}
