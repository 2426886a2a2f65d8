//! Bounds on users' cores, which hold in the simulator too.

use super::{FAST, Journal, assert_near, compact_before, moment, past_of, rounds, stored};
use gleaner_policy::PolicySpec;
use gleaner_replay::what_if;
use gleaner_server::journal::Fact;
use gleaner_units::{MachineId, Time};
use gleaner_wire::api::{Actor, Quota};
use gleaner_wire::session::Profile;
use serde_json::json;

fn capped(cores: Option<u32>) -> Fact {
    capped_for(Some("ann"), cores)
}

/// None of whom: everyone.
fn capped_for(user: Option<&str>, cores: Option<u32>) -> Fact {
    let quota = cores.map(|cores| Quota { cores, ..Quota::default() });
    Fact::QuotaSet { user: user.map(ToOwned::to_owned), quota, by: Actor::Coordinator }
}

/// A machine with so many cores and slots.
fn machine_of(cores: u32) -> Journal {
    let mut journal = Journal::begun();
    let agent = MachineId::new(FAST);
    let profile = Profile { slots: cores, ..Profile::new([100.0; 3], cores) };
    let (name, key, token) = ("only".to_owned(), String::new(), String::new());
    journal.add(0.0, Fact::AgentEnrolled { agent, name, key, token, profile });
    journal.add(0.0, Fact::AgentReturned { agent, brings: Vec::new() });
    journal
}

/// Four tasks of 3 s each on two cores, one after the other until their user may have both.
fn capped_for_a_while(journal: &mut Journal, second: f64, (job, first): (u32, usize)) {
    journal.submitted(second, ("ann", job), (4, 1));
    journal.started(second, first);
    journal.done(second + 3.0, first, FAST, 3.0);
    journal.started(second + 3.0, first + 1);
    journal.add(second + 4.5, capped(None));
    journal.started(second + 4.5, first + 2);
    journal.done(second + 6.0, first + 1, FAST, 3.0);
    journal.started(second + 6.0, first + 3);
    journal.done(second + 7.5, first + 2, FAST, 3.0);
    journal.done(second + 9.0, first + 3, FAST, 3.0);
}

#[test]
fn a_bound_on_a_users_cores_holds_from_and_until_the_moments_at_which_it_was_set() {
    let mut journal = rounds((2, 2, 1), 0.0, 2);
    journal.add(100.0, capped(Some(1)));
    capped_for_a_while(&mut journal, 200.0, (2, 2));
    let past = past_of(&journal);
    let caps: Vec<_> = past.caps.iter().map(|cap| (cap.at.seconds(), cap.cores)).collect();
    assert_eq!(caps, [(100.0, Some(1)), (204.5, None)]);
    assert_eq!((past.was.wait_max_s, past.was.makespan_s), (6.0, 209.0));
    assert_near(past.schedule_under(&past.policy).0, past.was);
    // What a compacted journal begins with holds too.
    let disk = stored(&journal);
    compact_before(&disk, 150.0);
    let found = what_if(&disk, moment(0.0), &past.policy).expect("tasks ran to their end");
    let [was, again] = [0, 1].map(|at| &found.schedules[at]);
    assert_eq!((was.wait_max_s, was.makespan_s), (6.0, 9.0));
    assert!((was.wait_mean_s - again.wait_mean_s).abs() < 1e-6, "{found:?}");
    assert!((was.makespan_s - again.makespan_s).abs() < 1e-6, "{found:?}");
}

#[test]
fn a_quota_of_somebody_who_submitted_nothing_yet_and_one_of_everyone_bound_who_comes() {
    for for_everyone in [false, true] {
        let mut journal = machine_of(2);
        journal.add(0.0, if for_everyone { capped_for(None, Some(1)) } else { capped(Some(1)) });
        journal.submitted(1.0, ("ann", 1), (2, 1));
        journal.started(1.0, 0);
        journal.done(4.0, 0, FAST, 3.0);
        journal.started(4.0, 1);
        journal.done(7.0, 1, FAST, 3.0);
        let past = past_of(&journal);
        assert_eq!(past.was.wait_max_s, 3.0);
        assert_near(past.schedule_under(&past.policy).0, past.was);
    }
}

/// Rules that wake up in vain until then: to make plans, and to find the budget renewed.
#[test]
fn a_quota_that_was_raised_when_nothing_else_happened_lets_rules_with_alarms_begin() {
    let mut journal = machine_of(2);
    journal.add(0.0, capped(Some(1)));
    journal.submitted(0.0, ("ann", 1), (1, 2));
    journal.add(100.0, capped(None));
    journal.started(100.0, 0);
    journal.done(110.0, 0, FAST, 10.0);
    let past = past_of(&journal);
    assert_eq!(past.was.wait_max_s, 100.0);
    let budget = json!({ "rule": "b", "recharge": 1_000_000, "period_s": 5 });
    for rule in [
        json!({ "preset": "bertasi/greedy" }),
        json!({ "preset": "elleuch/min-min", "period_s": 5 }),
        json!({ "preset": "bertasi/greedy", "budget": budget }),
    ] {
        let asked: PolicySpec = serde_json::from_value(rule.clone()).expect("a policy that makes sense");
        let again = past.schedule_under(&asked).0;
        assert_eq!(again.unfinished, 0, "{rule}");
        assert!((100.0..=105.0).contains(&again.wait_max_s), "{rule}: {again:?}");
    }
}

#[test]
fn a_quota_that_was_lowered_while_tasks_ran_keeps_none_from_ending() {
    for user in [Some("ann"), None] {
        let mut journal = machine_of(4);
        journal.submitted(0.0, ("bob", 1), (1, 1));
        journal.submitted(0.0, ("ann", 2), (1, 2));
        journal.started(0.0, 0);
        journal.started(0.0, 1);
        journal.add(30.0, capped_for(user, Some(0)));
        journal.done(100.0, 1, FAST, 100.0);
        journal.done(200.0, 0, FAST, 200.0);
        let past = past_of(&journal);
        assert_near(past.schedule_under(&past.policy).0, past.was);
        // As where arrivals are shaken.
        let mut later = past.setup.tasks.clone();
        later.arrivals[1] = Time::from_nanos(40_000_000_000);
        let again = past.under(&past.policy, &later, past.seed);
        assert_eq!((again.unfinished, again.wait_max_s), (0, 160.0), "{user:?}");
    }
}
