//! What is written to a file anew whenever it changes, by threads that may be slow: **the newest is written last**.

use std::sync::{Mutex, PoisonError};

/// The newest content, and which was written.
pub(super) struct Latest<T> {
    newest: Mutex<(u64, Option<T>)>,
    /// Held while somebody writes.
    written: Mutex<u64>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { newest: Mutex::new((0, None)), written: Mutex::new(0) }
    }
}

impl<T: Clone> Latest<T> {
    /// This is the content from now on; [`write`](Self::write) it.
    pub(super) fn set(&self, content: T) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        *newest = (newest.0 + 1, Some(content));
    }

    /// Whether the newest content is yet to be written, and nobody is writing.
    pub(super) fn waits(&self) -> bool {
        let Ok(written) = self.written.try_lock() else { return false };
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).0 > *written
    }

    /// Writes the newest content, unless somebody has; waits for whoever is writing.
    pub(super) fn write<E>(&self, write: impl FnOnce(&T) -> Result<(), E>) -> Result<(), E> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (number, Some(content)) = newest else { return Ok(()) };
        if number > *written {
            write(&content)?;
            *written = number;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    /// A disk takes its time for the first, and the second comes meanwhile.
    #[test]
    fn the_newest_is_written_last_whatever_the_disk_does() {
        let (latest, file) = (Latest::default(), Mutex::new(Vec::new()));
        let (begun, begins) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        let goes_on = Mutex::new(goes_on);
        let write = |word: &&'static str| -> Result<(), ()> {
            begun.send(()).unwrap();
            goes_on.lock().unwrap().recv().unwrap();
            file.lock().unwrap().push(*word);
            Ok(())
        };
        thread::scope(|scope| {
            latest.set("pause");
            let first = scope.spawn({
                let (latest, write) = (&latest, write);
                move || latest.write(write)
            });
            begins.recv().unwrap();
            latest.set("resume");
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let (latest, write) = (&latest, write);
                    scope.spawn(move || latest.write(write))
                })
                .collect();
            go_on.send(()).unwrap();
            begins.recv().unwrap();
            go_on.send(()).unwrap();
            for thread in others.into_iter().chain([first]) {
                assert_eq!(thread.join().unwrap(), Ok(()));
            }
        });
        assert_eq!(*file.lock().unwrap(), ["pause", "resume"]);
    }

    #[test]
    fn what_was_not_written_is_written_by_the_next() {
        let latest = Latest::default();
        latest.set(1);
        assert_eq!(latest.write(|_| Err("no space")), Err("no space"));
        assert!(latest.waits());
        latest.set(2);
        let mut written = Vec::new();
        for _ in 0..2 {
            let done: Result<(), ()> = latest.write(|content| {
                written.push(*content);
                Ok(())
            });
            assert_eq!(done, Ok(()));
        }
        assert!(!latest.waits());
        assert_eq!(written, [2]);
    }
}
