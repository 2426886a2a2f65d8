//! Two agents with one identity, as copies of a machine's image have.

use super::put_back::told;
use super::small::{Small, one};
use gleaner_server::desk::{Administration, Effect, Order};
use gleaner_units::{MachineId, Time};
use gleaner_wire::refusal::let_in_after;
use gleaner_wire::session::{FromAgent, Hello, Sample, ToAgent};

fn hello(incarnation: u64) -> Hello {
    let profile = super::small::profile();
    Hello { agent: 0, incarnation, met: None, profile, running: Vec::new() }
}

#[test]
fn while_one_is_heard_of_the_other_is_turned_away_and_nothing_of_the_first_is_given_up() {
    let mut small = Small::running();
    let now = Time::from_nanos(1);
    for incarnation in [2, 3] {
        let refusal = told(&mut small.desk, now.after_seconds(1.0), hello(incarnation)).swap_remove(0);
        let ToAgent::Refused { why, for_good: false } = refusal else { panic!("{refusal:?}") };
        assert!(why.contains("its agent's folder was copied") && why.contains("remove its folder"), "{why}");
    }
    assert!(small.desk.ledger().find_live(one(), MachineId::new(0)).is_some(), "its runs go on");
    let view = gleaner_server::view::machines(&small.desk);
    for told in [&view.machines[0].why, &view.machines[0].refused] {
        assert!(told.as_deref().is_some_and(|why| why.contains("copied")), "administrators see it");
    }

    // It may be asleep, and what it runs goes on until its lease ends.
    let refusal = told(&mut small.desk, now.after_seconds(30.0), hello(3)).swap_remove(0);
    let ToAgent::Refused { why, for_good: false } = refusal else { panic!("{refusal:?}") };
    assert!(why.contains("it is let in when its start before is gone, in 35 s at the latest"), "{why}");
    assert_eq!(let_in_after(&why), None, "it may be gone before");
    // A machine that lost its power or its network comes back, and is the same one.
    small.at(66.0).tick();
    let later = told(&mut small.desk, now.after_seconds(66.0), hello(3));
    assert!(matches!(later[0], ToAgent::Welcome { .. }), "{later:?}");
    assert_eq!(
        small.desk.ledger().find_live(one(), MachineId::new(0)),
        None,
        "what ran before its start is gone"
    );
}

/// What is said of the one that was turned away is not said of the other, nor for longer than it comes.
#[test]
fn one_that_was_turned_away_is_told_apart_from_the_one_that_works() {
    let mut small = Small::running();
    let at = |seconds| Time::from_nanos(1).after_seconds(seconds);
    let shown = |small: &Small| {
        let machine = gleaner_server::view::machines(&small.desk).machines.swap_remove(0);
        let is_of_copy = |text: Option<String>| text.is_some_and(|text| text.contains("copied"));
        (is_of_copy(machine.refused), is_of_copy(machine.why))
    };
    let beat = FromAgent::Heartbeat { number: 1, sample: Sample::default(), staging: Vec::new() };
    told(&mut small.desk, at(1.0), hello(2));
    assert_eq!(shown(&small), (true, true));
    small.at(2.0).say(FromAgent::Open { open: false, why: "its disk is full".to_owned() });
    assert_eq!(shown(&small), (true, false), "why it is closed is shown");
    small.at(30.0).say(beat.clone());
    assert_eq!(shown(&small), (true, false));
    small.at(62.0).say(beat.clone());
    assert_eq!(shown(&small), (false, false), "the copy does not come any more");

    told(&mut small.desk, at(62.5), hello(2));
    assert_eq!(shown(&small), (true, false));
    small.leave();
    assert_eq!(shown(&small), (false, false), "the machine that is gone is not the one that was turned away");
}

/// What its owner can do is not the same.
#[test]
fn one_that_was_forgotten_is_told_so_and_not_that_it_was_revoked() {
    for (order, expected) in [
        (Administration::Revoke("m".into()), "this machine was revoked"),
        (Administration::Forget("m".into()), "this machine was forgotten"),
    ] {
        let mut small = Small::running();
        small.order(Order::Administer(order));
        let at_once = small.effects.iter().find_map(|effect| match effect {
            Effect::Send(_, ToAgent::Refused { why, for_good: true }) => Some(why.clone()),
            _ => None,
        });
        let later = small.now().after_seconds(1.0);
        let again = told(&mut small.desk, later, hello(2)).swap_remove(0);
        let ToAgent::Refused { why, for_good: true } = again else { panic!("{again:?}") };
        assert!(why.starts_with(expected), "{why}");
        assert_eq!(at_once, Some(why), "its connection ended with the same words");
    }
}
