//! How well tasks and jobs were served, by the same measures in every kind of run.

use gleaner_units::{Span, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// A shorter job counts as if it took so long where its wait is set against its length.
const SHORT_S: f64 = 10.0;

/// A job that ran.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Served {
    /// When it came.
    pub submit: Time,
    /// When it began.
    pub start: Time,
    /// From its first start to its end.
    pub run: Span,
    /// The seconds that it takes alone on the fastest machine that can take it: of a rigid job as long as it ran.
    pub alone_s: f64,
    /// On how many processors.
    pub processors: u32,
    /// Whose it is, if anybody knows.
    pub user: Option<u64>,
}

impl Served {
    /// How long it waited.
    pub fn wait_s(&self) -> f64 {
        self.start.since(self.submit).seconds()
    }

    /// From when it came until it ended.
    pub fn flow_s(&self) -> f64 {
        self.wait_s() + self.run.seconds()
    }

    /// max(1, (wait + run) / max(alone, 10 s)).
    pub fn bounded_slowdown(&self) -> f64 {
        (self.flow_s() / self.alone_s.max(SHORT_S)).max(1.0)
    }

    /// The moment of its end.
    pub fn end(&self) -> Time {
        self.start + self.run
    }
}

/// A mean and the largest.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct MeanMax {
    /// Arithmetic.
    pub mean: f64,
    /// The largest.
    pub max: f64,
}

/// Many jobs in a few numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Service {
    /// How many.
    pub jobs: usize,
    /// How long they waited.
    pub wait_s: MeanMax,
    /// From when they came until they ended.
    pub flow_s: MeanMax,
    /// See [`Served::bounded_slowdown`].
    pub bounded_slowdown: MeanMax,
    /// The share of the machine that they had, from the first submission to the last end of all jobs.
    pub utilisation: f64,
}

/// All jobs, and those of each user.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Services {
    /// All of them.
    #[serde(skip)]
    pub all: Service,
    /// By user; those of whom nobody knows whose they are stand at −1, as in a log.
    pub users: BTreeMap<i64, Service>,
    /// Jain's index of the users' mean bounded slowdowns, (Σx)² / (n·Σx²): 1 where all fare alike, 1/n where one alone waits
    /// beyond measure.
    #[serde(skip)]
    pub fairness: f64,
}

impl Services {
    /// On a machine of so many processors.
    pub fn of(jobs: &[Served], cores: u64) -> Self {
        let first = jobs.iter().map(|job| job.submit).min().unwrap_or(Time::ZERO);
        let last = jobs.iter().map(Served::end).max().unwrap_or(Time::ZERO);
        let capacity_s = last.since(first).seconds() * cores as f64;
        let mut of_user: BTreeMap<i64, Vec<&Served>> = BTreeMap::new();
        for job in jobs {
            let user = job.user.and_then(|user| i64::try_from(user).ok()).unwrap_or(-1);
            of_user.entry(user).or_default().push(job);
        }
        let users: BTreeMap<i64, Service> =
            of_user.iter().map(|(user, jobs)| (*user, service(jobs, capacity_s))).collect();
        let fairness = jain(users.values().map(|service| service.bounded_slowdown.mean));
        Self { all: service(&jobs.iter().collect::<Vec<_>>(), capacity_s), users, fairness }
    }
}

fn jain(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (count, sum) = (values.clone().count() as f64, values.clone().sum::<f64>());
    let squares: f64 = values.map(|value| value * value).sum();
    if squares > 0.0 { sum * sum / (count * squares) } else { 1.0 }
}

fn service(jobs: &[&Served], capacity_s: f64) -> Service {
    let over = |value: fn(&Served) -> f64| {
        let values = || jobs.iter().map(|job| value(job));
        // The sum of nothing is −0.
        let sum = values().sum::<f64>() + 0.0;
        MeanMax { mean: sum / jobs.len().max(1) as f64, max: values().fold(0.0, f64::max) }
    };
    let area_s: f64 = jobs.iter().map(|job| job.run.seconds() * f64::from(job.processors)).sum();
    Service {
        jobs: jobs.len(),
        wait_s: over(Served::wait_s),
        flow_s: over(Served::flow_s),
        bounded_slowdown: over(Served::bounded_slowdown),
        utilisation: if capacity_s > 0.0 { area_s / capacity_s } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_job_counts_as_ten_seconds() {
        let second = |seconds: u64| Time::from_nanos(seconds * 1_000_000_000);
        let job = |start: u64, run: u64| Served {
            submit: second(5),
            start: second(start),
            run: Span::from_nanos(run * 1_000_000_000),
            alone_s: run as f64,
            processors: 2,
            user: (run > 1).then_some(7),
        };
        let jobs = [job(5, 1), job(105, 100), job(34, 1)];
        let slowdowns = jobs.each_ref().map(Served::bounded_slowdown);
        assert_eq!(slowdowns, [1.0, 2.0, 3.0]);
        let services = Services::of(&jobs, 4);
        assert_eq!(services.all.jobs, 3);
        assert_eq!(services.all.wait_s, MeanMax { mean: 43.0, max: 100.0 });
        assert_eq!(services.all.utilisation, 204.0 / 800.0);
        assert_eq!(services.users.keys().copied().collect::<Vec<_>>(), [-1, 7]);
        // The users' slowdowns are 2 and (1 + 3) / 2.
        assert_eq!(services.fairness, 1.0);
        assert_eq!(jain([1.0, 3.0].into_iter()), 16.0 / 20.0);
        assert_eq!(services.users[&7].flow_s, MeanMax { mean: 200.0, max: 200.0 });
    }

    #[test]
    fn nothing_is_no_less_than_0() {
        let services = Services::of(&[], 4);
        assert_eq!(services.all.wait_s.mean.to_bits(), 0);
        assert_eq!((services.fairness, services.users.len()), (1.0, 0));
    }
}
