//! The stays that are taken down are what the timeline of machines counts.

use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_sim::{Simulation, Stays};
use gleaner_testkit::random;
use gleaner_units::Time;

#[test]
fn so_many_stays_are_on_a_machine_as_the_timeline_says() {
    let mut moves = 0;
    for seed in 1..=60 {
        let setup = random::setup(seed);
        let score = Score::ALL[seed as usize % Score::ALL.len()];
        let recipe = Recipe { relocate: Some(Relocate::by(score)), ..Recipe::by(score) };
        let stays = Stays::new(usize::MAX);
        let mut observer = stays.observer();
        let mut run = Simulation::new(&setup, recipe.build()).with_timeline().observed_by(&mut observer);
        run.run();
        moves += run.history().moves();
        let all = stays.all();
        assert!(all.is_sorted_by_key(|stay| stay.from), "seed {seed}");
        for row in run.history().timeline() {
            let there = all
                .iter()
                .filter(|stay| stay.on == row.machine && stay.from <= row.time && row.time < stay.until);
            assert_eq!(there.count(), row.tasks as usize, "seed {seed}: {row:?}");
        }
        let open = all.iter().filter(|stay| stay.until == Time::NEVER).count();
        assert!(open <= run.history().unfinished(), "seed {seed}");
        assert_eq!(stays.left_out(), 0);
    }
    assert!(moves > 0, "some task is moved");
}

#[test]
fn of_too_many_the_first_are_taken_down() {
    let setup = random::setup(1);
    let stays = Stays::new(2);
    let mut observer = stays.observer();
    let mut run = Simulation::new(&setup, Recipe::by(Score::Greedy).build()).observed_by(&mut observer);
    run.run();
    let begun = run.history().tasks().iter().filter(|task| task.started != Time::NEVER).count() as u64;
    assert_eq!((stays.all().len(), stays.left_out()), (2, begun - 2));
}
