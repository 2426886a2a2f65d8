//! A broker equals its naive reference, decision for decision, draws as often as the paper's equations say, and a fault put
//! into it on purpose is noticed.

use crate::basics::{CHI_SQUARE, empty};
use gleaner_core::{Event, MachineClass, Scheduler, SiteState, TaskClass};
use gleaner_policy::{AnyPolicy, Belief, Candidates, Choose, Rank, Recipe, Until};
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive_broker::{Choice, NaiveBroker};
use gleaner_testkit::random::Choices;
use gleaner_testkit::sites::first_difference;
use gleaner_units::{FileId, MachineClassId, MachineId, SiteId, TaskClassId, TaskId, Time};

const CHOICES: [(Choose, Choice); 7] = [
    (Choose::Best, Choice::Best),
    (Choose::BestByLot, Choice::Lot),
    (Choose::First, Choice::First),
    (Choose::Proportional { power: 1 }, Choice::Power(1)),
    (Choose::Proportional { power: 4 }, Choice::Power(4)),
    (Choose::TwoChoices, Choice::Two),
    (Choose::Proportional { power: 2 }, Choice::Power(2)),
];

fn combination(seed: u64) -> (Recipe, NaiveBroker) {
    let draw = &mut Choices::seeded(seed ^ 0x6272);
    let (choose, choice) = CHOICES[draw.below(CHOICES.len())];
    let weight = |draw: &mut Choices| [0.0, 0.25, 0.75, 1.0, draw.unit()][draw.below(5)];
    let (alpha, beta) = (weight(draw), weight(draw));
    let (with_execution, most_files) = (draw.one_in(3), draw.one_in(3));
    let brokers = (!draw.one_in(3)).then(|| 1 + draw.below(4) as u32);
    let until = if with_execution { Until::End } else { Until::Begin };
    let candidates = if most_files { Candidates::MostFiles } else { Candidates::All };
    let belief = brokers.map_or(Belief::AsPublished, |brokers| Belief::OwnDispatches { brokers });
    let rank = Rank { alpha, beta, until, candidates };
    let naive = NaiveBroker { alpha, beta, with_execution, most_files, choice, brokers };
    (Recipe::brokering(rank, choose, belief), naive)
}

#[test]
fn a_broker_equals_its_reference() {
    for seed in 1..=600 {
        let (recipe, naive) = combination(seed);
        if let Some(difference) = first_difference(seed, recipe.build(), naive) {
            panic!("seed {seed}, {recipe}: {difference}");
        }
    }
}

#[test]
fn a_fault_in_a_broker_is_noticed() {
    for fault in [Fault::Deaf(7), Fault::Astray(7)] {
        let noticed = (1..=60).find(|&seed| {
            let (recipe, naive) = combination(seed);
            let mutant = Mutant::new(recipe.build(), fault, seed);
            first_difference(seed, mutant, naive).is_some()
        });
        assert!(noticed.is_some(), "{fault:?} went unnoticed");
    }
}

/// Three sites of which the contract's example says all: traversal, the seconds to read, and those to bring, the data.
fn example(recipe: Recipe, seed: u64, traversals: [f64; 3]) -> Scheduler<AnyPolicy> {
    let mut scheduler = Scheduler::new(empty(), recipe.build());
    let class = MachineClass::plain(vec![1.0], 1);
    let task = TaskClass::plain(vec![1.0]);
    let (file, site) = (FileId::FIRST, SiteId::new);
    let mut events = vec![
        Event::SeedDrawn(seed),
        Event::MachineClassMet(Box::new(class)),
        Event::TaskClassMet(Box::new(task)),
        Event::FileMet { file, bytes: 84_000 },
        Event::InputsNamed { class: TaskClassId::FIRST, files: vec![file] },
        Event::FileStored { file, site: site(0) },
        Event::LinkMeasured { from: site(0), to: site(1), bytes_per_s: 200.0 },
        Event::LinkMeasured { from: site(0), to: site(2), bytes_per_s: 84_000.0 / 248.0 },
    ];
    for (index, traversal_s) in traversals.into_iter().enumerate() {
        let machine = MachineId::new(index);
        events.push(Event::LinkMeasured { from: site(index), to: site(index), bytes_per_s: 1000.0 });
        events.push(Event::MachineSited { machine, site: site(index) });
        events.push(Event::MachineJoined { machine, class: MachineClassId::FIRST });
        let state = SiteState { traversal_s, cores_free: 1, ..SiteState::default() };
        events.push(Event::StatePublished { machine, state, known_at: Time::ZERO });
    }
    for event in events {
        scheduler.apply(Time::ZERO, &event);
    }
    scheduler.decide(Time::ZERO, &mut Vec::new());
    scheduler
}

/// Where so many tasks go.
fn sent(scheduler: &mut Scheduler<AnyPolicy>, count: u32) -> [u32; 3] {
    let length = None;
    let submitted = Event::TasksSubmitted { first: TaskId::FIRST, count, class: TaskClassId::FIRST, length };
    scheduler.apply(Time::ZERO, &submitted);
    scheduler.decide(Time::ZERO, &mut Vec::new());
    [0, 1, 2].map(|machine| scheduler.grid().machine(MachineId::new(machine)).count())
}

fn rank(alpha: f64, beta: f64) -> Rank {
    Rank { alpha, beta, ..Rank::default() }
}

const TRAVERSALS: [f64; 3] = [400.0, 0.0, 100.0];

#[test]
fn current_and_deterministic_choose_as_the_worked_example_says() {
    for (rank, expected) in [(Rank::default(), 1), (rank(0.75, 0.25), 1), (rank(0.25, 0.25), 0)] {
        let recipe = Recipe::brokering(rank, Choose::Best, Belief::AsPublished);
        let counts = sent(&mut example(recipe, 1, TRAVERSALS), 10);
        assert_eq!(counts[expected], 10, "{recipe}: a burst goes to one site");
    }
    let recipe = Recipe::brokering(rank(0.25, 0.25), Choose::First, Belief::AsPublished);
    assert_eq!(sent(&mut example(recipe, 1, TRAVERSALS), 10), [10, 0, 0]);
}

/// Each draw is of another seed and another task.
fn check_frequencies(recipe: Recipe, traversals: [f64; 3], expected: [f64; 3]) {
    const DRAWS: u32 = 30_000;
    let mut counts = [0_u32; 3];
    for seed in 0..100 {
        let of_seed = sent(&mut example(recipe, seed, traversals), DRAWS / 100);
        (0..3).for_each(|site| counts[site] += of_seed[site]);
    }
    let expected = expected.map(|share| share * f64::from(DRAWS));
    let possible = || (0..3).filter(|&site| expected[site] > 0.0);
    assert_eq!(
        possible().map(|site| counts[site]).sum::<u32>(),
        DRAWS,
        "{recipe}: none of chance 0 is drawn"
    );
    let chi: f64 =
        possible().map(|site| (f64::from(counts[site]) - expected[site]).powi(2) / expected[site]).sum();
    assert!(chi < CHI_SQUARE[possible().count() - 1], "{recipe}: {counts:?} against {expected:?}");
}

#[test]
fn draws_are_as_frequent_as_the_equations_say() {
    let draws = |rank, power| Recipe::brokering(rank, Choose::Proportional { power }, Belief::AsPublished);
    check_frequencies(draws(rank(0.75, 0.25), 1), TRAVERSALS, [0.142_001, 0.516_021, 0.341_978]);
    check_frequencies(draws(rank(0.25, 0.25), 1), TRAVERSALS, [0.475_853, 0.218_571, 0.305_576]);
    let fourth = [305.25_f64, 84.0, 126.75].map(|cost| cost.powi(-4));
    let whole: f64 = fourth.iter().sum();
    check_frequencies(draws(rank(0.75, 0.25), 4), TRAVERSALS, fourth.map(|share| share / whole));
    // Ranks of zero share the choice evenly, and leave nothing to the others.
    check_frequencies(draws(Rank::default(), 1), [0.0, 0.0, 7.0], [0.5, 0.5, 0.0]);
    let lot = Recipe::brokering(Rank::default(), Choose::BestByLot, Belief::AsPublished);
    check_frequencies(lot, [0.0, 0.0, 7.0], [0.5, 0.5, 0.0]);
    // The better of two of three: the worst never, the middle one where the best was not drawn.
    let two = Recipe::brokering(rank(0.75, 0.25), Choose::TwoChoices, Belief::AsPublished);
    check_frequencies(two, TRAVERSALS, [0.0, 2.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn what_was_sent_spreads_a_burst_and_brokers_share_it() {
    let own = |brokers| Recipe::brokering(Rank::default(), Choose::Best, Belief::OwnDispatches { brokers });
    let mut scheduler = example(own(1), 1, [0.0; 3]);
    let length = gleaner_units::Ops::new(10.0);
    let submitted =
        Event::TasksSubmitted { first: TaskId::FIRST, count: 6, class: TaskClassId::FIRST, length };
    scheduler.apply(Time::ZERO, &submitted);
    scheduler.decide(Time::ZERO, &mut Vec::new());
    let counts = [0, 1, 2].map(|machine| scheduler.grid().machine(MachineId::new(machine)).count());
    assert_eq!(counts, [2, 2, 2]);
}
