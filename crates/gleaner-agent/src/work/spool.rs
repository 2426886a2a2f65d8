//! What a program writes, on its way through a pipe into a file of bounded size.
//!
//! A program writes into a named pipe that the agent drains, so that it neither waits for the coordinator nor fills
//! the disk: the file gets the beginning, at most [`BEGINNING_BYTES`], and when the run is over the last
//! [`END_BYTES`] of what came after that; what is between is counted and dropped. There is no file
//! before there is output. **One that pours is held back by its pipe** (`pace.rs`). **What the disk does not take is lost, and said to be**: nothing is kept behind the hole. **Pipes are used again by the next run**, which costs nothing, **if they are as new**: whoever writes
//! into a pipe can close it to others, or make it larger or smaller. A run is over only when all its processes are gone and its pipes are
//! empty.

use super::pace::Pace;
use crate::duties::{Event, Range};
use crate::folder::has_no_attributes;
use crate::home::{BEGINNING_BYTES, END_BYTES, Home};
use gleaner_units::RunId;
use gleaner_wire::session::Stream;
use rustix::fs::{CWD, FileType, Mode, fstat, mknodat};
use rustix::pipe::fcntl_getpipe_size;
use rustix::process::geteuid;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};

/// Only the agent and the runs that it lends a pipe to may open it.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// What is read from a pipe at once: a quarter of what it holds.
const CHUNK: usize = 16 << 10;
/// How often that is done in one turn: all that a pipe holds.
const CHUNKS_PER_TURN: usize = 4;

/// A pipe, and the file for what comes through it now.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    pipe: pipe::Receiver,
    /// How many bytes the pipe held when it was made.
    capacity: usize,
    stream: Stream,
    file: Option<(PathBuf, Option<File>)>,
    written: u64,
    /// The latest of what came after the beginning.
    end: VecDeque<u8>,
    dropped: u64,
    /// Whether the disk did not take some of it.
    is_lost: bool,
    pace: Pace,
}

impl Spool {
    /// Makes a pipe.
    pub(crate) fn make(path: &Path, stream: Stream) -> io::Result<Self> {
        mknodat(CWD, path, FileType::Fifo, MODE, 0)?;
        // Held open for writing too: a pipe without a writer would be at its end for ever after the first program.
        let opened = pipe::OpenOptions::new().read_write(true).open_receiver(path);
        // Nobody knows the name of one that could not be opened.
        let pipe = opened.inspect_err(|_| drop(fs::remove_file(path)))?;
        let (path, capacity) = (path.to_owned(), fcntl_getpipe_size(&pipe)?);
        let (end, pace) = (VecDeque::new(), Pace::new(Instant::now()));
        Ok(Self {
            path,
            pipe,
            capacity,
            stream,
            file: None,
            written: 0,
            end,
            dropped: 0,
            is_lost: false,
            pace,
        })
    }

    /// What comes from now on belongs to this run. What one before it did to the pipe goes with the pipe.
    pub(crate) fn begin(&mut self, run: RunId, home: &Home) -> io::Result<()> {
        if !self.is_as_new().unwrap_or(false) {
            match fs::remove_file(&self.path) {
                // By an earlier try, which could make no other.
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
            *self = Self::make(&self.path, self.stream)?;
        }
        self.discard();
        self.file = Some((home.spool(run, self.stream), None));
        (self.written, self.dropped, self.is_lost) = (0, 0, false);
        self.end.clear();
        self.pace = Pace::new(Instant::now());
        Ok(())
    }

    fn is_as_new(&self) -> io::Result<bool> {
        let about = fstat(&self.pipe)?;
        Ok(about.st_nlink > 0
            && Mode::from_raw_mode(about.st_mode) == MODE
            && about.st_uid == geteuid().as_raw()
            && fcntl_getpipe_size(&self.pipe)? == self.capacity
            && has_no_attributes(&self.pipe)?)
    }

    /// Waits until something may have come that may be taken, or is to be told.
    pub(crate) async fn wait(&self) {
        let comes = async {
            if let Some(at) = self.pace.resumes() {
                sleep_until(at).await;
            }
            // An error would show when reading.
            let _ = self.pipe.readable().await;
        };
        let is_due = async {
            match self.pace.tells() {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = comes => {}
            () = is_due => {}
        }
    }

    /// Takes what a pipe holds, as far as it is time to; what is to be told, if it is time for that.
    pub(crate) fn take(&mut self, run: RunId) -> Option<Event> {
        let now = Instant::now();
        if self.pace.may_take(now)
            && let Err(why) = self.take_turn(now)
        {
            return Some(self.told(run, Err(why)));
        }
        let is_due = self.pace.tells().is_some_and(|at| at <= now);
        is_due.then(|| self.told(run, Ok(())))
    }

    fn take_turn(&mut self, now: Instant) -> io::Result<()> {
        let (mut chunk, mut taken) = ([0; CHUNK], 0);
        for _ in 0..CHUNKS_PER_TURN {
            let Some(count) = self.read(&mut chunk).filter(|count| *count > 0) else { break };
            taken += count as u64;
            self.keep(&chunk[..count])?;
        }
        if taken > 0 {
            self.pace.took(now, taken);
        }
        Ok(())
    }

    /// Takes what a pipe holds when nothing writes any more; none if it is empty.
    pub(crate) fn drain(&mut self, run: RunId) -> Option<Event> {
        let mut chunk = [0; CHUNK];
        let count = self.read(&mut chunk).filter(|count| *count > 0)?;
        let kept = self.keep(&chunk[..count]);
        Some(self.told(run, kept))
    }

    /// Nothing comes any more: the end of what was too long goes behind its beginning, and what was not told yet is.
    pub(crate) fn finish(&mut self, run: RunId) -> Option<Event> {
        if self.end.is_empty() || self.is_lost {
            return self.pace.is_untold().then(|| self.told(run, Ok(())));
        }
        let gap = match self.dropped {
            0 => String::new(),
            bytes => format!("\n-- {bytes} bytes are left out here: they were too much to keep --\n"),
        };
        let end: Vec<u8> = gap.into_bytes().into_iter().chain(self.end.drain(..)).collect();
        let kept = self.append(&end).map(|()| self.written += end.len() as u64);
        Some(self.told(run, kept))
    }

    fn told(&mut self, run: RunId, kept: io::Result<()>) -> Event {
        self.pace.tell(Instant::now());
        if let Err(why) = kept {
            self.is_lost = true;
            tracing::warn!(%why, "output cannot be kept");
            return Event::OutputLost(run, why.to_string());
        }
        let Self { stream, written, dropped, .. } = *self;
        Event::Wrote { run, stream, written, dropped }
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

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_lost {
            return Ok(());
        }
        let room = BEGINNING_BYTES - self.written;
        let kept = (bytes.len() as u64).min(room) as usize;
        self.append(&bytes[..kept])?;
        self.written += kept as u64;
        self.end.extend(&bytes[kept..]);
        let too_much = self.end.len().saturating_sub(END_BYTES);
        self.end.drain(..too_much);
        self.dropped += too_much as u64;
        Ok(())
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

/// A range of what a run has written.
pub(crate) fn read_range(path: &Path, range: Range) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; range.len as usize];
    if range.len > 0 {
        File::open(path)?.read_exact_at(&mut bytes, range.offset)?;
    }
    Ok(bytes)
}

/// Whether the disk takes again what a program writes at once, and gives it back.
pub(crate) fn can_keep(home: &Home) -> bool {
    let written = vec![1; CHUNK];
    let path = home.trial();
    let tried = || {
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(&written)?;
        file.sync_data()?;
        fs::read(&path)
    };
    let read = tried();
    let _ = fs::remove_file(&path);
    read.is_ok_and(|read| read == written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::{RunId, TaskId};
    use gleaner_wire::limits::OUTPUT_BYTES_MAX;
    use rustix::fs::fchmod;
    use rustix::pipe::fcntl_setpipe_size;
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;
    use tempfile::TempDir;

    #[tokio::test]
    async fn of_what_is_too_long_the_beginning_and_the_end_are_kept() {
        let folder = TempDir::new().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let mut spool = Spool::make(&home.pipe(1, Stream::Stdout), Stream::Stdout).unwrap();
        let run = RunId { task: TaskId::new(0), number: 1 };
        for (more, gap) in [(END_BYTES, 0), (END_BYTES + 5, 5), (3 * END_BYTES, 2 * END_BYTES)] {
            spool.begin(run, &home).unwrap();
            let _ = fs::remove_file(home.spool(run, Stream::Stdout));
            spool.keep(&vec![b'a'; BEGINNING_BYTES as usize]).unwrap();
            for _ in 0..more - 1 {
                spool.keep(b"b").unwrap();
            }
            spool.keep(b"c").unwrap();
            let Some(Event::Wrote { written, dropped, .. }) = spool.finish(run) else { panic!("nothing") };
            assert_eq!(dropped, gap as u64);
            let kept = fs::read(home.spool(run, Stream::Stdout)).unwrap();
            assert_eq!(kept.len() as u64, written);
            assert!(written <= OUTPUT_BYTES_MAX && kept.ends_with(b"bc"), "{written}");
            let says = String::from_utf8_lossy(&kept).contains(&format!("-- {gap} bytes are left out here"));
            assert_eq!(says, gap > 0);
        }
        spool.begin(run, &home).unwrap();
        assert!(spool.finish(run).is_none(), "what is short has no end of its own");
    }

    type Deed = fn(&File);

    #[tokio::test]
    async fn what_a_run_did_to_its_pipe_ends_with_it() {
        let folder = TempDir::new().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let path = home.pipe(1, Stream::Stdout);
        let mut spool = Spool::make(&path, Stream::Stdout).unwrap();
        let run = |number| RunId { task: TaskId::new(0), number };
        let deeds: [Deed; 3] = [
            |pipe| fchmod(pipe, Mode::empty()).unwrap(),
            |pipe| assert_eq!(fcntl_setpipe_size(pipe, 4096).unwrap(), 4096),
            |_| {},
        ];
        let inode = || fs::metadata(&path).unwrap().ino();
        let made = inode();
        for (number, deed) in (1..).zip(deeds) {
            spool.begin(run(number), &home).unwrap();
            deed(&File::options().append(true).open(&path).unwrap());
            spool.begin(run(number + 1), &home).unwrap();
            let about = fs::metadata(&path).unwrap();
            assert_eq!(about.mode() & 0o7777, 0o600, "{number}");
            assert_eq!(fcntl_getpipe_size(&spool.pipe).unwrap(), spool.capacity, "{number}");
            fs::write(&path, "as ever").unwrap();
            assert!(matches!(spool.drain(run(number)), Some(Event::Wrote { written: 7, .. })), "{number}");
        }
        assert_ne!(inode(), made);
        let before = inode();
        spool.begin(run(9), &home).unwrap();
        assert_eq!(inode(), before, "one that nobody changed is used again");
    }

    /// What takes it is as urgent as the owner's programs.
    #[tokio::test]
    async fn whoever_writes_without_end_is_held_back_and_seldom_told_of() {
        const FOR: Duration = Duration::from_millis(500);
        let folder = TempDir::new().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let path = home.pipe(1, Stream::Stdout);
        let mut spool = Spool::make(&path, Stream::Stdout).unwrap();
        let run = RunId { task: TaskId::new(0), number: 1 };
        spool.begin(run, &home).unwrap();
        let mut pipe = File::options().append(true).open(&path).unwrap();
        // Until nobody has the pipe open for reading.
        let writer = std::thread::spawn(move || while pipe.write_all(&[b'y'; CHUNK]).is_ok() {});
        let (begun, mut turns, mut told) = (Instant::now(), 0, 0);
        while begun.elapsed() < FOR {
            spool.wait().await;
            turns += 1;
            told += u64::from(spool.take(run).is_some());
        }
        let millis = begun.elapsed().as_millis() as u64;
        let written = spool.written;
        drop(spool);
        writer.join().unwrap();
        let row = format!("{turns} turns, {told} told, {written} bytes in {millis} ms");
        assert!(written > 0 && written <= (2 << 20) + (millis << 20) * 32 / 1_000, "{row}");
        assert!((1..=millis / 50 + 2).contains(&told), "{row}");
        assert!(turns <= 100 + millis, "{row}");
    }

    #[tokio::test]
    async fn what_is_not_told_yet_is_told_at_the_end() {
        let folder = TempDir::new().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let path = home.pipe(1, Stream::Stdout);
        let mut spool = Spool::make(&path, Stream::Stdout).unwrap();
        let run = RunId { task: TaskId::new(0), number: 1 };
        spool.begin(run, &home).unwrap();
        fs::write(&path, "first").unwrap();
        assert!(matches!(spool.take(run), Some(Event::Wrote { written: 5, .. })), "at once");
        // Long before that is told by itself, but for a machine that stands still.
        fs::write(&path, "second").unwrap();
        let told = spool.take(run).or_else(|| spool.finish(run));
        assert!(matches!(told, Some(Event::Wrote { written: 11, .. })), "{told:?}");
        assert!(spool.finish(run).is_none(), "once");
    }

    #[tokio::test]
    async fn what_came_just_now_is_taken_too() {
        let folder = TempDir::new().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let path = home.pipe(1, Stream::Stdout);
        let mut spool = Spool::make(&path, Stream::Stdout).unwrap();
        let write = |text: &str| fs::write(&path, text).unwrap();
        let run = |number| RunId { task: TaskId::new(0), number };
        // Nothing is awaited: the runtime hears of none of this.
        write("left over");
        for number in [1, 2] {
            spool.begin(run(number), &home).unwrap();
            assert!(spool.drain(run(number)).is_none());
            write("all of it");
            let taken = spool.drain(run(number)).expect("there is something");
            assert!(matches!(taken, Event::Wrote { written: 9, dropped: 0, .. }), "{taken:?}");
            assert_eq!(fs::read(home.spool(run(number), Stream::Stdout)).unwrap(), b"all of it");
        }
    }
}
