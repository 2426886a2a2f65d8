//! Whatever the other side of a wire sends, reading it ends, soon and within bounds.

use gleaner_units::{RunId, TaskId};
use gleaner_wire::api::{BudgetSetting, Choice, Enrolment, PolicyKeys};
use gleaner_wire::job::{Input, JobSpec, Signed, TaskList};
use gleaner_wire::session::{
    End, FromAgent, Hello, Obstacle, Outcome, Profile, Run, Sample, Staging, Stored, Stream, Tail, ToAgent,
    Usage, decode, encode,
};
use gleaner_wire::{BlobHash, ChainHash, Had, Lineage, Met, SESSION_VERSION};
use proptest::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What tends to upset readers: lengths that nothing follows, other kinds of values, depth.
const INSERTS: [&[u8]; 16] = [
    b"",
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xdb\xff\xff\xff\xff",
    b"\xc0",
    b"\xc1",
    b"\xcb\x7f\xf8\0\0\0\0\0\0",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xff",
    b"\x91\x91\x91\x91\x91\x91",
    b"\xa1\xff",
    b"[[[[[[",
    b"1e999",
    b"\"\\ud800\"",
    b"null",
];

fn blob() -> BlobHash {
    BlobHash::from([0; 32])
}

fn id() -> RunId {
    RunId { task: TaskId::new(7), number: 2 }
}

fn job() -> JobSpec {
    let mut job = JobSpec::new(["run", "{a}"]);
    job.tasks = TaskList::Rows { names: vec!["a".into()], values: ["x", "", "y"].into_iter().collect() };
    job.env.insert("HOW".into(), "well".into());
    job.inputs = vec![Input { path: "in".into(), blob: blob(), executable: true }];
    job.composition = Some([0.5, 0.5, 0.0]);
    job
}

fn run() -> Run {
    let JobSpec { command, env, inputs, outputs, needs, checkpoint, confinement, .. } = job();
    let (name, user) = ("1/0".to_owned(), "ada".to_owned());
    let resume_from = Some(Stored { blob: blob(), size: 9 });
    let (id, cwd, stdin) = (id(), None, Some(blob()));
    Run {
        id,
        lineage: Lineage::of([7; 8]),
        after: Some(id),
        name,
        user,
        label: Some("render".to_owned()),
        command,
        env,
        cwd,
        stdin,
        inputs,
        outputs,
        needs,
        checkpoint,
        fails_at_limit: true,
        resume_from,
        answers: Some(Box::new([Some(Stored { blob: blob(), size: 9 }), None])),
        confinement,
        signed: Some(Box::new(Signed {
            text: "{}".into(),
            key: "ed25519:".into(),
            signature: String::new(),
        })),
    }
}

fn profile() -> Profile {
    let attributes = BTreeMap::from([("Arch".to_owned(), "\"x86_64\"".to_owned())]);
    Profile { tags: vec!["gpu".to_owned()], attributes, ..Profile::new([1e3, 1e2, 1e1], 4) }
}

/// One of each kind, as it goes over the wire.
static FRAMES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let outcome = Outcome::NotStarted { why: "no room".to_owned(), obstacle: Obstacle::Machine };
    let tail = Tail { offset: 3, bytes: b"text".to_vec(), dropped: 0 };
    let (checkpoint, files) = (Some(Stored { blob: blob(), size: 1 }), None);
    let notes = vec!["less grace".to_owned()];
    let (usage, stdout, stderr) = (Usage::default(), tail.clone(), tail);
    let end = End { outcome, usage, checkpoint, files, notes, stdout, stderr };
    let lineage = Lineage::of([7; 8]);
    let met = Some(Met { epoch: 1, lineage, row: 9, hash: Some(ChainHash::NONE), restores: vec![lineage] });
    let (agent, running) = (1, vec![Had { run: id(), lineage }]);
    let hello = Hello { agent, incarnation: 1, met, profile: profile(), running };
    let (offset, bytes) = (7, vec![0xff; 40]);
    [
        encode(&FromAgent::Knock { version: SESSION_VERSION, agent }),
        encode(&FromAgent::Proof { signature: vec![0xff; 64] }),
        encode(&FromAgent::Hello(hello)),
        encode(&FromAgent::Profile(profile())),
        encode(&FromAgent::Ended { run: id(), end }),
        encode(&FromAgent::Output { run: id(), stream: Stream::Stdout, offset, bytes }),
        encode(&FromAgent::Heartbeat {
            number: 1,
            sample: Sample { load: 0.5, ..Sample::default() },
            staging: vec![(RunId::new(TaskId::new(1), 1), Staging::In)],
        }),
        encode(&ToAgent::Run(Box::new(run()))),
        encode(&ToAgent::Yours { runs: vec![id(); 5] }),
    ]
    .into()
});

static DOCUMENTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let choice = Choice { tasks: vec![1, 2], failed: true };
    let enrolment = Enrolment { name: "m".into(), key: "k".into(), profile: profile(), replace: false };
    let relocate = serde_json::json!({ "score": "greedy" });
    let policy = PolicyKeys([("relocate".to_owned(), relocate)].into_iter().collect());
    vec![json(&job()), json(&choice), json(&enrolment), json(&policy)]
});

fn json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("plain data")
}

type Edits = Vec<(prop::sample::Index, usize, usize)>;

fn edits() -> impl Strategy<Value = Edits> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..5_usize, 0..INSERTS.len()), 0..6)
}

fn edited(good: &[u8], edits: Edits, cut: Option<prop::sample::Index>) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for (at, removed, insert) in edits {
        let at = at.index(bytes.len() + 1);
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, INSERTS[insert].iter().copied());
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len() + 1));
    }
    bytes
}

/// What can be read can be written, and says the same again.
fn read_as_anything(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(message) = decode::<FromAgent>(bytes) {
        prop_assert_eq!(
            encode(&decode::<FromAgent>(&encode(&message)).expect("it was written")),
            encode(&message)
        );
    }
    if let Ok(message) = decode::<ToAgent>(bytes) {
        prop_assert_eq!(
            encode(&decode::<ToAgent>(&encode(&message)).expect("it was written")),
            encode(&message)
        );
    }
    if let Ok(job) = serde_json::from_slice::<JobSpec>(bytes) {
        let _ = (job.order_bytes_max(), job.tasks.count(), job.lengths());
    }
    let _ = serde_json::from_slice::<Choice>(bytes);
    let _ = serde_json::from_slice::<Enrolment>(bytes);
    let _ = serde_json::from_slice::<PolicyKeys>(bytes);
    let _ = serde_json::from_slice::<BudgetSetting>(bytes);
    Ok(())
}

proptest! {
    #[test]
    fn no_message_makes_the_reader_panic(
        good in 0..FRAMES.len(),
        edits in edits(),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        read_as_anything(&edited(&FRAMES[good], edits, cut))?;
    }

    #[test]
    fn no_document_makes_the_reader_panic(
        good in 0..DOCUMENTS.len(),
        edits in edits(),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        read_as_anything(&edited(&DOCUMENTS[good], edits, cut))?;
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_as_anything(&bytes)?;
    }
}

#[test]
fn what_is_said_to_be_long_takes_no_room_before_it_is_there() {
    let before = peak_megabytes();
    for length in [
        &b"\xdd\xff\xff\xff\xff"[..],
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
    ] {
        for good in FRAMES.iter() {
            for at in 0..good.len() {
                let bytes = [&good[..at], length].concat();
                // It may be a message all the same: the last bytes of a signature can be any.
                let _ = (decode::<ToAgent>(&bytes), decode::<FromAgent>(&bytes));
            }
        }
    }
    let taken = peak_megabytes() - before;
    assert!(taken < 200, "{taken} MB for messages of a few bytes");
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}
