//! A scenario of sites that lend each other workers: one with a section `[peers]`.
//!
//! ```toml
//! [peers]
//! workers = "workers.csv"     # peer, ops_per_s; count, cores, watts, fails_after_s: a peer's own, in the order in which they registered
//! outages = "outages.csv"     # optional: peer, worker (from 1), from_s, until_s
//! silences = "silences.csv"   # optional: peer, from_s, until_s
//! absences = "absences.csv"   # optional: the same columns: the peer is switched off, with its workers
//! brokers = "brokers.csv"     # optional: peer, user, from_s, until_s: when a user's broker is not registered at the peer
//! stays_s = 36000             # optional: peers come and go by chance; away_s with it
//! away_s = 3600
//! unrelated = 0.0             # a task takes on each worker this part more or less than its power says, drawn evenly
//! power = "declared"          # how powerful a worker is: as it says, or "learnt" by its owner from what ran there
//! inputs_s = 0                # how long the inputs of a task take to another peer's worker
//! [letters]
//! delay_s = 0
//! loss = 0.0                  # the part that never comes; it needs a heartbeat
//! heartbeat_s = 60            # optional: how often peers say that they are here
//! [work]
//! jobs = "jobs.csv"           # id, peer, arrival_s, lengths (as 600x30, or 600 500 700); optional user, think_s
//! # instead: ourgrid = "trace.txt.gz", with gap = "think" or "between" and ops_per_s, of the machine that it was taken on
//! [policy]
//! preset = "dasilva/greedy"
//! [run]
//! seed = 1
//! ```
//!
//! A policy that reads lengths is told those of the tasks; no other is. A job of a `user` comes `think_s` after the one before of the same user ended, and not before its `arrival_s`.

mod tables;
mod trace;

pub use trace::{Gap, jobs};

use crate::document;
use crate::section::Section;
use crate::{InputError, Shake, settings};
use gleaner_core::TaskClass;
use gleaner_policy::{Input, PolicySpec, Recipe};
use gleaner_sim::Way;
use gleaner_sim::peers::{Job, PeersSetup, Turnover, Unrelated};
use gleaner_units::Time;
use std::path::Path;
use tables::{Jobs, Workers};

const SECTIONS: [&str; 5] = ["peers", "letters", "work", "policy", "run"];
const PEERS_KEYS: [&str; 10] = [
    "workers",
    "outages",
    "silences",
    "absences",
    "brokers",
    "stays_s",
    "away_s",
    "unrelated",
    "inputs_s",
    "power",
];
const POWER: &str = "\"declared\", or \"learnt\" from what ran";

/// Such a scenario, ready to run.
#[derive(Clone, Debug)]
pub struct PeersScenario {
    /// Peers, workers, jobs, letters.
    pub setup: PeersSetup,
    /// What every peer goes by.
    pub recipe: Recipe,
    /// The preset's name.
    pub policy: String,
    /// Of lost letters, and of what tasks take on unrelated machines.
    pub seed: u64,
    /// Peers, as the files call them.
    pub peer_names: Vec<String>,
    /// Jobs, as the file calls them.
    pub job_names: Vec<String>,
}

impl PeersScenario {
    /// Whether the document at `path` is about peers.
    pub fn is_at(path: &Path) -> Result<bool, InputError> {
        let document = document::read(path, &[])?;
        Ok(document::places(&document).contains_key("peers"))
    }

    /// Reads the scenario at `path` and the tables that it names; each of the `overrides` is `key=value` and is laid over it.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, InputError> {
        let base = path.parent().unwrap_or(Path::new(""));
        let document = document::read(path, overrides)?;
        let root = Section::root(&document, &SECTIONS)?;
        let peers = root.section("peers", &PEERS_KEYS)?;
        let letters = root.section("letters", &["delay_s", "loss", "heartbeat_s"])?;
        let work = root.section("work", &["jobs", "ourgrid", "gap", "ops_per_s"])?;
        let policy = settings::policy(&root, PolicySpec::read)?;
        let seed = settings::seed(&root)?;
        let recipe = policy.recipe();
        if !recipe.lends() {
            let found = format!("{}, which knows no peers", policy.name());
            let expected = "one for peers, as dasilva/greedy or gleaner/bags, or favours = \"nof\" with it";
            return Err(root.nearest("policy.preset").error("policy.preset", found, expected));
        }
        let workers = Workers::read(base, &peers)?;
        let jobs = match (work.find("jobs"), work.find("ourgrid")) {
            (Some(_), Some(trace)) => {
                return Err(trace.error_found("a trace beside a table of jobs", "one of them"));
            }
            (None, Some(trace)) => trace::read(base, &work, &trace, &workers)?,
            (_, None) => Jobs::read(base, &work, &workers)?,
        };
        let brokers_away = jobs.brokers_away(base, &peers, &workers.peers)?;
        let unrelated = peers.find("unrelated").map_or(Ok(0.0), |key| {
            key.number("a part, from 0 to below 1", |part| (0.0..1.0).contains(&part))
        })?;
        let heartbeat = letters.find("heartbeat_s").map(|key| settings::period(&key)).transpose()?;
        let usual = Way { delay: settings::span(&letters, "delay_s")?, loss: loss(&letters)? };
        let turnover = turnover(&peers)?;
        let is_lost = usual.loss > 0.0 || !workers.silences.is_empty();
        if heartbeat.is_none() && (is_lost || !workers.absences.is_empty() || turnover.is_some()) {
            let found = "nothing, and letters that are lost or peers that come and go";
            let expected = "a heartbeat, as 60: what was lost is said again with it";
            return Err(letters.nearest("heartbeat_s").error("letters.heartbeat_s", found, expected));
        }
        if let Some(heartbeat) = heartbeat.filter(|period| period.nanos() / 2 < usual.delay.nanos()) {
            let found =
                format!("{} s, and letters that take {} s", heartbeat.seconds(), usual.delay.seconds());
            let expected =
                "at least as long as there and back: what two heartbeats on end say is taken for true";
            return Err(letters.nearest("heartbeat_s").error("letters.heartbeat_s", found, expected));
        }
        let setup = PeersSetup {
            seed,
            weights: vec![1.0],
            machine_classes: workers.classes,
            task_classes: vec![tasks()],
            peers: workers.sites,
            jobs: jobs.rows,
            lengths: jobs.lengths,
            inputs: settings::span(&peers, "inputs_s")?,
            usual,
            heartbeat,
            outages: workers.outages,
            silences: workers.silences,
            absences: workers.absences,
            brokers_away,
            turnover,
            frail: workers.frail,
            forged: Vec::new(),
            unrelated: (unrelated > 0.0).then_some(Unrelated { spread: unrelated, seed }),
            declares_lengths: recipe.reads().contains(&Input::Lengths),
            learns_power: learns_power(&peers)?,
        };
        if let Err(broken) = setup.check() {
            return Err(peers.error(broken.to_string(), "peers and jobs that a run can be made of"));
        }
        let policy = policy.name().to_owned();
        Ok(Self { setup, recipe, policy, seed, peer_names: workers.peers.names, job_names: jobs.names })
    }

    /// The same with another seed.
    #[must_use]
    pub fn seeded(&self, seed: u64) -> PeersSetup {
        let unrelated = self.setup.unrelated.map(|unrelated| Unrelated { seed, ..unrelated });
        PeersSetup { seed, unrelated, ..self.setup.clone() }
    }

    /// The same with each arrival moved; a user's jobs stay in their order.
    #[must_use]
    pub fn shaken(&self, shake: Shake) -> Self {
        let given = &self.setup.jobs;
        let mut arrivals = vec![Time::ZERO; given.len()];
        for (arrival, place) in shake.of(given.iter().map(|job| job.submitted)) {
            arrivals[place] = arrival;
        }
        for (place, job) in given.iter().enumerate() {
            let before = job.after.map_or(Time::ZERO, |(before, _)| arrivals[before as usize]);
            arrivals[place] = arrivals[place].max(before);
        }
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by_key(|&place| arrivals[place]);
        let mut now_at = vec![0_u32; given.len()];
        for (&place, now) in order.iter().zip(0..) {
            now_at[place] = now;
        }
        let first_task = given.iter().scan(0, |next, job| {
            let first = *next;
            *next += job.tasks as usize;
            Some(first)
        });
        let first_task: Vec<usize> = first_task.collect();
        let moved = |&place: &usize| {
            let after = given[place].after.map(|(before, thinks)| (now_at[before as usize], thinks));
            Job { submitted: arrivals[place], after, ..given[place] }
        };
        let lengths_of = |&place: &usize| {
            let first = first_task[place];
            self.setup.lengths[first..first + given[place].tasks as usize].iter().copied()
        };
        let jobs = order.iter().map(moved).collect();
        let lengths = order.iter().flat_map(lengths_of).collect();
        let job_names = order.iter().map(|&place| self.job_names[place].clone()).collect();
        Self { setup: PeersSetup { jobs, lengths, ..self.setup.clone() }, job_names, ..self.clone() }
    }
}

/// How long peers stay and are away; nothing where they always stay.
fn turnover(peers: &Section<'_>) -> Result<Option<Turnover>, InputError> {
    let (Some(stays), away) = (peers.find("stays_s"), peers.find("away_s")) else {
        return match peers.find("away_s") {
            None => Ok(None),
            Some(away) => {
                Err(away.error_found("how long peers are away and not how long they stay", "stays_s with it"))
            }
        };
    };
    let away = away.ok_or_else(|| {
        stays.error_found("how long peers stay and not how long they are away", "away_s with it")
    })?;
    Ok(Some(Turnover { stays: settings::period(&stays)?, away: settings::period(&away)? }))
}

/// Whether what workers can do is to be found out.
fn learns_power(peers: &Section<'_>) -> Result<bool, InputError> {
    let Some(key) = peers.find("power") else { return Ok(false) };
    match key.text(POWER)? {
        "declared" => Ok(false),
        "learnt" => Ok(true),
        _ => Err(key.wrong(POWER)),
    }
}

fn loss(letters: &Section<'_>) -> Result<f64, InputError> {
    let expected = "a part, from 0 to below 1";
    letters.find("loss").map_or(Ok(0.0), |key| key.number(expected, |part| (0.0..1.0).contains(&part)))
}

/// All tasks are alike but for their lengths.
fn tasks() -> TaskClass {
    TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) }
}
