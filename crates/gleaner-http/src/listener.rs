//! Accepts connections under TLS and serves HTTP on them. All that a stranger can make it hold is bounded, and none of it is
//! taken from those who have shown a token.

mod connections;
mod paced;
mod rest;

pub(crate) use connections::Connection;

use crate::limits::{CONNECTIONS_OF_STRANGERS, FAREWELL_MAX, HANDSHAKE_MAX, READ_AHEAD_MAX, STRANGERS_PART};
use axum::Router;
use connections::Connections;
use gleaner_server::limits::Share;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, EXPECT, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use paced::Paced;
use rest::Watched;
use rustls::ServerConfig;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// How long to wait when the system has no file descriptor to give.
const BREATH: Duration = Duration::from_millis(100);

/// The connection over which a request comes.
#[derive(Clone)]
pub(crate) struct Over(pub(crate) Arc<Connection>);

/// How many connections of strangers there may be where the system allows so many open files: most of these are for others.
pub(crate) fn strangers(open_files: u64) -> Share {
    let part = usize::try_from(open_files).unwrap_or(usize::MAX) / STRANGERS_PART;
    let Share { all, each } = CONNECTIONS_OF_STRANGERS;
    Share { all: all.min(part), each: each.min(part / (all / each)) }
}

/// Whether somebody could listen there now: it is found out before a start is recorded, and nobody is kept waiting by it.
pub(crate) fn check_free(address: SocketAddr) -> io::Result<()> {
    std::net::TcpListener::bind(address).map(drop)
}

/// Serves until `stopped`, and then for a short while those whose requests are being answered.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    router: Router,
    of_strangers: Share,
    stopped: impl Future<Output = ()>,
) {
    let acceptor = TlsAcceptor::from(tls);
    let connections = Connections::new(of_strangers);
    let (stopping, mut open) = (CancellationToken::new(), JoinSet::<()>::new());
    tokio::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => break,
            Some(_) = open.join_next() => continue,
            accepted = accept(&listener, &connections) => accepted,
        };
        let Ok((stream, connection)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (acceptor, router, stopping) = (acceptor.clone(), router.clone(), stopping.clone());
        open.spawn(async move {
            tokio::select! {
                () = connection.lost() => tracing::debug!("a connection ended: it showed no token, and another came or it took too long"),
                () = secure(stream, &connection, acceptor, router, stopping) => {}
            }
        });
    }
    drop(listener);
    stopping.cancel();
    let all = async { while open.join_next().await.is_some() {} };
    // Whoever takes longer is let go.
    let _ = tokio::time::timeout(FAREWELL_MAX, all).await;
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
) -> io::Result<(TcpStream, Arc<Connection>)> {
    let (stream, from) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, Arc::new(connections.open(from.ip()))))
}

async fn secure(
    stream: TcpStream,
    connection: &Arc<Connection>,
    acceptor: TlsAcceptor,
    router: Router,
    stopping: CancellationToken,
) {
    match tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => http(stream, Over(Arc::clone(connection)), router, stopping).await,
        Ok(Err(error)) => tracing::debug!("a TLS handshake failed: {error}"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// Once it is `stopping`, the request that is being answered is the last.
async fn http(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    over: Over,
    router: Router,
    stopping: CancellationToken,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(over.clone());
        let is_expected = request.headers().contains_key(EXPECT);
        let (head, body) = request.into_parts();
        let (body, rest) = Watched::new(body);
        let answer = router.call(Request::from_parts(head, body));
        async move {
            let mut answer = answer.await?;
            if !rest.is_read() {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                rest.throw_away(is_expected);
            }
            Ok::<_, std::convert::Infallible>(answer)
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HANDSHAKE_MAX).max_buf_size(READ_AHEAD_MAX);
    let connection = builder.serve_connection(TokioIo::new(Paced::new(stream)), service).with_upgrades();
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{BODY_BYTES_MIN, PATIENCE, REST_BYTES_MAX, REST_MAX};
    use rustls::crypto::ring;
    use rustls::server::ResolvesServerCertUsingSni;
    use std::future::pending;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::task::JoinHandle;
    use tokio::time::{Instant, sleep, timeout};

    async fn until_closed(mut stream: impl AsyncRead + Unpin) -> Duration {
        let began = Instant::now();
        // Whatever is said, or how it ends.
        drop(stream.read_to_end(&mut Vec::new()).await);
        began.elapsed()
    }

    /// A connection with room for so many bytes, and the task that answers what comes over it.
    fn serving(router: Router, bytes: usize) -> (DuplexStream, JoinHandle<()>) {
        let (theirs, ours) = duplex(bytes);
        let connections = Connections::new(CONNECTIONS_OF_STRANGERS);
        let over = Over(Arc::new(connections.open([127, 0, 0, 1].into())));
        (theirs, tokio::spawn(http(ours, over, router, CancellationToken::new())))
    }

    fn expect_in_time(took: Duration) {
        assert!(took >= HANDSHAKE_MAX && took < HANDSHAKE_MAX + Duration::from_secs(1), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_shake_hands_in_time_is_let_go() {
        let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("usual versions")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(ResolvesServerCertUsingSni::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(serve(listener, Arc::new(tls), Router::new(), CONNECTIONS_OF_STRANGERS, pending()));
        let silent = TcpStream::connect(address).await.expect("a connection");
        expect_in_time(until_closed(silent).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_finish_the_head_of_a_request_is_let_go() {
        let (mut theirs, _) = serving(Router::new(), 1 << 10);
        theirs.write_all(b"GET / HTTP/1.1\r\nHost: ").await.expect("it listens");
        expect_in_time(until_closed(theirs).await);
    }

    /// Whoever takes as many bytes in that time as they have to is served to the end, however long it takes.
    #[tokio::test(start_paused = true)]
    async fn who_takes_less_than_the_limit_is_let_go() {
        const LENGTH: usize = 4 * BODY_BYTES_MIN as usize;
        for (each_second, is_whole) in [(0, false), (8 << 10, false), (20 << 10, true)] {
            let router = Router::new().route("/", axum::routing::get(async || "a".repeat(LENGTH)));
            let (mut theirs, served) = serving(router, 1 << 10);
            let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            theirs.write_all(request).await.expect("it listens");
            let (began, mut taken) = (Instant::now(), 0);
            while !served.is_finished() {
                sleep(Duration::from_secs(1)).await;
                let mut piece = Vec::new();
                let mut some = (&mut theirs).take(each_second);
                // Or as many as there are.
                drop(timeout(Duration::from_millis(100), some.read_to_end(&mut piece)).await);
                taken += piece.len();
            }
            assert_eq!(taken > LENGTH, is_whole, "{each_second} bytes a second");
            let in_time = PATIENCE..PATIENCE + Duration::from_secs(3);
            assert!(is_whole || in_time.contains(&began.elapsed()), "after {:?}", began.elapsed());
        }
    }

    #[tokio::test]
    async fn of_a_long_head_little_is_read() {
        let (mut theirs, _) = serving(Router::new(), 2 * READ_AHEAD_MAX);
        let head = format!("GET / HTTP/1.1\r\nHost: {}", "a".repeat(READ_AHEAD_MAX));
        theirs.write_all(head.as_bytes()).await.expect("it listens");
        let mut answer = String::new();
        theirs.read_to_string(&mut answer).await.expect("text");
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }

    #[tokio::test]
    async fn an_answer_before_the_end_of_a_request_says_that_the_connection_ends() {
        let router = Router::new().route("/read", axum::routing::post(async |body: String| body));
        let cases = [
            ("POST /read", "Content-Length: 4", "text", false),
            ("POST /read", "Transfer-Encoding: chunked", "4\r\ntext\r\n0\r\n\r\n", false),
            ("POST /nothing", "Content-Length: 0", "", false),
            ("GET /nothing", "Accept: */*", "", false),
            ("POST /nothing", "Content-Length: 4", "te", true),
            ("POST /nothing", "Transfer-Encoding: chunked", "4\r\nte", true),
        ];
        for (line, header, body, closes) in cases {
            let (mut theirs, _) = serving(router.clone(), READ_AHEAD_MAX);
            let request = format!("{line} HTTP/1.1\r\nHost: a\r\n{header}\r\n\r\n{body}");
            theirs.write_all(request.as_bytes()).await.expect("it listens");
            let mut answer = Vec::new();
            while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
                answer.push(theirs.read_u8().await.expect("an answer"));
            }
            let answer = String::from_utf8(answer).expect("text").to_ascii_lowercase();
            assert_eq!(answer.contains("\r\nconnection: close\r\n"), closes, "{line}, {header}: {answer}");
        }
    }

    /// Most programs read an answer when they have sent everything.
    #[tokio::test]
    async fn an_answer_reaches_who_sends_everything_first() {
        const LENGTH: usize = 5 << 20;
        let (mut theirs, _) = serving(Router::new(), READ_AHEAD_MAX);
        let head = format!("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: {LENGTH}\r\n\r\n");
        theirs.write_all(head.as_bytes()).await.expect("it listens");
        theirs.write_all(&vec![b' '; LENGTH]).await.expect("it is read");
        let mut answer = String::new();
        theirs.read_to_string(&mut answer).await.expect("text");
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_reads_is_thrown_away_for_so_long_and_up_to_such_a_length() {
        let second = Duration::from_secs(1);
        let cases = [("", REST_MAX..REST_MAX + second), ("Expect: 100-continue\r\n", Duration::ZERO..second)];
        for (header, in_time) in cases {
            let (mut theirs, _) = serving(Router::new(), READ_AHEAD_MAX);
            let head = format!("POST /nothing HTTP/1.1\r\nHost: a\r\n{header}Content-Length: 9\r\n\r\n");
            theirs.write_all(head.as_bytes()).await.expect("it listens");
            let took = until_closed(theirs).await;
            assert!(in_time.contains(&took), "{header}: {took:?}");
        }
        let (mut theirs, _) = serving(Router::new(), READ_AHEAD_MAX);
        let head = format!("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", u32::MAX);
        theirs.write_all(head.as_bytes()).await.expect("it listens");
        let (piece, mut sent) = (vec![b' '; READ_AHEAD_MAX], 0);
        while theirs.write_all(&piece).await.is_ok() {
            sent += piece.len();
        }
        assert!((REST_BYTES_MAX..REST_BYTES_MAX + (1 << 20)).contains(&sent), "{sent} bytes");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_being_answered_when_it_stops_has_the_answer() {
        let stopping = CancellationToken::new();
        let stopped = stopping.clone();
        let wait = move || {
            let stopped = stopped.clone();
            async move {
                stopped.cancelled_owned().await;
                sleep(FAREWELL_MAX / 2).await;
                "it has stopped"
            }
        };
        let router = Router::new().route("/wait", axum::routing::get(wait));
        let connections = Connections::new(CONNECTIONS_OF_STRANGERS);
        let open = |router: &Router| {
            let (theirs, ours) = duplex(READ_AHEAD_MAX);
            let over = Over(Arc::new(connections.open([127, 0, 0, 1].into())));
            tokio::spawn(http(ours, over, router.clone(), stopping.clone()));
            theirs
        };
        let (mut waits, idle) = (open(&router), open(&router));
        waits.write_all(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("it listens");
        sleep(Duration::from_secs(1)).await;
        stopping.cancel();
        let mut answer = String::new();
        waits.read_to_string(&mut answer).await.expect("text");
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("it has stopped"), "{answer}");
        assert!(until_closed(idle).await < Duration::from_secs(1));
    }

    #[test]
    fn few_open_files_are_few_strangers() {
        for (open_files, all, each) in [(1 << 20, 4_096, 2_048), (16_384, 4_096, 2_048), (512, 128, 64)] {
            assert_eq!(strangers(open_files), Share { all, each }, "{open_files}");
        }
    }
}
