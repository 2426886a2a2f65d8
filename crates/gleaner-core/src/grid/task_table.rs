//! All tasks, in order of submission. An array of a million that nobody has touched yet costs a few bytes for each
//! page of it.

use super::Task;
use gleaner_units::{TaskClassId, TaskId};
use serde::{Deserialize, Serialize};

const PAGE: usize = 256;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Page {
    /// [`PAGE`] tasks of one class, each as it was submitted.
    Untouched(TaskClassId),
    /// At most [`PAGE`]; fewer only on the last page.
    Each(Vec<Task>),
}

impl Page {
    fn tasks(&mut self) -> &mut Vec<Task> {
        if let Page::Untouched(class) = *self {
            *self = Page::Each(vec![Task::new(class); PAGE]);
        }
        match self {
            Page::Each(tasks) => tasks,
            Page::Untouched(_) => unreachable!("it was just replaced"),
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TaskTable {
    pages: Vec<Page>,
    len: usize,
}

impl TaskTable {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, id: TaskId) -> Task {
        assert!(id.index() < self.len, "{id} was never submitted");
        match &self.pages[id.index() / PAGE] {
            Page::Untouched(class) => Task::new(*class),
            Page::Each(tasks) => tasks[id.index() % PAGE],
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: TaskId) -> &mut Task {
        &mut self.pages[id.index() / PAGE].tasks()[id.index() % PAGE]
    }

    /// Adds so many tasks of a class. Costs O(count / 256), and O(256).
    pub(super) fn submit(&mut self, class: TaskClassId, count: u32) {
        let mut left = count as usize;
        while left > 0 {
            let taken = self.len % PAGE;
            let now = left.min(PAGE - taken);
            if now == PAGE {
                self.pages.push(Page::Untouched(class));
            } else {
                if taken == 0 {
                    self.pages.push(Page::Each(Vec::with_capacity(PAGE)));
                }
                let last = self.pages.last_mut().expect("a page that is not full").tasks();
                last.resize(taken + now, Task::new(class));
            }
            self.len += now;
            left -= now;
        }
    }
}
