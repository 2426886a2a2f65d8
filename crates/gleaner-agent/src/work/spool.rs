//! What a program writes, on its way through a pipe into a file of bounded size.
//!
//! A program writes into a named pipe that the agent drains, so that it neither waits for the coordinator nor fills
//! the disk: the file gets the first [`OUTPUT_BYTES_MAX`] bytes, the rest is counted and dropped. There is no file
//! before there is output. **Pipes are used again by the next run**, which costs nothing; a run is over only when all
//! its processes are gone and its pipes are empty.

use crate::duties::{Event, Range};
use crate::home::Home;
use gleaner_wire::limits::OUTPUT_BYTES_MAX;
use gleaner_wire::session::{Attempt, Stream};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tokio::net::unix::pipe;

/// What is read from a pipe at once: a quarter of what it holds.
const CHUNK: usize = 16 << 10;

/// A pipe, and the file for what comes through it now.
#[derive(Debug)]
pub(crate) struct Spool {
    pipe: pipe::Receiver,
    stream: Stream,
    file: Option<(PathBuf, Option<File>)>,
    written: u64,
    dropped: u64,
}

impl Spool {
    /// Makes a pipe.
    pub(crate) fn make(path: &Path, stream: Stream) -> io::Result<Self> {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Held open for writing too: a pipe without a writer would be at its end for ever after the first program.
        let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(path)?;
        Ok(Self { pipe, stream, file: None, written: 0, dropped: 0 })
    }

    /// What comes from now on belongs to this run.
    pub(crate) fn begin(&mut self, attempt: Attempt, home: &Home) {
        self.discard();
        self.file = Some((home.spool(attempt, self.stream), None));
        (self.written, self.dropped) = (0, 0);
    }

    /// Waits until something may have come.
    pub(crate) async fn wait(&self) {
        // An error would show when reading.
        let _ = self.pipe.readable().await;
    }

    /// Takes what a pipe holds; none if it is empty.
    pub(crate) fn drain(&mut self, attempt: Attempt) -> Option<Event> {
        let mut chunk = [0; CHUNK];
        let count = self.read(&mut chunk).filter(|count| *count > 0)?;
        self.keep(&chunk[..count]);
        let Self { stream, written, dropped, .. } = *self;
        Some(Event::Wrote { attempt, stream, written, dropped })
    }

    /// Drops what a pipe holds that is no run's.
    pub(crate) fn discard(&self) {
        let mut chunk = [0; CHUNK];
        while self.read(&mut chunk).is_some_and(|count| count > 0) {}
    }

    fn read(&self, chunk: &mut [u8]) -> Option<usize> {
        // The runtime may not have heard yet that something came, and then says that there is nothing without having
        // looked: of a run that is over, its last output would be lost. So the system is asked as well.
        let count = self.pipe.try_read(chunk).ok();
        count.or_else(|| rustix::io::read(&self.pipe, chunk).ok())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = OUTPUT_BYTES_MAX - self.written;
        let kept = (bytes.len() as u64).min(room) as usize;
        match self.append(&bytes[..kept]) {
            Ok(()) => {
                self.written += kept as u64;
                self.dropped += (bytes.len() - kept) as u64;
            }
            Err(why) => {
                tracing::warn!(%why, "output cannot be kept");
                self.dropped += bytes.len() as u64;
            }
        }
    }

    /// All of it or nothing, as far as the file's known length goes.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        if bytes.is_empty() {
            return Ok(());
        }
        if file.is_none() {
            *file = Some(File::options().write(true).create_new(true).mode(0o600).open(path)?);
        }
        let file = file.as_mut().expect("it was just opened");
        file.write_all_at(bytes, self.written)?;
        file.flush()
    }
}

/// A range of what a run has written. What cannot be read is missing, and logged.
pub(crate) fn read_range(path: &Path, range: Range) -> Vec<u8> {
    let mut bytes = vec![0; range.len as usize];
    if range.len > 0
        && let Err(why) = File::open(path).and_then(|file| file.read_exact_at(&mut bytes, range.offset))
    {
        tracing::warn!(%why, path = %path.display(), "kept output cannot be read");
        bytes.clear();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;
    use std::fs;
    use tempfile::TempDir;

    #[tokio::test]
    async fn what_came_just_now_is_taken_too() {
        let folder = TempDir::new().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let path = home.pipe(1, Stream::Stdout);
        let mut spool = Spool::make(&path, Stream::Stdout).unwrap();
        let write = |text: &str| fs::write(&path, text).unwrap();
        let attempt = |number| Attempt { task: TaskId::new(0), number };
        // Nothing is awaited: the runtime hears of none of this.
        write("left over");
        for number in [1, 2] {
            spool.begin(attempt(number), &home);
            assert!(spool.drain(attempt(number)).is_none());
            write("all of it");
            let taken = spool.drain(attempt(number)).expect("there is something");
            assert!(matches!(taken, Event::Wrote { written: 9, dropped: 0, .. }), "{taken:?}");
            assert_eq!(fs::read(home.spool(attempt(number), Stream::Stdout)).unwrap(), b"all of it");
        }
    }
}
