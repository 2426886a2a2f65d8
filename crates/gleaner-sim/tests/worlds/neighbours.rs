//! Groups of machines with a scheduler each: one group is the only scheduler, many lose nothing and do nothing twice
//! whatever becomes of their letters, and news that come at once make them decide as one.

use crate::basics::seconds;
use gleaner_core::RunEnd;
use gleaner_policy::{AnyPolicy, Recipe, Relocate, Score, When};
use gleaner_sim::neighbours::{
    Change, GroupsSetup, InvalidSetup, MachineState, Neighbourhood, Ticket, Topology, Word, neighbours,
    with_timeline,
};
use gleaner_sim::{Parties, Setup, Simulation, Way, restore, save};
use gleaner_testkit::random::{self, Choices};
use gleaner_testkit::table;
use gleaner_units::{MachineId, PartyId, Span, TaskClassId, TaskId, Time};
use std::collections::BTreeMap;

const SCORES: [Score; 4] = [Score::Greedy, Score::Social, Score::SocialAsPrinted, Score::MinNum];

fn change(tasks: u32, gap: f64) -> Change {
    Change { tasks, gap: seconds(gap) }
}

fn grouped(grid: Setup, count: usize, topology: Topology) -> GroupsSetup {
    let groups = (0..grid.machines.len()).map(|machine| PartyId::new(machine % count)).collect();
    GroupsSetup {
        grid,
        groups,
        topology,
        every: seconds(5.0),
        change: None,
        hops_max: 1,
        way: Way::default(),
        repeat: None,
        seed: 1,
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    ["weights 1".to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// A score with a relocator or none, at events or by the clock.
fn recipe(choices: &mut Choices) -> Recipe {
    let place = SCORES[choices.below(SCORES.len())];
    let by = SCORES.get(choices.below(SCORES.len() + 1)).copied();
    let when = if choices.one_in(4) { When::Every(seconds(7.0)) } else { When::AtEvents };
    Recipe { relocate: by.map(|score| Relocate { when, ..Relocate::by(score) }), ..Recipe::by(place) }
}

fn check(parties: &Parties<'_, AnyPolicy, Neighbourhood<'_>>, count: usize) {
    for party in (0..count).map(PartyId::new) {
        parties.scheduler(party).check().unwrap_or_else(|broken| panic!("{party}: {broken}"));
    }
}

#[test]
fn one_group_is_the_only_scheduler() {
    for seed in 0..300 {
        let grid = if seed % 2 == 0 { random::setup(seed) } else { random::setup_with_room(seed) };
        let recipe = recipe(&mut Choices::seeded(seed));
        let setup = GroupsSetup { seed, ..grouped(grid, 1, Topology::All) };
        let mut alone = Simulation::new(&setup.grid, recipe.build()).with_seed(seed).with_timeline();
        alone.run();
        let mut group = with_timeline(neighbours(&setup, |_| recipe.build()));
        group.run();
        let (alone, apart) = (alone.history(), group.outside().history());
        assert_eq!(apart.tasks(), alone.tasks(), "seed {seed}, {recipe}");
        assert_eq!(apart.timeline(), alone.timeline(), "seed {seed}, {recipe}");
        assert_eq!(apart.stays(), alone.stays(), "seed {seed}, {recipe}");
        assert_eq!(group.mail().sent(), 0, "there is nobody to write to");
    }
}

/// Machines by the dozen, of three groups or more, whatever the seed says of letters.
fn scattered(seed: u64) -> (GroupsSetup, Recipe) {
    let choices = &mut Choices::seeded(seed ^ 0x6170_6172);
    let mut grid = if choices.one_in(2) { random::setup(seed) } else { random::setup_with_room(seed) };
    while grid.machines.len() < 9 {
        grid.machines.push(grid.machines[choices.below(grid.machines.len())]);
    }
    if choices.one_in(3) {
        let later = seconds(10_000.0 * choices.unit());
        let from = choices.below(grid.tasks.len());
        grid.tasks.arrivals[from..].iter_mut().for_each(|arrival| *arrival += later);
    }
    let count = 2 + choices.below(8);
    // Everybody knows the machine that can run every task.
    let setup = grouped(grid, count, Topology::All);
    let loss = if choices.one_in(3) { 0.0 } else { 0.4 * choices.unit() };
    let setup = GroupsSetup {
        every: seconds(0.5 + 20.0 * choices.unit()),
        change: (!choices.one_in(3)).then(|| change(1 + choices.below(3) as u32, 2.0 * choices.unit())),
        hops_max: 1 + choices.below(4) as u32,
        way: Way { delay: seconds(3.0 * choices.unit()), loss },
        repeat: (loss > 0.0).then(|| seconds(0.2 + 5.0 * choices.unit())),
        seed,
        ..setup
    };
    (setup, recipe(choices))
}

#[test]
fn nothing_is_lost_or_done_twice() {
    let (mut handed_over, mut taken_back, mut lost) = (0, 0, 0);
    for seed in 0..300 {
        let (setup, recipe) = scattered(seed);
        let mut parties = neighbours(&setup, |_| recipe.build());
        let mut steps = 0_u64;
        while parties.step() {
            steps += 1;
            if steps.is_multiple_of(16) {
                check(&parties, setup.count());
            }
            assert!(steps < 2_000_000, "seed {seed}: a run without an end");
        }
        check(&parties, setup.count());
        let world = parties.outside();
        assert_eq!(world.refused(), [], "seed {seed}");
        let (outcome, history) = (world.outcome(), world.history());
        let tasks = setup.grid.tasks.len();
        assert_eq!((outcome.known, history.finished()), (tasks, tasks), "seed {seed}, {recipe}");
        assert!(outcome.known_at >= history.makespan(), "seed {seed}: an end was known before it came");
        // What was done again is what starts from its beginning by its nature.
        let keeps = setup.grid.task_classes.iter().all(|class| !class.restarts);
        assert!(!keeps || history.lost().runs == 0, "seed {seed}: {:?}", history.lost());
        handed_over += outcome.handed_over;
        taken_back += history.moves();
        lost += parties.mail().lost();
    }
    assert!(handed_over > 1_000 && taken_back > 100 && lost > 1_000, "{handed_over} {taken_back} {lost}");
}

/// A letter of any content: numbers that are in use, are not yet, or never are.
fn forged(choices: &mut Choices, setup: &GroupsSetup) -> Word {
    let strange = choices.one_in(6);
    let mut number = |below: usize| match choices.below(8) {
        0 if strange => usize::try_from(u32::MAX).expect("a number") - choices.below(2),
        1 if strange => below + choices.below(2),
        _ => choices.below(below),
    };
    let (machines, tasks) = (setup.grid.machines.len(), setup.grid.tasks.len());
    let (task, on) = (TaskId::new(number(tasks)), MachineId::new(number(machines)));
    let (ticket, hops) = (Ticket(number(12) as u64), number(4) as u32);
    let classes = setup.grid.task_classes.len();
    let states: Vec<MachineState> = (0..number(machines).min(100))
        .map(|_| {
            let others = (0..number(3).min(5)).map(|_| (TaskClassId::new(number(classes)), number(3) as u32));
            let others = others.collect();
            MachineState { others, load: [0.0, 1.0, 0.25, -0.5, 1.5, f64::NAN, f64::INFINITY][number(7) % 7] }
        })
        .collect();
    match choices.below(8) {
        0 => Word::State(states),
        1 | 2 => Word::Take { ticket, task, on, hops },
        3 => Word::Taken(ticket),
        4 => Word::TakeBack(ticket),
        5 => Word::Over(ticket, [RunEnd::Finished, RunEnd::Kept, RunEnd::Lost][choices.below(3)]),
        _ => Word::Noted(ticket),
    }
}

/// Whatever anybody writes, nothing is lost or done twice; what makes no sense is refused, and nothing else is.
#[test]
fn letters_that_make_no_sense_change_nothing() {
    let mut why = BTreeMap::<String, usize>::new();
    for seed in 0..300 {
        let (setup, recipe) = scattered(seed);
        let choices = &mut Choices::seeded(seed ^ 0x0006_6f72_6765);
        let mut parties = neighbours(&setup, |_| recipe.build());
        let mut steps = 0_u64;
        while parties.step() {
            steps += 1;
            assert!(steps < 2_000_000, "seed {seed}: a run without an end");
            if steps.is_multiple_of(16) {
                check(&parties, setup.count());
            }
            let forgeries = if steps < 2_000 { choices.below(3) } else { 0 };
            for _ in 0..forgeries {
                let [from, to] = [(); 2].map(|()| PartyId::new(choices.below(setup.count())));
                parties.send(from, to, forged(choices, &setup));
            }
        }
        let world = parties.outside();
        let tasks = setup.grid.tasks.len();
        assert_eq!((world.outcome().known, world.history().finished()), (tasks, tasks), "seed {seed}");
        for refused in world.refused() {
            *why.entry(refused.why.to_string()).or_default() += 1;
        }
    }
    assert!(why.len() >= 9 && why.values().all(|count| *count > 20), "{why:#?}");
}

#[test]
fn a_run_that_was_saved_goes_on_to_the_same_end() {
    for seed in 0..60 {
        let (setup, recipe) = scattered(seed);
        let rule = recipe.to_string();
        let mut whole = with_timeline(neighbours(&setup, |_| recipe.build()));
        let mut steps = 0;
        while whole.step() {
            steps += 1;
        }
        let mut half = with_timeline(neighbours(&setup, |_| recipe.build()));
        (0..steps / 2).for_each(|_| assert!(half.step()));
        let kept = save(&half, &rule);
        let mut resumed: Parties<'_, _, Neighbourhood<'_>> =
            restore(&setup, (&rule, |_| recipe.build()), &kept).expect("what was saved");
        assert_eq!(save(&resumed, &rule), kept, "seed {seed}: nothing is missing");
        resumed.run();
        assert_eq!(save(&resumed, &rule), save(&whole, &rule), "seed {seed}, {recipe}");
        assert_eq!(resumed.outside().history().stays(), whole.outside().history().stays(), "seed {seed}");
    }
}

/// Whoever hears at once how all machines are decides as one scheduler that has them all.
#[test]
fn groups_that_know_all_decide_as_one() {
    let machines = [1.0, 1.31, 1.73, 2.19, 2.71, 3.37].map(|speed| format!("machine {speed}"));
    let tasks = (0..60).map(|task| format!("task {} {} 1", f64::from(task) * 0.7, 7 + task * 13 % 40));
    let grid = table::setup(&lines(machines.into_iter().chain(tasks)));
    for score in [Score::Greedy, Score::Social] {
        let recipe = Recipe::by(score);
        let mut alone = Simulation::new(&grid, recipe.build());
        alone.run();
        for count in [2, 3, 6] {
            let setup =
                GroupsSetup { change: Some(change(1, 0.0)), ..grouped(grid.clone(), count, Topology::All) };
            let mut parties = neighbours(&setup, |_| recipe.build());
            parties.run();
            let (apart, alone) = (parties.outside().history(), alone.history());
            assert_eq!(apart.tasks(), alone.tasks(), "{count} groups, {}", score.name());
            let outcome = parties.outside().outcome();
            assert!(outcome.handed_over > 10 && outcome.news > 10);
            assert!(outcome.mean_age_s().is_some_and(|age| (0.0..5.0).contains(&age)), "{outcome:?}");
        }
    }
}

#[test]
fn what_may_not_be_handed_on_stays() {
    for seed in 0..20 {
        let setup = GroupsSetup { hops_max: 0, ..grouped(random::setup(seed), 1, Topology::All) };
        let mut parties = neighbours(&setup, |_| Recipe::by(Score::Greedy).build());
        parties.run();
        assert_eq!(parties.outside().outcome().handed_over, 0);
        assert_eq!(parties.outside().history().unfinished(), 0, "seed {seed}");
    }
}

/// With one hop a task ends at its home or at a neighbour; with more it may go round the ring.
#[test]
fn a_task_goes_as_far_as_it_may() {
    let machines = (0..8).map(|at| format!("machine {}", if at == 0 { 1000 } else { 1 }));
    let tasks = (0..40).map(|task| format!("task {} 50 1", f64::from(task) * 0.3));
    let grid = table::setup(&lines(machines.chain(tasks)));
    let on_fastest = |hops_max| {
        let setup = GroupsSetup { hops_max, ..grouped(grid.clone(), 8, Topology::Ring(2)) };
        let rule = Recipe { relocate: Some(Relocate::by(Score::Greedy)), ..Recipe::by(Score::Greedy) };
        let mut parties = neighbours(&setup, |_| rule.build());
        parties.run();
        let history = parties.outside().history();
        assert_eq!(history.unfinished(), 0);
        history.finished_on()[MachineId::FIRST.index()]
    };
    let [near, far] = [1, 3].map(on_fastest);
    assert!(0 < near && near < far && far < 40, "{near} tasks from next to it, {far} from further away");
}

#[test]
fn what_makes_no_run_is_refused() {
    let whole = grouped(random::setup(3), 1, Topology::All);
    assert_eq!(whole.check(), Ok(()));
    let lossy = Way { delay: Span::ZERO, loss: 0.1 };
    let machines = whole.grid.machines.len();
    let wrong = [
        (GroupsSetup { way: lossy, ..whole.clone() }, InvalidSetup::Loss),
        (GroupsSetup { every: Span::ZERO, ..whole.clone() }, InvalidSetup::Period),
        (GroupsSetup { groups: vec![PartyId::new(1); machines], ..whole.clone() }, InvalidSetup::Empty(0)),
        (GroupsSetup { groups: Vec::new(), ..whole.clone() }, InvalidSetup::Machines { groups: 0, machines }),
        (
            GroupsSetup {
                grid: Setup { budget: random::setup_with_budget(3).budget, ..whole.grid.clone() },
                ..whole.clone()
            },
            InvalidSetup::Budget,
        ),
    ];
    for (setup, why) in wrong {
        assert_eq!(setup.check(), Err(why));
    }
}

#[test]
fn groups_know_whom_the_topology_says() {
    let setup = |topology| {
        let mut grid = random::setup(3);
        grid.machines = vec![grid.machines[0]; 7];
        grouped(grid, 7, topology)
    };
    let known = |topology, group| {
        let known = setup(topology).neighbours_of(PartyId::new(group));
        known.into_iter().map(PartyId::index).collect::<Vec<_>>()
    };
    assert_eq!(known(Topology::All, 2), [0, 1, 3, 4, 5, 6]);
    assert_eq!(known(Topology::Ring(2), 0), [1, 6]);
    assert_eq!(known(Topology::Ring(3), 6), [0, 1, 5]);
    assert_eq!(known(Topology::Ring(99), 1).len(), 6);
    for group in 0..7 {
        let drawn = known(Topology::Drawn(3), group);
        assert!(drawn.len() == 3 && drawn.is_sorted_by(|one, other| one < other) && !drawn.contains(&group));
    }
    let first: Vec<Vec<usize>> = (0..7).map(|group| known(Topology::Drawn(1), group)).collect();
    assert!(first.iter().any(|other| other[0] > 1), "drawn, and not the lowest");
}

#[test]
fn groups_draw_apart_from_those_of_the_next_seed() {
    let seeds = |seed| {
        let mut grid = random::setup(3);
        grid.machines = vec![grid.machines[0]; 3];
        let setup = GroupsSetup { seed, ..grouped(grid, 3, Topology::All) };
        let parties = neighbours(&setup, |_| Recipe::by(Score::Greedy).build());
        [0, 1, 2].map(|group| parties.scheduler(PartyId::new(group)).grid().seed())
    };
    let (one, next) = (seeds(7), seeds(8));
    assert_eq!([one[0], next[0]], [7, 8]);
    assert!(one.iter().all(|seed| !next.contains(seed)), "{one:?} and {next:?}");
}

/// Groups fall silent where nothing happens for long, and go on from the present and by their own period when something
/// does, whatever that is: a task that comes, one that ends, an owner.
#[test]
fn after_a_long_quiet_time_groups_go_on_from_the_present() {
    let machines = (0..3).map(|_| "machine 1".to_owned());
    let tasks = [(0.0, 9_000.0), (3.0, 20_000.0), (8_000.0, 1.0), (8_000.0, 30_000.0), (16_002.0, 500.0)];
    let tasks = tasks.map(|(arrival, length)| format!("task {arrival} {length} 1"));
    let grid = table::setup(&lines(machines.chain(tasks)));
    for change in [None, Some(change(1, 1.0))] {
        let setup = GroupsSetup { change, ..grouped(grid.clone(), 3, Topology::All) };
        let mut parties = neighbours(&setup, |_| Recipe::by(Score::Greedy).build());
        let (mut now, mut told, mut told_late) = (Time::ZERO, 0, Vec::new());
        while parties.step() {
            assert!(parties.now() >= now, "time went back from {now} to {}", parties.now());
            now = parties.now();
            let news = parties.outside().outcome().news;
            if news > told && now > Time::from_seconds(7_999.0).expect("a time") {
                told_late.push(now.nanos() / 1_000_000);
            }
            told = news;
        }
        assert_eq!(parties.outside().history().unfinished(), 0);
        let outcome = parties.outside().outcome();
        assert!(outcome.handed_over > 0 && outcome.mean_age_s() <= Some(5.0), "{outcome:?}");
        if change.is_none() {
            // The three take turns in 5 s, from the first moments of these turns after the task at 8,000 s comes.
            assert_eq!(told_late[..4], [8_000_000, 8_001_666, 8_003_333, 8_005_000]);
        }
    }
}

/// Nobody waits for ever where nothing can happen any more.
#[test]
fn a_run_that_is_stuck_ends() {
    let mut grid = random::setup(5);
    grid.loads = (0..grid.machines.len())
        .map(|machine| gleaner_sim::LoadChange {
            time: Time::ZERO,
            machine: MachineId::new(machine),
            load: 1.0,
        })
        .collect();
    let count = grid.machines.len();
    let setup = grouped(grid, count, Topology::All);
    let mut parties = neighbours(&setup, |_| Recipe::by(Score::Greedy).build());
    parties.run();
    assert_eq!(parties.outside().outcome().known, 0);
}
