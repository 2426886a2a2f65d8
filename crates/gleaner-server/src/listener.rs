//! Accepts connections, plain or under TLS, and serves HTTP on them. All that a stranger can make it hold is bounded.

use crate::limits::{CONNECTIONS_MAX, HANDSHAKE_MAX};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// How long to wait when the system has no file descriptor to give.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until `stopped`; connections that are open then are dropped with the runtime.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    router: Router,
    stopped: impl Future<Output = ()>,
) {
    let acceptor = tls.map(TlsAcceptor::from);
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => return,
            accepted = accept(&listener, &room) => accepted,
        };
        let Ok((stream, permit)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (acceptor, router) = (acceptor.clone(), router.clone());
        tokio::spawn(async move {
            connection(stream, acceptor, router).await;
            drop(permit);
        });
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, router: Router) {
    let Some(acceptor) = acceptor else { return http(stream, router).await };
    match tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => http(stream, router).await,
        Ok(Err(error)) => tracing::debug!("a TLS handshake failed: {error}"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

async fn http(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, router: Router) {
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HANDSHAKE_MAX);
    let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!("a connection ended: {error}");
    }
}
