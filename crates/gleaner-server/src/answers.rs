//! What a run answered, where other machines' answers are compared with it: a digest of how its program ended, of what it wrote
//! to standard output, and of its output files.
//!
//! **It is taken of what is stored here**, and of nothing that an agent says of it: files by the name under which they were
//! received, which is their hash, output as it was kept. Standard error, times and use are no part of an answer.

use crate::outputs;
use gleaner_units::{RunId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::session::{End, Outcome, Stream};
use std::io;
use std::path::Path;

/// Bytes of output that are read at a time.
const CHUNK: usize = 256 << 10;

/// Of a run that ended so; what was sent before its end is in `home`.
pub fn digest(home: &Path, began: Time, run: RunId, end: &End) -> io::Result<BlobHash> {
    let mut output = blake3::Hasher::new();
    let mut offset = 0;
    while offset < end.stdout.offset {
        let at_most = (end.stdout.offset - offset).min(CHUNK as u64) as usize;
        let bytes = outputs::read(home, began, run, Stream::Stdout, offset, at_most)?;
        if bytes.is_empty() {
            break;
        }
        output.update(&bytes);
        offset += bytes.len() as u64;
    }
    output.update(&end.stdout.bytes);
    Ok(of(end, &output.finalize()))
}

/// Of parts that are each of a fixed length, so that no two answers are written alike.
fn of(end: &End, output: &blake3::Hash) -> BlobHash {
    let outcome = match &end.outcome {
        Outcome::Exited { code } => format!("exited {code}"),
        Outcome::Signalled { signal } => format!("signal {signal}"),
        Outcome::TimedOut => "timed out".to_owned(),
        // Texts have numbers in them that are each machine's own.
        Outcome::OverLimit { .. } => "over a limit".to_owned(),
        Outcome::NotStarted { .. } => "not started".to_owned(),
        Outcome::Abandoned { .. } => "abandoned".to_owned(),
        Outcome::Stopped => "stopped".to_owned(),
    };
    let files = end.files.as_ref().map_or_else(|| "no files".to_owned(), |files| files.blob.to_string());
    let mut all = blake3::Hasher::new();
    all.update(blake3::hash(outcome.as_bytes()).as_bytes());
    all.update(output.as_bytes());
    all.update(blake3::hash(files.as_bytes()).as_bytes());
    all.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Written;
    use crate::outputs::Outputs;
    use crate::store::{Home, NetworkFolder};
    use gleaner_units::TaskId;
    use gleaner_wire::session::{Stored, Tail};

    fn end(code: i32, stdout: &[u8], files: Option<&str>) -> End {
        let stored = |digit: &str| Stored { blob: digit.repeat(64).try_into().expect("a hash"), size: 1 };
        End {
            stdout: Tail { bytes: stdout.to_vec(), ..Tail::default() },
            files: files.map(stored),
            ..End::of(Outcome::Exited { code })
        }
    }

    #[test]
    fn an_answer_is_the_exit_code_the_output_and_the_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = RunId::new(TaskId::new(0), 1);
        let digest = |end: &End| digest(folder.path(), Time::ZERO, run, end).expect("it can be read");
        let one = digest(&end(0, b"7", Some("a")));
        assert_eq!(one, digest(&end(0, b"7", Some("a"))));
        let others =
            [end(1, b"7", Some("a")), end(0, b"8", Some("a")), end(0, b"7", Some("b")), end(0, b"7", None)];
        assert!(others.iter().all(|other| digest(other) != one));
        let mut noisy = end(0, b"7", Some("a"));
        noisy.stderr.bytes = b"took 3 s".to_vec();
        noisy.usage.elapsed_s = 3.0;
        assert_eq!(digest(&noisy), one, "what a machine says beside is no part of it");
    }

    #[test]
    fn output_that_came_in_pieces_is_the_same_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open(folder.path(), NetworkFolder::Refuse).expect("a home");
        let run = RunId::new(TaskId::new(0), 1);
        let text = vec![b'x'; 3 * CHUNK + 17];
        let whole = digest(home.folder(), Time::ZERO, run, &end(0, &text, None)).expect("nothing is read");
        let mut outputs = Outputs::open(&home, Time::ZERO);
        let sent = CHUNK + 5;
        let written = Written { run, stream: Stream::Stdout, offset: 0, bytes: text[..sent].to_vec() };
        outputs.keep(&written).expect("it is kept");
        let mut rest = end(0, &text[sent..], None);
        rest.stdout.offset = sent as u64;
        let in_pieces = |end: &End| digest(home.folder(), Time::ZERO, run, end).expect("it can be read");
        assert_eq!(in_pieces(&rest), whole);
        // An agent that says it sent more than it did gave another answer.
        rest.stdout.offset += 1;
        rest.stdout.bytes.remove(0);
        assert_ne!(in_pieces(&rest), whole);
    }
}
