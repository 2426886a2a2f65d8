//! Files that come, go and stay.

use crate::coordinator::{Coordinator, SLOW, id_of, script};
use crate::{files, needs_disk, text};
use gleaner_wire::job::{Checkpointing, Input, Needs};
use gleaner_wire::session::{Obstacle, Outcome, Run, StopCause, Stored, ToAgent};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use std::time::{Duration, Instant};

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

/// As a submit file means it that says nothing of output files.
#[test]
fn of_all_files_none_is_missing_where_there_are_none() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    for (number, outputs, notes) in
        [(1, vec!["*"], Vec::new()), (2, vec!["*", "x"], vec!["it left no output file x"])]
    {
        let outputs = outputs.into_iter().map(str::to_owned).collect();
        let end = session.run(Run { outputs, ..script(id_of(number, 1), "true") });
        assert!(end.notes == notes && end.files.is_none(), "{end:?}");
    }
}

/// A thousand tasks would store their common input a thousand times.
#[test]
fn among_all_files_are_inputs_only_where_they_changed_or_are_named() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    for (number, outputs, expected) in
        [(1, vec!["*"], vec!["changed", "left"]), (2, vec!["*", "dat*"], vec!["changed", "data", "left"])]
    {
        let input = |path: &str| Input {
            path: path.into(),
            blob: coordinator.keep(path.as_bytes()),
            executable: false,
        };
        let run =
            script(id_of(number, 1), "chmod u+w changed; echo x > changed; chmod 0 in/same; cp data left");
        let end = session.run(Run {
            inputs: ["changed", "data", "in/same"].map(input).to_vec(),
            outputs: outputs.into_iter().map(str::to_owned).collect(),
            ..run
        });
        assert_eq!((&end.outcome, end.notes.len()), (&Outcome::Exited { code: 0 }, 0), "{end:?}");
        let found = files(&coordinator.blob(&end.files.expect("some were left").blob));
        assert_eq!(found.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), expected);
    }
}

/// Its user would look for the fault in the program.
#[test]
fn an_output_that_is_no_plain_file_is_told_as_such() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let outputs = ["l", "x"].map(str::to_owned).to_vec();
    let end = session.run(Run { outputs, ..script(id_of(1, 1), "ln -s /etc/passwd l") });
    let expected =
        "it left no output file l (a link, pipe or socket is there: only plain files are kept), nor x";
    assert_eq!((end.notes, end.files), (vec![expected.to_owned()], None));
}

/// Values of parameters are filled in there, and a line of a list may be any text.
#[test]
fn an_output_file_is_kept_by_its_very_name() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let names = ["z[2]", "{z", "a*b", "back\\slash"];
    for (task, name) in (1..).zip(names) {
        let run = script(id_of(task, 1), "echo v > \"$NAME\"; echo other > other");
        let end = session.run(Run {
            outputs: vec![name.to_owned()],
            env: [("NAME".to_owned(), name.to_owned())].into(),
            ..run
        });
        assert_eq!((&end.outcome, end.notes.len()), (&Outcome::Exited { code: 0 }, 0), "{name}: {end:?}");
        let found = files(&coordinator.blob(&end.files.expect("one was left").blob));
        let found: Vec<_> = found.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, [(name, "v\n")]);
    }
}

/// A tar archive of one file.
fn packed(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, name, bytes).unwrap();
    archive.into_inner().unwrap()
}

#[test]
fn a_checkpoint_that_is_brought_counts_among_what_its_task_takes() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let kept = packed("kept", "x".repeat(90_000).as_bytes());
    let mut resumed = |task, beside: usize| {
        let blob = coordinator.keep(&vec![b'x'; beside]);
        let run = script(id_of(task, 1), "wc -c < \"$GLEANER_CHECKPOINT/kept\"");
        session.run(Run {
            inputs: vec![Input { path: "in".into(), blob, executable: false }],
            resume_from: Some(Stored { blob: coordinator.keep(&kept), size: kept.len() as u64 }),
            checkpoint: Checkpointing { folder: true, ..Checkpointing::default() },
            needs: needs_disk(200_000),
            ..run
        })
    };
    let end = resumed(1, 50_000);
    assert_eq!((&end.outcome, text(&end).trim()), (&Outcome::Exited { code: 0 }, "90000"));
    let end = resumed(2, 110_001);
    let Outcome::NotStarted { why, obstacle: Obstacle::Task } = &end.outcome else { panic!("{end:?}") };
    assert!(why.contains(".checkpoint: more than it may take on the disk"), "{why}");
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
fn what_a_run_goes_on_from_is_kept_though_its_files_are_too_large() {
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 30.0);
    let text_of =
        "echo 1 > $GLEANER_CHECKPOINT/kept; for f in a b; do truncate -s 90000 $f; done; exec sleep 60";
    let run = script(id_of(1, 1), text_of);
    let end = session.run(Run {
        checkpoint: Checkpointing { folder: true, ..run.checkpoint.clone() },
        outputs: vec!["*".into()],
        needs: Needs { time_limit_s: 1.0, ..needs_disk(100_000) },
        ..run
    });
    assert_eq!((&end.outcome, &end.files), (&Outcome::TimedOut, &None), "{end:?}");
    let why = "its output files were not kept: 180000 bytes, more than the 100000";
    assert!(end.notes.iter().any(|note| note.starts_with(why)), "{end:?}");
    let found = files(&coordinator.blob(&end.checkpoint.expect("it has one").blob));
    assert_eq!(found, [("kept".to_owned(), "1\n".to_owned())]);
}
