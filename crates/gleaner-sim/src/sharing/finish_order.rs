//! The tasks of one machine in the order in which they finish on its virtual clock.
//!
//! Completions take the first; arrivals come anywhere; what matters is that the far future costs nothing until it is
//! near. So the order is cut into chunks of at most [`CHUNK_MAX`] tasks. **Only the first chunk, the front, is sorted;
//! every other is a heap of tasks in no order, sorted once when it becomes the front.** A machine with few tasks is
//! one sorted array; a machine with thousands pays one binary search over its chunks and an append.
//!
//! **No task has a handle into this structure: when it finishes tells where it is.** That is what makes removal cheap
//! without an index that every shift would have to keep up to date.

use gleaner_units::{RunId, TaskId};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};

/// Longer chunks are split. The longer they are, the fewer there are to search; but an insertion shifts part of the
/// front, and a removal scans a later chunk. Measured: from 64 to 192 it hardly matters.
const CHUNK_MAX: usize = 128;
/// Neighbours that together are no longer than this are joined, so that removals leave no trail of short chunks.
const JOIN_MAX: usize = CHUNK_MAX / 2;
/// Room that a front may keep however few tasks it has.
const SPARE: usize = 16;

/// A finish on the virtual clock, never negative; of two at one time, the one of the lower task comes first, and of one task the lower run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Finish {
    pub(super) at: f64,
    pub(super) run: RunId,
}

impl Finish {
    /// One number that orders as the pair does, so that a comparison needs no branch: floats that are not negative
    /// order as their bits do.
    #[inline]
    fn rank(self) -> u128 {
        u128::from(self.at.to_bits()) << 64 | u128::from(self.run.rank())
    }
}

impl Eq for Finish {}

impl Ord for Finish {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Finish {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// See the module. The front holds at least two if there are two, so that a look at the second needs no search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FinishOrder {
    len: usize,
    /// Sorted with the first to finish at the end, where it is cheap to take.
    front: Vec<Finish>,
    /// Latest first. Each begins after all of the front and of the chunks behind it in this list.
    later: Vec<Chunk>,
}

/// Tasks in no order, never none.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Chunk {
    /// No task of this chunk finishes before, none of an earlier chunk finishes at or after.
    start: Finish,
    tasks: Vec<Finish>,
}

impl FinishOrder {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn first(&self) -> Option<Finish> {
        self.front.last().copied()
    }

    /// The first that finishes later than `at`, which is not before the first of all.
    #[inline]
    pub(super) fn first_after(&self, at: f64) -> Option<Finish> {
        // Ties are rare: nearly always it is the second.
        match self.front.len().checked_sub(2).map(|second| self.front[second]) {
            Some(second) if second.at > at => Some(second),
            Some(_) | None => self.search_after(at),
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, new: Finish) {
        self.len += 1;
        if self.is_in_front(new) {
            let place = self.front.partition_point(|other| other.rank() > new.rank());
            if self.front.len() == CHUNK_MAX {
                // It is split at once: no use in doubling it.
                self.front.reserve_exact(1);
            }
            self.front.insert(place, new);
            if self.front.len() > CHUNK_MAX {
                self.split_front();
            }
        } else {
            let chunk = self.chunk_of(new);
            self.later[chunk].tasks.push(new);
            if self.later[chunk].tasks.len() > CHUNK_MAX {
                self.split_later(chunk);
            }
        }
    }

    /// Removes what was inserted before.
    #[inline]
    pub(super) fn remove(&mut self, old: Finish) {
        self.len -= 1;
        if self.front.last() == Some(&old) {
            self.front.pop();
        } else if self.is_in_front(old) {
            let place = self.front.binary_search_by_key(&Reverse(old), |&other| Reverse(other));
            self.front.remove(place.expect("removed only once"));
        } else {
            self.remove_later(old);
        }
        if self.later.is_empty() {
            self.shrink_front();
        } else if self.front.len() < 2 {
            self.refill_front();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Finish> {
        self.front.iter().chain(self.later.iter().flat_map(|chunk| &chunk.tasks)).copied()
    }

    pub(super) fn check(&self) {
        assert!(self.front.is_sorted_by(|later, earlier| later > earlier), "the front is not sorted");
        assert!(self.front.len() >= 2 || self.later.is_empty(), "the front was not refilled");
        assert_eq!(self.len, self.iter().count());
        assert!(self.later.is_sorted_by(|later, earlier| later.start > earlier.start), "chunks out of order");
        let mut end = None;
        for chunk in &self.later {
            let within = |finish: &Finish| *finish >= chunk.start && end.is_none_or(|end| *finish < end);
            assert!(chunk.tasks.iter().all(within), "a task is in the wrong chunk");
            assert!((1..=CHUNK_MAX).contains(&chunk.tasks.len()), "a chunk of {}", chunk.tasks.len());
            end = Some(chunk.start);
        }
        assert!(self.front.iter().all(|&finish| end.is_none_or(|end| finish < end)), "the front is too long");
        // A full chunk may have become the front together with the one task that was left there.
        assert!(self.front.len() <= CHUNK_MAX + 1, "a front of {}", self.front.len());
    }

    #[inline]
    fn is_in_front(&self, finish: Finish) -> bool {
        self.later.last().is_none_or(|chunk| finish < chunk.start)
    }

    /// The chunk that holds `finish`, which is not in the front.
    #[inline]
    fn chunk_of(&self, finish: Finish) -> usize {
        self.later.partition_point(|chunk| chunk.start.rank() > finish.rank())
    }

    #[cold]
    fn search_after(&self, at: f64) -> Option<Finish> {
        let is_after = |finish: &Finish| finish.at > at;
        if let Some(last) = self.front.partition_point(is_after).checked_sub(1) {
            return Some(self.front[last]);
        }
        // The chunk that would hold the last task at this time may have none that is later; the one after it has.
        let after_all = Finish { at, run: RunId::new(TaskId::new(u32::MAX as usize), u32::MAX) };
        let chunk = self.chunk_of(after_all);
        let within =
            self.later.get(chunk).and_then(|chunk| chunk.tasks.iter().copied().filter(is_after).min());
        within.or_else(|| self.later[..chunk].last()?.tasks.iter().copied().min())
    }

    #[cold]
    fn split_front(&mut self) {
        let mut first = Vec::with_capacity(CHUNK_MAX + 1);
        first.extend(self.front.drain(CHUNK_MAX / 2..));
        let tasks = std::mem::replace(&mut self.front, first);
        self.later.push(Chunk { start: tasks[tasks.len() - 1], tasks });
    }

    #[cold]
    fn split_later(&mut self, chunk: usize) {
        let earlier = &mut self.later[chunk].tasks;
        let (_, &mut start, _) = earlier.select_nth_unstable(CHUNK_MAX / 2);
        let mut tasks = Vec::with_capacity(CHUNK_MAX + 1);
        tasks.extend(earlier.drain(CHUNK_MAX / 2..));
        self.later.insert(chunk, Chunk { start, tasks });
    }

    fn remove_later(&mut self, old: Finish) {
        let chunk = self.chunk_of(old);
        let tasks = &mut self.later[chunk].tasks;
        let place = tasks.iter().position(|other| other.run == old.run).expect("removed only once");
        tasks.swap_remove(place);
        let left = tasks.len();
        if left == 0 {
            self.later.remove(chunk);
        } else if let Some(earlier) = self.later.get(chunk + 1)
            && left + earlier.tasks.len() <= JOIN_MAX
        {
            let joined = self.later.remove(chunk);
            self.later[chunk].tasks.extend(joined.tasks);
        }
    }

    /// Thousands of machines that each had a busy hour must not keep the room for it.
    #[inline]
    fn shrink_front(&mut self) {
        let len = self.front.len();
        if self.front.capacity() > 2 * len + SPARE {
            self.front.shrink_to(len + len / 4);
        }
    }

    #[cold]
    fn refill_front(&mut self) {
        if let Some(chunk) = self.later.pop() {
            // At most one, and it finishes before the chunk.
            let last = std::mem::replace(&mut self.front, chunk.tasks).pop();
            self.front.sort_unstable_by_key(|finish| Reverse(finish.rank()));
            self.front.extend(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(f64),
        TakeFirst,
        /// A task, by a number modulo how many there are.
        Remove(usize),
    }

    fn steps(insert: u32, take: u32, remove: u32) -> impl Strategy<Value = Vec<Step>> {
        let whole = (0..20_u8).prop_map(f64::from);
        let step = prop_oneof![
            insert => prop_oneof![whole, 0.0..20.0].prop_map(Step::Insert),
            take => Just(Step::TakeFirst),
            remove => any::<usize>().prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..800)
    }

    /// Mostly growing, then mostly shrinking, from both ends.
    fn histories() -> impl Strategy<Value = Vec<Step>> {
        (steps(8, 1, 1), steps(2, 2, 6), steps(2, 6, 2)).prop_map(|(a, b, c)| [a, b, c].concat())
    }

    fn agree(ours: &FinishOrder, expected: &BTreeSet<Finish>) {
        ours.check();
        assert_eq!(ours.len(), expected.len());
        assert_eq!(ours.first(), expected.first().copied());
        let mut seen = ours.first();
        for _ in 0..3 {
            let Some(Finish { at, .. }) = seen else { break };
            let after = expected.iter().find(|finish| finish.at > at).copied();
            assert_eq!(ours.first_after(at), after, "after {at}");
            seen = after;
        }
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_set(history in histories()) {
            let (mut ours, mut expected) = (FinishOrder::default(), BTreeSet::new());
            for (number, step) in history.into_iter().enumerate() {
                match step {
                    Step::Insert(at) => {
                        let new = Finish { at, run: RunId::new(TaskId::new(number), 1) };
                        ours.insert(new);
                        expected.insert(new);
                    }
                    Step::TakeFirst => {
                        if let Some(first) = expected.pop_first() {
                            ours.remove(first);
                        }
                    }
                    Step::Remove(pick) => {
                        let old = pick.checked_rem(expected.len()).and_then(|nth| expected.iter().nth(nth).copied());
                        if let Some(old) = old {
                            expected.remove(&old);
                            ours.remove(old);
                        }
                    }
                }
                agree(&ours, &expected);
            }
        }
    }
}
