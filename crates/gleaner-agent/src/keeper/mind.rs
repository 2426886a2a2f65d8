//! A minder's loop: one task at a time, until the agent or the keeper is gone.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{getpid, set_child_subreaper, umask};

use super::frames::{FrameError, Inbox, encode};
use super::orders::{Order, ProgramEnd, Report, Usage};
use super::start::Means;
use super::task::Task;
use super::{handing, open_files};
use crate::clock::now;
use crate::confine::EmptyNetwork;
use crate::lack::is_lack;
use gleaner_units::Time;

/// How long the start of a program may go unreported: as long as a short task in a sandbox takes, since each report of its own costs the
/// coordinator a commit, and nobody sees the difference.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Serves the agent at the other end of standard input (a socket); standard output is the keeper's lifeline.
///
/// This process must be started for it alone, by the keeper: `gleaner mind`. The keeper hands it the launcher, and what
/// is to be held.
pub fn mind() -> Result<(), FrameError> {
    let Some([launcher, _held]) = handing::take_all(io::stdout())? else { return Ok(()) };
    open_files::lower();
    let means = Means { launcher: launcher.into(), network: EmptyNetwork::default(), minder_group: None };
    set_child_subreaper(Some(getpid())).map_err(io::Error::from)?;
    // The agent's is its own: what programs make is as open as they are used to, in a folder that is closed.
    umask(Mode::WGRP | Mode::WOTH);
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut minder =
        Minding { stream, inbox: Inbox::default(), task: None, means, lease: None, unsaid: Vec::new() };
    let end = minder.serve();
    if let Some(task) = minder.task.take() {
        task.kill();
        task.finish();
    }
    match end {
        Err(FrameError::Closed) => Ok(()),
        other => other,
    }
}

/// How long is waited at once for a lease's end. A lease runs on while the machine sleeps, and the kernel's wait does not: this is how much
/// longer than it should a task may run on a machine that wakes.
const LEASE_PATIENCE: Duration = Duration::from_secs(1);

/// How long to wait where the kernel has no memory left to wait for anything.
const PAUSE: Duration = Duration::from_millis(10);

struct Minding {
    stream: UnixStream,
    inbox: Inbox,
    task: Option<Task>,
    means: Means,
    /// When the task is killed, unless more time is given.
    lease: Option<Time>,
    /// The report of a task's start, which waits a moment for that of its end: a short task's two can go in one.
    unsaid: Vec<u8>,
}

impl Minding {
    fn serve(&mut self) -> Result<(), FrameError> {
        loop {
            let (order_came, task_ended) = self.wait()?;
            if order_came {
                self.inbox.fill(&mut self.stream)?;
                while let Some(order) = self.inbox.pop()? {
                    self.obey(order)?;
                }
            }
            // Last: a minder that stood still may have been given more time meanwhile.
            self.keep_lease();
            if task_ended && let Some(task) = self.task.take() {
                let id = task.id();
                let (outcome, usage) = task.finish();
                if matches!(
                    outcome,
                    ProgramEnd::CouldNotStart(_) | ProgramEnd::Lacking(_) | ProgramEnd::NoProgram(_)
                ) {
                    // What was started was bubblewrap or the launcher, and not the program.
                    self.unsaid.clear();
                }
                self.say(&Report::Exited { id, outcome, usage })?;
                self.means.network.look_after();
            }
        }
    }

    /// Waits for an order or for the end of the task's first process.
    fn wait(&mut self) -> Result<(bool, bool), FrameError> {
        let patience = self.patience();
        let lifeline = io::stdout();
        // That the other end is closed is always watched for.
        let mut fds =
            vec![PollFd::new(&self.stream, PollFlags::IN), PollFd::new(&lifeline, PollFlags::empty())];
        if let Some(task) = &self.task {
            fds.push(PollFd::new(task.exit(), PollFlags::IN));
        }
        match poll(&mut fds, patience.as_ref()) {
            Err(Errno::INTR) => return Ok((false, false)),
            // The task is not to end for that.
            Err(why) if is_lack(&why.into()) => {
                std::thread::sleep(PAUSE);
                return Ok((false, false));
            }
            Ok(0) => return self.use_the_pause().map(|()| (false, false)),
            other => other.map_err(io::Error::from)?,
        };
        if !fds[1].revents().is_empty() {
            return Err(FrameError::Closed);
        }
        Ok((!fds[0].revents().is_empty(), fds.get(2).is_some_and(|fd| !fd.revents().is_empty())))
    }

    /// How long nothing may happen until there is something to do all the same.
    fn patience(&self) -> Option<Timespec> {
        let word = (!self.unsaid.is_empty()).then_some(PATIENCE);
        let look = || {
            let task = self.task.as_ref()?;
            let lease = self.lease.map(|ends| lease_patience(ends, now()));
            [task.patience(), lease].into_iter().flatten().min()?.try_into().ok()
        };
        word.or_else(look)
    }

    fn keep_lease(&mut self) {
        if let Some(task) = &mut self.task
            && self.lease.is_some_and(|ends| ends <= now())
        {
            task.end_for(ProgramEnd::LeaseEnded);
            self.lease = None;
        }
    }

    fn use_the_pause(&mut self) -> Result<(), FrameError> {
        if let Some(task) = &mut self.task {
            task.look();
            if !task.has_begun() {
                return Ok(());
            }
        }
        self.say_all()
    }

    fn obey(&mut self, order: Order) -> Result<(), FrameError> {
        match order {
            Order::Run { id, .. } if self.task.is_some() => {
                self.refuse(id, ProgramEnd::CouldNotStart("this minder has a task already".to_owned()))
            }
            Order::Run { id, spec } => match Task::start(id, &spec, &mut self.means) {
                Ok(task) => {
                    let started = Report::Started { id, pid: task.pid(), groups: task.groups() };
                    self.task = Some(task);
                    self.say_soon(&started)
                }
                Err(why) => self.refuse(id, why.outcome()),
            },
            Order::Lease { until_ns } => {
                self.lease = Some(Time::from_nanos(until_ns));
                Ok(())
            }
            Order::Signal { id, signal } => {
                if let Some(task) = self.task.as_mut().filter(|task| task.id() == id) {
                    task.signal(signal);
                }
                Ok(())
            }
        }
    }

    fn refuse(&mut self, id: u64, outcome: ProgramEnd) -> Result<(), FrameError> {
        self.say(&Report::Exited { id, outcome, usage: Usage::default() })
    }

    fn say(&mut self, report: &Report) -> Result<(), FrameError> {
        self.say_soon(report)?;
        self.say_all()
    }

    fn say_soon(&mut self, report: &Report) -> Result<(), FrameError> {
        self.unsaid.extend(encode(report)?);
        Ok(())
    }

    fn say_all(&mut self) -> Result<(), FrameError> {
        self.stream.write_all(&self.unsaid)?;
        self.unsaid.clear();
        Ok(())
    }
}

/// How long to wait for a lease that ends then.
fn lease_patience(ends: Time, now: Time) -> Duration {
    // A part of a nanosecond less would be a turn for nothing.
    Duration::from_nanos(ends.since(now).nanos() + 1).min(LEASE_PATIENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_looked_at_every_second_since_the_machine_may_sleep_meanwhile() {
        let now = Time::from_nanos(5_000_000_000);
        for (ends, expected) in [
            (Time::NEVER, LEASE_PATIENCE),
            (Time::from_nanos(90_000_000_000), LEASE_PATIENCE),
            (Time::from_nanos(5_000_000_010), Duration::from_nanos(11)),
            (now, Duration::from_nanos(1)),
            (Time::ZERO, Duration::from_nanos(1)),
        ] {
            assert_eq!(lease_patience(ends, now), expected, "{ends:?}");
        }
    }
}
