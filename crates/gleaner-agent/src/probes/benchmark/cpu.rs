//! One thread's mix of integer and floating-point arithmetic.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::measured::Measured;

/// A whole number of the 100 ms in which the kernel hands out CPU quotas: then a window holds the same number of
/// shares wherever in such a period it begins, and a quota is seen as it is, to within the tick by which the kernel may
/// be late to enforce it.
const WINDOW: Duration = Duration::from_millis(500);
/// The first window also wakes the core from its low clock.
const WINDOWS: usize = 3;
/// Operations between two looks at the clock: a fraction of a millisecond.
const CHUNK: u32 = 20_000;

/// The speed of the best window in millions of operations a second, and the best for each second on a core.
pub(super) fn measure() -> (Measured, f64) {
    let mut state = State { word: 0x9e37_79b9_7f4a_7c15, number: 1.0 };
    let windows: Vec<_> = (0..WINDOWS).map(|_| measure_window(&mut state)).collect();
    black_box(state);
    let wall: Vec<_> = windows.iter().map(|(wall, _)| *wall).collect();
    let on_core: Vec<_> = windows.iter().map(|(_, on_core)| *on_core).collect();
    (Measured::best_of(&wall), Measured::best_of(&on_core).speed)
}

#[derive(Clone, Copy)]
struct State {
    word: u64,
    number: f64,
}

fn measure_window(state: &mut State) -> (f64, f64) {
    let (start, on_core_start) = (Instant::now(), time_on_core());
    let mut operations = 0u64;
    let mut elapsed = Duration::ZERO;
    while elapsed < WINDOW {
        *state = compute(black_box(*state), CHUNK);
        operations += u64::from(CHUNK);
        elapsed = start.elapsed();
    }
    let on_core = time_on_core().saturating_sub(on_core_start).as_secs_f64();
    let millions = operations as f64 / 1e6;
    // A kernel that counts by ticks may see no time on the core at all, and none sees more than there was.
    (millions / elapsed.as_secs_f64(), millions / on_core.clamp(1e-3, elapsed.as_secs_f64()))
}

/// The reference operation, `count` times: a step of xorshift64*, and a multiplication, an addition and a division
/// on a float that depends on it. Each step needs the one before, so that no vector unit can skip ahead.
fn compute(mut state: State, count: u32) -> State {
    for _ in 0..count {
        state.word ^= state.word >> 12;
        state.word ^= state.word << 25;
        state.word ^= state.word >> 27;
        let drawn = (state.word.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64;
        state.number = (state.number * 0.5 + drawn) / 1.25;
    }
    state
}

fn time_on_core() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
