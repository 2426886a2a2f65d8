//! What the owner says, and agents that leave.

use crate::coordinator::{Coordinator, id_of, script};
use crate::{counting, wait_for};
use gleaner_agent::owner;
use gleaner_agent::owner::Word;
use gleaner_agent::owner_socket;
use gleaner_agent::owner_socket::State;
use gleaner_agent::work::Stop;
use gleaner_wire::session::{FromAgent, Outcome, ToAgent};
use std::time::Duration;

#[test]
fn the_owner_stops_everything_and_lets_it_go_on() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let pid = agent.home().join("pid");
    let busy = format!("echo $$ > {0}.new; mv {0}.new {0}; while :; do :; done", pid.display());
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), &busy))));
    session.until_started(id_of(1, 1));
    let pid = wait_for(&pid);
    let answer = owner_socket::tell(agent.home(), Some(Word::Pause)).unwrap();
    assert_eq!((answer.tasks, answer.state), (1, State::Suspended));
    let load_of = |message| match message {
        FromAgent::OwnerLoad { load, .. } => Some(load),
        _ => None,
    };
    while session.until(load_of) != 1.0 {}
    let state = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().split(' ').nth(2).unwrap().to_owned()
    };
    while state() != "T" {
        std::thread::sleep(Duration::from_millis(5));
    }
    let answer = owner_socket::tell(agent.home(), Some(Word::Resume)).unwrap();
    assert!(answer.state != State::Suspended && answer.tasks == 1);
    while session.until(load_of) == 1.0 {}
    while state() == "T" {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Whether it takes new tasks depends on what else this machine does.
    let asked = owner_socket::tell(agent.home(), None).unwrap();
    assert!(asked.state != State::Suspended && asked.tasks == 1);
    // Each word holds until it is taken back, and is told as long as it does.
    for (word, state, why) in [
        (Word::Here, State::Suspended, "the owner is here (said by hand)"),
        (
            Word::Drain,
            State::Suspended,
            "the owner is here (said by hand); the owner wants it back (said by hand)",
        ),
        (Word::Pause, State::Suspended, "the owner paused it; the owner is here (said by hand)"),
        (Word::Away, State::Suspended, "the owner paused it"),
    ] {
        let answer = owner_socket::tell(agent.home(), Some(word)).unwrap();
        assert_eq!((answer.state, answer.why.as_deref()), (state, Some(why)), "{word:?}");
    }
    owner_socket::tell(agent.home(), Some(Word::Resume)).unwrap();
}

#[test]
fn what_the_owner_lets_come_no_more_leaves_with_its_checkpoint() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Run(Box::new(counting(1, 1))));
    session.until(|message| matches!(message, FromAgent::Output { .. }).then_some(()));
    owner::set(&agent.home().join("rules.toml"), "users", "[\"somebody\"]").unwrap();
    let end = session.until_ended(id_of(1, 1));
    let expected = "the machine's owner takes no such tasks any more";
    assert!(matches!(&end.outcome, Outcome::Abandoned { why } if why == expected), "{end:?}");
    assert!(end.checkpoint.is_some());
}

/// Whoever reads or writes the file again is to know what it had.
#[test]
fn an_agent_whose_rules_are_gone_says_by_which_it_goes() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent_by("users = [\"ada\"]\n");
    let _session = coordinator.welcome(1, 30.0);
    let said = || owner_socket::tell(agent.home(), None).unwrap().rules;
    assert_eq!(said(), None);
    let file = agent.home().join("rules.toml");
    let rules = owner::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(said(), Some(rules));
}

#[test]
fn an_agent_that_leaves_hands_in_what_its_programs_have_done() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Run(Box::new(counting(1, 1))));
    session.until(|message| matches!(message, FromAgent::Output { .. }).then_some(()));
    agent.tell(Stop::Orderly);
    let end = session.until_ended(id_of(1, 1));
    assert!(matches!(end.outcome, Outcome::Abandoned { .. }) && end.checkpoint.is_some(), "{end:?}");
    session.settle(id_of(1, 1));
    agent.ended().unwrap();
}

/// So it is given nothing more, and not taken for lost.
#[test]
fn an_agent_that_leaves_says_so_before_it_is_gone() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.until(|message| matches!(message, FromAgent::Open { open: true, .. }).then_some(()));
    agent.tell(Stop::Orderly);
    session.until(|message| matches!(message, FromAgent::Open { open: false, .. }).then_some(()));
    assert!(session.ends_with_a_word());
    agent.ended().unwrap();
}
