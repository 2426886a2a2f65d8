//! Each task's best two machines, kept up to date as machines become busier.
//!
//! **A machine never becomes free earlier**, so whatever lay behind a task's best two when they were found lies
//! behind at least as far later on. A step that makes one machine busier concerns only the tasks that have it among
//! their two (its followers), and of those only the ones that it pushes behind that mark look at all machines again.

use crate::Matrix;
use crate::batch::Metric;

/// Where a task could go best.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) first: u32,
    second: u32,
    /// When the first machine would be done; exact.
    pub(crate) first_end: f64,
    /// When the second would be: exact while not behind `rest`, infinite with one machine.
    pub(crate) second_end: f64,
    /// No other machine is done before.
    rest: f64,
}

impl Standing {
    fn look(ready: &[f64], row: &[f64]) -> Self {
        let never = f64::INFINITY;
        let mut standing = Self { first: 0, second: 0, first_end: never, second_end: never, rest: never };
        for (machine, (ready, time)) in (0..).zip(ready.iter().zip(row)) {
            let end = ready + time;
            if end < standing.rest {
                standing.insert(machine, end);
            }
        }
        standing
    }

    fn insert(&mut self, machine: u32, end: f64) {
        if end >= self.second_end {
            self.rest = end;
            return;
        }
        self.rest = self.second_end;
        (self.second, self.second_end) = (machine, end);
        if end < self.first_end {
            self.swap();
        }
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.first, &mut self.second);
        std::mem::swap(&mut self.first_end, &mut self.second_end);
    }

    fn has(&self, machine: u32) -> bool {
        self.first == machine || self.second == machine
    }

    fn delay(&mut self, machine: u32, end: f64) {
        if self.first == machine {
            self.first_end = end;
        } else {
            self.second_end = end;
        }
        if self.second_end < self.first_end {
            self.swap();
        }
    }

    /// How much the second choice costs; 0 with one machine.
    pub(crate) fn sufferage(&self) -> f64 {
        if self.second_end.is_finite() { self.second_end - self.first_end } else { 0.0 }
    }

    /// What decides which task is next; the largest wins.
    pub(crate) fn metric(&self, metric: Metric) -> f64 {
        match metric {
            Metric::EarliestEnd => self.first_end,
            Metric::Sufferage => self.sufferage(),
        }
    }

    /// Whether what the metric reads is known without a look at the other machines.
    fn is_exact(&self, metric: Metric) -> bool {
        match metric {
            Metric::EarliestEnd => self.first_end <= self.rest,
            Metric::Sufferage => self.second_end <= self.rest,
        }
    }
}

/// The standings of all tasks.
#[derive(Debug)]
pub(crate) struct Standings<'a> {
    matrix: &'a Matrix,
    metric: Metric,
    of: Vec<Standing>,
    /// By machine; a task that no longer has the machine among its two is dropped when it is next met.
    followers: Vec<Vec<u32>>,
    /// The last change in which each task was met, so that one in a list twice counts once.
    met: Vec<u32>,
    changes: u32,
}

impl<'a> Standings<'a> {
    pub(crate) fn new(matrix: &'a Matrix, ready: &[f64], metric: Metric) -> Self {
        let of: Vec<_> = matrix.rows().map(|row| Standing::look(ready, row)).collect();
        let mut followers = vec![Vec::new(); matrix.machines()];
        for (task, standing) in (0..).zip(&of) {
            followers[standing.first as usize].push(task);
            if standing.second != standing.first {
                followers[standing.second as usize].push(task);
            }
        }
        let met = vec![0; of.len()];
        Self { matrix, metric, of, followers, met, changes: 0 }
    }

    #[inline]
    pub(crate) fn of(&self, task: usize) -> &Standing {
        &self.of[task]
    }

    /// After `machine` became busier: brings the tasks that `is_left` up to date, and reports those that changed.
    pub(crate) fn delay(
        &mut self,
        machine: usize,
        ready: &[f64],
        is_left: impl Fn(usize) -> bool,
        mut changed: impl FnMut(usize, &Standing),
    ) {
        self.changes += 1;
        let mut list = std::mem::take(&mut self.followers[machine]);
        list.retain(|&follower| {
            let task = follower as usize;
            let known = &mut self.met[task];
            if *known == self.changes || !is_left(task) || !self.of[task].has(machine as u32) {
                return false;
            }
            *known = self.changes;
            self.bring_up_to_date(task, machine, ready);
            changed(task, &self.of[task]);
            self.of[task].has(machine as u32)
        });
        list.append(&mut self.followers[machine]);
        self.followers[machine] = list;
    }

    fn bring_up_to_date(&mut self, task: usize, machine: usize, ready: &[f64]) {
        let row = self.matrix.row(task);
        let standing = &mut self.of[task];
        standing.delay(machine as u32, ready[machine] + row[machine]);
        if standing.is_exact(self.metric) {
            return;
        }
        let before = *standing;
        let now = Standing::look(ready, row);
        *standing = now;
        for new in [now.first, now.second] {
            // `machine` keeps its own list.
            if !before.has(new) && new as usize != machine {
                self.followers[new as usize].push(task as u32);
            }
        }
    }
}
