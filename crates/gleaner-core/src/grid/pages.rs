//! One value for each task, in order of submission. An array of a million tasks that are alike so far costs one value
//! for each page of it.

use gleaner_units::TaskId;
use serde::{Deserialize, Serialize};

const PAGE: usize = 256;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Page<T> {
    /// [`PAGE`] times the same.
    Alike(T),
    /// At most [`PAGE`]; fewer only on the last page.
    Each(Vec<T>),
}

impl<T: Copy> Page<T> {
    fn each(&mut self) -> &mut Vec<T> {
        if let Page::Alike(value) = *self {
            *self = Page::Each(vec![value; PAGE]);
        }
        match self {
            Page::Each(values) => values,
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

impl<T: Copy> Pages<T> {
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
                    self.pages.push(Page::Each(Vec::with_capacity(PAGE)));
                }
                let last = self.pages.last_mut().expect("a page that is not full").each();
                last.resize(taken + now, value);
            }
            self.len += now;
            left -= now;
        }
    }
}
