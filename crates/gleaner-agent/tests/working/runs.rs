//! Programs run, and what comes of them is told.

use crate::coordinator::{Coordinator, id_of, script};
use crate::{counting, files, needs_disk, text};
use gleaner_agent::work::Stop;
use gleaner_wire::job::{Checkpointing, Confinement, Input, Needs};
use gleaner_wire::session::{FromAgent, Obstacle, Outcome, Run, StopCause, Stream, ToAgent};

#[test]
fn programs_run_and_their_ends_are_told() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!((hello.agent, hello.met, hello.running), (9, None, Vec::new()));
    session.say(&ToAgent::Yours { runs: Vec::new() });
    let exited = |code| Outcome::Exited { code };
    for (task, (command, outcome, output)) in [
        ("exit 0", exited(0), ""),
        ("echo said; echo complained >&2; exit 3", exited(3), "said\n"),
        ("kill -SEGV $$", Outcome::Signalled { signal: 11 }, ""),
        ("echo $GLEANER_TASK $GLEANER_JOB $GLEANER_ATTEMPT $GLEANER_CORES", exited(0), "1/3 1 1 1\n"),
        ("test -d $TMPDIR && test $PWD = $HOME && echo $MINE", exited(0), "mine\n"),
        ("test -z \"$GLEANER_RESUMED$GLEANER_CHECKPOINT\" && cat", exited(0), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let mut run = script(id_of(task, 1), command);
        run.env.insert("MINE".into(), "mine".into());
        let end = session.run(run);
        assert_eq!((&end.outcome, text(&end).as_str()), (&outcome, output), "{command}: {end:?}");
    }
    drop(session);
    let home = agent.home().to_owned();
    agent.tell(Stop::Orderly);
    agent.ended().unwrap();
    assert!(!home.exists());
}

#[test]
fn what_may_not_run_here_says_why() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let plain = |task| script(id_of(task, 1), "exit 0");
    let missing = coordinator.keep(b"kept").to_string().replace(|_| true, "a");
    let input = |path: &str, blob: &str| {
        vec![Input { path: path.into(), blob: blob.to_owned().try_into().unwrap(), executable: false }]
    };
    let kept = coordinator.keep(b"kept").to_string();
    for (run, part) in [
        (Run { user: "eve".into(), ..plain(0) }, "eve"),
        (Run { command: vec!["no-such-program".into()], ..plain(1) }, "no-such-program"),
        (Run { cwd: Some("/no/such/folder".into()), ..plain(2) }, "/no/such/folder"),
        (Run { cwd: Some("tmp".into()), ..plain(3) }, "\"tmp\" does not begin with /"),
        (Run { inputs: input("../outside", &kept), ..plain(4) }, "leaves the task's folder"),
        (Run { inputs: input("/etc/passwd", &kept), ..plain(5) }, "leaves the task's folder"),
        (Run { inputs: input("missing", &missing), ..plain(6) }, "could not be brought here"),
        (Run { cwd: Some("/tmp".into()), confinement: Confinement::Sandbox, ..plain(7) }, "sandbox"),
        (Run { inputs: input("large", &kept), needs: needs_disk(3), ..plain(8) }, "4 bytes, more than the 3"),
    ] {
        let end = session.run(run);
        let Outcome::NotStarted { why, obstacle } = &end.outcome else { panic!("{end:?}") };
        assert!(why.contains(part), "{why} has no {part}");
        assert_ne!(*obstacle, Obstacle::Machine, "this is no reason to close the machine: {why}");
    }
    // Nor is a limit in which nothing could start.
    let needs = Needs { memory: 1, ..Needs::default() };
    let end = session.run(Run { needs, ..plain(9) });
    assert_eq!(end.outcome, Outcome::Exited { code: 0 });
}

#[test]
fn strangers_run_in_the_sandbox_with_all_that_they_need() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    if let Err(why) = hello.profile.sandbox {
        eprintln!("SKIPPED: this machine cannot build the sandbox: {why}");
        return;
    }
    let text_of = "cat given $GLEANER_CHECKPOINT/kept 2>/dev/null; cat; echo new > $GLEANER_CHECKPOINT/kept";
    let mut run = script(id_of(1, 1), &format!("{text_of}; pwd > out; touch $TMPDIR/x && exit 85"));
    run.user = "eve".into();
    run.confinement = Confinement::Sandbox;
    run.inputs = vec![Input { path: "given".into(), blob: coordinator.keep(b"in "), executable: false }];
    run.stdin = Some(coordinator.keep(b"from stdin"));
    run.outputs = vec!["out".into()];
    run.checkpoint = Checkpointing { folder: true, exit_code: Some(85), grace_s: 5.0 };
    for (number, output) in [(1, "in from stdin"), (2, "in new\nfrom stdin")] {
        run.id = id_of(1, number);
        let end = session.run(run.clone());
        assert_eq!((&end.outcome, text(&end).as_str()), (&Outcome::Exited { code: 85 }, output), "{end:?}");
        run.resume_from = end.checkpoint;
    }
    run.id = id_of(1, 3);
    run.checkpoint.exit_code = None;
    let end = session.run(run);
    let found = files(&coordinator.blob(&end.files.expect("it has some").blob));
    assert_eq!(found, [("out".to_owned(), "/task\n".to_owned())]);
}

#[test]
fn a_moved_counter_goes_on_where_it_stopped() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let first = id_of(1, 1);
    session.say(&ToAgent::Run(Box::new(counting(1, 1))));
    session.until_started(first);
    let counted = |bytes: &[u8]| {
        files(bytes)
            .iter()
            .find(|(path, _)| path == "count")
            .map(|(_, text)| text.trim().parse::<u64>().unwrap())
    };
    session.until(|message| matches!(message, FromAgent::Output { .. }).then_some(()));
    session.say(&ToAgent::Stop { run: first, cause: StopCause::Move });
    let end = session.until_ended(first);
    assert_eq!(end.outcome, Outcome::Stopped);
    let checkpoint = end.checkpoint.expect("it has one");
    let at = counted(&coordinator.blob(&checkpoint.blob)).expect("it counted");
    session.settle(first);
    let mut run = counting(1, 2);
    run.env.insert("LIMIT".into(), (at + 5).to_string());
    run.resume_from = Some(checkpoint);
    let end = session.run(run);
    assert_eq!(
        (end.outcome.clone(), text(&end)),
        (Outcome::Exited { code: 0 }, format!("from {at}, resumed 1\n"))
    );
}

#[test]
fn long_output_comes_whole_and_in_order() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let run = script(id_of(1, 1), "seq 100000; seq 3 >&2");
    session.say(&ToAgent::Run(Box::new(run)));
    let mut got = Vec::new();
    let end = loop {
        let piece = session.until(|message| match message {
            FromAgent::Output { stream: Stream::Stdout, offset, bytes, .. } => Some(Ok((offset, bytes))),
            FromAgent::Ended { end, .. } => Some(Err(end)),
            _ => None,
        });
        match piece {
            Ok((offset, bytes)) => {
                assert_eq!(offset as usize, got.len());
                got.extend(bytes);
            }
            Err(end) => break end,
        }
    };
    assert_eq!(end.stdout.offset as usize, got.len());
    got.extend(&end.stdout.bytes);
    let expected: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert!(got == expected.as_bytes() && end.stdout.dropped == 0);
    assert_eq!(end.stderr.bytes, b"1\n2\n3\n");
}
