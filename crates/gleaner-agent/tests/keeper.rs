//! A task runs as it was described, and all of it ends with it, whoever dies first.
//!
//! A program of its own: it starts real processes, and waits for each no longer than some time.

mod processes;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gleaner_agent::keeper::{Keeper, Order, ProgramEnd, Signal};
use processes::{PROGRAM, Stage, lives, state, until};
use rustix::process::{self, Pid, kill_process};

#[test]
fn a_task_ends_as_its_program_does() {
    let mut stage = Stage::new();
    for (script, outcome, out) in [
        ("exit 0", ProgramEnd::Code(0), ""),
        ("echo said; exit 7", ProgramEnd::Code(7), "said"),
        ("kill -9 $$", ProgramEnd::Signal(9), ""),
        ("kill -15 $$", ProgramEnd::Signal(15), ""),
        ("exit 143", ProgramEnd::Code(143), ""),
        (
            "env | sort",
            ProgramEnd::Code(0),
            "HOME=<folder>\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD=<folder>",
        ),
        ("pwd; cat", ProgramEnd::Code(0), "<folder>"),
    ] {
        let _ = fs::remove_file(stage.path("out"));
        let (ended, _) = stage.run(stage.own(script));
        let folder = stage.folder.path().display().to_string();
        assert_eq!(
            (ended, stage.said("out").replace(&folder, "<folder>")),
            (outcome, out.to_owned()),
            "{script}"
        );
    }
}

#[test]
fn what_cannot_start_says_why_and_the_minder_goes_on() {
    let mut stage = Stage::new();
    let plain = stage.own("exit 0");
    let mut empty = plain.clone();
    empty.argv.clear();
    let mut nowhere = plain.clone();
    nowhere.cwd = "/no/such/folder".into();
    let mut unknown = plain.clone();
    unknown.argv[0] = "no-such-program".to_owned();
    // Through the launcher it is the same sentence.
    let mut launched = unknown.clone();
    launched.limits.file_bytes = Some(1 << 20);
    let mut folder = launched.clone();
    folder.argv[0] = "/usr".to_owned();
    let mut no_input = plain.clone();
    no_input.stdin = Some("/no/such/input".into());
    let mut link = plain.clone();
    std::os::unix::fs::symlink("/dev/null", stage.path("link")).unwrap();
    link.stdout = stage.path("link");
    let mut unheard = plain.clone();
    assert!(Command::new("mkfifo").arg(stage.path("pipe")).status().unwrap().success());
    unheard.stdout = stage.path("pipe");
    for (spec, part) in [
        (empty, "no command"),
        (nowhere, "/no/such/folder: the working folder cannot be used"),
        (unknown, "no-such-program: no such program in the task's PATH"),
        (launched, "no-such-program: no such program in the task's PATH"),
        (folder, "/usr: it is a folder"),
        (no_input, "/no/such/input: cannot be opened"),
        (link, "link: cannot be opened"),
        (unheard, "pipe: cannot be opened"),
    ] {
        let (outcome, _) = stage.run(spec);
        // What the machine cannot open is its own.
        let (ProgramEnd::CouldNotStart(why) | ProgramEnd::NoProgram(why)) = &outcome else {
            panic!("{outcome:?}")
        };
        assert!(why.contains(part), "{outcome:?} has no {part:?}");
        let is_machines = matches!(outcome, ProgramEnd::CouldNotStart(_));
        assert_eq!(is_machines, part.ends_with("cannot be opened"), "{outcome:?}");
    }
    assert_eq!(stage.said("err"), "", "what is wrong is for the minder");
    assert_eq!(stage.run(plain).0, ProgramEnd::Code(0));
}

/// Nobody says anything more: the agent is stopped, or waits for a disk.
#[test]
fn a_task_ends_with_its_lease_whoever_is_stalled() {
    let mut stage = Stage::new();
    let lease = |stage: &Stage, millis: u64| {
        let until = gleaner_agent::clock::now().nanos() + millis * 1_000_000;
        stage.minder.order(&Order::Lease { until_ns: until }).unwrap();
    };
    lease(&stage, 200);
    let (ended, _) = stage.run(stage.own("trap '' TERM; sleep 600 & sleep 600"));
    assert_eq!(ended, ProgramEnd::LeaseEnded, "and not by a signal, which would count against it");

    // One that is renewed goes on, and a lease that ended before a task does not end the next.
    stage.start(stage.own("sleep 0.6; exit 3"));
    lease(&stage, 300);
    lease(&stage, 600_000);
    assert_eq!(stage.end().0, ProgramEnd::Code(3));

    // A minder that stood still, and was given more time meanwhile.
    stage.start(stage.own("echo $PPID > minder; sleep 1; exit 4"));
    until("it runs", || !stage.said("minder").is_empty());
    let minder = Pid::from_raw(stage.said("minder").parse().unwrap()).unwrap();
    lease(&stage, 300);
    kill_process(minder, process::Signal::STOP).unwrap();
    lease(&stage, 600_000);
    std::thread::sleep(Duration::from_millis(500));
    kill_process(minder, process::Signal::CONT).unwrap();
    assert_eq!(stage.end().0, ProgramEnd::Code(4));
}

#[test]
fn streams_and_environment_are_those_described() {
    let mut stage = Stage::new();
    fs::write(stage.path("in"), "from a file").unwrap();
    let mut spec = stage.own("cat; echo $A; echo e >&2; echo o");
    spec.stdin = Some(stage.path("in"));
    spec.env = vec![("A".to_owned(), "b c".to_owned())];
    spec.stderr = spec.stdout.clone();
    stage.run(spec);
    assert_eq!(stage.said("out"), "from a fileb c\ne\no");
}

#[test]
fn what_all_of_a_task_used_is_counted() {
    let mut stage = Stage::new();
    let (_, idle) = stage.run(stage.own("exit 0"));
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    // The work is done by a grandchild that nobody waits for but the minder.
    let (_, used) =
        stage.run(stage.own(&format!("(({busy}; touch done) &) ; while [ ! -e done ]; do sleep 0.01; done")));
    assert!(used.user_us > idle.user_us, "{used:?} {idle:?}");
    assert!(used.memory_peak_bytes > 100_000, "{used:?}");
}

/// Ways to get out of a process group, with a note of who got out.
const ESCAPES: [(&str, &str); 5] = [
    ("background", "sleep 1000 & echo $! > pid"),
    ("session", "setsid sh -c 'echo $$ > pid; exec sleep 1000' &"),
    ("double fork", "(setsid sh -c '(echo $$ > pid; exec sleep 1000) &' &)"),
    ("deaf", "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > pid; while :; do sleep 1; done' &"),
    (
        "no trace",
        "env -i setsid sh -c 'cd /; trap \"\" TERM; echo $$ > \"$0/pid\"; sleep 1000; sleep 1000' \"$PWD\" &",
    ),
];

const NOTED: &str = "while [ ! -s pid ]; do sleep 0.01; done";

fn escaped(stage: &Stage) -> u32 {
    until("the escape is noted", || !stage.said("pid").is_empty());
    stage.said("pid").parse().unwrap()
}

#[test]
fn nothing_outlives_its_task() {
    for (name, escape) in ESCAPES {
        for (end, order) in [("exit 3", None), ("exec sleep 1000", Some(Signal::Kill))] {
            let mut stage = Stage::new();
            stage.start(stage.own(&format!("{escape}\n{NOTED}\n{end}")));
            let pid = escaped(&stage);
            if let Some(signal) = order {
                stage.signal(signal);
            }
            let (outcome, _) = stage.end();
            assert_eq!(
                outcome,
                if order.is_some() { ProgramEnd::Signal(9) } else { ProgramEnd::Code(3) },
                "{name}"
            );
            assert!(!lives(pid), "{name}, then {end}");
        }
    }
}

/// Whom fate may take.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Keeper,
    Minder,
}

#[test]
fn nothing_outlives_its_keeper_or_minder() {
    for victim in [Victim::Keeper, Victim::Minder] {
        for (name, escape) in ESCAPES {
            let mut stage = Stage::new();
            stage.start(stage.own(&format!("{escape}\n{NOTED}\nexec sleep 1000")));
            let pid = escaped(&stage);
            let keeper = stage.keeper.pid();
            let minder = only_child(keeper);
            let main = children(minder);
            kill(match victim {
                Victim::Keeper => keeper,
                Victim::Minder => minder,
            });
            // That is said when nothing is left of the task: it may be started again at once.
            while stage.minder.report().is_ok() {}
            assert!(!lives(pid), "{name} outlived its {victim:?}");
            assert!(!main.iter().any(|&pid| lives(pid)), "{name} left the task behind its {victim:?}");
        }
    }
}

/// By this lock the next agent knows that nothing of the last one's runs.
#[test]
fn what_is_held_is_let_go_when_nothing_runs_any_more() {
    for (name, escape) in ESCAPES {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("lock");
        let lock = File::create(&path).unwrap();
        lock.lock().unwrap();
        let stage = Stage::with(Path::new(PROGRAM), lock.into());
        stage.start(stage.own(&format!("{escape}\n{NOTED}\nexec sleep 1000")));
        let pid = escaped(&stage);
        kill(stage.keeper.pid());
        File::open(&path).unwrap().lock().unwrap();
        assert!(!lives(pid), "{name} outlived the lock");
    }
}

#[test]
fn nothing_outlives_its_agent() {
    for (name, escape) in ESCAPES {
        let folder = tempfile::TempDir::new().unwrap();
        let script = format!("{escape}\n{NOTED}\nexec sleep 1000");
        let mut agent = Command::new(PROGRAM)
            .args(["agent", folder.path().to_str().unwrap(), &script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let note = folder.path().join("pid");
        until("the escape is noted", || fs::read_to_string(&note).is_ok_and(|text| text.ends_with('\n')));
        let pid = fs::read_to_string(&note).unwrap().trim().parse().unwrap();
        let keeper = only_child(agent.id());
        let minder = only_child(keeper);
        agent.kill().unwrap();
        agent.wait().unwrap();
        until(&format!("{name}, minder and keeper are gone"), || {
            ![pid, minder, keeper].iter().any(|&pid| lives(pid))
        });
    }
}

#[test]
fn dropping_the_keeper_ends_all_tasks_first() {
    let stage = Stage::new();
    stage.start(stage.own("trap '' TERM; echo $$ > pid; while :; do sleep 1; done"));
    let pid = escaped(&stage);
    drop(stage);
    assert!(!lives(pid));
}

#[test]
fn a_minder_lives_as_long_as_its_socket_and_others_go_on() {
    let mut stage = Stage::new();
    let other = stage.keeper.minder().unwrap();
    let mut spec = stage.own("echo $$ > pid; sleep 1000");
    spec.stdout = "/dev/null".into();
    other.order(&Order::Run { id: 9, spec: Box::new(spec) }).unwrap();
    let pid = escaped(&stage);
    drop(other);
    until("its task is gone", || !lives(pid));
    assert_eq!(stage.run(stage.own("exit 0")).0, ProgramEnd::Code(0));
}

#[test]
fn asked_to_end_a_task_may_take_its_leave() {
    let mut stage = Stage::new();
    stage.start(stage.own("trap 'echo saved; exit 85' TERM; echo $$ > pid; while :; do sleep 0.01; done"));
    escaped(&stage);
    stage.signal(Signal::Terminate);
    assert_eq!(stage.end().0, ProgramEnd::Code(85));
    assert_eq!(stage.said("out"), "saved");
}

#[test]
fn all_of_a_task_is_suspended_and_goes_on() {
    let mut stage = Stage::new();
    stage.start(stage.own("setsid sh -c 'echo $$ > pid; while [ ! -e stop ]; do :; done; echo end' & wait"));
    let pid = escaped(&stage);
    stage.signal(Signal::Freeze);
    until("it is stopped", || state(pid) == Some('T'));
    fs::write(stage.path("stop"), "").unwrap();
    stage.signal(Signal::Thaw);
    assert_eq!(stage.end().0, ProgramEnd::Code(0));
    assert_eq!(stage.said("out"), "end");
}

#[test]
fn a_suspended_task_can_be_killed() {
    let mut stage = Stage::new();
    stage.start(stage.own("echo $$ > pid; while :; do :; done"));
    let pid = escaped(&stage);
    stage.signal(Signal::Freeze);
    until("it is stopped", || state(pid) == Some('T'));
    stage.signal(Signal::Kill);
    assert_eq!(stage.end().0, ProgramEnd::Signal(9));
}

/// What lacks for one more program is no reason to end those that run.
#[test]
fn a_minder_that_cannot_be_started_costs_no_other_its_task() {
    let folder = tempfile::TempDir::new().unwrap();
    let many = Command::new("sh")
        .args(["-c", "ulimit -n 40; exec \"$0\" many \"$1\"", PROGRAM])
        .arg(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let lines = String::from_utf8(many.stdout).unwrap();
    let said = String::from_utf8_lossy(&many.stderr);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines,
        [
            "held some: true, and not all: true",
            "nothing is left of what one more program takes: Too many open files (os error 24)",
            "the first: Ok(Code(5))",
        ],
        "{said}"
    );
    assert!(said.contains("a program cannot be held"), "{said}");
}

/// Starts an agent with one task, and waits until it says how that ended.
fn one_task(agent: &mut Command) -> (Child, String) {
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ended = String::new();
    BufReader::new(agent.stdout.take().unwrap()).read_line(&mut ended).unwrap();
    (agent, ended)
}

/// Agent and keeper have many files open where many tasks run. A program that was there before knows nothing of that.
#[test]
fn a_keeper_has_more_files_open_than_its_tasks_may() {
    let folder = tempfile::TempDir::new().unwrap();
    let task = ["-c", "ulimit -Sn 100; exec \"$0\" once \"$1\" 'ulimit -Sn; ulimit -Hn'", PROGRAM];
    let (mut agent, ended) = one_task(Command::new("sh").args(task).arg(folder.path()));
    assert_eq!(ended, "Code(0)\n");
    let of_task = fs::read_to_string(folder.path().join("out")).unwrap();
    let [soft, hard] = of_task.lines().collect::<Vec<_>>()[..] else { panic!("{of_task}") };
    assert_eq!(soft, "100");
    for pid in [agent.id(), only_child(agent.id())] {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[3..5], [hard, hard], "{line}");
    }
    drop(agent.stdin.take());
    agent.wait().unwrap();
}

#[test]
fn a_task_whose_end_cannot_be_watched_for_is_ended() {
    let folder = tempfile::TempDir::new().unwrap();
    let task = ["once", folder.path().to_str().unwrap(), "sleep 1000 & sleep 1000"];
    let (mut agent, ended) = one_task(Command::new(PROGRAM).args(task).env("GLEANER_TEST_BLIND", "1"));
    assert!(ended.contains("the watch on the task"), "{ended}");
    let left = children(only_child(only_child(agent.id())));
    drop(agent.stdin.take());
    agent.wait().unwrap();
    assert!(left.is_empty(), "it goes on, and nobody sees it");
}

#[test]
fn a_program_that_is_not_there_is_no_keeper() {
    let error = Keeper::start("/no/such/program".as_ref(), Stdio::null()).unwrap_err().to_string();
    assert!(error.starts_with("/no/such/program: the keeper of tasks could not be started"), "{error}");
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), process::Signal::KILL).unwrap();
}

fn only_child(pid: u32) -> u32 {
    until("it has a child", || !children(pid).is_empty());
    children(pid)[0]
}

fn children(parent: u32) -> Vec<u32> {
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.split(' ').nth(1) == Some(&parent.to_string()))
    })
    .collect()
}
