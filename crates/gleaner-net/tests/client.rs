//! The client against a scripted server: what it sends, what it makes of the answers, and what it refuses to take.

use gleaner_net::{Authority, Client, ClientError, Limits, ServerIdentity, Token, TokenKind};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

/// A server that answers one connection's requests in turn and then closes it.
struct Server {
    port: u16,
    served: JoinHandle<Vec<String>>,
}

impl Server {
    fn start(answers: &[&str]) -> Self {
        let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
        Self::accept(move |tcp| serve(tcp, &answers))
    }

    fn accept(serve: impl FnOnce(TcpStream) -> Vec<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { port, served: thread::spawn(move || serve(listener.accept().unwrap().0)) }
    }

    fn client(&self) -> Client {
        let address = format!("http://127.0.0.1:{}", self.port).parse().unwrap();
        let limits = Limits {
            json_bytes: 100,
            event_bytes: 100,
            silence: Duration::from_secs(20),
            ..Limits::default()
        };
        Client::with_limits(address, None, &token(), limits).unwrap()
    }

    /// The requests it got.
    fn requests(self) -> Vec<String> {
        self.served.join().unwrap()
    }
}

fn token() -> Token {
    "glu_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc".parse().unwrap()
}

fn serve(stream: impl Read + Write, answers: &[String]) -> Vec<String> {
    let mut stream = BufReader::new(stream);
    let mut requests = Vec::new();
    for answer in answers {
        requests.push(read_request(&mut stream));
        stream.get_mut().write_all(answer.as_bytes()).unwrap();
        stream.get_mut().flush().unwrap();
    }
    requests
}

fn read_request(stream: &mut impl BufRead) -> String {
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut request).unwrap(), 0, "cut after {request:?}");
    }
    let length = request
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).unwrap();
    request + &String::from_utf8(body).unwrap()
}

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn calls_share_one_connection_and_show_the_token() {
    let answers =
        [answer("200 OK", "[1,2]"), answer("201 Created", r#"{"job":7}"#), answer("204 No Content", "")];
    let server = Server::start(&answers.each_ref().map(String::as_str));
    let client = server.client();
    assert_eq!(client.get::<Vec<u8>>("/api/v1/jobs?limit=2").unwrap(), [1, 2]);
    let posted: serde_json::Value = client.post("/api/v1/jobs", &["true"]).unwrap();
    assert_eq!(posted["job"], 7);
    client.delete::<()>("/api/v1/jobs/7").unwrap();
    let requests = server.requests();
    for (request, (first, last)) in requests.iter().zip([
        ("GET /api/v1/jobs?limit=2 HTTP/1.1\r\n", "\r\n\r\n"),
        ("POST /api/v1/jobs HTTP/1.1\r\n", "\r\n\r\n[\"true\"]"),
        ("DELETE /api/v1/jobs/7 HTTP/1.1\r\n", "\r\n\r\n"),
    ]) {
        assert!(request.starts_with(first) && request.ends_with(last), "{request}");
        assert!(request.contains(&format!("authorization: Bearer {}\r\n", token().reveal())), "{request}");
    }
}

#[test]
fn refusals_carry_what_the_server_said() {
    let problem = r#"{"version":1,"error":{"code":"not_yours","message":"job 7 is another user's"}}"#;
    let long = "x".repeat(100_000);
    for (status, body, code, message) in [
        ("403 Forbidden", problem, "not_yours", "job 7 is another user's"),
        ("502 Bad Gateway", "<html>", "", "the server answered 502 Bad Gateway"),
        ("500 Internal Server Error", &long, "", "the server answered 500 Internal Server Error"),
        ("301 Moved Permanently", "", "", "the server answered 301 Moved Permanently"),
    ] {
        let server = Server::start(&[&answer(status, body)]);
        match server.client().get::<()>("/") {
            Err(ClientError::Refused { status: got, code: got_code, message: got_message }) => {
                assert_eq!((got, &*got_code, &*got_message), (status[..3].parse().unwrap(), code, message));
            }
            other => panic!("{status}: {other:?}"),
        }
        server.requests();
    }
}

#[test]
fn answers_that_are_not_taken() {
    type Expected = fn(&ClientError) -> bool;
    let large = answer("200 OK", &"1".repeat(101));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n65\r\n{}\r\n0\r\n\r\n",
        "1".repeat(101)
    );
    let head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(200_000));
    let table: [(&str, Expected); 7] = [
        (&large, |why| matches!(why, ClientError::TooLarge { limit_bytes: 100 })),
        (&chunked, |why| matches!(why, ClientError::TooLarge { limit_bytes: 100 })),
        (&head, |why| matches!(why, ClientError::TooLarge { .. })),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx", |why| matches!(why, ClientError::Malformed { .. })),
        ("SSH-2.0-OpenSSH\r\n\r\n", |why| matches!(why, ClientError::Malformed { .. })),
        ("", |why| matches!(why, ClientError::Unreachable { .. })),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1", |why| {
            matches!(why, ClientError::Unreachable { .. })
        }),
    ];
    for (bytes, expected) in table {
        let bytes = bytes.to_owned();
        let server = Server::accept(move |tcp| {
            let request = read_request(&mut BufReader::new(&tcp));
            // The client may hang up before it has all of it.
            let _cut = (&tcp).write_all(bytes.as_bytes());
            vec![request]
        });
        let refusal = server.client().get::<u64>("/").unwrap_err();
        assert!(expected(&refusal), "{refusal:?}");
        server.requests();
    }
}

#[test]
fn no_server_and_a_silent_one_cannot_be_reached() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let limits = Limits { silence: Duration::from_millis(50), ..Limits::default() };
    let client = Client::with_limits(address.parse().unwrap(), None, &token(), limits).unwrap();
    let text = client.get::<()>("/").unwrap_err().to_string();
    assert_eq!(text, format!("{address} cannot be reached: it did not answer in time"));
    drop(silent);
    let text = client.get::<()>("/").unwrap_err().to_string();
    assert!(text.starts_with(&format!("{address} cannot be reached: Connection refused")), "{text}");
}

#[test]
fn bodies_go_up_and_come_down() {
    for size in [0, 1, 300_000] {
        let content = "x".repeat(size);
        let server = Server::start(&[&answer("200 OK", "true"), &answer("200 OK", &content)]);
        let client = server.client();
        // The source has more than was announced, which stays where it is.
        let longer = format!("{content}rest");
        let mut source = longer.as_bytes();
        assert!(client.upload::<bool>("/blobs/1", &mut source, size as u64).unwrap());
        assert_eq!(source, b"rest");
        let mut copy = Vec::new();
        assert_eq!(client.download("/blobs/1", &mut copy, size as u64).unwrap(), size as u64);
        assert_eq!(copy, content.as_bytes());
        assert!(server.requests()[0].ends_with(&format!("\r\n\r\n{content}")));
    }
}

#[test]
fn a_download_beyond_its_limit_is_refused() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n";
    for body in [&*answer("200 OK", "abcd"), chunked] {
        let server = Server::start(&[body]);
        let outcome = server.client().download("/blobs/1", &mut Vec::new(), 3);
        assert!(matches!(outcome, Err(ClientError::TooLarge { limit_bytes: 3 })), "{outcome:?}");
        server.requests();
    }
}

#[test]
fn a_source_that_became_shorter_is_told_as_such() {
    let server = Server::accept(|mut tcp| {
        let mut sent = String::new();
        tcp.read_to_string(&mut sent).unwrap();
        vec![sent]
    });
    let client = server.client();
    let outcome = client.upload::<()>("/blobs/1", &mut &b"abc"[..], 4);
    assert!(
        matches!(&outcome, Err(ClientError::Local(why)) if why.to_string().contains("shorter")),
        "{outcome:?}"
    );
    drop(client);
    assert!(server.requests()[0].ends_with("\r\n\r\nabc"));
}

#[test]
fn a_refused_upload_shows_the_refusal_and_not_the_broken_pipe() {
    let server = Server::accept(|tcp| {
        let mut head = String::new();
        let mut reader = BufReader::new(&tcp);
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let body = r#"{"version":1,"error":{"code":"too_large","message":"at most 1 MiB"}}"#;
        (&tcp).write_all(answer("413 Content Too Large", body).as_bytes()).unwrap();
        vec![head]
    });
    let outcome = server.client().upload::<()>("/blobs/1", &mut std::io::repeat(0), 64 << 20);
    assert!(matches!(&outcome, Err(ClientError::Refused { status: 413, .. })), "{outcome:?}");
    server.requests();
}

#[test]
fn events_arrive_until_the_stream_ends() {
    let pieces = ["event: task\ndata: one\n\n:", "\n\ndata: ", "two\n\n", ""];
    let chunks: String = pieces.map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len())).concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let stream = &format!("{head}{chunks}");
    let server = Server::start(&[stream, &answer("200 OK", "")]);
    let client = server.client();
    let events: Vec<_> = client.events("/events").unwrap().map(Result::unwrap).collect();
    let events: Vec<_> = events.iter().map(|e| (&*e.event, &*e.data)).collect();
    assert_eq!(events, [("task", "one"), ("message", "two")]);
    assert!(matches!(client.events("/events"), Err(ClientError::Malformed { .. })));
    assert!(server.requests()[0].contains("accept: text/event-stream\r\n"));
}

#[test]
fn over_tls_to_the_pinned_authority_only() {
    let home = tempfile::tempdir().unwrap();
    let authority = Authority::open_or_create(home.path(), SystemTime::now()).unwrap();
    let pinned = authority.fingerprint();
    let identity = ServerIdentity::new(authority, vec!["localhost".into()], SystemTime::now()).unwrap();
    let config = Arc::new(identity.server_config().unwrap());
    let other = gleaner_net::Fingerprint::of_der(b"other");
    for (authority, reached) in [(pinned, true), (other, false)] {
        let config = config.clone();
        let server = Server::accept(move |mut tcp| {
            let mut tls = rustls::ServerConnection::new(config).unwrap();
            while tls.is_handshaking() {
                if tls.complete_io(&mut tcp).is_err() {
                    return vec![];
                }
            }
            serve(rustls::StreamOwned::new(tls, tcp), &[answer("200 OK", "1"), answer("200 OK", "2")])
        });
        let address = format!("https://localhost:{}", server.port).parse().unwrap();
        let client = Client::new(address, Some(authority), &token()).unwrap();
        let first = client.get::<u8>("/");
        if reached {
            assert_eq!((first.unwrap(), client.get::<u8>("/").unwrap()), (1, 2));
        } else {
            assert!(matches!(first, Err(ClientError::Tls { .. })), "{first:?}");
        }
        assert_eq!(server.requests().len(), if reached { 2 } else { 0 });
    }
}

#[test]
fn an_encrypted_address_needs_a_fingerprint() {
    let token = Token::generate(TokenKind::User).unwrap();
    let client = Client::new("https://grid.example:7077".parse().unwrap(), None, &token);
    assert!(matches!(client, Err(ClientError::NoFingerprint { .. })), "{client:?}");
}

#[test]
fn no_debug_of_a_client_shows_its_token() {
    let client = Client::new("http://127.0.0.1:1".parse().unwrap(), None, &token()).unwrap();
    assert!(!format!("{client:?}").contains("BwcHBwc"), "{client:?}");
}
