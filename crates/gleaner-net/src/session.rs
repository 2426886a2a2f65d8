//! An agent's session: a WebSocket to the coordinator, over TLS to its pinned authority.

use crate::address::Address;
use crate::client::ClientError;
use crate::fingerprint::Fingerprint;
use crate::pinning::client_config;
use crate::token::{Token, bearer};
use http::header::AUTHORIZATION;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, handshake::client::Request};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// What is read at once. The buffer is filled with zeros before each look, so a large one costs more than most messages.
const READ_BYTES: usize = 4 << 10;

/// What a session runs over.
pub type SessionStream = WebSocketStream<Box<TlsStream<TcpStream>>>;

/// How long opening a session may take, and how much it takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// From the first packet until the session is open.
    pub connect: Duration,
    /// For one message, in bytes, in either direction.
    pub message_bytes: usize,
}

/// Opens a session at `path` of the coordinator. `token` is what an agent shows that has one to show.
pub async fn connect_session(
    address: &Address,
    authority: Fingerprint,
    path: &str,
    token: Option<&Token>,
    limits: SessionLimits,
) -> Result<SessionStream, ClientError> {
    let opening = open(address, authority, path, token, limits.message_bytes);
    let opened = tokio::time::timeout(limits.connect, opening).await;
    opened.unwrap_or_else(|_| {
        let why = io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time");
        Err(ClientError::Unreachable { address: address.clone(), why })
    })
}

async fn open(
    address: &Address,
    authority: Fingerprint,
    path: &str,
    token: Option<&Token>,
    message_bytes: usize,
) -> Result<SessionStream, ClientError> {
    let request = request(address, path, token)?;
    let pinned = TlsConnector::from(Arc::new(client_config(authority)));
    let tcp = connect_any(address).await.map_err(|why| ClientError::broken_io(address, why))?;
    let tls = pinned.connect(address.server_name(), tcp).await;
    let stream = Box::new(tls.map_err(|why| ClientError::broken_io(address, why))?);
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BYTES)
        .max_message_size(Some(message_bytes))
        .max_frame_size(Some(message_bytes));
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((session, _)) => Ok(session),
        Err(why) => Err(not_opened(address, why)),
    }
}

fn request(address: &Address, path: &str, token: Option<&Token>) -> Result<Request, ClientError> {
    let url = format!("{address}{path}").replacen("http", "ws", 1);
    let mut request = url.into_client_request().map_err(|_| ClientError::Path(path.into()))?;
    if let Some(token) = token {
        request.headers_mut().insert(AUTHORIZATION, bearer(token));
    }
    Ok(request)
}

/// The first of the host's addresses that takes a connection; otherwise what the last one said.
async fn connect_any(address: &Address) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "its name leads to no address");
    for to in lookup_host((address.host(), address.port())).await? {
        match connect_one(to).await {
            Ok(stream) => return Ok(stream),
            Err(why) => failure = why,
        }
    }
    Err(failure)
}

async fn connect_one(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn not_opened(address: &Address, why: tungstenite::Error) -> ClientError {
    match why {
        tungstenite::Error::Io(why) => ClientError::broken_io(address, why),
        tungstenite::Error::Http(answer) => {
            ClientError::refused(answer.status(), answer.body().as_deref().unwrap_or_default())
        }
        other => ClientError::malformed(other.to_string()),
    }
}
