//! Scenarios over sites: documents with a section `[sites]`. What the sites are, how their network is shared and how those who
//! send jobs there talk to them is said in the same sections, whichever of three ways the sites and the work are given:
//!
//! - **Drawn** (`sites.count`): sites and rigid jobs that may be split over them ([`SitesScenario`]). Both are drawn from what
//!   the scenario says; the sites are then made smaller or larger, all by one factor, so that the jobs ask for a given part
//!   of what the sites could compute while jobs arrive.
//! - **Listed** (`sites.table`): the same, but a table lists the sites as they are; the jobs are in a table too
//!   (`work.jobs`), or drawn, or those of a log.
//! - **Behind brokers** (`sites.elements`): sites' computing elements and jobs in tables, with brokers that go by an index that
//!   is out of date ([`BrokeringScenario`]).

mod draw;
mod read;
mod rigid;
mod scenario;
mod tables;

pub use rigid::usable_jobs;
pub use scenario::{
    Arrivals, Estimates, JobModel, Jobs, JobsDrawn, JobsListed, Largest, Sites, SitesDrawn, SitesListed,
    SitesScenario,
};

use crate::brokering::BrokeringScenario;
use crate::document::Node;
use crate::error::Place;
use crate::section::Section;
use crate::{InputError, document};
use gleaner_core::size;
use gleaner_policy::SiteRule;
use gleaner_policy::parts::sites::Split;
use gleaner_sim::sites::{Job, SitesSetup};
use std::path::Path;

/// A scenario over sites.
#[derive(Clone, Debug)]
pub enum OverSites {
    /// Meta-schedulers give rigid jobs to sites, over which they may be split.
    Split(Box<SitesScenario>),
    /// Brokers send each job to one site.
    Brokered(Box<BrokeringScenario>),
}

/// Whether the document at `path` is about sites.
pub fn is_at(path: &Path) -> Result<bool, InputError> {
    Ok(document::places(&document::read(path, &[])?).contains_key("sites"))
}

/// Reads the scenario at `path` and the tables that it names. Each of the `overrides` is `key=value`, and is laid over the
/// document first.
pub fn load(path: &Path, overrides: &[String]) -> Result<OverSites, InputError> {
    of(&document::read(path, overrides)?, path.parent().unwrap_or(Path::new("")))
}

fn of(document: &Node, base: &Path) -> Result<OverSites, InputError> {
    let places = document::places(document);
    let ways = ["sites.count", "sites.table", "sites.elements"];
    let said: Vec<&str> = ways.into_iter().filter(|way| places.contains_key(*way)).collect();
    match said[..] {
        ["sites.elements"] => Ok(OverSites::Brokered(Box::new(BrokeringScenario::of(document, base)?))),
        [_] => Ok(OverSites::Split(Box::new(read::scenario(document, base)?))),
        [] => {
            let expected =
                "how many sites are drawn; or sites.table or sites.elements, a table that lists them";
            Err(Section::whole(document)?.nearest("sites").error("sites.count", "nothing", expected))
        }
        [first, .., last] => {
            let expected = "one of the two: sites are drawn or listed";
            Err(places[last].error(last, format!("sites that are listed beside {first}"), expected))
        }
    }
}

impl SitesScenario {
    /// The scenario of drawn sites that `text` holds.
    pub fn parse(name: &str, text: &str) -> Result<Self, InputError> {
        read::scenario(&document::parse(text, &Place::whole(name))?, Path::new(""))
    }

    /// What is drawn for a seed. A job that could never start, whatever ends, is bad input; so is one of whose copies never all
    /// could run.
    pub fn setup(&self, seed: u64) -> Result<SitesSetup, InputError> {
        let setup = draw::setup(self, seed);
        let rule = self.policy.as_ref().and_then(|policy| policy.recipe().site_rule());
        match setup.find_stuck(rule.as_ref()) {
            Some(job) => Err(self.stuck(&setup, job, rule.as_ref())),
            None => Ok(setup),
        }
    }

    fn stuck(&self, setup: &SitesSetup, job: usize, rule: Option<&SiteRule>) -> InputError {
        let Job { processors, memory, disk, .. } = setup.jobs[job];
        let is_whole = rule.is_some_and(|rule| rule.split == Split::Whole);
        let sites = if is_whole { "any one site" } else { "all sites together" };
        let needs = format!(
            "job {}, which needs {processors} processors with {} of memory and {} of disk each",
            self.job_name(job),
            size(memory),
            size(disk),
        );
        let (found, expected) = match rule {
            // One copy would fit.
            Some(rule) if setup.find_stuck(Some(&SiteRule { copies: 1, ..*rule })) != Some(job) => (
                format!("{needs}, of which the sites never have room for {} copies", rule.copies),
                "jobs of which there is room for as many copies: with fewer processors, less memory or less disk; or larger \
                 sites, or fewer copies (policy.sites.copies)",
            ),
            Some(_) | None => (
                format!("{needs}, more than {sites} ever have"),
                "jobs that fit: with fewer processors, less memory or less disk; or larger sites",
            ),
        };
        match &self.jobs {
            Jobs::Listed(listed) => listed.places[job].error("", found, expected),
            Jobs::Drawn(_) => self.work.error("work", found, expected),
        }
    }

    /// What a job is called: its number, from 1, where no table names it.
    pub fn job_name(&self, job: usize) -> String {
        match &self.jobs {
            Jobs::Listed(listed) => listed.names[job].clone(),
            Jobs::Drawn(_) => (job + 1).to_string(),
        }
    }

    /// What a site is called: its number, from 1, where no table names it.
    pub fn site_name(&self, site: usize) -> String {
        match &self.sites {
            Sites::Listed(listed) => listed.names[site].clone(),
            Sites::Drawn(_) => (site + 1).to_string(),
        }
    }
}
