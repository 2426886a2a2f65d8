//! EASY and conservative backfilling as Batsim's own schedulers do it: a moment that is kept is kept on processors with
//! numbers, and a job that fits by number of processors waits where no such processors are free for all of its time.
//!
//! A schedule is a row of slices, each with the processors that are free in it. A job gets the first slice from which on
//! enough of the same processors are free for as long as it asks for, the lowest of them. When nothing ended, only those that
//! came are looked at.

use crate::naive_queue::Rule;
use std::collections::BTreeSet;

/// A rigid job.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// When it comes.
    pub submit: f64,
    /// How many processors it holds.
    pub cores: usize,
    /// How long.
    pub run: f64,
    /// How long its user says.
    pub walltime: f64,
}

#[derive(Clone, PartialEq, Debug)]
struct Slice {
    from: f64,
    until: f64,
    free: BTreeSet<usize>,
    jobs: BTreeSet<usize>,
}

struct Schedule<'a> {
    jobs: &'a [Job],
    slices: Vec<Slice>,
    given: Vec<BTreeSet<usize>>,
}

impl Schedule<'_> {
    fn is_now(&mut self, now: f64) {
        self.slices.retain(|slice| slice.until > now);
        self.slices[0].from = now;
    }

    fn remove(&mut self, job: usize) {
        for slice in self.slices.iter_mut().filter(|slice| slice.jobs.contains(&job)) {
            slice.jobs.remove(&job);
            slice.free.extend(&self.given[job]);
        }
        self.slices.dedup_by(|later, slice| {
            let same = (&later.free, &later.jobs) == (&slice.free, &slice.jobs);
            if same {
                slice.until = later.until;
            }
            same
        });
    }

    /// Whether it starts now.
    fn add(&mut self, job: usize) -> bool {
        let Job { cores, walltime, .. } = self.jobs[job];
        let (first, last, free) = (0..self.slices.len())
            .find_map(|first| {
                let mut free = self.slices[first].free.clone();
                let end = self.slices[first].from + walltime;
                for last in first..self.slices.len() {
                    free.retain(|processor| self.slices[last].free.contains(processor));
                    if free.len() < cores {
                        return None;
                    }
                    if self.slices[last].until >= end {
                        return Some((first, last, free));
                    }
                }
                None
            })
            .expect("the last slice has no end and all processors");
        let end = self.slices[first].from + walltime;
        if end < self.slices[last].until {
            let rest = Slice { from: end, ..self.slices[last].clone() };
            self.slices[last].until = end;
            self.slices.insert(last + 1, rest);
        }
        self.given[job] = free.into_iter().take(cores).collect();
        for slice in &mut self.slices[first..=last] {
            slice.free.retain(|processor| !self.given[job].contains(processor));
            slice.jobs.insert(job);
        }
        first == 0
    }
}

/// When each job starts. They come in order of submission, and none is larger than the machine.
pub fn starts(jobs: &[Job], cores: usize, rule: Rule) -> Vec<f64> {
    let all = Slice { from: 0.0, until: f64::INFINITY, free: (0..cores).collect(), jobs: BTreeSet::new() };
    let mut schedule = Schedule { jobs, slices: vec![all], given: vec![BTreeSet::new(); jobs.len()] };
    let mut started = vec![f64::NAN; jobs.len()];
    let (mut running, mut queue): (Vec<(f64, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut next = 0;
    loop {
        let arrival = jobs.get(next).map(|job| job.submit);
        let end = running.iter().map(|run| run.0);
        let Some(now) = arrival.into_iter().chain(end).min_by(f64::total_cmp) else { return started };
        let first_before = queue.first().copied();
        let ended: Vec<usize> = running.iter().filter(|run| run.0 == now).map(|run| run.1).collect();
        running.retain(|run| run.0 > now);
        ended.iter().for_each(|&job| schedule.remove(job));
        let came: Vec<usize> = (next..jobs.len()).take_while(|&job| jobs[job].submit == now).collect();
        next += came.len();
        queue.extend(&came);
        schedule.is_now(now);
        let mut start = |job: usize, queue: &mut Vec<usize>| {
            started[job] = now;
            running.push((now + jobs[job].run, job));
            queue.retain(|other| *other != job);
        };
        let keeps_all = rule == Rule::Conservative;
        if !keeps_all && queue.first().copied() != first_before {
            first_before.iter().for_each(|&job| schedule.remove(job));
            while let Some(&first) = queue.first() {
                if !schedule.add(first) {
                    break;
                }
                start(first, &mut queue);
            }
        }
        let first = queue.first().copied();
        let looked_at = if ended.is_empty() { came } else { queue.clone() };
        let mut first = first;
        for job in looked_at {
            let is_kept = keeps_all || Some(job) == first;
            if !queue.contains(&job) || (ended.is_empty() && !keeps_all && is_kept) {
                continue;
            }
            schedule.remove(job);
            if schedule.add(job) {
                start(job, &mut queue);
                first = if is_kept { queue.first().copied() } else { first };
            } else if !is_kept {
                schedule.remove(job);
            }
        }
    }
}
