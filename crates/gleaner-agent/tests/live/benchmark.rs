use std::io;

use gleaner_agent::probes::{Measured, benchmark, measure_network};

#[test]
fn measures_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let measured = benchmark(folder.path(), None).unwrap();
    println!("{measured:?}\n{:?}\n{:?}", measured.speeds(), measured.speeds().rounded());
    for Measured { speed, spread } in [measured.cpu, measured.disk_write, measured.disk_read] {
        assert!(speed > 0.0 && speed.is_finite() && (0.0..=1.0).contains(&spread), "{measured:?}");
    }
    // What is best on the core is not below what is best with waits.
    assert!(measured.cpu_on_core >= measured.cpu.speed * 0.99, "{measured:?}");
    let speeds = measured.speeds();
    let (slower, faster) = (measured.disk_write.speed, measured.disk_read.speed);
    assert!((slower.min(faster)..=slower.max(faster)).contains(&speeds.disk), "{measured:?}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn says_when_there_is_no_folder_to_write_in() {
    let folder = tempfile::tempdir().unwrap();
    let error = benchmark(&folder.path().join("gone"), None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn the_network_is_sent_a_bounded_amount() {
    let mut sent = 0;
    let measured = measure_network(|block| {
        sent += block.len();
        Ok(())
    });
    assert!(measured.unwrap().speed > 0.0);
    assert!((1 << 20..=16 << 20).contains(&sent), "{sent}");
    let refused = measure_network(|_| Err(io::ErrorKind::ConnectionReset.into()));
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}
