//! What bubblewrap and the launcher say of a start.

use crate::launch::{Words, read_words};
use std::io::{PipeReader, Read};

/// What they may say before the rest is dropped.
const WORDS_BYTES_MAX: usize = 4096;
/// What is dropped at one look: who says more waits for the next.
const DROPPED_BYTES_MAX: usize = 64 << 10;

/// The end of a pipe that does not block, and what came through it.
pub(crate) struct Hearing {
    pipe: PipeReader,
    heard: Vec<u8>,
    /// Whether the launcher had said its last word at the look before.
    was_ready: bool,
}

impl Hearing {
    pub(crate) fn of(pipe: PipeReader) -> Self {
        Self { pipe, heard: Vec::new(), was_ready: false }
    }

    /// Whether the program runs: the launcher said at an earlier look that it is about to, and has not said since that it
    /// cannot.
    pub(crate) fn is_ready(&mut self) -> bool {
        self.listen();
        let is_ready = matches!(read_words(&self.heard), Words::Ready { .. });
        std::mem::replace(&mut self.was_ready, is_ready) && is_ready
    }

    /// Whether the launcher said its last word: a signal ends it now, or reaches the program.
    pub(crate) fn is_said(&mut self) -> bool {
        self.listen();
        matches!(read_words(&self.heard), Words::Ready { .. })
    }

    /// What was said when all is over. All writers but strangers are gone then, and a stranger's words are not waited for.
    pub(crate) fn all(mut self) -> Words {
        self.listen();
        read_words(&self.heard)
    }

    fn listen(&mut self) {
        let room = WORDS_BYTES_MAX.saturating_sub(self.heard.len());
        // It ends where nothing more is there, which is no news.
        let _ = Read::take(&mut self.pipe, room as u64).read_to_end(&mut self.heard);
        if self.heard.len() == WORDS_BYTES_MAX {
            // Whoever has more to say does not wait for it to be read.
            let _ = std::io::copy(
                &mut Read::take(&mut self.pipe, DROPPED_BYTES_MAX as u64),
                &mut std::io::sink(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_start_is_ready_one_look_after_the_launchers_last_word() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&ours, true).unwrap();
        let mut hearing = Hearing::of(ours);
        assert!(!hearing.is_ready() && !hearing.is_said(), "nothing was said, and nothing is waited for");
        theirs.write_all(&[6, 4]).unwrap();
        assert!(hearing.is_said());
        assert!(!hearing.is_ready(), "the program may not be there");
        assert!(hearing.is_ready() && hearing.is_ready());
    }

    #[test]
    fn a_program_that_cannot_run_is_never_ready() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&ours, true).unwrap();
        let mut hearing = Hearing::of(ours);
        theirs.write_all(&[6, 4]).unwrap();
        assert!(!hearing.is_ready());
        theirs.write_all(b"nosuch: not found\n").unwrap();
        assert!(!hearing.is_ready() && !hearing.is_ready());
        assert_eq!(hearing.all(), Words::NoProgram("nosuch: not found".to_owned()));
    }

    #[test]
    fn no_more_is_kept_than_is_read() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        theirs.write_all(&[b'x'; 2 * WORDS_BYTES_MAX]).unwrap();
        drop(theirs);
        let mut hearing = Hearing::of(ours);
        assert!(!hearing.is_ready() && !hearing.is_ready());
        assert_eq!(hearing.heard.len(), WORDS_BYTES_MAX);
    }

    /// A pipe holds 64 KiB.
    #[test]
    fn whoever_says_more_is_not_held_up() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&ours, true).unwrap();
        let mut hearing = Hearing::of(ours);
        let says = std::thread::spawn(move || theirs.write_all(&vec![b'x'; 300_000]));
        while !says.is_finished() {
            assert!(!hearing.is_ready());
            std::thread::yield_now();
        }
        says.join().unwrap().unwrap();
        assert_eq!(hearing.heard.len(), WORDS_BYTES_MAX);
    }
}
