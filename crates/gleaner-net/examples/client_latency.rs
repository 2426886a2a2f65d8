//! How long a client takes to start, to connect and to make a call on an open connection, over TLS.
//!
//! `cargo run --release -p gleaner-net --example client_latency`

use gleaner_net::{Address, Authority, Client, Fingerprint, ServerIdentity, Token, TokenKind};
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{Instant, SystemTime};

const STARTS: u32 = 1_000;
const CONNECTIONS: u32 = 200;
const CALLS: u32 = 10_000;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"job\":123}";

fn main() -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let authority = Authority::open_or_create(home.path(), SystemTime::now())?;
    let pinned = authority.fingerprint();
    let identity = ServerIdentity::new(authority, vec!["127.0.0.1".into()], SystemTime::now())?;
    let tls = Arc::new(identity.server_config()?);
    measure(tls, pinned)
}

fn measure(tls: Arc<rustls::ServerConfig>, pinned: Fingerprint) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address: Address = format!("https://{}", listener.local_addr()?).parse()?;
    // It ends with the program.
    thread::spawn(move || serve(&listener, &tls));
    let token = Token::generate(TokenKind::User)?;
    let client = || Client::new(address.clone(), pinned, &token);

    time("start", STARTS, || {
        black_box(client());
        Ok(())
    })?;
    time("start and first call", CONNECTIONS, || call(&client()))?;
    let open = client();
    time("call on an open connection", CALLS, || call(&open))
}

fn call(client: &Client) -> Result<(), Box<dyn Error>> {
    black_box(client.post::<_, serde_json::Value>("/api/v1/jobs", &["true"])?);
    Ok(())
}

/// Prints the median and the 99th percentile.
fn time(
    what: &str,
    times: u32,
    mut act: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut taken = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        act()?;
        taken.push(start.elapsed());
    }
    taken.sort_unstable();
    let [p50, p99] = [50, 99].map(|percent| taken[taken.len() * percent / 100]);
    println!("{what:26}  p50 {p50:>9.1?}  p99 {p99:>9.1?}");
    Ok(())
}

/// Serves one connection after another, each until the client closes it.
fn serve(listener: &TcpListener, tls: &Arc<rustls::ServerConfig>) {
    for tcp in listener.incoming().flatten() {
        if tcp.set_nodelay(true).is_ok()
            && let Ok(connection) = rustls::ServerConnection::new(tls.clone())
        {
            answer_all(rustls::StreamOwned::new(connection, tcp));
        }
    }
}

fn answer_all(stream: impl Read + Write) {
    let mut stream = BufReader::new(stream);
    while answer(&mut stream).is_some() {}
}

/// Answers one request; none once the client has closed the connection.
fn answer<S: Read + Write>(stream: &mut BufReader<S>) -> Option<()> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        stream.read_line(&mut head).ok().filter(|&size| size > 0)?;
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    stream.read_exact(&mut vec![0; length]).ok()?;
    stream.get_mut().write_all(ANSWER).ok()?;
    stream.get_mut().flush().ok()
}
