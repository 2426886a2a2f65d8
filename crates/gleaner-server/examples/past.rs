//! What a coordinator that has a long past costs: how much memory, how long a start, how many bytes of disk for each task.
//!
//! `cargo run --release -p gleaner-server --example past -- live FOLDER 1000000` makes a journal with so many tasks that are over, by
//! the real desk, ledger and store and an agent of a few lines; `… start FOLDER` starts on it, as a coordinator does;
//! `… compact FOLDER` compacts it as it is, has every second job forgotten, and compacts it again.

use gleaner_server::compacting::{compact, plan};
use gleaner_server::desk::{
    Administration, Admitted, Checked, Desk, Effect, Input, JobFiles, Keeping, Order, OrderId, Recorded,
    Requester, SessionId, Start, Terms,
};
use gleaner_server::ledger::FORMAT;
use gleaner_server::recovery::{mend_past, recover};
use gleaner_server::store::{DATABASE, Home, NetworkFolder, Reader, SqliteStore, Store};
use gleaner_units::{MachineId, Span, Time};
use gleaner_wire::api::{Enrolment, Role};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, FromAgent, Hello, Outcome, Profile, Sample, ToAgent, Usage};
use gleaner_wire::{JobId, Lineage};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Tasks of each array; as many come one by one, each a job of its own, for every tenth array.
const ARRAY: u32 = 20_000;
const SLOTS: u32 = 256;
const SESSION: SessionId = SessionId(1);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["live", folder, tasks] => live(Path::new(folder), tasks.parse()?),
        ["start", folder] => start(Path::new(folder), Terms::default()).map(drop),
        ["compact", folder] => forget_and_compact(Path::new(folder)),
        _ => Err("say: live FOLDER TASKS, start FOLDER, or compact FOLDER".into()),
    }
}

fn forget_and_compact(folder: &Path) -> Result<(), Box<dyn Error>> {
    compacted(folder)?;
    let at_once = Some(Span::ZERO);
    let terms = Terms { keeping: Keeping { results: at_once, records: at_once }, ..Terms::default() };
    let mut crowd = Crowd::start(folder, terms)?;
    let jobs: Vec<JobId> = (1..crowd.desk.ledger().next_job().0).step_by(2).map(JobId).collect();
    for some in jobs.chunks(1_000) {
        for order in [Order::RemoveResults, Order::ResultsGone, Order::ForgetJobs] {
            crowd.order(order(some.to_vec()))?;
        }
    }
    drop(crowd);
    println!("every second job is forgotten:");
    compacted(folder)
}

fn compacted(folder: &Path) -> Result<(), Box<dyn Error>> {
    let size = || std::fs::metadata(folder.join(DATABASE)).map(|file| file.len());
    let (begun, was) = (Instant::now(), size()?);
    let mut store = SqliteStore::open(&Home::open(folder, NetworkFolder::Accept)?)?;
    let plan = plan(&*store.reader()?, Time::NEVER)?.ok_or("there are no rows")?;
    compact(&mut store, &plan)?;
    store.shrink()?;
    drop(store);
    println!(
        "compacted: {} of {} rows dropped, {was} bytes before, {} after, in {:.1} s, {} MiB resident",
        plan.rows_dropped,
        plan.rows,
        size()?,
        begun.elapsed().as_secs_f64(),
        resident_mib()
    );
    start(folder, Terms::default()).map(drop)
}

/// As a coordinator does.
fn start(folder: &Path, terms: Terms) -> Result<(SqliteStore, Desk, Time), Box<dyn Error>> {
    let begun = Instant::now();
    let mut store = SqliteStore::open(&Home::open(folder, NetworkFolder::Accept)?)?;
    let recovered = recover(&*store.reader()?, &*store.snapshots()?)?;
    let rows = recovered.rows;
    if rows > 0 {
        store.snapshots()?.save(&recovered.snapshot())?;
    }
    mend_past(&mut store, &recovered.ledger)?;
    let now = recovered.ledger.now().after_seconds(1.0);
    let start = Start { program: "past", lineage: Lineage::of([recovered.ledger.epoch() as u8; 8]), seed: 1 };
    let desk = Desk::new(recovered.ledger, terms, now, start);
    let (jobs, records) = desk.ledger().in_memory();
    println!(
        "start: {:.2} s, {rows} rows read, {} MiB resident; {} tasks, of which {records} records and {jobs} jobs in memory",
        begun.elapsed().as_secs_f64(),
        resident_mib(),
        desk.ledger().task_count(),
    );
    Ok((store, desk, now))
}

struct Crowd {
    store: SqliteStore,
    past: Box<dyn Reader>,
    desk: Desk,
    now: Time,
    since_snapshot: usize,
}

fn live(folder: &Path, tasks: u32) -> Result<(), Box<dyn Error>> {
    let mut crowd = Crowd::start(folder, Terms::default())?;
    if crowd.desk.ledger().agents().is_empty() {
        crowd.order(Order::Administer(Administration::IssueJoinToken {
            token: "t".into(),
            expires: Time::NEVER,
            uses: 1,
            owner: None,
        }))?;
        let enrolment = Enrolment { name: "m".into(), key: "k".into(), profile: profile(), replace: false };
        crowd.order(Order::Enrol {
            token: "t".into(),
            enrolment: Box::new(Checked::of(enrolment).expect("a machine")),
        })?;
    }
    let incarnation = u64::from(crowd.desk.ledger().epoch());
    let hello = Hello { agent: 0, incarnation, met: None, profile: profile(), running: Vec::new() };
    crowd.turn(vec![Input::Connected {
        session: SESSION,
        hello: Box::new(Checked::of(hello).expect("a machine")),
        token: String::new(),
        fits: true,
    }])?;
    let begun = Instant::now();
    let mut told = 0;
    for array in 0.. {
        let done = crowd.desk.ledger().task_count() as u32;
        if done / 200_000 > told {
            told = done / 200_000;
            println!("{done} tasks: {} MiB resident, {:.0} s", resident_mib(), begun.elapsed().as_secs_f64());
        }
        if done >= tasks {
            break;
        }
        if array % 10 == 9 {
            for number in 0..ARRAY.min(tasks - done) {
                crowd.submit(1, Some(format!("key-{done}-{number}")))?;
            }
        } else {
            crowd.submit(ARRAY.min(tasks - done), None)?;
        }
    }
    drop(crowd);
    let bytes = std::fs::metadata(folder.join(DATABASE))?.len();
    println!("{} bytes of disk for each task", bytes / u64::from(tasks));
    start(folder, Terms::default()).map(drop)
}

impl Crowd {
    fn start(folder: &Path, terms: Terms) -> Result<Self, Box<dyn Error>> {
        let (store, desk, now) = start(folder, terms)?;
        let past = store.reader()?;
        Ok(Self { store, past, desk, now, since_snapshot: 0 })
    }

    fn order(&mut self, order: Order) -> Result<(), Box<dyn Error>> {
        let by = Requester { user: "root".into(), role: Role::Admin, token: None };
        self.turn(vec![Input::Order { id: OrderId(0), by, order: Box::new(order) }])
    }

    fn submit(&mut self, tasks: u32, key: Option<String>) -> Result<(), Box<dyn Error>> {
        let spec = serde_json::json!({
            "command": ["./simulate", "--seed", "{GLEANER_INDEX}"],
            "tasks": { "array": { "first": 0, "last": tasks - 1, "step": 1 } },
        });
        let spec: JobSpec = serde_json::from_value(spec)?;
        self.order(Order::Submit {
            job: Admitted::check(spec).expect("a job"),
            key,
            files: JobFiles::default(),
        })
    }

    /// Takes in what came, and does what follows for the agent until nothing is left to do.
    fn turn(&mut self, mut inputs: Vec<Input>) -> Result<(), Box<dyn Error>> {
        while !inputs.is_empty() || self.desk.ledger().scheduler().is_asked() {
            self.now = self.now.after_seconds(0.01);
            if self.desk.is_connected(MachineId::new(0)) {
                let frame =
                    FromAgent::Heartbeat { number: 1, sample: Sample::default(), staging: Vec::new() };
                inputs.push(Input::Frame { session: SESSION, frame: Box::new(frame) });
            }
            for input in inputs.drain(..) {
                self.desk.handle(self.now, input, &*self.past)?;
            }
            self.desk.handle(self.now, Input::Tick, &*self.past)?;
            let batch = self.desk.settle(self.now);
            let rows: Vec<_> = batch.recorded.iter().map(Recorded::row).collect();
            self.store.commit_with(&rows, batch.past.as_ref())?;
            self.since_snapshot += rows.len();
            inputs.extend(batch.effects.into_iter().flat_map(answers));
        }
        if self.since_snapshot > 200_000 {
            self.since_snapshot = 0;
            let body = self.desk.ledger().save();
            let at = self.store.last();
            self.store.snapshots()?.save(&gleaner_server::store::Snapshot { at, format: FORMAT, body })?;
        }
        Ok(())
    }
}

/// An agent runs all it is told to at once.
fn answers(effect: Effect) -> Vec<Input> {
    let says = |frame| Input::Frame { session: SESSION, frame: Box::new(frame) };
    match effect {
        Effect::Run(_, order) => {
            let usage = Usage { elapsed_s: 0.25, cpu_s: 0.24, memory_bytes: 8 << 20, ..Usage::default() };
            let end = End { usage, ..End::of(Outcome::Exited { code: 0 }) };
            vec![says(FromAgent::Started(order.run)), says(FromAgent::Ended { run: order.run, end })]
        }
        Effect::Send(_, ToAgent::Refused { why, .. }) => panic!("refused: {why}"),
        Effect::Reply(_, Err(rejection)) => panic!("{rejection:?}"),
        _ => Vec::new(),
    }
}

fn profile() -> Profile {
    Profile { user: "worker".to_owned(), ..Profile::new([1_000.0, 100.0, 100.0], SLOTS) }
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).map_or(0, |kib| kib >> 10)
}
