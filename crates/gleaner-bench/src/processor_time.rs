use rustix::time::{ClockId, clock_gettime};

/// The seconds of processor time that `work` takes: unlike those on the wall, they do not count what else runs on the
/// computer, though its caches and its clock still show.
pub fn processor_seconds(work: impl FnOnce()) -> f64 {
    let start = now();
    work();
    now() - start
}

fn now() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
