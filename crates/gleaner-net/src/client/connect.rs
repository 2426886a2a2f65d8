//! Connections for the client: TLS to a pinned authority.
//!
//! ureq's own TLS takes certificates and not a verifier, so this is a connector of ours under ureq's HTTP. That
//! interface of ureq's is outside its promise of stability, which is why the workspace takes one minor version of it.

use super::limits::Limits;
use crate::address::Address;
use crate::fingerprint::Fingerprint;
use crate::pinning::client_config;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// Connects to one coordinator.
pub(crate) struct PinnedConnector {
    address: Address,
    tls: Arc<ClientConfig>,
    limits: Limits,
}

impl PinnedConnector {
    pub(crate) fn new(address: Address, authority: Fingerprint, limits: Limits) -> Self {
        Self { address, tls: Arc::new(client_config(authority)), limits }
    }

    /// The first of the addresses that takes a connection; otherwise what the last one said.
    fn connect_any(&self, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "its name leads to no address");
        for &address in addresses {
            match self.connect_tcp(address) {
                Ok(stream) => return Ok(stream),
                Err(why) => failure = why,
            }
        }
        Err(failure)
    }

    fn connect_tcp(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&to, self.limits.connect)?;
        stream.set_nodelay(true)?;
        set_patience(&stream, self.limits.connect)?;
        Ok(stream)
    }

    fn handshake(&self, tcp: TcpStream) -> io::Result<Stream> {
        let connection =
            ClientConnection::new(self.tls.clone(), self.address.server_name()).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(connection, tcp);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).map_err(silence)?;
        }
        Ok(Stream(Box::new(stream)))
    }
}

impl Connector for PinnedConnector {
    type Out = Connection;

    fn connect(&self, details: &ConnectionDetails, _: Option<()>) -> Result<Option<Connection>, ureq::Error> {
        let tcp = self.connect_any(&details.addrs)?;
        let stream = self.handshake(tcp)?;
        set_patience(stream.tcp(), self.limits.silence)?;
        let buffers =
            LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Connection { stream, buffers, write_failure: None }))
    }
}

impl fmt::Debug for PinnedConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedConnector({})", self.address)
    }
}

struct Stream(Box<StreamOwned<ClientConnection, TcpStream>>);

impl Stream {
    fn tcp(&self) -> &TcpStream {
        &self.0.sock
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.flush()
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Not by the stream's own `read`, which first writes what is left to write: after a refusal nobody takes that.
        let StreamOwned { conn, sock } = &mut *self.0;
        loop {
            match conn.reader().read(into) {
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            match conn.read_tls(sock) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(silence(why)),
                Ok(_) => _ = conn.process_new_packets().map_err(io::Error::other)?,
            }
        }
    }

    /// Whether the connection may carry another request: the server neither closed it nor said anything unasked.
    fn is_quiet(&self) -> io::Result<bool> {
        let tcp = self.tcp();
        tcp.set_nonblocking(true)?;
        let peeked = tcp.peek(&mut [0]);
        tcp.set_nonblocking(false)?;
        Ok(matches!(peeked, Err(why) if why.kind() == io::ErrorKind::WouldBlock))
    }
}

/// How long to wait for the other side to say or take something.
fn set_patience(tcp: &TcpStream, patience: Duration) -> io::Result<()> {
    tcp.set_read_timeout(Some(patience))?;
    tcp.set_write_timeout(Some(patience))
}

/// A socket's timeout shows as "would block", which tells people nothing.
fn silence(why: io::Error) -> io::Error {
    match why.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time")
        }
        _ => why,
    }
}

/// A connection as ureq uses it. Its timeouts are the socket's own, as ureq is given none.
pub(crate) struct Connection {
    stream: Stream,
    buffers: LazyBuffers,
    /// A server that refuses a body answers and closes before it has it all. Writing then fails, yet the answer is
    /// there to be read; so a failure to write is told only if there is none.
    write_failure: Option<io::Error>,
}

impl Transport for Connection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        if self.write_failure.is_none() {
            let sent = self.stream.write_all(&self.buffers.output()[..amount]);
            self.write_failure = sent.map_err(silence).err();
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        let read = self.stream.read(self.buffers.input_append_buf());
        let amount = match (read, self.write_failure.take()) {
            (Ok(0) | Err(_), Some(why)) => return Err(why.into()),
            (read, failure) => {
                self.write_failure = failure;
                read?
            }
        };
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.write_failure.is_none() && self.stream.is_quiet().unwrap_or(false)
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({:?})", self.stream.tcp().peer_addr())
    }
}
