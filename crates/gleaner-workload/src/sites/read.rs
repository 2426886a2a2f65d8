//! The document of a scenario over sites.

use super::scenario::{Arrivals, JobModel, JobsDrawn, Largest, SitesDrawn, SitesScenario};
use crate::document::Node;
use crate::limits::{SITE_JOBS_MAX, SITES_MAX};
use crate::section::{Key, Section};
use crate::settings;
use crate::{InputError, logs};
use gleaner_policy::PolicySpec;
use gleaner_sim::Division;
use gleaner_sim::sites::{Protocol, Staging};
use gleaner_units::Span;
use std::path::Path;
use std::sync::Arc;

const SECTIONS: [&str; 6] = ["sites", "work", "network", "protocol", "policy", "run"];
const SITES: [&str; 9] = [
    "count",
    "processors",
    "gflops",
    "memory_gb",
    "disk_gb",
    "upload_mbit",
    "download_mbit",
    "load",
    "queue",
];
const WORK: [&str; 11] = [
    "count",
    "days",
    "model",
    "log",
    "arrivals",
    "memory_gb",
    "disk_gb",
    "data_share",
    "result_share",
    "estimates",
    "largest",
];
const NETWORK: [&str; 3] = ["shared", "staging", "crossing"];
const PROTOCOL: [&str; 5] = ["brokers", "delay_s", "loss", "patience_s", "publish"];
const ABOVE_0: &str = "a finite number above 0";
const FROM_0: &str = "a finite number, 0 or more";

pub(super) fn scenario(root: &Node, base: &Path) -> Result<SitesScenario, InputError> {
    let root = Section::root(root, &SECTIONS)?;
    let network = root.section("network", &NETWORK)?;
    let shared = network.find("shared").map_or(Ok(true), |key| key.flag())?;
    let staging = [("share", Staging::Share), ("whole", Staging::Whole)];
    let protocol = root.section("protocol", &PROTOCOL)?;
    let at_once = Protocol::AT_ONCE;
    let policy = match root.find("policy") {
        Some(_) => Some(settings::policy(&root, PolicySpec::read)?),
        None => None,
    };
    let crossing = number_or(&network, "crossing", 0.0)?;
    Ok(SitesScenario {
        sites: sites(&root.section("sites", &SITES)?)?,
        jobs: jobs(&root.section("work", &WORK)?, base)?,
        staging: network.find("staging").map_or(Ok(Staging::Share), |key| key.choice(&staging))?,
        division: if shared { Division::Fair } else { Division::Unshared },
        crossing,
        schedulers: protocol.find("brokers").map_or(Ok(1), |key| count(&key, SITES_MAX))?,
        protocol: Protocol {
            delay: span(&protocol, "delay_s", at_once.delay)?,
            loss: match protocol.find("loss") {
                Some(key) => {
                    key.number("a number from 0 up to but without 1", |loss| (0.0..1.0).contains(&loss))?
                }
                None => at_once.loss,
            },
            patience: span(&protocol, "patience_s", at_once.patience)?,
            publishes: protocol.find("publish").map_or(Ok(at_once.publishes), |key| key.flag())?,
        },
        policy,
        seed: settings::seed(&root)?,
    })
}

fn sites(sites: &Section<'_>) -> Result<SitesDrawn, InputError> {
    if let Some(queue) = sites.find("queue") {
        return Err(queue.error_found(
            "a rule for the queue of sites that are drawn, over which jobs are split",
            "no such key, as the parts of a job start together and no queue says when; or sites.elements, behind whose queues each \
             job is at one site",
        ));
    }
    Ok(SitesDrawn {
        count: count(&sites.key("count", "how many sites there are")?, SITES_MAX)?,
        processors: numbers(sites, "processors")?,
        gflops: numbers(sites, "gflops")?,
        memory_gb: numbers(sites, "memory_gb")?,
        disk_gb: above_0(&sites.key("disk_gb", ABOVE_0)?)?,
        upload_mbit: numbers(sites, "upload_mbit")?,
        download_mbit: numbers(sites, "download_mbit")?,
        load: above_0(&sites.key("load", ABOVE_0)?)?,
    })
}

fn jobs(jobs: &Section<'_>, base: &Path) -> Result<JobsDrawn, InputError> {
    let model = jobs.key("model", "lublin or log")?;
    let model = if model.choice(&[("lublin", false), ("log", true)])? {
        let key = jobs.key("log", "the name of a log of jobs")?;
        let name = key.text("the name of a log of jobs")?;
        let log = logs::load(&base.join(name), None)?;
        JobModel::Log(Arc::new(log.jobs().to_vec()))
    } else {
        JobModel::Lublin
    };
    let arrivals = [("model", Arrivals::Model), ("even", Arrivals::Even)];
    Ok(JobsDrawn {
        count: count(&jobs.key("count", "how many jobs there are")?, SITE_JOBS_MAX)?,
        days: above_0(&jobs.key("days", ABOVE_0)?)?,
        model,
        arrivals: jobs.find("arrivals").map_or(Ok(Arrivals::Model), |key| key.choice(&arrivals))?,
        memory_gb: numbers(jobs, "memory_gb")?,
        disk_gb: number_or(jobs, "disk_gb", 0.0)?,
        data_share: number_or(jobs, "data_share", 0.0)?,
        result_share: number_or(jobs, "result_share", 0.0)?,
        estimates: match jobs.find("estimates") {
            Some(key) => {
                key.number("a finite number, 1 or more", |number| number.is_finite() && number >= 1.0)?
            }
            None => 1.0,
        },
        largest: match jobs.find("largest") {
            Some(key) => key.choice(&[("half", Largest::Half), ("site", Largest::Site)])?,
            None => Largest::Half,
        },
    })
}

fn count(key: &Key<'_>, most: usize) -> Result<usize, InputError> {
    let expected = format!("a whole number from 1 to {most}");
    let count: usize = key.integer(1, &expected)?;
    if count <= most { Ok(count) } else { Err(key.wrong(&expected)) }
}

fn above_0(key: &Key<'_>) -> Result<f64, InputError> {
    key.number(ABOVE_0, |number| number.is_finite() && number > 0.0)
}

fn number_or(section: &Section<'_>, name: &str, otherwise: f64) -> Result<f64, InputError> {
    section.find(name).map_or(Ok(otherwise), |key| key.number(FROM_0, settings::finite_from_zero))
}

fn span(section: &Section<'_>, name: &str, otherwise: Span) -> Result<Span, InputError> {
    let Some(key) = section.find(name) else { return Ok(otherwise) };
    let seconds = key.number(FROM_0, settings::finite_from_zero)?;
    Span::from_seconds(seconds).ok_or_else(|| key.wrong("seconds before the end of time"))
}

/// Numbers above 0 of which one is drawn; at least one.
fn numbers(section: &Section<'_>, name: &str) -> Result<Vec<f64>, InputError> {
    let expected = "a list of finite numbers above 0, as [1, 2.5]";
    let key = section.key(name, expected)?;
    let numbers: Result<Vec<f64>, InputError> = key.list(expected)?.iter().map(above_0).collect();
    match numbers? {
        numbers if numbers.is_empty() => Err(key.wrong(expected)),
        numbers => Ok(numbers),
    }
}
