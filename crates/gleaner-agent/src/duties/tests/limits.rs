//! How runs end that reach a limit of time, and what is kept of them.

use super::*;

/// What is said of a run that is over.
fn notes(stage: &Stage, run: RunId) -> &[String] {
    let stage = &stage.duties.runs[&run].stage;
    let held::Stage::Over { end, .. } = stage else { panic!("{stage:?}") };
    &end.notes
}

/// A second for a program that keeps a checkpoint.
fn limited(run: Run) -> Run {
    with_checkpoint(Run { needs: Needs { time_limit_s: 1.0, ..Needs::default() }, ..run })
}

/// Else it would be tried for ever.
#[test]
fn a_run_at_its_limit_counts_though_its_checkpoint_cannot_be_stored() {
    for (outputs, stored_next) in [(vec![], false), (vec!["out".to_owned()], true)] {
        let mut stage = Stage::new();
        let run = stage.start(1.0, limited(Run { outputs, ..run(1, 1) }));
        stage.pass_until(2.0);
        stage.on(2.5, killed(run));
        stage.done();
        stage.on(3.0, Event::Collected(run, Err(TransferError::TooLarge("17 GiB".into()))));
        if stored_next {
            assert_eq!(stage.done(), ["3 collect 1.1 files"]);
            stage.on(3.5, Event::Collected(run, Ok(Collected::default())));
        }
        let at = if stored_next { "3.5" } else { "3" };
        assert_eq!(stage.done(), [format!("{at} ended 1.1 timedout")]);
        assert_eq!(notes(&stage, run), ["its checkpoint was not kept: 17 GiB"]);
    }
}

#[test]
fn what_fails_at_its_limit_keeps_no_checkpoint_unless_it_is_held_meanwhile() {
    for (fails_at_limit, is_held, ends) in [
        (false, false, "2.5 collect 1.1 checkpoint"),
        (true, false, "2.5 ended 1.1 timedout"),
        (true, true, "2.5 collect 1.1 checkpoint"),
    ] {
        let mut stage = Stage::new();
        let run = stage.start(1.0, limited(Run { fails_at_limit, ..run(1, 1) }));
        stage.pass_until(2.0);
        if is_held {
            stage.hear(2.2, ToAgent::Stop { run, cause: StopCause::Hold });
        }
        stage.done();
        stage.on(2.5, killed(run));
        assert_eq!(stage.done(), [ends], "{fails_at_limit} {is_held}");
        if is_held {
            let stored = Collected { checkpoint: Some(stored()), ..Collected::default() };
            stage.on(3.0, Event::Collected(run, Ok(stored)));
            assert_eq!(stage.done(), ["3 ended 1.1 stopped +checkpoint"]);
        }
    }
}

#[test]
fn why_a_checkpoint_was_not_kept_is_told_though_its_agent_ends_meanwhile() {
    let mut stage = Stage::new();
    let run = stage.start(1.0, limited(Run { outputs: vec!["out".into()], ..run(1, 1) }));
    stage.pass_until(2.0);
    stage.on(2.5, killed(run));
    stage.on(3.0, Event::Collected(run, Err(TransferError::TooLarge("17 GiB".into()))));
    stage.pass_until(6.0);
    let written = serde_json::to_string(&stage.kept).expect("plain data");

    let mut next = Stage::of(Duties::new(7, 2, None, profile()));
    next.duties.take_up(at(100.0), serde_json::from_str(&written).expect("it was just written"));
    next.connect(101.0);
    next.on(102.0, Event::Collected(run, Ok(Collected { files: Some(stored()), ..Collected::default() })));
    assert_eq!(notes(&next, run), ["its checkpoint was not kept: 17 GiB"]);
}

/// What it goes on from is stored, or is not wanted.
#[test]
fn a_run_at_its_limit_counts_though_its_files_cannot_be_stored() {
    let failed = || TransferError::Failed("a file in it is gone".into());
    let checkpoint = Some(stored());
    for (fails_at_limit, result, end) in [
        (true, Err(failed()), "3 ended 1.1 timedout"),
        (
            false,
            Ok(Collected { checkpoint, files_lost: Some(failed()), ..Collected::default() }),
            "3 ended 1.1 timedout +checkpoint",
        ),
    ] {
        let mut stage = Stage::new();
        let outputs = vec!["out".to_owned()];
        let run = stage.start(1.0, limited(Run { fails_at_limit, outputs, ..run(1, 1) }));
        stage.pass_until(2.0);
        stage.on(2.5, killed(run));
        stage.done();
        stage.on(3.0, Event::Collected(run, result));
        assert_eq!(stage.done(), [end]);
        assert_eq!(notes(&stage, run), ["its output files were not kept: a file in it is gone"]);
    }
}
