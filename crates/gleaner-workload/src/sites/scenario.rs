//! What a scenario of jobs over sites says.

use crate::error::Place;
use crate::swf::Job as LogJob;
use gleaner_policy::PolicySpec;
use gleaner_sim::Division;
use gleaner_sim::sites::{Job, Protocol, Site, Staging};
use std::sync::Arc;

/// What is to be drawn and simulated.
#[derive(Clone, Debug)]
pub struct SitesScenario {
    /// The sites, or what they are like.
    pub sites: Sites,
    /// The jobs, or what they are like.
    pub jobs: Jobs,
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
    /// Where the document says what the jobs are.
    pub(crate) work: Place,
}

/// The sites of a scenario.
#[derive(Clone, Debug)]
pub enum Sites {
    /// They are drawn.
    Drawn(SitesDrawn),
    /// A table lists them.
    Listed(Arc<SitesListed>),
}

/// The jobs of a scenario.
#[derive(Clone, Debug)]
pub enum Jobs {
    /// They are drawn.
    Drawn(JobsDrawn),
    /// A table lists them.
    Listed(Arc<JobsListed>),
}

/// Sites that a table lists.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SitesListed {
    /// As the table calls them.
    pub names: Vec<String>,
    /// What they are.
    pub sites: Vec<Site>,
}

/// Jobs that a table lists, in order of submission.
#[derive(Clone, Debug, Default)]
pub struct JobsListed {
    /// As the table calls them.
    pub names: Vec<String>,
    /// What they are.
    pub jobs: Vec<Job>,
    /// The row of each.
    pub(crate) places: Vec<Place>,
}

/// What sites are drawn from: of each list, each number is as likely.
#[derive(Clone, PartialEq, Debug)]
pub struct SitesDrawn {
    /// How many there are.
    pub count: usize,
    /// Processors, beside those of other sites.
    pub processors: Vec<f64>,
    /// What a processor does, in `GFlops`.
    pub gflops: Vec<f64>,
    /// Memory, in gigabytes for each processor.
    pub memory_gb: Vec<f64>,
    /// Disk, in gigabytes for each processor.
    pub disk_gb: f64,
    /// Megabits a second out of a site.
    pub upload_mbit: Vec<f64>,
    /// Megabits a second into a site.
    pub download_mbit: Vec<f64>,
    /// The part of what all sites could compute while jobs arrive that the jobs ask for, before those that are too large for
    /// the sites are cut.
    pub load: f64,
    /// Credits for an operation; 0 where that is not said.
    pub price: Vec<f64>,
    /// The quality of service that a site offers; 0 where that is not said.
    pub quality: Vec<f64>,
}

/// What jobs are drawn from.
#[derive(Clone, Debug)]
pub struct JobsDrawn {
    /// How many there are.
    pub count: usize,
    /// How long they arrive; as long as the model or the log says, where none is said.
    pub days: Option<f64>,
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
    /// How long users say that a job takes.
    pub estimates: Estimates,
    /// What the largest job may take.
    pub largest: Largest,
    /// The quality of service that a job asks for; 0 where that is not said.
    pub quality: Vec<f64>,
    /// The credits that its user would pay for an operation; infinitely many where that is not said.
    pub would_pay: Vec<f64>,
}

/// How long users say that jobs take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Estimates {
    /// So many times what they do.
    Times(f64),
    /// What the log says.
    Logged,
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
    /// All processors.
    All,
}

/// When jobs come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// As the model says, stretched.
    Model,
    /// Evenly.
    Even,
}
