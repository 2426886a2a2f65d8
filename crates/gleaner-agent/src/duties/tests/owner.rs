//! What the owner wants, and what bounds a run.

use super::*;

#[test]
fn time_is_limited_but_suspended_time_does_not_count() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, Run { needs: Needs { time_limit_s: 10.0, ..Needs::default() }, ..run(1, 1) });
    beats(&mut stage, 1..=1);
    stage.on(4.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.on(14.0, Event::Judged(Verdict::Run));
    stage.done();
    stage.pass_until(19.0);
    assert_eq!(stage.done(), Vec::<String>::new());
    for number in 2..=4 {
        stage.hear(19.0, ToAgent::Beat { number, row: 1, hash: None, is_full: false });
    }
    stage.pass_until(21.0);
    stage.on(22.0, killed(run));
    assert_eq!(stage.done(), ["21 terminate 1.1", "21 thaw 1.1", "22 ended 1.1 timedout"]);
}

#[test]
fn what_the_owner_ends_for_its_time_says_whose_limit_that_was() {
    for (time_limit_s, ends) in [(0.0, "overlimit"), (10.0, "overlimit"), (1.0, "timedout")] {
        let mut stage = Stage::new();
        stage.on(0.0, Event::Ruled(Bounds { time_max: Some(span(2.0)), ..bounds() }));
        let run = stage.start(1.0, Run { needs: Needs { time_limit_s, ..Needs::default() }, ..run(1, 1) });
        stage.pass_until(3.5);
        stage.on(4.0, killed(run));
        let done = stage.done();
        let end = done.iter().find(|line| line.contains("ended")).expect("it is over");
        assert!(end.contains(ends), "{time_limit_s}: {end}");
        assert_eq!(end.contains("owner lets a run take (run_hours_max)"), ends == "overlimit", "{end}");
    }
}

#[test]
fn an_administrators_pause_comes_with_the_welcome_and_names_them() {
    let paused = |by: Option<&str>| {
        let mut welcome = welcome(3, Vec::new());
        let ToAgent::Welcome { paused, .. } = &mut welcome else { unreachable!() };
        *paused = by.map(str::to_owned);
        welcome
    };
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    for (by, signal) in [(Some("user boss"), "freeze"), (Some("user boss"), ""), (None, "thaw")] {
        stage.on(2.0, Event::Disconnected);
        stage.on(2.0, Event::Connected);
        stage.done();
        stage.hear(2.0, paused(by));
        let done = stage.done();
        let signals = done.iter().filter(|line| line.contains("freeze") || line.contains("thaw"));
        assert_eq!(
            signals.map(|line| line.split(' ').nth(1).unwrap_or_default()).collect::<String>(),
            signal,
            "{run:?}"
        );
        assert_eq!(stage.duties.paused_by(), by);
        let why = stage.duties.why_closed().map(std::borrow::Cow::into_owned);
        assert_eq!(why, by.map(|by| format!("paused at the coordinator by {by}")));
    }
}

/// A coordinator may be somebody else's by now, and who reads it has a terminal.
#[test]
fn what_a_coordinator_says_to_people_is_short_and_plain() {
    let hostile = format!("\x1b]0;mine\x07\x1b[2J{}", "x".repeat(1_100));
    let is_tame = |text: &str| text.len() <= 500 && !text.chars().any(char::is_control);
    let mut stage = Stage::new();
    stage.hear(1.0, ToAgent::SetPaused { paused: true, by: hostile.clone() });
    let by = stage.duties.paused_by().expect("it is paused");
    assert!(is_tame(by) && by.contains("mine"), "{by:?}");
    let mut duties = Duties::new(7, 1, None, profile());
    duties.handle(at(0.0), Event::Connected);
    duties.handle(at(0.0), Event::Received(ToAgent::Refused { why: hostile, for_good: true }));
    let told = std::iter::from_fn(|| duties.next_action()).find_map(|action| match action {
        Action::GiveUp(why) => Some(why),
        _ => None,
    });
    assert!(told.as_deref().is_some_and(is_tame), "{told:?}");
}

/// What is signed is written down before it begins, and a disk may be slow.
#[test]
fn what_was_launched_and_did_not_begin_waits_for_the_owner_again() {
    let mut stage = Stage::new();
    let (run, id) = (run(1, 1), id(1, 1));
    stage.hear(1.0, ToAgent::Run(Box::new(run)));
    stage.on(1.0, Event::Prepared(id, Ok(())));
    assert!(stage.done().contains(&"1 launch 1.1".to_owned()) && stage.duties.may_begin(at(1.5)));
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    assert!(!stage.duties.may_begin(at(2.0)));
    stage.duties.put_back(at(2.0), id);
    stage.done();
    stage.on(3.0, Event::Judged(Verdict::Run));
    assert!(stage.done().contains(&"3 launch 1.1".to_owned()));
    // Its owner may not come back for long.
    stage.on(4.0, Event::Ruled(Bounds { suspended_max: Some(span(2.0)), ..bounds() }));
    stage.on(5.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.duties.put_back(at(5.0), id);
    stage.done();
    stage.pass_until(8.0);
    assert!(stage.done().iter().any(|done| done.contains("ended 1.1 abandoned")));
}

#[test]
fn who_lets_tasks_go_on_is_told() {
    for (verdict, why) in [
        (Verdict::Suspend(Reason::Paused), "the owner resumed it"),
        (Verdict::Suspend(Reason::OwnerHere(crate::owner::Sign::ByHand)), "the owner says to be away"),
        (Verdict::Suspend(Reason::TooHot), "as measured"),
    ] {
        let mut stage = Stage::new();
        stage.on(1.0, Event::LoadChanged { load: 0.25, why: "as measured".to_owned() });
        stage.on(2.0, Event::Judged(verdict));
        stage.loads();
        stage.on(3.0, Event::Judged(Verdict::Run));
        assert_eq!(stage.loads(), [(0.25, why.to_owned())]);
    }
}

#[test]
fn a_folder_that_is_too_large_ends_its_run_at_once() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, Event::FolderTooLarge(run, Excess::Named(1 << 30)));
    stage.on(3.0, killed(run));
    let ended = "3 ended 1.1 overlimit { what: \"disk: it may take 1 gib, as its job asks (--disk)\" }";
    assert_eq!(stage.done(), ["2 kill 1.1", ended]);
}

#[test]
fn the_owner_wins_over_all_but_a_programs_grace() {
    let mut stage = Stage::new();
    let (first, second) = (stage.start(1.0, run(1, 1)), stage.start(1.0, run(2, 1)));
    stage.hear(1.5, ToAgent::Stop { run: second, cause: StopCause::Move });
    stage.done();
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.start(2.5, run(3, 1));
    stage.on(3.0, Event::Judged(Verdict::NoNewTasks(Reason::Draining)));
    assert_eq!(
        stage.done(),
        [
            "2 freeze 1.1",
            "2 load 1",
            "2 open false",
            "2.5 prepare 3.1",
            "3 thaw 1.1",
            "3 load 0",
            "3 open false",
            "3 ended 3.1 abandoned"
        ],
        "and what came too late does not start"
    );
    stage.hear(3.5, ToAgent::SetPaused { paused: true, by: "user boss".to_owned() });
    stage.on(3.6, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.hear(3.7, ToAgent::SetPaused { paused: false, by: "user boss".to_owned() });
    let done = stage.done();
    let frozen: Vec<_> =
        done.iter().filter(|line| line.contains("freeze") || line.contains("thaw")).collect();
    assert_eq!(frozen, ["3.5 freeze 1.1"], "whoever lets go first does not decide: {first:?}");
}

fn bounds() -> Bounds {
    Rules::default().bounds()
}

fn with_grace(grace_s: f64, run: Run) -> Run {
    Run { checkpoint: Checkpointing { grace_s, ..run.checkpoint.clone() }, ..run }
}

fn span(seconds: f64) -> Span {
    Span::from_seconds(seconds).expect("a span of the test")
}

#[test]
fn a_shorter_grace_is_for_what_is_ending_already_too() {
    let mut stage = Stage::new();
    stage.start(1.0, with_grace(60.0, run(1, 1)));
    stage.on(2.0, Event::Evict);
    stage.on(3.0, Event::Ruled(Bounds { grace_max: span(2.0), ..bounds() }));
    stage.done();
    stage.pass_until(4.9);
    assert_eq!(stage.done(), Vec::<String>::new());
    stage.pass_until(5.1);
    assert_eq!(stage.done(), ["5 kill 1.1"]);
}

/// A guest asked for a day, and had the machine for a day after every order to leave it.
#[test]
fn the_owner_says_how_long_a_grace_is_whoever_asks_the_run_to_end() {
    for end in [
        Event::Received(ToAgent::Stop { run: id(1, 1), cause: StopCause::Cancel }),
        Event::Received(ToAgent::Stop { run: id(1, 1), cause: StopCause::Move }),
        Event::Evict,
        Event::Leave,
    ] {
        let mut stage = Stage::new();
        stage.on(0.0, Event::Ruled(Bounds { grace_max: span(4.0), ..bounds() }));
        stage.start(1.0, with_grace(86_400.0, run(1, 1)));
        stage.done();
        let words = format!("{end:?}");
        stage.on(2.0, end);
        stage.pass_until(7.0);
        assert!(stage.done().contains(&"6 kill 1.1".to_owned()), "{words}");
    }
}

#[test]
fn who_gets_less_than_they_asked_for_is_told() {
    let bounds = Bounds { grace_max: span(4.0), time_max: Some(span(60.0)), ..bounds() };
    let long = Needs { time_limit_s: 61.0, ..Needs::default() };
    for (run, expected) in [
        (with_grace(4.0, run(1, 1)), &[][..]),
        (
            Run { needs: long, ..with_grace(5.0, run(1, 1)) },
            &[
                "the machine's owner allows 4 s of grace, not the 5 s that were asked for",
                "the machine's owner allows 60 s of running, not the 61 s that were asked for",
            ],
        ),
        (with_grace(f64::NAN, run(1, 1)), &[]),
    ] {
        assert_eq!(bounds.cuts(&run), expected);
    }
}

#[test]
fn what_comes_while_the_owner_pauses_starts_afterwards() {
    let mut stage = Stage::new();
    stage.on(1.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.hear(2.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.on(3.0, Event::Prepared(id(1, 1), Ok(())));
    stage.done();
    stage.on(4.0, Event::Judged(Verdict::Run));
    stage.on(5.0, Event::Began(id(1, 1)));
    assert_eq!(stage.done(), ["4 load 0", "4 open true", "4 launch 1.1", "5 started 1.1"]);
}

#[test]
fn what_was_suspended_for_too_long_has_to_leave() {
    let mut stage = Stage::new();
    stage.on(0.0, Event::Ruled(Bounds { suspended_max: Some(span(10.0)), ..bounds() }));
    let run = stage.start(1.0, with_checkpoint(run(1, 1)));
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.done();
    beats(&mut stage, 1..=2);
    stage.pass_until(13.0);
    stage.on(13.5, killed(run));
    assert_eq!(
        stage.done(),
        ["4 keep 1.1", "12 terminate 1.1", "12 thaw 1.1", "13.5 collect 1.1 checkpoint"]
    );
}

/// It could go to no other machine as long as the owner was there.
#[test]
fn what_could_not_begin_for_too_long_has_to_leave_too() {
    let mut stage = Stage::new();
    stage.on(0.0, Event::Ruled(Bounds { suspended_max: Some(span(10.0)), ..bounds() }));
    stage.hear(1.0, ToAgent::Run(Box::new(run(1, 1))));
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.hear(2.5, ToAgent::Run(Box::new(run(2, 1))));
    stage.on(3.0, Event::Prepared(id(1, 1), Ok(())));
    stage.done();
    beats(&mut stage, 1..=2);
    stage.pass_until(13.0);
    let ended = stage.done().into_iter().filter(|line| line.contains("ended"));
    assert_eq!(ended.collect::<Vec<_>>(), ["12 ended 1.1 abandoned", "12.5 ended 2.1 abandoned"]);
}

#[test]
fn the_owner_bounds_how_long_a_run_takes_that_names_no_limit() {
    let mut stage = Stage::new();
    stage.on(0.0, Event::Ruled(Bounds { time_max: Some(span(10.0)), ..bounds() }));
    stage.start(1.0, run(1, 1));
    stage.done();
    stage.pass_until(12.0);
    assert_eq!(stage.done(), ["11 terminate 1.1", "11 thaw 1.1"]);
}

fn order(stage: &mut Stage, seconds: f64, run: Run) {
    let id = run.id;
    stage.hear(seconds, ToAgent::Run(Box::new(run)));
    stage.on(seconds, Event::Prepared(id, Ok(())));
}

#[test]
fn no_more_runs_than_the_owner_has_room_for() {
    let mut stage = Stage::new();
    let memory = |bytes, run| Run { needs: Needs { memory: bytes, ..Needs::default() }, ..run };
    stage.on(0.0, Event::Measured(Profile { memory: 10, ..profile() }));
    stage.start(1.0, memory(4, run(1, 1)));
    stage.done();
    order(&mut stage, 2.0, memory(7, run(2, 1)));
    order(&mut stage, 3.0, memory(6, run(3, 1)));
    order(&mut stage, 4.0, run(4, 1));
    let wide = Run { needs: Needs { cores: u32::MAX, ..Needs::default() }, ..run(5, 1) };
    order(&mut stage, 5.0, wide);
    stage.done();
    let order_and_hear = |stage: &mut Stage, seconds: f64, run: Run| {
        order(stage, seconds, run);
        stage.done().into_iter().filter(|line| !line.contains("clear")).collect::<Vec<_>>().join(", ")
    };
    let begun: Vec<usize> = stage.duties.alive().map(|(run, _)| run.task.index()).collect();
    assert_eq!(begun, [1, 3], "what came while there was room");
    stage.on(6.0, Event::Began(id(3, 1)));
    stage.hear(6.0, ToAgent::Stop { run: id(1, 1), cause: StopCause::Cancel });
    stage.done();
    assert_eq!(order_and_hear(&mut stage, 7.0, run(6, 1)), "7 prepare 6.1", "the first is ending");
    assert_eq!(order_and_hear(&mut stage, 7.5, run(7, 1)), "7.5 ended 7.1 abandoned", "and has room for one");
    stage.answer(7.9);
    stage.on(8.0, killed(id(1, 1)));
    assert_eq!(stage.done(), ["8 launch 6.1", "8 ended 1.1 stopped"]);
}

#[test]
fn no_more_disk_than_others_leave() {
    let mut stage = Stage::new();
    let disk = |bytes, run| Run { needs: Needs { disk: bytes, ..Needs::default() }, ..run };
    stage.on(0.0, Event::Measured(Profile { disk: Some(10), ..profile() }));
    stage.start(1.0, disk(4, run(1, 1)));
    for (task, bytes) in [(2, 7), (3, 6)] {
        order(&mut stage, 2.0, disk(bytes, run(task, 1)));
    }
    let begun: Vec<usize> = stage.duties.alive().map(|(run, _)| run.task.index()).collect();
    assert_eq!(begun, [1, 3]);
}

#[test]
fn what_was_sent_ahead_begins_only_where_there_is_room() {
    let mut stage = Stage::new();
    let first = stage.start(1.0, run(1, 1));
    for task in 2..=5 {
        order(&mut stage, 2.0, Run { after: Some(first), ..run(task, 1) });
    }
    stage.done();
    stage.on(3.0, exited(first, 0));
    assert_eq!(
        stage.done(),
        [
            "3 launch 2.1",
            "3 launch 3.1",
            "3 ended 1.1 exited 0",
            "3 ended 4.1 abandoned",
            "3 ended 5.1 abandoned"
        ]
    );
    stage.on(4.0, Event::Measured(Profile { slots: 1, ..profile() }));
    stage.done();
    stage.on(5.0, exited(id(2, 1), 0));
    order(&mut stage, 5.5, run(6, 1));
    assert_eq!(
        stage.done(),
        ["5 ended 2.1 exited 0", "5.5 ended 6.1 abandoned", "5.5 clear 6.1"],
        "the owner gave less"
    );
}

#[test]
fn the_machine_is_measured_when_nobody_needs_it_and_seldom() {
    let mut stage = Stage::new();
    stage.on(1.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.done();
    for _ in 0..300 {
        stage.hear(2.0, ToAgent::Measure);
    }
    assert_eq!(stage.done(), Vec::<String>::new());
    stage.on(3.0, Event::Judged(Verdict::NoNewTasks(Reason::LoadTooHigh)));
    stage.on(4.0, Event::Judged(Verdict::Run));
    stage.hear(5.0, ToAgent::Measure);
    let measured = |stage: &mut Stage| {
        stage.done().into_iter().filter(|line| line.ends_with("measure")).collect::<Vec<_>>()
    };
    assert_eq!(measured(&mut stage), ["4 measure"]);
    stage.pass_until(603.0);
    assert_eq!(measured(&mut stage), Vec::<String>::new());
    stage.pass_until(605.0);
    assert_eq!(measured(&mut stage), ["604 measure"]);
}

#[test]
fn files_of_guests_stay_where_they_are_while_the_owner_says_so() {
    let mut stage = Stage::new();
    let with_files = |task| Run { outputs: vec!["out".into()], ..run(task, 1) };
    stage.start(1.0, with_files(1));
    let going = stage.start(1.0, with_checkpoint(with_files(2)));
    stage.hear(1.5, ToAgent::Stop { run: going, cause: StopCause::Move });
    stage.done();
    stage.on(2.0, Event::Judged(Verdict::Suspend(Reason::Paused)));
    assert!(stage.duties.brings_nothing() && stage.duties.stores_nothing());
    stage.on(3.0, exited(id(1, 1), 0));
    stage.on(3.0, killed(going));
    stage.on(
        3.5,
        Event::Collected(going, Ok(Collected { checkpoint: Some(stored()), ..Collected::default() })),
    );
    stage.hear(3.6, ToAgent::Run(Box::new(run(3, 1))));
    stage.on(3.7, Event::Prepared(id(3, 1), Err(TransferError::Later("the owner".into()))));
    stage.done();
    beats(&mut stage, 2..=20);
    assert_eq!(
        stage.done().iter().filter(|line| line.contains("prepare") || line.contains("collect")).count(),
        0
    );
    stage.on(99.0, Event::Judged(Verdict::NoNewTasks(Reason::LoadTooHigh)));
    let done = stage.done();
    assert!(done.contains(&"99 collect 1.1 files".to_owned()), "{done:?}");
    assert!(done.contains(&"99 prepare 3.1".to_owned()), "{done:?}");
    stage.on(100.0, Event::Judged(Verdict::Suspend(Reason::OwnerHere(crate::owner::Sign::Session))));
    assert!(
        stage.duties.brings_nothing() && !stage.duties.stores_nothing(),
        "results go while the owner works"
    );
}

/// It goes on elsewhere, from what it kept; also if the coordinator hears of it later.
#[test]
fn what_the_rules_forbid_leaves_within_its_grace_with_or_without_a_coordinator() {
    for is_away in [false, true] {
        let mut stage = Stage::new();
        let [ends, stays] = [1, 2].map(|task| stage.start(1.0, with_grace(3.0, run(task, 1))));
        stage.on(1.5, Event::Judged(Verdict::Suspend(Reason::Paused)));
        if is_away {
            stage.on(1.6, Event::Disconnected);
        }
        stage.done();
        assert_eq!(stage.duties.going().map(|run| run.id).collect::<Vec<_>>(), [ends, stays]);
        stage.on(2.0, Event::Forbidden(ends));
        assert_eq!(stage.duties.going().map(|run| run.id).collect::<Vec<_>>(), [stays]);
        stage.pass_until(6.0);
        assert_eq!(stage.done(), ["2 terminate 1.1", "2 thaw 1.1", "5 kill 1.1"], "{is_away}");
    }
}
