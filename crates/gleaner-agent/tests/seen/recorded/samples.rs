use gleaner_agent::probes::{Domain, Ours, Pressure, Root, Sample, Sampler};
use gleaner_units::Span;

use super::tree::{Tree, at};

const MEMINFO: u64 = 8_192_000 * 1024;

fn seconds(seconds: f64) -> Option<Span> {
    Span::from_seconds(seconds)
}

#[test]
fn each_machine_tells_what_it_has() {
    let table = [
        (
            "v1-host",
            Sample {
                cores: 4.0,
                free_memory: Some(MEMINFO),
                pressure: Pressure { cpu: Some(0.25), memory: Some(0.0), io: Some(0.015) },
                temperature: Some(63.5),
                session_idle: seconds(90.0),
                ..Sample::default()
            },
        ),
        (
            "v2-host",
            Sample {
                cores: 4.0,
                free_memory: Some(MEMINFO),
                pressure: Pressure { cpu: Some(0.0), memory: Some(0.1234), io: Some(0.0) },
                ..Sample::default()
            },
        ),
        (
            "laptop",
            Sample {
                cores: 2.0,
                free_memory: Some(MEMINFO),
                temperature: Some(71.5),
                on_battery: Some(true),
                session_idle: seconds(0.0),
                ..Sample::default()
            },
        ),
        (
            "container",
            Sample {
                cores: 0.5,
                free_memory: Some(536_870_912 - 150_000_000),
                session_idle: seconds(90.0),
                ..Sample::default()
            },
        ),
        ("container-v1", Sample { cores: 0.25, ..Sample::default() }),
    ];
    for (name, expected) in table {
        let tree = Tree::unpack(name);
        if ["v1-host", "container"].contains(&name) {
            tree.type_in("/dev/pts/0", 90);
        }
        let observed = tree.observe();
        assert!(observed.faults.is_empty(), "{name}: {:?}", observed.faults);
        assert!(observed.sample.free_disk.is_some(), "{name}");
        assert_eq!(Sample { free_disk: None, ..observed.sample }, expected, "{name}");
    }
}

#[test]
fn a_machine_without_any_of_it_has_no_values_and_no_faults() {
    let folder = tempfile::tempdir().unwrap();
    let domain = Domain::detect(&Root::new(folder.path())).unwrap();
    let observed = Sampler::new(domain, folder.path().join("gone")).sample(at(0.0), Ours::of(&[1]));
    assert!(observed.faults.is_empty(), "{:?}", observed.faults);
    assert_eq!(observed.sample, Sample { cores: 1.0, ..Sample::default() });
}

#[test]
fn what_is_garbled_is_named_and_costs_its_own_value_only() {
    let tree = Tree::unpack("garbled");
    let mut sampler = tree.sampler(Domain::detect(&tree.root()).unwrap());
    let observed = sampler.sample(at(0.0), Ours::of(&[]));
    let faults: Vec<_> = observed.faults.iter().map(|fault| tree.show(fault)).collect();
    assert_eq!(
        faults,
        [
            "/proc/stat, line 1: expected cpu and at least seven numbers of ticks, found \"cpu  1000 200 three hundred\"",
            "/proc/meminfo, line 2: expected a whole number, found \"MemAvailable: lots kB\"",
            "/proc/pressure/cpu, line 1: expected avg10= with a percentage, found \"some avg10=high\"",
            "/proc/pressure/memory, line 1: expected a line \"some avg10=…\", found \"\"",
            "/proc/pressure/io, line 1: expected a line \"some avg10=…\", found \"full avg10=0.00\"",
            "/sys/class/thermal/thermal_zone0/temp, line 1: expected a temperature in thousandths of a degree, found \"hot\"",
            "/sys/class/power_supply/AC/online, line 1: expected 0 or 1, found \"perhaps\"",
        ]
    );
    assert!(observed.sample.free_disk.is_some());
}

#[test]
fn a_garbled_cgroup_is_named() {
    let tree = Tree::unpack("garbled");
    let table = [
        (
            "/zero",
            "/sys/fs/cgroup/zero/cpu.max, line 1: expected a quota and its period in microseconds, found \"50000\"",
        ),
        ("/none", "/sys/fs/cgroup/none/cpu.max, line 1: expected a quota above 0, found \"0 100000\""),
    ];
    for (path, expected) in table {
        let error = Domain::cgroup(&tree.root(), path).unwrap_err();
        assert_eq!(tree.show(&error), expected);
    }
    let observed = tree.sampler(Domain::machine(&tree.root()).unwrap()).sample(at(0.0), Ours::of(&[31]));
    let first = tree.show(&observed.faults[0]);
    assert_eq!(
        first,
        "/proc/31/stat, line 1: expected PID (NAME) STATE and at least fourteen numbers, found \"31 (x) S 1 2\""
    );
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let tree = Tree::unpack("v1-host");
    tree.write("/proc/meminfo", &"x".repeat((1 << 20) + 1));
    let faults = tree.observe().faults;
    let faults: Vec<_> = faults.iter().map(|fault| tree.show(fault)).collect();
    assert_eq!(faults, ["/proc/meminfo is longer than 1048576 bytes"]);
}

#[test]
fn a_battery_is_asked_only_without_another_supply() {
    const AC: &str = "/sys/class/power_supply/AC/online";
    const BATTERY: &str = "/sys/class/power_supply/BAT0/status";
    let table = [
        ("1", "Charging", Some(false)),
        // A weak supply: connected, and the battery helps.
        ("1", "Discharging", Some(false)),
        ("0", "Discharging", Some(true)),
        ("0", "Not charging", Some(true)),
    ];
    for (connected, battery, expected) in table {
        let tree = Tree::unpack("laptop");
        tree.write(AC, connected);
        tree.write(BATTERY, battery);
        assert_eq!(tree.observe().sample.on_battery, expected, "{connected}, {battery}");
    }
}

#[test]
fn a_session_in_the_background_is_nobody() {
    let tree = Tree::unpack("laptop");
    tree.write("/run/systemd/sessions/2", "ACTIVE=0\nSTATE=online\nTYPE=wayland\nCLASS=user\nTTY=tty2\n");
    assert_eq!(tree.observe().sample.session_idle, None);
}
