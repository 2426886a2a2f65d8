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
        stage.hear(19.0, ToAgent::Beat { number, row: 1, hash: None });
    }
    stage.pass_until(21.0);
    stage.on(22.0, killed(run));
    assert_eq!(stage.done(), ["21 terminate 1.1", "21 thaw 1.1", "22 ended 1.1 timedout"]);
}

#[test]
fn a_folder_that_is_too_large_ends_its_run_at_once() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, run(1, 1));
    stage.done();
    stage.on(2.0, Event::FolderTooLarge(run));
    stage.on(3.0, killed(run));
    assert_eq!(stage.done(), ["2 kill 1.1", "3 ended 1.1 overlimit { what: \"disk\" }"]);
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
    stage.hear(3.5, ToAgent::SetPaused { paused: true });
    stage.on(3.6, Event::Judged(Verdict::Suspend(Reason::Paused)));
    stage.hear(3.7, ToAgent::SetPaused { paused: false });
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
    assert_eq!(stage.done(), ["12 terminate 1.1", "12 thaw 1.1", "13.5 collect 1.1 checkpoint"]);
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
