//! Connections that break, coordinators that move or disown, and ends of leases.

use crate::coordinator::{Agent, Coordinator, id_of, script};
use crate::{runs_of, text, until_gone, wait_for};
use gleaner_agent::owner_socket;
use gleaner_wire::refusal::let_in_again;
use gleaner_wire::session::{FromAgent, Outcome, ToAgent};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// The keeper takes the idle minders with it. A run that is given to one of them ends as given up, and the next begins.
#[test]
fn runs_after_the_keeper_was_killed_end_and_begin_again() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    for kills in 0..3 {
        let mut ends_well = |number| {
            let end = session.run(script(id_of(kills, number), "exit 0"));
            assert!(
                matches!(end.outcome, Outcome::Exited { code: 0 } | Outcome::Abandoned { .. }),
                "{end:?}"
            );
            end.outcome == Outcome::Exited { code: 0 }
        };
        // A minder that was left can run something before there is another keeper.
        let is_killed = (1..=9).any(|number| ends_well(number) && kill_keeper(agent.home()));
        assert!(is_killed, "after {kills} kills nothing begins any more");
    }
}

/// The keeper is who holds the agent's lock of runs besides the agent, which is this process. Whether there was one.
fn kill_keeper(home: &Path) -> bool {
    let lock = home.join("runs.lock").canonicalize().unwrap();
    let holds = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/fd/1")).is_ok_and(|held| held == lock)
            && *pid != std::process::id()
    };
    let find = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.find(holds)
    };
    let Some(keeper) = find() else { return false };
    let pid = rustix::process::Pid::from_raw(keeper.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok()
}

/// A service is started with the address with which it joined, whatever it was told since.
#[test]
fn a_coordinator_that_moved_is_found_by_an_agent_that_is_started_with_the_old_address() {
    let (old, coordinator) = (Coordinator::new(), Coordinator::new());
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut agent = coordinator.agent();
    drop(coordinator.welcome(1, 30.0));
    let remembered = |agent: &Agent| {
        let text = std::fs::read_to_string(agent.home().join("identity.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["address"].to_string()
    };
    let here = format!("\"https://127.0.0.1:{}\"", coordinator.port);
    // Nobody is at the old address, or somebody else.
    for (epoch, port) in [(2, nobody), (3, old.port)] {
        agent = agent.again_for(&coordinator, port);
        drop(coordinator.welcome(epoch, 30.0));
        assert_eq!(remembered(&agent), here);
    }
    // An address that is new is remembered once the coordinator was met there.
    let stored = std::fs::read_to_string(agent.home().join("identity.json")).unwrap();
    let stale = stored.replace(&coordinator.port.to_string(), &nobody.to_string());
    std::fs::write(agent.home().join("identity.json"), &stale).unwrap();
    let agent = agent.again_for(&coordinator, coordinator.port);
    let (mut session, _) = coordinator.welcome(4, 30.0);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    session.run(script(id_of(1, 1), "exit 0"));
    let until = Instant::now() + Duration::from_secs(10);
    while remembered(&agent) != here {
        assert!(Instant::now() < until, "{}", remembered(&agent));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_end_is_told_after_every_reconnection_until_it_is_settled() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let go = agent.home().join("go");
    let waiting = format!("while ! test -e {}; do sleep 0.02; done; echo done", go.display());
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), &waiting))));
    session.until_started(id_of(1, 1));
    drop(session);
    std::fs::write(go, "").unwrap();
    for _ in 0..2 {
        let (mut session, hello) = coordinator.welcome(1, 30.0);
        assert_eq!(runs_of(&hello), [id_of(1, 1)]);
        session.say(&ToAgent::Yours { runs: vec![id_of(1, 1)] });
        session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), "echo again"))));
        let end = session.until_ended(id_of(1, 1));
        assert_eq!((end.outcome.clone(), text(&end)), (Outcome::Exited { code: 0 }, "done\n".into()));
    }
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.until_ended(id_of(1, 1));
    session.settle(id_of(1, 1));
    drop(session);
    let (_session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), []);
}

#[test]
fn nothing_outlives_its_lease_or_a_coordinator_that_disowns_it() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 2.0);
    let file = agent.home().join("pid");
    let stubborn = format!(
        "trap '' TERM; echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.1; done",
        file.display()
    );
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), &stubborn))));
    session.until_started(id_of(1, 1));
    let pid = wait_for(&file);
    std::fs::remove_file(&file).unwrap();
    drop(session);
    // A connection alone renews nothing: the coordinator has to answer.
    let deaf = coordinator.session();
    until_gone(pid);
    drop(deaf);
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), [id_of(1, 1)]);
    let end = session.until_ended(id_of(1, 1));
    assert!(matches!(end.outcome, Outcome::Abandoned { .. }), "{end:?}");
    session.settle(id_of(1, 1));
    session.say(&ToAgent::Run(Box::new(script(id_of(2, 1), &stubborn))));
    session.until_started(id_of(2, 1));
    let pid = wait_for(&file);
    drop(session);
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), [id_of(2, 1)]);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    until_gone(pid);
}

#[test]
fn an_agent_says_which_coordinator_it_was_with() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    drop(coordinator.welcome(5, 30.0));
    let (mut session, hello) = coordinator.welcome(4, 30.0);
    assert_eq!(hello.met.map(|met| met.epoch), Some(5));
    assert_eq!(session.run(script(id_of(1, 1), "exit 0")).outcome, Outcome::Exited { code: 0 });
}

#[test]
fn an_agent_that_is_told_when_to_come_again_waits_and_says_so_to_its_owner() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let mut session = coordinator.session();
    let refused = Instant::now();
    let why = format!("it had too much recorded; {}", let_in_again(2.0));
    session.say(&ToAgent::Refused { why, for_good: false });
    let apart = || owner_socket::tell(agent.home(), None).unwrap().apart;
    while apart().is_none_or(|why| !why.ends_with("it is let in again in 2 s")) {
        assert!(refused.elapsed() < Duration::from_secs(2), "{:?}", apart());
        std::thread::sleep(Duration::from_millis(10));
    }
    let _session = coordinator.welcome(1, 30.0);
    assert!(refused.elapsed() >= Duration::from_secs(2));
    assert_eq!(apart(), None);
}

#[test]
fn a_refused_agent_ends_with_the_reason() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let mut session = coordinator.session();
    session.say(&ToAgent::Refused { why: "it was revoked".into(), for_good: true });
    assert!(agent.ended().unwrap_err().to_string().contains("it was revoked"));
}

/// No other start removes it: a service is not started again after that.
#[test]
fn a_refused_agent_leaves_nothing_of_what_ran() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let locked = "mkdir -p a/b; echo x > a/b/c; chmod 0 a; echo there; sleep 60";
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), locked))));
    session.until(|message| matches!(message, FromAgent::Output { .. }).then_some(()));
    session.say(&ToAgent::Refused { why: "it was forgotten".into(), for_good: true });
    let (ended, folder) = agent.ended_in();
    assert!(ended.unwrap_err().to_string().contains("it was forgotten"));
    assert_eq!(std::fs::read_dir(folder.path().join("tasks")).unwrap().count(), 0);
    assert!(!folder.path().join("trouble").exists());
}
