//! A machine's cores, and when those that runs hold are believed to be free again.
//!
//! The ends lie in order, in blocks of bounded size, each with how many cores are free again after all that is in it. **No
//! block is empty, but for an only one; all that is in one comes before all that is in the next.**

use gleaner_units::{RunId, Time};

/// A block that has as many is cut in two.
const BLOCK_MAX: usize = 64;

/// A run gives back so many cores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct End {
    pub(crate) at: Time,
    pub(crate) run: RunId,
    pub(crate) cores: u32,
}

impl End {
    /// One number that orders as moment and run do, so that a comparison needs no branch.
    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.at.nanos()) << 64 | u128::from(self.run.rank())
    }
}

#[derive(Clone, Debug)]
struct Block {
    ends: Vec<End>,
    cores: i64,
}

impl Block {
    fn of(ends: impl Iterator<Item = End>) -> Self {
        let mut block = Self { ends: Vec::with_capacity(BLOCK_MAX), cores: 0 };
        block.ends.extend(ends);
        block.cores = block.ends.iter().map(|end| i64::from(end.cores)).sum();
        block
    }

    #[inline]
    fn place_of(&self, end: &End) -> usize {
        self.ends.partition_point(|other| other.rank() < end.rank())
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// How many cores nobody holds; below 0 where the machine turned out to be smaller than was thought.
    free: i64,
    /// Of all that are believed to end.
    blocks: Vec<Block>,
}

/// They are equal if they say the same, however that is cut into blocks.
impl PartialEq for Ends {
    fn eq(&self, other: &Self) -> bool {
        self.free == other.free && self.in_order().eq(other.in_order())
    }
}

impl Ends {
    /// Nobody holds any of so many cores.
    pub(crate) fn of(cores: u32) -> Self {
        Self { free: cores.into(), blocks: vec![Block::of(std::iter::empty())] }
    }

    /// A run takes its cores. Costs O(log ends), but for the moving of what is in memory's nearest levels.
    pub(crate) fn take(&mut self, end: End) {
        self.free -= i64::from(end.cores);
        if end.at == Time::NEVER {
            return;
        }
        let number = self.block_of(&end).min(self.blocks.len() - 1);
        let block = &mut self.blocks[number];
        let place = block.place_of(&end);
        block.ends.insert(place, end);
        block.cores += i64::from(end.cores);
        if block.ends.len() == BLOCK_MAX {
            let upper = Block::of(block.ends.drain(BLOCK_MAX / 2..));
            block.cores -= upper.cores;
            self.blocks.insert(number + 1, upper);
        }
    }

    /// A run that took its cores gives them back. Costs as much.
    pub(crate) fn give(&mut self, end: End) {
        self.free += i64::from(end.cores);
        if end.at == Time::NEVER {
            return;
        }
        let number = self.block_of(&end);
        let block = &mut self.blocks[number];
        let given = block.ends.remove(block.place_of(&end));
        assert_eq!(given, end, "what is given back was taken");
        block.cores -= i64::from(end.cores);
        if block.ends.is_empty() && self.blocks.len() > 1 {
            self.blocks.remove(number);
        }
    }

    /// The first.
    #[inline]
    pub(crate) fn first(&self) -> Option<End> {
        self.blocks[0].ends.first().copied()
    }

    /// When the first that ends after that moment does. Costs O(log ends).
    pub(crate) fn first_after(&self, at: Time) -> Option<Time> {
        let number = self.blocks.partition_point(|block| block.ends.last().is_some_and(|end| end.at <= at));
        let block = &self.blocks.get(number)?.ends;
        block.get(block.partition_point(|end| end.at <= at)).map(|end| end.at)
    }

    /// The cores of those that should have ended by then, and have not. Costs as much as [`Ends::free_at`].
    #[inline]
    pub(crate) fn late(&self, now: Time) -> i64 {
        if self.first().is_none_or(|end| end.at > now) { 0 } else { self.free_at(now) - self.free }
    }

    /// As [`Ends::earliest`], if those that are late never end.
    pub(crate) fn earliest_without_late(&self, now: Time, cores: u32) -> Time {
        if self.free >= i64::from(cores) {
            now
        } else {
            self.nth_free(now, i64::from(cores) + self.late(now))
        }
    }

    /// The first moment, at or after `now`, from which on so many cores are free; never, if they are not. Costs
    /// O(ends / 64 + 64).
    pub(crate) fn earliest(&self, now: Time, cores: u32) -> Time {
        self.nth_free(now, i64::from(cores))
    }

    fn nth_free(&self, now: Time, cores: i64) -> Time {
        let mut free = self.free;
        if free >= cores {
            return now;
        }
        for block in &self.blocks {
            if free + block.cores < cores {
                free += block.cores;
                continue;
            }
            for end in &block.ends {
                free += i64::from(end.cores);
                if free >= cores {
                    return end.at.max(now);
                }
            }
        }
        Time::NEVER
    }

    /// How many cores are free at a moment, if nobody takes any more. Costs as much.
    pub(crate) fn free_at(&self, at: Time) -> i64 {
        let is_by_then = |end: &End| end.at <= at;
        let whole = self.blocks.partition_point(|block| block.ends.last().is_some_and(is_by_then));
        let free: i64 = self.free + self.blocks[..whole].iter().map(|block| block.cores).sum::<i64>();
        let rest = self.blocks.get(whole).into_iter().flat_map(|block| &block.ends).copied();
        free + rest.take_while(is_by_then).map(|end| i64::from(end.cores)).sum::<i64>()
    }

    /// From when on how many are free, from the beginning, if those that are late end when that says. Costs O(ends).
    pub(crate) fn steps(&self, now: Time, mut late: impl FnMut(RunId) -> Time) -> Vec<(Time, i64)> {
        let (mut ends, mut later): (Vec<End>, Vec<End>) = (Vec::new(), Vec::new());
        for end in self.in_order() {
            if end.at > now { ends.push(end) } else { later.push(End { at: late(end.run), ..end }) }
        }
        if !later.is_empty() {
            ends.extend(later.into_iter().filter(|end| end.at < Time::NEVER));
            ends.sort_unstable_by_key(End::rank);
        }
        let after = ends.into_iter().scan(self.free, |free, end| {
            *free += i64::from(end.cores);
            Some((end.at, *free))
        });
        std::iter::once((Time::ZERO, self.free)).chain(after).collect()
    }

    fn in_order(&self) -> impl Iterator<Item = End> + '_ {
        self.blocks.iter().flat_map(|block| &block.ends).copied()
    }

    /// The first block that does not end before that, or one past the last.
    #[inline]
    fn block_of(&self, end: &End) -> usize {
        self.blocks.partition_point(|block| block.ends.last().is_some_and(|last| last.rank() < end.rank()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;

    /// What many runs took and gave back leaves what is there without blocks.
    #[test]
    fn they_are_a_row_of_ends() {
        let mut random = 3_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut ends, mut plain) = (Ends::of(1_000), Vec::<End>::new());
        let mut blocks_most = 0;
        for step in 0..1_600 {
            let grows = draw(4) < if step < 800 { 3 } else { 1 };
            if grows || plain.is_empty() {
                let at = if draw(20) == 0 { Time::NEVER } else { Time::from_nanos(draw(300)) };
                let end = End { at, run: RunId::new(TaskId::new(step), 1), cores: 1 + draw(9) as u32 };
                ends.take(end);
                plain.push(end);
            } else {
                ends.give(plain.swap_remove(draw(plain.len() as u64) as usize));
            }
            let known = || plain.iter().filter(|end| end.at < Time::NEVER);
            let taken = |at: Time| plain.iter().filter(move |end| end.at == Time::NEVER || end.at > at);
            let free = |at: Time| 1_000 - taken(at).map(|end| i64::from(end.cores)).sum::<i64>();
            let (now, cores) = (Time::from_nanos(draw(300)), draw(1_500) as u32);
            let mut moments = (now.nanos()..=300).map(Time::from_nanos);
            let earliest = moments.find(|at| free(*at) >= i64::from(cores));
            assert_eq!(ends.earliest(now, cores), earliest.unwrap_or(Time::NEVER), "{cores} from {now}");
            assert_eq!(ends.free_at(now), free(now));
            let after = known().map(|end| end.at).filter(|at| *at > now).min();
            assert_eq!(ends.first_after(now), after);
            let late: i64 = known().filter(|end| end.at <= now).map(|end| i64::from(end.cores)).sum();
            assert_eq!(ends.late(now), late);
            let held: i64 = plain.iter().map(|end| i64::from(end.cores)).sum();
            let wants = i64::from(cores);
            let is_enough = |at: Time| 1_000 - held >= wants || free(at) - late >= wants;
            let without = (now.nanos()..=300).map(Time::from_nanos).find(|at| is_enough(*at));
            assert_eq!(ends.earliest_without_late(now, cores), without.unwrap_or(Time::NEVER));
            assert_eq!(ends.free_at(Time::NEVER), free(Time::NEVER));
            assert_eq!(ends.first().map(|end| end.rank()), known().map(End::rank).min());
            let steps = ends.steps(now, |_| Time::from_nanos(400));
            assert!(steps.is_sorted_by_key(|step| step.0) && steps[0] == (Time::ZERO, 1_000 - held));
            assert!(steps.iter().skip(1).all(|&(at, after)| after <= free(at)));
            assert_eq!(steps.last().map(|step| step.1), Some(free(Time::NEVER)));
            blocks_most = blocks_most.max(ends.blocks.len());
            let is_whole = |block: &Block| Block::of(block.ends.iter().copied()).cores == block.cores;
            assert!(ends.blocks.iter().all(is_whole) && ends.in_order().is_sorted_by_key(|end| end.rank()));
        }
        assert!(blocks_most > 3, "one block is no test");
    }
}
