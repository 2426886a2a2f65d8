//! From a log of rigid jobs to a setup of one machine.

use super::Experiment;
use crate::Shake;
use crate::swf::{Kept, KeptJob, Log, Served};
use gleaner_core::{Needs, TaskClass};
use gleaner_policy::{Lengths, PolicySpec};
use gleaner_sim::{History, Ids, Setup, Tasks};
use gleaner_units::{Ops, Span, TaskClassId, Time, UserId};
use std::collections::BTreeMap;

/// What becomes of a job that runs longer than its user said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overrun {
    /// Its estimate is raised to its run time beforehand.
    #[default]
    Lengthen,
    /// It is stopped when its estimate is over.
    Kill,
}

/// How many processors a job takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Size {
    /// As many as it was given: field 5, or else field 8.
    #[default]
    Allocated,
    /// As many as it asked for: field 8, or else field 5.
    Requested,
}

/// How a log is read.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reading {
    /// What becomes of a job that runs longer than its user said.
    pub overrun: Overrun,
    /// How many processors a job takes.
    pub size: Size,
    /// Users are believed to have said so many times what the log says: 1 or more.
    pub estimates: Times,
    /// By how much arrivals are moved, if they are.
    pub shake: Option<Shake>,
}

/// How many times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times(pub f64);

impl Default for Times {
    fn default() -> Self {
        Self(1.0)
    }
}

/// A log that is to run on one machine.
#[derive(Clone, Debug)]
pub struct LogExperiment {
    /// The machine and the jobs, in the order of `kept`.
    pub experiment: Experiment,
    /// The jobs as they run: by `overrun` none is longer than its estimate.
    pub kept: Kept,
    /// Which of them are stopped at their estimate.
    pub killed: Vec<bool>,
}

impl LogExperiment {
    /// The jobs of a log that fit on a machine of `cores` processors, under a policy. An operation takes a second.
    pub fn of(log: &Log, cores: u32, policy: &PolicySpec, reading: Reading, seed: u64) -> Self {
        let mut kept = match reading.size {
            Size::Allocated => log.kept(cores),
            Size::Requested => as_requested(log, cores),
        };
        if let Some(shake) = reading.shake {
            let moved = shake.of(kept.jobs.iter().map(|job| job.submit));
            kept.jobs = moved.into_iter().map(|(submit, at)| KeptJob { submit, ..kept.jobs[at] }).collect();
        }
        let killed = kept.jobs.iter_mut().map(|job| fit(job, reading.overrun)).collect();
        for job in &mut kept.jobs {
            let seconds = job.estimate.seconds() * reading.estimates.0;
            job.estimate = Span::from_seconds(seconds).unwrap_or(Span::from_nanos(u64::MAX));
        }
        let mut task_names = Ids::default();
        for job in &kept.jobs {
            let number = log.jobs()[job.place].number.unwrap_or(job.place as u64 + 1);
            task_names.push(&number.to_string());
        }
        let recipe = policy.recipe();
        let experiment = Experiment {
            setup: setup(cores, &kept, recipe.lengths),
            recipe,
            policy: policy.name().to_owned(),
            seed,
            machine_names: vec!["machine".to_owned()],
            task_names,
            users: Vec::new(),
            dimensions: vec!["seconds".to_owned()],
            groups: None,
        };
        Self { experiment, kept, killed }
    }

    /// The jobs that ended in a run of it, in the order of the kept ones.
    pub fn served(&self, history: &History) -> Vec<Served> {
        let jobs = self.kept.jobs.iter().zip(history.tasks());
        let ended = jobs.filter(|(_, task)| task.finished != Time::NEVER);
        ended
            .map(|(job, task)| Served {
                submit: job.submit,
                start: task.started,
                run: task.finished - task.started,
                alone_s: (task.finished - task.started).seconds(),
                processors: job.processors,
                user: job.user,
            })
            .collect()
    }

    /// The part of the processors' time that went into jobs which were stopped at their estimates: nothing of them is kept.
    pub fn lost_share(&self, history: &History) -> f64 {
        let jobs = self.kept.jobs.iter().zip(&self.killed).zip(history.tasks());
        let ended = jobs.filter(|(_, task)| task.finished != Time::NEVER);
        let (lost_s, all_s) = ended.fold((0.0, 0.0), |(lost_s, all_s), ((job, killed), task)| {
            let area_s = (task.finished - task.started).seconds() * f64::from(job.processors);
            (if *killed { lost_s + area_s } else { lost_s }, all_s + area_s)
        });
        if lost_s > 0.0 { lost_s / all_s } else { 0.0 }
    }
}

fn as_requested(log: &Log, cores: u32) -> Kept {
    let mut kept = log.kept(u32::MAX);
    for job in &mut kept.jobs {
        let asked = log.jobs()[job.place].requested_processors.filter(|asked| *asked > 0);
        job.processors = asked.unwrap_or(job.processors);
    }
    let all = kept.jobs.len();
    kept.jobs.retain(|job| job.processors <= cores);
    kept.left_out.too_large += (all - kept.jobs.len()) as u64;
    kept
}

/// Whether it is stopped.
fn fit(job: &mut KeptJob, overrun: Overrun) -> bool {
    let is_longer = job.run > job.estimate;
    match overrun {
        Overrun::Lengthen => job.estimate = job.estimate.max(job.run),
        Overrun::Kill => job.run = job.run.min(job.estimate),
    }
    is_longer && overrun == Overrun::Kill
}

/// Jobs of one size are of one class; of one user too, where what ran of a user tells how long the next will run. Fewer
/// classes are fewer tables to look into for each job.
fn setup(cores: u32, kept: &Kept, lengths: Lengths) -> Setup {
    let mut classes: BTreeMap<(u32, Option<u64>), usize> = BTreeMap::new();
    let mut users: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    let (mut task_classes, mut tasks) = (Vec::new(), Tasks::default());
    for job in &kept.jobs {
        let user = job.user.filter(|_| lengths.is_learnt());
        let class = *classes.entry((job.processors, user)).or_insert(task_classes.len());
        if class == task_classes.len() {
            let next = users.len();
            task_classes.push(task_class(job.processors, *users.entry(user).or_insert(next)));
        }
        // A job that takes no time is done as it starts.
        let length = Ops::new(job.run.seconds().max(f64::MIN_POSITIVE)).expect("above 0");
        tasks.push(job.submit, length, TaskClassId::new(class));
        if lengths != Lengths::True {
            *tasks.declared.last_mut().expect("it was pushed") = Ops::new(job.estimate.seconds());
        }
    }
    Setup::one_machine(cores, task_classes, tasks)
}

fn task_class(cores: u32, user: usize) -> TaskClass {
    TaskClass {
        needs: Needs { cores, memory: 0, disk: 0 },
        restarts: true,
        payer: UserId::new(user),
        ..TaskClass::plain(vec![1.0])
    }
}
