//! Tasks in order of length, and of id where they are equally long.
//!
//! They lie in blocks of bounded size: **no block is empty, and all that is in one comes before all that is in the
//! next.** With the lowest id of each block, the lowest of a range is found without a look at each task.

use super::{Size, Waiting};
use gleaner_units::OpsTotal;

/// A block that would have more is cut in two.
const BLOCK_MAX: usize = 256;

/// The tasks of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    blocks: Vec<Block>,
    ops: OpsTotal,
}

#[derive(Clone, Debug)]
struct Block {
    tasks: Vec<Waiting>,
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
        let lowest = lowest(&tasks).expect("no block is empty");
        Self { tasks, lowest }
    }

    fn last(&self) -> Waiting {
        self.tasks[self.tasks.len() - 1]
    }
}

impl Shelf {
    /// Costs O(blocks), and O(log tasks) in all but the moving of what is already in memory's nearest levels.
    pub(crate) fn insert(&mut self, task: Waiting) {
        self.ops += task.length.into();
        if self.blocks.is_empty() {
            self.blocks.push(Block::of(vec![task]));
            return;
        }
        let number = self.block_of(task).min(self.blocks.len() - 1);
        let block = &mut self.blocks[number];
        let at = block.tasks.partition_point(|other| other.key() < task.key());
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
        if block.tasks.is_empty() {
            self.blocks.remove(number);
        } else if block.lowest.id == task.id {
            *block = Block::of(std::mem::take(&mut block.tasks));
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

    /// The first of that size or larger.
    #[inline]
    pub(crate) fn at_or_after(&self, size: Size) -> Option<Waiting> {
        let block = self.blocks.get(self.block_at(size))?;
        block.tasks.get(block.tasks.partition_point(|task| task.size() < size)).copied()
    }

    /// The last that is smaller.
    #[inline]
    pub(crate) fn before(&self, size: Size) -> Option<Waiting> {
        let number = self.block_at(size);
        let smaller = |block: &Block| block.tasks.partition_point(|task| task.size() < size);
        let within = self.blocks.get(number).map_or(0, smaller);
        match within.checked_sub(1) {
            Some(at) => Some(self.blocks[number].tasks[at]),
            None => Some(self.blocks[number.checked_sub(1)?].last()),
        }
    }

    /// How many are of these sizes. Costs O(blocks) there.
    pub(crate) fn count_of(&self, sizes: (Size, Size)) -> usize {
        self.parts(sizes).map(|(_, tasks)| tasks.len()).sum()
    }

    /// The lowest of these sizes. Costs O(blocks) there.
    pub(crate) fn lowest_of(&self, sizes: (Size, Size)) -> Option<Waiting> {
        let of_part = |(block, tasks): (&Block, &[Waiting])| {
            if tasks.len() == block.tasks.len() { Some(block.lowest) } else { lowest(tasks) }
        };
        self.parts(sizes).filter_map(of_part).min_by_key(|task| task.id)
    }

    /// Each block with what is in it of these sizes.
    fn parts(&self, (first, last): (Size, Size)) -> impl Iterator<Item = (&Block, &[Waiting])> {
        let blocks = self.blocks[self.block_at(first)..].iter();
        blocks.take_while(move |block| block.tasks[0].size() <= last).map(move |block| {
            let from = block.tasks.partition_point(|task| task.size() < first);
            let until = block.tasks.partition_point(|task| task.size() <= last);
            (block, &block.tasks[from..until])
        })
    }

    /// The first block that ends with that size or a larger one.
    #[inline]
    fn block_at(&self, size: Size) -> usize {
        self.blocks.partition_point(|block| block.last().size() < size)
    }

    /// The first block that does not end before that task.
    fn block_of(&self, task: Waiting) -> usize {
        self.blocks.partition_point(|block| block.last().key() < task.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::{Ops, TaskId};
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
            assert_eq!(shelf.count_of((first, last)), between().count());
            assert_eq!(shelf.lowest_of((first, last)).map(|task| task.id), between().map(|key| key.1).min());
            let after = set.iter().find(|key| key.0 >= first).copied();
            assert_eq!(shelf.at_or_after(first).map(|task| task.key()), after);
            let before = set.iter().rfind(|key| key.0 < first).copied();
            assert_eq!(shelf.before(first).map(|task| task.key()), before);
            assert_eq!(shelf.is_empty(), set.is_empty());
        }
        assert!(shelf.blocks.len() > 1, "one block is no test");
        assert!(shelf.tasks().map(|task| task.key()).eq(set.iter().copied()));
        assert_eq!(shelf.ops(), shelf.tasks().map(|task| task.length.into()).sum());
        assert_eq!(shelf.count(), set.len());
    }
}
