//! Each task's best two machines, kept up to date as machines become busier.
//!
//! **A machine never becomes free earlier**, so whatever was not among a task's best few when it looked at all
//! machines is no better than the best of that rest was then. A step that makes one machine busier concerns only
//! the tasks that have it among their best two (its followers), and those compare the few machines on their short
//! list again. Where the rest might have caught up with the list, the best two are not exact until the task looks at all
//! machines again ([`Standings::settle`]).

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use crate::Matrix;
use crate::level::level;
use crate::scan::{LANES, any_within};
use fearless_simd::dispatch;

/// How many machines are on a short list.
const LISTED: usize = 8;

/// Where a task could go best: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Standing {
    /// The short list, with the task's time on each; where there are fewer machines, infinite times at the end.
    machines: [u32; LISTED],
    times: [f64; LISTED],
    /// No machine off the list would be done before.
    rest: f64,
    pub(crate) first: u32,
    second: u32,
    /// When the first machine would be done.
    pub(crate) first_end: f64,
    /// When the second would be; infinite with one machine.
    pub(crate) second_end: f64,
}

impl Standing {
    /// Looks at all machines, in `room` for as many ends. Those that are probably the best are `known`, so that others
    /// are rarely put on the list.
    fn look(ready: &[f64], row: &[f64], known: &[u32], room: &mut [f64]) -> Self {
        dispatch!(level(), _ => Self::look_wide(ready, row, known, room))
    }

    #[inline(always)]
    fn look_wide(ready: &[f64], row: &[f64], known: &[u32], room: &mut [f64]) -> Self {
        for ((end, ready), time) in room.iter_mut().zip(ready).zip(row) {
            *end = ready + time;
        }
        let mut nearest = Nearest { ends: [f64::INFINITY; LISTED + 1], machines: [0; LISTED] };
        for &machine in known {
            nearest.insert(machine, std::mem::replace(&mut room[machine as usize], f64::INFINITY));
        }
        nearest.insert_all(room);
        let machines = nearest.machines;
        let of_row =
            |at: usize| if nearest.ends[at].is_finite() { row[machines[at] as usize] } else { f64::INFINITY };
        Self {
            machines,
            times: std::array::from_fn(of_row),
            rest: nearest.ends[LISTED],
            first: machines[0],
            second: machines[1],
            first_end: nearest.ends[0],
            second_end: nearest.ends[1],
        }
    }

    /// Compares the machines on the list again.
    fn compare(&mut self, ready: &[f64]) {
        let mut first = (f64::INFINITY, self.first);
        let mut second = (f64::INFINITY, self.second);
        for (&machine, time) in self.machines.iter().zip(&self.times) {
            let new = (ready[machine as usize] + time, machine);
            // Without branches: which is less is as good as random.
            let is_first = new.0 < first.0;
            let behind = if is_first { first } else { new };
            first = if is_first { new } else { first };
            second = if behind.0 < second.0 { behind } else { second };
        }
        (self.first_end, self.first) = first;
        (self.second_end, self.second) = second;
    }

    fn best_two(&self) -> [u32; 2] {
        [self.first, self.second]
    }

    fn has(&self, machine: u32) -> bool {
        self.best_two().contains(&machine)
    }

    /// How much the second choice costs; 0 with one machine.
    pub(crate) fn sufferage(&self) -> f64 {
        if self.second_end.is_finite() { self.second_end - self.first_end } else { 0.0 }
    }

    /// Whether the best two are known without a look at the machines off the list.
    fn is_exact(&self) -> bool {
        self.second_end <= self.rest
    }
}

/// The standings of all tasks.
#[derive(Debug)]
pub(crate) struct Standings<'a> {
    matrix: &'a Matrix,
    of: Vec<Standing>,
    /// By machine; a task that no longer has the machine among its two is dropped when it is next met.
    followers: Vec<Vec<u32>>,
    /// The last change in which each task was met, so that one in a list twice counts once.
    met: Vec<u32>,
    changes: u32,
    /// Room for the ends of one task on all machines.
    room: Vec<f64>,
}

impl<'a> Standings<'a> {
    pub(crate) fn new(matrix: &'a Matrix, ready: &[f64]) -> Self {
        let mut room = vec![0.0; matrix.machines()];
        let of: Vec<_> = matrix.rows().map(|row| Standing::look(ready, row, &[], &mut room)).collect();
        let mut followers = vec![Vec::new(); matrix.machines()];
        for (task, standing) in (0..).zip(&of) {
            followers[standing.first as usize].push(task);
            if standing.second != standing.first {
                followers[standing.second as usize].push(task);
            }
        }
        let met = vec![0; of.len()];
        Self { matrix, of, followers, met, changes: 0, room }
    }

    #[inline]
    pub(crate) fn of(&self, task: usize) -> &Standing {
        &self.of[task]
    }

    /// After `machine` became busier: brings the tasks that `is_left` up to date.
    pub(crate) fn delay(&mut self, machine: usize, ready: &[f64], is_left: impl Fn(usize) -> bool) {
        self.changes += 1;
        let mut list = std::mem::take(&mut self.followers[machine]);
        list.retain(|&follower| {
            let task = follower as usize;
            let known = &mut self.met[task];
            if *known == self.changes || !is_left(task) || !self.of[task].has(machine as u32) {
                return false;
            }
            *known = self.changes;
            let before = self.of[task].best_two();
            self.of[task].compare(ready);
            self.follow(task, before);
            self.of[task].has(machine as u32)
        });
        list.append(&mut self.followers[machine]);
        self.followers[machine] = list;
    }

    /// Looks at all machines where a task's best two are not exact, and says whether it did.
    pub(crate) fn settle(&mut self, task: usize, ready: &[f64]) -> bool {
        if self.of[task].is_exact() {
            return false;
        }
        let before = self.of[task].best_two();
        let known = self.of[task].machines;
        let known = &known[..LISTED.min(ready.len())];
        self.of[task] = Standing::look(ready, self.matrix.row(task), known, &mut self.room);
        self.follow(task, before);
        true
    }

    /// Has a task follow the machines that are among its best two now and were not before.
    fn follow(&mut self, task: usize, before: [u32; 2]) {
        for machine in self.of[task].best_two() {
            if !before.contains(&machine) {
                self.followers[machine as usize].push(task as u32);
            }
        }
    }
}

/// The machines that would be done first, while all are looked at.
struct Nearest {
    /// By end; the last is the best that is not on the list.
    ends: [f64; LISTED + 1],
    machines: [u32; LISTED],
}

impl Nearest {
    /// Takes what is better than the list from the ends of all machines, in order.
    #[inline(always)]
    fn insert_all(&mut self, ends: &[f64]) {
        let (chunks, last) = ends.as_chunks::<LANES>();
        for (start, chunk) in (0..).step_by(LANES).zip(chunks) {
            // Mostly none: one branch for all.
            if any_within(chunk, self.ends[LISTED]) {
                self.insert_each(start, chunk);
            }
        }
        self.insert_each((chunks.len() * LANES) as u32, last);
    }

    fn insert_each(&mut self, start: u32, ends: &[f64]) {
        for (machine, &end) in (start..).zip(ends) {
            if end < self.ends[LISTED] {
                self.insert(machine, end);
            }
        }
    }

    fn insert(&mut self, machine: u32, end: f64) {
        let mut at = LISTED;
        while at > 0 && end < self.ends[at - 1] {
            self.ends[at] = self.ends[at - 1];
            if at < LISTED {
                self.machines[at] = self.machines[at - 1];
            }
            at -= 1;
        }
        self.ends[at] = end;
        if at < LISTED {
            self.machines[at] = machine;
        }
    }
}
