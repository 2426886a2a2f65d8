//! Peers for tests, written down or drawn from a seed.

use crate::basics::{at, seconds};
use gleaner_core::{Ad, MachineClass, Policy, TaskClass};
use gleaner_policy::{AnyPolicy, PolicySpec, Recipe};
use gleaner_sim::Parties;
use gleaner_sim::peers::{Job, PeersSetup, PeersWorld, Site, peers};
use gleaner_testkit::random::Choices;
use gleaner_units::{MachineClassId, Ops, PartyId, TaskClassId, Time};

pub(crate) fn peer(index: usize) -> PartyId {
    PartyId::new(index)
}

pub(crate) fn worker(power: f64, cores: u32) -> MachineClass {
    MachineClass::plain(vec![power], cores)
}

fn tasks() -> TaskClass {
    TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) }
}

/// Sites by the powers of their workers, one core each; jobs as (when, where, lengths).
pub(crate) fn setup(sites: &[&[f64]], jobs: &[(f64, usize, &[f64])]) -> PeersSetup {
    let mut powers: Vec<f64> = sites.iter().flat_map(|site| site.iter().copied()).collect();
    powers.sort_by(f64::total_cmp);
    powers.dedup();
    let kind =
        |power: &f64| MachineClassId::new(powers.iter().position(|other| other == power).expect("a kind"));
    PeersSetup {
        weights: vec![1.0],
        machine_classes: powers.iter().map(|power| worker(*power, 1)).collect(),
        task_classes: vec![tasks()],
        peers: sites.iter().map(|site| Site { workers: site.iter().map(kind).collect() }).collect(),
        jobs: jobs.iter().map(|&(when, whose, lengths)| job(at(when), whose, lengths.len())).collect(),
        lengths: jobs.iter().flat_map(|(.., lengths)| lengths.iter().map(|length| ops(*length))).collect(),
        ..PeersSetup::default()
    }
}

pub(crate) fn ops(length: f64) -> Ops {
    Ops::new(length).expect("a length")
}

pub(crate) fn job(submitted: Time, whose: usize, tasks: usize) -> Job {
    Job {
        submitted,
        peer: peer(whose),
        broker: 0,
        class: TaskClassId::FIRST,
        tasks: tasks as u32,
        after: None,
    }
}

pub(crate) fn recipe(preset: &str, more: &[(&str, &str)]) -> Recipe {
    let mut tree = gleaner_policy::Tree::new();
    tree.insert("preset".to_owned(), preset.into());
    for (key, value) in more {
        tree.insert((*key).to_owned(), (*value).into());
    }
    PolicySpec::read(tree).unwrap_or_else(|error| panic!("{preset} {more:?}: {error}")).recipe()
}

/// To the end, with all checks after every event.
pub(crate) fn run_checked<'a, P: Policy>(
    mut parties: Parties<'a, P, PeersWorld<'a>>,
    setup: &PeersSetup,
) -> Parties<'a, P, PeersWorld<'a>> {
    while parties.step() {
        for index in 0..setup.peers.len() {
            let scheduler = parties.scheduler(peer(index));
            scheduler
                .check()
                .unwrap_or_else(|broken| panic!("{} at {}: {broken}", peer(index), parties.now()));
        }
        parties.outside().check().unwrap_or_else(|broken| panic!("at {}: {broken}", parties.now()));
    }
    parties
}

pub(crate) fn of(setup: &PeersSetup, recipe: Recipe) -> Parties<'_, AnyPolicy, PeersWorld<'_>> {
    peers(setup, |_| recipe.build())
}

/// One to five peers with up to six workers, some with several cores; bags that overload some of them.
pub(crate) fn random(seed: u64) -> PeersSetup {
    let choices = &mut Choices::seeded(seed);
    let kinds = 1 + choices.below(4);
    let kind = |index: usize, choices: &mut Choices| {
        let ad = Ad::parse(&format!("[ Watts = {} ]", 40 + 30 * ((seed as usize + index) % 5)));
        let ad = (index % 3 < 2).then(|| ad.expect("an ad"));
        MachineClass { ad, ..worker(1.0 + choices.below(3) as f64, 1 + choices.below(3) as u32) }
    };
    let machine_classes = (0..kinds).map(|index| kind(index, choices)).collect();
    let sites = 1 + choices.below(5);
    let site = |choices: &mut Choices| {
        let workers = 1 + choices.below(6);
        Site { workers: (0..workers).map(|_| MachineClassId::new(choices.below(kinds))).collect() }
    };
    let peers: Vec<Site> = (0..sites).map(|_| site(choices)).collect();
    let mut now = 0.0;
    let (mut jobs, mut lengths) = (Vec::new(), Vec::new());
    for _ in 0..8 + choices.below(12) {
        now += choices.below(4) as f64;
        let tasks = 1 + choices.below(5);
        jobs.push(job(at(now), choices.below(sites), tasks));
        lengths.extend((0..tasks).map(|_| ops(1.0 + choices.below(12) as f64)));
    }
    PeersSetup {
        seed,
        weights: vec![1.0],
        machine_classes,
        task_classes: vec![tasks()],
        peers,
        jobs,
        lengths,
        inputs: seconds(choices.below(3) as f64 / 2.0),
        usual: gleaner_sim::Way { delay: seconds(choices.below(3) as f64 / 4.0), loss: 0.0 },
        ..PeersSetup::default()
    }
}
