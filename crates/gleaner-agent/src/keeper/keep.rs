//! The keeper's own loop: starts minders, and kills what a dead one leaves behind.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, set_child_subreaper, setsid};

use super::kin::{self, Left, Passing};
use super::{handing, launcher, open_files, precedence};
use crate::lack::is_lack;

/// How long minders have to end their tasks when the agent is gone.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long to wait where the system has nothing left of what it takes.
const PAUSE: Duration = Duration::from_millis(10);
/// How long until what a dead minder left is looked at again: what is stuck in the kernel needs no hurry.
const BURIAL_PAUSE_MIN: Duration = Duration::from_millis(1);
const BURIAL_PAUSE_MAX: Duration = Duration::from_millis(100);

struct Child {
    pid: Pid,
    exit: OwnedFd,
    /// The minder holds the other end; when this one is closed, it ends its task and itself.
    lifeline: Option<UnixStream>,
    /// The minder's end of its socket with the agent. Held here too, so that the agent hears of a minder's death when
    /// nothing is left of its task, and not before.
    _socket: OwnedFd,
}

/// Serves the agent at the other end of standard input (a socket) until it is gone, then ends all that runs.
///
/// **One minder that cannot be started costs no other its task**: its socket is closed, by which the agent hears of it.
///
/// This process must be started for it alone: `gleaner keeper`. It starts its minders as `/proc/self/exe mind`.
pub fn keep() -> io::Result<()> {
    close_inherited()?;
    open_files::raise();
    // Out of reach of the terminal's Ctrl-C, which the agent turns into an orderly end. Fails for a group's leader, who
    // is out of reach already.
    let _ = setsid();
    // Most tasks outside of the sandbox are in it too.
    precedence::have_session_give_way();
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let launcher = launcher::open()?;
    let mut minders: Vec<Child> = Vec::new();
    let mut dead = Dead::default();
    loop {
        match wait(&minders, Attention::AgentToo, dead.patience())? {
            Woken::Agent => match next_asked()? {
                Asked::Minder(socket) => minders.extend(minder_for(socket, &launcher, minders.len())),
                Asked::Nothing => {}
                Asked::End => break,
            },
            Woken::Minders | Woken::Late => dead.bury(&mut minders),
        }
    }
    for minder in &mut minders {
        minder.lifeline = None;
    }
    let deadline = Instant::now() + FAREWELL;
    while !minders.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        match wait(&minders, Attention::MindersOnly, Some(left))? {
            Woken::Minders => dead.bury(&mut minders),
            Woken::Agent | Woken::Late => break,
        }
    }
    // Not left to what follows, which stops processes before it kills them: a minder that is stopped would stay if this
    // process were killed in between.
    for minder in &minders {
        let _ = kill_process(minder.pid, Signal::KILL);
    }
    kin::end();
    Ok(())
}

/// What whoever started the agent left open, such as a shell's files, is not for tasks. Nothing of ours is open yet but the
/// three standard streams.
fn close_inherited() -> io::Result<()> {
    let entries = fs::read_dir("/proc/self/fd")?.map(|entry| entry.map(|entry| entry.file_name()));
    for name in entries.collect::<io::Result<Vec<_>>>()? {
        let number = name.to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            // The list itself was one of them.
            let _ = nix::unistd::close(number);
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attention {
    AgentToo,
    MindersOnly,
}

enum Woken {
    Agent,
    Minders,
    Late,
}

fn wait(minders: &[Child], attention: Attention, timeout: Option<Duration>) -> io::Result<Woken> {
    let stdin = io::stdin();
    let mut fds: Vec<PollFd<'_>> =
        minders.iter().map(|minder| PollFd::new(&minder.exit, PollFlags::IN)).collect();
    if attention == Attention::AgentToo {
        fds.push(PollFd::new(&stdin, PollFlags::IN));
    }
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut fds, timeout.as_ref()) {
        Ok(0) | Err(Errno::INTR) => return Ok(Woken::Late),
        Err(why) if is_lack(&why.into()) => {
            std::thread::sleep(PAUSE);
            return Ok(Woken::Late);
        }
        other => other?,
    };
    let a_minder_ended = fds[..minders.len()].iter().any(|fd| !fd.revents().is_empty());
    Ok(if a_minder_ended { Woken::Minders } else { Woken::Agent })
}

/// Minders that have ended, and of whose tasks something may be left: then the agent does not hear of it yet. **Who waits for a disk in
/// the kernel cannot be killed**, and keeps nobody waiting for another minder. What is left is not told apart: the end of a run whose minder
/// dies meanwhile is heard of when nothing is left of any.
#[derive(Default)]
struct Dead {
    minders: Vec<Child>,
    pause: Duration,
}

impl Dead {
    /// How long until it is looked at what they left.
    fn patience(&self) -> Option<Duration> {
        (!self.minders.is_empty()).then_some(self.pause)
    }

    /// Takes those that have ended, kills what they left behind, and forgets them when nothing is left.
    fn bury(&mut self, minders: &mut Vec<Child>) {
        let has_ended = |minder: &mut Child| {
            let mut fd = [PollFd::new(&minder.exit, PollFlags::IN)];
            matches!(poll(&mut fd, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1))
        };
        let ended: Vec<Child> = minders.extract_if(.., has_ended).collect();
        if !ended.is_empty() {
            self.pause = Duration::ZERO;
        }
        self.minders.extend(ended);
        if self.minders.is_empty() {
            return;
        }
        let living: Vec<Pid> = minders.iter().map(|minder| minder.pid).collect();
        // What the kernel hands over from a dead minder are children of ours that are no minders.
        if kin::reap() == Left::Some && kin::is_left(Passing::Trees(&living)) {
            kin::kill(Passing::Trees(&living));
            self.pause = (self.pause * 2).clamp(BURIAL_PAUSE_MIN, BURIAL_PAUSE_MAX);
        } else {
            self.minders.clear();
        }
    }
}

/// What the agent wants.
enum Asked {
    /// A minder that has this end of a socket with it.
    Minder(OwnedFd),
    /// One for which something is lacking, and for no other.
    Nothing,
    /// It is gone.
    End,
}

fn next_asked() -> io::Result<Asked> {
    let taken = match handing::take(io::stdin()) {
        Err(why) if is_lack(&why) || why.kind() == io::ErrorKind::Interrupted => {
            std::thread::sleep(PAUSE);
            return Ok(Asked::Nothing);
        }
        taken => taken?,
    };
    let Some(files) = taken else { return Ok(Asked::End) };
    match <[OwnedFd; 1]>::try_from(files) {
        Ok([socket]) => Ok(Asked::Minder(socket)),
        // The kernel closes what there is no number left for.
        Err(files) => {
            eprintln!(
                "a program cannot be held: {} open files were handed over instead of 1, so none more may be open",
                files.len()
            );
            Ok(Asked::Nothing)
        }
    }
}

/// Starts a minder, or says why not.
fn minder_for(socket: OwnedFd, launcher: &File, others: usize) -> Option<Child> {
    let most = open_files::minders_max();
    if others as u64 >= most {
        eprintln!("a program cannot be held: there are {others}, and the limit on open files allows no more");
        return None;
    }
    start_minder(socket, launcher).inspect_err(|why| eprintln!("a program cannot be held: {why}")).ok()
}

fn start_minder(socket: OwnedFd, launcher: &File) -> io::Result<Child> {
    let (lifeline, theirs) = UnixStream::pair()?;
    // Not by the path of the program, which may have been replaced by a newer one since.
    let mut child = Command::new("/proc/self/exe")
        .arg0("gleaner")
        .arg("mind")
        .stdin(Stdio::from(socket.try_clone()?))
        .stdout(OwnedFd::from(theirs))
        .spawn()?;
    let pid = Pid::from_child(&child);
    let exit = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(exit) => exit,
        Err(why) => {
            // It waits for the launcher, and has started nothing.
            child.kill().and_then(|()| child.wait())?;
            return Err(why.into());
        }
    };
    // A minder that is gone already is buried like all others.
    let _ = handing::hand(&lifeline, &[launcher.as_fd(), io::stdout().as_fd()]);
    Ok(Child { pid, exit, lifeline: Some(lifeline), _socket: socket })
}
