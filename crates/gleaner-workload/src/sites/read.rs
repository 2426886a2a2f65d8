//! The document of a scenario over sites.

use super::scenario::{
    Arrivals, Estimates, JobModel, Jobs, JobsDrawn, Largest, Sites, SitesDrawn, SitesScenario,
};
use super::{rigid, tables};
use crate::document::Node;
use crate::limits::{SITE_JOBS_MAX, SITES_MAX};
use crate::section::{Key, Section};
use crate::settings::{self, ABOVE_0, FROM_0, finite_above_zero, finite_from_zero};
use crate::{InputError, logs};
use gleaner_policy::{PolicyError, PolicySpec};
use gleaner_sim::Division;
use gleaner_sim::sites::{Protocol, Staging};
use gleaner_units::Span;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

const SECTIONS: [&str; 6] = ["sites", "work", "network", "protocol", "policy", "run"];
const SITES: [&str; 11] = [
    "count",
    "processors",
    "gflops",
    "memory_gb",
    "disk_gb",
    "upload_mbit",
    "download_mbit",
    "load",
    "price",
    "quality",
    "queue",
];
const WORK: [&str; 13] = [
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
    "quality",
    "would_pay",
];
const NETWORK: [&str; 3] = ["shared", "staging", "crossing"];
const PROTOCOL: [&str; 5] = ["brokers", "delay_s", "loss", "patience_s", "publish"];
const LOG: &str = "the name of a log of jobs";

pub(super) fn scenario(root: &Node, base: &Path) -> Result<SitesScenario, InputError> {
    let root = Section::root(root, &SECTIONS)?;
    let network = root.section("network", &NETWORK)?;
    let shared = network.find("shared").map_or(Ok(true), |key| key.flag())?;
    let staging = [("share", Staging::Share), ("whole", Staging::Whole)];
    let brokers = root.section("protocol", &PROTOCOL)?;
    let brokers = brokers.find("brokers").map_or(Ok(1), |key| count(&key, SITES_MAX))?;
    let protocol = protocol(&root.section("protocol", &PROTOCOL)?)?;
    let policy = match root.find("policy") {
        Some(_) => {
            let read = |tree| PolicySpec::read(tree).and_then(|policy| with_patience(policy, protocol.delay));
            Some(settings::policy(&root, read)?)
        }
        None => None,
    };
    let crossing = number_or(&network, "crossing", 0.0)?;
    let sites = sites(&root, base)?;
    Ok(SitesScenario {
        jobs: jobs(&root, base, &sites, brokers)?,
        sites,
        staging: network.find("staging").map_or(Ok(Staging::Share), |key| key.choice(&staging))?,
        division: if shared { Division::Fair } else { Division::Unshared },
        crossing,
        schedulers: brokers,
        protocol,
        policy,
        seed: settings::seed(&root)?,
        work: root.nearest("work"),
    })
}

/// A policy that does not say for how long it waits for answers waits for those that take longer than it would.
fn with_patience(policy: PolicySpec, delay: Span) -> Result<PolicySpec, PolicyError> {
    let there_and_back = 2.0 * delay.seconds();
    let mut tree = policy.tree().clone();
    if let Some(rule) = policy.recipe().site_rule()
        && rule.patience_s <= there_and_back
        && let Some(sites) = tree.entry("sites").or_insert_with(|| json!({})).as_object_mut()
        && !sites.contains_key("patience_s")
    {
        sites.insert("patience_s".to_owned(), json!(there_and_back + rule.patience_s));
        return PolicySpec::read(tree);
    }
    Ok(policy)
}

/// How long each message waits for an answer before it is sent again: longer than an answer takes.
fn patience(protocol: &Section<'_>, delay: Span) -> Result<Span, InputError> {
    let there_and_back = 2.0 * delay.seconds();
    let usual = Protocol::AT_ONCE.patience;
    let Some(key) = protocol.find("patience_s") else {
        let longer = Span::from_seconds(there_and_back + usual.seconds());
        return Ok(if usual.seconds() > there_and_back { usual } else { longer.unwrap_or(delay) });
    };
    let patience = settings::period(&key)?;
    if patience.seconds() > there_and_back {
        Ok(patience)
    } else {
        let expected =
            format!("more than {there_and_back} s, twice protocol.delay_s, as no answer comes before");
        Err(key.wrong(&expected))
    }
}

fn protocol(protocol: &Section<'_>) -> Result<Protocol, InputError> {
    let at_once = Protocol::AT_ONCE;
    let delay = span(protocol, "delay_s", at_once.delay)?;
    Ok(Protocol {
        delay,
        loss: match protocol.find("loss") {
            Some(key) => {
                key.number("a number from 0 up to but without 1", |loss| (0.0..1.0).contains(&loss))?
            }
            None => at_once.loss,
        },
        patience: patience(protocol, delay)?,
        publishes: protocol.find("publish").map_or(Ok(at_once.publishes), |key| key.flag())?,
    })
}

fn sites(root: &Section<'_>, base: &Path) -> Result<Sites, InputError> {
    let is_listed =
        root.find("sites").is_some_and(|key| key.table().is_ok_and(|sites| sites.find("table").is_some()));
    if !is_listed {
        return drawn_sites(&root.section("sites", &SITES)?).map(Sites::Drawn);
    }
    let listed = root.section("sites", &["table"])?;
    let table = tables::sites(base, &listed.key("table", "the name of a table of sites")?)?;
    Ok(Sites::Listed(Arc::new(table)))
}

fn drawn_sites(sites: &Section<'_>) -> Result<SitesDrawn, InputError> {
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
        price: numbers_or(sites, "price", 0.0)?,
        quality: numbers_or(sites, "quality", 0.0)?,
    })
}

fn jobs(root: &Section<'_>, base: &Path, sites: &Sites, brokers: usize) -> Result<Jobs, InputError> {
    let listed = root.find("work").and_then(|key| key.table().ok()?.find("jobs"));
    match (listed, sites) {
        (None, _) => drawn_jobs(&root.section("work", &WORK)?, base).map(Jobs::Drawn),
        (Some(key), Sites::Listed(sites)) => {
            root.section("work", &["jobs"])?;
            Ok(Jobs::Listed(Arc::new(tables::jobs(base, &key, sites, brokers)?)))
        }
        (Some(key), Sites::Drawn(_)) => Err(key.error_found(
            "a table of jobs beside sites.count",
            "sites.table, a table of sites, of which the jobs say where their data lies",
        )),
    }
}

fn drawn_jobs(jobs: &Section<'_>, base: &Path) -> Result<JobsDrawn, InputError> {
    let model = jobs.key("model", "lublin or log")?;
    let is_log = model.choice(&[("lublin", false), ("log", true)])?;
    let (model, count) = if is_log { logged(jobs, base)? } else { (JobModel::Lublin, modelled(jobs)?) };
    let arrivals = [("model", Arrivals::Model), ("even", Arrivals::Even)];
    let largest = [("half", Largest::Half), ("site", Largest::Site), ("all", Largest::All)];
    Ok(JobsDrawn {
        count,
        days: match jobs.find("days") {
            Some(key) => Some(above_0(&key)?),
            None if is_log => None,
            None => return Err(jobs.key("days", ABOVE_0).map(drop).expect_err("it is not there")),
        },
        model,
        arrivals: jobs.find("arrivals").map_or(Ok(Arrivals::Model), |key| key.choice(&arrivals))?,
        memory_gb: numbers_or(jobs, "memory_gb", 0.0)?,
        disk_gb: number_or(jobs, "disk_gb", 0.0)?,
        data_share: number_or(jobs, "data_share", 0.0)?,
        result_share: number_or(jobs, "result_share", 0.0)?,
        estimates: jobs.find("estimates").map_or(Ok(Estimates::Times(1.0)), |key| estimates(&key, is_log))?,
        largest: jobs.find("largest").map_or(Ok(Largest::Half), |key| key.choice(&largest))?,
        quality: numbers_or(jobs, "quality", 0.0)?,
        would_pay: numbers_or(jobs, "would_pay", f64::INFINITY)?,
    })
}

/// How many jobs a model draws. The name of a log beside it waits for another model, and is a name.
fn modelled(jobs: &Section<'_>) -> Result<usize, InputError> {
    jobs.find("log").map_or(Ok(""), |key| key.text(LOG))?;
    count(&jobs.key("count", "how many jobs there are")?, SITE_JOBS_MAX)
}

/// A log, and how many jobs of it: all, where that is not said.
fn logged(jobs: &Section<'_>, base: &Path) -> Result<(JobModel, usize), InputError> {
    let key = jobs.key("log", LOG)?;
    let name = key.text(LOG)?;
    let log = logs::load(&base.join(name), None)?;
    let known = rigid::usable_jobs(&log);
    let usable = known.len();
    let expected = "with a submit time, processors and a run time of 1 s or more";
    if usable == 0 {
        return Err(key.error_found(
            format!("a log of {} jobs, none of which can run", log.whole_jobs().count()),
            format!("jobs {expected}"),
        ));
    }
    let count = match jobs.find("count") {
        Some(key) => {
            let wanted = count(&key, SITE_JOBS_MAX)?;
            let found = || format!("{wanted} jobs of a log that has {usable} {expected}");
            if wanted > usable {
                return Err(
                    key.error_found(found(), format!("at most {usable}; or no count, for all of them"))
                );
            }
            wanted
        }
        None => usable,
    };
    if count > SITE_JOBS_MAX {
        return Err(key.error_found(format!("{count} jobs"), format!("work.count, at most {SITE_JOBS_MAX}")));
    }
    Ok((JobModel::Log(Arc::new(known)), count))
}

fn estimates(key: &Key<'_>, is_log: bool) -> Result<Estimates, InputError> {
    let expected =
        if is_log { "a finite number, 1 or more, or \"logged\"" } else { "a finite number, 1 or more" };
    if is_log && key.find_text() == Some("logged") {
        return Ok(Estimates::Logged);
    }
    key.number(expected, |number| number.is_finite() && number >= 1.0).map(Estimates::Times)
}

fn count(key: &Key<'_>, most: usize) -> Result<usize, InputError> {
    let expected = format!("a whole number from 1 to {most}");
    let count: usize = key.integer(1, &expected)?;
    if count <= most { Ok(count) } else { Err(key.wrong(&expected)) }
}

fn above_0(key: &Key<'_>) -> Result<f64, InputError> {
    key.number(ABOVE_0, finite_above_zero)
}

fn number_or(section: &Section<'_>, name: &str, otherwise: f64) -> Result<f64, InputError> {
    section.find(name).map_or(Ok(otherwise), |key| key.number(FROM_0, finite_from_zero))
}

fn span(section: &Section<'_>, name: &str, otherwise: Span) -> Result<Span, InputError> {
    let Some(key) = section.find(name) else { return Ok(otherwise) };
    let seconds = key.number(FROM_0, finite_from_zero)?;
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

/// Likewise, of 0 or more; this one where nothing is said.
fn numbers_or(section: &Section<'_>, name: &str, usual: f64) -> Result<Vec<f64>, InputError> {
    let expected = "a list of finite numbers, 0 or more, as [0, 2.5]";
    let Some(key) = section.find(name) else { return Ok(vec![usual]) };
    let numbers = key.list(expected)?;
    let numbers = numbers.iter().map(|key| key.number(FROM_0, finite_from_zero));
    match numbers.collect::<Result<Vec<f64>, InputError>>()? {
        numbers if numbers.is_empty() => Err(key.wrong(expected)),
        numbers => Ok(numbers),
    }
}
