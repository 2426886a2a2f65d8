use gleaner_agent::probes::{Cgroup, Domain, Ours, ProbeError};

use super::tree::{Tree, at};

/// The load that is seen when, ten seconds after the tree was recorded, `files` have changed.
fn load<'a>(tree: &Tree, domain: Domain, ours: impl Fn() -> Ours<'a>, files: &[(&str, &str)]) -> f64 {
    let mut sampler = tree.sampler(domain);
    assert_eq!(sampler.sample(at(100.0), ours()).sample.load, None, "nothing to compare with yet");
    for (path, text) in files {
        tree.write(path, text);
    }
    let observed = sampler.sample(at(110.0), ours());
    assert!(observed.faults.is_empty(), "{:?}", observed.faults);
    observed.sample.load.unwrap()
}

fn near(load: f64, expected: f64) {
    assert!((load - expected).abs() < 1e-9, "{load} is not {expected}");
}

const STAT: &str = "/proc/stat";
/// Sixteen core seconds more than the recorded tree: 600 user, 400 nice, 300 system, 200 + 100 in interrupts; and
/// idle, waiting and stolen time, which are nobody's.
const SIXTEEN_MORE: &str = "cpu  1600 600 600 99999 9999 250 160 9999 0 0\n";
const TASK_USED: &str = "/sys/fs/cgroup/cpu,cpuacct/gleaner/t1/cpuacct.usage";

#[test]
fn the_owner_has_what_we_have_not_used() {
    let table = [
        ("nothing of it ours", "12500000000", 0.4),
        ("half of it ours", "20500000000", 0.2),
        ("all of it ours", "28500000000", 0.0),
        ("ours counted past the whole", "99500000000", 0.0),
        ("ours gone with its cgroup", "0", 0.4),
    ];
    for (name, used, expected) in table {
        let tree = Tree::unpack("v1-host");
        let task = Cgroup::at(&tree.root(), "/gleaner/t1").unwrap();
        let domain = Domain::detect(&tree.root()).unwrap();
        let ours = || Ours { processes: &[], tasks: task.cpu_used().unwrap() };
        let seen = load(&tree, domain, ours, &[(STAT, SIXTEEN_MORE), (TASK_USED, used)]);
        assert!((seen - expected).abs() < 1e-9, "{name}: {seen}");
    }
}

#[test]
fn processes_count_with_the_children_they_waited_for() {
    // Four seconds itself and four of a child; process 7 does not exist.
    for name in ["a (b) c d", "a\nb", "a) S 1\n7 (b"] {
        let process = format!(
            "4242 ({name}) S 1 4242 4242 0 -1 4194560 100 0 0 0 450 150 320 130 20 0 1 0 1000 1000000 100\n"
        );
        let files = [(STAT, SIXTEEN_MORE), ("/proc/4242/stat", process.as_str())];
        let tree = Tree::unpack("v1-host");
        let domain = Domain::detect(&tree.root()).unwrap();
        near(load(&tree, domain, || Ours::of(&[4242, 7]), &files), 0.2);
    }
}

#[test]
fn a_process_that_cannot_be_read_hides_nobody_elses_use() {
    let tree = Tree::unpack("v1-host");
    let mut sampler = tree.sampler(Domain::detect(&tree.root()).unwrap());
    tree.write("/proc/4242/stat", "4242 (a");
    sampler.sample(at(100.0), Ours::of(&[4242]));
    tree.write(STAT, SIXTEEN_MORE);
    let observed = sampler.sample(at(110.0), Ours::of(&[4242]));
    near(observed.sample.load.unwrap(), 0.4);
    assert_eq!(observed.faults.len(), 1, "{:?}", observed.faults);
}

#[test]
fn a_quota_is_all_there_is_to_share() {
    let table = [
        // Half a core for ten seconds are five; the owner used two and a half.
        ("container", "/sys/fs/cgroup/cpu.stat", "usage_usec 3500000\n", 0.5),
        // A burst may go past the quota.
        ("container", "/sys/fs/cgroup/cpu.stat", "usage_usec 9000000\n", 1.0),
        // The quota stands one level above the agent, and so does the use that counts.
        ("container-v1", "/sys/fs/cgroup/cpuacct/cpuacct.usage", "5500000000\n", 0.2),
    ];
    for (name, file, text, expected) in table {
        let tree = Tree::unpack(name);
        let domain = Domain::detect(&tree.root()).unwrap();
        near(load(&tree, domain, || Ours::of(&[]), &[(file, text)]), expected);
    }
}

#[test]
fn a_cgroup_is_measured_when_told_to() {
    let tree = Tree::unpack("v2-host");
    let domain = Domain::cgroup(&tree.root(), "/system.slice/gleaner.service").unwrap();
    assert_eq!(domain.cores(), 4.0, "there is no quota");
    let files = [("/sys/fs/cgroup/system.slice/gleaner.service/cpu.stat", "usage_usec 19000000\n")];
    near(load(&tree, domain, || Ours::of(&[]), &files), 0.25);
}

#[test]
fn a_quota_without_accounting_is_refused() {
    let tree = Tree::unpack("container-v1");
    tree.write("/proc/self/cgroup", "2:cpuacct:/docker/ab12\n1:cpu:/docker/ab12/agent\n");
    assert!(matches!(Domain::detect(&tree.root()), Err(ProbeError::NotAccounted { .. })));
    assert!(matches!(
        Domain::cgroup(&tree.root(), "/docker/ab12/gone"),
        Err(ProbeError::NotAccounted { .. })
    ));
}

#[test]
fn no_time_has_no_load() {
    let tree = Tree::unpack("v1-host");
    let mut sampler = tree.sampler(Domain::detect(&tree.root()).unwrap());
    for _ in 0..2 {
        let observed = sampler.sample(at(5.0), Ours::of(&[]));
        assert_eq!(observed.sample.load, None);
    }
}
