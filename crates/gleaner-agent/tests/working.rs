//! An agent works for a coordinator, over a real connection and with real programs.
//!
//! A program of its own: it starts real processes, and waits for each no longer than some time.

mod coordinator;

use coordinator::{Agent, Coordinator, SLOW, id_of, script};
use gleaner_agent::owner::{self, Word};
use gleaner_agent::owner_socket::{self, State};
use gleaner_agent::work::Stop;
use gleaner_net::{Signer, UserKey};
use gleaner_units::RunId;
use gleaner_wire::job::{
    Checkpointing, Confinement, Filled, Input, JobSpec, Needs, Signed, SignedText, TaskList,
};
use gleaner_wire::session::{End, FromAgent, Hello, Obstacle, Outcome, Run, StopCause, Stream, ToAgent};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// Counts up from where it stopped, in a file that is always whole.
const COUNT: &str = r#"
cd "$GLEANER_CHECKPOINT"
n=$(cat count 2>/dev/null || echo 0)
echo "from $n, resumed ${GLEANER_RESUMED:-0}"
while :; do
    n=$((n + 1)); echo $n > new; mv new count
    test $n -ge ${LIMIT:-1000000} && exit 0
    sleep 0.01
done"#;

fn counting(task: usize, number: u32) -> Run {
    let checkpoint = Checkpointing { folder: true, exit_code: None, grace_s: 5.0 };
    Run { checkpoint, ..script(id_of(task, number), COUNT) }
}

fn text(end: &End) -> String {
    String::from_utf8(end.stdout.bytes.clone()).unwrap()
}

/// The files of a tar archive.
fn files(archive: &[u8]) -> Vec<(String, String)> {
    let mut archive = tar::Archive::new(archive);
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        (path, std::io::read_to_string(entry).unwrap())
    });
    entries.collect()
}

fn runs_of(hello: &Hello) -> Vec<RunId> {
    hello.running.iter().map(|had| had.run).collect()
}

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

/// The keeper takes the idle minders with it. A run that is given to one of them ends as given up, and the next begins.
#[test]
fn runs_after_the_keeper_was_killed_end_and_begin_again() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    for kills in 0..3 {
        let mut ends_well = |number| {
            let end = session.run(script(id_of(kills, number), "exit 0"));
            assert!(
                matches!(end.outcome, Outcome::Exited { code: 0 } | Outcome::Abandoned { .. }),
                "{end:?}"
            );
            end.outcome == Outcome::Exited { code: 0 }
        };
        // A minder that was left can run something before there is another keeper.
        let is_killed = (1..=9).any(|number| ends_well(number) && kill_keeper(agent.home()));
        assert!(is_killed, "after {kills} kills nothing begins any more");
    }
}

/// The keeper is who holds the agent's lock of runs besides the agent, which is this process. Whether there was one.
fn kill_keeper(home: &Path) -> bool {
    let lock = home.join("runs.lock").canonicalize().unwrap();
    let holds = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/fd/1")).is_ok_and(|held| held == lock)
            && *pid != std::process::id()
    };
    let find = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.find(holds)
    };
    let Some(keeper) = find() else { return false };
    let pid = rustix::process::Pid::from_raw(keeper.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok()
}

/// A service is started with the address with which it joined, whatever it was told since.
#[test]
fn a_coordinator_that_moved_is_found_by_an_agent_that_is_started_with_the_old_address() {
    let (old, coordinator) = (Coordinator::new(), Coordinator::new());
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut agent = coordinator.agent();
    drop(coordinator.welcome(1, 30.0));
    let remembered = |agent: &Agent| {
        let text = std::fs::read_to_string(agent.home().join("identity.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["address"].to_string()
    };
    let here = format!("\"https://127.0.0.1:{}\"", coordinator.port);
    // Nobody is at the old address, or somebody else.
    for (epoch, port) in [(2, nobody), (3, old.port)] {
        agent = agent.again_for(&coordinator, port);
        drop(coordinator.welcome(epoch, 30.0));
        assert_eq!(remembered(&agent), here);
    }
    // An address that is new is remembered once the coordinator was met there.
    let stored = std::fs::read_to_string(agent.home().join("identity.json")).unwrap();
    let stale = stored.replace(&coordinator.port.to_string(), &nobody.to_string());
    std::fs::write(agent.home().join("identity.json"), &stale).unwrap();
    let agent = agent.again_for(&coordinator, coordinator.port);
    let (mut session, _) = coordinator.welcome(4, 30.0);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    session.run(script(id_of(1, 1), "exit 0"));
    let until = Instant::now() + Duration::from_secs(10);
    while remembered(&agent) != here {
        assert!(Instant::now() < until, "{}", remembered(&agent));
        std::thread::sleep(Duration::from_millis(10));
    }
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
        (Run { outputs: vec!["a[".into()], ..plain(3) }, "outputs"),
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
fn inputs_come_and_output_files_go() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let input = |path: &str, text: &str, executable| Input {
        path: path.into(),
        blob: coordinator.keep(text.as_bytes()),
        executable,
    };
    let mut run = script(id_of(1, 1), "bin/tool; cat > out/read; ln -s /etc/passwd out/link; touch other");
    run.inputs = vec![
        input(
            "bin/tool",
            "#!/bin/sh\nmkdir -p out/deep; cp data out/deep/copy; chmod u+w data; echo x > data",
            true,
        ),
        input("data", "given", false),
    ];
    run.stdin = Some(coordinator.keep(b"from stdin"));
    run.outputs = vec!["./out/".into(), "no-such-*".into()];
    for number in 1..=2 {
        run.id = id_of(1, number);
        let end = session.run(run.clone());
        assert_eq!(end.outcome, Outcome::Exited { code: 0 }, "{end:?}");
        assert_eq!(end.notes, ["it left no output file no-such-*"]);
        let expected = [("out/deep/copy", "given"), ("out/read", "from stdin")];
        let found = files(&coordinator.blob(&end.files.unwrap().blob));
        let found: Vec<_> = found.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, expected, "a second time the inputs are as they were");
    }
}

/// Files that nobody waits for any more keep no others waiting, and nothing of their runs stays.
#[test]
fn a_cancelled_run_gives_up_its_transfer() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let with_input = |task: usize, bytes: &[u8]| {
        let blob = coordinator.keep(bytes);
        let input = Input { path: "in".into(), blob, executable: false };
        Run { inputs: vec![input], ..script(id_of(task, 1), "cat in") }
    };
    let slow: Vec<Run> = (1..=4)
        .map(|task| with_input(task, &[SLOW, format!("{task}").repeat(500_000).as_bytes()].concat()))
        .collect();
    for run in &slow {
        session.say(&ToAgent::Run(Box::new(run.clone())));
    }
    let tasks = agent.home().join("tasks");
    let folders = || std::fs::read_dir(&tasks).unwrap().count();
    let wait_for = |what: &str, count: usize| {
        let until = Instant::now() + Duration::from_secs(30);
        while folders() != count {
            assert!(Instant::now() < until, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for("all are on their way", slow.len());
    for run in &slow {
        session.say(&ToAgent::Stop { run: run.id, cause: StopCause::Cancel });
        let end = session.until_ended(run.id);
        assert_eq!(end.outcome, Outcome::Stopped);
        session.settle(run.id);
    }
    let end = session.run(with_input(5, b"here"));
    assert_eq!((&end.outcome, text(&end).as_str()), (&Outcome::Exited { code: 0 }, "here"));
    wait_for("nothing is left of them", 0);
    assert!(!agent.home().join("trouble").exists());
}

/// Only root can make a file that cannot be removed, and only some file systems know the mark.
#[test]
fn what_cannot_be_removed_goes_when_it_can_be() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let run = script(id_of(1, 1), "pwd > where; touch fast; while [ ! -e go ]; do sleep 0.01; done");
    session.say(&ToAgent::Run(Box::new(run.clone())));
    session.until_started(run.id);
    let folder = agent.home().join("tasks/shared-1");
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let late = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < late, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    until("it is there", &|| folder.join("fast").exists());
    let fast = std::fs::File::open(folder.join("fast")).unwrap();
    let marked = ioctl_getflags(&fast).and_then(|flags| {
        ioctl_setflags(&fast, flags | IFlags::IMMUTABLE)?;
        Ok(flags)
    });
    std::fs::write(folder.join("go"), "").unwrap();
    session.until_ended(run.id);
    session.settle(run.id);
    let Ok(flags) = marked else {
        eprintln!("SKIPPED: no file can be made immutable here");
        return;
    };
    let trouble = agent.home().join("trouble");
    until("it is put aside", &|| trouble.join("1/fast").exists());
    ioctl_setflags(&fast, flags).unwrap();
    until("it is removed", &|| !trouble.exists());
}

fn needs_disk(disk: u64) -> Needs {
    Needs { disk, ..Needs::default() }
}

/// Files with holes take little on the machine's disk and much elsewhere.
#[test]
fn what_a_run_leaves_counts_with_its_holes() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let leaves = |task, files: &str| {
        let run = script(id_of(task, 1), &format!("for f in {files}; do truncate -s 90000 $f; done"));
        Run { outputs: vec!["*".into()], needs: needs_disk(100_000), ..run }
    };
    let end = session.run(leaves(1, "a"));
    let found = files(&coordinator.blob(&end.files.expect("it has one").blob));
    assert_eq!(
        found.iter().map(|(path, text)| (path.as_str(), text.len())).collect::<Vec<_>>(),
        [("a", 90_000)]
    );
    let end = session.run(leaves(2, "a b"));
    let Outcome::OverLimit { what } = &end.outcome else { panic!("{end:?}") };
    assert!(what.contains("180000 bytes, more than the 100000"), "{what}");
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

#[test]
fn an_end_is_told_after_every_reconnection_until_it_is_settled() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let go = agent.home().join("go");
    let waiting = format!("while ! test -e {}; do sleep 0.02; done; echo done", go.display());
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), &waiting))));
    session.until_started(id_of(1, 1));
    drop(session);
    std::fs::write(go, "").unwrap();
    for _ in 0..2 {
        let (mut session, hello) = coordinator.welcome(1, 30.0);
        assert_eq!(runs_of(&hello), [id_of(1, 1)]);
        session.say(&ToAgent::Yours { runs: vec![id_of(1, 1)] });
        session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), "echo again"))));
        let end = session.until_ended(id_of(1, 1));
        assert_eq!((end.outcome.clone(), text(&end)), (Outcome::Exited { code: 0 }, "done\n".into()));
    }
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.until_ended(id_of(1, 1));
    session.settle(id_of(1, 1));
    drop(session);
    let (_session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), []);
}

#[test]
fn nothing_outlives_its_lease_or_a_coordinator_that_disowns_it() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 2.0);
    let file = agent.home().join("pid");
    let stubborn = format!(
        "trap '' TERM; echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.1; done",
        file.display()
    );
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), &stubborn))));
    session.until_started(id_of(1, 1));
    let pid = wait_for(&file);
    std::fs::remove_file(&file).unwrap();
    drop(session);
    // A connection alone renews nothing: the coordinator has to answer.
    let deaf = coordinator.session();
    until_gone(pid);
    drop(deaf);
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), [id_of(1, 1)]);
    let end = session.until_ended(id_of(1, 1));
    assert!(matches!(end.outcome, Outcome::Abandoned { .. }), "{end:?}");
    session.settle(id_of(1, 1));
    session.say(&ToAgent::Run(Box::new(script(id_of(2, 1), &stubborn))));
    session.until_started(id_of(2, 1));
    let pid = wait_for(&file);
    drop(session);
    let (mut session, hello) = coordinator.welcome(1, 30.0);
    assert_eq!(runs_of(&hello), [id_of(2, 1)]);
    session.say(&ToAgent::Yours { runs: Vec::new() });
    until_gone(pid);
}

#[test]
fn an_agent_says_which_coordinator_it_was_with() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    drop(coordinator.welcome(5, 30.0));
    let (mut session, hello) = coordinator.welcome(4, 30.0);
    assert_eq!(hello.met.map(|met| met.epoch), Some(5));
    assert_eq!(session.run(script(id_of(1, 1), "exit 0")).outcome, Outcome::Exited { code: 0 });
}

#[test]
fn the_owner_stops_everything_and_lets_it_go_on() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let pid = agent.home().join("pid");
    let busy = format!("echo $$ > {0}.new; mv {0}.new {0}; while :; do :; done", pid.display());
    session.say(&ToAgent::Run(Box::new(script(id_of(1, 1), &busy))));
    session.until_started(id_of(1, 1));
    let pid = wait_for(&pid);
    let answer = owner_socket::tell(agent.home(), Some(Word::Pause)).unwrap();
    assert_eq!((answer.tasks, answer.state), (1, State::Suspended));
    let load_of = |message| match message {
        FromAgent::OwnerLoad { load, .. } => Some(load),
        _ => None,
    };
    while session.until(load_of) != 1.0 {}
    let state = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().split(' ').nth(2).unwrap().to_owned()
    };
    while state() != "T" {
        std::thread::sleep(Duration::from_millis(5));
    }
    let answer = owner_socket::tell(agent.home(), Some(Word::Resume)).unwrap();
    assert!(answer.state != State::Suspended && answer.tasks == 1);
    while session.until(load_of) == 1.0 {}
    while state() == "T" {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Whether it takes new tasks depends on what else this machine does.
    let asked = owner_socket::tell(agent.home(), None).unwrap();
    assert!(asked.state != State::Suspended && asked.tasks == 1);
}

#[test]
fn what_the_owner_lets_come_no_more_leaves_with_its_checkpoint() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Run(Box::new(counting(1, 1))));
    session.until(|message| matches!(message, FromAgent::Output { .. }).then_some(()));
    owner::set(&agent.home().join("rules.toml"), "users", "[\"somebody\"]").unwrap();
    let end = session.until_ended(id_of(1, 1));
    let expected = "the machine's owner takes no such tasks any more";
    assert!(matches!(&end.outcome, Outcome::Abandoned { why } if why == expected), "{end:?}");
    assert!(end.checkpoint.is_some());
}

#[test]
fn an_agent_that_leaves_hands_in_what_its_programs_have_done() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.say(&ToAgent::Run(Box::new(counting(1, 1))));
    session.until(|message| matches!(message, FromAgent::Output { .. }).then_some(()));
    agent.tell(Stop::Orderly);
    let end = session.until_ended(id_of(1, 1));
    assert!(matches!(end.outcome, Outcome::Abandoned { .. }) && end.checkpoint.is_some(), "{end:?}");
    session.settle(id_of(1, 1));
    agent.ended().unwrap();
}

/// So it is given nothing more, and not taken for lost.
#[test]
fn an_agent_that_leaves_says_so_before_it_is_gone() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    session.until(|message| matches!(message, FromAgent::Open { open: true, .. }).then_some(()));
    agent.tell(Stop::Orderly);
    session.until(|message| matches!(message, FromAgent::Open { open: false, .. }).then_some(()));
    assert!(session.ends_with_a_word());
    agent.ended().unwrap();
}

#[test]
fn a_refused_agent_ends_with_the_reason() {
    let coordinator = Coordinator::new();
    let agent = coordinator.agent();
    let mut session = coordinator.session();
    session.say(&ToAgent::Refused { why: "it was revoked".into(), for_good: true });
    assert!(agent.ended().unwrap_err().to_string().contains("it was revoked"));
}

fn until_gone(pid: u32) {
    while Path::new(&format!("/proc/{pid}")).exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process id in a file, once it is there.
fn wait_for(path: &Path) -> u32 {
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) => return text.trim().parse().unwrap(),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// What is done to a signed run: in words, what it is refused for, and how.
type Attack<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Run));

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
    let signed_for = |grid: String, expires_s| {
        let text = SignedText::new(grid, "ada".into(), "drawn".into(), expires_s, &job).to_text();
        let (key, signature) = (key.public().to_string(), key.sign_job(&text));
        Some(Box::new(Signed { text, key, signature }))
    };
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
        ("another input", "its input files", &|run| run.inputs[0].blob = bad.blob.clone()),
        ("a variable", "its variables", &|run| drop(run.env.insert("LD_PRELOAD".into(), "/x".into()))),
        ("the network", "what it may reach", &|run| run.confinement = Confinement::SandboxWithNetwork),
        ("a checkpoint", "its checkpoint", &|run| {
            run.resume_from = Some(gleaner_wire::session::Stored { blob: bad.blob.clone(), size: 4 });
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
