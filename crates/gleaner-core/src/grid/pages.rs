//! One value for each task, in order of submission. An array of a million tasks that are alike so far costs one value
//! for each page of it, and a copy of all of them shares every page until one of the two writes there.

use gleaner_units::TaskId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const PAGE: usize = 256;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Page<T> {
    /// [`PAGE`] times the same.
    Alike(T),
    /// At most [`PAGE`]; fewer only on the last page.
    Each(Arc<Vec<T>>),
}

impl<T: Copy> Page<T> {
    fn each(&mut self) -> &mut Vec<T> {
        if let Page::Alike(value) = *self {
            *self = Page::Each(Arc::new(vec![value; PAGE]));
        }
        match self {
            Page::Each(values) => Arc::make_mut(values),
            Page::Alike(_) => unreachable!("it was just replaced"),
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

    #[inline]
    pub(super) fn get(&self, id: TaskId) -> T {
        assert!(id.index() < self.len, "{id} was never submitted");
        match &self.pages[id.index() / PAGE] {
            Page::Alike(value) => *value,
            Page::Each(values) => values[id.index() % PAGE],
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: TaskId) -> &mut T {
        &mut self.pages[id.index() / PAGE].each()[id.index() % PAGE]
    }

    /// How many from one on have the same value and can be written together: one, or those on pages that are alike.
    pub(super) fn alike_from(&self, id: TaskId, most: u32) -> u32 {
        let (page, place) = (id.index() / PAGE, id.index() % PAGE);
        let Page::Alike(value) = self.pages[page] else { return 1 };
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
                let values = self.pages[page].each();
                values[place..place + now].fill(value);
                // The last page has fewer until it is full.
                if values.len() == PAGE && values.iter().all(|other| *other == value) {
                    self.pages[page] = Page::Alike(value);
                }
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
            let expected = if filled.contains(&index) { 3 } else { before.get(id) };
            assert_eq!(pages.get(id), expected, "{index}");
        }
        assert_eq!(alike(&pages, 2 * PAGE, 5_000), PAGE as u32);
        pages.fill(TaskId::new(PAGE), 9 * PAGE as u32, 2);
        assert_eq!(alike(&pages, PAGE, 5_000), 9 * PAGE as u32, "it is compact again");
        *pages.get_mut(TaskId::new(PAGE + 7)) = 4;
        assert_eq!(alike(&pages, PAGE, 5_000), 1);
        pages.fill(TaskId::new(PAGE + 7), 1, 2);
        assert_eq!(alike(&pages, PAGE, 5_000), 9 * PAGE as u32, "whoever was apart is not any more");
    }
}
