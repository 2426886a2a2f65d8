//! What limits hold, by cgroup or without.

use crate::processes::{Stage, until};
use crate::{Boxed, has, limiter, stage};
use gleaner_agent::confine::{Control, Hierarchy, Limiter, Limits, Version};
use gleaner_agent::keeper::{Confinement, ProgramEnd, RunSpec, Signal};
use std::fs;
use std::path::Path;

/// Of tasks whose memory no cgroup counts: processes that each keep to the bound, and folders in memory that do.
#[test]
fn a_task_takes_no_more_memory_by_taking_it_in_parts() {
    let Some((mut stage, _)) = stage() else { return };
    let limits = Limits { memory_bytes: Some(64 << 20), ..Limits::default() };
    let part = "head -c 40000000 /dev/zero | tail -c 40000000 | sleep 1000 &";
    let folders = "head -c 20000000 /dev/zero > /tmp/a; head -c 20000000 /dev/zero > /dev/shm/b;";
    for (script, is_ended) in [
        (format!("{part} {part} wait"), true),
        (format!("{folders} {part} wait"), true),
        (format!("{part} sleep 3; exit 7"), false),
        (format!("{folders} sleep 3; exit 7"), false),
    ] {
        let expected = if is_ended { ProgramEnd::OverMemory } else { ProgramEnd::Code(7) };
        let (outcome, _) = stage.run(limited(stage.boxed(&script), &Limiter::default(), limits));
        assert_eq!(outcome, expected, "{script}: {}", stage.said("err"));
    }
    let unnamed = Limits { memory_unless_named: Some(64 << 20), ..Limits::default() };
    let own = limited(stage.own(&format!("{part} {part} wait")), &Limiter::default(), unnamed);
    assert_eq!(stage.run(own).0, ProgramEnd::OverMemory, "outside of the sandbox too");
}

#[test]
fn tasks_give_way_to_others() {
    let Some((mut stage, _)) = stage() else { return };
    let ours = rustix::process::getpriority_process(None).unwrap();
    let limits = Limits { open_files: Some(50), ..Limits::default() };
    // What is started directly, and the session of a sandbox, give way a moment after the start.
    let says = format!(
        "for i in $(seq 300); do [ $(nice) -eq {} ] && ! grep -q 'nice 0' /proc/self/autogroup && break; sleep 0.01; done; nice; \
         cat /proc/self/autogroup",
        ours + 10
    );
    let has_sessions = Path::new("/proc/self/autogroup").exists();
    for spec in [stage.own(&says), limited(stage.own(&says), &Limiter::default(), limits), stage.boxed(&says)]
    {
        let _ = fs::remove_file(stage.path("out"));
        stage.run(spec);
        let said = stage.said("out");
        assert!(said.starts_with(&format!("{}\n", ours + 10)) || said == (ours + 10).to_string(), "{said}");
        assert!(!has_sessions || said.ends_with("nice 10"), "{said}");
    }
}

fn limited(spec: RunSpec, limiter: &Limiter, limits: Limits) -> RunSpec {
    RunSpec { limits, limiter: limiter.clone(), ..spec }
}

#[test]
fn a_fork_bomb_is_contained() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("bomb");
    if !has(&limiter, Control::Processes) {
        return;
    }
    let limits = Limits { processes: Some(20), ..Limits::default() };
    let bomb = "b() { b | b & }; b; sleep 0.3; echo survived > survived; exit 4";
    for spec in [stage.own(bomb), stage.boxed(bomb)] {
        let (outcome, _) = stage.run(limited(spec.clone(), &limiter, limits));
        // The shell itself may be refused a process, or get to its end.
        assert!(matches!(outcome, ProgramEnd::Code(_)), "{outcome:?}: {}", stage.said("err"));
        assert!(stage.said("err").contains("fork"), "{}", stage.said("err"));
        fs::remove_file(stage.path("err")).unwrap();
    }
    limiter.remove();
    assert!(!limiter.hierarchies().iter().any(|hierarchy| hierarchy.folder.exists()));
}

#[test]
fn a_memory_hog_is_killed_and_it_shows() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("hog");
    if !has(&limiter, Control::Memory) {
        return;
    }
    let limits = Limits { memory_bytes: Some(32 << 20), ..Limits::default() };
    let hog = "exec tail /dev/zero";
    for spec in [stage.own(hog), stage.boxed(hog)] {
        let (outcome, used) = stage.run(limited(spec, &limiter, limits));
        assert_eq!((outcome, used.killed_for_memory), (ProgramEnd::Signal(9), 1));
        assert!(used.memory_peak_bytes <= 32 << 20, "{used:?}");
    }
    limiter.remove();
}

/// The minder is the same, and its cgroup too.
#[test]
fn a_task_that_names_no_memory_gets_what_its_owner_gives_by_then() {
    let mut stage = Stage::new();
    let limiter = limiter("by-then");
    if !has(&limiter, Control::Memory) {
        return;
    }
    let script = "head -c 100000000 /dev/zero | tail -c 100000000 > /dev/null";
    for (bytes, killed) in [(256 << 20, 0), (32 << 20, 1), (256 << 20, 0)] {
        let limits = Limits { memory_unless_named: Some(bytes), ..Limits::default() };
        let (outcome, used) = stage.run(limited(stage.own(script), &limiter, limits));
        assert_eq!(used.killed_for_memory, killed, "{bytes}: {outcome:?}");
    }
    limiter.remove();
}

/// One after the other in the same minder: what it holds itself, and what earlier tasks took, is not theirs.
#[test]
fn the_most_memory_of_a_task_that_names_none_is_its_own() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("own-most");
    if !has(&limiter, Control::Memory) {
        return;
    }
    let limits = Limits { memory_unless_named: Some(512 << 20), ..Limits::default() };
    for bytes in [100_000_000, 20_000_000, 60_000_000, 0] {
        let script = format!("head -c {bytes} /dev/zero | tail -c {bytes} > /dev/null");
        for spec in [stage.own(&script), stage.boxed(&script)] {
            let (_, used) = stage.run(limited(spec, &limiter, limits));
            let more = used.memory_peak_bytes.checked_sub(bytes);
            assert!(more.is_some_and(|more| more < 15_000_000), "{bytes}: {used:?}");
        }
    }
    limiter.remove();
}

/// Else whoever fills a machine has the tasks of others fail.
#[test]
fn who_is_killed_for_the_memory_of_all_tasks_did_not_take_too_much() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("squeezed");
    let Some(all) = limiter.hierarchies().iter().find(|one| one.controls.contains(&Control::Memory)) else {
        return eprintln!("SKIPPED: no memory by cgroup on this machine: {limiter}");
    };
    let (file, with_swap, swap) = match all.version {
        Version::V1 => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "100000000"),
        Version::V2 => ("memory.max", "memory.swap.max", "0"),
    };
    fs::write(all.folder.join(file), "100000000").unwrap();
    // Absent where the kernel does not count swap.
    let _ = fs::write(all.folder.join(with_swap), swap);
    let much = Some(400_000_000);
    let bounded = Limits { memory_of_all: Some(100_000_000), ..Limits::default() };
    let named = |memory_bytes| Limits { memory_bytes, ..bounded };
    let unnamed = Limits { memory_unless_named: much, ..bounded };
    let hog = "head -c 200000000 /dev/zero | tail -c 200000000 > /dev/null";
    for limits in [named(much), unnamed] {
        let (outcome, used) = stage.run(limited(stage.boxed(hog), &limiter, limits));
        assert_eq!((outcome, used.killed_for_memory), (ProgramEnd::MemoryGone, 0), "{limits:?}");
    }
    // Who takes all there is by itself did take what it may.
    let (outcome, used) = stage.run(limited(stage.boxed(hog), &limiter, named(Some(100_000_000))));
    assert!(outcome != ProgramEnd::MemoryGone && used.killed_for_memory > 0, "{outcome:?} {used:?}");
    limiter.remove();
}

/// The most that it ever had in memory is then all that it may have: what it read is in it, for as long as nobody needs the room.
#[test]
fn who_read_much_and_is_killed_for_the_memory_of_all_tasks_did_not_take_too_much() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("squeezed-reader");
    let counts = |one: &&Hierarchy| one.version == Version::V2 && one.controls.contains(&Control::Memory);
    let is_in_memory = rustix::fs::statfs(stage.path(".")).unwrap().f_type == 0x0102_1994;
    let Some(all) = limiter.hierarchies().iter().find(counts).filter(|_| !is_in_memory) else {
        return eprintln!("SKIPPED: no memory by a cgroup of version 2, or no files on a disk: {limiter}");
    };
    let limits =
        Limits { memory_bytes: Some(64 << 20), memory_of_all: Some(400_000_000), ..Limits::default() };
    let script = "head -c 100000000 /dev/zero > read; cat read > /dev/null; touch ready; \
                  until [ -e go ]; do sleep 0.1; done; head -c 50000000 /dev/zero | tail -c 50000000 > /dev/null";
    stage.start(limited(stage.boxed(script), &limiter, limits));
    until("it has read", || stage.path("task/ready").exists());
    // Absent where the kernel does not count swap.
    let _ = fs::write(all.folder.join("memory.swap.max"), "0");
    fs::write(all.folder.join("memory.max"), "30000000").unwrap();
    fs::write(stage.path("task/go"), "").unwrap();
    let (outcome, used) = stage.end();
    assert_eq!((outcome, used.killed_for_memory), (ProgramEnd::MemoryGone, 0), "{used:?}");
    limiter.remove();
}

#[test]
fn files_end_at_their_limit() {
    let Some((mut stage, _)) = stage() else { return };
    let limits = Limits { file_bytes: Some(8192), ..Limits::default() };
    for spec in [stage.own("head -c 100000 /dev/zero > big"), stage.boxed("head -c 100000 /dev/zero > big")] {
        let cwd = if spec.confinement == Confinement::Own { "big" } else { "task/big" };
        stage.run(limited(spec, &Limiter::default(), limits));
        assert_eq!(fs::metadata(stage.path(cwd)).unwrap().len(), 8192);
    }
}

#[test]
fn a_limited_task_is_frozen_and_killed_in_the_ice() {
    let Some((mut stage, _)) = stage() else { return };
    let limiter = limiter("ice");
    if !has(&limiter, Control::Freezer) {
        return;
    }
    let limits = Limits { cpu_milli: Some(500), ..Limits::default() };
    stage.start(limited(stage.boxed("touch here; while :; do :; done"), &limiter, limits));
    until("it runs", || stage.path("task/here").exists());
    stage.signal(Signal::Freeze);
    stage.signal(Signal::Kill);
    assert_eq!(stage.end().0, ProgramEnd::Signal(9));
    limiter.remove();
}

#[test]
fn what_a_killed_agent_left_in_its_cgroups_is_swept() {
    let mut stage = Stage::new();
    let limiter = limiter("swept");
    if !has(&limiter, Control::Processes) {
        return;
    }
    let limits = Limits { processes: Some(20), ..Limits::default() };
    stage.start(limited(stage.own("touch here; sleep 1000"), &limiter, limits));
    until("it runs", || stage.path("here").exists());
    // An agent of this name starts again, and takes what it finds for a dead one's.
    assert_eq!(self::limiter("swept"), limiter);
    assert_eq!(stage.end().0, ProgramEnd::Signal(9));
    for hierarchy in limiter.hierarchies() {
        let left =
            fs::read_dir(&hierarchy.folder).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
        assert_eq!(left.count(), 0, "{}", hierarchy.folder.display());
    }
    limiter.remove();
}
