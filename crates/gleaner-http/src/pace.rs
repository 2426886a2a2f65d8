//! How slow the other side may be: whoever sends or takes bytes has so much patience of ours for each so many of them.
//!
//! Only the time spent waiting for the other side counts, so that a slow disk here is nobody's fault there. From this a
//! whole body's deadline follows, by its length.

use crate::limits::PATIENCE;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// What is left of the patience with one body.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes_min: u64,
    bytes: u64,
    left: Duration,
    /// Since when a step that is polled waits, and until when at most.
    waits: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Pace {
    /// So many bytes have to pass within [`PATIENCE`], again and again.
    pub(crate) fn new(bytes_min: u64) -> Self {
        Self { bytes_min, bytes: 0, left: PATIENCE, waits: None }
    }

    /// Waits for the other side as long as there is patience.
    pub(crate) async fn wait<T>(&mut self, step: impl Future<Output = T>) -> io::Result<T> {
        let began = Instant::now();
        let done = timeout(self.left, step).await;
        self.left = self.left.saturating_sub(began.elapsed());
        done.map_err(|_| too_slow())
    }

    /// Likewise of a step that is polled: how it stands, or an error once there is no patience left.
    pub(crate) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        step: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if step.is_ready() {
            if let Some((began, _)) = self.waits.take() {
                self.left = self.left.saturating_sub(began.elapsed());
            }
            return step;
        }
        let left = self.left;
        let (_, end) = self.waits.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(left))));
        end.as_mut().poll(context).map(|()| Err(too_slow()))
    }

    /// So many bytes have passed.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes >= self.bytes_min {
            self.renew();
        }
    }

    /// Whatever passes from now on begins with new patience.
    pub(crate) fn renew(&mut self) {
        (self.bytes, self.left) = (0, PATIENCE);
    }
}

fn too_slow() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the other side is too slow")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 1_000;

    /// After how many pieces one who needs so long for each is given up.
    async fn pieces(each: Duration, bytes_min: u64) -> Option<u32> {
        let mut pace = Pace::new(bytes_min);
        for piece in 0..1_000 {
            if pace.wait(sleep(each)).await.is_err() {
                return Some(piece);
            }
            pace.count(PIECE);
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_too_slow_is_given_up_and_who_is_not_may_take_as_long_as_it_takes() {
        let second = Duration::from_secs(1);
        assert_eq!(pieces(PATIENCE + second, 1).await, Some(0), "silence");
        assert_eq!(pieces(second, 31_000).await, Some(30), "a byte now and then is not enough");
        assert_eq!(pieces(second, 29_000).await, None);
    }
}
