//! Runs of `/bin/true` through a whole agent, two at a time, beside bare spawning; and what the agent takes idle.
//!
//! `cargo bench -p gleaner-agent --bench work`

#[path = "../tests/coordinator/mod.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod coordinator;

use coordinator::{Coordinator, id_of, script};
use gleaner_wire::session::{FromAgent, ToAgent};
use std::process::Command;
use std::time::{Duration, Instant};

const RUNS: usize = 4_000;
const SIDE_BY_SIDE: usize = 2;

fn main() {
    let bare = bare();
    let coordinator = Coordinator::new();
    let _agent = coordinator.agent();
    let (mut session, _) = coordinator.welcome(1, 600.0);
    std::thread::sleep(Duration::from_secs(3));
    let (before, from) = (own_cpu(), Instant::now());
    std::thread::sleep(Duration::from_secs(20));
    let idle = own_cpu().saturating_sub(before).as_secs_f64() / from.elapsed().as_secs_f64();
    println!(
        "idle: {:.3} % of a core, RssAnon {} (this process plays the coordinator too)",
        idle * 100.0,
        rss_anon()
    );
    let from = Instant::now();
    for task in 0..RUNS + SIDE_BY_SIDE {
        if task >= SIDE_BY_SIDE {
            let ended = session.until(|message| match message {
                FromAgent::Ended { run, .. } => Some(run),
                _ => None,
            });
            session.settle(ended);
        }
        if task < RUNS {
            let mut run = script(id_of(task, 1), "");
            run.command = vec!["/bin/true".into()];
            session.say(&ToAgent::Run(Box::new(run)));
        }
    }
    let rate = RUNS as f64 / from.elapsed().as_secs_f64();
    println!("bare {bare:.0}/s, through the agent {rate:.0}/s, ratio {:.2}", rate / bare);
}

/// As many threads as run side by side, each spawning and waiting.
fn bare() -> f64 {
    let from = Instant::now();
    let each = || {
        for _ in 0..RUNS / SIDE_BY_SIDE {
            Command::new("/bin/true").status().expect("it is there");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(each);
        }
    });
    RUNS as f64 / from.elapsed().as_secs_f64()
}

fn own_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name").split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().map(|&field| fields[field].parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}

fn rss_anon() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.unwrap_or_default().trim().to_owned()
}
