//! Scenarios over sites: documents with a section `[sites]`. What the sites are, how their network is shared and how those who
//! send jobs there talk to them is said in the same sections, whichever of two ways the sites and the work are given:
//!
//! - **Drawn** (`sites.count`): sites and rigid jobs that may be split over them ([`SitesScenario`]). Both are drawn from what
//!   the scenario says; the sites are then made smaller or larger, all by one factor, so that the jobs ask for a given part
//!   of what the sites could compute while jobs arrive.
//! - **Listed** (`sites.elements`): sites' computing elements and jobs in tables, with brokers that go by an index that is out
//!   of date ([`BrokeringScenario`]).

mod draw;
mod read;
mod scenario;

pub use scenario::{Arrivals, JobModel, JobsDrawn, Largest, SitesDrawn, SitesScenario};

use crate::brokering::BrokeringScenario;
use crate::document::Node;
use crate::error::Place;
use crate::section::Section;
use crate::{InputError, document};
use gleaner_sim::sites::SitesSetup;
use std::path::Path;

/// A scenario over sites.
#[derive(Clone, Debug)]
pub enum OverSites {
    /// Sites and jobs are drawn.
    Drawn(Box<SitesScenario>),
    /// They are listed in tables.
    Listed(Box<BrokeringScenario>),
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
    match (places.contains_key("sites.count"), places.get("sites.elements")) {
        (true, None) => Ok(OverSites::Drawn(Box::new(read::scenario(document, base)?))),
        (false, Some(_)) => Ok(OverSites::Listed(Box::new(BrokeringScenario::of(document, base)?))),
        (true, Some(place)) => {
            let found = "a table of elements beside sites.count";
            Err(place.error("sites.elements", found, "one of the two: sites are drawn or listed"))
        }
        (false, None) => {
            let expected = "how many sites are drawn, or sites.elements, a table that lists them";
            Err(Section::whole(document)?.nearest("sites").error("sites.count", "nothing", expected))
        }
    }
}

impl SitesScenario {
    /// The scenario of drawn sites that `text` holds.
    pub fn parse(name: &str, text: &str) -> Result<Self, InputError> {
        read::scenario(&document::parse(text, &Place::whole(name))?, Path::new(""))
    }

    /// What is drawn for a seed.
    pub fn setup(&self, seed: u64) -> SitesSetup {
        draw::setup(self, seed)
    }
}
