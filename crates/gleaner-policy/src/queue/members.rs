//! A set of tasks, lowest first. It costs a bit for each task of those pages on which there is one, and little more.

use gleaner_units::TaskId;

const BITS: usize = u64::BITS as usize;
/// How many tasks lie on a page: a word of words.
const PAGE: usize = BITS * BITS;

/// **No page is empty.**
#[derive(Clone, Debug)]
struct Page {
    /// Which words have any.
    filled: u64,
    words: [u64; BITS],
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pages: Vec<Option<Box<Page>>>,
    /// Which pages are there: a bit each.
    filled: Vec<u64>,
    /// The last that became empty.
    spare: Option<Box<Page>>,
}

/// The bit that is lowest of those at or after a place.
#[inline]
fn lowest_from(word: u64, place: usize) -> Option<usize> {
    let later = word & u64::MAX.checked_shl(place as u32).unwrap_or(0);
    (later != 0).then_some(later.trailing_zeros() as usize)
}

impl Page {
    #[inline]
    fn first_from(&self, place: usize) -> Option<usize> {
        let word = place / BITS;
        if let Some(bit) = lowest_from(self.words[word], place % BITS) {
            return Some(word * BITS + bit);
        }
        let word = lowest_from(self.filled, word + 1)?;
        Some(word * BITS + self.words[word].trailing_zeros() as usize)
    }
}

impl Members {
    /// It is not there yet.
    pub(crate) fn insert(&mut self, task: TaskId) {
        let (page, place) = (task.index() / PAGE, task.index() % PAGE);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
            self.filled.resize(page / BITS + 1, 0);
        }
        self.filled[page / BITS] |= 1 << (page % BITS);
        let spare = &mut self.spare;
        let new = || spare.take().unwrap_or_else(|| Box::new(Page { filled: 0, words: [0; BITS] }));
        let page = self.pages[page].get_or_insert_with(new);
        page.filled |= 1 << (place / BITS);
        page.words[place / BITS] |= 1 << (place % BITS);
    }

    /// Whether it was there.
    pub(crate) fn remove(&mut self, task: TaskId) -> bool {
        if !self.contains(task) {
            return false;
        }
        let (number, place) = (task.index() / PAGE, task.index() % PAGE);
        let page = self.pages[number].as_mut().expect("a page with a task");
        page.words[place / BITS] &= !(1 << (place % BITS));
        if page.words[place / BITS] == 0 {
            page.filled &= !(1 << (place / BITS));
        }
        if page.filled == 0 {
            self.spare = self.pages[number].take();
            self.filled[number / BITS] &= !(1 << (number % BITS));
        }
        true
    }

    #[inline]
    pub(crate) fn contains(&self, task: TaskId) -> bool {
        let (page, place) = (task.index() / PAGE, task.index() % PAGE);
        let page = self.pages.get(page).and_then(Option::as_ref);
        page.is_some_and(|page| page.words[place / BITS] >> (place % BITS) & 1 == 1)
    }

    /// The lowest at or after that place. Costs O(tasks that ever were / 2¹⁸).
    pub(crate) fn first_from(&self, place: usize) -> Option<TaskId> {
        let number = place / PAGE;
        let here = self.pages.get(number)?.as_ref().and_then(|page| page.first_from(place % PAGE));
        if let Some(place) = here {
            return Some(TaskId::new(number * PAGE + place));
        }
        let number = self.page_from(number + 1)?;
        let place = self.pages[number].as_ref().and_then(|page| page.first_from(0));
        Some(TaskId::new(number * PAGE + place.expect("no page is empty")))
    }

    /// The first page at or after that one.
    fn page_from(&self, number: usize) -> Option<usize> {
        let word = number / BITS;
        if let Some(bit) = lowest_from(*self.filled.get(word)?, number % BITS) {
            return Some(word * BITS + bit);
        }
        let later = self.filled[word + 1..].iter().position(|filled| *filled != 0)?;
        let word = word + 1 + later;
        Some(word * BITS + self.filled[word].trailing_zeros() as usize)
    }

    /// From that place on, in order.
    pub(crate) fn from(&self, place: usize) -> impl Iterator<Item = TaskId> + '_ {
        let mut place = place;
        std::iter::from_fn(move || {
            let task = self.first_from(place)?;
            place = task.index() + 1;
            Some(task)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set_in_order() {
        let mut random = 5_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        // On one page, on some, and on so many that few have a neighbour.
        for spread in [100, 30_000, 1 << 25] {
            let (mut members, mut set) = (Members::default(), BTreeSet::new());
            for step in 0..2_000 {
                let task = TaskId::new(draw(spread) as usize);
                if draw(4) < if step < 1_000 { 3 } else { 1 } {
                    if set.insert(task) {
                        members.insert(task);
                    }
                } else {
                    // One that is there, mostly.
                    let there = set.range(task..).next().copied().unwrap_or(task);
                    assert_eq!(members.remove(there), set.remove(&there));
                }
                let place = draw(spread + 100) as usize;
                assert_eq!(members.first_from(place), set.range(TaskId::new(place)..).next().copied());
                assert_eq!(members.contains(task), set.contains(&task));
            }
            assert!(members.from(0).eq(set.iter().copied()) && !set.is_empty());
        }
    }
}
