//! The agents' connections: who an agent is gets proven here, what it says goes to the desk.
//!
//! **Until then a connection costs little**: two messages of [`GREETING_BYTES_MAX`], in order, within ten seconds, at a
//! stranger's place (`listener`). The WebSocket itself holds to that; it takes more once the proof is there.

mod end;
mod messages;

use crate::limits::{AHEAD_MAX, GREETING_MAX, OUTGOING_MAX, TOGETHER_MAX};
use crate::listener::{Connection, Over};
use crate::places::Who;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use end::SessionEnd;
use futures_util::{FutureExt as _, SinkExt as _};
use gleaner_net::{
    AgentPublicKey, Challenge, SessionNonce, SessionSignature, Token, TokenKind, verify_session,
};
use gleaner_server::answers;
use gleaner_server::app::App;
use gleaner_server::desk::{Checked, Input, Rejection, SessionId};
use gleaner_server::driver::{Newcomer, Outgoing};
use gleaner_server::store::{Lack, Seq};
use gleaner_units::{MachineId, RunId};
use gleaner_wire::limits::{FRAME_BYTES_MAX, GREETING_BYTES_MAX};
use gleaner_wire::session::{End, FromAgent, Hello, Obstacle, Outcome, ToAgent, encode};
use gleaner_wire::{Met, SESSION_VERSION};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use messages::{Session, Socket, Stream, hear, hear_stranger, say, socket, taken_in_time};
use std::io;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

/// Agents come back by themselves.
pub(crate) fn full(lack: Lack) -> String {
    format!(
        "the coordinator's disk is full ({lack}): it answers questions, and lets agents in again when there is room"
    )
}

/// Agents that were told keep output to themselves: this is for what was on its way, and for who goes on all the same.
fn full_for_output(lack: Lack) -> String {
    format!(
        "the coordinator's disk has no room for what tasks print ({lack}): it waits at this machine until there is some"
    )
}

/// As where the disk is full.
const NO_PLACE: &str = "this machine, or all of them together, have as many connections to the coordinator as they may; it is let in when others end";

/// `GET /api/v1/session`: the agent proves who it is inside, so no token is asked for.
pub(crate) fn open(app: Arc<App>, Over(connection): Over, mut request: Request) -> Response {
    let response = match create_response_with_body(&request, Body::empty) {
        Ok(response) => response,
        Err(why) => return (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response(),
    };
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        match upgrade.await {
            Ok(stream) => serve(app, TokioIo::new(stream), &connection).await,
            Err(why) => tracing::debug!("no session came about: {why}"),
        }
    });
    response
}

async fn serve(app: Arc<App>, stream: TokioIo<Upgraded>, connection: &Connection) {
    let mut stranger = socket(stream, GREETING_BYTES_MAX).await;
    let greeting = tokio::select! {
        () = connection.lost() => Err(SessionEnd::Crowded),
        greeting = in_time(greet(&app, &mut stranger)) => greeting,
    };
    let (mut socket, end) = match greeting.and_then(|agent| kept(connection, agent)) {
        Ok(agent) => {
            // Nothing is lost: an agent says nothing between its proof and the answer to it.
            let mut socket = socket(stranger.into_inner(), FRAME_BYTES_MAX).await;
            let end = match in_time(introduced(&mut socket, agent)).await {
                Ok(hello) => talk(&app, &mut socket, hello).await,
                Err(end) => Err(end),
            };
            (socket, end)
        }
        Err(end) => (stranger, Err(end)),
    };
    if let Err(end) = end {
        tracing::info!("a session ended: {end}");
        let refusal = match end {
            SessionEnd::Refused(why) => Some((why, true)),
            SessionEnd::NotNow(why) => Some((why, false)),
            _ => None,
        };
        if let Some((why, for_good)) = refusal {
            // It may be gone already.
            let _ = say(&mut socket, &ToAgent::Refused { why, for_good }).await;
        }
    }
}

/// What an agent says of who it is, if it does so in time.
async fn in_time<T>(said: impl Future<Output = Result<T, SessionEnd>>) -> Result<T, SessionEnd> {
    tokio::time::timeout(GREETING_MAX, said).await.unwrap_or(Err(SessionEnd::Late))
}

/// An agent that has proven its number keeps its connection.
fn kept(connection: &Connection, agent: u32) -> Result<u32, SessionEnd> {
    let is_kept = connection.show(&Who::Agent(MachineId::new(agent as usize)));
    is_kept.then_some(agent).ok_or_else(|| SessionEnd::NotNow(NO_PLACE.to_owned()))
}

/// An agent of another version waits until one of the two is upgraded.
fn check_version(version: u32) -> Result<(), SessionEnd> {
    if version == SESSION_VERSION {
        return Ok(());
    }
    Err(SessionEnd::NotNow(format!(
        "this coordinator speaks version {SESSION_VERSION} of the protocol, the agent version {version}; install the same program \
         on both"
    )))
}

/// The number of an agent that proved it.
async fn greet(app: &App, socket: &mut Socket) -> Result<u32, SessionEnd> {
    let FromAgent::Knock { version, agent } = hear_stranger(socket).await? else {
        return Err(SessionEnd::Refused("the first message must say who dials".to_owned()));
    };
    check_version(version)?;
    let number = agent as usize;
    let key = app.desk.look(move |desk, _| desk.ledger().agents().get(number).map(|agent| agent.key.clone()));
    let unknown =
        || SessionEnd::Refused("this agent is not enrolled here; join again with a new token".to_owned());
    let key: AgentPublicKey = key.await?.and_then(|key| key.parse().ok()).ok_or_else(unknown)?;
    let nonce = SessionNonce::generate()?;
    say(socket, &ToAgent::Challenge { nonce: nonce.as_bytes().to_vec() }).await?;
    let FromAgent::Proof { signature } = hear_stranger(socket).await? else {
        return Err(SessionEnd::Refused("the second message must be a proof".to_owned()));
    };
    let challenge = Challenge { authority: app.authority, agent, nonce };
    let signature = SessionSignature::try_from(&signature[..]);
    let proven = signature.is_ok_and(|signature| verify_session(&key, &challenge, &signature).is_ok());
    let refused = || SessionEnd::Refused("the proof does not fit this agent's key".to_owned());
    let home = app.home.clone();
    if proven && let Some(lack) = tokio::task::spawn_blocking(move || home.lack()).await.unwrap_or_default() {
        return Err(SessionEnd::NotNow(full(lack)));
    }
    proven.then_some(agent).ok_or_else(refused)
}

/// How an agent is that has proven its number.
async fn introduced(socket: &mut Socket, agent: u32) -> Result<Checked<Hello>, SessionEnd> {
    say(socket, &ToAgent::Proven).await?;
    match hear(socket).await? {
        FromAgent::Hello(hello) if hello.agent == agent => Ok(Checked::of(hello)?),
        _ => Err(SessionEnd::Refused("after the proof comes how this agent is".to_owned())),
    }
}

async fn talk(app: &Arc<App>, socket: &mut Socket, hello: Checked<Hello>) -> Result<(), SessionEnd> {
    let token = Token::generate(TokenKind::Session)?;
    let agent = MachineId::new(hello.said().agent as usize);
    app.agents.add(&token, agent);
    let (to_agent, outgoing) = mpsc::channel(OUTGOING_MAX);
    let fits = fits(Arc::clone(app), hello.said().met.clone()).await;
    let newcomer = Newcomer { hello, token: token.reveal(), fits, to_agent };
    let session = app.desk.connected(newcomer).await;
    let end = match session {
        Ok(session) => {
            let end = relay(app, socket, session, outgoing).await;
            app.desk.input(Input::Disconnected { session }).await?;
            end
        }
        Err(stopped) => Err(stopped.into()),
    };
    app.agents.remove(&token);
    end
}

/// Whether the journal still has the row that an agent remembers, as it heard of it. Of a journal that cannot be read nothing
/// is said here.
async fn fits(app: Arc<App>, met: Option<Met>) -> bool {
    let Some((row, hash)) = met.and_then(|met| Some((met.row, met.hash?))) else { return true };
    let found = move || app.readers.read(|reader| reader.chain(Seq::new(row)));
    match tokio::task::spawn_blocking(found).await {
        Ok(Ok(Some(found))) => found == hash,
        // That the journal ends before it is noticed by its number.
        Ok(Ok(None) | Err(_)) | Err(_) => true,
    }
}

async fn relay(
    app: &App,
    socket: &mut Socket,
    session: SessionId,
    mut outgoing: mpsc::Receiver<Outgoing>,
) -> Result<(), SessionEnd> {
    let ahead = Ahead::none();
    loop {
        let mut together = Vec::new();
        tokio::select! {
            count = outgoing.recv_many(&mut together, TOGETHER_MAX) => {
                if count == 0 {
                    // The desk closed the session.
                    return Ok(());
                }
                for message in together {
                    if let Some(input) = pass_on(app, socket, session, message).await? {
                        app.desk.input(input).await?;
                    }
                }
                // What goes out together costs both ends one turn.
                taken_in_time(socket.flush()).await?;
            }
            first = hear(socket) => {
                let (frames, end) = with_all_that_came(first?, socket);
                let is_output = |frame: &FromAgent| matches!(frame, FromAgent::Output { .. });
                if frames.iter().any(is_output)
                    && let Some(lack) = app.home.room().shortage().unwrap_or_default()
                {
                    return Err(SessionEnd::NotNow(full_for_output(lack)));
                }
                let inputs: Result<Vec<Input>, Rejection> =
                    frames.into_iter().map(|frame| Input::said(session, frame)).collect();
                app.desk.inputs(inputs?, ahead.place().await?).await?;
                end?;
            }
        }
    }
}

/// Puts a message behind what is to go out, or says what the desk is to hear instead.
async fn pass_on(
    app: &App,
    socket: &mut Socket,
    session: SessionId,
    message: Outgoing,
) -> Result<Option<Input>, SessionEnd> {
    let message = match message {
        Outgoing::Message(message) => message,
        Outgoing::Run(order) => match order.filled_in() {
            Ok(run) => ToAgent::Run(Box::new(run)),
            // The run has failed; the agent never hears of it, and goes on with the others.
            Err(why) => {
                let frame = Box::new(not_started(order.run, why));
                return Ok(Some(Input::Frame { session, frame }));
            }
        },
        Outgoing::Compare(run, end) => {
            // To read what was answered takes a while, for which nothing is held back.
            taken_in_time(socket.flush()).await?;
            return answered(app, session, run, end).await.map(Some);
        }
    };
    taken_in_time(socket.feed(Message::Binary(encode(&message).into()))).await?;
    Ok(None)
}

/// What one agent said and the desk has not taken in yet.
struct Ahead(Arc<Semaphore>);

impl Ahead {
    fn none() -> Self {
        Self(Arc::new(Semaphore::new(AHEAD_MAX)))
    }

    /// For one thing more, when there is one; it is free again when this is dropped.
    async fn place(&self) -> Result<OwnedSemaphorePermit, SessionEnd> {
        Arc::clone(&self.0).acquire_owned().await.map_err(|_| SessionEnd::Closed)
    }
}

/// A short run's start and end come together. Handed in one by one, each would wait for a commit of its own.
fn with_all_that_came(
    first: FromAgent,
    socket: &mut Session<impl Stream>,
) -> (Vec<FromAgent>, Result<(), SessionEnd>) {
    let mut frames = vec![first];
    while frames.len() < TOGETHER_MAX
        && let Some(next) = hear(socket).now_or_never()
    {
        match next {
            Ok(frame) => frames.push(frame),
            Err(end) => return (frames, Err(end)),
        }
    }
    (frames, Ok(()))
}

/// What a run answered, by what is stored of it.
async fn answered(app: &App, session: SessionId, run: RunId, end: Box<End>) -> Result<Input, SessionEnd> {
    let (home, began) = (app.home.folder().to_owned(), app.desk.began());
    let read = tokio::task::spawn_blocking(move || {
        let digest = answers::digest(&home, began, run, &end)?;
        Ok(Input::Answered { session, run, end, digest })
    });
    let read: io::Result<Input> = read.await.map_err(|_| SessionEnd::Closed)?;
    read.map_err(|error| {
        let why = format!(
            "the output of {run} cannot be read at the coordinator ({error}); its end is to be reported again"
        );
        SessionEnd::NotNow(why)
    })
}

/// As if the agent had said so.
fn not_started(run: RunId, why: String) -> FromAgent {
    FromAgent::Ended { run, end: End::of(Outcome::NotStarted { why, obstacle: Obstacle::Task }) }
}

#[cfg(test)]
mod tests {
    use super::messages::tests::session;
    use super::*;
    use gleaner_wire::session::Sample;
    use tokio::io::DuplexStream;
    use tokio::time::{Instant, advance};

    fn beat(number: u64) -> FromAgent {
        FromAgent::Heartbeat { number, sample: Sample::default(), staging: Vec::new() }
    }

    async fn says(agent: &mut Session<DuplexStream>, said: FromAgent) {
        agent.send(Message::Binary(encode(&said).into())).await.expect("there is room");
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_say_who_it_is_in_time_is_let_go() {
        let (mut socket, mut agent) = session(4 << 10).await;
        let begun = Instant::now();
        let late = in_time(hear_stranger(&mut socket)).await;
        assert!(matches!(late, Err(SessionEnd::Late)), "{late:?}");
        assert_eq!(begun.elapsed().as_secs(), GREETING_MAX.as_secs());
        let heard = tokio::spawn(async move { in_time(hear_stranger(&mut socket)).await });
        tokio::task::yield_now().await;
        advance(std::time::Duration::from_secs(GREETING_MAX.as_secs() - 1)).await;
        says(&mut agent, FromAgent::Knock { version: 1, agent: 7 }).await;
        let heard = heard.await.expect("it ends");
        assert!(matches!(heard, Ok(FromAgent::Knock { agent: 7, .. })), "{heard:?}");
    }

    #[tokio::test]
    async fn so_many_messages_are_taken_together() {
        let (mut socket, mut agent) = session(64 << 10).await;
        let most = TOGETHER_MAX as u64;
        for number in 0..most + 3 {
            says(&mut agent, beat(number)).await;
        }
        for expected in [0..most, most..most + 3] {
            let first = hear(&mut socket).await.expect("it came");
            let (frames, end) = with_all_that_came(first, &mut socket);
            assert!(end.is_ok(), "{end:?}");
            assert_eq!(frames, expected.map(beat).collect::<Vec<_>>());
        }
    }

    #[tokio::test]
    async fn so_much_that_an_agent_said_waits_for_the_desk() {
        let ahead = Ahead::none();
        let mut taken = Vec::new();
        for _ in 0..AHEAD_MAX {
            taken.push(ahead.place().now_or_never().expect("there is one").expect("it is open"));
        }
        let next = ahead.place();
        tokio::pin!(next);
        assert!(next.as_mut().now_or_never().is_none(), "more is not read");
        taken.pop();
        assert!(next.now_or_never().is_some(), "the desk took something in");
    }

    #[test]
    fn an_agent_of_another_version_is_told_so_and_may_try_again() {
        assert!(check_version(SESSION_VERSION).is_ok());
        for version in [0, SESSION_VERSION + 1] {
            let end = check_version(version).expect_err("another version");
            let said = end.to_string();
            assert!(matches!(end, SessionEnd::NotNow(_)), "{said}");
            assert!(said.contains(&format!("the agent version {version}")), "{said}");
        }
    }
}
