//! The connection to the coordinator: made, kept, and made again with growing pauses.
//!
//! - What is to be sent waits in a queue of bounded length; a coordinator that does not read loses the connection.
//! - **Who recorded more than it may, and is told when it is let in again, waits for that.** Whatever else turns it away may be over at any
//!   time, as when the connection ends of another that works under its name.
//! - **Where there are two addresses, both are tried until one leads to the coordinator**: which of them is out of date nobody knows before.
//! - Reading goes on while something is being written, so that neither side waits for the other.

use crate::duties::Event;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use gleaner_net::{Address, Fingerprint, SessionLimits, SessionStream, connect_session};
use gleaner_wire::limits::{FRAME_BYTES_MAX, REASON_BYTES_MAX};
use gleaner_wire::refusal::let_in_after;
use gleaner_wire::session::{FromAgent, ToAgent, decode, encode};
use gleaner_wire::text::tamed;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};
use tokio_tungstenite::tungstenite::{Error, Message};

/// Messages that wait to be written.
const QUEUE_MAX: usize = 4_096;
/// Below so many there is room for output.
const QUEUE_LOW: usize = 4;
const PAUSE_FIRST: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// Who is told to come again waits no longer for that, whatever a coordinator says.
const REFUSED_MAX: Duration = Duration::from_mins(10);
/// A connection that lasted so long was one.
const STEADY: Duration = Duration::from_secs(1);
/// How long a connection that was given up may take for its last words.
const FAREWELL: Duration = Duration::from_secs(2);
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// After so many tries in vain it is more than a restart.
const ADVICE_AFTER: u32 = 5;

/// Something that came from the connection.
pub(crate) enum News {
    /// There is one, to this address; what is sent here goes out.
    Open(Outgoing, Address),
    /// It brought something.
    Event(Event),
    /// There is none any more, for this reason.
    Closed(String),
}

/// The way out. When the last one is dropped, the connection is given up.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    queue: mpsc::Sender<FromAgent>,
    /// Never used: whoever has the other end learns from it that nobody has this one any more.
    _held: mpsc::Sender<Infallible>,
}

/// Whom to dial.
pub(crate) struct Dialler {
    /// Where the coordinator may be: the first is tried first.
    pub(crate) addresses: Vec<Address>,
    pub(crate) authority: Fingerprint,
    pub(crate) news: mpsc::Sender<News>,
    /// Told when there may be room for output.
    pub(crate) written: Arc<Notify>,
}

impl Outgoing {
    /// Sends something; the error is that the queue is full. Where the connection is gone, [`News::Closed`] will say why.
    pub(crate) fn send(&self, message: FromAgent) -> Result<(), ()> {
        match self.queue.try_send(message) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(()),
        }
    }

    /// Whether output may be sent without piling up.
    pub(crate) fn has_room(&self) -> bool {
        !self.queue.is_closed() && self.queue.max_capacity() - self.queue.capacity() < QUEUE_LOW
    }
}

impl Dialler {
    /// Dials for ever. A connection is given up when its [`Outgoing`] is dropped.
    pub(crate) async fn dial(self) {
        let mut pause = PAUSE_FIRST;
        let mut in_vain = 0;
        let mut addresses = self.addresses.iter().cycle().peekable();
        while let Some(address) = addresses.peek().copied() {
            let limits = SessionLimits { connect: CONNECT_MAX, message_bytes: FRAME_BYTES_MAX };
            let path = "/api/v1/session";
            let why = match connect_session(address, self.authority, path, None, limits).await {
                Ok(session) => {
                    let started = tokio::time::Instant::now();
                    let why = self.converse(session, address).await;
                    in_vain = 0;
                    // One that breaks at once is no better than none.
                    if started.elapsed() > STEADY {
                        pause = PAUSE_FIRST;
                    }
                    why
                }
                Err(why) => {
                    in_vain += 1;
                    if in_vain == ADVICE_AFTER {
                        advise(&self.addresses);
                    }
                    addresses.next();
                    why.to_string()
                }
            };
            let told = let_in_after(&why).map_or(Duration::ZERO, |after| Duration::from_secs(after.into()));
            if self.news.send(News::Closed(why)).await.is_err() {
                return;
            }
            tokio::time::sleep(jittered(pause).max(told.min(REFUSED_MAX))).await;
            pause = (pause * 8 / 5).min(PAUSE_MAX);
        }
    }

    async fn converse(&self, session: SessionStream, address: &Address) -> String {
        let (sink, stream) = session.split();
        let ((outgoing, queue), (held, all_dropped)) = (mpsc::channel(QUEUE_MAX), mpsc::channel(1));
        let outgoing = Outgoing { queue: outgoing, _held: held };
        if self.news.send(News::Open(outgoing, address.clone())).await.is_err() {
            return "nobody listens".into();
        }
        let both = async {
            tokio::select! {
                why = self.read(stream) => why,
                why = self.write(sink, queue) => why,
            }
        };
        unless_given_up(both, all_dropped).await
    }

    async fn read(&self, mut stream: SplitStream<SessionStream>) -> String {
        while let Some(message) = stream.next().await {
            let bytes = match message {
                Ok(Message::Binary(bytes)) => bytes,
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                Ok(Message::Close(_)) => break,
                Ok(Message::Text(_) | Message::Frame(_)) => {
                    return "it sent something else than messages".into();
                }
                Err(why) => return told(&why),
            };
            match decode(&bytes) {
                Ok(message) => {
                    let refusal = match &message {
                        ToAgent::Refused { why, for_good: false } => Some(tamed(why, REASON_BYTES_MAX)),
                        _ => None,
                    };
                    if self.news.send(News::Event(Event::Received(message))).await.is_err() {
                        return "nobody listens".into();
                    }
                    if let Some(why) = refusal {
                        return why;
                    }
                }
                Err(why) => return why.to_string(),
            }
        }
        "the coordinator closed it".into()
    }

    async fn write(
        &self,
        mut sink: SplitSink<SessionStream, Message>,
        mut queue: mpsc::Receiver<FromAgent>,
    ) -> String {
        while let Some(message) = queue.recv().await {
            let mut result = sink.feed(binary(&message)).await;
            while result.is_ok()
                && let Ok(message) = queue.try_recv()
            {
                result = sink.feed(binary(&message)).await;
            }
            if result.is_ok() {
                result = sink.flush().await;
            }
            if let Err(why) = result {
                return told(&why);
            }
            self.written.notify_one();
        }
        // The other end of the queue was dropped: whoever decides wants another connection.
        let _ = sink.close().await;
        "it was given up".into()
    }
}

/// What comes of a connection, unless all means to use it were dropped and it does not end by itself: one that takes nothing is left.
async fn unless_given_up(
    connection: impl Future<Output = String>,
    mut all_dropped: mpsc::Receiver<Infallible>,
) -> String {
    let given_up = async {
        let _: Option<Infallible> = all_dropped.recv().await;
        // What waits to be written may still go, if anything does.
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        why = connection => why,
        () = given_up => "it was given up, and took nothing more".into(),
    }
}

/// Once each time that the coordinator is away for longer.
fn advise(addresses: &[Address]) {
    let tried = addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    tracing::warn!(
        tried,
        "the coordinator is not found; if it has a new address, start this agent with `--join https://NEW:PORT`, a service by its \
         settings (/etc/gleaner/agent.env): no new token is needed"
    );
}

/// What TLS says of an end without a word is for programmers.
fn told(why: &Error) -> String {
    match why {
        Error::Io(why) if why.kind() == ErrorKind::UnexpectedEof => {
            "the coordinator went without a word: it ended, or its machine did".to_owned()
        }
        why => why.to_string(),
    }
}

fn binary(message: &FromAgent) -> Message {
    Message::Binary(encode(message).into())
}

/// From a half to one and a half times as long, so that agents do not come back all at once.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [128];
    // Without randomness there is only less of a spread.
    let _ = getrandom::fill(&mut byte);
    pause.mul_f64(0.5 + f64::from(byte[0]) / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_that_takes_nothing_more_is_left_once_it_is_given_up() {
        let (held, all_dropped) = mpsc::channel(1);
        let connection = tokio::spawn(unless_given_up(std::future::pending(), all_dropped));
        tokio::task::yield_now().await;
        assert!(!connection.is_finished());
        drop(held);
        assert!(connection.await.expect("no panic").contains("given up"));
    }

    #[tokio::test]
    async fn last_words_go_before_that() {
        let (held, all_dropped) = mpsc::channel(1);
        drop(held);
        let last_words = async {
            tokio::task::yield_now().await;
            "it was given up".to_owned()
        };
        assert_eq!(unless_given_up(last_words, all_dropped).await, "it was given up");
    }
}
