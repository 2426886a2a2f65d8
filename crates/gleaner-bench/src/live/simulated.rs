//! Agents without machines: they join, prove who they are and send heartbeats over real connections, and claim to have
//! run whatever they are told to.

use super::LiveError;
use super::grid::Grid;
use futures_util::{SinkExt, StreamExt};
use gleaner_net::{
    Address, AgentKey, Challenge, Client, Fingerprint, JoinToken, SessionLimits, SessionNonce, SessionStream,
    connect_session,
};
use gleaner_units::RunId;
use gleaner_wire::SESSION_VERSION;
use gleaner_wire::api::{Enrolled, Enrolment};
use gleaner_wire::limits::FRAME_BYTES_MAX;
use gleaner_wire::session::{
    End, FromAgent, Hello, Outcome, Profile, Sample, Tail, ToAgent, Usage, decode, encode,
};
use std::fs;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_tungstenite::tungstenite::Message;

const LIMITS: SessionLimits =
    SessionLimits { connect: Duration::from_mins(1), message_bytes: FRAME_BYTES_MAX };

/// An agent that has joined.
pub(super) struct Simulated {
    key: AgentKey,
    agent: u32,
    profile: Profile,
    address: Address,
    authority: Fingerprint,
}

/// One that is connected.
pub(super) struct Connected {
    session: SessionStream,
    heartbeat: Duration,
}

impl Simulated {
    /// Joins as a machine that runs so many tasks at a time.
    pub(super) fn join(grid: &Grid, name: &str, slots: u32) -> Result<Self, LiveError> {
        let keys = grid.folder().join("keys");
        fs::create_dir_all(&keys).map_err(LiveError::system("a folder for keys"))?;
        let key = AgentKey::open_or_create(&keys.join(name)).map_err(|why| simulated(&why))?;
        let token: JoinToken = grid.join_token()?.parse().map_err(|why| simulated(&why))?;
        let address = grid.address().clone();
        let profile =
            Profile { memory: 1 << 34, user: "simulated".to_owned(), ..Profile::new([1e9, 1e8, 1e8], slots) };
        let enrolment = Enrolment {
            name: name.to_owned(),
            key: key.public().to_string(),
            profile: profile.clone(),
            replace: false,
        };
        let client = Client::new(address.clone(), token.authority(), token.token());
        let Enrolled { agent, .. } = client.post("/api/v1/agents", &enrolment)?;
        Ok(Self { key, agent, profile, address, authority: token.authority() })
    }

    /// Connects, and proves who it is.
    pub(super) async fn connect(self) -> Result<Connected, LiveError> {
        let path = "/api/v1/session";
        let mut session = connect_session(&self.address, self.authority, path, None, LIMITS).await?;
        let hello = Hello {
            agent: self.agent,
            incarnation: 1,
            met: None,
            profile: self.profile,
            running: Vec::new(),
        };
        let knock = FromAgent::Knock { version: SESSION_VERSION, agent: self.agent };
        say(&mut session, &knock).await?;
        loop {
            match hear(&mut session).await? {
                ToAgent::Challenge { nonce } => {
                    let nonce = <[u8; 32]>::try_from(nonce).map_err(|_| simulated(&"a strange challenge"))?;
                    let nonce = SessionNonce::from_bytes(nonce);
                    let challenge = Challenge { authority: self.authority, agent: self.agent, nonce };
                    let signature = self.key.sign_session(&challenge).as_bytes().to_vec();
                    say(&mut session, &FromAgent::Proof { signature }).await?;
                }
                ToAgent::Proven => say(&mut session, &FromAgent::Hello(hello.clone())).await?,
                ToAgent::Welcome { heartbeat_s, .. } => {
                    let heartbeat = Duration::from_secs_f64(heartbeat_s);
                    return Ok(Connected { session, heartbeat });
                }
                other => return Err(simulated(&format!("{other:?} instead of a welcome"))),
            }
        }
    }
}

impl Connected {
    /// Sends heartbeats, the first after `phase` of the pause between two, and ends each run at once. Returns only if
    /// the connection breaks.
    pub(super) async fn work(mut self, phase: f64) -> Result<std::convert::Infallible, LiveError> {
        let mut beats = beats(self.heartbeat, phase);
        let mut number = 0;
        loop {
            tokio::select! {
                _ = beats.tick() => {
                    number += 1;
                    let sample = Sample { free_memory: Some(1 << 33), free_disk: Some(1 << 40), ..Sample::default() };
                    say(&mut self.session, &FromAgent::Heartbeat { number, sample, staging: Vec::new() }).await?;
                }
                message = hear(&mut self.session) => {
                    if let ToAgent::Run(run) = message? {
                        say(&mut self.session, &FromAgent::Started(run.id)).await?;
                        say(&mut self.session, &ended(run.id)).await?;
                    }
                }
            }
        }
    }
}

fn beats(heartbeat: Duration, phase: f64) -> Interval {
    let mut beats = interval_at(Instant::now() + heartbeat.mul_f64(phase), heartbeat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats
}

fn ended(run: RunId) -> FromAgent {
    let usage = Usage { elapsed_s: 0.001, cpu_s: 0.001, memory_bytes: 1 << 20, ..Usage::default() };
    let (outcome, stdout, stderr) = (Outcome::Exited { code: 0 }, Tail::default(), Tail::default());
    FromAgent::Ended {
        run,
        end: End { outcome, usage, checkpoint: None, files: None, notes: Vec::new(), stdout, stderr },
    }
}

async fn say(session: &mut SessionStream, message: &FromAgent) -> Result<(), LiveError> {
    session.send(Message::Binary(encode(message).into())).await.map_err(|why| simulated(&why))
}

async fn hear(session: &mut SessionStream) -> Result<ToAgent, LiveError> {
    loop {
        match session.next().await {
            Some(Ok(Message::Binary(bytes))) => return decode(&bytes).map_err(|why| simulated(&why)),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(other)) => return Err(simulated(&other)),
            Some(Err(why)) => return Err(simulated(&why)),
            None => return Err(simulated(&"the coordinator closed the connection")),
        }
    }
}

fn simulated(why: &impl ToString) -> LiveError {
    LiveError::Simulated(why.to_string())
}
