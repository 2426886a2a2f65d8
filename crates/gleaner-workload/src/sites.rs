//! Scenarios of jobs over sites: what is drawn for a seed, and by what policy it is run.
//!
//! Sites and jobs are drawn from what the scenario says; the sites are then made smaller or larger, all by one factor, so
//! that the jobs ask for a given part of what the sites could compute while jobs arrive.

mod draw;
mod read;

use crate::InputError;
use crate::document;
use crate::error::Place;
use crate::swf::Job as LogJob;
use gleaner_policy::PolicySpec;
use gleaner_sim::sites::{Protocol, Staging};
use gleaner_sim::{Division, sites::SitesSetup};
use std::path::Path;
use std::sync::Arc;

/// What is to be drawn and simulated.
#[derive(Clone, Debug)]
pub struct SitesScenario {
    /// What sites are like.
    pub sites: SitesDrawn,
    /// What jobs are like.
    pub jobs: JobsDrawn,
    /// How data is divided over a job's parts.
    pub staging: Staging,
    /// How transfers that meet divide a link.
    pub division: Division,
    /// How much longer a job takes for the part of its processes' pairs that are at different sites.
    pub crossing: f64,
    /// How many meta-schedulers there are; jobs go to them in turn.
    pub schedulers: usize,
    /// How they talk to sites.
    pub protocol: Protocol,
    /// Who decides, where that is said.
    pub policy: Option<PolicySpec>,
    /// The seed of all random streams.
    pub seed: u64,
}

/// What sites are drawn from: of each list, each number is as likely.
#[derive(Clone, PartialEq, Debug)]
pub struct SitesDrawn {
    /// How many there are.
    pub count: usize,
    /// Processors, beside those of other sites.
    pub processors: Vec<f64>,
    /// What a processor does, in GFlops.
    pub gflops: Vec<f64>,
    /// Memory, in gigabytes for each processor.
    pub memory_gb: Vec<f64>,
    /// Disk, in gigabytes for each processor.
    pub disk_gb: f64,
    /// Megabits a second out of a site.
    pub upload_mbit: Vec<f64>,
    /// Megabits a second into a site.
    pub download_mbit: Vec<f64>,
    /// The part of what all sites could compute while jobs arrive that the jobs ask for.
    pub load: f64,
}

/// What jobs are drawn from.
#[derive(Clone, Debug)]
pub struct JobsDrawn {
    /// How many there are.
    pub count: usize,
    /// How long they arrive.
    pub days: f64,
    /// Where submissions, processors and run times come from.
    pub model: JobModel,
    /// Whether the model's moments of submission are taken, stretched to the days, or moments drawn evenly from them.
    pub arrivals: Arrivals,
    /// Memory that a process needs, in gigabytes.
    pub memory_gb: Vec<f64>,
    /// Disk that a process needs, in gigabytes.
    pub disk_gb: f64,
    /// The mean time that a job's data takes between two sites, as a part of the mean run time.
    pub data_share: f64,
    /// The size of a job's result, as a part of its data.
    pub result_share: f64,
    /// Users say that a job takes so many times what it does.
    pub estimates: f64,
    /// What the largest job may take.
    pub largest: Largest,
}

/// Where submissions, processors and run times come from.
#[derive(Clone, Debug)]
pub enum JobModel {
    /// The model of Lublin and Feitelson.
    Lublin,
    /// So many jobs of a log that follow on each other, from one that is drawn.
    Log(Arc<Vec<LogJob>>),
}

/// What the largest job may take; larger ones are made as large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Largest {
    /// Half of all processors.
    Half,
    /// The largest site.
    Site,
}

/// When jobs come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// As the model says, stretched.
    Model,
    /// Evenly.
    Even,
}

impl SitesScenario {
    /// Reads the scenario at `path`. Each of the `overrides` is `key=value`, and is laid over the document first.
    pub fn load(path: impl AsRef<Path>, overrides: &[String]) -> Result<Self, InputError> {
        let path = path.as_ref();
        let base = path.parent().unwrap_or(Path::new(""));
        read::scenario(&document::read(path, overrides)?, base)
    }

    /// The scenario that `text` holds.
    pub fn parse(name: &str, text: &str) -> Result<Self, InputError> {
        read::scenario(&document::parse(text, &Place::whole(name))?, Path::new(""))
    }

    /// Whether the document at `path` is such a scenario: it has a table `sites`.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        document::read(path.as_ref(), &[]).is_ok_and(|root| read::has_sites(&root))
    }

    /// What is drawn for a seed.
    pub fn setup(&self, seed: u64) -> SitesSetup {
        draw::setup(self, seed)
    }
}
