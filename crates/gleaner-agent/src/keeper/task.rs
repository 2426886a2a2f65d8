//! A running task, from its first process to the end of its last.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use rustix::event::Timespec;
use rustix::process::{self, Pid, PidfdFlags, pidfd_open};
use wait4::Wait4;

use super::hearing::Hearing;
use super::kin::{self, Passing};
use super::memory::Memory;
use super::next_look::NextLook;
use super::orders::{Network, ProgramEnd, RunSpec, Signal, Usage};
use super::precedence::Sessions;
use super::standing::Standing;
use super::start::{Means, StartError, Started, start};
use super::traffic::Traffic;
use crate::confine::{ApartNetwork, AtStart, Group, Kills, MinderGroup, TransientUser};
use crate::lack;
use crate::launch::Words;

/// How long a sandbox may take to fall apart by itself.
const COLLAPSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) struct Task {
    id: u64,
    child: Child,
    main: Pid,
    exit: OwnedFd,
    group: Option<Group>,
    /// The minder's cgroup, and what the kernel had done in it before.
    minder_group: Option<(MinderGroup, AtStart)>,
    /// None for a direct start.
    launcher: Option<Hearing>,
    frame: Frame,
    /// A network of the task's own.
    network: Option<ApartNetwork>,
    before: Consumed,
    /// None where the network is not to be reached.
    traffic: Option<Traffic>,
    /// Held until no process of the task is left.
    _user: Option<TransientUser>,
    ended_by_order: std::cell::Cell<bool>,
    /// None where sessions have no precedence.
    sessions: Option<Sessions>,
    /// None where a cgroup counts its memory, or nothing bounds it.
    memory: Option<Memory>,
    /// How much of it the task itself named.
    memory_named: Option<u64>,
    /// How much it may have had in memory before it took what it may, where the kernel does not say that.
    memory_of_who_takes_all: Option<u64>,
    /// While it is stopped by signals.
    standing: Option<Standing>,
    /// Why its minder ended it, if that did.
    ended_for: Option<ProgramEnd>,
}

/// Whether the first process is bubblewrap's, which signals must not reach.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    None,
    Bubblewrap,
}

impl Task {
    pub(crate) fn start(id: u64, spec: &RunSpec, means: &mut Means) -> Result<Self, StartError> {
        let before = Consumed::now();
        let at_start = means.minder_group.as_ref().map_or(AtStart::NEW, MinderGroup::begin);
        let Started { child, group, user, network: apart, launcher } = start(id, spec, means)?;
        let main = Pid::from_child(&child);
        let exit = pidfd_open(main, PidfdFlags::empty()).map_err(|error| {
            // It runs already, and nobody would see its end.
            kin::end();
            StartError::Spawn("the watch on the task".to_owned(), error.into())
        })?;
        let (frame, network) = match &spec.confinement {
            super::Confinement::Own => (Frame::None, Network::Machine),
            super::Confinement::Sandbox(sandbox) => (Frame::Bubblewrap, sandbox.network),
        };
        // What a network of its own carries goes through sockets of the machine's, which are below this process too.
        let traffic = (network != Network::None).then(Traffic::new);
        let is_counted = group.as_ref().is_some_and(Group::limits_memory)
            || (spec.limits.memory_bytes.is_none() && means.minder_group.is_some());
        let memory = spec.limits.memory().filter(|_| !is_counted).map(Memory::new);
        let ended_by_order = std::cell::Cell::new(false);
        Ok(Self {
            id,
            child,
            main,
            exit,
            group,
            minder_group: means.minder_group.clone().map(|minder_group| (minder_group, at_start)),
            launcher: launcher.map(Hearing::of),
            frame,
            network: apart,
            before,
            traffic,
            _user: user,
            ended_by_order,
            sessions: Sessions::new(),
            memory,
            memory_named: spec.limits.memory_bytes,
            memory_of_who_takes_all: spec.limits.memory_of_who_takes_all(),
            standing: None,
            ended_for: None,
        })
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn groups(&self) -> Vec<PathBuf> {
        self.group.as_ref().map(Group::folders).unwrap_or_default()
    }

    /// Readable when the first process has ended.
    pub(crate) fn exit(&self) -> &OwnedFd {
        &self.exit
    }

    /// Whether its program runs, as far as is known; it may be at its end.
    pub(crate) fn has_begun(&mut self) -> bool {
        self.launcher.as_mut().is_none_or(Hearing::is_ready)
    }

    /// How long until [`look`](Self::look) has something to do.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let standing = self.standing.as_ref().map(|standing| standing.next_look);
        let memory = self.memory.as_ref().map(|memory| memory.next_look);
        let sessions = self.sessions.as_ref().map(|sessions| sessions.next_look);
        let traffic = self.traffic.as_ref().map(|traffic| traffic.next_look);
        [standing, memory, sessions, traffic].into_iter().flatten().min().map(NextLook::patience)
    }

    /// Looks at what it is to be watched for, if it is time to. One that does not stand still when it should is ended.
    pub(crate) fn look(&mut self) {
        if let Some(traffic) = &mut self.traffic {
            traffic.look();
        }
        let programs = self.programs();
        if let Some(sessions) = &mut self.sessions {
            sessions.look();
        }
        if self.standing.as_mut().is_some_and(|standing| standing.is_defied(programs)) {
            self.standing = None;
            self.end_for(ProgramEnd::Defied);
        }
        let frame = (self.frame == Frame::Bubblewrap).then_some(self.main);
        if self.memory.as_mut().is_some_and(|memory| memory.is_exceeded(frame)) {
            self.memory = None;
            self.end_for(ProgramEnd::OverMemory);
        }
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        let programs = self.programs();
        self.standing = None;
        match signal {
            Signal::Kill => self.kill(),
            Signal::Terminate => {
                self.ended_by_order.set(true);
                // Signals go to what is within the frame. If nothing is there yet, its program does not begin any more.
                if self.launcher.as_mut().is_none_or(Hearing::is_said) {
                    kin::signal(programs, process::Signal::TERM);
                } else {
                    self.kill();
                }
            }
            Signal::Freeze if self.group.as_ref().is_some_and(Group::freeze) => {}
            Signal::Freeze => {
                kin::stop(programs);
                self.standing = Some(Standing::new());
            }
            Signal::Thaw => {
                // Both: a task may have been stopped before it entered its freezer.
                if let Some(group) = &self.group {
                    group.thaw();
                }
                kin::signal(programs, process::Signal::CONT);
            }
        }
    }

    /// Whom signals to a task must not reach: whoever is the frame around its programs.
    fn programs(&self) -> Passing<'static> {
        match self.frame {
            Frame::None => Passing::Nobody,
            Frame::Bubblewrap => {
                Passing::Frame(self.main, self.network.as_ref().map(ApartNetwork::forwarder))
            }
        }
    }

    /// Kills it, for a reason that whoever ordered it does not know.
    pub(crate) fn end_for(&mut self, why: ProgramEnd) {
        self.ended_for = Some(why);
        self.kill();
    }

    /// Kills every process of the task once; [`Task::finish`] makes sure.
    pub(crate) fn kill(&self) {
        self.ended_by_order.set(true);
        if let Some(group) = &self.group {
            group.kill();
        }
        kin::kill(Passing::Nobody);
        if let Some(group) = &self.group {
            // The old freezer keeps even the killed.
            group.thaw();
        }
    }

    /// Waits for the first process, ends all that is left, and says how it went.
    pub(crate) fn finish(self) -> (ProgramEnd, Usage) {
        let ended = self.child.wait4();
        if let Some(group) = &self.group {
            group.kill();
            group.thaw();
        }
        // What carried its packets ends by itself with this.
        drop(self.network);
        if self.frame == Frame::Bubblewrap {
            // Its first process inside dies with it, and takes the namespace along.
            kin::wait(COLLAPSE);
        }
        kin::end();
        let mut usage = Consumed::now().since(&self.before);
        usage.network_bytes = Some(self.traffic.as_ref().map_or(0, Traffic::bytes));
        let outcome = match ended {
            Ok(ended) => {
                usage.memory_peak_bytes = ended.rusage.maxrss;
                match (outcome(ended.status, self.frame), self.ended_for) {
                    // It was at its end already.
                    (ProgramEnd::Code(0), _) => ProgramEnd::Code(0),
                    (outcome, why) => why.unwrap_or(outcome),
                }
            }
            Err(error) => ProgramEnd::CouldNotStart(format!("its first process was lost: {error}")),
        };
        // Of its first process the kernel also counts what that shared with this process before it ran the program, and nothing of what
        // bubblewrap did not wait for.
        let of_group = self.group.as_ref().and_then(Group::memory_peak);
        let of_minders = || {
            let (group, start) = self.minder_group.as_ref()?;
            group.memory_peak_since(*start)
        };
        usage.memory_peak_bytes = of_group.or_else(of_minders).unwrap_or(usage.memory_peak_bytes);
        let own = self.group.as_ref().map(Group::kills);
        let minders = self.minder_group.as_ref().map(|(group, start)| group.kills_since(*start));
        let mut kills = [own, minders].map(Option::unwrap_or_default);
        if self.memory_of_who_takes_all.is_some_and(|much| usage.memory_peak_bytes >= much) {
            kills = kills.map(Kills::as_of_its_limit);
        }
        usage.killed_for_memory = kills.into_iter().map(Kills::by_its_limit).sum();
        let is_memory_gone = usage.killed_for_memory == 0 && kills.into_iter().any(Kills::are_for_others);
        let outcome = match outcome {
            // Whatever became of the rest of it then.
            ProgramEnd::Code(1..) | ProgramEnd::Signal(_) if is_memory_gone => ProgramEnd::MemoryGone,
            outcome => outcome,
        };
        let Some(launcher) = self.launcher else { return (outcome, usage) };
        match launcher.all() {
            Words::Ready { landlock_abi } => (outcome, Usage { landlock_abi, ..usage }),
            Words::Failed(_) | Words::NoProgram(_) if self.ended_by_order.get() => {
                (ProgramEnd::Signal(process::Signal::KILL.as_raw()), usage)
            }
            // Whoever allows a task too little is not the machine.
            Words::Failed(_) if usage.killed_for_memory > 0 => {
                (ProgramEnd::TooLittle(lacked_memory(self.memory_named)), usage)
            }
            Words::Failed(_) if is_memory_gone => (ProgramEnd::Lacking(MEMORY_GONE.to_owned()), usage),
            Words::Failed(why) if lack::is_said(&why) => (ProgramEnd::Lacking(why), usage),
            Words::Failed(why) => (ProgramEnd::CouldNotStart(why), usage),
            Words::NoProgram(why) => (ProgramEnd::NoProgram(why), usage),
        }
    }
}

/// What is said of a task whose start the kernel ended for want of others' memory.
const MEMORY_GONE: &str = "the memory that it has for tasks was used up before the program ran";

/// What is said of a task whose start the kernel ended since it took what it may.
fn lacked_memory(named: Option<u64>) -> String {
    match named {
        Some(bytes) => {
            format!(
                "the {bytes} bytes of memory that it may use were used up before its program ran: ask for more"
            )
        }
        None => {
            "the memory that a task may use which names none was used up before its program ran: name more"
                .to_owned()
        }
    }
}

fn outcome(status: ExitStatus, frame: Frame) -> ProgramEnd {
    match (status.code(), frame) {
        (Some(code @ 129..=192), Frame::Bubblewrap) => ProgramEnd::Signal(code - 128),
        (Some(code), _) => ProgramEnd::Code(code),
        (None, _) => ProgramEnd::Signal(status.signal().unwrap_or_default()),
    }
}

/// What all children of this process used that have been waited for: between two tasks, none but one task's.
struct Consumed {
    user_us: u64,
    system_us: u64,
    read_blocks: u64,
    written_blocks: u64,
}

impl Consumed {
    /// The kernel counts in these, whatever the disk's own are.
    const BLOCK_BYTES: u64 = 512;

    fn now() -> Self {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("getrusage of our own children cannot fail");
        let microseconds = |time: nix::sys::time::TimeVal| {
            time.tv_sec().cast_unsigned() * 1_000_000 + time.tv_usec().cast_unsigned()
        };
        Self {
            user_us: microseconds(usage.user_time()),
            system_us: microseconds(usage.system_time()),
            read_blocks: usage.block_reads().cast_unsigned(),
            written_blocks: usage.block_writes().cast_unsigned(),
        }
    }

    fn since(&self, before: &Self) -> Usage {
        Usage {
            user_us: self.user_us - before.user_us,
            system_us: self.system_us - before.system_us,
            read_bytes: (self.read_blocks - before.read_blocks) * Self::BLOCK_BYTES,
            written_bytes: (self.written_blocks - before.written_blocks) * Self::BLOCK_BYTES,
            ..Usage::default()
        }
    }
}
