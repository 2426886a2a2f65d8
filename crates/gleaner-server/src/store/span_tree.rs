//! Which rows list a task, when a row may list a million of them: a segment tree over the task numbers.
//!
//! Node 1 covers all 2³² numbers, node *n* has the children 2*n* and 2*n* + 1, and the leaf of task *t* is 2³² + *t*.
//! A range is covered by at most 62 nodes, a single task by its leaf; and a task's rows are listed under the 33 nodes
//! on the way from its leaf to the root. So an index of (node, row) pairs answers with 33 look-ups, whatever the
//! ranges were.

use super::TaskRange;
use gleaner_units::TaskId;
use std::iter;

const LEAVES: i64 = 1 << 32;

fn leaf(task: TaskId) -> i64 {
    LEAVES | task.index().cast_signed() as i64
}

/// The fewest nodes that cover `range` and nothing else.
pub(super) fn cover(range: TaskRange) -> impl Iterator<Item = i64> {
    let mut low = leaf(range.first());
    let mut end = leaf(range.last()) + 1;
    iter::from_fn(move || {
        while low < end {
            // A right child at the low end, or one whose right sibling is past the end, is covered by itself: its parent
            // would cover too much.
            if low & 1 == 1 {
                low += 1;
                return Some(low - 1);
            }
            if end & 1 == 1 {
                end -= 1;
                return Some(end);
            }
            low >>= 1;
            end >>= 1;
        }
        None
    })
}

/// The nodes under which rows of `task` may be listed: its leaf, and what lies above it.
pub(super) fn above(task: TaskId) -> impl Iterator<Item = i64> {
    iter::successors(Some(leaf(task)), |node| (*node > 1).then_some(node >> 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: usize, last: usize) -> TaskRange {
        TaskRange::between(TaskId::new(first), TaskId::new(last)).expect("in order")
    }

    #[test]
    fn a_task_meets_the_cover_of_a_range_once_if_it_is_in_it_and_never_otherwise() {
        let end = u32::MAX as usize;
        let ranges =
            [(0, 0), (0, end), (3, 17), (8, 15), (7, 16), (0, 999_999), (end, end), (1, end), (end - 2, end)];
        let tasks = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 999_999, 1_000_000, end - 3, end - 2, end - 1, end];
        for range in ranges.map(|(first, last)| range(first, last)) {
            let cover: Vec<i64> = cover(range).collect();
            assert!(cover.len() <= 62, "{range:?} is covered by {} nodes", cover.len());
            for task in tasks.map(TaskId::new) {
                let met = above(task).filter(|node| cover.contains(node)).count();
                assert_eq!(met, usize::from(range.contains(task)), "{task} and {range:?}");
            }
        }
    }

    #[test]
    fn a_single_task_is_its_leaf() {
        assert_eq!(cover(range(5, 5)).collect::<Vec<_>>(), [LEAVES + 5]);
    }

    #[test]
    fn the_way_up_has_33_nodes() {
        assert_eq!(above(TaskId::new(5)).count(), 33);
    }
}
