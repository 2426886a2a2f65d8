//! A coordinator on loopback that a test plays: HTTP for joining and for files, a WebSocket for the session, all over TLS.

use gleaner_agent::probes::Speeds;
use gleaner_agent::work::{Join, Stop, WorkError, WorkOptions, work};
use gleaner_net::{Authority, Fingerprint, JoinToken, ServerIdentity, Token, TokenKind};
use gleaner_units::{RunId, TaskId};
use gleaner_wire::job::{Checkpointing, Confinement, Needs};
use gleaner_wire::session::{self, End, FromAgent, Hello, Run, ToAgent, decode, encode};
use gleaner_wire::{BlobHash, Lineage};
use rustls::{ServerConnection, StreamOwned};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gleaner-processes");
/// Longer than anything takes that is going to happen at all.
const PATIENCE: Duration = Duration::from_secs(30);

type Blobs = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

pub(crate) struct Coordinator {
    pub(crate) port: u16,
    pub(crate) blobs: Blobs,
    sessions: mpsc::Receiver<Stream>,
    authority: Fingerprint,
}

/// What an agent sends can be looked at before it is read.
struct Stream(BufReader<StreamOwned<ServerConnection, TcpStream>>);

impl Stream {
    /// None if the agent does not trust the server.
    fn accept(mut tcp: TcpStream, identity: &Arc<ServerIdentity>) -> Option<Self> {
        let mut tls = ServerConnection::new(Arc::new(identity.server_config().unwrap())).unwrap();
        while tls.is_handshaking() {
            tls.complete_io(&mut tcp).ok()?;
        }
        Some(Self(BufReader::new(StreamOwned::new(tls, tcp))))
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }
}

impl Coordinator {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let blobs = Blobs::default();
        let (dialled, sessions) = mpsc::channel();
        let kept = blobs.clone();
        let keys = TempDir::new().unwrap();
        let authority = Authority::open_or_create(keys.path(), SystemTime::now()).unwrap();
        let fingerprint = authority.fingerprint();
        let identity = ServerIdentity::new(authority, vec!["127.0.0.1".into()], SystemTime::now()).unwrap();
        thread::spawn(move || {
            for tcp in listener.incoming().map_while(Result::ok) {
                let (dialled, blobs, identity) = (dialled.clone(), kept.clone(), identity.clone());
                thread::spawn(move || {
                    let Some(mut stream) = Stream::accept(tcp, &identity) else { return };
                    // The head of a request comes at once.
                    let is_session = |start: &[u8]| start.starts_with(b"GET /api/v1/session");
                    if stream.0.fill_buf().is_ok_and(is_session) {
                        let _ = dialled.send(stream);
                    } else {
                        serve(stream, &blobs);
                    }
                });
            }
        });
        Self { port, blobs, sessions, authority: fingerprint }
    }

    /// The next session, with nothing said yet.
    pub(crate) fn session(&self) -> Session {
        let stream = self.sessions.recv_timeout(PATIENCE).expect("an agent dials");
        let tcp = &stream.0.get_ref().sock;
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        tcp.set_nodelay(true).unwrap();
        Session(accept(stream).unwrap(), BTreeMap::new())
    }

    /// The next session, greeted, with what the agent said of itself.
    pub(crate) fn welcome(&self, epoch: u32, lease_s: f64) -> (Session, Hello) {
        let mut session = self.session();
        let hello = session.greet(epoch, lease_s);
        (session, hello)
    }

    pub(crate) fn keep(&self, bytes: &[u8]) -> BlobHash {
        let hash = BlobHash::of(bytes);
        self.blobs.lock().unwrap().insert(hash.to_string(), bytes.to_vec());
        hash
    }

    pub(crate) fn blob(&self, hash: &BlobHash) -> Vec<u8> {
        self.blobs.lock().unwrap()[&hash.to_string()].clone()
    }

    /// As signatures name it.
    pub(crate) fn grid(&self) -> String {
        self.authority.to_string()
    }

    /// An agent that joins here, in a folder of its own.
    pub(crate) fn agent(&self) -> Agent {
        self.agent_by("")
    }

    /// Likewise, with more of its owner's rules.
    pub(crate) fn agent_by(&self, more: &str) -> Agent {
        let folder = TempDir::new().unwrap();
        // Other programs on this machine are no owner.
        // Whatever else the machine does meanwhile.
        let rules = "suspend_on_return = false\nsessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\n";
        std::fs::write(folder.path().join("rules.toml"), format!("{rules}{more}")).unwrap();
        Agent::start(folder, self.port, self.authority)
    }
}

pub(crate) struct Agent {
    pub(crate) folder: TempDir,
    stop: watch::Sender<Stop>,
    thread: Option<JoinHandle<Result<(), WorkError>>>,
}

impl Agent {
    fn start(folder: TempDir, port: u16, authority: Fingerprint) -> Self {
        let token = Token::generate(TokenKind::Join).unwrap();
        let options = WorkOptions {
            home: folder.path().into(),
            program: PathBuf::from(PROGRAM),
            join: Some(Join {
                address: format!("https://127.0.0.1:{port}").parse().unwrap(),
                token: Some(JoinToken::new(token, authority).unwrap()),
                name: "lab".into(),
                replace: false,
            }),
            user: "ada".into(),
            name: None,
            slots: Some(4),
            tags: Vec::new(),
            attributes: BTreeMap::new(),
            cache_bytes: 1 << 20,
            measure_cgroup: None,
            task_memory: None,
            speeds: Some(Speeds { cpu: 1.0, disk: 1.0, net: 1.0 }),
            announce: |_| {},
        };
        let (stop, stopping) = watch::channel(Stop::No);
        Self { folder, stop, thread: Some(thread::spawn(move || work(options, stopping))) }
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Ended and started again, told of a coordinator at another port.
    pub(crate) fn again_for(mut self, coordinator: &Coordinator, port: u16) -> Self {
        let folder = std::mem::replace(&mut self.folder, TempDir::new().unwrap());
        drop(self);
        Self::start(folder, port, coordinator.authority)
    }

    pub(crate) fn tell(&self, stop: Stop) {
        self.stop.send(stop).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Result<(), WorkError> {
        self.thread.take().expect("it ends once").join().unwrap()
    }

    /// Likewise, with its folder.
    pub(crate) fn ended_in(mut self) -> (Result<(), WorkError>, TempDir) {
        let ended = self.thread.take().expect("it ends once").join().unwrap();
        (ended, std::mem::replace(&mut self.folder, TempDir::new().unwrap()))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.stop.send(Stop::AtOnce);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// With what was heard of each run's standard output while it ran.
pub(crate) struct Session(WebSocket<Stream>, BTreeMap<RunId, Vec<u8>>);

impl Session {
    pub(crate) fn say(&mut self, message: &ToAgent) {
        self.0.send(Message::Binary(encode(message).into())).unwrap();
    }

    /// What the agent says next; none if it closes the session.
    pub(crate) fn hear(&mut self) -> Option<FromAgent> {
        loop {
            match self.0.read() {
                Ok(Message::Binary(bytes)) => {
                    let message = decode(&bytes).unwrap();
                    self.note(&message);
                    return Some(message);
                }
                Ok(Message::Close(_)) => return None,
                Ok(_) => {}
                Err(why) => {
                    assert!(!why.to_string().contains("temporarily"), "the agent says nothing");
                    return None;
                }
            }
        }
    }

    /// Whether the agent ends the session with a word.
    pub(crate) fn ends_with_a_word(mut self) -> bool {
        loop {
            match self.0.read() {
                Ok(Message::Close(_)) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    fn note(&mut self, message: &FromAgent) {
        if let FromAgent::Output { run, stream: session::Stream::Stdout, offset, bytes } = message {
            let heard = self.1.entry(*run).or_default();
            heard.truncate(*offset as usize);
            heard.extend(bytes);
        }
    }

    pub(crate) fn greet(&mut self, epoch: u32, lease_s: f64) -> Hello {
        let Some(FromAgent::Knock { .. }) = self.hear() else { panic!("no knock") };
        self.say(&ToAgent::Challenge { nonce: vec![7; 32] });
        let Some(FromAgent::Proof { signature }) = self.hear() else { panic!("no proof") };
        assert_eq!(signature.len(), 64);
        self.say(&ToAgent::Proven);
        let Some(FromAgent::Hello(hello)) = self.hear() else { panic!("no hello") };
        let token = Token::generate(TokenKind::Session).unwrap().reveal();
        self.say(&ToAgent::Welcome {
            paused: None,
            epoch,
            lineage: Lineage::of([epoch as u8; 8]),
            restored: None,
            forget: Vec::new(),
            lease_s,
            heartbeat_s: lease_s / 4.0,
            token,
            is_full: false,
        });
        hello
    }

    /// The first message for which `choose` has an answer; heartbeats are answered meanwhile, others passed over.
    pub(crate) fn until<T>(&mut self, choose: impl Fn(FromAgent) -> Option<T>) -> T {
        loop {
            let message = self.hear().expect("the session goes on");
            if let FromAgent::Heartbeat { number, .. } = message {
                self.say(&ToAgent::Beat { number, row: 1, hash: None, is_full: false });
            }
            if let Some(chosen) = choose(message) {
                return chosen;
            }
        }
    }

    pub(crate) fn until_started(&mut self, run: RunId) {
        self.until(|message| (message == FromAgent::Started(run)).then_some(()));
    }

    /// The end of a run, which is not settled by that, with all of its standard output: where a program takes its time, a part
    /// of that comes before the end.
    pub(crate) fn until_ended(&mut self, run: RunId) -> End {
        let mut end = self.until(|message| match message {
            FromAgent::Ended { run: ended, end } if ended == run => Some(end),
            _ => None,
        });
        let sent = end.stdout.offset as usize;
        if let Some(heard) = self.1.get(&run).filter(|heard| heard.len() >= sent) {
            end.stdout.bytes.splice(..0, heard[..sent].iter().copied());
            end.stdout.offset = 0;
        }
        end
    }

    pub(crate) fn settle(&mut self, run: RunId) {
        self.say(&ToAgent::Settled { run, accepted: true });
    }

    pub(crate) fn run(&mut self, run: Run) -> End {
        let id = run.id;
        self.say(&ToAgent::Run(Box::new(run)));
        let end = self.until_ended(id);
        self.settle(id);
        end
    }
}

pub(crate) fn id_of(task: usize, number: u32) -> RunId {
    RunId { task: TaskId::new(task), number }
}

/// A script of the agent's own user, outside of the sandbox.
pub(crate) fn script(id: RunId, text: &str) -> Run {
    Run {
        id,
        lineage: Lineage::of([1; 8]),
        after: None,
        name: format!("1/{}", id.task.index()),
        user: "ada".into(),
        label: None,
        command: ["/bin/sh", "-c", text].map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        cwd: None,
        stdin: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        needs: Needs::default(),
        checkpoint: Checkpointing { grace_s: 5.0, ..Checkpointing::default() },
        fails_at_limit: false,
        resume_from: None,
        answers: None,
        confinement: Confinement::None,
        signed: None,
    }
}

/// Of a file that begins so, the bytes come one by one, for hours.
pub(crate) const SLOW: &[u8] = b"slow";

/// Requests with a length, one after the other.
fn serve(stream: Stream, blobs: &Blobs) {
    let mut reader = stream.0;
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            // A connection that broke has nothing more either.
            if reader.read_until(b'\n', &mut head).map_or(true, |count| count == 0) {
                return;
            }
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let (status, answer) = answer_to(head.lines().next().unwrap(), body, blobs);
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", answer.len());
        let stream = reader.get_mut();
        let mut sent = stream.write_all(head.as_bytes());
        if answer.starts_with(SLOW) {
            for byte in &answer {
                sent = sent.and_then(|()| stream.write_all(&[*byte]));
                thread::sleep(Duration::from_millis(20));
                if sent.is_err() {
                    break;
                }
            }
        } else {
            sent = sent.and_then(|()| stream.write_all(&answer));
        }
        if sent.is_err() {
            return;
        }
    }
}

fn answer_to(request: &str, body: Vec<u8>, blobs: &Blobs) -> (&'static str, Vec<u8>) {
    let words: Vec<_> = request.split(' ').collect();
    let path = words[1].split('?').next().unwrap();
    let name = path.rsplit('/').next().unwrap().to_owned();
    match words[0] {
        "POST" => ("201 Created", br#"{"version": 1, "agent": 9, "name": "lab"}"#.to_vec()),
        "PUT" => {
            assert_eq!(blake3::hash(&body).to_hex().as_str(), name);
            blobs.lock().unwrap().insert(name, body);
            ("201 Created", b"{}".to_vec())
        }
        _ => match blobs.lock().unwrap().get(&name) {
            Some(bytes) => ("200 OK", bytes.clone()),
            None => ("404 Not Found", Vec::new()),
        },
    }
}
