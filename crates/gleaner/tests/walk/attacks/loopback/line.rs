//! A connection to the coordinator over TLS, on which anything can be said.

use crate::grid::PATIENCE;
use gleaner_net::{Fingerprint, client_config};
use rustls::{ClientConnection, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Arc;

pub(super) struct Line(StreamOwned<ClientConnection, TcpStream>);

impl Line {
    pub(super) fn dial(port: u16, authority: Fingerprint) -> Self {
        let tcp = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        tcp.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let name = IpAddr::from(Ipv4Addr::LOCALHOST).into();
        let tls = ClientConnection::new(Arc::new(client_config(authority)), name).expect("a connection");
        Self(StreamOwned::new(tls, tcp))
    }

    /// What comes back first to a GET.
    pub(super) fn request(&mut self, path: &str, host: &str, origin: Option<&str>, token: &str) -> String {
        let origin = origin.map_or(String::new(), |origin| format!("origin: {origin}\r\n"));
        let token =
            if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
        self.ask(path, host, &format!("{origin}{token}"))
    }

    /// Likewise, with these headers.
    pub(super) fn ask(&mut self, path: &str, host: &str, headers: &str) -> String {
        self.say(format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n").as_bytes());
        let mut answer = String::new();
        // The head, and what comes with it.
        while !answer.contains("\r\n\r\n") {
            let mut bytes = [0; 4_096];
            let count = self.0.read(&mut bytes).expect("an answer");
            assert!(count > 0, "closed after {answer:?}");
            answer += &String::from_utf8_lossy(&bytes[..count]);
        }
        answer
    }

    /// Who has hung up need not take it.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).and_then(|()| self.0.flush());
    }

    /// Reads on until the other side hangs up.
    pub(super) fn until_closed(&mut self) {
        self.until_closed_or(|_| false);
    }

    /// Likewise, or ends its answer in pieces.
    pub(super) fn until_closed_or_ended(&mut self) {
        self.until_closed_or(|heard| heard.ends_with(b"0\r\n\r\n"));
    }

    fn until_closed_or(&mut self, is_over: impl Fn(&[u8]) -> bool) {
        let (mut heard, mut bytes) = (Vec::new(), [0; 4_096]);
        while !is_over(&heard) {
            match self.0.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => heard.extend(&bytes[..count]),
                Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    panic!("the coordinator keeps the line open")
                }
                Err(_) => return,
            }
        }
    }
}
