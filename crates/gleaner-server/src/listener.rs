//! Accepts connections under TLS and serves HTTP on them. All that a stranger can make it hold is bounded.

use crate::limits::{CONNECTIONS_MAX, HANDSHAKE_MAX};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// How long to wait when the system has no file descriptor to give.
const BREATH: Duration = Duration::from_millis(100);

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Serves until `stopped`; connections that are open then are dropped with the runtime.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    router: Router,
    stopped: impl Future<Output = ()>,
) {
    let acceptor = TlsAcceptor::from(tls);
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => return,
            accepted = accept(&listener, &room) => accepted,
        };
        let Ok((stream, peer, permit)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (acceptor, router) = (acceptor.clone(), router.clone());
        tokio::spawn(async move {
            connection(stream, peer, acceptor, router).await;
            drop(permit);
        });
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, Peer, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, from) = listener.accept().await?;
    stream.set_nodelay(true)?;
    // An IPv4 address that arrives as IPv6 is the same.
    Ok((stream, Peer(from.ip().to_canonical()), permit))
}

async fn connection(stream: TcpStream, peer: Peer, acceptor: TlsAcceptor, router: Router) {
    match tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => http(stream, peer, router).await,
        Ok(Err(error)) => tracing::debug!("a TLS handshake failed: {error}"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

async fn http(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, peer: Peer, router: Router) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HANDSHAKE_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::crypto::ring;
    use rustls::server::ResolvesServerCertUsingSni;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    async fn until_closed(mut stream: impl AsyncRead + Unpin) -> Duration {
        let began = Instant::now();
        // Whatever is said, or how it ends.
        drop(stream.read_to_end(&mut Vec::new()).await);
        began.elapsed()
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
        tokio::spawn(serve(listener, Arc::new(tls), Router::new(), std::future::pending()));
        let silent = TcpStream::connect(address).await.expect("a connection");
        expect_in_time(until_closed(silent).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_finish_the_head_of_a_request_is_let_go() {
        let (mut theirs, ours) = duplex(1 << 10);
        tokio::spawn(http(ours, Peer(IpAddr::from([127, 0, 0, 1])), Router::new()));
        theirs.write_all(b"GET / HTTP/1.1\r\nHost: ").await.expect("it listens");
        expect_in_time(until_closed(theirs).await);
    }
}
