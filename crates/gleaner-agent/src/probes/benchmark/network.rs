//! Sending to the coordinator, over whatever connection the agent has.

use std::io;
use std::time::{Duration, Instant};

use gleaner_wire::limits::PROBE_BYTES_MAX;

use super::measured::Measured;

/// What is taken for the network where there is nobody to measure it with, or only loopback: a gigabit link, less
/// what its packets need for themselves.
pub(super) const NETWORK_DEFAULT: Measured = Measured { speed: 120.0, spread: 0.0 };

const BLOCK_FIRST: usize = 64 << 10;
/// A block that takes this long is long enough to tell the speed from the way there and back.
const BLOCK_ENOUGH: Duration = Duration::from_millis(50);
const TIME_MAX: Duration = Duration::from_millis(500);
const SENT_MAX: usize = 16 << 20;

/// Megabytes a second through `exchange`, which sends a block and returns once the other side has said that it came.
/// At most 16 MiB are sent, and no new block after half a second; what one block may take is the caller's to bound.
pub fn measure_network(mut exchange: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Measured> {
    let block = vec![0x5a; PROBE_BYTES_MAX];
    let (mut bytes, mut sent) = (BLOCK_FIRST, 0);
    let mut blocks: Vec<(usize, f64)> = Vec::new();
    let start = Instant::now();
    while sent + bytes <= SENT_MAX && (blocks.is_empty() || start.elapsed() < TIME_MAX) {
        let begun = Instant::now();
        exchange(&block[..bytes])?;
        let took = begun.elapsed();
        blocks.push((bytes, bytes as f64 / 1e6 / took.as_secs_f64().max(1e-6)));
        sent += bytes;
        if took < BLOCK_ENOUGH {
            bytes = (bytes * 2).min(PROBE_BYTES_MAX);
        }
    }
    let longest = blocks.iter().map(|(bytes, _)| *bytes).max().unwrap_or(BLOCK_FIRST);
    let speeds: Vec<_> =
        blocks.iter().filter(|(bytes, _)| *bytes == longest).map(|(_, speed)| *speed).collect();
    Ok(Measured::best_of(&speeds))
}
