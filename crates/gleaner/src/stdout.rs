//! Standard output: what a command was asked for goes out through here, whole.

use crate::Outcome;
use crate::failure::Failure;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, BufWriter, ErrorKind, Write};

/// Prints a text as it is.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Outcome {
    print_more(text).map(drop)
}

/// Likewise, for what goes on printing; whether whoever reads has read enough and gone.
pub(crate) fn print_more(text: impl AsRef<[u8]>) -> Result<bool, Failure> {
    let mut stdout = anstream::stdout().lock();
    is_closed(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()))
}

/// Prints what is written there, every byte as it is.
pub(crate) fn print_file(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    is_closed(write(&mut out).and_then(|()| out.flush())).map(drop)
}

/// Whether whoever reads standard output has read enough and gone; any other trouble with it is a fault.
pub(crate) fn is_closed(written: io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(Failure::Io { what: "cannot write to standard output".to_owned(), error }),
    }
}

/// Prints a document of ours on a line.
pub(crate) fn print_json(document: &impl Serialize) -> Outcome {
    print(json_line(document))
}

/// What is known of jobs: of the one that was named, or of several as the list `jobs`. Nothing where none of them is known.
pub(crate) fn print_jobs(documents: &[Value], named: usize) -> Outcome {
    match documents {
        [] => Ok(()),
        [document] if named == 1 => print_json(document),
        several => print_json(&json!({ "version": 1, "jobs": several })),
    }
}

/// A document of ours on a line.
pub(crate) fn json_line(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("plain data can always be written to memory") + "\n"
}
