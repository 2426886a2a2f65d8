//! Who may be paid under a budget, when credits come back or machines go.

use crate::lab::{Lab, alone, machine, plain, task};
use crate::written::read;
use gleaner_core::{Budget, Charged, Event, MachineClass, RunEnd, Scope, Tags, TaskClass};
use gleaner_policy::{Aim, Cheapest, Recipe, Score, Spending};
use gleaner_units::{Credits, Ops, Span, TaskClassId, TaskId};
use serde_json::json;

/// For longer than any test takes.
fn hundred_credits() -> Event {
    Event::BudgetSet(Some(Budget {
        recharge: Credits::new(100),
        period: Span::from_seconds(1e6).expect("a period"),
        charged: Charged::Started,
        scope: Scope::Shared,
    }))
}

fn tag(name: &str) -> Tags {
    Tags::from([name.to_owned()])
}

fn submit(lab: &mut Lab, class: usize, length: f64) -> TaskId {
    let first = task(lab.scheduler.grid().task_count());
    let class = TaskClassId::new(class);
    lab.tell(&Event::TasksSubmitted { first, count: 1, class, length: Ops::new(length) });
    first
}

/// They come back when its run has stopped, and whoever waited for them begins then.
#[test]
fn a_recharge_may_be_written_in_powers_of_ten() {
    for written in [json!(1_000_000), json!(1e6)] {
        let rule =
            read(json!({ "preset": "elleuch/b-min-min", "budget": { "recharge": written, "period_s": 5 } }));
        let budget = rule.expect("a policy").rule().budget.expect("a budget");
        assert_eq!(budget.recharge, Credits::new(1_000_000), "{written}");
    }
}

#[test]
fn what_was_cancelled_leaves_its_credits_to_whoever_waits() {
    let recipe = Recipe { spending: Spending::Cap, ..Recipe::as_they_come(Aim::Earliest) };
    let dear = MachineClass { price: 1.0, ..alone(1.0) };
    let mut lab = Lab::new(recipe, &[dear], &[0, 0], plain());
    lab.tell(&hundred_credits());
    let cancelled = lab.submit(Some(90.0));
    let next = lab.submit(Some(60.0));
    assert_eq!((lab.on(0), lab.on(1)), (vec![cancelled], vec![]));
    lab.tell(&Event::TasksWithdrawn { first: cancelled, count: 1 });
    assert_eq!(lab.runs.keys().map(|run| run.task).collect::<Vec<_>>(), [next]);
}

/// Somebody too dear for what is left keeps nobody else waiting, and what is given back is somebody's on any machine.
#[test]
fn who_cannot_be_paid_keeps_no_others_waiting() {
    let dear = MachineClass { price: 1.0, ..alone(1.0) };
    let other = MachineClass { provides: tag("other"), ..dear.clone() };
    let recipe = Recipe { relocate: None, spending: Spending::Cap, ..Recipe::by(Score::Greedy) };
    let mut lab = Lab::new(recipe, &[dear, other], &[0, 1], plain());
    let needs_other = TaskClass { requires: tag("other"), ..plain() };
    for _ in 0..2 {
        lab.tell(&Event::TaskClassMet(Box::new(needs_other.clone())));
    }
    lab.tell(&hundred_credits());
    let first = submit(&mut lab, 1, 20.0);
    let second = submit(&mut lab, 0, 50.0);
    assert_eq!((lab.on(1), lab.on(0)), (vec![first], vec![second]));
    let too_dear = submit(&mut lab, 1, 40.0);
    let fits = submit(&mut lab, 2, 10.0);
    lab.end(first);
    assert_eq!(lab.on(1), [fits], "30 are left");
    lab.end(fits);
    assert_eq!(lab.on(1), [], "20 are left");
    // It ran elsewhere.
    lab.tell(&Event::TasksWithdrawn { first: second, count: 1 });
    assert_eq!(lab.on(1), [too_dear]);
}

/// What was running on a machine that is drained leaves its credits to whoever waits, of any class, beside an idle machine.
#[test]
fn what_is_lost_on_a_closed_machine_leaves_its_credits_to_whoever_waits() {
    let one = MachineClass { price: 1.0, provides: tag("one"), ..alone(1.0) };
    let other = MachineClass { price: 1.0, provides: tag("other"), ..alone(1.0) };
    let recipe = Recipe { spending: Spending::Cap, ..Recipe::by(Score::Greedy) };
    let needs_one = TaskClass { requires: tag("one"), ..plain() };
    let mut lab = Lab::new(recipe, &[one, other], &[0, 1], needs_one);
    lab.tell(&Event::TaskClassMet(Box::new(TaskClass { requires: tag("other"), ..plain() })));
    lab.tell(&hundred_credits());
    let first = submit(&mut lab, 0, 80.0);
    let second = submit(&mut lab, 1, 50.0);
    assert_eq!((lab.on(0), lab.on(1)), (vec![first], vec![]), "20 are left");
    lab.tell(&Event::MachineClosed { machine: machine(0) });
    let (run, _) = lab.run_of(first);
    lab.runs.remove(&run);
    lab.tell(&Event::RunEnded { run, end: RunEnd::Lost });
    assert_eq!((lab.on(0), lab.on(1)), (vec![], vec![second]));
}

/// Under BT only the cheapest machines are under no condition: where they go, the next ones are the cheapest.
#[test]
fn who_waits_for_the_cheapest_machine_starts_on_the_cheapest_that_is_left() {
    for gone in [
        Event::MachineClosed { machine: machine(0) },
        Event::OwnerLoadReported { machine: machine(0), load: 1.0 },
    ] {
        let cheap = MachineClass { price: 1.0, ..alone(1.0) };
        let dear = MachineClass { price: 3.0, ..alone(1.0) };
        let spending = Spending::PerTask(Cheapest::First);
        let recipe = Recipe { spending, ..Recipe::by(Score::Greedy) };
        let mut lab = Lab::new(recipe, &[cheap, dear], &[0, 1], plain());
        lab.tell(&Event::TaskClassMet(Box::new(TaskClass { restarts: true, ..plain() })));
        lab.tell(&hundred_credits());
        let first = submit(&mut lab, 0, 60.0);
        // Nobody can pay for it, and it makes the others' average smaller.
        submit(&mut lab, 0, 100.0);
        let waits = submit(&mut lab, 1, 10.0);
        assert_eq!((lab.on(0), lab.on(1)), (vec![first], vec![]));
        lab.tell(&gone);
        assert_eq!(lab.on(1), [waits], "{gone:?}");
    }
}
