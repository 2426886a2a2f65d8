//! What came of a run over sites.

use gleaner_core::Part;
use gleaner_units::Time;
use serde::{Deserialize, Serialize};

/// What came of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobOutcome {
    /// When it was handed in.
    pub submitted: Time,
    /// When the first of its copies was dispatched, and its data began to come; never if none was.
    pub dispatched: Time,
    /// When the copy that ended first was dispatched.
    pub dispatched_last: Time,
    /// When its result was back; never if it did not end.
    pub ended: Time,
    /// Where it ran, the copy that counts.
    pub parts: Vec<Part>,
    /// The seconds that its processes computed, the copy that counts.
    pub computed_s: f64,
}

impl JobOutcome {
    /// The seconds from its submission to the beginning of its transmission.
    pub fn wait_s(&self) -> f64 {
        self.dispatched.since(self.submitted).seconds()
    }

    /// The seconds from its submission to its end.
    pub fn response_s(&self) -> f64 {
        self.ended.since(self.submitted).seconds()
    }
}

/// What was used of processors and sites.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Used {
    /// Processors × seconds that were held.
    pub held: f64,
    /// Processors × seconds that were computed, by all copies.
    pub computed: f64,
    /// Sites × seconds in which a site held something.
    pub sites_in_use: f64,
}

/// What came of all of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SitesOutcome {
    /// In order of submission.
    pub jobs: Vec<JobOutcome>,
    /// All processors there are.
    pub processors: u64,
    /// What was used so far.
    pub used: Used,
    /// What had been used when the last job ended that did: copies that did not count may hold processors for longer.
    pub used_at_last_end: Used,
    /// Processors × seconds that were held for copies that did not count.
    pub wasted: f64,
    /// How many sites there are.
    pub sites: usize,
    /// Jobs × seconds that waited.
    pub waited: f64,
    /// Reservations that a site refused.
    pub refused: u64,
    /// Letters that were sent.
    pub letters: u64,
    /// Requirements of jobs that sites were told of, and those that they knew already when they were asked.
    pub requirements: (u64, u64),
}

impl SitesOutcome {
    /// The jobs that ended: all that follows is about these.
    pub fn ended(&self) -> impl Iterator<Item = &JobOutcome> {
        self.jobs.iter().filter(|job| job.ended < Time::NEVER)
    }

    /// Average wait time: from submission to the beginning of transmission.
    pub fn wait_s(&self) -> f64 {
        mean(self.ended().map(JobOutcome::wait_s))
    }

    /// Likewise, of the jobs with at least or fewer than so many processors, by what they ran on.
    pub fn wait_s_of(&self, is_of: impl Fn(u32) -> bool) -> f64 {
        let processors = |job: &JobOutcome| job.parts.iter().map(|part| part.cores).sum::<u32>();
        mean(self.ended().filter(|job| is_of(processors(job))).map(JobOutcome::wait_s))
    }

    /// The mean of the seconds from submission to end.
    pub fn response_s(&self) -> f64 {
        mean(self.ended().map(JobOutcome::response_s))
    }

    /// Queue completion time: from the first submission to the last end.
    pub fn completion_s(&self) -> f64 {
        let first = self.jobs.iter().map(|job| job.submitted).min().unwrap_or_default();
        let last = self.ended().map(|job| job.ended).max().unwrap_or_default();
        last.since(first).seconds()
    }

    /// Average grid utilisation: the part of the processors that was held until then.
    pub fn use_share(&self) -> f64 {
        self.used_at_last_end.held / (self.processors as f64 * self.completion_s())
    }

    /// Likewise, computing only.
    pub fn compute_share(&self) -> f64 {
        self.used_at_last_end.computed / (self.processors as f64 * self.completion_s())
    }

    /// Likewise, of the sites those that held anything.
    pub fn sites_share(&self) -> f64 {
        self.used_at_last_end.sites_in_use / (self.sites as f64 * self.completion_s())
    }

    /// Over how many sites a job was divided, on average.
    pub fn parts_mean(&self) -> f64 {
        mean(self.ended().map(|job| job.parts.len() as f64))
    }

    /// How many jobs did not end.
    pub fn unfinished(&self) -> usize {
        self.jobs.len() - self.ended().count()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}
