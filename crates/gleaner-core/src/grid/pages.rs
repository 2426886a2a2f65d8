//! One value for each task, in order of submission. An array of a million tasks that are alike so far costs one value
//! for each page of it, and a copy of all of them shares every page until one of the two writes there.

use gleaner_units::TaskId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const PAGE: usize = 256;
/// Different values on a page that are written down once.
const FEW_MAX: usize = 8;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Page<T> {
    /// [`PAGE`] times the same.
    Alike(T),
    /// At most [`PAGE`]; fewer only on the last page.
    Each(Arc<Vec<T>>),
    /// [`PAGE`] of which each is one of a few: tasks that are left alone, among others that are not.
    Few(Arc<Few<T>>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Few<T> {
    /// Different ones, at most [`FEW_MAX`].
    values: Vec<T>,
    /// By place on the page: which of them it is.
    which: Vec<u8>,
}

impl<T: Copy + PartialEq> Few<T> {
    /// All on a page; nothing where they are too many, and not more than it takes to find that.
    fn of(all: &[T]) -> Option<Self> {
        let mut few = Self { values: Vec::with_capacity(2), which: Vec::with_capacity(PAGE) };
        for value in all {
            let which = few.place_of(*value)?;
            few.which.push(which);
        }
        Some(few)
    }

    /// Where a value is, or is now.
    fn place_of(&mut self, value: T) -> Option<u8> {
        let known = self.values.iter().position(|other| *other == value);
        if known.is_none() && self.values.len() == FEW_MAX {
            return None;
        }
        Some(known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        }) as u8)
    }

    fn get(&self, place: usize) -> &T {
        &self.values[usize::from(self.which[place])]
    }

    fn all(&self) -> Vec<T> {
        (0..self.which.len()).map(|place| *self.get(place)).collect()
    }
}

impl<T: Copy + PartialEq> Page<T> {
    fn each(&mut self) -> &mut Vec<T> {
        match self {
            Page::Alike(value) => *self = Page::Each(Arc::new(vec![*value; PAGE])),
            Page::Few(few) => *self = Page::Each(Arc::new(few.all())),
            Page::Each(_) => {}
        }
        match self {
            Page::Each(values) => Arc::make_mut(values),
            Page::Alike(_) | Page::Few(_) => unreachable!("it was just replaced"),
        }
    }

    /// Writes the same value from a place on, and keeps the page as small as it can be.
    fn fill(&mut self, place: usize, count: usize, value: T) {
        if let Page::Alike(other) = *self {
            if other == value {
                return;
            }
            *self = Page::Few(Arc::new(Few { values: vec![other], which: vec![0; PAGE] }));
        }
        if let Page::Few(few) = self
            && let few = Arc::make_mut(few)
            && let Some(which) = few.place_of(value)
        {
            few.which[place..place + count].fill(which);
            if few.which.iter().all(|other| *other == which) {
                *self = Page::Alike(value);
            }
            return;
        }
        let values = self.each();
        values[place..place + count].fill(value);
        // The last page has fewer until it is full.
        let few = if values.len() == PAGE { Few::of(values) } else { None };
        match few {
            Some(few) if few.values.len() == 1 => *self = Page::Alike(value),
            Some(few) => *self = Page::Few(Arc::new(few)),
            None => {}
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pages<T> {
    pages: Vec<Page<T>>,
    len: usize,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), len: 0 }
    }
}

impl<T: Copy + PartialEq> Pages<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Short where values differ, since each event asks several times.
    #[inline]
    pub(super) fn get(&self, id: TaskId) -> &T {
        if let Some(Page::Each(values)) = self.pages.get(id.index() / PAGE)
            && let Some(value) = values.get(id.index() % PAGE)
        {
            return value;
        }
        self.get_alike(id)
    }

    #[inline(never)]
    fn get_alike(&self, id: TaskId) -> &T {
        assert!(id.index() < self.len, "{id} was never submitted");
        match &self.pages[id.index() / PAGE] {
            Page::Alike(value) => value,
            Page::Each(values) => &values[id.index() % PAGE],
            Page::Few(few) => few.get(id.index() % PAGE),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: TaskId) -> &mut T {
        &mut self.pages[id.index() / PAGE].each()[id.index() % PAGE]
    }

    /// How many from one on have the same value and can be written together: one, neighbours on a page of few values, or those on pages
    /// that are alike.
    pub(super) fn alike_from(&self, id: TaskId, most: u32) -> u32 {
        let (page, place) = (id.index() / PAGE, id.index() % PAGE);
        let value = match &self.pages[page] {
            Page::Each(_) => return 1,
            Page::Few(few) => {
                let alike = few.which[place..].iter().take_while(|which| **which == few.which[place]);
                return alike.take(most as usize).count() as u32;
            }
            Page::Alike(value) => *value,
        };
        let behind = self.pages[page + 1..].iter();
        let pages = behind.take_while(|page| matches!(page, Page::Alike(other) if *other == value));
        let wanted = (most as usize + place).div_ceil(PAGE);
        let alike = PAGE - place + PAGE * pages.take(wanted.saturating_sub(1)).count();
        u32::try_from(alike).unwrap_or(u32::MAX).min(most)
    }

    /// Writes the same value from one on. Costs O(count / 256), and O(256).
    pub(super) fn fill(&mut self, first: TaskId, count: u32, value: T) {
        let (mut next, end) = (first.index(), first.index() + count as usize);
        while next < end {
            let (page, place) = (next / PAGE, next % PAGE);
            let now = (end - next).min(PAGE - place);
            if now == PAGE {
                self.pages[page] = Page::Alike(value);
            } else {
                self.pages[page].fill(place, now, value);
            }
            next += now;
        }
    }

    /// Adds the value so many times. Costs O(count / 256), and O(256).
    pub(super) fn extend(&mut self, value: T, count: u32) {
        let mut left = count as usize;
        while left > 0 {
            let taken = self.len % PAGE;
            let now = left.min(PAGE - taken);
            if now == PAGE {
                self.pages.push(Page::Alike(value));
            } else {
                if taken == 0 {
                    self.pages.push(Page::Each(Arc::new(Vec::with_capacity(PAGE))));
                }
                let last = self.pages.last_mut().expect("a page that is not full").each();
                last.resize(taken + now, value);
            }
            self.len += now;
            left -= now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_written_together() {
        let mut pages = Pages::default();
        pages.extend(1, 10);
        pages.extend(2, 10 * PAGE as u32);
        let alike = |pages: &Pages<i32>, from: usize, most: u32| pages.alike_from(TaskId::new(from), most);
        assert_eq!(alike(&pages, 3, 500), 1, "the first page has both");
        assert_eq!(alike(&pages, PAGE, 5_000), 9 * PAGE as u32);
        assert_eq!(alike(&pages, PAGE + 7, 5_000), 9 * PAGE as u32 - 7);
        assert_eq!(alike(&pages, PAGE + 7, 300), 300);
        let before = pages.clone();
        pages.fill(TaskId::new(PAGE + 7), 2 * PAGE as u32, 3);
        for index in 0..pages.len() {
            let (id, filled) = (TaskId::new(index), PAGE + 7..3 * PAGE + 7);
            let expected = if filled.contains(&index) { 3 } else { *before.get(id) };
            assert_eq!(*pages.get(id), expected, "{index}");
        }
        assert_eq!(alike(&pages, 2 * PAGE, 5_000), PAGE as u32);
        pages.fill(TaskId::new(PAGE), 9 * PAGE as u32, 2);
        assert_eq!(alike(&pages, PAGE, 5_000), 9 * PAGE as u32, "it is compact again");
        *pages.get_mut(TaskId::new(PAGE + 7)) = 4;
        assert_eq!(alike(&pages, PAGE, 5_000), 1);
        pages.fill(TaskId::new(PAGE + 7), 1, 2);
        assert_eq!(alike(&pages, PAGE, 5_000), 9 * PAGE as u32, "whoever was apart is not any more");
    }

    #[test]
    fn a_page_of_few_values_is_small_and_says_the_same() {
        let mut random = 5_u64;
        let mut draw = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let (mut pages, mut plain) = (Pages::default(), vec![0_u64; 3 * PAGE + 9]);
        pages.extend(0_u64, plain.len() as u32);
        for step in 0..4_000 {
            let first = draw(plain.len());
            let most = if draw(9) == 0 { 600 } else { 3 };
            let count = 1 + draw((plain.len() - first).min(most));
            let value = draw(if step < 1_500 { 3 } else { 40 }) as u64;
            if draw(5) == 0 {
                *pages.get_mut(TaskId::new(first)) = value;
                plain[first] = value;
            } else {
                pages.fill(TaskId::new(first), count as u32, value);
                plain[first..first + count].fill(value);
            }
            for (index, value) in plain.iter().enumerate() {
                assert_eq!(pages.get(TaskId::new(index)), value, "{index} after {step}");
            }
            let alike = pages.alike_from(TaskId::new(first), (plain.len() - first) as u32) as usize;
            assert!(plain[first..first + alike].iter().all(|value| *value == plain[first]), "{first}");
        }
        let half: Pages<u64> = {
            let mut half = Pages::default();
            half.extend(1, 2 * PAGE as u32);
            (0..PAGE).for_each(|index| half.fill(TaskId::new(2 * index), 1, 2));
            half
        };
        assert!(half.pages.iter().all(|page| matches!(page, Page::Few(few) if few.values == [1, 2])));
    }
}
