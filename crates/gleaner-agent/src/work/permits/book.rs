//! The file in which it is written down which signed tasks were run here, and the thread that writes it.
//!
//! - **A line is in it whole or not at all**, and on the disk before anything is done because of it.
//! - **A line that cannot be read is put aside and called out**, and no other is lost with it.

use crate::home::HomeError;
use gleaner_net::{open_file, replace_file};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use tokio::sync::oneshot;

const MODE: u32 = 0o600;

/// What is to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    /// One more line.
    Line(String),
    /// These lines in place of all.
    All(String),
}

/// The file.
#[derive(Debug)]
pub(super) struct Book {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    length: u64,
}

/// A line that cannot be read, with its number from 1.
pub(super) type Damaged = (usize, Vec<u8>);

impl Book {
    /// Reads each line that is there; `read` says whether it could.
    pub(super) fn read(path: &Path, mut read: impl FnMut(&str) -> bool) -> Result<Vec<Damaged>, HomeError> {
        let failed = |why| HomeError::File { path: path.to_owned(), why };
        let mut bytes = Vec::new();
        match open_file(path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            opened => drop(opened.and_then(|mut file| file.read_to_end(&mut bytes)).map_err(failed)?),
        }
        let is_whole = |line: &[u8]| line.ends_with(b"\n");
        let mut is_read = |line: &[u8]| {
            is_whole(line) && std::str::from_utf8(line).is_ok_and(|line| read(line.trim_end_matches('\n')))
        };
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
        Ok(lines.filter(|(line, _)| !is_read(line)).map(|(line, number)| (number, line.to_owned())).collect())
    }

    /// The file with these lines alone. Those that could not be read go into another.
    pub(super) fn begin(path: &Path, lines: &str, damaged: &[Damaged]) -> Result<Self, HomeError> {
        put_aside(path, damaged)?;
        let failed = |why| HomeError::File { path: path.to_owned(), why };
        let file = written(path, lines).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file, length: lines.len() as u64 })
    }

    pub(super) fn write(&mut self, note: &Note) -> io::Result<()> {
        match note {
            Note::Line(line) => self.add(line.as_bytes()),
            Note::All(lines) => {
                self.file = written(&self.path, lines)?;
                self.length = lines.len() as u64;
                Ok(())
            }
        }
    }

    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        // What an earlier one that did not come whole has left goes first.
        self.file.set_len(self.length)?;
        let written = self.file.write_all_at(line, self.length).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length += line.len() as u64,
            // If that fails too, the next does it.
            Err(_) => drop(self.file.set_len(self.length)),
        }
        written
    }
}

fn written(path: &Path, lines: &str) -> io::Result<File> {
    replace_file(path, MODE, |out| out.write_all(lines.as_bytes()))?;
    File::options().write(true).open(path)
}

fn put_aside(path: &Path, damaged: &[Damaged]) -> Result<(), HomeError> {
    if damaged.is_empty() {
        return Ok(());
    }
    let aside = path.with_extension("damaged");
    let add = || {
        let mut file = File::options().append(true).create(true).mode(MODE).open(&aside)?;
        for (_, line) in damaged {
            file.write_all(line)?;
            if !line.ends_with(b"\n") {
                file.write_all(b"\n")?;
            }
        }
        file.sync_all()
    };
    add().map_err(|why| HomeError::File { path: aside.clone(), why })?;
    for (line, _) in damaged {
        tracing::error!(
            path = %path.display(),
            line,
            aside = %aside.display(),
            "a line cannot be read and is put aside: a signed task that it spoke of may run here once more"
        );
    }
    Ok(())
}

type Then = Box<dyn FnOnce(io::Result<()>) + Send>;

/// Who writes into the book, on a thread of its own, one note after the other.
pub(crate) struct Clerk {
    notes: mpsc::Sender<(Note, Then)>,
    done: oneshot::Receiver<()>,
}

impl Clerk {
    pub(super) fn start(mut book: Book) -> io::Result<Self> {
        let (notes, taken) = mpsc::channel::<(Note, Then)>();
        let (is_done, done) = oneshot::channel();
        thread::Builder::new().spawn(move || {
            for (note, then) in taken {
                let written = book.write(&note);
                then(
                    written
                        .map_err(|why| io::Error::new(why.kind(), format!("{}: {why}", book.path.display()))),
                );
            }
            // Nobody may wait for it.
            let _ = is_done.send(());
        })?;
        Ok(Self { notes, done })
    }

    /// Has a note written, and then something done.
    pub(crate) fn write(&self, note: Note, then: impl FnOnce(io::Result<()>) + Send + 'static) {
        self.notes.send((note, Box::new(then))).expect("the thread takes notes as long as there may be some");
    }

    /// Waits until all is written.
    pub(crate) async fn finish(self) {
        drop(self.notes);
        let _ = self.done.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// As a full disk leaves it, or an agent that was killed just then.
    #[test]
    fn what_was_cut_short_spoils_nothing_that_comes_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signed");
        let mut book = Book::begin(&path, "first\n", &[]).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b"half a li").unwrap();
        book.write(&Note::Line("second\n".to_owned())).unwrap();
        book.write(&Note::Line("third\n".to_owned())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\nsecond\nthird\n");
        book.write(&Note::All("other\n".to_owned())).unwrap();
        book.write(&Note::Line("last\n".to_owned())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "other\nlast\n");
    }

    #[test]
    fn a_disk_that_takes_nothing_leaves_no_part_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signed");
        let mut book = Book::begin(&path, "first\n", &[]).unwrap();
        book.file = File::options().write(true).open("/dev/full").unwrap();
        book.write(&Note::Line("second\n".to_owned())).unwrap_err();
        book.file = File::options().write(true).open(&path).unwrap();
        book.write(&Note::Line("third\n".to_owned())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\nthird\n");
    }
}
