//! How runs go, end, and are told of.

use super::*;

#[test]
fn a_run_goes_its_way_and_is_forgotten_when_settled() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.on(2.0, exited(run, 0));
    stage.hear(3.0, ToAgent::Settled { run, accepted: true });
    assert_eq!(
        stage.done(),
        ["1 prepare 1.1", "1 launch 1.1", "1 started 1.1", "2 ended 1.1 exited 0", "3 clear 1.1"]
    );
    assert_eq!(stage.duties.runs().count(), 0);
}

#[test]
fn a_heartbeat_tells_whose_files_are_on_their_way() {
    let mut stage = Stage::new();
    let sent = Run { outputs: vec!["result".into()], ..run(1, 1) };
    let beat = |number: u32| f64::from(number) * HEARTBEAT_S;
    stage.hear(1.0, ToAgent::Run(Box::new(sent.clone())));
    stage.pass_until(beat(1));
    stage.hear(beat(1), ToAgent::Beat { number: 2, row: 1, hash: None, is_full: false });
    stage.on(beat(1), Event::Prepared(sent.id, Ok(())));
    stage.on(beat(1), Event::Began(sent.id));
    stage.pass_until(beat(2));
    stage.hear(beat(2), ToAgent::Beat { number: 3, row: 1, hash: None, is_full: false });
    stage.on(beat(2), exited(sent.id, 0));
    stage.pass_until(beat(3));
    let told: Vec<String> = stage.done().into_iter().filter(|line| line.contains("staging")).collect();
    assert_eq!(told, [format!("{} staging 1.1 in", beat(1)), format!("{} staging 1.1 out", beat(3))]);
}

#[test]
fn nothing_is_run_twice() {
    let mut stage = Stage::new();
    let first = stage.start(1.0, run(1, 2));
    stage.done();
    for stale in [1, 2] {
        stage.hear(2.0, ToAgent::Run(Box::new(run(1, stale))));
    }
    stage.on(3.0, exited(first, 0));
    stage.hear(4.0, ToAgent::Run(Box::new(run(1, 2))));
    stage.hear(5.0, ToAgent::Settled { run: first, accepted: true });
    stage.hear(6.0, ToAgent::Run(Box::new(run(1, 2))));
    // What it does not carry out it answers.
    assert_eq!(
        stage.done(),
        ["2 ended 1.1 abandoned", "3 ended 1.2 exited 0", "5 clear 1.2", "6 ended 1.2 abandoned"]
    );
}

#[test]
fn a_newer_run_waits_until_the_older_is_gone() {
    let mut stage = Stage::new();
    let older = stage.start(1.0, run(1, 1));
    stage.done();
    stage.hear(2.0, ToAgent::Run(Box::new(run(1, 2))));
    stage.on(3.0, killed(older));
    assert_eq!(stage.done(), ["2 kill 1.1", "3 clear 1.1", "3 prepare 1.2"]);
}

#[test]
fn a_stop_gives_grace_and_its_checkpoint_is_stored_before_the_end_is_told() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.done();
    stage.hear(2.0, ToAgent::Stop { run, cause: StopCause::Move });
    stage.hear(3.0, ToAgent::Stop { run, cause: StopCause::Move });
    stage.pass_until(5.0);
    stage.on(5.5, killed(run));
    let collected = Collected { checkpoint: Some(stored()), ..Collected::default() };
    stage.on(6.0, Event::Collected(run, Ok(collected)));
    assert_eq!(
        stage.done(),
        [
            "2 terminate 1.1",
            "2 thaw 1.1",
            "4 keep 1.1",
            "5 kill 1.1",
            "5.5 collect 1.1 checkpoint",
            "6 ended 1.1 stopped +checkpoint"
        ]
    );
}

#[test]
fn a_checkpoint_that_cannot_be_stored_is_not_reported() {
    let failed = || TransferError::Failed("the disk is full".into());
    let large = || TransferError::TooLarge("17 GiB".into());
    for (error, expected) in [
        (failed(), "4 ended 1.1 abandoned"),
        (
            large(),
            "4 ended 1.1 overlimit { what: \"checkpoint: 17 gib; the one before it stays, if there is one; \
             the task must keep less in gleaner_checkpoint\" }",
        ),
        (
            TransferError::Refused("it is not its own".into()),
            "4 ended 1.1 overlimit { what: \"refused: checkpoint: it is not its own\" }",
        ),
    ] {
        let mut stage = Stage::new();
        let run = stage.start(1.0, with_checkpoint(run(1, 1)));
        stage.hear(2.0, ToAgent::Stop { run, cause: StopCause::Hold });
        stage.on(3.0, killed(run));
        stage.done();
        stage.on(4.0, Event::Collected(run, Err(error)));
        stage.pass_until(5.9);
        assert_eq!(stage.done(), [expected]);
    }
}

#[test]
fn what_cannot_be_stored_now_is_kept_and_tried_again_with_growing_rests() {
    let mut stage = Stage::new();
    let run = stage.start(0.0, Run { outputs: vec!["*".into()], ..run(1, 1) });
    stage.on(0.0, exited(run, 0));
    stage.done();
    let mut at_s = 0.0;
    for times in 1..=12_u32 {
        stage.on(at_s, Event::Collected(run, Err(TransferError::Later("its disk is full".into()))));
        assert_eq!(stage.done(), Vec::<String>::new(), "it rests");
        let due = stage.duties.runs[&run].due(stage.duties.bounds).expect("it is tried again").seconds();
        let average = f64::from(1 << (times - 1).min(10)).min(60.0);
        assert!((average / 2.0..average * 1.5).contains(&(due - at_s)), "{times}: {}", due - at_s);
        at_s = due;
        // The lease is long over: what has ended does not need it.
        stage.connect(at_s);
        stage.on(at_s, Event::Tick);
        let collects = stage.done().iter().filter(|line| line.ends_with("collect 1.1 files")).count();
        assert_eq!(collects, 1);
    }
    stage.on(at_s, Event::Collected(run, Ok(Collected { files: Some(stored()), ..Collected::default() })));
    assert_eq!(stage.done(), [format!("{at_s} ended 1.1 exited 0")]);
}

#[test]
fn what_waits_to_be_stored_is_left_when_it_is_cancelled() {
    for is_under_way in [false, true] {
        let mut stage = Stage::new();
        let run = stage.start(0.0, Run { outputs: vec!["*".into()], ..run(1, 1) });
        stage.on(0.0, exited(run, 0));
        let later = || Event::Collected(id(1, 1), Err(TransferError::Later("it is busy".into())));
        let cancel = ToAgent::Stop { run, cause: StopCause::Cancel };
        if is_under_way {
            stage.hear(1.0, cancel);
            stage.done();
            stage.on(1.0, later());
        } else {
            stage.on(1.0, later());
            stage.done();
            stage.hear(1.0, cancel);
        }
        assert_eq!(stage.done(), ["1 ended 1.1 stopped"]);
    }
}

/// That a machine's disk is full is no fault of the task.
#[test]
fn what_cannot_be_brought_is_the_tasks_fault_or_the_machines() {
    for (error, expected) in [
        (TransferError::NoRoom("its disk is nearly full".into()), "not started here"),
        (TransferError::Failed("it is not stored there".into()), "not started"),
    ] {
        let mut stage = Stage::new();
        stage.hear(1.0, ToAgent::Run(Box::new(run(1, 1))));
        stage.done();
        stage.on(2.0, Event::Prepared(id(1, 1), Err(error)));
        assert_eq!(stage.done(), [format!("2 ended 1.1 {expected}")]);
    }
}

#[test]
fn what_cannot_be_fetched_now_is_tried_again() {
    let mut stage = Stage::new();
    let run = run(1, 1);
    stage.hear(1.0, ToAgent::Run(Box::new(run)));
    let later = || Err(TransferError::Later("too much goes on".into()));
    stage.on(1.0, Event::Prepared(id(1, 1), later()));
    assert_eq!(stage.done(), ["1 prepare 1.1"]);
    stage.pass_until(2.5);
    assert!(stage.done()[0].ends_with("prepare 1.1"));
    stage.on(3.0, Event::Prepared(id(1, 1), later()));
    stage.on(3.1, Event::Disconnected);
    stage.pass_until(9.0);
    assert_eq!(stage.done(), Vec::<String>::new(), "not without a connection");
    stage.connect(9.0);
    assert_eq!(stage.done().last().map(String::as_str), Some("9 prepare 1.1"));
}

#[test]
fn a_run_whose_output_was_lost_does_not_count_and_the_machine_closes_until_its_disk_works() {
    let lost = || Event::OutputLost(id(1, 1), "no space left".into());
    let mut stage = Stage::new();
    let first = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, lost());
    stage.on(3.0, exited(first, 0));
    stage.on(4.0, Event::DiskWorks);
    assert_eq!(stage.done(), ["2 open false", "2 kill 1.1", "3 ended 1.1 abandoned", "4 open true"]);
    // What was kept cannot be read again.
    let mut stage = Stage::new();
    let first = stage.start(1.0, Run { outputs: vec!["*".into()], ..run(1, 1) });
    let wrote = Event::Wrote { run: first, stream: Stream::Stdout, written: 70, dropped: 0 };
    stage.on(1.0, wrote);
    stage.on(1.0, exited(first, 0));
    stage.done();
    stage.on(1.1, lost());
    assert_eq!(stage.done(), ["1.1 open false", "1.1 ended 1.1 abandoned"]);
}

/// Descriptors and processes come back when others end.
#[test]
fn a_run_that_its_machine_had_nothing_left_for_does_not_count_and_the_machine_closes_for_a_while() {
    let mut stage = Stage::new();
    stage.hear(1.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.on(1.0, Event::Prepared(id(1, 1), Ok(())));
    stage.done();
    let lacking = Exit::Lacking("too many open files".into());
    stage.on(2.0, Event::Exited(id(1, 1), lacking, Usage::default()));
    assert_eq!(stage.done(), ["2 open false", "2 ended 1.1 abandoned"]);
    assert_eq!(stage.duties.due(true), Some(at(5.0)), "the next heartbeat");
    beats(&mut stage, 2..=6);
    assert!(!stage.done().iter().any(|line| line.contains("open")));
    stage.pass_until(32.0);
    assert_eq!(stage.done(), ["32 open true"]);
}

#[test]
fn a_machine_that_had_no_memory_left_for_a_run_closes_for_as_long_as_that_ran_and_half_a_minute_at_most() {
    let mut stage = Stage::new();
    let long = stage.start(1.0, run(1, 1));
    beats(&mut stage, 2..=13);
    stage.done();
    stage.on(61.0, Event::Exited(long, Exit::MemoryGone, Usage::default()));
    assert_eq!(stage.done(), ["61 open false", "61 ended 1.1 abandoned"]);
    beats(&mut stage, 14..=18);
    stage.pass_until(91.0);
    assert_eq!(stage.done().last().map(String::as_str), Some("91 open true"));

    let mut stage = Stage::new();
    let [first, second] = [run(1, 1), run(2, 1)].map(|run| stage.start(1.0, run));
    stage.done();
    stage.on(4.0, Event::Exited(first, Exit::MemoryGone, Usage::default()));
    assert_eq!(stage.done(), ["4 open false", "4 ended 1.1 abandoned"]);
    stage.on(4.5, Event::Exited(second, Exit::MemoryGone, Usage::default()));
    assert_eq!(stage.done(), ["4.5 open false", "4.5 ended 2.1 abandoned"]);
    beats(&mut stage, 2..=2);
    stage.pass_until(7.0);
    assert!(!stage.done().iter().any(|line| line.contains("open")));
    stage.pass_until(8.0);
    assert_eq!(stage.done().last().map(String::as_str), Some("8 open true"));
}

/// What a program finds no room for is lost, whatever it says at its end.
#[test]
fn a_run_that_had_a_full_disk_does_not_count_where_that_may_have_made_it_so() {
    let sampled = |free| Event::Sampled(Sample { free_disk: Some(free), ..Sample::default() });
    let outputs = |outputs: &[&str]| outputs.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (names, code, free, expected) in [
        (&["out"][..], 0, 200_000, "3 ended 1.1 abandoned"),
        (&[], 0, 200_000, "3 ended 1.1 exited 0"),
        (&[], 5, 200_000, "3 ended 1.1 abandoned"),
        (&[], 5, DISK_FREE_MIN, "3 ended 1.1 exited 5"),
    ] {
        let mut stage = Stage::new();
        let run = stage.start(1.0, Run { outputs: outputs(names), ..run(1, 1) });
        stage.done();
        stage.on(2.0, sampled(free));
        stage.on(2.5, sampled(u64::MAX));
        stage.on(3.0, exited(run, code));
        assert_eq!(stage.done(), [expected], "{names:?} {code} {free}");
        assert_eq!(stage.duties.has_ended_well(run), expected.ends_with("exited 0"));
    }
    let mut stage = Stage::new();
    stage.on(0.0, sampled(200_000));
    stage.on(0.5, sampled(u64::MAX));
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(3.0, exited(run, 5));
    assert_eq!(stage.done(), ["3 ended 1.1 exited 5"], "it was full before");
}

/// A heartbeat is asked for once half of what may be is on its way, and its answer makes room for more.
#[test]
fn output_waits_while_the_coordinator_has_not_read_what_came_before() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    let beat = stage.beat;
    stage.on(2.0, Event::Wrote { run, stream: Stream::Stdout, written: 600_000, dropped: 0 });
    let pieces = |from: u64, to: u64| -> Vec<String> {
        (from..to).map(|piece| format!("2 output 1.1 Stdout {}+65536", 65_536 * piece)).collect()
    };
    assert_eq!(stage.done(), pieces(0, 4), "and no more");
    assert_eq!(stage.duties.due(true), Some(at(2.0)), "to ask how far the coordinator is");
    stage.on(2.0, Event::Tick);
    assert_eq!((stage.beat, stage.done()), (beat + 1, pieces(4, 4)));
    assert_eq!(stage.duties.due(true), Some(at(7.0)), "nobody is woken for what cannot go");
    stage.on(2.0, Event::Tick);
    assert_eq!(stage.beat, beat + 1, "once");
    stage.answer(2.0);
    assert_eq!(stage.done(), pieces(4, 9), "more than before, since the answer came at once");
    stage.on(2.0, Event::Disconnected);
    stage.done();
    stage.connect(2.0);
    let greeting = ["2 load 0", "2 open true", "2 started 1.1"].map(str::to_owned);
    let again = [greeting.to_vec(), pieces(4, 8)].concat();
    assert_eq!(stage.done(), again, "what was not known to have arrived");
}

/// Ends go all the same, but for those of which much is left to send; a run that is cancelled leaves it.
#[test]
fn output_waits_while_the_coordinator_has_no_room_for_it() {
    let mut stage = Stage::new();
    let [long, short] = [1, 2].map(|task| stage.start(1.0, run(task, 1)));
    let wrote = |run, written| Event::Wrote { run, stream: Stream::Stdout, written, dropped: 0 };
    let room = |stage: &mut Stage, seconds, is_full| {
        stage.hear(seconds, ToAgent::Beat { number: stage.beat, row: 1, hash: None, is_full });
    };
    room(&mut stage, 1.0, true);
    stage.done();
    for (run, written) in [(long, 200_000), (short, 4_096)] {
        stage.on(1.5, wrote(run, written));
    }
    assert_eq!(stage.duties.due(true), Some(at(5.0)), "the next heartbeat");
    stage.on(2.0, Event::Tick);
    assert_eq!(stage.done(), [""; 0], "programs that run");
    for run in [long, short] {
        stage.on(2.0, exited(run, 0));
    }
    assert_eq!(stage.done(), ["2 ended 2.1 exited 0 tail 0+4096"]);
    stage.hear(2.0, ToAgent::Settled { run: short, accepted: true });
    let unwanted = stage.start(3.0, run(3, 1));
    stage.on(3.5, wrote(unwanted, 5_000));
    stage.on(4.0, exited(unwanted, 0));
    stage.done();
    stage.on(5.0, Event::Tick);
    assert_eq!(stage.done(), ["5 staging 1.1 out, 3.1 out", "5 keep 1.1"]);
    stage.hear(5.5, ToAgent::Stop { run: unwanted, cause: StopCause::Cancel });
    assert_eq!(stage.done(), ["5.5 ended 3.1 exited 0 dropped 5000"]);

    // Over the next connection likewise, until there is room.
    stage.on(6.0, Event::Disconnected);
    stage.on(6.0, Event::Connected);
    let mut again = welcome(3, Vec::new());
    if let ToAgent::Welcome { is_full, .. } = &mut again {
        *is_full = true;
    }
    stage.hear(6.0, again);
    let said = stage.done();
    assert!(!said.iter().any(|line| line.contains("output") || line.contains("ended 1.1")), "{said:?}");
    room(&mut stage, 6.5, false);
    let pieces = [(0, 65_536), (65_536, 65_536), (131_072, 65_536)]
        .map(|(from, length)| format!("6.5 output 1.1 Stdout {from}+{length}"));
    let end = "6.5 ended 1.1 exited 0 tail 196608+3392".to_owned();
    assert_eq!(stage.done(), [&pieces[..], &[end]].concat());
}

#[test]
fn output_goes_before_the_end_and_again_after_a_reconnection() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    let wrote = |written| Event::Wrote { run: id(1, 1), stream: Stream::Stdout, written, dropped: 0 };
    stage.done();
    stage.on(2.0, wrote(70_000));
    stage.pass_until(3.0);
    assert_eq!(stage.done(), ["2 output 1.1 Stdout 0+65536", "2.1 output 1.1 Stdout 65536+4464"]);
    stage.pass_until(5.0);
    stage.hear(5.1, ToAgent::Beat { number: 2, row: 1, hash: None, is_full: false });
    stage.on(6.0, wrote(70_010));
    stage.pass_until(6.2);
    stage.on(7.0, Event::Disconnected);
    stage.on(7.1, wrote(70_020));
    stage.on(7.2, exited(run, 0));
    stage.done();
    stage.connect(8.0);
    assert_eq!(stage.done(), ["8 load 0", "8 open true", "8 ended 1.1 exited 0 tail 70000+20"]);
}

#[test]
fn who_leaves_stops_reports_and_then_quits() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.done();
    stage.on(2.0, Event::Leave);
    stage.on(3.0, exited(run, 7));
    stage
        .on(4.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), ..Collected::default() })));
    stage.hear(5.0, ToAgent::Settled { run, accepted: true });
    assert_eq!(
        stage.done(),
        [
            "2 open false",
            "2 terminate 1.1",
            "2 thaw 1.1",
            "3 collect 1.1 checkpoint",
            "4 ended 1.1 abandoned +checkpoint",
            "5 clear 1.1",
            "5 quit"
        ]
    );
}

/// A coordinator that was started again does not know who sent which file.
#[test]
fn what_a_run_left_is_stored_again_when_asked_for() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.hear(1.5, ToAgent::StoreAgain { run });
    stage.hear(2.0, ToAgent::Stop { run, cause: StopCause::Move });
    stage.on(3.0, exited(run, 7));
    stage
        .on(4.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), ..Collected::default() })));
    stage.done();
    stage.hear(5.0, ToAgent::StoreAgain { run });
    stage
        .on(6.0, Event::Collected(run, Ok(Collected { checkpoint: Some(stored()), ..Collected::default() })));
    stage.hear(7.0, ToAgent::Settled { run, accepted: true });
    stage.hear(8.0, ToAgent::StoreAgain { run });
    assert_eq!(
        stage.done(),
        [
            "5 staging 1.1 out",
            "5 collect 1.1 checkpoint",
            "6 keep 1.1",
            "6 ended 1.1 stopped +checkpoint",
            "7 clear 1.1"
        ]
    );
}

#[test]
fn who_leaves_does_not_wait_for_ever() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, Event::Leave);
    stage.on(2.5, Event::LeaveAtOnce);
    stage.on(2.6, killed(run));
    let expected =
        ["2 open false", "2 terminate 1.1", "2 thaw 1.1", "2.5 kill 1.1", "2.6 keep 1.1", "2.6 quit"];
    assert_eq!(stage.done()[..6], expected, "what came of it, the next agent here says");
}
