//! The same events give the same commands: in a second run, in a scheduler without a simulator around it, and in a
//! run that was saved, loaded and continued.

use gleaner_core::{Command, Grid, Scheduler};
use gleaner_policy::{Choose, Recipe, Relocate, Score, When};
use gleaner_sim::{RestoreError, Setup, Simulation};
use gleaner_testkit::random;
use gleaner_testkit::record::{Entry, Record, run};
use gleaner_units::{Span, Time};

const NAME: &str = "the rule";
const SEED: u64 = 9;

fn recipes() -> Vec<Recipe> {
    let relocate = |score| [None, Some(Relocate::by(score))];
    let events = Score::ALL.into_iter().flat_map(|place| {
        Score::ALL
            .into_iter()
            .flat_map(relocate)
            .map(move |relocate| Recipe { relocate, ..Recipe::by(place) })
    });
    let period = When::Every(Span::from_seconds(7.5).expect("a span"));
    let periodic = Score::ALL.into_iter().map(|score| Recipe {
        relocate: Some(Relocate { when: period, ..Relocate::by(score) }),
        ..Recipe::by(score)
    });
    let drawing = [Choose::BestByLot, Choose::Proportional { power: 2 }, Choose::TwoChoices].map(|choose| {
        Recipe { choose, relocate: Some(Relocate::by(Score::Greedy)), ..Recipe::by(Score::Greedy) }
    });
    events.chain(periodic).chain(drawing).collect()
}

fn cases() -> impl Iterator<Item = (Setup, Recipe)> {
    (1..=6).flat_map(|seed| recipes().into_iter().map(move |recipe| (random::setup(seed), recipe)))
}

fn commands(record: &Record) -> Vec<(Time, Command)> {
    let entries = record.0.iter();
    let commands = entries.filter_map(|(time, entry)| match entry {
        Entry::Command(command) => Some((*time, command.clone())),
        Entry::Event(_) | Entry::Decision(_) => None,
    });
    commands.collect()
}

#[test]
fn a_second_run_passes_the_same() {
    for (setup, recipe) in cases() {
        assert_eq!(run(&setup, recipe.build()), run(&setup, recipe.build()), "{recipe:?}");
    }
}

#[test]
fn a_record_of_events_gives_the_same_commands_without_the_simulator() {
    for (setup, recipe) in cases() {
        let mut record = Record::default();
        let simulation = Simulation::unopened(&setup, recipe.build()).observed_by(&mut record);
        let mut simulation = simulation.with_seed(SEED);
        simulation.open();
        simulation.run();
        let mut scheduler = Scheduler::new(Grid::new(setup.config.clone()), recipe.build());
        let mut orders = Vec::new();
        for (time, entry) in &record.0 {
            let Entry::Event(event) = entry else { continue };
            scheduler.apply(*time, event);
            scheduler.decide(*time, &mut Vec::new());
            orders.extend(scheduler.take_orders().map(|command| (*time, command)));
        }
        assert_eq!(orders, commands(&record), "{recipe:?}");
    }
}

#[test]
fn a_run_that_was_saved_goes_on_to_the_same_end() {
    for (setup, recipe) in cases() {
        let mut whole = Simulation::new(&setup, recipe.build()).with_seed(SEED).with_timeline();
        whole.run();
        let mut broken = Simulation::new(&setup, recipe.build()).with_seed(SEED).with_timeline();
        for _ in 0..whole.progress().events / 2 {
            broken.step();
        }
        let saved = broken.save(NAME);
        let mut resumed =
            Simulation::restore(&setup, || recipe.build(), NAME, &saved).expect("what was just saved");
        resumed.scheduler().check().expect("a whole grid");
        resumed.run();
        assert_eq!(resumed.save(NAME), whole.save(NAME), "{recipe:?}");
    }
}

#[test]
fn only_a_checkpoint_of_the_same_run_is_taken() {
    let (setup, other) = (random::setup(1), random::setup(2));
    let recipe = recipes()[0];
    let bytes = Simulation::new(&setup, recipe.build()).save(NAME);
    let restore = |setup, bytes: &[u8]| Simulation::restore(setup, || recipe.build(), NAME, bytes).err();
    assert_eq!(restore(&setup, &bytes), None);
    assert_eq!(restore(&other, &bytes), Some(RestoreError::OtherSetup));
    assert_eq!(restore(&setup, &bytes[..bytes.len() - 3]), Some(RestoreError::Damaged));
    assert_eq!(restore(&setup, &[&bytes[..], b"x"].concat()), Some(RestoreError::Damaged));
    assert_eq!(restore(&setup, b"something else"), Some(RestoreError::NoCheckpoint));
    for place in 0..bytes.len() {
        let mut garbled = bytes.clone();
        garbled[place] ^= 0x55;
        assert!(restore(&setup, &garbled).is_some(), "byte {place}");
    }
}
