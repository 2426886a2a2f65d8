//! Each fast policy equals its naive reference, decision for decision, on random grids; and each fault put into a
//! policy on purpose is noticed.

use crate::basics::seeds;
use gleaner_core::{Checking, Decision, Event, Grid, Scheduler, Trusting};
use gleaner_policy::{Ahead, Choose, Mover, Recipe, Relocate, Replicate, Score};
use gleaner_sim::{Answers, Liars, Setup};
use gleaner_testkit::history;
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive::{Choice, Formula, Naive, Relocation, Turn};
use gleaner_testkit::random::{self, Choices};
use gleaner_testkit::record::{Entry, first_difference, run, run_checked};
use gleaner_testkit::room::overfull;
use gleaner_units::{Ops, TaskClassId, Time};

/// As many as are usual.
const SEEDS: u64 = 400;

/// A score and its reference.
type Pair = (Score, Formula);

const PAIRS: [Pair; 5] = [
    (Score::Greedy, Formula::Greedy),
    (Score::Social, Formula::Social),
    (Score::SocialWhole, Formula::SocialWhole),
    (Score::SocialAsPrinted, Formula::SocialAsPrinted),
    (Score::MinNum, Formula::MinNum),
];

const CHOICES: [(Choose, Choice); 7] = [
    (Choose::Best, Choice::Best),
    (Choose::BestLatest, Choice::Latest),
    (Choose::BestByLot, Choice::Lot),
    (Choose::First, Choice::First),
    (Choose::Proportional { power: 1 }, Choice::Power(1)),
    (Choose::Proportional { power: 3 }, Choice::Power(3)),
    (Choose::TwoChoices, Choice::Two),
];

const TURNS: [(Mover, Turn); 4] = [
    (Mover::First, Turn::First),
    (Mover::Last, Turn::Last),
    (Mover::MostDone, Turn::MostDone),
    (Mover::LeastDone, Turn::LeastDone),
];

/// Before anything happened, with what the seed says of weights and migration.
fn grid(seed: u64) -> Grid {
    Grid::new(random::setup(seed).config)
}

/// Every placement with every relocation and none, with parameters drawn from the seed.
fn combination(seed: u64) -> (Recipe, Naive) {
    let choices = &mut Choices::seeded(seed ^ 0x5eed);
    let (score, rule) = PAIRS[choices.below(PAIRS.len())];
    let relocate = PAIRS.get(choices.below(PAIRS.len() + 1)).copied();
    let (moves, theta) = (choices.below(5) as u32, 0.3 * choices.unit());
    let difference = 1 + choices.below(3) as u32;
    let (mover, turn) = TURNS[choices.below(TURNS.len())];
    let recipe = |(score, _)| Relocate {
        moves_max: moves,
        gain_min: theta,
        difference_min: difference,
        mover,
        ..Relocate::by(score)
    };
    let relocation = |(_, rule)| Relocation { rule, moves, theta, difference: f64::from(difference), turn };
    // What is moved has no copies.
    let runs = if relocate.is_some() { 1 } else { 1 + choices.below(3) };
    let replicate = Replicate::runs(runs as u32).expect("few runs");
    let either = |(choose, choice)| match (choose, score) {
        // No share goes with a score of both signs.
        (Choose::Proportional { .. }, Score::SocialAsPrinted) => (Choose::Best, Choice::Best),
        _ => (choose, choice),
    };
    let (choose, choice) = either(CHOICES[choices.below(2 * CHOICES.len()).saturating_sub(CHOICES.len())]);
    (
        Recipe { choose, replicate, relocate: relocate.map(recipe), ..Recipe::by(score) },
        Naive { place: rule, choice, runs, relocate: relocate.map(relocation), ahead: false },
    )
}

/// Rules for whose answers are believed, for all tasks or for some, drawn from the seed.
fn checks(seed: u64) -> Vec<Event> {
    let choices = &mut Choices::seeded(seed ^ 0x616e_7377);
    let quorum = 2 + choices.below(2) as u32;
    let most = quorum + choices.below(4) as u32;
    let after = 1 + choices.below(3) as u32;
    let trust = (!choices.one_in(3)).then_some(Trusting { after, check_every: 1 + choices.below(4) as u32 });
    let for_all = Event::CheckingSet(Some(Checking { quorum, most, trust }));
    let by_program = choices.one_in(2);
    let for_some = |class| Event::ClassChecked { class: TaskClassId::new(class), quorum, by_program };
    match choices.below(3) {
        0 => vec![for_all],
        1 => vec![for_some(0), for_some(2)],
        _ => vec![for_all, for_some(1)],
    }
}

/// The same grid where answers are compared.
fn checked_grid(seed: u64) -> Grid {
    let mut scheduler = Scheduler::new(grid(seed), Recipe::by(Score::Greedy).build());
    for event in checks(seed) {
        scheduler.apply(Time::ZERO, &event);
    }
    scheduler.grid().clone()
}

/// The same setup where machines lie, in one of two together.
fn with_liars(seed: u64, setup: Setup) -> Setup {
    let checking = checks(seed).into_iter().find_map(|event| match event {
        Event::CheckingSet(checking) => checking,
        _ => None,
    });
    let each = 1 + seed as usize % 3;
    let liars = Liars::with_owners((setup.machines.len(), each), 0.4, (0.7, seed.is_multiple_of(2)), seed);
    Setup { answers: Answers { checking, liars: Some(liars), owned: (each > 1).then_some(each) }, ..setup }
}

#[test]
fn fast_policies_equal_their_references() {
    for seed in seeds(SEEDS) {
        let (recipe, naive) = combination(seed);
        for setup in [random::setup(seed), random::setup_with_room(seed)] {
            let fast = run_checked(&setup, recipe.build())
                .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
            let reference = run(&setup, naive);
            if let Some(difference) = first_difference(&fast, &reference) {
                panic!("seed {seed}, {recipe:?}: {difference}");
            }
        }
    }
}

#[test]
fn fast_policies_equal_their_references_on_live_grids() {
    for seed in seeds(SEEDS) {
        let (recipe, naive) = combination(seed);
        if let Some(difference) = history::first_difference(seed, &grid(seed), recipe.build(), naive) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
    }
}

#[test]
fn a_live_grid_is_whole_after_every_event() {
    for seed in seeds(SEEDS) {
        let (recipe, _) = combination(seed);
        let whole = history::live(seed, grid(seed), recipe.build(), |step| {
            step.scheduler.check().map_err(|broken| format!("at {}, {:?}: {broken}", step.now, step.event))
        });
        whole.unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
    }
}

#[test]
fn answers_are_compared_as_the_reference_does() {
    for seed in seeds(SEEDS) {
        let (recipe, naive) = combination(seed);
        for setup in [random::setup(seed), random::setup_with_room(seed)] {
            let setup = with_liars(seed, setup);
            let fast = run_checked(&setup, recipe.build())
                .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
            if let Some(difference) = first_difference(&fast, &run(&setup, naive)) {
                panic!("seed {seed}, {recipe:?}: {difference}");
            }
        }
        let grid = checked_grid(seed);
        let whole = history::live(seed, grid.clone(), recipe.build(), |step| {
            step.scheduler.check().map_err(|broken| format!("at {}, {:?}: {broken}", step.now, step.event))
        });
        whole.unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        if let Some(difference) = history::first_difference(seed, &grid, recipe.build(), naive) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
    }
}

#[test]
fn a_fault_where_answers_are_compared_is_noticed() {
    for fault in [Fault::Deaf(7), Fault::Astray(7)] {
        let noticed = (1..=60).find(|&seed| {
            let (recipe, naive) = pair(PAIRS[0], None);
            let setup = with_liars(seed, random::setup_with_room(seed));
            let mutant = run(&setup, Mutant::new(recipe.build(), fault, seed));
            first_difference(&mutant, &run(&setup, naive)).is_some()
        });
        assert!(noticed.is_some(), "{fault:?} went unnoticed");
    }
}

fn pair((score, rule): Pair, relocate: Option<Pair>) -> (Recipe, Naive) {
    let relocation =
        |(_, rule)| Relocation { rule, moves: 3, theta: 0.10, difference: 2.0, turn: Turn::First };
    (
        Recipe { relocate: relocate.map(|(score, _)| Relocate::by(score)), ..Recipe::by(score) },
        Naive {
            place: rule,
            choice: Choice::Best,
            runs: 1,
            relocate: relocate.map(relocation),
            ahead: false,
        },
    )
}

/// How many seeds it takes until the comparison with the reference fails.
fn noticed_after(place: Pair, relocate: Option<Pair>, fault: Fault) -> Option<u64> {
    let (recipe, naive) = pair(place, relocate);
    let differs = |setup: &Setup, seed: u64| {
        let mutant = run(setup, Mutant::new(recipe.build(), fault, seed));
        first_difference(&mutant, &run(setup, naive)).is_some()
    };
    (1..=60).find(|&seed| differs(&random::setup(seed), seed))
}

fn noticed_live_after(place: Pair, relocate: Option<Pair>, fault: Fault) -> Option<u64> {
    let (recipe, naive) = pair(place, relocate);
    (1..=60).find(|&seed| {
        let mutant = Mutant::new(recipe.build(), fault, seed);
        history::first_difference(seed, &grid(seed), mutant, naive).is_some()
    })
}

#[test]
fn a_fault_in_any_policy_is_noticed() {
    for place in PAIRS {
        for relocate in std::iter::once(None).chain(PAIRS.map(Some)) {
            for fault in [Fault::Deaf(7), Fault::Astray(7)] {
                let seed = noticed_after(place, relocate, fault);
                assert!(seed.is_some(), "{place:?} {relocate:?} with {fault:?} went unnoticed");
                let seed = noticed_live_after(place, relocate, fault);
                assert!(seed.is_some(), "{place:?} {relocate:?} with {fault:?} went unnoticed on live grids");
            }
        }
    }
}

/// A combination that sends tasks ahead.
fn sending_ahead(seed: u64) -> (Recipe, Naive) {
    let (recipe, naive) = combination(seed);
    let one = Replicate::runs(1).expect("one run");
    (Recipe { replicate: one, ahead: Ahead::WhereShort, ..recipe }, Naive { runs: 1, ahead: true, ..naive })
}

/// Tasks a hundred times shorter, that come ten times as often.
fn hurried(setup: Setup) -> Setup {
    let mut tasks = setup.tasks;
    for length in &mut tasks.lengths {
        *length = Ops::new(length.amount() / 100.0).expect("above 0");
    }
    for at in &mut tasks.arrivals {
        *at = Time::from_nanos(at.nanos() / 10);
    }
    Setup { tasks, ..setup }
}

#[test]
fn what_is_sent_ahead_is_what_the_reference_sends() {
    let (mut sent, mut taken_back) = (0, 0);
    // The reference looks at every run.
    for seed in seeds(SEEDS).step_by(2) {
        let (recipe, naive) = sending_ahead(seed);
        let setup = hurried(random::setup_with_room(seed));
        let fast = run_checked(&setup, recipe.build())
            .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        if let Some(difference) = first_difference(&fast, &run(&setup, naive)) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
        if let Some(broken) = overfull(&setup, &fast) {
            panic!("seed {seed}, {recipe:?}: {broken}");
        }
        let whole = history::live(seed, grid(seed), recipe.build(), |step| {
            for decision in &step.decisions {
                sent += u32::from(matches!(decision, Decision::Follow { .. }));
                taken_back += u32::from(matches!(decision, Decision::TakeBack { .. }));
            }
            step.scheduler.check().map_err(|broken| format!("at {}, {:?}: {broken}", step.now, step.event))
        });
        whole.unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        if let Some(difference) = history::first_difference(seed, &grid(seed), recipe.build(), naive) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
        for (_, entry) in &fast.0 {
            sent += u32::from(matches!(entry, Entry::Decision(Decision::Follow { .. })));
            taken_back += u32::from(matches!(entry, Entry::Decision(Decision::TakeBack { .. })));
        }
    }
    assert!(sent > 500 && taken_back > 60, "{sent} sent, {taken_back} taken back");
}
