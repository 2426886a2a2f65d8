//! What is said over a session's WebSocket: messages of a bounded size, each taken in time.

use super::end::SessionEnd;
use crate::limits::SENDING_MAX;
use futures_util::{SinkExt as _, StreamExt as _};
use gleaner_wire::session::{FromAgent, ToAgent, decode, encode};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};

/// A session over any stream.
pub(super) type Session<S> = WebSocketStream<S>;

pub(super) type Socket = Session<TokioIo<Upgraded>>;

/// What carries a session.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// What is read of a connection at once. Each has a buffer of this size, and there are ten thousand of them, most of which
/// say no more than that they live.
const READ_BYTES: usize = 4 << 10;
/// So much is gathered before it goes out.
const WRITE_BYTES: usize = 4 << 10;

/// A session that takes messages of so many bytes.
pub(super) async fn socket<S: Stream>(stream: S, message_bytes: usize) -> Session<S> {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(WRITE_BYTES)
        .max_message_size(Some(message_bytes))
        .max_frame_size(Some(message_bytes));
    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await
}

/// Says something at once.
pub(super) async fn say(socket: &mut Session<impl Stream>, message: &ToAgent) -> Result<(), SessionEnd> {
    taken_in_time(socket.send(Message::Binary(encode(message).into()))).await
}

/// Whoever does not read in time is let go.
pub(super) async fn taken_in_time(
    sent: impl Future<Output = Result<(), tungstenite::Error>>,
) -> Result<(), SessionEnd> {
    Ok(tokio::time::timeout(SENDING_MAX, sent).await.map_err(|_| SessionEnd::Closed)??)
}

/// The next message that is not about the connection itself. Nothing is lost if it is not awaited to its end.
pub(super) async fn hear(socket: &mut Session<impl Stream>) -> Result<FromAgent, SessionEnd> {
    loop {
        if let Some(message) = message(socket.next().await.ok_or(SessionEnd::Closed)??)? {
            return Ok(message);
        }
    }
}

/// The next message, which has to be one: whoever is known may keep a connection alive, a stranger may not.
pub(super) async fn hear_stranger(socket: &mut Session<impl Stream>) -> Result<FromAgent, SessionEnd> {
    let heard = message(socket.next().await.ok_or(SessionEnd::Closed)??)?;
    heard.ok_or_else(|| SessionEnd::Refused("say who you are before anything else".to_owned()))
}

fn message(heard: Message) -> Result<Option<FromAgent>, SessionEnd> {
    match heard {
        Message::Binary(bytes) => Ok(Some(decode(&bytes)?)),
        Message::Ping(_) | Message::Pong(_) => Ok(None),
        Message::Close(_) => Err(SessionEnd::Left),
        Message::Text(_) | Message::Frame(_) => Err(SessionEnd::Refused("messages are binary".to_owned())),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gleaner_wire::limits::FRAME_BYTES_MAX;
    use tokio::io::DuplexStream;
    use tokio::time::Instant;

    /// Both ends of a session; so many bytes are on their way.
    pub(in crate::sessions) async fn session(bytes: usize) -> (Session<DuplexStream>, Session<DuplexStream>) {
        let (ours, theirs) = tokio::io::duplex(bytes);
        let agent = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
        (socket(ours, FRAME_BYTES_MAX).await, agent)
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_in_time_is_let_go() {
        // Some bytes are under way, and the other end reads none.
        let (mut socket, _agent) = session(16).await;
        let begun = Instant::now();
        let why = "a machine that stands still".to_owned();
        let end = say(&mut socket, &ToAgent::Refused { why, for_good: false }).await;
        assert!(matches!(end, Err(SessionEnd::Closed)), "{end:?}");
        assert_eq!(begun.elapsed().as_secs(), SENDING_MAX.as_secs());
    }
}
