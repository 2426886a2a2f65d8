//! C: how a task's operations divide over CPU, disk and network, learnt from what one run of it consumed.

use gleaner_units::Span;

use super::speeds::Speeds;
use super::usage::Usage;

/// The shares of a task's operations of each kind; they add up to 1, and are in the units of `rates`.
///
/// Operations of the CPU are its CPU seconds times `rates.cpu`, which must therefore be the speed *while on a core*
/// ([`super::Benchmark::rates`]); operations of disk and network are megabytes. With these shares the scheduler's
/// Σ C/S gives back, up to a factor that all machines share, the seconds that the task kept each device busy here.
/// Bytes that the devices could not have moved within `elapsed` went to a cache, and are not counted. A task that
/// used nothing that was counted is taken for pure CPU.
pub fn composition(usage: &Usage, elapsed: Span, rates: &Speeds) -> Speeds {
    let megabytes = |bytes: Option<u64>, rate: f64| {
        let moved = bytes.unwrap_or(0) as f64 / 1e6;
        moved.min(counted(elapsed.seconds() * rate))
    };
    let stored = usage.read_bytes.unwrap_or(0).saturating_add(usage.written_bytes.unwrap_or(0));
    let cpu = counted(usage.cpu_seconds.unwrap_or(0.0) * rates.cpu);
    let disk = megabytes(Some(stored), rates.disk);
    let net = megabytes(usage.net_bytes, rates.net);
    let all = cpu + disk + net;
    if all > 0.0 && all.is_finite() {
        Speeds { cpu: cpu / all, disk: disk / all, net: net / all }
    } else {
        Speeds { cpu: 1.0, disk: 0.0, net: 0.0 }
    }
}

/// What is not a number of operations is none.
fn counted(operations: f64) -> f64 {
    if operations.is_finite() { operations.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATES: Speeds = Speeds { cpu: 1000.0, disk: 500.0, net: 100.0 };

    fn usage(cpu: f64, megabytes: [u64; 3]) -> Usage {
        let [read, written, net] = megabytes.map(|megabytes| Some(megabytes * 1_000_000));
        Usage {
            cpu_seconds: Some(cpu),
            read_bytes: read,
            written_bytes: written,
            peak_memory: None,
            net_bytes: net,
        }
    }

    #[test]
    fn shares_follow_what_was_used() {
        let table: [(&str, Usage, f64, [f64; 3]); 7] = [
            ("nothing", Usage::default(), 10.0, [1.0, 0.0, 0.0]),
            ("no time", usage(0.0, [500, 0, 0]), 0.0, [1.0, 0.0, 0.0]),
            ("CPU only", usage(10.0, [0, 0, 0]), 10.0, [1.0, 0.0, 0.0]),
            ("disk only", usage(0.0, [250, 250, 0]), 2.0, [0.0, 1.0, 0.0]),
            (
                "a second of each",
                usage(1.0, [250, 250, 100]),
                3.0,
                [1000.0 / 1600.0, 500.0 / 1600.0, 100.0 / 1600.0],
            ),
            ("into the cache", usage(1.0, [0, 100_000, 0]), 2.0, [0.5, 0.5, 0.0]),
            ("several threads", usage(8.0, [0, 0, 200]), 2.0, [8000.0 / 8200.0, 0.0, 200.0 / 8200.0]),
        ];
        for (name, usage, elapsed, [cpu, disk, net]) in table {
            let shares = composition(&usage, Span::from_seconds(elapsed).unwrap(), &RATES);
            assert_eq!(shares, Speeds { cpu, disk, net }, "{name}");
        }
    }

    proptest! {
        #[test]
        fn shares_make_a_whole(
            cpu in prop_oneof![any::<f64>(), 0.0..1e6],
            bytes in proptest::array::uniform3(any::<Option<u64>>()),
            elapsed in any::<u64>(),
            rates in proptest::array::uniform3(prop_oneof![Just(0.0), 0.1..1e8, any::<f64>()]),
        ) {
            let usage = Usage {
                cpu_seconds: Some(cpu),
                read_bytes: bytes[0],
                written_bytes: bytes[1],
                peak_memory: None,
                net_bytes: bytes[2],
            };
            let rates = Speeds { cpu: rates[0], disk: rates[1], net: rates[2] };
            let shares = composition(&usage, Span::from_nanos(elapsed), &rates);
            let shares = <[f64; 3]>::from(shares);
            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        }
    }
}
