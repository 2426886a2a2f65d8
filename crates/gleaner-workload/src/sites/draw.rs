//! Sites and jobs, drawn.

use super::{Arrivals, JobModel, Largest, SitesScenario};
use crate::Stream;
use crate::models::Lublin;
use gleaner_sim::sites::{Job, Site, SitesSetup};
use gleaner_units::Time;

const GIGA: f64 = 1e9;
/// Bytes a second of a megabit a second.
const MBIT: f64 = 125_000.0;
const DAY_S: f64 = 86_400.0;

/// A job before its data: when it comes, and what it takes.
struct Rigid {
    submitted_s: f64,
    processors: u32,
    run_s: f64,
}

pub(super) fn setup(scenario: &SitesScenario, seed: u64) -> SitesSetup {
    let mut streams = (301..).map(|purpose| Stream::new(seed, purpose));
    let mut next = || streams.next().expect("streams do not end");
    let (mut of_sites, mut of_data, mut of_memory, mut of_arrivals) = (next(), next(), next(), next());
    let drawn = &scenario.sites;
    let pick = |stream: &mut Stream, from: &[f64]| from[stream.below(from.len())];
    let mut sites: Vec<(f64, f64, Site)> = (0..drawn.count)
        .map(|_| {
            let (processors, memory) =
                (pick(&mut of_sites, &drawn.processors), pick(&mut of_sites, &drawn.memory_gb));
            let site = Site {
                processors: 1,
                gflops: pick(&mut of_sites, &drawn.gflops),
                memory: 0,
                disk: 0,
                upload: MBIT * pick(&mut of_sites, &drawn.upload_mbit),
                download: MBIT * pick(&mut of_sites, &drawn.download_mbit),
            };
            (processors, memory, site)
        })
        .collect();
    let mut rigid = rigid(scenario, seed, &mut of_arrivals);
    // All sites grow or shrink by one factor.
    let asked: f64 = rigid.iter().map(|job| f64::from(job.processors) * job.run_s).sum();
    let power: f64 = sites.iter().map(|(processors, _, site)| processors * site.gflops).sum();
    let factor = asked / (drawn.load * scenario.jobs.days * DAY_S * power);
    for (processors, memory, site) in &mut sites {
        site.processors = ((*processors * factor).round() as u32).max(2);
        site.memory = (f64::from(site.processors) * *memory * GIGA) as u64;
        site.disk = (f64::from(site.processors) * drawn.disk_gb * GIGA) as u64;
    }
    let sites: Vec<Site> = sites.into_iter().map(|(_, _, site)| site).collect();
    let most = match scenario.jobs.largest {
        Largest::Half => sites.iter().map(|site| site.processors).sum::<u32>() / 2,
        Largest::Site => sites.iter().map(|site| site.processors).max().unwrap_or(1),
    };
    rigid.iter_mut().for_each(|job| job.processors = job.processors.min(most.max(1)));

    let pairs = (0..sites.len()).flat_map(|from| (0..sites.len()).map(move |to| (from, to)));
    let rates: Vec<f64> = pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| sites[from].upload.min(sites[to].download))
        .collect();
    let rate = if rates.is_empty() { 0.0 } else { rates.iter().sum::<f64>() / rates.len() as f64 };
    let run_s = rigid.iter().map(|job| job.run_s).sum::<f64>() / rigid.len() as f64;
    let jobs = rigid.iter().enumerate().map(|(index, job)| {
        let drawn = &scenario.jobs;
        let wish = (pick(&mut of_memory, &drawn.memory_gb) * GIGA) as u64;
        let disk = (drawn.disk_gb * GIGA) as u64;
        // Whoever asks for more memory than there is together asks for the least there is.
        let least = drawn.memory_gb.iter().copied().fold(f64::INFINITY, f64::min);
        let memory = if room(&sites, wish) >= job.processors { wish } else { (least * GIGA) as u64 };
        let source = of_data.below(sites.len());
        let data = -libm::log(1.0 - of_data.unit()) * drawn.data_share * run_s * rate;
        Job {
            submitted: Time::from_seconds(job.submitted_s).unwrap_or(Time::ZERO),
            processors: job.processors,
            run_s: job.run_s,
            estimate_s: job.run_s * drawn.estimates,
            memory,
            disk,
            data: data as u64,
            source,
            result: (data * drawn.result_share) as u64,
            scheduler: index % scenario.schedulers,
        }
    });
    let jobs = jobs.collect();
    SitesSetup {
        sites,
        jobs,
        staging: scenario.staging,
        division: scenario.division,
        crossing: scenario.crossing,
        schedulers: scenario.schedulers,
        protocol: scenario.protocol,
        seed,
    }
}

/// How many processes that need so much memory all sites take together.
fn room(sites: &[Site], memory: u64) -> u32 {
    let of = |site: &Site| {
        let by_memory = site.memory.checked_div(memory).unwrap_or(u64::MAX);
        u64::from(site.processors).min(by_memory)
    };
    u32::try_from(sites.iter().map(of).sum::<u64>()).unwrap_or(u32::MAX)
}

fn rigid(scenario: &SitesScenario, seed: u64, stream: &mut Stream) -> Vec<Rigid> {
    let drawn = &scenario.jobs;
    let log = match &drawn.model {
        JobModel::Lublin => Lublin::of_one_kind().draw(seed, drawn.count),
        JobModel::Log(log) => {
            let kept: Vec<_> = log
                .iter()
                .filter(|job| job.run_s.is_some_and(|run_s| run_s >= 1.0) && processors(job).is_some())
                .copied()
                .collect();
            let count = drawn.count.min(kept.len());
            let first = stream.below(kept.len() - count + 1);
            kept[first..first + count].to_vec()
        }
    };
    let submitted = |job: &crate::swf::Job| job.submit_s.unwrap_or(0.0);
    let first = log.iter().map(submitted).fold(f64::INFINITY, f64::min);
    let last = log.iter().map(submitted).fold(0.0, f64::max);
    let (span, days_s) = ((last - first).max(1.0), drawn.days * DAY_S);
    let mut jobs: Vec<Rigid> = log
        .iter()
        .map(|job| Rigid {
            submitted_s: match drawn.arrivals {
                Arrivals::Model => (submitted(job) - first) / span * days_s,
                Arrivals::Even => stream.uniform(0.0, days_s),
            },
            processors: processors(job).unwrap_or(1),
            run_s: job.run_s.unwrap_or(1.0).max(1.0),
        })
        .collect();
    jobs.sort_by(|one, other| one.submitted_s.total_cmp(&other.submitted_s));
    jobs
}

/// What it had, or else asked for.
fn processors(job: &crate::swf::Job) -> Option<u32> {
    let had = job.processors.filter(|count| *count > 0);
    had.or(job.requested_processors.filter(|count| *count > 0))
}
