//! Scenarios of jobs over sites: what is drawn for a seed, and by what policy it is run.
//!
//! Sites and jobs are drawn from what the scenario says; the sites are then made smaller or larger, all by one factor, so
//! that the jobs ask for a given part of what the sites could compute while jobs arrive.

mod draw;
mod read;
mod scenario;

pub use scenario::{Arrivals, JobModel, JobsDrawn, Largest, SitesDrawn, SitesScenario};

use crate::error::Place;
use crate::{InputError, document};
use gleaner_sim::sites::SitesSetup;
use std::path::Path;

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

    /// Whether the document at `path` is such a scenario, whole or not: it has the tables `sites` and `jobs`.
    pub fn is_at(path: impl AsRef<Path>) -> bool {
        document::read(path.as_ref(), &[]).is_ok_and(|document| {
            let places = document::places(&document);
            places.contains_key("sites") && places.contains_key("jobs")
        })
    }

    /// What is drawn for a seed.
    pub fn setup(&self, seed: u64) -> SitesSetup {
        draw::setup(self, seed)
    }
}
