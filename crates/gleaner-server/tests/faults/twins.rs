//! Two agents with one identity, as copies of a machine's image have.

use super::mended::{Small, one};
use super::put_back::told;
use gleaner_units::{MachineId, Time};
use gleaner_wire::session::{Hello, ToAgent};

fn hello(incarnation: u64) -> Hello {
    let profile = super::mended::profile();
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
    assert!(
        view.machines[0].why.as_deref().is_some_and(|why| why.contains("copied")),
        "administrators see it"
    );

    // A machine that lost its power or its network is silent for a while, and then it is the same one that comes back.
    let later = told(&mut small.desk, now.after_seconds(30.0), hello(3));
    assert!(matches!(later[0], ToAgent::Welcome { .. }), "{later:?}");
    assert_eq!(
        small.desk.ledger().find_live(one(), MachineId::new(0)),
        None,
        "what ran before its start is gone"
    );
}
