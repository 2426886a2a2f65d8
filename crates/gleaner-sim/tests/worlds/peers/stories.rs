//! What peers do, by example.

use super::grids::{of, peer, recipe, run_checked, setup};
use crate::basics::{at, seconds};
use gleaner_sim::peers::{PeersSetup, Silence};

/// At the end, with nothing refused.
fn outcome(setup: &PeersSetup, preset: &str, more: &[(&str, &str)]) -> gleaner_sim::peers::PeersOutcome {
    let parties = run_checked(of(setup, recipe(preset, more)), setup);
    assert_eq!(parties.outside().tasks_left(), 0, "{preset} {more:?}");
    assert_eq!(parties.outside().refused(), [], "{preset} {more:?}");
    parties.outside().outcome()
}

#[test]
fn traditional_takes_the_first_and_greedy_the_most_powerful() {
    let setup = setup(&[&[1.0, 4.0, 2.0, 4.0]], &[(0.0, 0, &[8.0]), (0.5, 0, &[8.0]), (0.5, 0, &[8.0])]);
    let busy = |preset| outcome(&setup, preset, &[]).busy_s;
    assert_eq!(busy("dasilva/traditional"), [8.0, 2.0, 4.0, 0.0]);
    assert_eq!(busy("dasilva/greedy"), [0.0, 2.0, 4.0, 2.0], "of equals the later comes first");
}

#[test]
fn tasks_that_no_worker_is_free_for_queue_on_the_sites_own() {
    let setup = setup(&[&[1.0, 2.0]], &[(0.0, 0, &[8.0, 9.0, 8.0, 8.0])]);
    let busy = |more| outcome(&setup, "dasilva/greedy", more).busy_s;
    assert_eq!(busy(&[]), [17.0, 8.0], "two on each, whatever its power");
    assert_eq!(busy(&[("queue", "peer")]), [9.0, 12.0], "each to whoever is free next");
}

#[test]
fn a_peer_that_is_short_borrows_and_gives_back() {
    let mut setup = setup(&[&[1.0], &[1.0, 1.0]], &[(0.0, 0, &[10.0, 10.0, 10.0, 10.0])]);
    let result = outcome(&setup, "dasilva/traditional", &[]);
    assert_eq!((result.remote, result.makespan.seconds()), (2, 20.0), "one here, two there, one waits here");
    assert_eq!(result.busy_s, [20.0, 10.0, 10.0]);
    setup.inputs = seconds(3.0);
    let result = outcome(&setup, "dasilva/traditional", &[]);
    assert_eq!(result.busy_s, [20.0, 13.0, 13.0], "inputs take their time to a peer's workers");
}

#[test]
fn a_local_task_takes_a_lent_worker_back() {
    let setup = setup(&[&[1.0], &[1.0]], &[(0.0, 0, &[10.0, 10.0]), (4.0, 1, &[5.0])]);
    let result = outcome(&setup, "dasilva/traditional", &[]);
    assert_eq!(result.stopped, 1);
    assert_eq!(result.busy_s, [20.0, 9.0], "4 s in vain, then its own 5; what was stopped queues at home");
    let never = outcome(&setup, "dasilva/traditional", &[("recall", "never")]);
    assert_eq!((never.stopped, never.busy_s), (0, vec![10.0, 15.0]));
}

#[test]
fn who_did_more_is_lent_to_first() {
    // Peer 0 worked for peer 2, whose worker is later wanted by peer 1, which asks first, and by peer 0.
    let jobs: &[(f64, usize, &[f64])] = &[
        (0.0, 2, &[10.0, 10.0]),
        (20.0, 2, &[10.0]),
        (20.5, 0, &[25.0]),
        (21.0, 1, &[20.0, 30.0]),
        (22.0, 0, &[30.0]),
    ];
    let setup = setup(&[&[1.0], &[1.0], &[1.0]], jobs);
    let responses = |favours| {
        let more = [("favours", favours), ("queue", "peer"), ("recall", "never")];
        outcome(&setup, "dasilva/traditional", &more).peers[0].job_response_s
    };
    assert_eq!(responses("nof"), 25.0 + 38.0, "it has peer 2's worker from 30 s on");
    assert_eq!(responses("none"), 25.0 + 49.0, "the first to ask has it; peer 1's own is free at 41 s");
}

#[test]
fn favours_combine_with_any_score_that_places_now() {
    let setup = setup(&[&[1.0, 3.0], &[2.0]], &[(0.0, 0, &[6.0, 6.0, 6.0, 6.0]), (1.0, 1, &[6.0])]);
    for preset in ["bertasi/greedy", "bertasi/social", "bertasi/min-num", "dasilva/greedy"] {
        for favours in ["none", "nof", "fd-nof"] {
            let result = outcome(&setup, preset, &[("favours", favours)]);
            assert_eq!(result.tasks, 5, "{preset} with {favours}");
        }
    }
}

#[test]
fn an_idle_machine_runs_a_task_once_more_if_it_is_likely_to_be_done_sooner() {
    // At 2 s the fast machine is idle; the slow one has done 2 of what is believed to be 5 s on average power.
    let setup = setup(&[&[1.0, 4.0]], &[(0.0, 0, &[8.0, 20.0])]);
    let greedy = outcome(&setup, "dasilva/greedy", &[]);
    assert_eq!((greedy.busy_s, greedy.makespan.seconds()), (vec![20.0, 2.0], 20.0));
    let bags = outcome(&setup, "gleaner/bags", &[]);
    assert_eq!((bags.makespan.seconds(), bags.tasks, bags.stopped), (7.0, 2, 1), "the first result counts");
    assert_eq!(bags.busy_s, [7.0, 7.0], "the other run is stopped");
}

#[test]
fn the_most_powerful_idle_machine_of_the_whole_grid_comes_first() {
    let setup = setup(&[&[1.0, 3.0], &[4.0, 2.0], &[5.0]], &[(0.0, 0, &[60.0; 4])]);
    let more = [("reach", "grid"), ("queue", "peer")];
    let busy = outcome(&setup, "dasilva/greedy", &more).busy_s;
    assert_eq!(busy, [0.0, 20.0, 15.0, 30.0, 12.0], "whoever owns it, and the slowest never");
}

#[test]
fn who_cannot_reach_discovery_starts_at_home() {
    let mut setup = setup(&[&[1.0], &[2.0]], &[(20.0, 0, &[10.0])]);
    setup.heartbeat = Some(seconds(1.0));
    let reached = outcome(&setup, "gleaner/bags", &[]);
    assert_eq!((reached.remote, reached.makespan.seconds()), (1, 25.0));
    setup.silences.push(Silence { peer: peer(0), from: at(0.5), until: at(500.0) });
    let alone = outcome(&setup, "gleaner/bags", &[]);
    assert_eq!((alone.remote, alone.makespan.seconds()), (0, 30.0), "it waits for no answer");
}

#[test]
fn a_second_run_comes_after_whoever_wants_the_machine() {
    // Peer 0's fast machine is idle from 2 s on, while a task of peer 1 waits for a machine.
    let setup =
        setup(&[&[1.0, 4.0], &[4.0]], &[(0.0, 1, &[12.0]), (0.0, 0, &[8.0, 20.0]), (1.0, 1, &[40.0])]);
    let bags = outcome(&setup, "gleaner/bags", &[("reach", "site"), ("recall", "never")]);
    assert_eq!(bags.peers[1].job_response_s, 3.0 + 11.0, "2 s to 12 s on the lent one");
}

#[test]
fn the_longest_task_of_a_job_comes_first() {
    let mut setup = setup(&[&[1.0, 4.0]], &[(0.0, 0, &[8.0, 20.0])]);
    setup.declares_lengths = true;
    let bags = outcome(&setup, "gleaner/bags-longest", &[]);
    assert_eq!(bags.busy_s, [8.0, 5.0], "20 on the fast one");
}

#[test]
fn a_task_waits_for_a_faster_machine_that_is_done_sooner() {
    // At 2 s one task has ended on the machine of power 8. The slow one would take 16 s for one like it: by then the fast one
    // has done both that wait.
    let setup = setup(&[&[1.0, 8.0]], &[(0.0, 0, &[16.0]), (3.0, 0, &[16.0, 16.0, 16.0])]);
    let more = [("queue", "peer"), ("hold", "when-slower")];
    let held = outcome(&setup, "dasilva/greedy", &more);
    assert_eq!((held.busy_s, held.makespan.seconds()), (vec![0.0, 8.0], 9.0));
    let greedy = outcome(&setup, "dasilva/greedy", &more[..1]);
    assert_eq!((greedy.busy_s, greedy.makespan.seconds()), (vec![16.0, 6.0], 19.0));
}

#[test]
fn a_task_is_held_back_no_longer_than_that_is_better() {
    // What runs on the fast machine is a hundred times as long as what ended: the one that waits is not to wait for that.
    let setup = setup(&[&[1.0, 8.0]], &[(0.0, 0, &[16.0]), (3.0, 0, &[1600.0, 16.0])]);
    let held = outcome(&setup, "dasilva/greedy", &[("queue", "peer"), ("hold", "when-slower")]);
    assert_eq!(held.tasks, 3);
    let began = held.busy_s[0];
    assert!(began == 16.0, "on the slow one, once the other has run for longer than is usual: {held:?}");
    assert!(held.ended[1].is_some_and(|(_, end)| end.seconds() == 203.0));
}

#[test]
fn every_task_that_is_held_back_is_done() {
    for seed in 1..=120 {
        let mut setup = super::grids::random(seed);
        setup.learns_power = seed % 2 == 0;
        let preset = ["dasilva/greedy", "gleaner/bags"][seed as usize % 2];
        let held = outcome(&setup, preset, &[("queue", "peer"), ("hold", "when-slower")]);
        assert_eq!(held.tasks as usize, setup.lengths.len(), "seed {seed}");
    }
}

#[test]
fn power_is_learnt_from_what_ran() {
    // Both are taken for the same, of equals the later comes first; after one task on each the first is known to be faster.
    let mut setup = setup(&[&[4.0, 1.0]], &[(0.0, 0, &[8.0, 8.0]), (20.0, 0, &[8.0])]);
    setup.learns_power = true;
    let learnt = outcome(&setup, "dasilva/greedy", &[]);
    assert_eq!((learnt.busy_s, learnt.makespan.seconds()), (vec![4.0, 8.0], 22.0));
    setup.jobs.truncate(1);
    setup.lengths = [8.0].map(super::grids::ops).to_vec();
    setup.jobs[0].tasks = 1;
    assert_eq!(outcome(&setup, "dasilva/greedy", &[]).makespan.seconds(), 8.0, "nothing is known yet");
}

#[test]
fn a_machine_on_which_runs_fail_comes_last_by_reliability() {
    use gleaner_sim::peers::Frail;
    // The faster one fails nearly always.
    let jobs: Vec<(f64, usize, &[f64])> =
        (0..30).map(|job| (100.0 * f64::from(job), 0, &[10.0][..])).collect();
    let mut setup = setup(&[&[1.0, 1.25]], &jobs);
    setup.frail.push(Frail { peer: peer(0), worker: 1, fails_after: seconds(2.0) });
    let failed = |score| outcome(&setup, "dasilva/greedy", &[("score", score)]).failed;
    let (power, reliable) = (failed("power"), failed("reliable-power"));
    assert!(reliable >= 1 && power > 10 * reliable, "{power} against {reliable}");
}

#[test]
fn energy_and_time_are_weighed() {
    // Watts for powers 1, 2, 4: 10, 30, 200. Operations a joule 0.1, 0.067, 0.02; power squared over watts 0.1, 0.133, 0.08.
    let mut setup = setup(&[&[1.0, 2.0, 4.0]], &[(0.0, 0, &[8.0])]);
    for (class, watts) in setup.machine_classes.iter_mut().zip([10, 30, 200]) {
        class.ad = Some(gleaner_core::Ad::parse(&format!("[ Watts = {watts} ]")).expect("an ad"));
    }
    let run = |score| {
        let outcome = outcome(&setup, "dasilva/greedy", &[("score", score)]);
        (outcome.makespan.seconds(), outcome.energy_j)
    };
    assert_eq!(run("power"), (2.0, 400.0));
    assert_eq!(run("energy"), (8.0, 80.0));
    assert_eq!(run("energy-delay"), (4.0, 120.0));
    assert_eq!(run("reliable-energy-delay"), (4.0, 120.0));
}

#[test]
fn a_run_that_another_overtook_stops_at_the_peer_too() {
    for seed in 1..=120 {
        let setup = super::grids::random(seed);
        // Refused letters of honest peers fail it.
        let _ = outcome(&setup, "gleaner/bags", &[]);
    }
}
