//! What tasks write: short and long, while they run and afterwards.

use crate::agent::Agent;
use crate::limits::documented;
use crate::world::{Reply, World};
use axum::body::Body;
use gleaner_server::outputs;
use gleaner_server::store::Seq;
use gleaner_server::verify::{self, Depth};
use gleaner_units::RunId;
use gleaner_wire::JobId;
use gleaner_wire::limits::{OUTPUT_CHUNK_MAX, OUTPUT_INLINE_MAX};
use gleaner_wire::session::{Stream, Tail, ToAgent};
use tokio::join;

async fn output(world: &World, job: u32, query: &str) -> Reply {
    world.get(&format!("/api/v1/jobs/{job}/tasks/1/output{query}"), &world.alice).await
}

fn headers(reply: &Reply) -> [&str; 4] {
    ["gleaner-run", "gleaner-next-offset", "gleaner-over", "gleaner-dropped"].map(|name| reply.header(name))
}

#[tokio::test(flavor = "multi_thread")]
async fn short_output_comes_from_the_journal() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    assert_eq!(headers(&output(&world, job, "").await)[2], "false");
    let run = agent.start_next(&world).await;
    agent.end(&world, run, 0, Tail { offset: 0, bytes: b"hello\n".to_vec(), dropped: 3 }).await;
    for (query, body, expected) in [
        ("?wait_s=60", "hello\n", ["1", "6", "true", "3"]),
        ("?run=1&offset=4", "o\n", ["1", "6", "true", "3"]),
        ("?offset=9", "", ["1", "6", "true", "3"]),
        ("?stream=stderr", "", ["1", "0", "true", "0"]),
    ] {
        let reply = output(&world, job, query).await;
        assert_eq!((reply.status, reply.body.as_slice()), (200, body.as_bytes()), "{query}");
        assert_eq!(headers(&reply), expected, "{query}");
    }
    assert_eq!(output(&world, job, "?run=2").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_is_followed_in_its_file() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    let (reply, ()) = join!(output(&world, job, "?wait_s=60"), agent.write(&world, run, 0, b"first "));
    assert_eq!((reply.body.as_slice(), headers(&reply)), (&b"first "[..], ["1", "6", "false", "0"]));

    let tail = Tail { offset: 6, bytes: b"last".to_vec(), dropped: 0 };
    let (reply, ()) = join!(output(&world, job, "?wait_s=60&offset=6"), agent.end(&world, run, 0, tail));
    // Whether it is known by then that this was the last is a matter of luck.
    assert_eq!(reply.body, b"last");
    let reply = output(&world, job, "?wait_s=60&offset=10").await;
    assert_eq!((reply.body.as_slice(), headers(&reply)), (&b""[..], ["1", "10", "true", "0"]));
}

/// Its agent hears of the start from its minder and of the output from a pipe, in no order.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_wrote_before_it_was_said_to_run_is_kept() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.take_next().await;
    let (reply, ()) = join!(output(&world, job, "?wait_s=60"), agent.write(&world, run, 0, b"first "));
    assert_eq!(reply.body, b"first ");
    agent.start(&world, run).await;
    let tail = Tail { offset: 6, bytes: b"last".to_vec(), dropped: 0 };
    let (_, ()) = join!(output(&world, job, "?wait_s=60&offset=6"), agent.end(&world, run, 0, tail));
    assert_eq!(output(&world, job, "").await.body, b"first last");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_comes_in_pieces() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    let chunk = vec![b'x'; 64 << 10];
    for number in 0..5 {
        agent.write(&world, run, number * chunk.len() as u64, &chunk).await;
    }
    let written = 5 * chunk.len() as u64;
    agent.end(&world, run, 0, Tail { offset: written, ..Tail::default() }).await;
    let mut read = 0;
    loop {
        let reply = output(&world, job, &format!("?offset={read}&wait_s=60")).await;
        let most = documented("OUTPUT_PIECE_MAX").min(written - read);
        assert_eq!(reply.body.len() as u64, most, "as much as may be at {read}");
        read += reply.body.len() as u64;
        assert_eq!(reply.header("gleaner-next-offset"), read.to_string());
        if reply.header("gleaner-over") == "true" {
            break;
        }
    }
    assert_eq!(read, written);
}

/// What is longer than `OUTPUT_CHUNK_MAX` in one message is no agent's, and what is longer than `OUTPUT_INLINE_MAX` goes to a file.
#[tokio::test(flavor = "multi_thread")]
async fn output_is_kept_as_far_as_it_may_be_long() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let in_file = |run: RunId| {
        let (home, began) = (world.app.home.folder(), world.app.desk.began());
        outputs::length(home, began, run, Stream::Stdout).unwrap()
    };
    for (bytes, kept) in [(OUTPUT_INLINE_MAX, 0), (OUTPUT_INLINE_MAX + 1, OUTPUT_INLINE_MAX + 1)] {
        world.submit(&world.alice, 1).await;
        let run = agent.start_next(&world).await;
        agent.end(&world, run, 0, Tail { offset: 0, bytes: vec![b'x'; bytes], dropped: 0 }).await;
        while !matches!(agent.hear().await, ToAgent::Settled { run: settled, .. } if settled == run) {}
        assert_eq!(in_file(run), kept as u64, "of {bytes}");
    }
    world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    for (bytes, kept) in [(OUTPUT_CHUNK_MAX, OUTPUT_CHUNK_MAX), (OUTPUT_CHUNK_MAX + 1, OUTPUT_CHUNK_MAX)] {
        agent.write(&world, run, 0, &vec![b'x'; bytes]).await;
        world.app.desk.look(|_, _| ()).await.unwrap();
        assert_eq!(in_file(run), kept as u64, "of {bytes}");
    }
}

/// A file that is shorter than the journal says is no output; one that is longer has somebody else's behind it.
#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_run_wrote_is_its_output() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    agent.write(&world, run, 0, b"all that it wrote").await;
    agent.end(&world, run, 0, Tail { offset: 17, ..Tail::default() }).await;
    assert_eq!(output(&world, job, "?wait_s=60&offset=17").await.status, 200);
    let outputs = world.app.home.folder().join("outputs").join(world.app.desk.began().nanos().to_string());
    let file = outputs.join("0").join(format!("{}.{}.out", run.task.index(), run.number));
    std::fs::write(&file, "all that it wrote, and a secret of another").unwrap();
    assert_eq!(output(&world, job, "").await.body, b"all that it wrote");
    assert_eq!(output(&world, job, "?offset=9").await.body, b"it wrote");
    for damage in [Some("all that"), None] {
        match damage {
            Some(left) => std::fs::write(&file, left).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let reply = output(&world, job, "").await;
        assert_eq!((reply.status, reply.code().as_str()), (500, "damaged"), "{reply}");
    }
}

/// What an agent says to have sent and did not is its loss: it is neither kept nor counted, and no file is damaged.
#[tokio::test(flavor = "multi_thread")]
async fn output_that_never_came_was_dropped_by_its_agent() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let claimed = 70 << 20;
    for (sent, dropped, expected) in
        [(&b""[..], u64::MAX, (&b"xx"[..], u64::MAX)), (b"hello ", 3, (b"hello xx", claimed - 6 + 3))]
    {
        let job = world.submit(&world.alice, 1).await;
        let run = agent.start_next(&world).await;
        if !sent.is_empty() {
            agent.write(&world, run, 0, sent).await;
        }
        agent.end(&world, run, 0, Tail { offset: claimed, bytes: b"xx".to_vec(), dropped }).await;
        while !matches!(agent.hear().await, ToAgent::Settled { run: settled, .. } if settled == run) {}
        let reply = output(&world, job, "").await;
        let found = (reply.status, reply.body.as_slice(), reply.header("gleaner-dropped"));
        assert_eq!(found, (200, expected.0, expected.1.to_string().as_str()), "{reply}");
        let status: serde_json::Value = world.get(&format!("/api/v1/jobs/{job}"), &world.alice).await.json();
        assert_eq!(status["bytes"], expected.0.len(), "{status}");
        let ends = world.app.readers.read(|reader| reader.history(run.task, Seq::FIRST, 100)).unwrap();
        let ends: Vec<_> = ends.iter().filter(|row| row.row.body.starts_with(r#"{"run_ended""#)).collect();
        let [end] = ends[..] else { panic!("{ends:?}") };
        let end: serde_json::Value = serde_json::from_str(&end.row.body).unwrap();
        let end = &end["run_ended"]["end"]["stdout"];
        let length =
            outputs::length(world.app.home.folder(), world.app.desk.began(), run, Stream::Stdout).unwrap();
        assert_eq!(end["offset"].as_u64().unwrap_or(0), length, "{end}");
    }
}

/// One byte is enough. Whoever asks is told, and so is whoever verifies the journal.
#[tokio::test(flavor = "multi_thread")]
async fn output_that_the_disk_changed_is_no_output() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    agent.write(&world, run, 0, b"all that ").await;
    agent.write(&world, run, 9, b"it wrote").await;
    agent.end(&world, run, 0, Tail { offset: 17, ..Tail::default() }).await;
    while !matches!(agent.hear().await, ToAgent::Settled { .. }) {}
    let home = world.app.home.folder();
    let found = |depth| {
        let report = verify::Report {
            began: world.app.desk.began(),
            outputs: [(run, verify::Written { lengths: [17, 0], task: Some((JobId(job), 1)) })].into(),
            ..verify::Report::default()
        };
        verify::files(home, &report, depth).wrong
    };
    assert_eq!(output(&world, job, "").await.body, b"all that it wrote");
    assert!(found(Depth::Content).is_empty());
    let outputs = home.join("outputs").join(world.app.desk.began().nanos().to_string());
    let file = outputs.join("0").join(format!("{}.{}.out", run.task.index(), run.number));
    std::fs::write(&file, "all that it wrotE").unwrap();
    let reply = output(&world, job, "").await;
    assert_eq!((reply.status, reply.code().as_str()), (500, "damaged"), "{reply}");
    assert!(reply.to_string().contains("the coordinator's disk changed it"), "{reply}");
    assert_eq!(found(Depth::Content), [format!("standard output of {job}/1 (run 1) is not what it was")]);
    assert!(found(Depth::Lengths).is_empty(), "only lengths were asked for");
}

/// What an older state of the journal left under the run's name is not the run's.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_begins_without_output() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let outputs = world.app.home.folder().join("outputs").join(world.app.desk.began().nanos().to_string());
    std::fs::create_dir_all(outputs.join("0")).unwrap();
    std::fs::write(outputs.join("0/0.1.out"), "a secret of another").unwrap();
    let job = world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    assert_eq!((run.task.index(), run.number), (0, 1));
    let (reply, ()) = join!(output(&world, job, "?wait_s=60"), agent.write(&world, run, 0, b"new"));
    assert_eq!(reply.body, b"new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_task_that_never_ran_has_no_output_to_wait_for() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    world.post(&format!("/api/v1/jobs/{job}/cancel"), &world.alice, &serde_json::json!({})).await;
    let reply = output(&world, job, "?wait_s=60").await;
    assert_eq!((reply.body.as_slice(), headers(&reply)), (&b""[..], ["0", "0", "true", "0"]));
}

/// Of copies, the one that was first is the result, whatever the others wrote until they were stopped.
#[tokio::test(flavor = "multi_thread")]
async fn of_copies_the_output_of_the_run_that_counted_is_told() {
    let world = World::new().await;
    let mut agents = [Agent::join(&world, "m1").await, Agent::join(&world, "m2").await];
    let twice = r#"{"preset": "bertasi/greedy", "relocate": "none", "replicate": 2}"#;
    let set = world.call("PUT", "/api/v1/policy", &world.root, Body::from(twice)).await;
    assert_eq!(set.status, 200, "{set}");
    let job = world.submit(&world.alice, 1).await;
    let mut runs = Vec::new();
    for agent in &mut agents {
        runs.push((agent.start_next(&world).await, agent));
    }
    runs.sort_by_key(|(run, _)| run.number);
    for (text, (run, agent)) in [&b"the result"[..], b"too late"].into_iter().zip(&runs) {
        agent.end(&world, *run, 0, Tail { offset: 0, bytes: text.to_vec(), dropped: 0 }).await;
        assert_eq!(world.get(&format!("/api/v1/jobs/{job}?wait_s=60"), &world.alice).await.status, 200);
        let reply = output(&world, job, "").await;
        assert_eq!((reply.body.as_slice(), headers(&reply)), (&b"the result"[..], ["1", "10", "true", "0"]));
    }
    assert_eq!(headers(&output(&world, job, "?run=2").await)[0], "2", "it is told to who asks for it");
}
