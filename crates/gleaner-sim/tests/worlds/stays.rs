//! The stays that are kept are what the timeline of machines counts.

use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_sim::Simulation;
use gleaner_testkit::random;
use gleaner_units::Time;

#[test]
fn so_many_stays_are_on_a_machine_as_the_timeline_says() {
    let mut moves = 0;
    for seed in 1..=60 {
        let setup = random::setup(seed);
        let score = Score::ALL[seed as usize % Score::ALL.len()];
        let recipe = Recipe { relocate: Some(Relocate::by(score)), ..Recipe::by(score) };
        let mut run = Simulation::new(&setup, recipe.build()).with_timeline();
        run.run();
        moves += run.history().moves();
        let all = run.history().stays();
        assert!(all.is_sorted_by_key(|stay| stay.from), "seed {seed}");
        for row in run.history().timeline() {
            let there = all
                .iter()
                .filter(|stay| stay.on == row.machine && stay.from <= row.time && row.time < stay.until);
            assert_eq!(there.count(), row.tasks as usize, "seed {seed}: {row:?}");
        }
        let open = all.iter().filter(|stay| stay.until == Time::NEVER).count();
        assert!(open <= run.history().unfinished(), "seed {seed}");
        assert_eq!(run.history().stays_left_out(), 0);
    }
    assert!(moves > 0, "some task is moved");
}
