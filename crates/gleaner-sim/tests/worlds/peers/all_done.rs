//! Whatever is chosen of what makes a site a peer: every task is done in the end.

use super::grids::{of, random, recipe, setup};
use crate::basics::seeds;
use gleaner_policy::Recipe;
use gleaner_sim::Way;
use gleaner_sim::peers::{PeersSetup, peers};
use gleaner_testkit::naive_peer::{Measure, NaivePeer};
use gleaner_testkit::random::Choices;
use gleaner_units::Span;

/// Far more than any of these runs takes.
const STEPS_MAX: usize = 100_000;

fn left(setup: &PeersSetup, recipe: Recipe) -> u64 {
    let mut parties = of(setup, recipe);
    let steps = (0..STEPS_MAX).take_while(|_| parties.step()).count();
    assert!(steps < STEPS_MAX, "it goes on at {} with {recipe:?}", parties.now());
    parties.outside().tasks_left()
}

/// The peer that takes its fast worker back had asked for two before, for one while it came, and for a more powerful one since
/// it is back: the discovery service has to hear that in this order.
#[test]
fn what_a_peer_asks_for_last_is_what_it_is_heard_to_want() {
    let setup =
        setup(&[&[1.0, 1.0], &[5.0], &[]], &[(0.0, 2, &[20.0]), (1.0, 1, &[20.0, 20.0]), (1.0, 2, &[10.0])]);
    assert_eq!(left(&setup, recipe("dasilva/greedy", &[("reach", "grid")])), 0);
    let naive = |_| NaivePeer {
        is_greedy: true,
        measure: Measure::Power,
        by_favours: true,
        matches: false,
        on_workers: true,
        takes_back: true,
        reaches: true,
        holds: false,
        ended: Vec::new(),
    };
    let mut parties = peers(&setup, naive);
    parties.run();
    assert_eq!(parties.outside().tasks_left(), 0, "by the reference");
}

/// One of each key's words.
fn drawn(choices: &mut Choices) -> Vec<(&'static str, &'static str)> {
    let keys: [(&str, &[&str]); 6] = [
        ("recall", &["when-short", "never"]),
        ("reach", &["site", "grid"]),
        ("favours", &["none", "nof", "fd-nof"]),
        ("queue", &["machines", "peer"]),
        ("order", &["submission", "max-min"]),
        ("hold", &["never", "when-slower"]),
    ];
    let mut said: Vec<_> = keys.map(|(key, words)| (key, words[choices.below(words.len())])).to_vec();
    if choices.one_in(2) {
        said.push(("replicate", "idle"));
    }
    if said.contains(&("queue", "machines")) {
        said.retain(|key| *key != ("hold", "when-slower"));
    }
    said
}

#[test]
fn every_task_is_done_whatever_is_chosen() {
    for seed in seeds(2_000) {
        let choices = &mut Choices::seeded(seed ^ 0xd0e);
        let mut setup = random(seed);
        setup.declares_lengths = choices.one_in(2);
        setup.learns_power = choices.one_in(4);
        // Letters that take no time are the ones of which most come at one moment.
        if choices.one_in(2) {
            setup.usual = Way { delay: Span::ZERO, loss: 0.0 };
        }
        let said = drawn(choices);
        assert_eq!(left(&setup, recipe("dasilva/greedy", &said)), 0, "seed {seed}, {said:?}");
    }
}
