//! The agents' connections: who an agent is gets proven here, what it says goes to the desk.

use crate::app::App;
use crate::desk::{Input, SessionId};
use crate::driver::{Outgoing, Stopped};
use crate::limits::{GREETING_MAX, OUTGOING_MAX, SENDING_MAX, TOGETHER_MAX};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::FutureExt as _;
use gleaner_net::{
    AgentPublicKey, Challenge, NoRandomness, SessionNonce, SessionSignature, Token, TokenKind, verify_session,
};
use gleaner_units::MachineId;
use gleaner_wire::SESSION_VERSION;
use gleaner_wire::limits::FRAME_BYTES_MAX;
use gleaner_wire::session::{
    Attempt, End, FrameError, FromAgent, Hello, Outcome, Tail, ToAgent, Usage, decode, encode,
};
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::mpsc;

/// What is read of a connection at once. Each has a buffer of this size, and there are ten thousand of them, most of which
/// say no more than that they live.
const READ_BYTES: usize = 4 << 10;

/// Why a session ends before it begins, or later.
#[derive(Debug, Error)]
enum SessionEnd {
    #[error("{0}")]
    Refused(String),
    #[error("it did not say who it is in time")]
    Late,
    #[error("the connection broke: {0}")]
    Broken(#[from] axum::Error),
    #[error("it is closed")]
    Closed,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

/// `GET /api/v1/session`: the agent proves who it is inside, so no token is asked for.
pub fn open(app: Arc<App>, upgrade: WebSocketUpgrade) -> Response {
    let upgrade = upgrade.max_message_size(FRAME_BYTES_MAX).max_frame_size(FRAME_BYTES_MAX);
    let upgrade = upgrade.read_buffer_size(READ_BYTES).write_buffer_size(0);
    upgrade.on_upgrade(move |socket| serve(app, socket))
}

async fn serve(app: Arc<App>, mut socket: WebSocket) {
    let greeting = tokio::time::timeout(GREETING_MAX, greet(&app, &mut socket)).await;
    let end = match greeting.unwrap_or(Err(SessionEnd::Late)) {
        Ok(hello) => talk(&app, &mut socket, hello).await,
        Err(end) => Err(end),
    };
    if let Err(end) = end {
        tracing::info!("a session ended: {end}");
        if let SessionEnd::Refused(why) = end {
            // It may be gone already.
            let _ = say(&mut socket, &ToAgent::Refused { why }).await;
        }
    }
}

async fn greet(app: &App, socket: &mut WebSocket) -> Result<Hello, SessionEnd> {
    let FromAgent::Hello(hello) = hear(socket).await? else {
        return Err(SessionEnd::Refused("the first message must be a greeting".to_owned()));
    };
    if hello.version != SESSION_VERSION {
        let why = format!(
            "this coordinator speaks version {SESSION_VERSION} of the protocol, the agent version {}; install the same program on both",
            hello.version
        );
        return Err(SessionEnd::Refused(why));
    }
    let number = hello.agent as usize;
    let key = app.desk.look(move |desk, _| desk.ledger().agents().get(number).map(|agent| agent.key.clone()));
    let unknown =
        || SessionEnd::Refused("this agent is not enrolled here; join again with a new token".to_owned());
    let key: AgentPublicKey = key.await?.and_then(|key| key.parse().ok()).ok_or_else(unknown)?;
    let nonce = SessionNonce::generate()?;
    say(socket, &ToAgent::Challenge { nonce: nonce.as_bytes().to_vec() }).await?;
    let FromAgent::Proof { signature } = hear(socket).await? else {
        return Err(SessionEnd::Refused("the second message must be a proof".to_owned()));
    };
    let challenge = Challenge { authority: app.authority, agent: hello.agent, nonce };
    let signature = SessionSignature::try_from(&signature[..]);
    let proven = signature.is_ok_and(|signature| verify_session(&key, &challenge, &signature).is_ok());
    let refused = || SessionEnd::Refused("the proof does not fit this agent's key".to_owned());
    proven.then_some(hello).ok_or_else(refused)
}

async fn talk(app: &App, socket: &mut WebSocket, hello: Hello) -> Result<(), SessionEnd> {
    let token = Token::generate(TokenKind::Session)?;
    let agent = MachineId::new(hello.agent as usize);
    app.agents.add(&token, agent);
    let (to_agent, outgoing) = mpsc::channel(OUTGOING_MAX);
    let session = app.desk.connected(hello, token.reveal(), to_agent).await;
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

async fn relay(
    app: &App,
    socket: &mut WebSocket,
    session: SessionId,
    mut outgoing: mpsc::Receiver<Outgoing>,
) -> Result<(), SessionEnd> {
    loop {
        tokio::select! {
            message = outgoing.recv() => match message {
                Some(Outgoing::Message(message)) => say(socket, &message).await?,
                Some(Outgoing::Run(order)) => match order.filled_in() {
                    Ok(run) => say(socket, &ToAgent::Run(Box::new(run))).await?,
                    // The run has failed; the agent never hears of it, and goes on with the others.
                    Err(why) => {
                        let frame = Box::new(not_started(order.attempt, why));
                        app.desk.input(Input::Frame { session, frame }).await?;
                    }
                },
                // The desk closed the session.
                None => return Ok(()),
            },
            first = hear(socket) => {
                let (frames, end) = with_all_that_came(first?, socket);
                let input = |frame| Input::Frame { session, frame: Box::new(frame) };
                app.desk.inputs(frames.into_iter().map(input).collect()).await?;
                end?;
            }
        }
    }
}

/// A short run's start and end come together. Handed in one by one, each would wait for a commit of its own.
fn with_all_that_came(first: FromAgent, socket: &mut WebSocket) -> (Vec<FromAgent>, Result<(), SessionEnd>) {
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

/// As if the agent had said so.
fn not_started(attempt: Attempt, why: String) -> FromAgent {
    let end = End {
        outcome: Outcome::NotStarted { why },
        usage: Usage::default(),
        checkpoint: None,
        files: None,
        stdout: Tail::default(),
        stderr: Tail::default(),
    };
    FromAgent::Ended { attempt, end }
}

async fn say(socket: &mut WebSocket, message: &ToAgent) -> Result<(), SessionEnd> {
    let sent = socket.send(Message::Binary(encode(message).into()));
    Ok(tokio::time::timeout(SENDING_MAX, sent).await.map_err(|_| SessionEnd::Closed)??)
}

/// The next message that is not about the connection itself. Nothing is lost if it is not awaited to its end.
async fn hear(socket: &mut WebSocket) -> Result<FromAgent, SessionEnd> {
    loop {
        match socket.recv().await.ok_or(SessionEnd::Closed)?? {
            Message::Binary(bytes) => return Ok(decode(&bytes)?),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return Err(SessionEnd::Closed),
            Message::Text(_) => return Err(SessionEnd::Refused("messages are binary".to_owned())),
        }
    }
}
