//! SOCIAL weighted by what is believed to remain of each task equals its naive reference, decision for decision, on random
//! grids in the simulator and on live ones; and it makes a difference what is believed.

use crate::basics::seeds;
use gleaner_core::{Decision, Event, Grid, Scheduler};
use gleaner_policy::{Lengths, Mover, Recipe, Relocate, Score};
use gleaner_sim::Setup;
use gleaner_testkit::history;
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive::{Choice, Formula, Naive, Relocation, Turn};
use gleaner_testkit::naive_lengths::Belief;
use gleaner_testkit::random::{self, Choices};
use gleaner_testkit::record::{Entry, Record, first_difference, run, run_checked};

/// As many as are usual.
const SEEDS: u64 = 200;

/// What the simulator knows is what is declared in these grids.
const BELIEFS: [(Lengths, Belief); 3] = [
    (Lengths::Learnt, Belief::Learnt),
    (Lengths::LastTwo, Belief::LastTwo),
    (Lengths::True, Belief::Declared),
];

const TURNS: [(Mover, Turn); 4] = [
    (Mover::First, Turn::First),
    (Mover::Last, Turn::Last),
    (Mover::MostDone, Turn::MostDone),
    (Mover::LeastDone, Turn::LeastDone),
];

/// Placing by what remains, moving by it, or both, with a threshold and a number of moves drawn from the seed.
fn pair(seed: u64, (lengths, belief): (Lengths, Belief)) -> (Recipe, Naive) {
    let choices = &mut Choices::seeded(seed ^ 0x7265_6d61);
    let weighed = (Score::Social, Formula::SocialRemaining(belief));
    let plain = (Score::Greedy, Formula::Greedy);
    let (place, relocate) =
        [(weighed, Some(weighed)), (plain, Some(weighed)), (weighed, Some(plain)), (weighed, None)]
            [choices.below(4)];
    let (moves, theta) = (1 + choices.below(4) as u32, 0.3 * choices.unit());
    let (mover, turn) = TURNS[choices.below(TURNS.len())];
    let rule = |(score, _)| Relocate { moves_max: moves, gain_min: theta, mover, ..Relocate::by(score) };
    let relocation = |(_, rule)| Relocation { rule, moves, theta, difference: 2.0, turn };
    (
        Recipe { lengths, relocate: relocate.map(rule), ..Recipe::by(place.0) },
        Naive {
            place: place.1,
            choice: Choice::Best,
            runs: 1,
            relocate: relocate.map(relocation),
            ahead: false,
        },
    )
}

/// Tasks of one user, and of users with labels, who declare some lengths, on machines that are shared.
fn setups(seed: u64) -> [Setup; 3] {
    let mut labels = random::setup_with_labels(seed, false);
    labels.budget = None;
    for class in &mut labels.machine_classes {
        class.room.slots = class.room.slots.map(|slots| 4 * slots).filter(|_| !seed.is_multiple_of(3));
    }
    [random::setup(seed), random::setup_with_room(seed), labels]
}

#[test]
fn what_is_weighed_by_what_remains_equals_its_reference() {
    let mut moves = 0;
    for seed in seeds(SEEDS) {
        for setup in setups(seed) {
            for belief in BELIEFS {
                let (recipe, naive) = pair(seed, belief);
                let fast = run_checked(&setup, recipe.build())
                    .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
                moves += moves_of(&fast);
                if let Some(difference) = first_difference(&fast, &run(&setup, naive)) {
                    panic!("seed {seed}, {recipe:?}: {difference}");
                }
            }
        }
    }
    assert!(moves > 5 * seeds(SEEDS).count(), "only {moves} moves");
}

fn moves_of(record: &Record) -> usize {
    let is_move = |entry: &Entry| matches!(entry, Entry::Decision(Decision::Relocate { .. }));
    record.0.iter().filter(|(_, entry)| is_move(entry)).count()
}

#[test]
fn what_is_weighed_by_what_remains_equals_its_reference_on_live_grids() {
    let mut compared = 0;
    for seed in seeds(SEEDS) {
        let grid = Grid::new(random::setup(seed).config);
        for belief in BELIEFS {
            let (recipe, naive) = pair(seed, belief);
            let mut follower = Scheduler::new(grid.clone(), naive);
            // What learns goes by tasks that are over as they were: what becomes another kind of task or is forgotten is
            // remembered, but no grid tells it any more.
            let mut forgotten = false;
            let same = history::live(seed, grid.clone(), recipe.build(), |step| {
                forgotten |= matches!(step.event, Event::TasksRetired { .. } | Event::TasksReclassed { .. });
                if forgotten {
                    return Ok(());
                }
                compared += step.decisions.len();
                follower.apply(step.now, &step.event);
                let mut wishes = Vec::new();
                let left = follower.decide(step.now, &mut wishes);
                let at = format!("at {}, {:?}", step.now, step.event);
                if (&wishes, left) != (&step.decisions, step.settled) {
                    return Err(format!("{at}: {:?}\n   against {wishes:?}", step.decisions));
                }
                step.scheduler.check().map_err(|broken| format!("{at}: {broken}"))
            });
            same.unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        }
    }
    assert!(compared > 10 * seeds(SEEDS).count(), "only {compared} decisions");
}

/// A reference that believes something else, or weighs nothing, parts from the policy.
#[test]
fn what_is_weighed_wrongly_is_noticed() {
    let differs = |seed: u64, right: (Lengths, Belief), change: &dyn Fn(Formula) -> Formula| {
        let (recipe, naive) = pair(seed, right);
        let relocate = naive.relocate.map(|rule| Relocation { rule: change(rule.rule), ..rule });
        let wrong = Naive { place: change(naive.place), relocate, ..naive };
        setups(seed)
            .iter()
            .any(|setup| first_difference(&run(setup, recipe.build()), &run(setup, wrong)).is_some())
    };
    for (right, wrong) in [(0, 1), (1, 2), (2, 0)] {
        let change = |rule| match rule {
            Formula::SocialRemaining(_) => Formula::SocialRemaining(BELIEFS[wrong].1),
            other => other,
        };
        assert!((1..=30).any(|seed| differs(seed, BELIEFS[right], &change)), "{:?}", BELIEFS[right]);
        let plain = |rule| if matches!(rule, Formula::SocialRemaining(_)) { Formula::Social } else { rule };
        assert!((1..=30).any(|seed| differs(seed, BELIEFS[right], &plain)), "{:?}", BELIEFS[right]);
    }
}

#[test]
fn a_fault_where_what_remains_is_weighed_is_noticed() {
    for fault in [Fault::Deaf(7), Fault::Astray(7)] {
        let differs = |seed: u64| {
            let (recipe, naive) = pair(seed, BELIEFS[2]);
            let setup = random::setup_with_room(seed);
            let mutant = run(&setup, Mutant::new(recipe.build(), fault, seed));
            first_difference(&mutant, &run(&setup, naive)).is_some()
        };
        assert!((1..=60).any(differs), "{fault:?} went unnoticed");
    }
}
