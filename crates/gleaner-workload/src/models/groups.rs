//! A model of users in groups, after Song, Ernemann and Yahyapour (User Group-based Workload Analysis and Modelling,
//! at the conference on clusters and grids of 2005).
//!
//! What is known of theirs: jobs fall into few classes by processors and run time; a user is known by how the jobs of his
//! divide over the classes; users that divide them alike are a group; a log is a mixture of groups, each with its share of
//! the jobs. **The numbers in [`GROUPS`] are ours**, chosen so that the mixture has what the archive's logs have in common:
//! most jobs are small, most of the work is in large ones, a power of two is preferred, few users submit most jobs. So
//! are the laws: run times are log-normal within a class, a user's gaps log-normal, stretched by the day's cycle of the
//! Lublin-Feitelson model; of a group's users the k-th submits with a rate of 1/k.

use super::cycle::{Clock, Cycle};
use super::lublin::Parameters;
use crate::swf::{Job, Log};
use crate::{InputError, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A class of jobs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobClass {
    /// The logarithms, to base 2, between which processors lie evenly.
    pub log_sizes: [f64; 2],
    /// How many of them are rounded to a power of two.
    pub power_of_two: f64,
    /// Half of the jobs run longer.
    pub run_median_s: f64,
    /// The deviation of the run time's natural logarithm.
    pub run_deviation: f64,
}

/// Users that are alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Group {
    /// For people.
    pub name: &'static str,
    /// How many.
    pub users: u32,
    /// Their part of all jobs; the shares of all groups add up to 1.
    pub share: f64,
    /// How their jobs divide over the classes; each with its share, which add up to 1.
    pub jobs: &'static [(f64, JobClass)],
}

const TRIAL: JobClass =
    JobClass { log_sizes: [0.0, 3.0], power_of_two: 0.9, run_median_s: 20.0, run_deviation: 1.2 };
const SERIAL: JobClass =
    JobClass { log_sizes: [0.0, 0.0], power_of_two: 1.0, run_median_s: 2_400.0, run_deviation: 1.5 };
const MEDIUM: JobClass =
    JobClass { log_sizes: [2.0, 5.0], power_of_two: 0.75, run_median_s: 1_500.0, run_deviation: 1.4 };
const LARGE: JobClass =
    JobClass { log_sizes: [5.0, 7.0], power_of_two: 0.85, run_median_s: 7_200.0, run_deviation: 1.1 };

/// The groups of the default mixture.
pub const GROUPS: [Group; 4] = [
    Group { name: "developers", users: 24, share: 0.40, jobs: &[(0.85, TRIAL), (0.15, MEDIUM)] },
    Group { name: "sweepers", users: 8, share: 0.30, jobs: &[(0.05, TRIAL), (0.95, SERIAL)] },
    Group { name: "regulars", users: 16, share: 0.22, jobs: &[(0.2, TRIAL), (0.7, MEDIUM), (0.1, LARGE)] },
    Group { name: "heroes", users: 4, share: 0.08, jobs: &[(0.25, TRIAL), (0.75, LARGE)] },
];

/// The deviation of the natural logarithm of a user's gaps.
const GAP_DEVIATION: f64 = 1.8;

/// A mixture of groups on a machine.
#[derive(Clone, PartialEq, Debug)]
pub struct UserGroups {
    /// The groups.
    pub groups: Vec<Group>,
    /// Of the machine; no job is larger.
    pub cores: u32,
    /// Between two jobs of anyone, on average.
    pub gap_mean_s: f64,
}

impl Default for UserGroups {
    fn default() -> Self {
        Self { groups: GROUPS.to_vec(), cores: 128, gap_mean_s: 1_200.0 }
    }
}

struct User {
    /// In [`UserGroups::groups`].
    group: usize,
    gap_median_s: f64,
    clock: Clock,
    gaps: Stream,
    jobs: Stream,
}

impl UserGroups {
    /// The first `count` jobs. A job's group is the number of its user's group, from 1.
    pub fn draw(&self, seed: u64, count: usize) -> Vec<Job> {
        let cycle = Cycle::new(Parameters::ALL.day[0], Parameters::ALL.day[1]);
        let mut users = self.users(seed);
        let mut next: BinaryHeap<Reverse<(u64, usize)>> =
            (0..users.len()).map(|at| Reverse((users[at].advance(&cycle), at))).collect();
        let mut jobs = Vec::with_capacity(count);
        while jobs.len() < count {
            let Some(Reverse((submit_s, at))) = next.pop() else { break };
            let user = &mut users[at];
            let class = user.class(&self.groups);
            let (size, run_s) = class.draw(&mut user.jobs);
            jobs.push(Job {
                number: Some(jobs.len() as u64 + 1),
                submit_s: Some(submit_s as f64),
                run_s: Some(run_s),
                processors: Some((size as u32).min(self.cores)),
                status: Some(1),
                user: Some(at as u64 + 1),
                group: Some(user.group as u64 + 1),
                ..Job::default()
            });
            next.push(Reverse((user.advance(&cycle), at)));
        }
        jobs
    }

    /// Likewise, as a log.
    pub fn log(&self, seed: u64, count: usize) -> Result<Log, InputError> {
        let mut header = vec![
            ("Version", "2.2".to_owned()),
            ("Computer", format!("none: the user-group model, seed {seed}")),
            ("MaxJobs", count.to_string()),
            ("MaxProcs", self.cores.to_string()),
        ];
        header.extend(
            (1..).zip(&self.groups).map(|(number, group)| ("Group", format!("{number} {}", group.name))),
        );
        Log::of("the user-group model", &header, &self.draw(seed, count))
    }

    fn users(&self, seed: u64) -> Vec<User> {
        let mut users = Vec::new();
        // Of a log-normal law, the mean is the median times this.
        let mean_to_median = libm::exp(0.5 * GAP_DEVIATION * GAP_DEVIATION);
        for (at, group) in self.groups.iter().enumerate() {
            let all = (1..=group.users).map(|rank| 1.0 / f64::from(rank)).sum::<f64>();
            for rank in 1..=group.users {
                let share = group.share / f64::from(rank) / all;
                let purpose = 2 * users.len() as u64;
                users.push(User {
                    group: at,
                    gap_median_s: self.gap_mean_s / share / mean_to_median,
                    clock: Clock::default(),
                    gaps: Stream::new(seed, purpose),
                    jobs: Stream::new(seed, purpose + 1),
                });
            }
        }
        users
    }
}

impl User {
    /// When the next job of this user comes, in whole seconds.
    fn advance(&mut self, cycle: &Cycle) -> u64 {
        let gap_s = self.gap_median_s * libm::exp(self.gaps.normal(0.0, GAP_DEVIATION));
        self.clock.advance(cycle, gap_s) as u64
    }

    fn class(&mut self, groups: &[Group]) -> JobClass {
        let classes = groups[self.group].jobs;
        let mut left = self.jobs.unit();
        for &(share, class) in classes {
            if left < share {
                return class;
            }
            left -= share;
        }
        classes.last().expect("a group has jobs").1
    }
}

impl JobClass {
    fn draw(&self, stream: &mut Stream) -> (f64, f64) {
        let log = stream.uniform(self.log_sizes[0], self.log_sizes[1]);
        let is_power = stream.unit() < self.power_of_two;
        let size = libm::exp2(if is_power { (log + 0.5).floor() } else { log }).round();
        let run = self.run_median_s * libm::exp(stream.normal(0.0, self.run_deviation));
        (size.max(1.0), run.round().max(1.0))
    }
}
