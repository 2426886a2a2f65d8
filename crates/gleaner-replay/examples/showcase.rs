//! A coordinator with machines, users and jobs to look at, for the page's tests, its measurements and for who works on it:
//! `cargo run -p gleaner-replay --example showcase -- FOLDER MACHINES TASKS [SECONDS]`.
//!
//! The server is the real one. Its agents are a few lines each, and do what a task's command says: `work SECONDS`,
//! `exit CODE`, `kill`, `memory`, `hostile`, `line BYTES`. So many seconds each of the many tasks takes; without, they go
//! on for a day. It ends with its standard input.

use gleaner_http::serve::{Ready, ServeOptions, serve};
use gleaner_net::{Token, TokenKind};
use gleaner_server::app::stored_hash;
use gleaner_server::desk::{
    Administration, Admitted, Answer, Checked, Desk, Input, JobFiles, NewUser, Order, Requester, SessionId,
    Terms,
};
use gleaner_server::driver::{Handle, Newcomer, Outgoing};
use gleaner_server::store::NetworkFolder;
use gleaner_units::Span;
use gleaner_wire::api::{Enrolment, Role};
use gleaner_wire::job::{JobSpec, Needs, TaskList};
use gleaner_wire::session::{
    End, FromAgent, Hello, Outcome, Profile, Run, Sample, Stream, Tail, ToAgent, Usage,
};
use serde_json::json;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

const CHUNK: usize = 64 << 10;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, machines, tasks, rest @ ..] = &arguments[..] else {
        eprintln!("usage: showcase FOLDER MACHINES TASKS [SECONDS]");
        std::process::exit(2);
    };
    let (machines, tasks) = (machines.parse().expect("a number"), tasks.parse().expect("a number"));
    let seconds = rest.first().map_or("100000", String::as_str).to_owned();
    let home = PathBuf::from(folder);
    let options = ServeOptions {
        certificate: None,
        home: home.clone(),
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        names: Vec::new(),
        network: NetworkFolder::Accept,
        user: "root".to_owned(),
        terms: Terms { lease: Span::from_nanos(600_000_000_000), ..Terms::default() },
        study: Some(gleaner_replay::what_if),
    };
    let result = serve(&options, |ready| async move {
        furnish(&ready, &home, (machines, tasks), &seconds).await;
        println!("{}", ready.reached.address);
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        drop(ended.await);
    });
    result.expect("it serves");
}

fn by(user: &str, role: Role) -> Requester {
    Requester { user: user.to_owned(), role, token: None }
}

async fn order(desk: &Handle, by: Requester, order: Order) -> Answer {
    desk.order(by, order).await.expect("the desk is there").expect("it may be ordered")
}

async fn furnish(ready: &Ready, home: &Path, (machines, tasks): (u32, u32), seconds: &str) {
    let desk = &ready.desk;
    let mut tokens = serde_json::Map::new();
    for (user, role) in [("alice", Role::User), ("bob", Role::User), ("rita", Role::Reader)] {
        let token = Token::generate(TokenKind::User).expect("randomness");
        let add = Order::Administer(Administration::AddUser(NewUser {
            user: user.to_owned(),
            token: stored_hash(&token),
            role: Some(role),
            expires: None,
            again: false,
        }));
        order(desk, by("root", Role::Admin), add).await;
        tokens.insert(user.to_owned(), json!(token.reveal()));
    }
    let root = std::fs::read_to_string(home.join("token")).expect("the first user's token");
    tokens.insert("root".to_owned(), json!(root.trim()));
    std::fs::write(home.join("tokens.json"), json!(tokens).to_string()).expect("a file");
    for number in 0..machines {
        join(desk, number).await;
    }
    jobs(desk, tasks, seconds).await;
}

fn array(count: u32) -> TaskList {
    TaskList::Array { first: 1, last: count, step: 1 }
}

async fn submit(desk: &Handle, user: &str, spec: JobSpec) {
    let job = Admitted::check(spec).expect("it can be admitted");
    order(desk, by(user, Role::User), Order::Submit { job, key: None, files: JobFiles::default() }).await;
}

/// Tasks of a job that no machine can run.
const WIDE: u32 = 40;

fn open_tasks(desk: &Desk) -> u32 {
    let tally = desk.ledger().tally();
    tally.waiting + tally.running + tally.suspended
}

async fn jobs(desk: &Handle, tasks: u32, seconds: &str) {
    let job = |name: &str, command: &[&str], count: u32| JobSpec {
        name: name.to_owned(),
        tasks: array(count),
        ..JobSpec::new(command.iter().copied())
    };
    // 1: what has long been done; 2: failures of several kinds.
    submit(desk, "alice", job("render frames", &["work", "0.2"], 24)).await;
    let mut mixed = job("fit curves", &["{what}", "{how}"], 1);
    let values = ["exit 1", "exit 1", "exit 1", "exit 137", "kill 0", "memory 0", "work 0", "work 0"];
    mixed.tasks = TaskList::Rows {
        names: vec!["what".to_owned(), "how".to_owned()],
        values: values.iter().flat_map(|line| line.split(' ')).collect(),
    };
    submit(desk, "alice", mixed).await;
    // 3: hostile output under a hostile name; 4: a line of 10 MB.
    submit(desk, "alice", job("<img src=x onerror=alert(1)><b>bold</b>", &["hostile"], 1)).await;
    submit(desk, "alice", job("a long line", &["line", "10000000"], 1)).await;
    // 5: nothing can run it; 6: held; 7: short tasks that ask for much.
    let mut wide = job("train a model", &["work", "60"], WIDE);
    wide.requirements = Some("TARGET.Memory >= 65536 && member(\"gpu\", TARGET.Tags)".to_owned());
    wide.needs = Needs { cores: 1, memory: 64 << 30, ..Needs::default() };
    submit(desk, "bob", wide).await;
    let held = JobSpec { hold: true, ..job("next week", &["work", "5"], 12) };
    submit(desk, "bob", held).await;
    let mut short = job("count words", &["work", "0.01"], 30);
    short.needs = Needs { cores: 2, memory: 512 << 20, ..Needs::default() };
    submit(desk, "bob", short).await;
    // They would wait for two cores of one machine, for good, if the long ones came before their end.
    while desk.look(|desk, _| open_tasks(desk)).await.expect("the desk is there") > WIDE {
        sleep(Duration::from_millis(20)).await;
    }
    // 8: the long ones, which keep the machines busy.
    submit(desk, "alice", job("sweep", &["work", seconds], tasks)).await;
}

async fn join(desk: &Handle, number: u32) {
    let token = Token::generate(TokenKind::Join).expect("randomness");
    let expires = desk.now() + Span::from_nanos(3_600_000_000_000);
    let token_for_one = Order::Administer(Administration::IssueJoinToken {
        token: stored_hash(&token),
        expires,
        uses: 1,
        owner: None,
    });
    order(desk, by("root", Role::Admin), token_for_one).await;
    let mut profile = Profile::new([1e3 * f64::from(1 + number % 3), 100.0, 100.0], 2 + 2 * (number % 2));
    profile.memory = (8 << 30) << (number % 2);
    profile.tags = if number.is_multiple_of(5) { vec!["gpu".to_owned()] } else { Vec::new() };
    let name = format!("lab-{:03}", number + 1);
    let enrolment = Enrolment { name, key: "A".repeat(43), profile: profile.clone(), replace: false };
    let enrolment = Box::new(Checked::of(enrolment).expect("a machine"));
    let enrolled =
        order(desk, by("root", Role::Admin), Order::Enrol { token: stored_hash(&token), enrolment });
    let Answer::Enrolled(enrolled) = enrolled.await else { panic!("it is enrolled") };
    // One in twelve was never seen.
    if number % 12 == 11 {
        return;
    }
    let (outbox, inbox) = mpsc::channel(4_096);
    let hello = Hello { agent: enrolled.agent, incarnation: 1, met: None, profile, running: Vec::new() };
    let hello = Checked::of(hello).expect("a machine");
    let newcomer = Newcomer { hello, token: "token".to_owned(), fits: true, to_agent: outbox };
    let session = desk.connected(newcomer).await.expect("it is welcome");
    let agent = Agent { desk: desk.clone(), session };
    let load = f64::from(number * 37 % 60) / 100.0;
    agent.say(FromAgent::Heartbeat { number: 1, sample: sample(load), staging: Vec::new() }).await;
    match number % 12 {
        3 => {
            let why = "its owner is at the keyboard".to_owned();
            agent.say(FromAgent::OwnerLoad { load: 1.0, why }).await;
        }
        7 => {
            let why = "<script>alert('owner')</script> by the owner's hand".to_owned();
            agent.say(FromAgent::Open { open: false, why }).await;
        }
        _ => agent.say(FromAgent::OwnerLoad { load, why: String::new() }).await,
    }
    tokio::spawn(agent.work(inbox, load));
}

fn sample(load: f64) -> Sample {
    Sample { load, free_memory: Some(4 << 30), free_disk: Some(100 << 30), ..Sample::default() }
}

#[derive(Clone)]
struct Agent {
    desk: Handle,
    session: SessionId,
}

impl Agent {
    async fn say(&self, frame: FromAgent) {
        // Whoever says something to a coordinator that has stopped is not heard.
        let _ = self.desk.input(Input::Frame { session: self.session, frame: Box::new(frame) }).await;
    }

    async fn work(self, mut inbox: mpsc::Receiver<Outgoing>, load: f64) {
        let mut beats = 1;
        loop {
            let heard = tokio::time::timeout(Duration::from_secs(10), inbox.recv()).await;
            match heard {
                Err(_) => {
                    beats += 1;
                    self.say(FromAgent::Heartbeat {
                        number: beats,
                        sample: sample(load),
                        staging: Vec::new(),
                    })
                    .await;
                }
                Ok(None) => return,
                Ok(Some(Outgoing::Compare(..))) => unreachable!("no job here asks for a quorum"),
                Ok(Some(Outgoing::Run(order))) => {
                    let run = order.filled_in().expect("a short order");
                    tokio::spawn(self.clone().run(run));
                }
                Ok(Some(Outgoing::Message(ToAgent::Stop { run, .. }))) => {
                    self.say(FromAgent::Ended { run, end: End::of(Outcome::Stopped) }).await;
                }
                Ok(Some(Outgoing::Message(_))) => {}
            }
        }
    }

    async fn run(self, run: Run) {
        self.say(FromAgent::Started(run.id)).await;
        let word = |place: usize| run.command.get(place).map_or("", String::as_str);
        let mut stdout = format!("{} begins\n", run.name).into_bytes();
        let (mut elapsed_s, mut outcome) = (0.05, Outcome::Exited { code: 0 });
        match word(0) {
            "work" => elapsed_s = word(1).parse().expect("seconds"),
            "exit" => outcome = Outcome::Exited { code: word(1).parse().expect("a code") },
            "kill" => outcome = Outcome::Signalled { signal: 9 },
            "memory" => {
                outcome = Outcome::OverLimit { what: "memory <b>512 MiB</b>".to_owned() };
            }
            "hostile" => stdout.extend_from_slice(
                "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\n\
                 \u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J cleared\n\
                 \u{202e}drawkcab\u{202c} \u{2066}isolated\u{2069} zero\u{200b}width\n\
                 progress 1 %\rprogress 100 %\n\u{0}\u{1}\u{8}control\n&lt;entity&gt;\n"
                    .as_bytes(),
            ),
            "line" => stdout.resize(word(1).parse().expect("bytes"), b'x'),
            other => panic!("{other}: no such word"),
        }
        let (mut offset, id) = (0, run.id);
        for bytes in stdout.chunks(CHUNK) {
            let bytes = bytes.to_vec();
            let length = bytes.len() as u64;
            self.say(FromAgent::Output { run: id, stream: Stream::Stdout, offset, bytes }).await;
            offset += length;
        }
        sleep(Duration::from_secs_f64(elapsed_s)).await;
        let usage = Usage {
            elapsed_s,
            cpu_s: 0.9 * elapsed_s,
            memory_bytes: 100 << 20,
            read_bytes: 3 << 20,
            written_bytes: 1 << 20,
            network_bytes: None,
        };
        let tail = |offset| Tail { offset, ..Tail::default() };
        let end = End { usage, stdout: tail(offset), ..End::of(outcome) };
        self.say(FromAgent::Ended { run: id, end }).await;
    }
}
