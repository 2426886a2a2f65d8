//! The Network of Favours by experiment: what becomes of free riders, and of what collaborators get.
//!
//! 100 peers. Each has one user who hands in a bag of [`BAG`] tasks, waits until all are done, thinks, and hands in the next.
//! Collaborators have workers and lend them; free riders have none. **Contention is how many tasks there would be at a time if
//! none waited, for each worker.** What counts happens before the horizon. **A response is that of a job that was handed in in the
//! first half; one that is open at the horizon counts with its age**, and then the mean is at least what is counted: free riders who
//! are crowded out have few jobs that end, and those are their luckiest.

use super::instances::{tasks, worker};
use super::keeping::Keeping;
use crate::statistics::Estimate;
use crate::{Interrupted, Stream};
use gleaner_policy::{Choice as _, Choose, Favours, Overflow, Peering, Reach, Recalling, Recipe, Score};
use gleaner_sim::peers::{Job, PeersOutcome, PeersSetup, Site, peers};
use gleaner_units::{MachineClassId, Ops, PartyId, Span, TaskClassId, Time};
use rayon::prelude::*;

const PEERS: usize = 100;
const WORKERS: usize = 10;
/// Tasks of a job.
const BAG: u32 = 30;
/// What each user needs beyond the site's own workers, where all need as much of others: what 30 tasks and four workers leave.
const BEYOND: u32 = 26;
/// The mean length of a task.
const TASK_S: f64 = 600.0;
/// How long is looked at: 200 times as long as a task.
const HORIZON_S: f64 = 200.0 * TASK_S;
/// More than come within the horizon.
const JOBS: usize = 200;

/// The rules compared.
pub(super) const RULES: [Favours; 3] = [Favours::None, Favours::Nof, Favours::FdNof];
/// Tasks a worker.
const CONTENTIONS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
/// Of the peers.
const RIDERS: [usize; 2] = [25, 50];

/// What came of a contention with so many free riders under a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Contention {
    /// Tasks a worker.
    pub contention: f64,
    /// Of 100 peers.
    pub riders: usize,
    /// Who is lent to.
    pub favours: Favours,
    /// A free rider's mean response of a job over a collaborator's, one a seed.
    pub slower: Vec<f64>,
    /// What a free rider received over what a collaborator did, one a seed.
    pub received: Vec<f64>,
    /// The mean response of a collaborator's job in seconds, one a seed.
    pub response_s: Vec<f64>,
    /// Whether a free rider's job was open at the horizon, so that they are at least so much slower.
    pub may_be_more: bool,
    /// Whether a collaborator's was, so that they are at most so much slower.
    pub may_be_less: bool,
}

/// The mean response of jobs that were handed in in the first half of what is looked at.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Responses {
    mean_s: f64,
    /// How many were not done at the end, and count with their age.
    open: u32,
}

impl Responses {
    /// Of some peers' jobs; `ended` has when each came and when it ended, if it did.
    fn of(
        jobs: &[Job],
        ended: &[Option<(Time, Time)>],
        until: Time,
        is_one: impl Fn(PartyId) -> bool,
    ) -> Self {
        let came = |job: &Job| match job.after {
            None => Some(job.submitted),
            Some((before, thinks)) => {
                ended[before as usize].map(|(_, done)| job.submitted.max(done + thinks))
            }
        };
        let half = Time::ZERO.after_seconds(until.seconds() / 2.0);
        let (mut all, mut open, mut sum_s) = (0_u32, 0_u32, 0.0);
        for (job, ended) in jobs.iter().zip(ended).filter(|(job, _)| is_one(job.peer)) {
            let Some(came) = came(job).filter(|came| *came <= half) else { continue };
            let done = ended.map(|(_, done)| done);
            all += 1;
            open += u32::from(done.is_none());
            sum_s += done.unwrap_or(until).since(came).seconds();
        }
        // Where none was handed in, nothing is known but that they take no less than no time.
        if all == 0 { Self { mean_s: 0.0, open: 1 } } else { Self { mean_s: sum_s / f64::from(all), open } }
    }
}

/// How many tasks users hand in at a time, where sites are of different sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// All alike: who has more workers of its own needs fewer of others', and can receive less.
    EqualBags,
    /// As many as there are own workers, and `BEYOND` more: all need as much of others.
    EqualBeyond,
}

/// How much of what collaborators of 4 and of 16 workers received follows what they gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Shares {
    /// What users hand in.
    pub need: Need,
    /// The correlation of given and received over collaborators, with favours, one a seed.
    pub with: Vec<f64>,
    /// The same without.
    pub without: Vec<f64>,
}

fn recipe(favours: Favours) -> Recipe {
    let peering =
        Peering { favours, queue: Overflow::Peer, recall: Recalling::WhenShort, reach: Reach::Site };
    Recipe { choose: Choose::BestLatest, peering: Some(peering), ..Recipe::by(Score::Power) }
}

/// Sites by their number of workers; each user thinks so long on average that the contention is as it should be.
fn setup(sites: &[usize], need: Need, contention: f64, seed: u64) -> PeersSetup {
    let workers: usize = sites.iter().sum();
    let bag = |peer: usize| match need {
        Need::EqualBags => BAG,
        Need::EqualBeyond => sites[peer] as u32 + BEYOND,
    };
    let tasks_a_user = (0..sites.len()).map(|peer| f64::from(bag(peer))).sum::<f64>() / sites.len() as f64;
    let at_a_time = contention * workers as f64 / sites.len() as f64;
    // A bag for one task's time of each cycle, if no task waits.
    let thinks = (tasks_a_user / at_a_time - 1.0).max(0.0) * TASK_S;
    let mut draws = Stream::new(seed, 0);
    let (mut jobs, mut lengths) = (Vec::new(), Vec::new());
    for round in 0..JOBS {
        for peer in 0..sites.len() {
            let after = (round > 0).then(|| {
                let think = thinks * -libm::log(1.0 - draws.unit());
                ((jobs.len() - sites.len()) as u32, Span::from_seconds(think).expect("seconds"))
            });
            jobs.push(Job {
                submitted: Time::ZERO,
                peer: PartyId::new(peer),
                broker: 0,
                class: TaskClassId::FIRST,
                tasks: BAG,
                after,
            });
        }
    }
    // Users do not begin together.
    let mut begins: Vec<f64> = (0..sites.len()).map(|_| (thinks + TASK_S) * draws.unit()).collect();
    begins.sort_by(f64::total_cmp);
    let mut whose: Vec<usize> = (0..sites.len()).collect();
    draws.shuffle(&mut whose);
    for (index, job) in jobs.iter_mut().enumerate() {
        job.peer = PartyId::new(whose[index % sites.len()]);
        job.tasks = bag(job.peer.index());
        job.submitted = Time::from_seconds(begins[(index).min(sites.len() - 1)]).expect("seconds");
    }
    let all: usize = jobs.iter().map(|job| job.tasks as usize).sum();
    lengths.extend((0..all).map(|_| Ops::new(TASK_S * draws.uniform(0.5, 1.5)).expect("above 0")));
    let site = |workers: &usize| Site { workers: vec![MachineClassId::FIRST; *workers] };
    PeersSetup {
        seed,
        weights: vec![1.0],
        machine_classes: vec![worker(1.0, 1)],
        task_classes: vec![tasks()],
        peers: sites.iter().map(site).collect(),
        jobs,
        lengths,
        ..PeersSetup::default()
    }
}

/// The part of the horizon is 1 but in tests.
fn horizon(part: f64) -> Time {
    Time::from_seconds(part * HORIZON_S).expect("seconds")
}

fn outcome(setup: &PeersSetup, favours: Favours, horizon: Time) -> PeersOutcome {
    let recipe = recipe(favours);
    let mut parties = peers(setup, |_| recipe.build());
    while parties.now() < horizon && parties.step() {}
    parties.outside().outcome()
}

impl Contention {
    pub(super) const SIMULATIONS: u64 = (CONTENTIONS.len() * RIDERS.len() * RULES.len()) as u64;

    /// All contentions, with a quarter and half of the peers free riders, under all rules.
    pub(super) fn all(seeds: u64, part: f64, kept: &Keeping<'_>) -> Result<Vec<Self>, Interrupted> {
        let horizon = horizon(part);
        let cases = RIDERS.iter().flat_map(|riders| CONTENTIONS.map(|contention| (*riders, contention)));
        let cases = cases.flat_map(|(riders, contention)| RULES.map(|rule| (riders, contention, rule)));
        let inputs: Vec<_> =
            cases.clone().flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
        let one = |((riders, contention, favours), seed): ((usize, f64, Favours), u64)| {
            // Those kept under the name of before have the mean of what ended alone.
            let name =
                format!("first-half contention-{contention} riders-{riders} {} seed-{seed}", favours.name());
            kept.or(name, || {
                let mut sites = vec![WORKERS; PEERS - riders];
                sites.resize(PEERS, 0);
                let setup = setup(&sites, Need::EqualBags, contention, seed);
                let outcome = outcome(&setup, favours, horizon);
                let (collaborators, others) = outcome.peers.split_at(PEERS - riders);
                let received = |peers: &[gleaner_sim::peers::PeerOutcome]| {
                    peers.iter().map(|peer| peer.received_s).sum::<f64>() / peers.len() as f64
                };
                let [collaborates, rides] = [false, true].map(|rides| {
                    let is_one = |peer: PartyId| (peer.index() >= PEERS - riders) == rides;
                    Responses::of(&setup.jobs, &outcome.ended, horizon, is_one)
                });
                vec![
                    rides.mean_s / collaborates.mean_s,
                    received(others) / received(collaborators),
                    collaborates.mean_s,
                    f64::from(rides.open),
                    f64::from(collaborates.open),
                ]
            })
        };
        let results: Result<Vec<Vec<f64>>, Interrupted> = inputs.into_par_iter().map(one).collect();
        let results = results?;
        let by_case = results.chunks(seeds as usize).zip(cases);
        Ok(by_case
            .map(|(results, (riders, contention, favours))| Self {
                contention,
                riders,
                favours,
                slower: results.iter().map(|result| result[0]).collect(),
                received: results.iter().map(|result| result[1]).collect(),
                response_s: results.iter().map(|result| result[2]).collect(),
                may_be_more: results.iter().any(|result| result[3] > 0.0),
                may_be_less: results.iter().any(|result| result[4] > 0.0),
            })
            .collect())
    }

    /// How many times as long a free rider's job takes.
    pub fn slower(&self) -> Estimate {
        Estimate::of(&self.slower).or_more(self.may_be_more).or_less(self.may_be_less)
    }

    /// How much longer that is than in another, seed by seed, relative to it.
    pub fn slower_than(&self, other: &Self) -> Estimate {
        let pairs = self.slower.iter().zip(&other.slower);
        let longer: Vec<f64> = pairs.map(|(one, other)| one / other - 1.0).collect();
        Estimate::of(&longer)
            .or_more(self.may_be_more || other.may_be_less)
            .or_less(self.may_be_less || other.may_be_more)
    }

    /// How much a free rider received for each unit that a collaborator did.
    pub fn received(&self) -> Estimate {
        Estimate::of(&self.received)
    }
}

impl Shares {
    pub(super) const SIMULATIONS: u64 = 4;

    /// 100 collaborators, half with 4 workers and half with 16, at a contention of 2.
    pub(super) fn of(need: Need, (seeds, part): (u64, f64), kept: &Keeping<'_>) -> Result<Self, Interrupted> {
        let sites: Vec<usize> = (0..PEERS).map(|peer| if peer % 2 == 0 { 4 } else { 16 }).collect();
        let one = |favours: Favours, seed: u64| -> Result<f64, Interrupted> {
            let found = kept.or(format!("share {need:?} {} seed-{seed}", favours.name()), || {
                let outcome = outcome(&setup(&sites, need, 2.0, seed), favours, horizon(part));
                let given = outcome.peers.iter().map(|peer| peer.given_s);
                let received = outcome.peers.iter().map(|peer| peer.received_s);
                vec![correlation(&given.zip(received).collect::<Vec<_>>())]
            });
            Ok(found?[0])
        };
        let all = |favours: Favours| -> Result<Vec<f64>, Interrupted> {
            (1..=seeds).into_par_iter().map(|seed| one(favours, seed)).collect()
        };
        Ok(Self { need, with: all(Favours::Nof)?, without: all(Favours::None)? })
    }
}

fn correlation(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let covariance = mean(&|point| (point.0 - x) * (point.1 - y));
    let deviations = mean(&|point| (point.0 - x).powi(2)) * mean(&|point| (point.1 - y).powi(2));
    covariance / deviations.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    fn job(peer: usize, submitted: Time, after: Option<(u32, Span)>) -> Job {
        let peer = PartyId::new(peer);
        Job { submitted, peer, broker: 0, class: TaskClassId::FIRST, tasks: 1, after }
    }

    #[test]
    fn what_is_open_at_the_horizon_counts_with_its_age() {
        let thinks = Span::from_nanos(5_000_000_000);
        let jobs = [
            job(0, at(0), None),
            job(1, at(10), None),
            job(2, at(10), None),
            // Comes at 25 s.
            job(0, at(10), Some((0, thinks))),
            // Comes at 55 s, in the second half.
            job(2, at(10), Some((2, thinks))),
            // Never comes.
            job(1, at(10), Some((1, thinks))),
        ];
        let ended = [Some((at(0), at(20))), None, Some((at(10), at(50))), None, None, None];
        let of = |peer: usize| Responses::of(&jobs, &ended, at(100), |known| known.index() == peer);
        assert_eq!(of(0), Responses { mean_s: f64::midpoint(20.0, 75.0), open: 1 });
        assert_eq!(of(1), Responses { mean_s: 90.0, open: 1 }, "not 0, though none ended");
        assert_eq!(of(2), Responses { mean_s: 40.0, open: 0 });
        assert_eq!(of(3), Responses { mean_s: 0.0, open: 1 }, "nothing is known");
    }

    #[test]
    fn who_never_gets_a_job_done_is_not_taken_for_quick() {
        let contention = |slower: f64, may_be_more: bool| Contention {
            contention: 4.0,
            riders: 50,
            favours: Favours::Nof,
            slower: vec![slower, slower + 0.1],
            received: vec![0.0; 2],
            response_s: vec![1.0; 2],
            may_be_more,
            may_be_less: false,
        };
        let (none, nof) = (contention(5.0, false), contention(20.0, true));
        let longer = nof.slower_than(&none);
        assert!(longer.low > 0.0 && longer.high.is_infinite(), "{longer:?}");
        let back = none.slower_than(&nof);
        assert!(back.low.is_infinite() && back.high < 0.0, "{back:?}");
        assert!(nof.slower().high.is_infinite() && none.slower().high.is_finite());
    }
}
