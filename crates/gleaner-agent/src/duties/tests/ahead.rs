//! Runs that are ordered before there is room for them.

use super::*;

/// The second of two tasks, to begin when the first is over.
fn ahead() -> Run {
    Run { after: Some(id(1, 1)), ..run(2, 1) }
}

/// At 1 s the first runs; at 2 s the second is ready.
fn with_one_ahead() -> Stage {
    let mut stage = Stage::new();
    stage.start(1.0, run(1, 1));
    stage.done();
    stage.hear(2.0, ToAgent::Run(Box::new(ahead())));
    stage.on(2.0, Event::Prepared(id(2, 1), Ok(())));
    assert_eq!(stage.done(), ["2 prepare 2.1"]);
    stage
}

#[test]
fn what_is_ahead_is_made_ready_and_begins_when_the_run_before_it_is_over() {
    let mut stage = with_one_ahead();
    stage.on(3.0, exited(id(1, 1), 0));
    assert_eq!(stage.done(), ["3 launch 2.1", "3 ended 1.1 exited 0"]);
}

/// It may have been cancelled meanwhile, and that acknowledged: what was said until now is read first.
#[test]
fn nothing_begins_while_the_coordinator_is_not_heard() {
    let cancel = || ToAgent::Stop { run: id(2, 1), cause: StopCause::Cancel };

    let mut stage = with_one_ahead();
    stage.on(3.0, Event::Disconnected);
    stage.on(4.0, exited(id(1, 1), 0));
    assert_eq!(stage.done(), Vec::<String>::new());
    stage.on(5.0, Event::Connected);
    stage.welcome(5.0, 3);
    stage.hear(5.0, ToAgent::Yours { runs: vec![id(1, 1), id(2, 1)] });
    stage.hear(5.0, cancel());
    stage.answer(5.0);
    assert_eq!(stage.done(), ["5 load 0", "5 open true", "5 ended 1.1 exited 0", "5 ended 2.1 stopped"]);

    // It was stopped itself, and hears first that the run is over.
    let mut stage = with_one_ahead();
    stage.on(4.0, Event::StoodStill);
    stage.on(4.0, exited(id(1, 1), 0));
    stage.hear(4.0, cancel());
    stage.answer(4.0);
    assert_eq!(stage.done(), ["4 ended 1.1 exited 0", "4 ended 2.1 stopped"]);

    // Nothing was said meanwhile.
    let mut stage = with_one_ahead();
    stage.on(4.0, Event::StoodStill);
    stage.on(4.0, exited(id(1, 1), 0));
    assert_eq!(stage.done(), ["4 ended 1.1 exited 0"]);
    stage.answer(4.0);
    assert_eq!(stage.done(), ["4 launch 2.1"]);

    // The network is cut, and nobody knows yet.
    let mut stage = with_one_ahead();
    stage.pass_until(5.0);
    stage.on(7.0, exited(id(1, 1), 0));
    assert_eq!(stage.done(), ["7 ended 1.1 exited 0"]);
}

#[test]
fn it_waits_until_the_room_before_it_is_given_up() {
    let mut stage = Stage::new();
    let first = stage.start(1.0, Run { outputs: vec!["*".to_owned()], ..run(1, 1) });
    stage.hear(2.0, ToAgent::Run(Box::new(ahead())));
    stage.on(2.0, Event::Prepared(id(2, 1), Ok(())));
    stage.done();
    stage.on(3.0, exited(first, 0));
    assert_eq!(stage.done(), ["3 collect 1.1 files"]);
    stage.on(4.0, Event::Collected(first, Ok(Collected { files: Some(stored()), ..Collected::default() })));
    assert_eq!(stage.done(), ["4 launch 2.1", "4 ended 1.1 exited 0"]);
}

#[test]
fn what_is_taken_back_does_not_begin() {
    let mut stage = with_one_ahead();
    stage.hear(3.0, ToAgent::Stop { run: id(2, 1), cause: StopCause::TakeBack });
    stage.on(4.0, exited(id(1, 1), 0));
    assert_eq!(stage.done(), ["3 ended 2.1 stopped", "4 ended 1.1 exited 0"]);
}

#[test]
fn it_does_not_begin_while_the_owner_wants_the_machine() {
    let mut stage = with_one_ahead();
    stage.on(3.0, Event::Judged(Verdict::Suspend(Reason::TooHot)));
    stage.on(4.0, exited(id(1, 1), 0));
    assert!(!stage.done().iter().any(|line| line.contains("launch")));
    stage.on(5.0, Event::Judged(Verdict::Run));
    assert!(stage.done().contains(&"5 launch 2.1".to_owned()));
}

#[test]
fn what_follows_a_run_that_is_not_here_begins_at_once() {
    let mut stage = Stage::new();
    stage.hear(2.0, ToAgent::Run(Box::new(ahead())));
    stage.on(2.5, Event::Prepared(id(2, 1), Ok(())));
    assert_eq!(stage.done(), ["2 prepare 2.1", "2.5 launch 2.1"]);
}

#[test]
fn what_has_begun_is_not_given_back_and_what_is_not_here_is_answered_for() {
    let mut stage = with_one_ahead();
    let take_back = |number| ToAgent::Stop { run: id(number, 1), cause: StopCause::TakeBack };
    stage.on(3.0, exited(id(1, 1), 0));
    stage.done();
    // It was launched; whether its program runs is not known yet.
    stage.hear(3.5, take_back(2));
    stage.on(4.0, Event::Began(id(2, 1)));
    stage.hear(4.5, take_back(2));
    stage.on(5.0, exited(id(2, 1), 0));
    assert_eq!(stage.done(), ["4 started 2.1", "5 ended 2.1 exited 0"]);
    stage.hear(5.5, take_back(3));
    assert_eq!(stage.done(), ["5.5 ended 3.1 abandoned"]);
}

#[test]
fn it_is_given_back_where_nothing_new_is_to_begin() {
    let no_disk = || Event::OutputLost(id(1, 1), "no space left".into());
    for (event, said) in [
        (Event::Judged(Verdict::NoNewTasks(Reason::DiskFull)), "its disk is full"),
        (Event::Received(ToAgent::SetOpen { open: false }), "closed at the coordinator"),
        (no_disk(), "does not keep what is written"),
    ] {
        let mut stage = with_one_ahead();
        stage.on(3.0, event);
        stage.on(4.0, exited(id(1, 1), 0));
        let told = stage.done();
        assert!(told.contains(&"4 ended 2.1 abandoned".to_owned()), "{said}: {told:?}");
        assert!(!told.iter().any(|line| line.contains("launch")), "{said}: {told:?}");
        assert!(stage.duties.why_closed().is_some_and(|why| why.contains(said)), "{said}");
    }
}
