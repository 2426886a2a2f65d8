//! The client against a scripted server: what it sends, what it makes of the answers, and what it refuses to take.

use gleaner_net::{Address, Authority, Client, ClientError, Fingerprint, Limits, ServerIdentity, Token};
use rustls::{ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, LazyLock};
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

    fn accept(serve: impl FnOnce(Tls) -> Vec<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = Arc::new(identity().server_config().unwrap());
        let accept = move || {
            let mut tcp = listener.accept().unwrap().0;
            // As the coordinator's listener does: what waits for an acknowledgement is lost where the socket is closed.
            tcp.set_nodelay(true).unwrap();
            let mut tls = ServerConnection::new(config).unwrap();
            while tls.is_handshaking() {
                // A client that does not trust the server breaks this off.
                if tls.complete_io(&mut tcp).is_err() {
                    return Vec::new();
                }
            }
            serve(StreamOwned::new(tls, tcp))
        };
        Self { port, served: thread::spawn(accept) }
    }

    fn address(&self) -> Address {
        format!("https://127.0.0.1:{}", self.port).parse().unwrap()
    }

    fn client(&self) -> Client {
        let limits = Limits {
            json_bytes: 100,
            event_bytes: 100,
            silence: Duration::from_secs(20),
            ..Limits::default()
        };
        Client::with_limits(self.address(), pinned(), &token(), limits)
    }

    /// The requests it got.
    fn requests(self) -> Vec<String> {
        self.served.join().unwrap()
    }
}

type Tls = StreamOwned<ServerConnection, TcpStream>;

fn identity() -> &'static Arc<ServerIdentity> {
    static IDENTITY: LazyLock<Arc<ServerIdentity>> = LazyLock::new(|| {
        let home = tempfile::tempdir().unwrap();
        let authority = Authority::open_or_create(home.path(), SystemTime::now()).unwrap();
        ServerIdentity::new(authority, vec!["127.0.0.1".into()], SystemTime::now()).unwrap()
    });
    &IDENTITY
}

fn pinned() -> Fingerprint {
    identity().authority().fingerprint()
}

fn token() -> Token {
    "glu_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc".parse().unwrap()
}

fn serve(stream: impl Read + Write, answers: &[String]) -> Vec<String> {
    let mut stream = BufReader::new(stream);
    let mut requests = Vec::new();
    for answer in answers {
        requests.push(read_request(&mut stream));
        let sent = stream.get_mut().write_all(answer.as_bytes()).and_then(|()| stream.get_mut().flush());
        // Of an answer that is too long the client does not hear the end.
        if let Err(why) = sent {
            let hung_up = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
            assert!(hung_up.contains(&why.kind()), "{why}");
            break;
        }
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
    client.put::<_, ()>("/api/v1/jobs/7", &["false"]).unwrap();
    let requests = server.requests();
    for (request, (first, last)) in requests.iter().zip([
        ("GET /api/v1/jobs?limit=2 HTTP/1.1\r\n", "\r\n\r\n"),
        ("POST /api/v1/jobs HTTP/1.1\r\n", "\r\n\r\n[\"true\"]"),
        ("PUT /api/v1/jobs/7 HTTP/1.1\r\n", "\r\n\r\n[\"false\"]"),
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

/// Who asks too often is told so.
#[test]
fn a_question_waits_a_moment_and_is_asked_again_and_an_order_is_not() {
    let often = answer("429 Too Many Requests", "{}");
    let server = Server::start(&[&often, &answer("200 OK", "[7]"), &often]);
    let client = server.client();
    assert_eq!(client.get::<Vec<u32>>("/").unwrap(), [7]);
    let refused = client.post::<_, ()>("/", &1);
    assert!(matches!(refused, Err(ClientError::Refused { status: 429, .. })), "{refused:?}");
    assert_eq!(server.requests().len(), 3);
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
        let server = Server::accept(move |tls| {
            let mut stream = BufReader::new(tls);
            let request = read_request(&mut stream);
            // The client may hang up before it has all of it.
            let _cut = stream.get_mut().write_all(bytes.as_bytes());
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
    let address = format!("https://{}", silent.local_addr().unwrap());
    let limits = Limits { connect: Duration::from_millis(50), ..Limits::default() };
    let client = Client::with_limits(address.parse().unwrap(), pinned(), &token(), limits);
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
    let server = Server::accept(|tls| {
        // The client hangs up without a word.
        let sent = tls.bytes().map_while(Result::ok).collect();
        vec![String::from_utf8(sent).unwrap()]
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
    let server = Server::accept(|tls| {
        let mut head = String::new();
        let mut reader = BufReader::new(tls);
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let body = r#"{"version":1,"error":{"code":"too_large","message":"at most 1 MiB"}}"#;
        reader.get_mut().write_all(answer("413 Content Too Large", body).as_bytes()).unwrap();
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

/// Whoever holds the port, on this machine too, learns no token without being the coordinator.
#[test]
fn the_token_is_shown_to_the_pinned_authority_only() {
    for (authority, reached) in [(pinned(), true), (Fingerprint::of_der(b"other"), false)] {
        let server = Server::start(&[&answer("200 OK", "1"), &answer("200 OK", "2")]);
        let client = Client::new(server.address(), authority, &token());
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
fn who_speaks_no_tls_is_told_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap()).parse().unwrap();
    let heard = thread::spawn(move || {
        let mut tcp = listener.accept().unwrap().0;
        tcp.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1").unwrap();
        let mut heard = Vec::new();
        // The client hangs up, in order or not.
        let _ = tcp.read_to_end(&mut heard);
        heard
    });
    let outcome = Client::new(address, pinned(), &token()).get::<u8>("/");
    assert!(matches!(outcome, Err(ClientError::Tls { .. })), "{outcome:?}");
    let heard = heard.join().unwrap();
    assert!(!heard.windows(4).any(|part| part == b"glu_"), "it heard {heard:?}");
}

#[test]
fn no_debug_of_a_client_shows_its_token() {
    let client = Client::new("https://127.0.0.1:1".parse().unwrap(), pinned(), &token());
    assert!(!format!("{client:?}").contains("BwcHBwc"), "{client:?}");
}
