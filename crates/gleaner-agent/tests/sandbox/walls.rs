//! What a task in a sandbox sees, and what it tries in vain.

use crate::processes::{PROGRAM, Stage, lives, until};
use crate::{Boxed, stage};
use gleaner_agent::confine::{Limits, available};
use gleaner_agent::keeper::{Confinement, Input, Network, ProgramEnd, RunSpec, Signal};
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

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

/// What a task sees of `/etc` by itself. Files with nothing in them are where more is shown to tasks with a network.
const SETTINGS: &str =
    "cd /etc; find . -type f -size +0 -exec cksum {} + | sort; find . -type l -printf '%p %l\\n' | sort";

#[test]
fn copies_of_the_settings_hold_what_the_machines_own_do() {
    let Some((mut stage, _)) = stage() else { return };
    let copies = stage.path("settings/etc");
    let mut looked = |script: &str, settings: Option<&PathBuf>, network: Network| {
        let _ = fs::remove_file(stage.path("out"));
        let mut spec = stage.boxed(script);
        if let Confinement::Sandbox(sandbox) = &mut spec.confinement {
            (sandbox.settings, sandbox.network) = (settings.cloned(), network);
        }
        assert_eq!(stage.run(spec).0, ProgramEnd::Code(0), "{}", stage.said("err"));
        stage.said("out")
    };
    let own = looked(SETTINGS, None, Network::None);
    assert!(own.contains("./passwd") && !own.contains("./hosts"), "{own}");
    assert_eq!(looked(SETTINGS, Some(&copies), Network::None), own);
    for shown in ["/etc/hosts", "/etc/resolv.conf"] {
        let expected = fs::read_to_string(shown).unwrap_or_default();
        let look = format!("cat {shown} || true");
        for settings in [None, Some(&copies)] {
            assert_eq!(looked(&look, settings, Network::Machine), expected.trim_end(), "{shown}");
        }
    }
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

/// Scripts that must print `kept out` and nothing else.
const ATTACKS: [(&str, &str); 23] = [
    ("root's home", "ls /root"),
    ("homes", "ls /home/*"),
    ("the agent's keys", "cat $SECRET"),
    ("another place in its own folder's neighbourhood", "ls $(dirname $SECRET)"),
    ("sockets of services", "ls /run/systemd /run/dbus /var/run/docker.sock"),
    ("passwords", "cat /etc/shadow"),
    ("write to the system", "echo x > /usr/x"),
    ("write to the root", "mkdir /x"),
    ("write to settings", "echo x >> /etc/passwd"),
    ("other settings", "rm /etc/passwd || touch /etc/new || chmod 666 /etc/passwd || mkdir /etc/ssl/new"),
    ("settings that nobody named", "cat /etc/hostname || cat /etc/fstab || cat /etc/hosts | grep ."),
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
        libc::SYS_io_setup,
        libc::SYS_io_uring_setup,
        libc::SYS_userfaultfd,
        467,
    ];
    let script = format!(
        "import ctypes,errno\nc=ctypes.CDLL(None,use_errno=True)\n\
         for n in {numbers:?}:\n  assert c.syscall(n,0,0,0,0)==-1 and ctypes.get_errno()==errno.EPERM,n\n\
         assert c.prctl(4,0)==-1 and ctypes.get_errno()==errno.EPERM and c.prctl(4,1)==0\n\
         assert c.syscall({},0,0)==-1 and ctypes.get_errno()==errno.ENOSYS\n\
         assert c.syscall({},0,65537,0o600)==-1 and ctypes.get_errno()==errno.EINVAL\n\
         assert c.syscall({},0,65536,0o600)>=0\n\
         assert c.fcntl(0,1024,1)==-1 and ctypes.get_errno()==errno.EPERM,'a lease'\n\
         assert c.fcntl(0,1040,0)==-1 and ctypes.get_errno()==errno.EPERM,'a delegation'\n\
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
    for (signal, outcome) in
        [(Signal::Kill, ProgramEnd::Signal(9)), (Signal::Terminate, ProgramEnd::Code(85))]
    {
        let _ = fs::remove_file(stage.path("task/beat"));
        stage.start(stage.boxed(&format!("{deaf} trap 'exit 85' TERM; while :; do sleep 0.01; done")));
        until("it runs", || stage.path("task/beat").exists());
        stage.signal(Signal::Freeze);
        stage.signal(Signal::Thaw);
        stage.signal(signal);
        assert_eq!(stage.end().0, outcome);
        // Nobody makes it again, for `Exited` means that nobody is left.
        fs::remove_file(stage.path("task/beat")).unwrap();
        assert!(!stage.path("task/beat").exists());
    }
}

/// While the sandbox is built there is nobody in it who could hear a signal.
#[test]
fn what_is_to_end_before_its_program_began_does_not_begin() {
    let Some((mut stage, _)) = stage() else { return };
    for _ in 0..10 {
        stage.start(stage.boxed("sleep 2; touch late"));
        stage.signal(Signal::Terminate);
        let outcome = stage.end().0;
        assert!(matches!(outcome, ProgramEnd::Signal(9 | 15)), "{outcome:?}");
        assert!(!stage.path("task/late").exists());
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
    // Which could not enter the folder of copies that this process would make.
    match available(&stage.keeper, &scratch, None) {
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

    // What a task takes of this, all tasks of this user have less of, and the owner's programs too.
    let takes = "import ctypes, os, resource, signal; c = ctypes.CDLL(None); \
                 signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN]); \
                 watching = sum(c.inotify_init1(0) >= 0 for _ in range(2_000)); \
                 pending = sum(c.sigqueue(os.getpid(), signal.SIGRTMIN, 0) == 0 for _ in range(200_000)); \
                 print(watching, pending, resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1])";
    let raises = "echo 100 > /proc/sys/user/max_inotify_instances || true";
    let spec = stage.boxed(&format!("{raises}; exec /usr/bin/python3 -c '{takes}'"));
    let limits = Limits { user_parts: Some(16), ..Limits::default() };
    assert_eq!(stage.run(RunSpec { limits, ..spec }).0, ProgramEnd::Code(0), "{}", stage.said("err"));
    let usual = fs::read_to_string("/proc/sys/user/max_inotify_instances").unwrap();
    let usual: u64 = usual.trim().parse().unwrap();
    let of = |resource| getrlimit(resource).current.unwrap_or(u64::MAX) / 16;
    let (pending, queues) = (of(Resource::Sigpending).min(200_000), of(Resource::Msgqueue));
    let expected = format!("{} {pending} {queues}", (usual / 16).min(2_000));
    assert_eq!(stage.said("out").lines().last(), Some(expected.as_str()));
}
