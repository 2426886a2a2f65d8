//! What a hostile task tries, and what limits hold. Skipped, loudly, where the machine cannot build a sandbox.
//!
//! A program of its own: it starts real processes, and waits for each no longer than some time.

mod processes;

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use gleaner_agent::confine::{Control, Limiter, Limits, MEMORY_BYTES_MIN, SandboxLevel, available};
use gleaner_agent::keeper::{Confinement, Input, Network, ProgramEnd, RunSpec, Sandbox, Sign};
use processes::{PROGRAM, Stage, lives, until};

/// A stage on which sandboxes can be built, or the reason why the test is skipped.
fn stage() -> Option<(Stage, SandboxLevel)> {
    let stage = Stage::new();
    match available(&stage.keeper, &stage.path("scratch")) {
        Ok(level) => Some((stage, level)),
        Err(why) => {
            eprintln!("SKIPPED: no sandbox on this machine: {why}");
            None
        }
    }
}

/// Scripts in a sandbox.
trait Boxed {
    fn boxed(&self, script: &str) -> RunSpec;
}

impl Boxed for Stage {
    fn boxed(&self, script: &str) -> RunSpec {
        let task = self.path("task");
        fs::create_dir_all(&task).unwrap();
        RunSpec {
            cwd: "/task".into(),
            confinement: Confinement::Sandbox(Sandbox {
                folder: task,
                inputs: Vec::new(),
                network: Network::None,
            }),
            ..self.own(script)
        }
    }
}

/// Agents of tests running at the same time are agents of different names.
fn limiter(test: &str) -> Limiter {
    Limiter::find(&format!("test-{test}-{}", std::process::id()))
}

fn has(limiter: &Limiter, control: Control) -> bool {
    let has = limiter.hierarchies().iter().any(|hierarchy| hierarchy.controls.contains(&control));
    if !has {
        eprintln!("SKIPPED: no {control:?} by cgroup on this machine: {limiter}");
    }
    has
}

#[test]
fn a_sandboxed_task_sees_its_folder_and_the_system() {
    let Some((mut stage, level)) = stage() else { return };
    eprintln!("{level}");
    let input = stage.path("input");
    fs::write(&input, "given").unwrap();
    for (script, outcome, out) in [
        ("exit 0", ProgramEnd::Code(0), ""),
        ("exit 7", ProgramEnd::Code(7), ""),
        ("kill -9 $$", ProgramEnd::Signal(9), ""),
        ("pwd; echo $HOME", ProgramEnd::Code(0), "/task\n/task"),
        ("echo made > result; cat result", ProgramEnd::Code(0), "made"),
        ("cat /inputs/deep/one", ProgramEnd::Code(0), "given"),
        ("getent passwd root | cut -d: -f1", ProgramEnd::Code(0), "root"),
        ("echo again > /dev/stdout", ProgramEnd::Code(0), "again"),
        ("echo t > /tmp/t; echo s > /dev/shm/s; cat /tmp/t /dev/shm/s", ProgramEnd::Code(0), "t\ns"),
        ("uname -n", ProgramEnd::Code(0), "gleaner"),
        ("env | sort | cut -d= -f1 | tr '\\n' ' '", ProgramEnd::Code(0), "HOME LANG PATH PWD"),
    ] {
        let _ = fs::remove_file(stage.path("out"));
        let mut spec = stage.boxed(script);
        if let Confinement::Sandbox(sandbox) = &mut spec.confinement {
            sandbox.inputs.push(Input { from: input.clone(), at: "/inputs/deep/one".into(), known_as: None });
        }
        let (ended, used) = stage.run(spec);
        assert_eq!((ended, stage.said("out").as_str()), (outcome, out), "{script}: {}", stage.said("err"));
        assert_eq!(used.landlock_abi, level.landlock_abi);
    }
    assert_eq!(fs::read_to_string(stage.path("task/result")).unwrap(), "made\n");
}

/// Whoever owns the way to it may lead it elsewhere while the sandbox is built.
#[test]
fn another_folder_than_the_one_that_was_looked_at_is_not_shown() {
    let Some((mut stage, _)) = stage() else { return };
    let at = stage.path("lab");
    fs::create_dir(&at).unwrap();
    let about = fs::metadata(&at).unwrap();
    for (inode, is_shown) in [(about.ino(), true), (about.ino() + 1, false)] {
        let mut spec = stage.boxed("ls /lab");
        if let Confinement::Sandbox(sandbox) = &mut spec.confinement {
            let known_as = Some((about.dev(), inode));
            sandbox.inputs.push(Input { from: at.clone(), at: "/lab".into(), known_as });
        }
        let outcome = stage.run(spec).0;
        let is_refused =
            matches!(&outcome, ProgramEnd::CouldNotStart(why) if why.contains("/lab: it is another"));
        assert_eq!((outcome == ProgramEnd::Code(0), is_refused), (is_shown, !is_shown), "{outcome:?}");
    }
}

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

/// Scripts that must print `kept out` and nothing else.
const ATTACKS: [(&str, &str); 21] = [
    ("root's home", "ls /root"),
    ("homes", "ls /home/*"),
    ("the agent's keys", "cat $SECRET"),
    ("another place in its own folder's neighbourhood", "ls $(dirname $SECRET)"),
    ("sockets of services", "ls /run/systemd /run/dbus /var/run/docker.sock"),
    ("passwords", "cat /etc/shadow"),
    ("write to the system", "echo x > /usr/x"),
    ("write to the root", "mkdir /x"),
    ("write to settings", "echo x >> /etc/passwd"),
    ("a file of the launcher's that was left open", "ls /proc/self/fd/3 && test -f /proc/self/fd/3"),
    ("write a device", "echo x > /dev/x"),
    ("memory of the kernel", "cat /dev/mem"),
    ("a mount", "mount -t tmpfs none /tmp"),
    ("a user namespace", "unshare --user true"),
    ("another namespace", "unshare --mount true"),
    ("the host's loopback", "exec 3<>/dev/tcp/127.0.0.1/$PORT"),
    ("the outside", "exec 3<>/dev/tcp/192.0.2.1/80"),
    ("the root of the sandbox's first process", "ls /proc/1/root/root"),
    ("a setting of the kernel", "echo 1 > /proc/sys/kernel/sysrq"),
    ("the machine's name", "hostname x"),
    ("become root", "setpriv --reuid=0 true"),
];

#[test]
fn attacks_come_to_nothing() {
    let Some((mut stage, _)) = stage() else { return };
    // An attack with a tool that is not there would fail for the wrong reason.
    let tools = stage.boxed(
        "for tool in bash hostname mount setpriv timeout unshare; do command -v $tool || exit 1; done",
    );
    if stage.run(tools).0 != ProgramEnd::Code(0) {
        eprintln!("SKIPPED: a tool is missing after {}", stage.said("out"));
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    fs::write(stage.path("secret"), "the key").unwrap();
    fs::set_permissions(stage.path("secret"), fs::Permissions::from_mode(0o644)).unwrap();
    for (name, attack) in ATTACKS {
        let _ = fs::remove_file(stage.path("out"));
        let mut spec = stage
            .boxed(&format!("if timeout 10 bash -c '{attack}'; then echo got in; else echo kept out; fi"));
        spec.env = vec![
            ("SECRET".to_owned(), stage.path("secret").display().to_string()),
            ("PORT".to_owned(), port.to_string()),
        ];
        stage.run(spec);
        assert_eq!(stage.said("out"), "kept out", "{name}: {}", stage.said("err"));
    }
}

#[test]
fn other_processes_are_neither_seen_nor_reached() {
    let Some((mut stage, _)) = stage() else { return };
    let mut victim = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let spec =
        stage.boxed(&format!("ls -d /proc/[0-9]* | wc -l; kill -9 {}; kill -9 -1; exit 1", victim.id()));
    let (outcome, _) = stage.run(spec);
    assert!(lives(victim.id()), "{outcome:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    // Bubblewrap's first process, the shell, and what it runs.
    let seen: u32 = stage.said("out").parse().unwrap();
    assert!(seen <= 5, "{seen} processes seen");
}

/// Refused by the filter: what an attacker would call, as Python can.
#[test]
fn refused_system_calls_are_refused() {
    let Some((mut stage, _)) = stage() else { return };
    // The last is `open_tree_attr`.
    let numbers = [
        libc::SYS_ptrace,
        libc::SYS_bpf,
        libc::SYS_keyctl,
        libc::SYS_io_uring_setup,
        libc::SYS_userfaultfd,
        467,
    ];
    let script = format!(
        "import ctypes,errno\nc=ctypes.CDLL(None,use_errno=True)\n\
         for n in {numbers:?}:\n  assert c.syscall(n,0,0,0,0)==-1 and ctypes.get_errno()==errno.EPERM,n\n\
         assert c.syscall({},0,0)==-1 and ctypes.get_errno()==errno.ENOSYS\n\
         assert c.syscall({},0,65537,0o600)==-1 and ctypes.get_errno()==errno.EINVAL\n\
         assert c.syscall({},0,65536,0o600)>=0\n\
         import platform\n\
         if platform.machine()=='x86_64':\n  \
         assert c.syscall(0x40000000+39)==-1 and ctypes.get_errno()==errno.EPERM,'x32'\n\
         for f,t,p in [(40,1,0),(17,3,0),(38,5,0),(31,3,0),(15,3,2),(16,3,4),(2,5,132),(10,5,132),(29,3,1)]:\n  \
         assert c.socket(f,t,p)==-1 and ctypes.get_errno()==errno.EAFNOSUPPORT,(f,t,p)\n\
         for f,t,p in [(1,1,0),(2,1,0),(2,2,17),(10,1,6),(16,3,0)]:\n  assert c.socket(f,t,p)>=0,(f,t,p)\n\
         print('refused')",
        libc::SYS_clone3,
        libc::SYS_shmget,
        libc::SYS_shmget
    );
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: no /usr/bin/python3 to make system calls with");
        return;
    }
    let mut spec = stage.boxed("");
    spec.argv = vec!["/usr/bin/python3".to_owned(), "-c".to_owned(), script];
    stage.run(spec);
    assert_eq!(stage.said("out"), "refused", "{}", stage.said("err"));
}

#[test]
fn a_sandbox_dies_with_its_minder_and_its_orders_are_obeyed() {
    let Some((mut stage, _)) = stage() else { return };
    let deaf = "(trap '' TERM; setsid sh -c 'while :; do sleep 0.01; echo x > beat; done') & ";
    // Suspended, let go on, then killed or asked to end.
    for (sign, outcome) in [(Sign::Kill, ProgramEnd::Signal(9)), (Sign::Term, ProgramEnd::Code(85))] {
        let _ = fs::remove_file(stage.path("task/beat"));
        stage.start(stage.boxed(&format!("{deaf} trap 'exit 85' TERM; while :; do sleep 0.01; done")));
        until("it runs", || stage.path("task/beat").exists());
        stage.sign(Sign::Stop);
        stage.sign(Sign::Cont);
        stage.sign(sign);
        assert_eq!(stage.end().0, outcome);
        // Nobody makes it again, for `Exited` means that nobody is left.
        fs::remove_file(stage.path("task/beat")).unwrap();
        assert!(!stage.path("task/beat").exists());
    }
}

/// What a task finds out of the machine, and what it could ever be.
#[test]
fn the_host_does_not_show_through() {
    let Some((mut stage, _)) = stage() else { return };
    for (name, script, expected) in [
        ("arguments of the first process", "tr '\\0' ' ' < /proc/1/cmdline | grep -c \"$HOST\"", "0"),
        ("its environment", "tr '\\0' ' ' < /proc/1/environ 2> /dev/null | grep -c \"$HOST\"", "0"),
        (
            "any capability",
            "grep -h Cap /proc/self/status | tr -d '\\t\\n0'",
            "CapInh:CapPrm:CapEff:CapBnd:CapAmb:",
        ),
        ("options of the kernel", "cat /proc/cmdline 2> /dev/null | wc -c", "0"),
        ("keys of others", "cat /proc/keys /proc/key-users 2> /dev/null | wc -c", "0"),
        ("the kernel's messages", "dmesg 2> /dev/null | wc -c", "0"),
    ] {
        let _ = fs::remove_file(stage.path("out"));
        let mut spec = stage.boxed(script);
        spec.env = vec![("HOST".to_owned(), stage.folder.path().display().to_string())];
        stage.run(spec);
        assert_eq!(stage.said("out"), expected, "{name}: {}", stage.said("err"));
    }
}

/// Forty processes that wake each other, and each of which goes on as another all the time.
const WAKING: &str = "\
import os, signal, time
ours = os.getpgid(0)
for number in range(40):
    if os.fork() == 0:
        while True:
            os.killpg(ours, signal.SIGCONT)
            open('beat', 'a').write('x')
            try:
                if os.fork() > 0: os._exit(0)
            except OSError: pass
open('ready', 'w')
time.sleep(1000)
";

fn waking(stage: &Stage) -> RunSpec {
    RunSpec { argv: ["/usr/bin/python3", "-c", WAKING].map(str::to_owned).to_vec(), ..stage.boxed("") }
}

#[test]
fn processes_that_wake_each_other_stand_still_all_the_same() {
    let Some((mut stage, _)) = stage() else { return };
    if !Path::new("/usr/bin/python3").exists() {
        return eprintln!("SKIPPED: no /usr/bin/python3 to be hostile with");
    }
    let beats = |stage: &Stage| fs::metadata(stage.path("task/beat")).map_or(0, |data| data.len());
    let limiter = limiter("waking");
    if has(&limiter, Control::Freezer) {
        stage.start(RunSpec { limiter: limiter.clone(), ..waking(&stage) });
        until("it runs", || stage.path("task/ready").exists() && beats(&stage) > 100);
        stage.sign(Sign::Stop);
        until("it stands still", || {
            let before = beats(&stage);
            std::thread::sleep(std::time::Duration::from_millis(200));
            beats(&stage) == before
        });
        let before = beats(&stage);
        stage.sign(Sign::Cont);
        until("it goes on", || beats(&stage) > before);
        stage.sign(Sign::Kill);
        assert_eq!(stage.end().0, ProgramEnd::Signal(9));
    }
    limiter.remove();
    // Without a freezer there are signals, which they take back: it is ended, unless all were met at once.
    for _ in ["ready", "beat"].map(|name| fs::remove_file(stage.path("task").join(name))) {}
    stage.start(waking(&stage));
    until("it runs", || stage.path("task/ready").exists() && beats(&stage) > 100);
    stage.sign(Sign::Stop);
    until("it stands still, or is gone", || {
        let before = beats(&stage);
        std::thread::sleep(std::time::Duration::from_millis(500));
        beats(&stage) == before
    });
    stage.sign(Sign::Kill);
    let outcome = stage.end().0;
    eprintln!("without a freezer: {outcome:?}");
    assert!(matches!(outcome, ProgramEnd::Defied | ProgramEnd::Signal(9)), "{outcome:?}");
    // One that stands still does not have to end, whatever it was about to do.
    stage.start(stage.boxed("touch here; while :; do sleep 0.01; done"));
    until("it runs", || stage.path("task/here").exists());
    stage.sign(Sign::Stop);
    std::thread::sleep(std::time::Duration::from_secs(1));
    stage.sign(Sign::Cont);
    stage.sign(Sign::Term);
    assert_eq!(stage.end().0, ProgramEnd::Signal(15));
}

/// Many timers, since the signals of some are lost when a process is stopped again.
const TIMERS: &str = "
import ctypes, os, signal, threading, time
signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None)
for number in range(50):
    event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)
    timer, late = ctypes.c_void_p(), number * 20_000_000
    libc.timer_create(1, event, ctypes.byref(timer))
    libc.timer_settime(timer, 0, (ctypes.c_long * 4)(1, late, 1, late), None)
open('ready', 'w')
";

/// Programs that their timers wake whenever they are stopped: one whose first thread has ended, so that the process looks dead, and
/// one that works for a moment and stops itself before anybody looks.
const TIMED: [&str; 2] = [
    "
def work():
    while True: pass
threading.Thread(target=work).start()
libc.syscall(93 if os.uname().machine == 'aarch64' else 60, 0)
",
    "
while True:
    until = time.monotonic() + 0.002
    while time.monotonic() < until: pass
    os.kill(os.getpid(), signal.SIGSTOP)
",
];

#[test]
fn who_has_timers_wake_it_is_ended_however_it_looks() {
    let Some((mut stage, _)) = stage() else { return };
    if !Path::new("/usr/bin/python3").exists() {
        return eprintln!("SKIPPED: no /usr/bin/python3 to be hostile with");
    }
    for program in TIMED {
        let program = format!("{TIMERS}{program}");
        let argv = ["/usr/bin/python3", "-c", &program].map(str::to_owned).to_vec();
        stage.start(RunSpec { argv, ..stage.boxed("") });
        until("it runs", || stage.path("task/ready").exists());
        stage.sign(Sign::Stop);
        assert_eq!(stage.end().0, ProgramEnd::Defied, "{program}: {}", stage.said("err"));
        fs::remove_file(stage.path("task/ready")).unwrap();
    }
}

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
    stage.sign(Sign::Stop);
    stage.sign(Sign::Kill);
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

#[test]
fn the_network_is_there_when_it_was_asked_for() {
    let Some((mut stage, _)) = stage() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut spec = stage.boxed("");
    spec.argv = vec!["bash".to_owned(), "-c".to_owned(), format!("exec 3<>/dev/tcp/127.0.0.1/{port}")];
    if let Confinement::Sandbox(sandbox) = &mut spec.confinement {
        sandbox.network = Network::Machine;
    }
    assert_eq!(stage.run(spec).0, ProgramEnd::Code(0), "{}", stage.said("err"));
}

/// Datagrams over the loopback (Landlock leaves no TCP), an abstract name, and a process that would stay.
const USE_THE_NETWORK: &str = "\
import os, socket, time
name = socket.socket(socket.AF_UNIX); name.bind('\\0name'); name.listen()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); server.bind(('127.0.0.1', 4000))
server.sendto(b'x', ('127.0.0.1', 4000)); server.recv(1)
if os.fork() == 0:
    os.setsid(); time.sleep(1000)
";

/// A minder of root's keeps the empty network from task to task, but nothing that a task did in it.
#[test]
fn an_empty_network_is_as_new_for_each_task() {
    let Some((mut stage, level)) = stage() else { return };
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: no /usr/bin/python3 to use a network with");
        return;
    }
    let mut user = stage.boxed("");
    user.argv = vec!["/usr/bin/python3".to_owned(), "-c".to_owned(), USE_THE_NETWORK.to_owned()];
    // The namespace's name; interfaces; lines of sockets, each list with a heading; what the loopback has counted.
    let look = "readlink /proc/self/ns/net; grep -c : /proc/net/dev; cat /proc/net/unix /proc/net/udp | wc -l; \
                grep lo: /proc/net/dev | tr -d ' 0'";
    let looked = |stage: &mut Stage| {
        let _ = fs::remove_file(stage.path("out"));
        assert_eq!(stage.run(stage.boxed(look)).0, ProgramEnd::Code(0), "{}", stage.said("err"));
        let said = stage.said("out");
        let (namespace, found) = said.split_once('\n').unwrap();
        assert_eq!(found, "1\n2\nlo:");
        namespace.to_owned()
    };
    let first = looked(&mut stage);
    assert_ne!(first, fs::read_link("/proc/self/ns/net").unwrap().display().to_string());
    if level.own_users {
        assert_eq!(looked(&mut stage), first, "it was as new and not kept");
    }
    assert_eq!(stage.run(user).0, ProgramEnd::Code(0), "{}", stage.said("err"));
    looked(&mut stage);
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

#[test]
fn an_agent_without_root_builds_sandboxes_too() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: not root, so the other tests are this one");
        return;
    }
    let folder = tempfile::TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let wrapper = folder.path().join("as-nobody");
    let run = "exec setpriv --reuid=65534 --regid=65534 --clear-groups";
    fs::write(&wrapper, format!("#!/bin/sh\n{run} {PROGRAM} \"$@\"\n")).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let mut stage = Stage::with_program(&wrapper);
    fs::set_permissions(stage.folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let scratch = stage.path("scratch");
    match available(&stage.keeper, &scratch) {
        Ok(level) => eprintln!("{level}"),
        Err(why) => {
            eprintln!("SKIPPED: no sandbox for a user without rights: {why}");
            return;
        }
    }
    let spec = stage.boxed("echo x > /task/x; unshare --user true || ls /root || echo kept out");
    fs::set_permissions(stage.path("task"), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(stage.run(spec).0, ProgramEnd::Code(0), "{}", stage.said("err"));
    assert_eq!(stage.said("out"), "kept out");

    // What a task takes of inotify, all tasks of this user have less of, and the owner's programs too.
    let instances =
        "import ctypes; c = ctypes.CDLL(None); print(sum(c.inotify_init1(0) >= 0 for _ in range(2_000)))";
    let raises = "echo 100 > /proc/sys/user/max_inotify_instances || true";
    let spec = stage.boxed(&format!("{raises}; exec /usr/bin/python3 -c '{instances}'"));
    let limits = Limits { inotify_parts: Some(16), ..Limits::default() };
    assert_eq!(stage.run(RunSpec { limits, ..spec }).0, ProgramEnd::Code(0), "{}", stage.said("err"));
    let usual = fs::read_to_string("/proc/sys/user/max_inotify_instances").unwrap();
    let usual: u64 = usual.trim().parse().unwrap();
    let taken = stage.said("out").lines().last().map(|taken| taken.parse::<u64>().unwrap());
    assert_eq!(taken, Some((usual / 16).min(2_000)));
}
