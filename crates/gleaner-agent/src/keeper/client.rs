//! The agent's end: starts the keeper, asks it for minders, talks to them.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::frames::{FrameError, Inbox, encode};
use super::orders::{Order, Report};
use super::{handing, open_files};
use crate::lack::is_lack;

/// Why there is no keeper or no minder.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// The program could not be started.
    #[error("{0}: the keeper of tasks could not be started: {1}")]
    Start(String, io::Error),
    /// The keeper is gone. It ends all tasks when it goes; start another.
    #[error("the keeper of tasks is gone ({0}); its tasks have ended with it")]
    Gone(io::Error),
    /// The keeper is there, with all that runs; for one more there is something lacking now.
    #[error("nothing is left of what one more program takes: {0}")]
    Lacking(io::Error),
}

impl KeeperError {
    /// Whether it may work later, with the same keeper or another.
    pub(crate) fn is_lack(&self) -> bool {
        match self {
            Self::Start(_, why) => is_lack(why),
            Self::Gone(_) => false,
            Self::Lacking(_) => true,
        }
    }
}

/// The keeper: as long as this lives, tasks may.
#[derive(Debug)]
pub struct Keeper {
    process: Child,
    control: Option<UnixStream>,
}

impl Keeper {
    /// Starts `program keeper`, where `program` calls [`super::keep`] for `keeper`, [`super::mind`] for `mind` and
    /// [`crate::launch::launch`] for `launch`. `held` stays open as long as it or one of its minders lives: a lock that
    /// their tasks need.
    pub fn start(program: &Path, held: Stdio) -> Result<Self, KeeperError> {
        let failed = |error| KeeperError::Start(program.display().to_string(), error);
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let mut command = Command::new(program);
        open_files::tell(&mut command, open_files::raise());
        let process = command
            .arg0("gleaner")
            .arg("keeper")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(held)
            .spawn()
            .map_err(failed)?;
        Ok(Self { process, control: Some(ours) })
    }

    /// The keeper's process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// A new minder. It ends its task and itself when this end is dropped; use it again for the next task.
    pub fn minder(&self) -> Result<Minder, KeeperError> {
        let (ours, theirs) = UnixStream::pair().map_err(KeeperError::Lacking)?;
        let control = self.control.as_ref().expect("taken only on drop");
        handing::hand(control, &[theirs.as_fd()])
            .map_err(|why| if is_lack(&why) { KeeperError::Lacking(why) } else { KeeperError::Gone(why) })?;
        Ok(Minder { stream: ours, inbox: Inbox::default() })
    }
}

impl Drop for Keeper {
    /// Ends all tasks and waits until they have ended.
    fn drop(&mut self) {
        self.control = None;
        let _ = self.process.wait();
    }
}

/// A minder, which runs one task at a time.
#[derive(Debug)]
pub struct Minder {
    stream: UnixStream,
    inbox: Inbox,
}

impl Minder {
    /// Gives an order.
    pub fn order(&self, order: &Order) -> Result<(), FrameError> {
        Ok((&self.stream).write_all(&encode(order)?)?)
    }

    /// Waits for the next report; [`FrameError::Closed`] if the minder or the keeper was killed, and the task with it.
    pub fn report(&mut self) -> Result<Report, FrameError> {
        loop {
            if let Some(report) = self.inbox.pop()? {
                return Ok(report);
            }
            self.inbox.fill(&mut self.stream)?;
        }
    }

    /// The socket itself, for a runtime of its own: write [`encode`]d orders, read reports through an [`Inbox`].
    pub fn into_stream(self) -> UnixStream {
        self.stream
    }
}
