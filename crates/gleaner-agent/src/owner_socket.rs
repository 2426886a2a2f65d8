//! Where the machine's owner says something to the agent by hand: a socket in its folder, for its user and root only. The
//! kernel says who is at the other end, whatever the modes of folder and socket have become.
//!
//! One line of JSON each way: `{"say": "pause"}` is answered by
//! `{"version": 1, "tasks": 2, "state": "suspended", "why": "the owner paused it"}`.
//! `say` is one of `here`, `away`, `pause`, `resume`, `drain`, `evict`, or is left out by those who only ask.

use crate::owner::{Rules, Verdict, Word};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};

const NAME: &str = "owner.sock";
/// A line that is asked.
const LINE_MAX: u64 = 1_024;
/// A line that is answered: its texts and the rules' lists are bounded, and each character of theirs may take six.
const ANSWER_MAX: u64 = 256 << 10;
const PATIENCE: Duration = Duration::from_secs(5);
/// How long nobody is heard where the system lets nobody in.
const PAUSE: Duration = Duration::from_secs(1);

/// Why nothing could be said.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// There is no agent.
    #[error("no agent runs in {folder}: {why}", folder = folder.display())]
    NoAgent {
        /// Where it was looked for.
        folder: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// It did not answer, or not as it should.
    #[error("the agent's answer cannot be read: {0}")]
    Answer(io::Error),
}

/// What the agent answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// 1.
    pub version: u32,
    /// Programs that run, or are suspended.
    pub tasks: usize,
    /// Those of them that were told to end, and have their grace.
    #[serde(default)]
    pub ending: usize,
    /// What they may do.
    pub state: State,
    /// Why not all: what decides, and after `; ` whatever else the owner said by hand.
    #[serde(default)]
    pub why: Option<String>,
    /// Why what was said could not be written down: the agent's next start will not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// The rules that the agent goes by, where their file is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// Why there is no connection to the coordinator, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
}

/// What programs may do on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Run, and new ones may start.
    Open,
    /// Run, and no new ones may start.
    Closed,
    /// Nothing.
    Suspended,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    say: Option<Word>,
}

/// Something the owner said, to be answered; or they only ask.
pub(crate) struct Asked {
    pub(crate) word: Option<Word>,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// Says something to the agent in `folder`, and tells what follows; says nothing and only asks without a word.
pub fn tell(folder: &Path, word: Option<Word>) -> Result<Answer, OwnerError> {
    let connect = || {
        let (_folder, path) = short(folder)?;
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    };
    let mut stream = connect().map_err(|why| OwnerError::NoAgent { folder: folder.into(), why })?;
    let ask = |stream: &mut UnixStream| {
        let mut line = serde_json::to_vec(&Asking { say: word })?;
        line.push(b'\n');
        stream.write_all(&line)?;
        let mut line = String::new();
        BufReader::new(stream).take(ANSWER_MAX).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    ask(&mut stream).map_err(OwnerError::Answer)
}

/// Listens in `folder`, and passes on what is said.
pub(crate) fn listen(folder: &Path, asked: mpsc::Sender<Asked>) -> io::Result<()> {
    let (handle, path) = short(folder)?;
    match fs::remove_file(&path) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(&path)?;
    drop(handle);
    tokio::spawn(async move {
        // One after the other: there is one owner.
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // No descriptor is left for it, as there may be later: the owner is to be heard then.
                Err(why) => {
                    tracing::warn!(%why, "the owner's socket");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            if !stream.peer_cred().is_ok_and(|peer| is_owner(peer.uid())) {
                tracing::warn!("another user's program was turned away from the owner's socket");
                continue;
            }
            if let Ok(Err(why)) = tokio::time::timeout(PATIENCE, serve(stream, &asked)).await {
                tracing::warn!(%why, "the owner's socket");
            }
        }
    });
    Ok(())
}

async fn serve(stream: tokio::net::UnixStream, asked: &mpsc::Sender<Asked>) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    tokio::io::BufReader::new(read.take(LINE_MAX)).read_line(&mut line).await?;
    let asking: Asking = serde_json::from_str(&line)?;
    let (answer, answered) = oneshot::channel();
    let gone = |_| io::Error::other("the agent is ending");
    asked.send(Asked { word: asking.say, answer }).await.map_err(|_| io::Error::other("ending"))?;
    let mut line = serde_json::to_vec(&answered.await.map_err(gone)?)?;
    line.push(b'\n');
    write.write_all(&line).await
}

/// Whether that user may speak for the owner.
fn is_owner(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw() || user == 0
}

/// The socket's path by an open folder: the system allows 108 bytes only, and folders may lie deeper.
fn short(folder: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd());
    Ok((folder, path.into()))
}

impl From<Verdict> for State {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Run => Self::Open,
            Verdict::NoNewTasks(_) => Self::Closed,
            Verdict::Suspend(_) => Self::Suspended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// A word that was obeyed is not to look as if it was not.
    #[test]
    fn the_longest_answer_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(NAME)).unwrap();
        let why = Some("\u{1}".repeat(1_200));
        let users = (0..90).map(|number| format!("{number:0128}")).collect();
        let folders =
            (0..90).map(|number| PathBuf::from(format!("/{number}{}", "\u{1}".repeat(130)))).collect();
        let rules = Some(Rules { users: Some(users), folders: Some(folders), ..Rules::default() });
        let apart = Some("\u{1}".repeat(600));
        let (state, not_kept) = (State::Suspended, None);
        let answer = Answer { version: 1, tasks: 2, ending: 0, state, why, not_kept, rules, apart };
        let line = format!("{}\n", serde_json::to_string(&answer).unwrap());
        let agent = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            BufReader::new(&stream).read_line(&mut String::new()).unwrap();
            stream.write_all(line.as_bytes()).unwrap();
        });
        assert_eq!(tell(folder.path(), None).unwrap(), answer);
        agent.join().unwrap();
    }
}
