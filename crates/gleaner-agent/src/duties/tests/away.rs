//! When the coordinator is away, was asleep, or has another past.

use super::*;
use gleaner_wire::job::Signed;

#[test]
fn before_the_lease_ends_programs_get_their_grace() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    beats(&mut stage, 1..=2);
    stage.on(6.0, Event::Disconnected);
    stage.done();
    // The heartbeat of 5 s was answered: the lease ends at 45 s, the grace 1 s before.
    stage.pass_until(44.0);
    stage.on(44.1, killed(run));
    stage.connect(50.0);
    assert_eq!(
        stage.done(),
        [
            "41 terminate 1.1",
            "41 thaw 1.1",
            "44 kill 1.1",
            "50 keep 1.1",
            "50 load 0",
            "50 open true",
            "50 staging 1.1 out",
            "50 collect 1.1 checkpoint"
        ]
    );
    stage.on(
        51.0,
        Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), ..Collected::default() })),
    );
    assert_eq!(stage.done(), ["51 ended 1.1 abandoned +checkpoint"]);
}

#[test]
fn who_slept_past_the_lease_kills_before_anything_else() {
    for waking in [Event::Tick, Event::Connected, Event::Judged(Verdict::Suspend(Reason::TooHot))] {
        let mut stage = Stage::new();
        stage.start(1.0, run(1, 1));
        stage.done();
        stage.on(1_000.0, waking);
        assert_eq!(stage.done()[0], "1000 kill 1.1");
    }
}

#[test]
fn what_was_not_started_is_not_started_past_the_lease() {
    let mut stage = Stage::new();
    stage.hear(1.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.on(2.0, Event::Disconnected);
    stage.on(100.0, Event::Prepared(id(1, 1), Ok(())));
    stage.connect(101.0);
    let done = stage.done();
    assert!(!done.iter().any(|line| line.contains("launch")), "{done:?}");
    assert!(done.contains(&"101 ended 1.1 abandoned".to_owned()), "{done:?}");
}

#[test]
fn a_silent_coordinator_is_left() {
    let mut stage = Stage::new();
    // Half a lease after the first heartbeat that is not answered.
    stage.pass_until(25.0);
    assert_eq!(stage.done(), ["25 close"]);
    stage.on(27.0, Event::Connected);
    stage.hear(27.0, ToAgent::Run(Box::new(run(1, 1))));
    assert_eq!(stage.done(), ["27 close"], "orders before the welcome");
}

#[test]
fn ends_are_told_again_until_they_are_settled_even_to_who_does_not_wait_for_them() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.on(2.0, Event::Disconnected);
    stage.on(3.0, exited(run, 0));
    stage.done();
    for seconds in [4.0, 5.0] {
        stage.connect(seconds);
        stage.hear(seconds, ToAgent::Yours { runs: Vec::new() });
        assert_eq!(
            stage.done().last().map(String::as_str),
            Some(format!("{seconds} ended 1.1 exited 0").as_str())
        );
        stage.on(seconds, Event::Disconnected);
    }
    stage.connect(6.0);
    stage.hear(6.0, ToAgent::Settled { run, accepted: false });
    assert_eq!(stage.done().last().map(String::as_str), Some("6 clear 1.1"));
}

#[test]
fn what_the_coordinator_disowns_is_killed_and_forgotten() {
    let mut stage = Stage::new();
    stage.on(0.5, Event::Measured(Profile { slots: 3, ..profile() }));
    let (ours, other) = (stage.start(1.0, run(1, 1)), stage.start(1.0, run(2, 1)));
    stage.hear(1.0, ToAgent::Run(Box::new(run(3, 1))));
    stage.done();
    stage.hear(2.0, ToAgent::Yours { runs: vec![ours, id(9, 1)] });
    stage.on(3.0, killed(other));
    stage.on(4.0, Event::Prepared(id(3, 1), Ok(())));
    assert_eq!(stage.done(), ["2 kill 2.1", "2 clear 3.1", "3 clear 2.1", "4 clear 3.1"]);
    assert_eq!(stage.duties.runs().collect::<Vec<_>>(), [ours]);
}

/// Nothing of it is sent any more.
#[test]
fn what_a_disowned_program_writes_wakes_nobody() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.hear(2.0, ToAgent::Yours { runs: Vec::new() });
    stage.on(2.5, Event::Wrote { run, stream: Stream::Stdout, written: 9, dropped: 0 });
    assert!(stage.duties.next_piece(at(3.0)).is_none());
    assert!(stage.duties.due(true).is_some_and(|due| due > at(3.0)));
}

/// The journal was put back, and other tasks got the numbers.
#[test]
fn runs_of_a_past_that_is_no_more_end_and_nothing_is_said_of_them() {
    let mut stage = Stage::new();
    let (alive, over) = (stage.start(1.0, run(1, 1)), stage.start(1.0, run(2, 1)));
    stage.on(2.0, Event::Disconnected);
    stage.on(3.0, exited(over, 0));
    stage.on(4.0, Event::Connected);
    stage.done();
    stage.hear(4.0, welcome(4, vec![alive, over]));
    stage.on(4.5, Event::Wrote { run: alive, stream: Stream::Stdout, written: 1 << 20, dropped: 0 });
    stage.hear(5.0, ToAgent::Run(Box::new(Run { lineage: lineage(4), ..run(1, 1) })));
    stage.on(6.0, killed(alive));
    assert_eq!(
        stage.done(),
        ["4 kill 1.1", "4 clear 2.1", "4 load 0", "4 open true", "5 ended 1.1 abandoned", "6 clear 1.1"]
            .map(str::to_owned)
            .to_vec()
    );
}

#[test]
fn an_order_for_what_was_settled_here_is_answered_and_one_of_another_past_is_carried_out() {
    let mut stage = Stage::new();
    let done = stage.start(1.0, run(1, 1));
    stage.on(2.0, exited(done, 0));
    stage.hear(2.0, ToAgent::Settled { run: done, accepted: true });
    stage.done();
    stage.hear(3.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.hear(4.0, ToAgent::Run(Box::new(Run { lineage: lineage(4), ..run(1, 1) })));
    assert_eq!(stage.done(), ["3 ended 1.1 abandoned", "4 prepare 1.1"]);
}

#[test]
fn who_may_come_again_does_and_who_may_not_ends() {
    let mut stage = Stage::new();
    let why = String::new;
    stage.hear(1.0, ToAgent::Refused { why: why(), for_good: false });
    stage.hear(2.0, ToAgent::Refused { why: why(), for_good: true });
    assert_eq!(stage.done(), ["1 close", "2 give up"]);
}

#[test]
fn a_stop_of_what_is_not_here_is_answered() {
    let mut stage = Stage::new();
    stage.hear(1.0, ToAgent::Stop { run: id(1, 1), cause: StopCause::Cancel });
    assert_eq!(stage.done(), ["1 ended 1.1 abandoned"]);
    stage
        .hear(2.0, ToAgent::Run(Box::new(with_checkpoint(Run { resume_from: Some(stored()), ..run(2, 4) }))));
    stage.hear(3.0, ToAgent::Stop { run: id(2, 4), cause: StopCause::Move });
    assert_eq!(
        stage.done(),
        ["2 prepare 2.4", "3 ended 2.4 stopped +checkpoint"],
        "it has not gone on from it"
    );
}

#[test]
fn the_log_says_that_a_lease_ended_a_run_though_nobody_else_hears_of_it() {
    let mut duties = Stage::new().duties;
    duties.handle(at(1.0), Event::Received(ToAgent::Run(Box::new(run(1, 1)))));
    duties.handle(at(1.0), Event::Prepared(id(1, 1), Ok(())));
    duties.handle(at(1.0), Event::Began(id(1, 1)));
    duties.handle(at(2.0), Event::Disconnected);
    while duties.next_action().is_some() {}
    duties.handle(at(100.0), Event::Tick);
    let mut notes = Vec::new();
    while let Some(action) = duties.next_action() {
        if let Action::Note(run, why) = action {
            notes.push((run, why));
        }
    }
    assert!(
        matches!(&notes[..], [(run, why)] if *run == id(1, 1) && why.contains("the lease ended")),
        "{notes:?}"
    );
}

#[test]
fn what_keeps_a_checkpoint_goes_on_from_it_though_its_agent_was_killed() {
    let mut stage = Stage::new();
    let long = stage.start(1.0, with_checkpoint(run(1, 1)));
    let short = stage.start(2.0, with_checkpoint(run(2, 1)));
    stage.start(1.0, run(3, 1));
    stage.on(3.0, Event::Wrote { run: long, stream: Stream::Stdout, written: 9, dropped: 0 });
    stage.on(4.0, Event::Tick);
    assert_eq!(stage.kept.iter().map(Kept::id).collect::<Vec<_>>(), [long]);
    stage.on(4.5, exited(short, 0));
    stage.hear(4.6, ToAgent::Settled { run: short, accepted: true });

    let mut next = Stage::of(Duties::new(7, 2, None, profile()));
    next.duties.take_up(at(100.0), stage.kept);
    next.connect(101.0);
    assert!(next.done().contains(&"101 collect 1.1 checkpoint".to_owned()));
    // The machine may go down now, in order.
    assert!(next.kept.len() == 1 && !next.kept[0].is_under_way(), "{:?}", next.kept);
    let checkpoint = Collected { checkpoint: Some(stored()), ..Collected::default() };
    next.on(102.0, Event::Collected(long, Ok(checkpoint)));
    assert_eq!(next.done(), ["102 ended 1.1 abandoned +checkpoint"]);
}

#[test]
fn what_the_disk_did_not_take_is_written_down_later() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.on(2.0, Event::Disconnected);
    stage.on(3.0, exited(run, 0));
    stage.done();
    stage.pass_until(6.0);
    // Of another it has heard too late.
    stage.on(7.0, Event::NotKept(BTreeSet::from([run, id(9, 1)])));
    assert!(stage.duties.due(true).is_some_and(|due| due <= at(67.0)));
    stage.on(66.0, Event::Tick);
    assert_eq!(stage.done(), ["6 keep 1.1"]);
    stage.on(67.0, Event::Tick);
    stage.on(68.0, Event::NotKept(BTreeSet::from([run])));
    stage.on(69.0, Event::Leave);
    assert_eq!(stage.done(), ["67 keep 1.1", "69 keep 1.1", "69 quit"]);
}

#[test]
fn what_was_signed_and_has_ended_is_written_down_at_once() {
    let signed = Some(Box::new(Signed { text: String::new(), key: String::new(), signature: String::new() }));
    let mut stage = Stage::new();
    let run = stage.start(1.0, Run { signed, outputs: vec!["out".into()], ..run(1, 1) });
    stage.done();
    stage.on(2.0, exited(run, 0));
    assert_eq!(stage.done(), ["2 collect 1.1 files", "2 keep 1.1"]);
    assert!(stage.duties.has_ended_well(run));
}

/// A program that printed something, one with output files, and one that is to go on from a checkpoint.
#[test]
fn what_waits_is_written_down_and_handed_in_by_the_next_agent() {
    let mut stage = Stage::of(Duties::new(7, 1, None, Profile::new([1.0; 3], 4)));
    stage.connect(0.0);
    let printed = stage.start(1.0, run(1, 1));
    let left = stage.start(1.0, Run { outputs: vec!["out".into()], ..run(2, 1) });
    let settled = stage.start(1.0, run(3, 1));
    let goes_on = stage.start(1.0, with_checkpoint(run(4, 1)));
    stage.on(1.5, exited(settled, 0));
    stage.hear(1.6, ToAgent::Settled { run: settled, accepted: true });
    stage.on(2.0, Event::Disconnected);
    stage.on(3.0, Event::Wrote { run: printed, stream: Stream::Stdout, written: 9, dropped: 0 });
    stage.on(3.0, exited(printed, 0));
    stage.done();
    stage.pass_until(5.9);
    assert_eq!(stage.done(), ["4 keep 4.1"], "most ends are settled at once");
    stage.on(6.0, exited(left, 0));
    stage.pass_until(8.0);
    stage.on(8.5, Event::LeaveAtOnce);
    stage.on(8.6, killed(goes_on));
    assert_eq!(stage.done(), ["6 keep 1.1", "8.5 kill 4.1", "8.6 keep 2.1, 4.1", "8.6 quit"]);

    let kept = stage.kept.iter().map(|kept| serde_json::to_string(kept).expect("it is plain data"));
    let kept = kept.map(|text| serde_json::from_str(&text).expect("it was just written")).collect();
    let mut next = Stage::of(Duties::new(7, 2, None, profile()));
    next.duties.take_up(at(100.0), kept);
    next.connect(101.0);
    let (collect, end) = (["collect 2.1 files", "collect 4.1 checkpoint"], "ended 1.1 exited 0 tail 0+9");
    let done = next.done();
    for line in collect.into_iter().chain([end]) {
        assert!(done.contains(&format!("101 {line}")), "{line}: {done:?}");
    }
    next.on(102.0, Event::Collected(left, Ok(Collected { files: Some(stored()), ..Collected::default() })));
    next.hear(103.0, ToAgent::Settled { run: left, accepted: true });
    assert_eq!(next.done(), ["102 ended 2.1 exited 0", "103 clear 2.1"]);
}
