//! An agent's session against a server that speaks WebSocket over TLS.

use gleaner_net::{
    Address, Authority, ClientError, Fingerprint, ServerIdentity, SessionLimits, Token, TokenKind,
    connect_session,
};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::tungstenite;

const LIMITS: SessionLimits = SessionLimits { connect: Duration::from_secs(20), message_bytes: 100 };

/// A server for one connection.
async fn start<F>(tls: TlsAcceptor, serve: fn(Box<dyn Stream>) -> F) -> (Address, JoinHandle<()>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap()).parse().unwrap();
    let served = tokio::spawn(async move {
        let tcp = listener.accept().await.unwrap().0;
        // A client that does not trust the server breaks this off.
        if let Ok(stream) = tls.accept(tcp).await {
            serve(Box::new(stream)).await;
        }
    });
    (address, served)
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Sends back what it gets, once.
async fn echo(stream: Box<dyn Stream>) {
    let mut session = tokio_tungstenite::accept_async(stream).await.unwrap();
    let message = read(&mut session).await.unwrap();
    write(&mut session, message).await;
}

/// Sends more than the agent takes.
async fn flood(stream: Box<dyn Stream>) {
    let mut session = tokio_tungstenite::accept_async(stream).await.unwrap();
    write(&mut session, vec![7; 101].into()).await;
}

async fn refuse(mut stream: Box<dyn Stream>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let body = r#"{"version":1,"error":{"code":"revoked","message":"this agent was revoked"}}"#;
    let answer = format!("HTTP/1.1 403 Forbidden\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.unwrap();
}

type Session<S> = tokio_tungstenite::WebSocketStream<S>;

async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    session: &mut Session<S>,
) -> Result<tungstenite::Message, tungstenite::Error> {
    use futures_util::StreamExt;
    session.next().await.unwrap()
}

async fn write<S: AsyncRead + AsyncWrite + Unpin>(session: &mut Session<S>, message: tungstenite::Message) {
    use futures_util::SinkExt;
    session.send(message).await.unwrap();
}

fn identity() -> (tempfile::TempDir, Arc<ServerIdentity>) {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::open_or_create(home.path(), SystemTime::now()).unwrap();
    let identity = ServerIdentity::new(authority, vec!["127.0.0.1".into()], SystemTime::now()).unwrap();
    (home, identity)
}

fn acceptor(identity: &Arc<ServerIdentity>) -> TlsAcceptor {
    Arc::new(identity.server_config().unwrap()).into()
}

#[tokio::test]
async fn messages_go_both_ways() {
    let (_home, identity) = identity();
    let token = Token::generate(TokenKind::Join).unwrap();
    let (address, served) = start(acceptor(&identity), echo).await;
    let authority = identity.authority().fingerprint();
    let mut session =
        connect_session(&address, authority, "/api/v1/agent", Some(&token), LIMITS).await.unwrap();
    write(&mut session, vec![7; 100].into()).await;
    assert_eq!(read(&mut session).await.unwrap().into_data(), vec![7; 100]);
    served.await.unwrap();
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_refused() {
    let (_home, identity) = identity();
    let (address, served) = start(acceptor(&identity), flood).await;
    let authority = identity.authority().fingerprint();
    let mut session = connect_session(&address, authority, "/", None, LIMITS).await.unwrap();
    let outcome = read(&mut session).await;
    assert!(matches!(outcome, Err(tungstenite::Error::Capacity(_))), "{outcome:?}");
    served.await.unwrap();
}

#[tokio::test]
async fn a_refusal_carries_what_the_server_said() {
    let (_home, identity) = identity();
    let (address, served) = start(acceptor(&identity), refuse).await;
    let outcome = connect_session(&address, identity.authority().fingerprint(), "/", None, LIMITS).await;
    match outcome {
        Err(ClientError::Refused { status, code, message }) => {
            assert_eq!((status, &*code, &*message), (403, "revoked", "this agent was revoked"));
        }
        other => panic!("{other:?}"),
    }
    served.await.unwrap();
}

#[tokio::test]
async fn another_authority_is_not_trusted() {
    let (_home, identity) = identity();
    let (address, served) = start(acceptor(&identity), echo).await;
    let outcome = connect_session(&address, Fingerprint::of_der(b"other"), "/", None, LIMITS).await;
    assert!(matches!(outcome, Err(ClientError::Tls { .. })), "{outcome:?}");
    served.await.unwrap();
}

#[tokio::test]
async fn a_silent_server_cannot_be_reached() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", silent.local_addr().unwrap()).parse().unwrap();
    let limits = SessionLimits { connect: Duration::from_millis(50), ..LIMITS };
    let outcome = connect_session(&address, Fingerprint::of_der(b"any"), "/", None, limits).await;
    assert!(matches!(outcome, Err(ClientError::Unreachable { .. })), "{outcome:?}");
}
