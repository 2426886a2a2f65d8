//! What a task tries against the walls around it, on a live grid: each attack with the defence that it meets.
//!
//! An attack is a few lines of Python that say `got: …` where they come through. So that none fails for a wrong reason, each
//! that does no harm is made outside as well, where there is no wall: there it has to come through.

use crate::grid::{Grid, PATIENCE};
use crate::processes::{until, words};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;

const RULES: &str = "sessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\n";
const PYTHON: &str = "/usr/bin/python3";
const PRELUDE: &str = include_str!("walls/prelude.py");
/// What a process of a task that outlives it would be known by.
const MARK: &str = "gleaner-walls-outlived";

/// What becomes of an attack where there is no sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outside {
    /// It comes through, for root.
    ComesThrough,
    /// It would do harm, or asks for what this machine may not have: it is not tried.
    Untried,
}
use Outside::{ComesThrough, Untried};

struct Attack {
    name: &'static str,
    /// What stops it.
    defence: &'static str,
    /// `{home}`: the agent's folder. `{hub}`: the coordinator's. `{pid}`: the agent. `{name}`: of an abstract socket.
    script: &'static str,
    outside: Outside,
}

const fn attack(name: &'static str, defence: &'static str, outside: Outside, script: &'static str) -> Attack {
    Attack { name, defence, script, outside }
}

const ATTACKS: &[Attack] = &[
    attack("the agent's key by its path", "mounts", ComesThrough, "reads('{home}/agent.key')"),
    attack("the first user's token by its path", "mounts", ComesThrough, "reads('{hub}/token')"),
    attack(
        "more of inotify than is its part",
        "no capabilities",
        Untried,
        "writes('/proc/sys/user/max_inotify_instances')",
    ),
    attack("the owner's files", "mounts", ComesThrough, "got(os.listdir('/root'))"),
    attack("the machine's passwords", "mounts", ComesThrough, "reads('/etc/shadow')"),
    attack("the system's folders", "read-only mounts", ComesThrough, "writes('/etc/passwd')"),
    attack(
        "settings that are not for tasks",
        "mounts, copies of what is named",
        ComesThrough,
        "
named = 'alternatives ca-certificates fonts group hosts ld.so.cache ld.so.conf ld.so.conf.d localtime ' \\
        'nsswitch.conf passwd pki protocols resolv.conf services ssl'
left = set(os.listdir('/etc')) - set(named.split()) | set(os.listdir('/etc/ssl')) - {'certs', 'openssl.cnf'}
if left:
    got(left)
for setting in ('hosts', 'protocols', 'services', 'resolv.conf'):
    if os.path.exists(f'/etc/{setting}'):
        reads(f'/etc/{setting}')",
    ),
    attack(
        "the root of the file system",
        "read-only mounts",
        ComesThrough,
        "
path = '/gleaner-walls'
os.mkdir(path)
os.rmdir(path)
got('a folder at the root')",
    ),
    attack(
        "the agent's folder by a link of /proc",
        "a process namespace",
        ComesThrough,
        "
reads('/proc/{pid}/root{home}/agent.key')",
    ),
    attack(
        "the environment of the agent",
        "a process namespace",
        ComesThrough,
        "reads('/proc/{pid}/environ')",
    ),
    attack(
        "a signal to the agent",
        "a process namespace, Landlock",
        ComesThrough,
        "
os.kill({pid}, 0)
got('a way to signal the agent')",
    ),
    attack(
        "the program that started it",
        "a read-only file of another user",
        Untried,
        "
for pid in [name for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]:
    writes(f'/proc/{pid}/exe')",
    ),
    attack(
        "descriptors that were left open",
        "close on exec",
        Untried,
        "
left = [name for name in os.listdir('/proc/self/fd') if int(name) > 3]
if left:
    got(left)",
    ),
    attack(
        "what it inherited, followed upwards",
        "descriptors of files only",
        Untried,
        "
for number in (0, 1, 2):
    try:
        got(os.listdir(f'/proc/self/fd/{number}/..'))
    except OSError:
        pass",
    ),
    attack(
        "the owner's word",
        "mounts, peer credentials",
        ComesThrough,
        "
connects(socket.AF_UNIX, '{home}/owner.sock')",
    ),
    attack(
        "an abstract socket of the machine's",
        "a network namespace, Landlock",
        ComesThrough,
        "
connects(socket.AF_UNIX, b'\\0' + b'{name}')",
    ),
    attack("the network", "a network namespace", Untried, "connects(socket.AF_INET, ('10.0.0.1', 7717))"),
    attack(
        "a packet of its own making",
        "seccomp: families and types of sockets",
        ComesThrough,
        "
got(socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))",
    ),
    attack(
        "the wire",
        "seccomp: families of sockets",
        ComesThrough,
        "
got(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))",
    ),
    attack(
        "the kernel's ciphers",
        "seccomp: families of sockets",
        Untried,
        "
got(socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0))",
    ),
    attack(
        "the host of a virtual machine",
        "seccomp: families of sockets",
        Untried,
        "
got(socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM, 0))",
    ),
    attack(
        "a user namespace",
        "seccomp",
        ComesThrough,
        "
if libc.unshare(0x10000000) == 0:
    got('a user namespace')",
    ),
    attack(
        "a mount",
        "seccomp, no capabilities",
        Untried,
        "
if libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0:
    got('a mount')",
    ),
    attack(
        "another root",
        "seccomp, no capabilities",
        ComesThrough,
        "
os.chroot('/tmp')
got('another root')",
    ),
    attack(
        "files by their handles",
        "no capabilities",
        Untried,
        "
handle = ctypes.create_string_buffer(struct.pack('Ii', 8, 1) + struct.pack('Q', 2), 144)
folder = os.open('/', os.O_RDONLY)
if call(304, folder, handle, os.O_RDONLY) is not None:
    got('the root by its handle')",
    ),
    attack(
        "a device of its own",
        "no capabilities, seccomp",
        Untried,
        "
os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0))
got('a device')",
    ),
    attack("the machine's memory", "a /dev of its own", Untried, "reads('/dev/mem')"),
    attack("the kernel's messages", "a /dev of its own, seccomp", Untried, "reads('/dev/kmsg')"),
    attack(
        "the kernel's settings",
        "a read-only /proc",
        Untried,
        "
writes('/proc/sys/kernel/core_pattern')",
    ),
    attack(
        "the machine's power",
        "no capabilities, a read-only /proc",
        Untried,
        "writes('/proc/sysrq-trigger')",
    ),
    attack(
        "its own limits",
        "cgroups that it does not see",
        Untried,
        "
for where, _, files in os.walk('/sys/fs/cgroup'):
    for name in files:
        if name in ('cgroup.procs', 'memory.max', 'memory.limit_in_bytes', 'freezer.state'):
            writes(os.path.join(where, name))",
    ),
    attack(
        "a look into another process",
        "seccomp",
        Untried,
        "
if call(101, 16, 1, 0, 0) is not None:
    got('ptrace')",
    ),
    attack(
        "io_uring",
        "seccomp",
        Untried,
        "
if call(425, 1, ctypes.create_string_buffer(256)) is not None:
    got('io_uring')",
    ),
    attack(
        "bpf",
        "seccomp",
        Untried,
        "
if call(321, 0, ctypes.create_string_buffer(256), 256) is not None:
    got('bpf')",
    ),
    attack(
        "the counters of the processor",
        "seccomp",
        Untried,
        "
if call(298, ctypes.create_string_buffer(struct.pack('II', 1, 128), 128), 0, -1, -1, 0) is not None:
    got('perf_event_open')",
    ),
    attack(
        "faults of pages",
        "seccomp",
        Untried,
        "
if call(323, 1) is not None:
    got('userfaultfd')",
    ),
    attack(
        "keys of the session",
        "seccomp",
        Untried,
        "
if call(250, 0, -3, 1) is not None:
    got('a keyring')",
    ),
    attack(
        "a module",
        "seccomp, no capabilities",
        Untried,
        "
if call(175, b'', 0, b'') is not None:
    got('a module')",
    ),
    attack(
        "another kernel",
        "seccomp, no capabilities",
        Untried,
        "
if call(246, 0, 0, 0, 0) is not None:
    got('kexec')",
    ),
    attack(
        "words typed into a terminal",
        "seccomp, a session of its own",
        Untried,
        "
import fcntl
import termios
for number in (0, 1, 2):
    fcntl.ioctl(number, termios.TIOCSTI, b'x')
    got('a way to type')",
    ),
    attack(
        "the clock",
        "no capabilities, seccomp",
        Untried,
        "
import time
time.clock_settime(time.CLOCK_REALTIME, time.time())
got('the clock')",
    ),
    attack(
        "the machine's name",
        "no capabilities",
        Untried,
        "
socket.sethostname('pwned')
got('the name')",
    ),
    attack(
        "a better place than others",
        "no capabilities",
        ComesThrough,
        "
os.nice(-5)
got('a better place')",
    ),
    attack(
        "more than its limits",
        "no capabilities",
        Untried,
        "
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1))
got('more files')",
    ),
    attack(
        "another user's rights",
        "no new privileges, no capabilities",
        Untried,
        "
status = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
held = {key: status[key].strip() for key in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}
if any(int(value, 16) for value in held.values()) or status['NoNewPrivs'].strip() != '1':
    got(held)",
    ),
    attack(
        "calls of other kinds of programs",
        "seccomp",
        Untried,
        "
if call(0x40000000 + 39) is not None:
    got('a call of x32')",
    ),
    attack(
        "the folders of other tasks",
        "mounts",
        Untried,
        "
import glob
for place in ('/task/..', '/proc/self/cwd/..', '{home}/tasks', '/proc/1/cwd/..'):
    if set(os.listdir(place)) & {'agent.key', 'tasks', '0', '1'}:
        got(place)",
    ),
    attack(
        "a life after its end",
        "a subreaper, a process namespace",
        Untried,
        "
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv('/bin/sh', ['sh', '-c', 'sleep 300; :', '{mark}'])
        os._exit(0)",
    ),
];

/// The attack as a program.
fn program(script: &str) -> String {
    format!("{PRELUDE}\nattempt({script:?})\n")
}

fn filled(attack: &Attack, places: &[(&str, String)]) -> String {
    let fill = |script: String, (name, value): &(&str, String)| script.replace(&format!("{{{name}}}"), value);
    places.iter().fold(attack.script.to_owned(), fill)
}

#[test]
fn no_task_gets_through_the_walls() {
    if !Path::new(PYTHON).exists() {
        eprintln!("SKIPPED: no {PYTHON} to attack with");
        return;
    }
    let mut grid = Grid::new("walls", 60);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let name = format!("gleaner-walls-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let _listener = UnixListener::bind_addr(&address).expect("a socket");
    let lab = grid.machine("lab");
    let pid = lab.processes().first().copied().expect("the agent");
    let home = lab.home.display().to_string();
    let hub = grid.home.display().to_string();
    let places =
        [("home", home), ("hub", hub), ("pid", pid.to_string()), ("name", name), ("mark", MARK.to_owned())];

    let programs: Vec<String> = ATTACKS.iter().map(|attack| program(&filled(attack, &places))).collect();
    for (attack, program) in ATTACKS.iter().zip(&programs) {
        if attack.outside == ComesThrough {
            let output = Command::new(PYTHON).args(["-c", program]).output().expect("python3");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("got:"), "{} fails where there is no wall: {said}{output:?}", attack.name);
        }
    }
    let submit = |program: &String| {
        grid.json(&["submit", "--retries", "0", "--", PYTHON, "-c", program])["job"].to_string()
    };
    let jobs: Vec<String> = programs.iter().map(submit).collect();
    for (attack, job) in ATTACKS.iter().zip(&jobs) {
        let Attack { name, defence, .. } = attack;
        grid.cli(&["wait", job]);
        let said = grid.ok(&["logs", &format!("{job}/0")]);
        assert!(said.contains("tried"), "{name}: {said}");
        assert!(!said.contains("got:"), "{name} came through, against {defence}: {said}");
        eprintln!("{name}: stopped by {defence}");
    }
    let outlives = |pid: &u32| words(*pid).iter().any(|word| word == MARK);
    until("nothing of a task is left", PATIENCE, || {
        (!grid.machine("lab").processes().iter().any(outlives)).then_some(())
    });
    grid.expect_all_alive();
    grid.wind_up();
}
