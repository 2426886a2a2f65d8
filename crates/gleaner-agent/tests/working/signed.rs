//! A coordinator that was taken over, against an agent that asks for signatures.

use crate::coordinator::{Coordinator, id_of, script};
use crate::{runs_of, text};
use gleaner_agent::work::Stop;
use gleaner_net::{Signer, UserKey};
use gleaner_wire::job::{Checkpointing, Confinement, Filled, Input, JobSpec, Signed, SignedText, TaskList};
use gleaner_wire::session::{Obstacle, Outcome, Run, ToAgent};
use std::time::{Duration, Instant};

/// What is done to a signed run: in words, what it is refused for, and how.
type Attack<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Run));

fn signed(key: &UserKey, grid: String, expires_s: u64, job: &JobSpec) -> Signed {
    let text = SignedText::new(grid, "ada".into(), "drawn".into(), expires_s, job).to_text();
    let (key, signature) = (key.public().to_string(), key.sign_job(&text));
    Signed { text, key, signature }
}

/// A coordinator that was taken over, with what a user signed once and an agent whose owner wrote down the user's key.
#[test]
fn a_coordinator_that_was_taken_over_runs_nothing_that_nobody_signed() {
    let coordinator = Coordinator::new();
    let keys = tempfile::tempdir().unwrap();
    let key = UserKey::open_or_create(&keys.path().join("signing.key")).unwrap();
    let signer = Signer { user: "ada".into(), key: key.public() };
    let agent = coordinator.agent_by(&format!("signed_by = [\"{signer}\"]\n"));
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(
        hello.profile.attributes["Requirements"],
        format!("member(TARGET.SignedBy, {{\"{signer}\"}})")
    );
    session.say(&ToAgent::Yours { runs: Vec::new() });

    let input = |bytes: &[u8]| Input { path: "in".into(), blob: coordinator.keep(bytes), executable: false };
    let job = JobSpec {
        tasks: TaskList::Array { first: 0, last: 99, step: 1 },
        inputs: vec![input(b"good\n")],
        confinement: Confinement::None,
        ..JobSpec::new(["/bin/sh", "-c", "cat in; echo {GLEANER_INDEX}"])
    };
    let signed_for = |grid: String, expires_s| Some(Box::new(signed(&key, grid, expires_s, &job)));
    let ours = coordinator.grid();
    let mut order = |task: usize, number: u32, change: &dyn Fn(&mut Run)| {
        let Filled { command, env, inputs, .. } = job.filled_in(task as u32).unwrap();
        let mut run = Run {
            name: format!("1/{task}"),
            command,
            env,
            inputs,
            checkpoint: Checkpointing::default(),
            signed: signed_for(ours.clone(), u64::from(u32::MAX)),
            ..script(id_of(task, number), "")
        };
        change(&mut run);
        session.run(run)
    };

    let end = order(0, 1, &|_| {});
    assert_eq!((&end.outcome, text(&end).as_str()), (&Outcome::Exited { code: 0 }, "good\n0\n"));
    let bad = input(b"bad\n");
    let attacks: [Attack<'_>; 10] = [
        ("an unsigned program", "nobody signed", &|run| run.signed = None),
        ("another program", "its command", &|run| run.command[2] = "id".into()),
        ("another argument", "its command", &|run| run.command.push("-x".into())),
        ("another input", "its input files", &|run| run.inputs[0].blob = bad.blob),
        ("a variable", "its variables", &|run| drop(run.env.insert("LD_PRELOAD".into(), "/x".into()))),
        ("the network", "what it may reach", &|run| run.confinement = Confinement::SandboxWithNetwork),
        ("a checkpoint", "its checkpoint", &|run| {
            run.resume_from = Some(gleaner_wire::session::Stored { blob: bad.blob, size: 4 });
        }),
        ("a changed text", "not its user's", &|run| {
            let signed = run.signed.as_mut().unwrap();
            signed.text = signed.text.replace("cat in", "cat /e");
            run.command[2] = run.command[2].replace("cat in", "cat /e");
        }),
        ("another grid's", "another grid", &|run| run.signed = signed_for("00".into(), u64::from(u32::MAX))),
        ("an old one", "has expired", &|run| run.signed = signed_for(coordinator.grid(), 1_000)),
    ];
    for (at, (attack, why, change)) in attacks.into_iter().enumerate() {
        let end = order(at + 1, 1, change);
        let Outcome::NotStarted { why: said, obstacle: Obstacle::Task } = &end.outcome else {
            panic!("{attack} ran: {end:?}")
        };
        assert!(said.contains(why) && text(&end).is_empty(), "{attack}: {said}");
    }
    // What ran once is not run again, whatever number the run has; another task of the job is.
    let Outcome::NotStarted { why, .. } = order(0, 2, &|_| {}).outcome else { panic!("it ran twice") };
    assert!(why.contains("has run here already"), "{why}");
    assert_eq!(text(&order(50, 1, &|_| {})), "good\n50\n");
    drop(session);
    agent.tell(Stop::Orderly);
    agent.ended().unwrap();
}

/// Another agent hands in what it left.
#[test]
fn a_signed_task_that_ended_well_while_its_coordinator_was_away_does_not_run_again() {
    let coordinator = Coordinator::new();
    let keys = tempfile::tempdir().unwrap();
    let key = UserKey::open_or_create(&keys.path().join("signing.key")).unwrap();
    let signer = Signer { user: "ada".into(), key: key.public() };
    let agent = coordinator.agent_by(&format!("signed_by = [\"{signer}\"]\n"));
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    let go = keys.path().join("go");
    let waits = format!("while ! test -e {}; do sleep 0.02; done; echo left > out", go.display());
    let job = JobSpec {
        tasks: TaskList::Array { first: 0, last: 0, step: 1 },
        outputs: vec!["out".into()],
        confinement: Confinement::None,
        ..JobSpec::new(["/bin/sh", "-c", waits.as_str()])
    };
    let Filled { command, env, outputs, .. } = job.filled_in(0).unwrap();
    let run = Run {
        name: "1/0".into(),
        command,
        env,
        outputs,
        checkpoint: Checkpointing::default(),
        signed: Some(Box::new(signed(&key, coordinator.grid(), u64::from(u32::MAX), &job))),
        ..script(id_of(0, 1), "")
    };
    session.say(&ToAgent::Run(Box::new(run.clone())));
    session.until_started(run.id);
    drop(session);
    let deaf = coordinator.session();
    std::fs::write(go, "").unwrap();
    let kept = agent.home().join("kept");
    let is_record = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.path().extension() == Some("json".as_ref()))
    };
    let until = Instant::now() + Duration::from_secs(30);
    while !std::fs::read_dir(&kept).is_ok_and(|mut entries| entries.any(is_record)) {
        assert!(Instant::now() < until, "what it left is not written down");
        std::thread::sleep(Duration::from_millis(5));
    }

    let agent = agent.again_for(&coordinator, coordinator.port);
    drop(deaf);
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), [run.id]);
    session.say(&ToAgent::Yours { runs: vec![run.id] });
    let end = session.until_ended(run.id);
    assert!(end.outcome == Outcome::Exited { code: 0 } && end.files.is_some(), "{end:?}");
    session.settle(run.id);
    let again = session.run(Run { id: id_of(0, 2), ..run });
    let Outcome::NotStarted { why, .. } = &again.outcome else { panic!("it ran twice: {again:?}") };
    assert!(why.contains("has run here already"), "{why}");
    drop(session);
    agent.tell(Stop::Orderly);
    agent.ended().unwrap();
}
