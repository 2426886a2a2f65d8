use gleaner_agent::probes::{Cgroup, Reaped, Root, Usage};
use gleaner_units::Span;

use crate::tree::Tree;

fn of_cgroup(root: &Root, path: &str) -> Usage {
    Usage::of_cgroup(&Cgroup::at(root, path).unwrap()).unwrap()
}

fn usage(cpu_seconds: f64, [read, written]: [u64; 2], peak: Option<u64>) -> Usage {
    Usage {
        cpu_seconds: Some(cpu_seconds),
        read_bytes: Some(read),
        written_bytes: Some(written),
        peak_memory: peak,
        net_bytes: None,
    }
}

#[test]
fn a_cgroup_tells_what_its_task_consumed() {
    let table = [
        ("v1-host", "/gleaner/t1", usage(12.5, [4_097_000, 8_194_000], Some(73_400_320))),
        ("v2-host", "/system.slice/gleaner.service/t1", usage(2.5, [1_000_005, 2_000_007], Some(10_485_760))),
        ("v2-host", "/system.slice/gone", Usage::default()),
        ("laptop", "/gleaner/t1", Usage::default()),
    ];
    for (name, path, expected) in table {
        let tree = Tree::unpack(name);
        assert_eq!(of_cgroup(&tree.root(), path), expected, "{name} {path}");
    }
}

#[test]
fn a_process_tells_what_it_consumed() {
    let tree = Tree::unpack("v1-host");
    assert_eq!(Usage::of_process(&tree.root(), 4242).unwrap(), usage(2.5, [4096, 8192], None));
    assert_eq!(Usage::of_process(&tree.root(), 7).unwrap(), Usage::default());
}

#[test]
fn what_is_missing_comes_from_the_wait() {
    let reaped =
        Reaped { cpu: Span::from_nanos(3_000_000_000), peak_kib: 2, blocks_read: 1, blocks_written: 4 };
    let reaped = Usage::of_reaped(&reaped);
    assert_eq!(reaped, usage(3.0, [512, 2048], Some(2048)));
    let tree = Tree::unpack("v1-host");
    let process = Usage::of_process(&tree.root(), 4242).unwrap();
    assert_eq!(process.or(reaped), usage(2.5, [4096, 8192], Some(2048)));
}

#[test]
fn a_garbled_count_is_an_error() {
    let tree = Tree::unpack("garbled");
    let error = Usage::of_cgroup(&Cgroup::at(&tree.root(), "/zero").unwrap()).unwrap_err();
    assert_eq!(
        tree.show(&error),
        "/sys/fs/cgroup/zero/io.stat, line 1: expected DEVICE rbytes=BYTES wbytes=BYTES, found \"8:0 rbytes=many\""
    );
}
