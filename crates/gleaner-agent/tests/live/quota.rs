use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use gleaner_agent::probes::{Domain, Moment, Ours, Root, Sampler, benchmark};
use gleaner_units::Time;

use crate::quota_cgroup::QuotaCgroup;

const MARK: &str = "share of a core: ";

/// What share of a core's speed the benchmark finds. Not a test of its own: it is run inside a cgroup by the next.
#[test]
#[ignore = "run by the test of the quota, inside a cgroup"]
fn print_the_share_of_a_core() {
    let folder = tempfile::tempdir().unwrap();
    let measured = benchmark(folder.path(), None).unwrap();
    println!("\n{MARK}{}", measured.cpu.speed / measured.cpu_on_core);
}

/// Compared with the speed on the core, which other programs on this machine do not change.
#[test]
fn a_quarter_of_a_core_is_a_quarter_as_fast() {
    let Some(cgroup) = QuotaCgroup::quarter("speed") else { return };
    let mut command = cgroup.command(&std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "quota::print_the_share_of_a_core", "--nocapture"]);
    let output = command.output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout);
    let share = output.lines().find_map(|line| line.strip_prefix(MARK)).unwrap_or_else(|| panic!("{output}"));
    let share: f64 = share.parse().unwrap();
    println!("{MARK}{share}");
    // A busy machine may keep back some of the quarter, and the kernel hands out a little more than that at times.
    assert!((0.05..=0.34).contains(&share), "{share}");
}

/// A program of the owner's, stopped at the end.
struct Spinning(Child);

impl Spinning {
    fn start(mut command: Command) -> Self {
        Self(command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Samples to wait for, one a second.
const SECONDS_MAX: usize = 30;

#[test]
fn inside_a_quota_the_load_is_a_share_of_it() {
    let Some(cgroup) = QuotaCgroup::quarter("load") else { return };
    let root = Root::new("/");
    let domain = Domain::cgroup(&root, &cgroup.path()).unwrap();
    assert_eq!(domain.cores(), 0.25);
    let spinning = Spinning::start(cgroup.command(Path::new("sh")));
    let spinning_alone = [spinning.0.id()];
    let mut seen_as_owners = Sampler::new(domain.clone(), "/");
    let mut seen_as_ours = Sampler::new(domain, "/");
    let start = Instant::now();
    let moment = || Moment {
        steady: Time::ZERO.after_seconds(start.elapsed().as_secs_f64()),
        wall: SystemTime::now(),
    };
    let mut sample = || {
        let owners = seen_as_owners.sample(moment(), Ours::of(&[]));
        let ours = seen_as_ours.sample(moment(), Ours::of(&spinning_alone));
        assert!(owners.faults.is_empty() && ours.faults.is_empty(), "{owners:?} {ours:?}");
        owners.sample.load.zip(ours.sample.load)
    };
    thread::sleep(Duration::from_millis(200));
    assert_eq!(sample(), None);
    // A busy machine may keep the quota back for a while.
    let mut seen = Vec::new();
    let is_a_share = |&(owners, ours): &(f64, f64)| owners > 0.6 && ours < 0.3;
    while !seen.last().is_some_and(is_a_share) {
        assert!(seen.len() < SECONDS_MAX, "{seen:?}");
        thread::sleep(Duration::from_secs(1));
        seen.extend(sample());
    }
}
