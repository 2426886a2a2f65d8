//! A text file line by line, within bounds, whatever it holds.

use crate::InputError;
use crate::error::Place;
use crate::packed::BOM;
use crate::section::Key;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The longest line; past it the file is not what it was taken for.
const LINE_BYTES_MAX: u64 = 1 << 20;
const BUFFER_BYTES: usize = 1 << 18;
/// Where a file that cannot be read is to be reported.
#[derive(Clone, Copy)]
pub(crate) enum NamedBy<'a> {
    /// At the scenario's key.
    Key(&'a Key<'a>),
    /// As itself: somebody named it by hand.
    Hand(&'a Path),
}

impl NamedBy<'_> {
    fn error(self, found: String) -> InputError {
        match self {
            NamedBy::Key(key) => key.error_found(found, "the name of a file that can be read"),
            NamedBy::Hand(path) => {
                Place::whole(&path.display().to_string()).error("", found, "a file that can be read")
            }
        }
    }
}

pub(crate) struct Lines {
    input: BufReader<File>,
    file: Place,
    buffer: Vec<u8>,
    number: u64,
}

/// One line that is not blank.
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    /// It ends with one newline, as the splitter wants it, whatever it ended with in the file.
    pub(crate) text: &'a str,
    /// Whether the file had a line end here: where it had not, the file may have been cut off.
    pub(crate) ended: bool,
}

impl Lines {
    /// Opens the file at `path`, which `named` asks for.
    pub(crate) fn open(path: &Path, named: NamedBy<'_>) -> Result<Self, InputError> {
        let name = path.display();
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => named.error(format!("no file {name}")),
            _ => named.error(format!("{name}, which gives: {error}")),
        };
        // Before it is opened: a pipe without a writer would keep us waiting for ever.
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(named.error(format!("{name}, which is a folder")));
        }
        if !metadata.is_file() {
            return Err(named.error(format!("{name}, which is no regular file")));
        }
        let file = File::open(path).map_err(unreadable)?;
        Ok(Self {
            input: BufReader::with_capacity(BUFFER_BYTES, file),
            file: Place::whole(&name.to_string()),
            buffer: Vec::new(),
            number: 0,
        })
    }

    /// The file as a whole.
    pub(crate) fn file(&self) -> &Place {
        &self.file
    }

    /// The next line that is not blank; none at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, InputError> {
        let mut ended = true;
        while ended {
            ended = self.fill()?;
            if !self.buffer.trim_ascii().is_empty() {
                self.buffer.push(b'\n');
                return self.line(ended).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads one line into the buffer, without its end; whether it had one.
    fn fill(&mut self) -> Result<bool, InputError> {
        self.buffer.clear();
        self.number += 1;
        let place = self.file.at_line(self.number);
        let mut bounded = (&mut self.input).take(LINE_BYTES_MAX + 1);
        let read = bounded.read_until(b'\n', &mut self.buffer);
        read.map_err(|error| {
            place.error("", format!("that reading fails: {error}"), "a file that can be read")
        })?;
        let ended = self.buffer.pop_if(|last| *last == b'\n').is_some();
        if self.buffer.len() as u64 > LINE_BYTES_MAX {
            return Err(place.error("", "a line of more than 1 MiB", "at most 1 MiB a line"));
        }
        self.buffer.pop_if(|last| *last == b'\r');
        if self.number == 1 && self.buffer.starts_with(BOM) {
            self.buffer.drain(..BOM.len());
        }
        Ok(ended)
    }

    fn line(&self, ended: bool) -> Result<Line<'_>, InputError> {
        match str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Line { number: self.number, text, ended }),
            Err(_) => Err(self.file.at_line(self.number).error("", "bytes that are not UTF-8", "UTF-8 text")),
        }
    }
}
