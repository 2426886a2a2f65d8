//! A scenario of brokers and sites that tables list.
//!
//! ```toml
//! [sites]
//! elements = "elements.csv"   # id, site, cpus, ops_per_s; provides, ad, index
//! storage = "storage.csv"     # site; bytes_per_s, quota
//! links = "links.csv"         # from, to, bytes_per_s: between sites, and places of any other name
//! files = "files.csv"         # id, bytes, sites
//! copies = "copies.csv"       # file, site, time_s: copies that come from outside later, and stay
//! queue = "queue/easy"        # how each site runs what waits there; or { preset = "queue/easy", fill = "shortest" }
//! keep_replicas = false       # what was brought stays within the quota
//! reading_holds_cpu = true
//! [network]
//! shared = true               # transfers that meet divide a link fairly
//! [protocol]
//! brokers = 1
//! delay_s = 0                 # of each letter between brokers and sites
//! [index]
//! ttl_s = [30, 50]            # a level each, the lowest first; or parts = [{ name, ttl_s, above }]
//! rank_source = "index"       # or "element"
//! transfers_seen = false
//! [work]
//! jobs = "jobs.csv"           # id, arrival_s, length; estimate, cores, inputs, requires, ad, element, broker
//! [policy]
//! preset = "cavalieri/stochastic"
//! [run]
//! seed = 1
//! ```

mod tables;

use crate::document::Node;
use crate::error::{Place, quoted};
use crate::limits::BROKERS_MAX;
use crate::section::{Key, Section};
use crate::{InputError, Shake, settings};
use gleaner_policy::{PolicySpec, Recipe};
use gleaner_sim::Division;
use gleaner_sim::brokering::{BrokeringError, BrokeringSetup, IndexNode, Job, Model, RankSource, first_come};
use gleaner_units::Span;
use std::path::Path;
use tables::Tables;

const SECTIONS: [&str; 7] = ["sites", "index", "work", "network", "protocol", "policy", "run"];

/// Such a scenario, ready to run.
#[derive(Clone, Debug)]
pub struct BrokeringScenario {
    /// Sites, jobs, index.
    pub setup: BrokeringSetup,
    /// How brokers judge and choose.
    pub recipe: Recipe,
    /// The preset's name.
    pub policy: String,
    /// Of the draws.
    pub seed: u64,
    /// Elements, as the file calls them.
    pub element_names: Vec<String>,
    /// Jobs, as the file calls them.
    pub job_names: Vec<String>,
}

impl BrokeringScenario {
    /// Reads the tables that the document names.
    pub(crate) fn of(document: &Node, base: &Path) -> Result<Self, InputError> {
        let root = Section::root(document, &SECTIONS)?;
        let keys = [
            "elements",
            "storage",
            "links",
            "files",
            "copies",
            "queue",
            "keep_replicas",
            "reading_holds_cpu",
        ];
        let sites = root.section("sites", &keys)?;
        let work = root.section("work", &["jobs"])?;
        let network = root.section("network", &["shared"])?;
        let protocol = root.section("protocol", &["brokers", "delay_s"])?;
        let index = root.section("index", &["ttl_s", "parts", "rank_source", "transfers_seen"])?;
        let policy = settings::policy(&root, PolicySpec::read)?;
        if !policy.recipe().sends_once() {
            let found = format!("{}, by which brokers cannot go: {}", policy.name(), policy.recipe());
            let expected = "a rule that sends each job once and leaves it there, as gleaner/broker";
            return Err(root.nearest("policy.preset").error("policy.preset", found, expected));
        }
        let seed = settings::seed(&root)?;
        let (parts, part_names) = parts(&index)?;
        let expected = format!("a whole number, from 1 to {BROKERS_MAX}");
        let brokers = protocol.find("brokers").map_or(Ok(1), |key| {
            let count: usize = key.integer(1, &expected)?;
            if count <= BROKERS_MAX { Ok(count) } else { Err(key.wrong(&expected)) }
        })?;
        let tables = Tables::read(base, (&sites, &work), &part_names, brokers)?;
        let flag =
            |section: &Section<'_>, name, usual| section.find(name).map_or(Ok(usual), |key| key.flag());
        let sources = [("index", RankSource::Index), ("element", RankSource::Element)];
        let usual = Model::default();
        let model = Model {
            rank_source: index
                .find("rank_source")
                .map_or(Ok(usual.rank_source), |key| key.choice(&sources))?,
            links: if flag(&network, "shared", true)? { Division::Fair } else { Division::Unshared },
            reading_holds_cpu: flag(&sites, "reading_holds_cpu", true)?,
            transfers_seen: flag(&index, "transfers_seen", false)?,
            keeps_replicas: flag(&sites, "keep_replicas", false)?,
            delay: delay(&protocol)?,
        };
        let setup = BrokeringSetup {
            elements: tables.elements,
            storage: tables.storage,
            files: tables.files,
            copies: tables.copies,
            links: tables.links,
            index: parts,
            classes: tables.classes,
            jobs: tables.jobs,
            brokers,
            queue: sites.find("queue").map_or(Ok(first_come()), |key| queue(&root, &key))?,
            model,
        };
        let names = Names { sites: &tables.site_names, files: &tables.file_names, parts: &part_names };
        let refused = |error| names.refused(error, (&sites, &index), &tables.class_places);
        setup.check().and_then(|()| setup.check_runnable()).map_err(refused)?;
        Ok(Self {
            setup,
            recipe: policy.recipe(),
            policy: policy.name().to_owned(),
            seed,
            element_names: tables.element_names,
            job_names: tables.job_names,
        })
    }
}

impl BrokeringScenario {
    /// The same with each arrival moved; what follows on each other may follow in another order.
    #[must_use]
    pub fn shaken(&self, shake: Shake) -> Self {
        let moved = shake.of(self.setup.jobs.iter().map(|job| job.arrival));
        let jobs = moved.iter().map(|&(arrival, place)| Job { arrival, ..self.setup.jobs[place] }).collect();
        let job_names = moved.iter().map(|&(_, place)| self.job_names[place].clone()).collect();
        Self { setup: BrokeringSetup { jobs, ..self.setup.clone() }, job_names, ..self.clone() }
    }
}

/// By which rule a site runs what waits there: a preset, or what may stand in `[policy]`.
fn queue(root: &Section<'_>, key: &Key<'_>) -> Result<Recipe, InputError> {
    let expected = "a rule for queues: queue/fcfs, queue/easy or queue/conservative";
    let read = match key.find_text() {
        Some(preset) => PolicySpec::preset(preset),
        None => PolicySpec::read(key.tree()?),
    };
    let spec = read.map_err(|error| {
        let key = format!("sites.queue.{}", error.key);
        root.nearest(&key).error(&key, error.found, error.expected)
    })?;
    if spec.recipe().queues() { Ok(spec.recipe()) } else { Err(key.wrong(expected)) }
}

fn delay(protocol: &Section<'_>) -> Result<Span, InputError> {
    let Some(key) = protocol.find("delay_s") else { return Ok(Span::ZERO) };
    let expected = "seconds, 0 or more, before the end of time";
    Span::from_seconds(key.number(expected, |seconds| seconds >= 0.0)?).ok_or_else(|| key.wrong(expected))
}

/// The parts of the index and their names: a level each, or as they are listed.
fn parts(index: &Section<'_>) -> Result<(Vec<IndexNode>, Vec<String>), InputError> {
    if let Some(key) = index.find("parts") {
        return listed_parts(&key);
    }
    let expected = "the seconds of each level, the lowest first, as [30, 50]";
    let levels = index.key("ttl_s", expected)?.list(expected)?;
    let last = levels.len().saturating_sub(1);
    let node = |(at, key): (usize, &Key<'_>)| {
        Ok(IndexNode { ttl: settings::period(key)?, above: (at < last).then_some(at + 1) })
    };
    let nodes: Vec<IndexNode> = levels.iter().enumerate().map(node).collect::<Result<_, InputError>>()?;
    let names = (1..=nodes.len()).map(|level| format!("level {level}")).collect();
    Ok((nodes, names))
}

fn listed_parts(key: &Key<'_>) -> Result<(Vec<IndexNode>, Vec<String>), InputError> {
    let expected =
        "a list of { name = \"top\", ttl_s = 50 } and { name = \"south\", ttl_s = 30, above = \"top\" }";
    let parts = key.list(expected)?;
    let tables = parts.iter().map(|part| part.section(&["name", "ttl_s", "above"]));
    let tables: Vec<Section<'_>> = tables.collect::<Result<_, InputError>>()?;
    let names = tables.iter().map(|part| part.key("name", "a name")?.text("a name").map(str::to_owned));
    let names: Vec<String> = names.collect::<Result<_, InputError>>()?;
    let mut nodes = Vec::new();
    for part in &tables {
        let above = part.find("above").map(|key| {
            let name = key.text("the name of a part")?;
            names.iter().position(|known| known == name).ok_or_else(|| key.wrong("the name of a part"))
        });
        let ttl = settings::period(&part.key("ttl_s", "seconds above 0")?)?;
        nodes.push(IndexNode { ttl, above: above.transpose()? });
    }
    Ok((nodes, names))
}

/// What positions in lists are called.
struct Names<'a> {
    sites: &'a [String],
    files: &'a [String],
    parts: &'a [String],
}

impl Names<'_> {
    fn refused(
        &self,
        error: BrokeringError,
        (sites, index): (&Section<'_>, &Section<'_>),
        classes: &[Place],
    ) -> InputError {
        match error {
            BrokeringError::Nothing(what) => sites.error(format!("no {what}"), "at least one"),
            BrokeringError::UnknownSite { file, site, .. } => {
                let found = format!("a copy of {} at site {site}", quoted(&self.files[file]));
                sites.error(found, "a site that is there")
            }
            BrokeringError::NobodyHolds { file, class } => {
                let found = format!("{}, of which no site holds a copy", quoted(&self.files[file]));
                classes[class].error(
                    "inputs",
                    found,
                    "files with a site in files.csv, or one in copies.csv later",
                )
            }
            BrokeringError::Cycle(part) => {
                let found = format!("{}, which is above itself", quoted(&self.parts[part]));
                index.error(found, "parts without a circle, as each takes in what is below it")
            }
            BrokeringError::Tops(tops) => {
                index.error(format!("{tops} parts with nothing above them"), "one, which brokers ask")
            }
            BrokeringError::Full { site, stored, quota } => {
                let name = quoted(&self.sites[site]);
                let found = format!("{stored} bytes of files at {name}, which has room for {quota}");
                sites.error(found, "fewer copies there, or a larger quota")
            }
            BrokeringError::Queue(rule) => sites.error(rule, "a rule for queues, as queue/easy"),
            BrokeringError::Wide { class, cores } => classes[class].error(
                "cores",
                format!("{cores} processors at a time, where each site starts jobs of one"),
                "1; or sites.queue = \"queue/easy\", \"queue/fcfs\" or \"queue/conservative\"",
            ),
            BrokeringError::Rule(rule) => sites.error(rule, "a rule that sends each job once"),
            BrokeringError::Stuck { class, why } => {
                let found = format!("a job that no element can run: {why}");
                classes[class].error(
                    "",
                    found,
                    "a job that some element can run, and to which its files can come",
                )
            }
        }
    }
}
