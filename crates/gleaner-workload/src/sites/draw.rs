//! Sites and jobs, drawn.

use super::rigid::{DAY_S, Rigid, rigid};
use super::scenario::{Jobs, JobsDrawn, Largest, Sites, SitesDrawn, SitesScenario};
use crate::Stream;
use gleaner_sim::sites::{Job, Site, SitesSetup};
use gleaner_units::Time;

const GIGA: f64 = 1e9;
/// Bytes a second of a megabit a second.
pub(super) const MBIT: f64 = 125_000.0;

/// The random streams of a scenario: one for each purpose, so that what is drawn for one changes no other.
struct Streams {
    sites: Stream,
    data: Stream,
    memory: Stream,
    arrivals: Stream,
    offers: Stream,
    wishes: Stream,
}

impl Streams {
    fn new(seed: u64) -> Self {
        let stream = |purpose| Stream::new(seed, purpose);
        let (sites, data, memory) = (stream(301), stream(302), stream(303));
        Self { sites, data, memory, arrivals: stream(304), offers: stream(305), wishes: stream(306) }
    }
}

pub(super) fn setup(scenario: &SitesScenario, seed: u64) -> SitesSetup {
    let mut streams = Streams::new(seed);
    let (sites, jobs) = match &scenario.jobs {
        Jobs::Listed(listed) => (known_sites(&scenario.sites), listed.jobs.clone()),
        Jobs::Drawn(drawn) => {
            let mut rigid = rigid(drawn, seed, &mut streams.arrivals);
            let sites = match &scenario.sites {
                Sites::Drawn(sites) => draw_sites(sites, &rigid, span_s(drawn, &rigid), &mut streams),
                Sites::Listed(listed) => listed.sites.clone(),
            };
            cut(&mut rigid, most(drawn.largest, &sites));
            let jobs = draw_jobs((drawn, scenario.schedulers), &rigid, &sites, &mut streams);
            (sites, jobs)
        }
    };
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

/// Sites whose jobs are listed are listed too.
fn known_sites(sites: &Sites) -> Vec<Site> {
    match sites {
        Sites::Listed(listed) => listed.sites.clone(),
        Sites::Drawn(_) => unreachable!("a scenario of listed jobs and drawn sites is refused as it is read"),
    }
}

fn pick(stream: &mut Stream, from: &[f64]) -> f64 {
    from[stream.below(from.len())]
}

/// For how long jobs arrive.
fn span_s(drawn: &JobsDrawn, rigid: &[Rigid]) -> f64 {
    let last = rigid.last().map_or(0.0, |job| job.submitted_s);
    drawn.days.map_or(last.max(1.0), |days| days * DAY_S)
}

/// All sites grow or shrink by one factor, so that the jobs ask for the load. Jobs that turn out too large for the sites are cut
/// after that, so that less is asked for in the end.
fn draw_sites(drawn: &SitesDrawn, rigid: &[Rigid], span_s: f64, streams: &mut Streams) -> Vec<Site> {
    let of_sites = &mut streams.sites;
    let mut sites: Vec<(f64, f64, Site)> = (0..drawn.count)
        .map(|_| {
            let (processors, memory) = (pick(of_sites, &drawn.processors), pick(of_sites, &drawn.memory_gb));
            let site = Site {
                processors: 1,
                gflops: pick(of_sites, &drawn.gflops),
                memory: 0,
                disk: 0,
                upload: MBIT * pick(of_sites, &drawn.upload_mbit),
                download: MBIT * pick(of_sites, &drawn.download_mbit),
                price: pick(&mut streams.offers, &drawn.price),
                quality: pick(&mut streams.offers, &drawn.quality),
            };
            (processors, memory, site)
        })
        .collect();
    let asked: f64 = rigid.iter().map(|job| f64::from(job.processors) * job.run_s).sum();
    let power: f64 = sites.iter().map(|(processors, _, site)| processors * site.gflops).sum();
    let factor = asked / (drawn.load * span_s * power);
    for (processors, memory, site) in &mut sites {
        site.processors = ((*processors * factor).round() as u32).max(2);
        site.memory = (f64::from(site.processors) * *memory * GIGA) as u64;
        site.disk = (f64::from(site.processors) * drawn.disk_gb * GIGA) as u64;
    }
    sites.into_iter().map(|(_, _, site)| site).collect()
}

/// What the largest job may take.
fn most(largest: Largest, sites: &[Site]) -> u32 {
    let all: u32 = sites.iter().fold(0, |all, site| all.saturating_add(site.processors));
    match largest {
        Largest::Half => all / 2,
        Largest::Site => sites.iter().map(|site| site.processors).max().unwrap_or(1),
        Largest::All => all,
    }
}

/// Jobs that are larger become as large.
fn cut(rigid: &mut [Rigid], most: u32) {
    for job in rigid {
        job.processors = job.processors.min(most.max(1));
    }
}

/// The mean of the bytes a second from one site to another.
fn mean_rate(sites: &[Site]) -> f64 {
    let pairs = (0..sites.len()).flat_map(|from| (0..sites.len()).map(move |to| (from, to)));
    let rates: Vec<f64> = pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| sites[from].upload.min(sites[to].download))
        .collect();
    if rates.is_empty() { 0.0 } else { rates.iter().sum::<f64>() / rates.len() as f64 }
}

/// What runs, with its data and its wishes.
fn draw_jobs(
    (drawn, schedulers): (&JobsDrawn, usize),
    rigid: &[Rigid],
    sites: &[Site],
    streams: &mut Streams,
) -> Vec<Job> {
    let rate = mean_rate(sites);
    let run_s = rigid.iter().map(|job| job.run_s).sum::<f64>() / rigid.len() as f64;
    let jobs = rigid.iter().enumerate().map(|(index, job)| {
        let wish = (pick(&mut streams.memory, &drawn.memory_gb) * GIGA) as u64;
        let disk = (drawn.disk_gb * GIGA) as u64;
        // Whoever asks for more memory than there is together asks for the least there is.
        let least = drawn.memory_gb.iter().copied().fold(f64::INFINITY, f64::min);
        let takes: u64 = sites.iter().map(|site| u64::from(site.takes(wish, 0))).sum();
        let memory = if takes >= u64::from(job.processors) { wish } else { (least * GIGA) as u64 };
        let source = streams.data.below(sites.len());
        let data = -libm::log(1.0 - streams.data.unit()) * drawn.data_share * run_s * rate;
        Job {
            submitted: Time::from_seconds(job.submitted_s).unwrap_or(Time::ZERO),
            processors: job.processors,
            run_s: job.run_s,
            estimate_s: job.estimate_s,
            memory,
            disk,
            data: data as u64,
            source,
            result: (data * drawn.result_share) as u64,
            scheduler: index % schedulers,
            quality: pick(&mut streams.wishes, &drawn.quality),
            would_pay: pick(&mut streams.wishes, &drawn.would_pay),
        }
    });
    jobs.collect()
}
