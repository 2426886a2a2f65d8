//! The peers' policy equals its naive reference, event for event, among random peers, and a fault in it is noticed.

use super::grids::{random, recipe, run_checked};
use crate::basics::{at, seconds, seeds};
use gleaner_core::Policy;
use gleaner_policy::{Choose, Favours, Holding, Overflow, Peering, Reach, Recalling, Recipe, Score};
use gleaner_sim::Parties;
use gleaner_sim::peers::{BrokerAbsence, Frail, Outage, PeersSetup, Turnover, peers};
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive_peer::{Measure, NaivePeer};
use gleaner_testkit::random::Choices;
use gleaner_testkit::record::{Record, first_difference};
use gleaner_units::PartyId;

/// As many as are usual.
const SEEDS: u64 = 300;

const MEASURES: [(Measure, Score); 6] = [
    (Measure::Power, Score::Power),
    (Measure::PerCore, Score::PowerPerCore),
    (Measure::Reliable, Score::ReliablePower),
    (Measure::Joules, Score::Energy),
    (Measure::JoulesSeconds, Score::EnergyDelay),
    (Measure::ReliableJoulesSeconds, Score::ReliableEnergyDelay),
];

fn combination(seed: u64) -> (Recipe, NaivePeer) {
    let choices = &mut Choices::seeded(seed ^ 0xfa4);
    let mut yes = || choices.one_in(2);
    let (is_greedy, on_workers, takes_back) = (yes(), yes(), yes());
    let (by_favours, matches, may_reach) = (yes(), yes(), yes());
    let (measure, score) = MEASURES[choices.below(MEASURES.len())];
    let reaches = is_greedy && measure == Measure::Power && may_reach;
    let holds = !on_workers && choices.one_in(2);
    let naive = NaivePeer {
        is_greedy,
        measure,
        by_favours: by_favours || matches,
        matches,
        on_workers,
        takes_back,
        reaches,
        holds,
        ended: Vec::new(),
    };
    let favours = match (by_favours, matches) {
        (_, true) => Favours::FdNof,
        (true, false) => Favours::Nof,
        (false, false) => Favours::None,
    };
    let queue = if on_workers { Overflow::Machines } else { Overflow::Peer };
    let recall = if takes_back { Recalling::WhenShort } else { Recalling::Never };
    let reach = if reaches { Reach::Grid } else { Reach::Site };
    let hold = if holds { Holding::WhenSlower } else { Holding::Never };
    let recipe = Recipe {
        choose: if is_greedy { Choose::BestLatest } else { Choose::First },
        hold,
        peering: Some(Peering { favours, queue, recall, reach }),
        ..Recipe::by(score)
    };
    (recipe, naive)
}

/// Some workers go and come back.
fn troubled(seed: u64) -> PeersSetup {
    let mut setup = random(seed);
    let choices = &mut Choices::seeded(seed ^ 0x0dd);
    for _ in 0..choices.below(6) {
        let peer = choices.below(setup.peers.len());
        let worker = choices.below(setup.peers[peer].workers.len());
        let from = choices.below(30) as f64;
        let until = from + 1.0 + choices.below(9) as f64;
        setup.outages.push(Outage { peer: PartyId::new(peer), worker, from: at(from), until: at(until) });
    }
    setup.learns_power = choices.one_in(3);
    for _ in 0..choices.below(6) {
        let peer = choices.below(setup.peers.len());
        let worker = choices.below(setup.peers[peer].workers.len());
        setup.frail.push(Frail { peer: PartyId::new(peer), worker, fails_after: seconds(9.0) });
    }
    for job in &mut setup.jobs {
        job.broker = choices.below(2) as u32;
    }
    for _ in 0..choices.below(3) {
        let (peer, broker) = (PartyId::new(choices.below(setup.peers.len())), choices.below(2) as u32);
        let from = choices.below(20) as f64;
        let until = from + 1.0 + choices.below(15) as f64;
        setup.brokers_away.push(BrokerAbsence { peer, broker, from: at(from), until: at(until) });
    }
    if choices.one_in(2) {
        setup.heartbeat = Some(seconds(5.0));
        if choices.one_in(2) {
            setup.turnover = Some(Turnover { stays: seconds(50.0), away: seconds(8.0) });
        }
    }
    setup
}

fn record<P: Policy>(setup: &PeersSetup, policy: impl Fn(usize) -> P, checked: bool) -> (Record, u64) {
    let mut record = Record::default();
    let parties: Parties<'_, P, _> = peers(setup, policy).observed_by(&mut record);
    let left = if checked {
        run_checked(parties, setup).outside().tasks_left()
    } else {
        let mut parties = parties;
        parties.run();
        parties.outside().tasks_left()
    };
    (record, left)
}

#[test]
fn the_policy_equals_its_reference_and_every_task_is_done() {
    for seed in seeds(SEEDS) {
        let (recipe, naive) = combination(seed);
        let setup = troubled(seed);
        let (fast, left) = record(&setup, |_| recipe.build(), true);
        let (reference, _) = record(&setup, |_| naive.clone(), false);
        if let Some(difference) = first_difference(&fast, &reference) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
        assert_eq!(left, 0, "seed {seed}, {recipe:?}");
    }
}

#[test]
fn a_fault_is_noticed() {
    for fault in [Fault::Deaf(7), Fault::Astray(7)] {
        let noticed = seeds(SEEDS).find(|&seed| {
            let (recipe, naive) = combination(seed);
            let setup = random(seed);
            let (mutant, _) = record(&setup, |_| Mutant::new(recipe.build(), fault, seed), false);
            let (reference, _) = record(&setup, |_| naive.clone(), false);
            first_difference(&mutant, &reference).is_some()
        });
        assert!(noticed.is_some_and(|seed| seed < 20), "{fault:?}: {noticed:?}");
    }
}

#[test]
fn the_presets_are_the_papers_rules() {
    let greedy = recipe("dasilva/greedy", &[]);
    assert_eq!((greedy.choose, greedy.peering), (Choose::BestLatest, Some(Peering::default())));
    assert_eq!(recipe("dasilva/traditional", &[]).choose, Choose::First);
}

/// The contract's example: table 1's rows 1, 36, 56, 70, 59 in that order, three wanted.
#[test]
fn algorithm_1_as_printed() {
    let rows = [1_898_162.0, 1_347_230.0, 1_347_230.0, 373_385.0, 2_790_966.0];
    let setup = super::grids::setup(&[&rows], &[(0.0, 0, &[2e6, 2e6, 2e6])]);
    let mut parties = super::grids::of(&setup, recipe("dasilva/greedy", &[]));
    parties.step();
    let grid = parties.scheduler(PartyId::FIRST).grid();
    let on: Vec<usize> = (0..3)
        .map(|task| grid.placed_on(gleaner_units::TaskId::new(task)).expect("it is placed").index())
        .collect();
    assert_eq!(on, [4, 0, 2], "rows 59, 1, 56: of equals the later comes first");
}
