//! How many of a machine's cores are free, from now on, by when what runs there is believed to end.
//!
//! It is a row of steps: from each until the next the same number is free. They lie in blocks of bounded size, each with
//! the least and the most that is free in it, so that a search passes a block by. **No two neighbours have the same number
//! free; no block is empty; the first step begins the row.**

use gleaner_units::Time;

/// A block that would have more is cut in two.
const BLOCK_MAX: usize = 64;
/// Mostly there are no more gaps.
const GAPS_AT_FIRST: usize = 4 * BLOCK_MAX;

/// From a moment on, so many cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    from: Time,
    /// Less the shift of its block.
    free: i64,
}

#[derive(Clone, Debug)]
struct Block {
    steps: Vec<Step>,
    /// To be added to each.
    shift: i64,
    least: i64,
    most: i64,
}

/// A machine's free cores over time.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    blocks: Vec<Block>,
}

/// How long cores are free without a break, at longest: for fewer and fewer cores, and each longer than for more.
#[derive(Clone, Debug)]
pub(crate) struct Gaps(Vec<(i64, u64)>);

impl Gaps {
    /// How many cores, and for how many nanoseconds.
    pub(crate) fn widest_first(&self) -> impl ExactSizeIterator<Item = (i64, u64)> + '_ {
        self.0.iter().copied()
    }
}

/// Where a step is: its block, and its place there.
type Place = (usize, usize);

impl Block {
    fn of(steps: Vec<Step>, shift: i64) -> Self {
        let mut block = Self { steps, shift, least: 0, most: 0 };
        block.measure();
        block
    }

    fn measure(&mut self) {
        let free = self.steps.iter().map(|step| step.free);
        let (least, most) =
            free.fold((i64::MAX, i64::MIN), |(least, most), free| (least.min(free), most.max(free)));
        (self.least, self.most) = (least.saturating_add(self.shift), most.saturating_add(self.shift));
    }

    fn free(&self, index: usize) -> i64 {
        self.steps[index].free + self.shift
    }
}

impl Calendar {
    /// From each of these moments on so many are free; they are in order, the first is [`Time::ZERO`], and of equals the last
    /// counts.
    pub(crate) fn of(free: impl IntoIterator<Item = (Time, i64)>) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for (from, free) in free {
            match steps.last_mut() {
                Some(last) if last.from == from => last.free = free,
                Some(last) if last.free == free => {}
                Some(_) | None => steps.push(Step { from, free }),
            }
        }
        let blocks = steps.chunks(BLOCK_MAX / 2).map(|steps| Block::of(steps.to_vec(), 0)).collect();
        Self { blocks }
    }

    /// From when on, and how many are free then.
    #[cfg(test)]
    fn steps(&self) -> impl Iterator<Item = (Time, i64)> + '_ {
        self.blocks
            .iter()
            .flat_map(|block| block.steps.iter().map(|step| (step.from, step.free + block.shift)))
    }

    /// So many fewer are free from one moment until another; more, if below 0. Costs O(steps / 64 + 64).
    pub(crate) fn take(&mut self, from: Time, until: Time, cores: i64) {
        if from >= until {
            return;
        }
        let first = self.cut(from);
        let end = if until == Time::NEVER { (self.blocks.len(), 0) } else { self.cut(until) };
        // Cutting at the end may have split the block of the beginning.
        let first = if self.is_at(first, from) { first } else { self.place_of(from) };
        for number in first.0..=end.0.min(self.blocks.len() - 1) {
            let block = &mut self.blocks[number];
            let low = if number == first.0 { first.1 } else { 0 };
            let high = if number == end.0 { end.1 } else { block.steps.len() };
            if (low, high) == (0, block.steps.len()) {
                block.shift -= cores;
                block.least -= cores;
                block.most -= cores;
            } else if low < high {
                block.steps[low..high].iter_mut().for_each(|step| step.free -= cores);
                block.measure();
            }
        }
        // The later one first: where it is joined, the other keeps its place.
        if until != Time::NEVER {
            self.join(end);
        }
        self.join(first);
    }

    /// How many are free at a moment.
    #[cfg(test)]
    fn free_at(&self, at: Time) -> i64 {
        let (block, index) = self.place_of(at);
        self.blocks[block].free(index)
    }

    /// The first moment, at or after `from`, from which on so many are free for as long as `lasts` says; never, if they are
    /// not before `before`. Costs O(steps / 64 + 64) until there, and as much again for each gap that is too short.
    pub(crate) fn earliest(
        &self,
        (from, before): (Time, Time),
        cores: u32,
        lasts: impl Fn(Time) -> Time,
    ) -> Time {
        let cores = i64::from(cores);
        let mut place = self.place_of(from);
        let mut begin = from;
        while let Some(start) = self.find(place, before, |block| block.most >= cores, |free| free >= cores) {
            begin = begin.max(self.from(start));
            if begin >= before {
                break;
            }
            let Some(short) =
                self.find(start, lasts(begin), |block| block.least < cores, |free| free < cores)
            else {
                return begin;
            };
            place = short;
            begin = self.from(short);
        }
        Time::NEVER
    }

    /// Whether so many are free from one moment until another. Costs as much.
    pub(crate) fn has(&self, from: Time, until: Time, cores: u32) -> bool {
        let cores = i64::from(cores);
        let short = self.find(self.place_of(from), until, |block| block.least < cores, |free| free < cores);
        short.is_none()
    }

    /// The gaps that begin at or after `from` and before `before`, as somebody would find them who looked from `from` on. Costs
    /// O(steps) until the last of them is over, and little more.
    pub(crate) fn gaps(&self, (from, before): (Time, Time)) -> Gaps {
        let (block, index) = self.place_of(from);
        let blocks = self.blocks[block..].iter();
        let steps =
            blocks.flat_map(|block| block.steps.iter().map(|step| (step.from, step.free + block.shift)));
        let mut gaps: Vec<(i64, u64)> = Vec::with_capacity(GAPS_AT_FIRST);
        // Those that are not over: since when, and how many are free all the time, more and more.
        let mut open: Vec<(Time, i64)> = Vec::with_capacity(BLOCK_MAX);
        for (at, free) in steps.skip(index) {
            let at = at.max(from);
            let mut begin = at;
            while let Some(&(begun, level)) = open.last()
                && level > free
            {
                open.pop();
                gaps.push((level, at.since(begun).nanos()));
                begin = begun;
            }
            if begin >= before {
                if open.is_empty() {
                    break;
                }
            } else if free > 0 && open.last().is_none_or(|last| last.1 < free) {
                open.push((begin, free));
            }
        }
        gaps.extend(open.into_iter().map(|(_, level)| (level, u64::MAX)));
        gaps.sort_unstable_by(|one, other| other.cmp(one));
        let mut longest = 0;
        gaps.retain(|&(_, lasts)| {
            let is_longer = lasts > longest;
            longest = longest.max(lasts);
            is_longer
        });
        Gaps(gaps)
    }

    /// How many are free when all that is known is over.
    pub(crate) fn at_last(&self) -> i64 {
        let last = self.blocks.last().expect("a row of steps");
        last.free(last.steps.len() - 1)
    }

    fn from(&self, (block, index): Place) -> Time {
        self.blocks[block].steps[index].from
    }

    /// The first step at or after a place, and before a moment, of which something holds, in blocks in which it may.
    fn find(
        &self,
        (block, index): Place,
        before: Time,
        may: impl Fn(&Block) -> bool,
        is: impl Fn(i64) -> bool,
    ) -> Option<Place> {
        let mut low = index;
        for (number, there) in self.blocks.iter().enumerate().skip(block) {
            if there.steps[low].from >= before {
                return None;
            }
            if may(there) {
                let found = there.steps[low..].iter().position(|step| is(step.free + there.shift));
                if let Some(found) = found {
                    let place = (number, low + found);
                    return Some(place).filter(|place| self.from(*place) < before);
                }
            }
            low = 0;
        }
        None
    }

    /// The step that a moment lies in.
    fn place_of(&self, at: Time) -> Place {
        // Mostly that is now, and nothing that is over was kept.
        if self.blocks[0].steps.get(1).is_some_and(|second| at < second.from) {
            return (0, 0);
        }
        let block = self.blocks.partition_point(|block| block.steps[0].from <= at).saturating_sub(1);
        let index = self.blocks[block].steps.partition_point(|step| step.from <= at);
        (block, index.saturating_sub(1))
    }

    fn is_at(&self, (block, index): Place, at: Time) -> bool {
        self.blocks.get(block).and_then(|block| block.steps.get(index)).is_some_and(|step| step.from == at)
    }

    /// A step begins there from now on.
    fn cut(&mut self, at: Time) -> Place {
        let (number, index) = self.place_of(at);
        let block = &mut self.blocks[number];
        let step = block.steps[index];
        if step.from >= at {
            return (number, index);
        }
        block.steps.insert(index + 1, Step { from: at, ..step });
        if block.steps.len() <= BLOCK_MAX {
            return (number, index + 1);
        }
        let upper = Block::of(block.steps.split_off(BLOCK_MAX / 2), block.shift);
        block.measure();
        self.blocks.insert(number + 1, upper);
        self.place_of(at)
    }

    /// If that step is as the one before, they become one.
    fn join(&mut self, (number, index): Place) {
        if (number, index) == (0, 0) {
            return;
        }
        let before = if index > 0 {
            self.blocks[number].free(index - 1)
        } else {
            let before = &self.blocks[number - 1];
            before.free(before.steps.len() - 1)
        };
        if self.blocks[number].free(index) != before {
            return;
        }
        // The least and the most stay: the one before has the same number, or the block goes.
        let block = &mut self.blocks[number];
        block.steps.remove(index);
        if block.steps.is_empty() {
            self.blocks.remove(number);
        } else if index == 0 {
            block.measure();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: usize = 400;

    /// A number for each second, which is what the steps stand for.
    fn earliest_by_scan(free: &[i64], from: usize, cores: i64, lasts: usize) -> Option<usize> {
        (from..free.len()).find(|&begin| {
            let end = (begin + lasts.max(1)).min(free.len());
            free[begin..end].iter().all(|&free| free >= cores)
        })
    }

    #[test]
    fn it_is_a_row_of_numbers() {
        let mut random = 7_u64;
        let mut draw = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let second = |second: usize| Time::from_nanos(second as u64);
        let (mut calendar, mut row) = (Calendar::of([(Time::ZERO, 1_000)]), vec![1_000; END]);
        let mut taken: Vec<(usize, usize, i64)> = Vec::new();
        let mut now = 0;
        let mut blocks_most = 0;
        for step in 0..4_000 {
            let (from, length) = (now + draw(END - now), 1 + draw(60));
            let until = (from + length).min(END);
            let grows = draw(4) < if step < 2_000 { 3 } else { 1 };
            let change = if grows || taken.is_empty() {
                let change = (from, until, 1 + draw(9).cast_signed() as i64);
                taken.push(change);
                change
            } else {
                let (from, until, cores) = taken.swap_remove(draw(taken.len()));
                (from, until, -cores)
            };
            let until = if change.1 == END { Time::NEVER } else { second(change.1) };
            calendar.take(second(change.0), until, change.2);
            row[change.0..change.1].iter_mut().for_each(|free| *free -= change.2);
            now = if draw(50) == 0 { (now + draw(4)).min(END - 1) } else { now };
            blocks_most = blocks_most.max(calendar.blocks.len());
            let at = now + draw(END - now);
            assert_eq!(calendar.free_at(second(at)), row[at]);
            let (cores, lasts) = (row[at] + draw(3).cast_signed() as i64 - 1, draw(30));
            let expected = earliest_by_scan(&row, at, cores, lasts).map_or(Time::NEVER, second);
            let cores = u32::try_from(cores).unwrap_or(0);
            let until = |begin: Time| Time::from_nanos(begin.nanos() + lasts as u64);
            let found = calendar.earliest((second(at), Time::NEVER), cores, until);
            assert_eq!(found, expected, "{cores} cores for {lasts} from {at}");
            let before = second(at + draw(40));
            let sooner = Some(expected).filter(|begin| *begin < before).unwrap_or(Time::NEVER);
            assert_eq!(calendar.earliest((second(at), before), cores, until), sooner, "before {before}");
            if lasts > 0 && cores > 0 {
                let gaps = calendar.gaps((second(at), before));
                let fits = |cores: u32| {
                    gaps.widest_first().any(|(free, nanos)| free >= i64::from(cores) && lasts as u64 <= nanos)
                };
                assert_eq!(
                    fits(cores),
                    sooner < Time::NEVER,
                    "{cores} cores for {lasts} from {at} before {before}"
                );
            }
            if lasts > 0 {
                assert_eq!(calendar.has(second(at), until(second(at)), cores), expected == second(at));
            }
            assert!(calendar.blocks.iter().all(|block| !block.steps.is_empty()));
            for block in &calendar.blocks {
                let mut measured = block.clone();
                measured.measure();
                assert_eq!((block.least, block.most), (measured.least, measured.most));
            }
            let steps: Vec<_> = calendar.steps().collect();
            assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
        }
        assert!(blocks_most > 3, "one block is no test");
    }
}
