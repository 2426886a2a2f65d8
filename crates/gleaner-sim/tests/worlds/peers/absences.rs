//! Peers that go and come back, and workers on which runs fail.

use super::grids::{of, peer, random, recipe, run_checked, setup};
use crate::basics::{at, seconds};
use gleaner_sim::Way;
use gleaner_sim::peers::{
    Absence, BrokerAbsence, Frail, InvalidSetup, Outage, PeersOutcome, PeersSetup, Silence, Turnover,
};

/// To the end, with all tasks done and nothing refused.
fn outcome(setup: &PeersSetup, preset: &str) -> PeersOutcome {
    let parties = run_checked(of(setup, recipe(preset, &[])), setup);
    assert_eq!(parties.outside().tasks_left(), 0, "{preset}");
    assert_eq!(parties.outside().refused(), [], "{preset}");
    parties.outside().outcome()
}

fn absence(whose: usize, from: f64, until: f64) -> Absence {
    Absence { peer: peer(whose), from: at(from), until: at(until) }
}

/// Of one job, from its coming to its end.
fn response(outcome: &PeersOutcome, job: usize) -> f64 {
    let (came, ended) = outcome.ended[job].expect("it ended");
    ended.since(came).seconds()
}

#[test]
fn what_a_peer_lent_is_lost_to_borrowers_when_it_goes() {
    let mut setup = setup(&[&[1.0], &[1.0]], &[(0.0, 0, &[40.0, 40.0])]);
    setup.heartbeat = Some(seconds(1.0));
    assert_eq!(outcome(&setup, "dasilva/greedy").makespan.seconds(), 40.0);
    setup.absences.push(absence(1, 10.0, 500.0));
    let gone = outcome(&setup, "dasilva/greedy");
    assert_eq!((gone.remote, gone.stopped, gone.makespan.seconds()), (0, 1, 80.0), "it queued at home");
    assert_eq!(gone.busy_s, [80.0, 10.0]);
}

#[test]
fn what_a_peer_borrowed_goes_back_when_it_goes() {
    // Peer 0 has peer 1's worker from the beginning; peer 2's task gets it at 10 s.
    let jobs: &[(f64, usize, &[f64])] = &[(0.0, 0, &[40.0, 40.0]), (5.0, 2, &[10.0])];
    let mut setup = setup(&[&[1.0], &[1.0], &[]], jobs);
    setup.heartbeat = Some(seconds(1.0));
    setup.absences.push(absence(0, 10.0, 100.0));
    let outcome = outcome(&setup, "dasilva/greedy");
    assert_eq!(response(&outcome, 1), 15.0, "from 10 s to 20 s");
    assert_eq!(response(&outcome, 0), 140.0, "its own queue goes on at 100 s, on both workers");
    assert_eq!(outcome.stopped, 2);
}

fn broker_away(whose: usize, broker: u32, from: f64, until: f64) -> BrokerAbsence {
    BrokerAbsence { peer: peer(whose), broker, from: at(from), until: at(until) }
}

#[test]
fn a_broker_that_goes_takes_its_tasks_along_and_the_worker_is_free_for_others() {
    let jobs: &[(f64, usize, &[f64])] = &[(0.0, 0, &[40.0]), (0.0, 0, &[6.0]), (5.0, 0, &[10.0])];
    for preset in ["dasilva/greedy", "dasilva/traditional", "gleaner/bags"] {
        let mut setup = setup(&[&[1.0]], jobs);
        (setup.jobs[0].broker, setup.jobs[1].broker) = (1, 1);
        setup.brokers_away.push(broker_away(0, 1, 10.0, 100.0));
        let outcome = outcome(&setup, preset);
        assert_eq!(response(&outcome, 2), 15.0, "{preset}: from 10 s to 20 s");
        assert_eq!(response(&outcome, 0), 140.0, "{preset}: it begins again at 100 s");
        assert_eq!(response(&outcome, 1), 146.0, "{preset}: it had not begun");
        assert_eq!(outcome.busy_s, [66.0], "{preset}: the first 10 s are in vain");
    }
}

#[test]
fn what_a_broker_that_goes_had_on_lent_workers_goes_back() {
    // Peer 1's only worker runs peer 0's task; peer 2's task gets it when the broker goes.
    let mut setup = setup(&[&[], &[1.0], &[]], &[(0.0, 0, &[40.0]), (5.0, 2, &[10.0])]);
    setup.brokers_away.push(broker_away(0, 0, 10.0, 12.0));
    let outcome = outcome(&setup, "dasilva/greedy");
    assert_eq!((response(&outcome, 1), response(&outcome, 0)), (15.0, 60.0), "{outcome:?}");
    assert_eq!((outcome.stopped, outcome.remote), (1, 2));
}

#[test]
fn nothing_is_handed_in_by_a_broker_that_is_away() {
    let mut setup = setup(&[&[1.0, 1.0]], &[(15.0, 0, &[10.0]), (15.0, 0, &[10.0])]);
    setup.jobs[1].broker = 1;
    setup.brokers_away = vec![broker_away(0, 1, 1.0, 30.0), broker_away(0, 1, 20.0, 50.0)];
    let outcome = outcome(&setup, "gleaner/bags");
    let told: Vec<(f64, f64)> =
        outcome.ended.iter().flatten().map(|(came, end)| (came.seconds(), end.seconds())).collect();
    assert_eq!(told, [(15.0, 25.0), (50.0, 60.0)], "away until the later end, and waited for from then on");
}

#[test]
fn what_is_handed_in_meanwhile_waits_for_the_peer() {
    let mut setup = setup(&[&[1.0], &[1.0]], &[(5.0, 0, &[10.0])]);
    setup.heartbeat = Some(seconds(2.0));
    setup.absences = vec![absence(0, 1.0, 30.0), absence(0, 20.0, 50.0)];
    let outcome = outcome(&setup, "gleaner/bags");
    assert_eq!(outcome.ended[0].map(|(_, end)| end.seconds()), Some(60.0), "away until the later end");
}

#[test]
fn a_worker_is_back_when_its_last_reason_to_be_away_is_over() {
    let mut setup = setup(&[&[1.0]], &[(5.0, 0, &[10.0])]);
    setup.heartbeat = Some(seconds(2.0));
    setup.absences.push(absence(0, 1.0, 30.0));
    setup.outages.push(Outage { peer: peer(0), worker: 0, from: at(20.0), until: at(45.0) });
    setup.outages.push(Outage { peer: peer(0), worker: 0, from: at(22.0), until: at(25.0) });
    assert_eq!(outcome(&setup, "dasilva/greedy").makespan.seconds(), 55.0);
}

#[test]
fn peers_that_come_and_go_leave_no_task_undone() {
    let (mut left, mut crashed) = (0, 0);
    for seed in 1..=80 {
        let mut setup = random(seed);
        setup.usual = Way { delay: seconds(0.1), loss: 0.2 };
        setup.heartbeat = Some(seconds(2.0));
        setup.turnover = Some(Turnover { stays: seconds(60.0), away: seconds(10.0) });
        if seed % 3 == 0 {
            // Who is silent from the same moment on says no farewell.
            setup.absences.push(absence(0, 3.0, 19.0));
            setup.silences.push(Silence { peer: peer(0), from: at(3.0), until: at(19.0) });
            crashed += 1;
        }
        for job in &mut setup.jobs {
            job.broker = job.tasks % 2;
        }
        setup.brokers_away = vec![broker_away(0, 1, 2.0, 14.0), broker_away(0, 0, 9.0, 15.0)];
        let preset = ["dasilva/greedy", "gleaner/bags", "dasilva/traditional"][seed as usize % 3];
        let parties = run_checked(of(&setup, recipe(preset, &[])), &setup);
        assert_eq!(parties.outside().tasks_left(), 0, "seed {seed}");
        left += u64::from(parties.outside().outcome().stopped > 0);
    }
    assert!(left > 20 && crashed > 20, "in {left} runs somebody lost work");
}

#[test]
fn when_peers_come_and_go_depends_on_the_seed_alone() {
    let made = |seed: u64, loss: f64| {
        let mut setup = random(3);
        (setup.seed, setup.heartbeat) = (seed, Some(seconds(2.0)));
        setup.usual = Way { delay: seconds(0.1), loss };
        setup.turnover = Some(Turnover { stays: seconds(20.0), away: seconds(10.0) });
        let mut parties = of(&setup, recipe("dasilva/greedy", &[]));
        parties.run();
        parties.outside().absences().to_vec()
    };
    let one = made(1, 0.0);
    assert!(one.len() > 2, "{one:?}");
    let again = made(1, 0.1);
    let both = one.len().min(again.len());
    let sorted = |mut absences: Vec<Absence>| {
        absences.sort_by_key(|absence| (absence.from, absence.peer));
        absences.truncate(both / 2);
        absences
    };
    assert_eq!(sorted(one.clone()), sorted(again), "whatever becomes of letters");
    assert_ne!(one, made(2, 0.0));
}

#[test]
fn whoever_comes_back_needs_a_heartbeat() {
    let mut setup = setup(&[&[1.0]], &[(0.0, 0, &[1.0])]);
    setup.absences.push(absence(0, 1.0, 2.0));
    assert_eq!(setup.check(), Err(InvalidSetup::Unheard));
    setup.heartbeat = Some(seconds(1.0));
    assert_eq!(setup.check(), Ok(()));
    setup.absences.push(absence(0, 2.0, 2.0));
    assert_eq!(setup.check(), Err(InvalidSetup::Absence));
    setup.absences.pop();
    setup.frail.push(Frail { peer: peer(0), worker: 1, fails_after: seconds(1.0) });
    assert_eq!(setup.check(), Err(InvalidSetup::Frail));
    setup.frail.clear();
    setup.task_classes.push(setup.task_classes[0].clone());
    assert_eq!(setup.check(), Err(InvalidSetup::Classes(2)));
}

#[test]
fn no_two_jobs_come_after_the_same() {
    let mut setup = setup(&[&[1.0]], &[(0.0, 0, &[1.0]), (0.0, 0, &[1.0]), (0.0, 0, &[1.0])]);
    setup.jobs[1].after = Some((0, seconds(1.0)));
    setup.jobs[2].after = Some((1, seconds(1.0)));
    assert_eq!(setup.check(), Ok(()));
    setup.jobs[2].after = Some((0, seconds(1.0)));
    assert_eq!(setup.check(), Err(InvalidSetup::Job(2)));
}

#[test]
fn a_run_that_fails_begins_again_here_and_at_peers() {
    let mut failed = 0;
    for seed in 1..=40 {
        let mut setup = random(seed);
        let sites = setup.peers.iter().enumerate();
        let all = sites.flat_map(|(whose, site)| (0..site.workers.len()).map(move |worker| (whose, worker)));
        let frail = |(whose, worker)| Frail { peer: peer(whose), worker, fails_after: seconds(12.0) };
        setup.frail = all.map(frail).collect();
        let preset = ["dasilva/greedy", "gleaner/bags"][seed as usize % 2];
        let outcome = outcome(&setup, preset);
        assert!(outcome.failed == 0 || outcome.lost_s > 0.0, "seed {seed}");
        failed += outcome.failed;
    }
    assert!(failed > 100, "{failed}");
}
