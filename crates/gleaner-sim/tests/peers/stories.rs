//! What peers do, by example.

use crate::grids::{at, of, peer, recipe, run_checked, seconds, setup};
use gleaner_sim::peers::{PeersSetup, Silence};

/// At the end, with nothing refused.
fn outcome(setup: &PeersSetup, preset: &str, more: &[(&str, &str)]) -> gleaner_sim::peers::Outcome {
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
