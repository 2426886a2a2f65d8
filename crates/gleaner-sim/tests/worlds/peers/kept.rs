//! A run that was saved at any moment goes on as one that was not.

use super::grids::{of, peer, random, recipe};
use crate::basics::{at, seconds};
use gleaner_policy::AnyPolicy;
use gleaner_sim::peers::{Frail, Outage, PeersWorld, Turnover};
use gleaner_sim::{Parties, Way, restore, save};

#[test]
fn a_run_goes_on_from_any_moment_to_the_same_end() {
    for seed in 1..=40 {
        let mut setup = random(seed);
        setup.usual = Way { delay: seconds(0.1), loss: 0.1 };
        setup.heartbeat = Some(seconds(2.0));
        setup.outages.push(Outage { peer: peer(0), worker: 0, from: at(3.0), until: at(9.0) });
        setup.turnover = Some(Turnover { stays: seconds(40.0), away: seconds(8.0) });
        setup.frail.push(Frail { peer: peer(0), worker: 0, fails_after: seconds(9.0) });
        setup.learns_power = seed % 2 == 0;
        let preset = ["dasilva/greedy", "gleaner/bags", "gleaner/bags-longest"][seed as usize % 3];
        setup.declares_lengths = preset == "gleaner/bags-longest";
        let recipe = recipe(preset, &[]);
        let rule = recipe.to_string();
        let mut whole = of(&setup, recipe);
        let mut steps = 0;
        while whole.step() {
            steps += 1;
        }
        let mut half = of(&setup, recipe);
        (0..steps / 2).for_each(|_| assert!(half.step()));
        let kept = save(&half, &rule);
        let mut resumed: Parties<'_, _, PeersWorld<'_>> =
            restore(&setup, (&rule, |_| recipe.build()), &kept).expect("what was saved");
        assert_eq!(save(&resumed, &rule), kept, "seed {seed}: nothing is missing");
        resumed.run();
        assert_eq!(save(&resumed, &rule), save(&whole, &rule), "seed {seed}, {preset}");
        let other: Result<Parties<'_, AnyPolicy, PeersWorld<'_>>, _> =
            restore(&setup, ("another", |_| recipe.build()), &kept);
        assert!(other.is_err());
    }
}
