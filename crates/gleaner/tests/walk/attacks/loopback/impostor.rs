//! A program that listens where a coordinator did. It has no key of the grid's, but one of its own: it speaks TLS to every
//! second who connects, and answers the others in the clear. What it is told behind the handshake, it keeps.

use gleaner_net::{Authority, ServerIdentity};
use rustls::{ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

const YES: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
/// Nobody is waited for longer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Impostor {
    port: u16,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

struct State {
    identity: Arc<ServerIdentity>,
    heard: Mutex<Vec<String>>,
    tries: AtomicUsize,
    ended: AtomicBool,
}

impl Impostor {
    pub(super) fn listen(port: u16) -> Self {
        let keys = tempfile::tempdir().expect("a folder");
        let authority = Authority::open_or_create(keys.path(), SystemTime::now()).expect("an authority");
        let names = vec!["127.0.0.1".to_owned()];
        let identity = ServerIdentity::new(authority, names, SystemTime::now()).expect("a certificate");
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
        let port = listener.local_addr().expect("a port").port();
        let state = Arc::new(State {
            identity,
            heard: Mutex::default(),
            tries: AtomicUsize::default(),
            ended: AtomicBool::default(),
        });
        let listening = thread::spawn({
            let state = Arc::clone(&state);
            move || state.listen(&listener)
        });
        Self { port, state, listening }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Whether so many have connected, and were served.
    pub(super) fn was_tried(&self, times: usize) -> bool {
        self.state.tries.load(Ordering::SeqCst) >= times
    }

    /// What it was told.
    pub(super) fn end(self) -> Vec<String> {
        self.state.ended.store(true, Ordering::SeqCst);
        // So that it looks up.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        self.listening.join().expect("it listens");
        self.state.heard.lock().expect("it is whole").clone()
    }
}

impl State {
    fn listen(&self, listener: &TcpListener) {
        for tcp in listener.incoming().map_while(Result::ok) {
            if self.ended.load(Ordering::SeqCst) {
                return;
            }
            let is_even = self.tries.load(Ordering::SeqCst).is_multiple_of(2);
            let heard = if is_even { self.encrypted(tcp) } else { plain(tcp) };
            self.heard.lock().expect("it is whole").extend(heard.filter(|heard| !heard.is_empty()));
            self.tries.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn encrypted(&self, mut tcp: TcpStream) -> Option<String> {
        tcp.set_read_timeout(Some(PATIENCE)).ok()?;
        let config = Arc::new(self.identity.server_config().expect("a configuration"));
        let mut tls = ServerConnection::new(config).expect("a connection");
        while tls.is_handshaking() {
            tls.complete_io(&mut tcp).ok()?;
        }
        talk(StreamOwned::new(tls, tcp))
    }
}

/// The first bytes of TLS say nothing of whom they come from; whatever else comes is told.
fn plain(mut tcp: TcpStream) -> Option<String> {
    tcp.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut first = [0];
    tcp.peek(&mut first).ok()?;
    if first == [0x16] {
        // In the clear, as if there were nothing else.
        let _ = tcp.write_all(YES);
        let mut hello = Vec::new();
        let _ = tcp.read_to_end(&mut hello);
        let text = String::from_utf8_lossy(&hello).into_owned();
        return ["glu_", "glj_", "GET "].iter().any(|told| text.contains(told)).then_some(text);
    }
    talk(tcp)
}

fn talk(mut stream: impl Read + Write) -> Option<String> {
    let mut heard = vec![0; 4_096];
    let count = stream.read(&mut heard).ok()?;
    let _ = stream.write_all(YES);
    heard.truncate(count);
    Some(String::from_utf8_lossy(&heard).into_owned())
}
