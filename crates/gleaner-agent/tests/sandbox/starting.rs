//! How a sandbox starts, whatever became of its programs, and how it is told that one cannot.

use crate::processes::{PROGRAM, Stage};
use crate::{Boxed, has, limiter, stage};
use gleaner_agent::confine::{Control, Limiter, Limits, MEMORY_BYTES_MIN};
use gleaner_agent::keeper::{Confinement, Input, ProgramEnd, RunSpec};
use std::fs;
use std::io::Write;

/// An upgrade replaces the program under a running agent; what starts then is started by the old one.
#[test]
fn a_program_that_was_replaced_still_starts_sandboxes() {
    if stage().is_none() {
        return;
    }
    for programs in [&["gleaner"][..], &["gleaner", "gleaner-launch"]] {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = programs.iter().map(|name| folder.path().join(name)).collect();
        for path in &paths {
            fs::copy(PROGRAM, path).unwrap();
        }
        let mut stage = Stage::with_program(&paths[0]);
        // Its keeper has started when it has a minder that does something.
        assert_eq!(stage.run(stage.own("true")).0, ProgramEnd::Code(0));
        for path in &paths {
            fs::remove_file(path).unwrap();
            fs::write(path, "a newer one").unwrap();
        }
        let (outcome, _) = stage.run(stage.boxed("echo ran"));
        assert_eq!(
            (outcome, stage.said("out").as_str()),
            (ProgramEnd::Code(0), "ran"),
            "{}",
            stage.said("err")
        );
    }
}

/// A disk may lose a launcher's bytes while the agent runs, and a hand may write over them.
#[test]
fn a_launcher_that_is_damaged_while_the_agent_runs_still_starts_sandboxes() {
    if stage().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [program, launcher] = ["gleaner", "gleaner-launch"].map(|name| folder.path().join(name));
    for path in [&program, &launcher] {
        fs::copy(PROGRAM, path).unwrap();
    }
    let whole = fs::read(&launcher).unwrap();
    let mut stage = Stage::with_program(&program);
    assert_eq!(stage.run(stage.own("true")).0, ProgramEnd::Code(0));
    for damaged in [&b"echo harm; touch harm"[..], b"", &whole[..whole.len() / 2], &vec![0; whole.len()]] {
        // In place: the file stays the same, and is not replaced by another.
        fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&launcher)
            .unwrap()
            .write_all(damaged)
            .unwrap();
        let _ = fs::remove_file(stage.path("out"));
        let (outcome, _) = stage.run(stage.boxed("echo ran"));
        assert_eq!(
            (outcome, stage.said("out").as_str()),
            (ProgramEnd::Code(0), "ran"),
            "{}",
            stage.said("err")
        );
        assert_eq!(stage.said("err"), "");
    }
}

#[test]
fn what_cannot_start_in_a_sandbox_says_why() {
    let Some((mut stage, _)) = stage() else { return };
    let mut unknown = stage.boxed("");
    unknown.argv[0] = "no-such-program".to_owned();
    let mut nowhere = stage.boxed("");
    nowhere.cwd = "/no/such/folder".into();
    let mut no_input = stage.boxed("");
    if let Confinement::Sandbox(sandbox) = &mut no_input.confinement {
        sandbox.inputs.push(Input {
            from: "/no/such/input".into(),
            at: "/inputs/one".into(),
            known_as: None,
        });
    }
    for (spec, part) in
        [(unknown, "no-such-program: "), (nowhere, "/no/such/folder: "), (no_input, "/no/such/input")]
    {
        let (outcome, _) = stage.run(spec);
        let (ProgramEnd::CouldNotStart(why) | ProgramEnd::NoProgram(why)) = &outcome else {
            panic!("{outcome:?}")
        };
        assert!(why.contains(part), "{outcome:?} has no {part:?}");
        let is_machines = matches!(outcome, ProgramEnd::CouldNotStart(_));
        assert_eq!(is_machines, part == "/no/such/input", "{outcome:?}");
    }
}

/// Else one user's tasks would close every machine.
#[test]
fn a_task_whose_own_limit_ends_its_start_is_told_from_a_machine_that_cannot_start_it() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("start");
    let limits = [1, 60_000, 1_000_000, 4_000_000, MEMORY_BYTES_MIN]
        .map(|bytes| Limits { memory_bytes: Some(bytes), ..Limits::default() })
        .into_iter()
        .chain([Limits { file_bytes: Some(1), ..Limits::default() }]);
    let mut ended_in_vain = 0;
    for limits in limits {
        for limiter in [limiter.clone(), Limiter::default()] {
            for spec in [stage.own("exit 0"), stage.boxed("exit 0")] {
                let row = format!("{limits:?} by {limiter}, {:?}", spec.confinement);
                let (outcome, _) = stage.run(RunSpec { limits, limiter: limiter.clone(), ..spec });
                eprintln!("{outcome:?} {row}");
                assert!(!matches!(outcome, ProgramEnd::CouldNotStart(_)), "{outcome:?}: {row}");
                if limits.memory_bytes.is_none_or(|bytes| bytes >= MEMORY_BYTES_MIN) {
                    assert_eq!(outcome, ProgramEnd::Code(0), "{row}");
                }
                if let ProgramEnd::TooLittle(why) = outcome {
                    assert!(why.contains(" bytes of memory that it may use"), "{why}");
                    ended_in_vain += 1;
                }
            }
        }
    }
    assert!(ended_in_vain > 0 || !has(&limiter, Control::Memory));
    limiter.remove();
}
