//! Batsim's workloads: a JSON document of jobs, and of profiles that say what they do.
//!
//! Only profiles of type `delay` have a run time that does not depend on the machine; a job of another is refused. What
//! is read is a log as any other: the requested time is `walltime`, a job's executable the number of its profile.

use crate::InputError;
use crate::error::{Place, quoted};
use crate::limits::LOG_JOBS_MAX;
use crate::packed;
use crate::swf::{Job, Kept, Log};
use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A document. What else stands in it says nothing to a scheduler.
#[derive(Serialize, Deserialize)]
struct Workload<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nb_res: Option<u32>,
    #[serde(borrow)]
    jobs: Vec<Row<'a>>,
    #[serde(borrow)]
    profiles: BTreeMap<Cow<'a, str>, Profile<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    subtime: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    walltime: Option<f64>,
    res: u32,
    #[serde(borrow)]
    profile: Cow<'a, str>,
}

/// A number, or a text as `w0!5`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Id<'a> {
    Number(u64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
}

#[derive(Serialize, Deserialize)]
struct Profile<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay: Option<f64>,
}

/// Reads a workload that is named `name`, packed with gzip or not.
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Log, InputError> {
    let place = Place::whole(name);
    let text = packed::unpack(bytes, &place)?;
    let workload: Workload<'_> = serde_json::from_slice(packed::without_mark(&text)).map_err(|error| {
        let at = format!("column {}", error.column());
        let said = error.to_string();
        let found = said.split(" at line ").next().unwrap_or_default().to_owned();
        place.at_line(error.line() as u64).error(&at, found, "Batsim's {\"jobs\": […], \"profiles\": {…}}")
    })?;
    if workload.jobs.len() > LOG_JOBS_MAX {
        let found = format!("more than {LOG_JOBS_MAX} jobs");
        return Err(place.error("jobs", found, format!("at most {LOG_JOBS_MAX}")));
    }
    let names: BTreeMap<&str, u64> =
        workload.profiles.keys().zip(1..).map(|(name, number)| (name.as_ref(), number)).collect();
    let mut jobs = Vec::with_capacity(workload.jobs.len());
    for (at, row) in workload.jobs.iter().enumerate() {
        let wrong = |key: &str, found: String, expected: &str| {
            Err(place.error(&format!("jobs[{at}].{key}"), found, expected))
        };
        let Some(profile) = workload.profiles.get(&row.profile) else {
            return wrong("profile", quoted(&row.profile), "the name of one of the profiles");
        };
        if profile.kind != "delay" {
            let found = format!("{}, which is of type {}", quoted(&row.profile), quoted(&profile.kind));
            return wrong("profile", found, "a profile of type delay: others take no time of their own");
        }
        let seconds = |seconds: Option<f64>| seconds.filter(|&seconds| Time::from_seconds(seconds).is_some());
        let Some(run_s) = seconds(profile.delay) else {
            let found = profile.delay.map_or("no delay".to_owned(), |delay| format!("a delay of {delay}"));
            return wrong("profile", found, "a delay in seconds, 0 or more");
        };
        let Some(submit_s) = seconds(Some(row.subtime)) else {
            return wrong("subtime", row.subtime.to_string(), "seconds, 0 or more");
        };
        jobs.push(Job {
            number: Some(row.id.number().unwrap_or(at as u64)),
            submit_s: Some(submit_s),
            run_s: Some(run_s),
            requested_processors: Some(row.res),
            requested_s: seconds(row.walltime),
            executable: names.get(row.profile.as_ref()).copied(),
            ..Job::default()
        });
    }
    let mut header =
        vec![("Version", "2.2".to_owned()), ("Conversion", "from a workload of Batsim".to_owned())];
    header.extend(workload.nb_res.map(|processors| ("MaxProcs", processors.to_string())));
    Log::of(name, &header, &jobs)
}

impl Id<'_> {
    /// What stands behind the workload's name, if it is a number.
    fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.rsplit('!').next()?.parse().ok(),
        }
        .filter(|&number| number < 1 << 53)
    }
}

/// What each job is called: its number in the log; or where a job has none, or two have the same, the places of all in the log.
fn ids(log: &Log, kept: &Kept) -> Vec<u64> {
    let numbers: Option<Vec<u64>> = kept.jobs.iter().map(|job| log.jobs()[job.place].number).collect();
    let are_different = |numbers: &Vec<u64>| numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len();
    let places = || kept.jobs.iter().map(|job| job.place as u64).collect();
    numbers.filter(are_different).unwrap_or_else(places)
}

/// Writes the jobs of a log that can be scheduled on a machine of `cores` processors.
pub fn write(cores: u32, log: &Log, out: &mut dyn io::Write) -> io::Result<()> {
    let kept = log.kept(cores);
    let profile = |run_s: f64| format!("delay_{run_s}");
    // What stands for an estimate that nobody made is the run time, and Batsim kills a job that takes all of its walltime.
    let is_said = |place: usize| log.jobs()[place].requested_s.is_some_and(|seconds| seconds > 0.0);
    let jobs = kept.jobs.iter().zip(ids(log, &kept)).map(|(job, id)| Row {
        id: Id::Number(id),
        subtime: job.submit.seconds(),
        walltime: is_said(job.place).then(|| job.estimate.seconds()),
        res: job.processors,
        profile: profile(job.run.seconds()).into(),
    });
    let profiles = kept.jobs.iter().map(|job| {
        let delay = job.run.seconds();
        (profile(delay).into(), Profile { kind: "delay".into(), delay: Some(delay) })
    });
    let workload = Workload { nb_res: Some(cores), jobs: jobs.collect(), profiles: profiles.collect() };
    serde_json::to_writer(&mut *out, &workload)?;
    out.write_all(b"\n")
}
