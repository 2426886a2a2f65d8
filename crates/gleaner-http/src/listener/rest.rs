//! The body of a request, and what nobody has read of it when the answer is there.
//!
//! **The connection ends behind such an answer**, which says so. Many read an answer only when they have sent everything, and a connection
//! that is closed before takes the answer away from them: so what still comes is thrown away, for a while and up to a length. Whoever sends it
//! has no other place meanwhile than their connection's.

use crate::limits::{REST_BYTES_MAX, REST_MAX};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::time::timeout;

/// The body of a request, as it is read.
pub(super) struct Watched {
    body: Option<Incoming>,
    rest: Arc<Rest>,
}

/// What is known of it beside whoever reads it.
pub(super) struct Rest {
    is_begun: AtomicBool,
    is_read: AtomicBool,
    /// What is left of it, once nobody reads it any more.
    left: Mutex<Option<Incoming>>,
}

impl Watched {
    pub(super) fn new(body: Incoming) -> (Self, Arc<Rest>) {
        let is_read = AtomicBool::new(body.is_end_stream());
        let rest = Arc::new(Rest { is_begun: AtomicBool::new(false), is_read, left: Mutex::default() });
        (Self { body: Some(body), rest: Arc::clone(&rest) }, rest)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        *self.rest.left.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let frame = Pin::new(&mut *body).poll_frame(context);
        let is_read = matches!(frame, Poll::Ready(None)) || body.is_end_stream();
        self.rest.is_begun.store(true, Ordering::Relaxed);
        if is_read {
            self.rest.is_read.store(true, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Rest {
    /// Whether there is nothing more to read.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Throws away what is left, beside the answer. Who waits to be told to go on (`Expect: 100-continue`), and was not, sends nothing.
    pub(super) fn throw_away(&self, is_expected: bool) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(left) = left
            && (self.is_begun.load(Ordering::Relaxed) || !is_expected)
        {
            tokio::spawn(thrown_away(left));
        }
    }
}

async fn thrown_away(mut left: Incoming) {
    let all = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut left).poll_frame(context)).await {
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > REST_BYTES_MAX {
                return;
            }
        }
    };
    // Whoever sends on hears that the connection is closed.
    let _ = timeout(REST_MAX, all).await;
}
