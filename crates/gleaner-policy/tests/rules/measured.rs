//! Machines that turn out to be others than was thought, or dearer than can be paid, while tasks run there, are planned for
//! them, or were learnt from.

use crate::lab::{Lab, alone, machine, plain, task};
use gleaner_core::{
    Alarm, Budget, Charged, Command, Event, MachineClass, Migration, Needs, Room, Rule, RunEnd, Scope,
    TaskClass, TaskState,
};
use gleaner_policy::{
    Aim, AnyPolicy, Backfill, Lengths, Preset, Recipe, Relocate, Replan, Score, Spending, TaskOrder,
};
use gleaner_units::{Credits, MachineClassId, Ops, Span, TaskClassId};

/// At once if there is room elsewhere, and else as soon as there is.
#[test]
fn a_task_leaves_a_machine_that_cannot_run_it_any_more() {
    for score in [Score::Greedy, Score::Social, Score::SocialWhole, Score::Power] {
        let recipe = Recipe { relocate: Some(Relocate::by(score)), ..Recipe::by(score) };
        let classes = [MachineClass::plain(vec![1.0], 1), MachineClass::plain(vec![0.0], 1)];
        let mut shared = Lab::new(recipe, &classes, &[0, 0], plain());
        let (first, second) = (shared.submit(None), shared.submit(None));
        shared.pass(1.0);
        let of_first = shared.run_of(first).1.index();
        shared.measure(of_first, 1);
        assert_eq!(
            shared.on(1 - of_first).len(),
            2,
            "{score:?}: {first} and {second} share what can run them"
        );

        let mut exclusive = Lab::new(recipe, &[alone(1.0), alone(0.0)], &[0, 0], plain());
        let (first, second) = (exclusive.submit(None), exclusive.submit(None));
        exclusive.pass(1.0);
        assert_eq!((exclusive.on(0), exclusive.on(1)), (vec![first], vec![second]), "{score:?}");
        assert_eq!(exclusive.measure(0, 1), [], "{score:?}: there is no room");
        exclusive.pass(1.0);
        exclusive.end(second);
        assert_eq!((exclusive.on(0), exclusive.on(1)), (vec![], vec![first]), "{score:?}");
    }
}

/// Whatever a move costs, and though it has not run yet.
#[test]
fn a_task_leaves_a_machine_that_cannot_run_it_in_the_instant_in_which_it_began() {
    let migration = Migration { seconds: 60.0, ..Migration::default() };
    for score in [Score::Greedy, Score::Social, Score::SocialWhole] {
        let recipe = Recipe { relocate: Some(Relocate::by(score)), ..Recipe::by(score) };
        let classes = [MachineClass::plain(vec![1.0], 1), MachineClass::plain(vec![0.0], 1)];
        let mut lab = Lab::where_moves_cost(migration, recipe, &classes, &[0, 0], plain());
        let first = lab.submit(None);
        let on = lab.run_of(first).1.index();
        lab.measure(on, 1);
        assert_eq!(lab.on(1 - on), [first], "{score:?}");
    }
}

/// While it is on its way nothing moves it; it goes on as soon as it has begun.
#[test]
fn a_task_that_was_on_its_way_to_a_machine_that_cannot_run_it_leaves_it() {
    let recipe = Recipe { relocate: Some(Relocate::by(Score::Greedy)), ..Recipe::by(Score::Greedy) };
    let classes = [MachineClass::plain(vec![1.0], 1), MachineClass::plain(vec![0.0], 1)];
    let mut lab = Lab::new(recipe, &classes, &[0, 0], plain());
    let first = task(0);
    let class = TaskClassId::new(0);
    lab.scheduler.apply(lab.now, &Event::TasksSubmitted { first, count: 1, class, length: None });
    lab.scheduler.decide(lab.now, &mut Vec::new());
    let sent: Vec<Command> = lab.scheduler.take_orders().collect();
    let [Command::Start { run, on }] = sent[..] else { panic!("{sent:?}") };
    lab.measure(on.index(), 1);
    lab.runs.insert(run, on);
    lab.tell(&Event::RunStarted(run));
    assert_eq!(lab.on(1 - on.index()), [first]);
}

/// Whatever else is there: it has no time to lose there, and what can run there is not pushed away by it.
#[test]
fn what_cannot_run_where_it_is_counts_in_no_sum() {
    let recipe = Recipe { relocate: Some(Relocate::by(Score::Social)), ..Recipe::by(Score::Social) };
    let large = Needs { cores: 1, memory: 10, disk: 0 };
    let kind = TaskClass { needs: large, ..plain() };
    let with_memory = |memory: u64| MachineClass {
        room: Room { memory: Some(memory), ..Room::default() },
        ..MachineClass::plain(vec![1.0], 4)
    };
    let mut lab = Lab::new(recipe, &[with_memory(100), with_memory(5)], &[0], kind);
    lab.tell(&Event::TaskClassMet(Box::new(plain())));
    let stuck = lab.submit(None);
    lab.measure(0, 1);
    let small = task(1);
    let class = TaskClassId::new(1);
    lab.tell(&Event::TasksSubmitted { first: small, count: 1, class, length: None });
    assert_eq!(lab.on(0), [stuck, small], "it has a place beside the other");
}

/// By the trees of keys: as they come, and every minute where plans stand.
fn standing() -> [Recipe; 4] {
    let period = Span::from_seconds(60.0).expect("a period");
    let every = Recipe { replan: Replan::Lost, ..Recipe::in_batches(TaskOrder::MinMin, period) };
    let as_they_come = [Aim::Earliest, Aim::Fastest, Aim::FirstFree].map(Recipe::as_they_come);
    [as_they_come[0], as_they_come[1], as_they_come[2], every]
}

/// Nothing is planned for the first machine, and all that waits has a place.
fn check_planned(lab: &mut Lab, what: &str) {
    lab.pass(61.0);
    assert_eq!(lab.queue(0), [], "{what}");
    let waits = lab.scheduler.grid().waiting_tasks().count();
    assert_eq!(lab.queue(1).len(), waits, "{what}");
}

#[test]
fn plans_are_made_anew_where_their_machine_cannot_run_them_any_more() {
    for recipe in standing() {
        let small = Needs { cores: 1, memory: 10, disk: 0 };
        let with_memory = |memory: u64| {
            let room = Room { slots: Some(1), memory: Some(memory), disk: None };
            MachineClass { room, ..MachineClass::plain(vec![1.0], 1) }
        };
        for (classes, needs) in [
            ([alone(1.0), alone(0.0)], Needs { cores: 1, ..Needs::default() }),
            ([with_memory(10), with_memory(5)], small),
        ] {
            let mut lab = Lab::new(recipe, &classes, &[0, 0], TaskClass { needs, ..plain() });
            for _ in 0..6 {
                lab.submit(Some(1_000.0));
            }
            lab.pass(61.0);
            let is_planned = lab.queue(0).len() + lab.queue(1).len();
            assert!(is_planned > 0, "{recipe}");
            lab.measure(0, 1);
            check_planned(&mut lab, &format!("{recipe}, {classes:?}"));
            // What ran there is lost, and has a place too.
            for id in lab.on(0) {
                let (run, _) = lab.run_of(id);
                lab.runs.remove(&run);
                lab.tell(&Event::RunEnded { run, end: RunEnd::Lost });
            }
            check_planned(&mut lab, &format!("{recipe}, and what ran there"));
        }
    }
}

#[test]
fn plans_are_made_anew_where_a_composition_was_measured() {
    for recipe in standing() {
        let class = |speeds: [f64; 2]| MachineClass {
            room: Room { slots: Some(1), ..Room::default() },
            ..MachineClass::plain(speeds.to_vec(), 1)
        };
        let classes = [class([1.0, 0.0]), class([1.0, 1.0])];
        let mut lab = Lab::new(recipe, &classes, &[0, 1], TaskClass::plain(vec![1.0, 0.0]));
        for _ in 0..6 {
            lab.submit(Some(1_000.0));
        }
        lab.pass(61.0);
        let composition = vec![0.5, 0.5];
        lab.tell(&Event::TaskClassesMeasured { classes: vec![TaskClassId::new(0)], composition });
        check_planned(&mut lab, &format!("{recipe}"));
    }
}

/// It would wait for a machine that it can never pay.
#[test]
fn plans_are_made_anew_where_they_cannot_be_paid_any_more() {
    for recipe in standing() {
        let recipe = Recipe { spending: Spending::Cap, ..recipe };
        let budget = |recharge: u64| Budget {
            recharge: Credits::new(recharge),
            period: Span::from_seconds(60.0).expect("a period"),
            charged: Charged::Started,
            scope: Scope::Shared,
        };
        let dear = MachineClass { price: 1.0, ..alone(10.0) };
        let cheap = MachineClass { price: 0.1, ..alone(1.0) };
        let mut lab = Lab::new(recipe, &[dear, cheap], &[0, 1], plain());
        lab.tell(&Event::BudgetSet(Some(budget(100_000))));
        for _ in 0..6 {
            lab.submit(Some(1_000.0));
        }
        lab.pass(61.0);
        let policy = recipe.build();
        let rule = Rule { policy, budget: Some(budget(500)), checking: None };
        lab.scheduler.set_rule(lab.now, rule);
        lab.answer();
        check_planned(&mut lab, &format!("{recipe}"));
    }
}

/// What another rule wanted to be woken for later is no reason to wait.
#[test]
fn an_alarm_of_the_rule_before_keeps_nobody_waiting() {
    let recipe = Preset::named("elleuch/min-min").expect("a preset").recipe;
    let mut lab = Lab::new(recipe, &[alone(1.0)], &[0, 0], plain());
    lab.pass(1.0);
    lab.submit(Some(1e6));
    assert!(lab.scheduler.grid().alarm(Alarm::Batch) > Some(lab.now));
    let after = Preset::named("gleaner/bags-longest").expect("a preset").recipe;
    lab.scheduler.set_policy(after.build());
    lab.tell(&Event::RuleChanged);
    lab.submit(Some(1.0));
    assert_eq!(lab.scheduler.grid().alarm(Alarm::Batch), Some(lab.now));
}

/// The first in line needs memory that one run holds for long; cores become free on the other machine, one after the other.
#[test]
fn who_waits_for_memory_is_promised_the_machine_where_it_ends_first() {
    let room = Room { slots: Some(8), memory: Some(16 << 30), disk: None };
    let class = MachineClass { room, ..MachineClass::plain(vec![1.0], 8) };
    let small = TaskClass { needs: Needs { cores: 1, memory: 1 << 30, disk: 0 }, ..plain() };
    let mut lab = Lab::new(Recipe::in_line(Backfill::Easy), &[class], &[0, 0], small);
    for needs in [(1, 16_u64 << 30), (4, 8 << 30)] {
        let needs = Needs { cores: needs.0, memory: needs.1, disk: 0 };
        lab.tell(&Event::TaskClassMet(Box::new(TaskClass { needs, ..plain() })));
    }
    let submit = |lab: &mut Lab, class: usize, length: f64| {
        let first = task(lab.scheduler.grid().task_count());
        let class = TaskClassId::new(class);
        lab.tell(&Event::TasksSubmitted { first, count: 1, class, length: Ops::new(length) });
        lab.pass(0.0);
        first
    };
    submit(&mut lab, 1, 36_000.0);
    let (run, long_on) = lab.run_of(task(0));
    assert_eq!(run.task, task(0));
    let other = machine(1 - long_on.index());
    // The long one has all memory of its machine.
    let mut index = 1.0;
    while lab.on(other.index()).len() < 8 {
        submit(&mut lab, 0, 10.0 * index);
        index += 1.0;
    }
    let head = submit(&mut lab, 2, 100.0);
    let AnyPolicy::Backfiller(policy) = lab.scheduler.policy() else { panic!("it is one") };
    let kept = policy.reservation(lab.scheduler.grid(), lab.now).expect("it waits");
    assert_eq!((kept.task, kept.on), (head, other), "{kept:?}");
}

/// Two tasks run alone on the first machine, each for about so long; for how long on average.
fn learn(lab: &mut Lab, seconds: f64) -> f64 {
    let mut took = 0.0;
    for _ in 0..2 {
        let id = lab.submit(None);
        lab.pass(1.0);
        let (run, on) = lab.run_of(id);
        assert_eq!(on, machine(0));
        lab.pass(seconds);
        took += lab.now.since(lab.begun[&run]).seconds();
        lab.end(id);
        assert_eq!(lab.scheduler.grid().task(id).state(), TaskState::Finished(on));
        lab.pass(1.0);
    }
    took / 2.0
}

/// What was learnt there stays what it was, whatever the machine becomes.
#[test]
fn lengths_that_were_learnt_on_a_machine_that_changed_stay() {
    let large = Needs { cores: 1, memory: 2 << 30, disk: 0 };
    let kind = TaskClass { needs: large, ..plain() };
    let class = |speed: f64, memory: u64| {
        let room = Room { slots: Some(1), memory: Some(memory), disk: None };
        MachineClass { room, ..MachineClass::plain(vec![speed], 1) }
    };
    let classes = [class(10.0, 4 << 30), class(5.0, 4 << 30), class(10.0, 1 << 30)];
    let period = Span::from_seconds(1.0).expect("a period");
    let recipes = [
        Recipe::in_line(Backfill::Easy),
        Recipe::in_line(Backfill::Conservative),
        Recipe::in_batches(TaskOrder::MinMin, period),
        Recipe::by(Score::Social),
    ];
    for (recipe, lengths) in recipes.into_iter().flat_map(|recipe| {
        [Lengths::LastTwo, Lengths::Learnt].map(|lengths| (Recipe { lengths, ..recipe }, lengths))
    }) {
        for after in [1, 2] {
            let mut lab = Lab::new(recipe, &classes, &[0], kind.clone());
            let ops = 10.0 * learn(&mut lab, 100.0);
            lab.measure(0, after);
            lab.tell(&Event::MachineJoined { machine: machine(1), class: MachineClassId::new(0) });
            let third = lab.submit(None);
            let policy = lab.scheduler.policy();
            let length = policy.length(lab.scheduler.grid(), third).map(Ops::amount);
            assert!(
                length.is_some_and(|length| (length - ops).abs() < 1e-6),
                "{lengths:?}: {length:?} not {ops}"
            );
            lab.pass(2.0);
            lab.end(third);
        }
    }
}
