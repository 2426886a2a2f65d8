use gleaner_sim::Trace;
use gleaner_units::Time;
use serde::Serialize;

/// What a trace amounts to.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Statistics {
    /// How many machines ever come.
    pub machines: usize,
    /// How often one comes.
    pub intervals: usize,
    /// How many pieces the intervals have.
    pub pieces: usize,
    /// When the last machine is gone.
    pub end_s: f64,
    /// How many machines are there on average over time.
    pub present_mean: f64,
    /// What those that are there do together, on average over time, in operations a second.
    pub cumulative_speed: f64,
    /// The mean over all the time that any machine is there.
    pub speed_mean: f64,
    /// Nine tenths of that time are slower.
    pub speed_90: f64,
    /// The fastest piece.
    pub speed_max: f64,
    /// The mean length of an interval.
    pub interval_mean_s: f64,
    /// The share of the intervals in which the machine can do [`Statistics::LONG_OPS`] operations. Intervals that were
    /// there at the beginning or at the end do not count, unless there are no others: they are parts.
    pub long_intervals: f64,
}

impl Statistics {
    /// The longest task of Elleuch et al.
    pub const LONG_OPS: f64 = 12e6;

    /// Costs O(pieces · log pieces).
    pub fn of(trace: &Trace) -> Self {
        let end_s = trace.end().seconds();
        let mut pieces: Vec<(f64, f64)> = Vec::with_capacity(trace.piece_count());
        let (mut present_s, mut ops) = (0.0, 0.0);
        for (index, interval) in trace.intervals().iter().enumerate() {
            present_s += interval.until.since(interval.from).seconds();
            ops += trace.ops_in(index);
            let own = trace.pieces(index);
            let ends = own[1..].iter().map(|next| next.from).chain([interval.until]);
            pieces.extend(
                own.iter().zip(ends).map(|(piece, end)| (piece.speed, end.since(piece.from).seconds())),
            );
        }
        pieces.sort_by(|one, other| one.0.total_cmp(&other.0));
        Self {
            machines: trace.machines().len(),
            intervals: trace.intervals().len(),
            pieces: pieces.len(),
            end_s,
            present_mean: present_s / end_s,
            cumulative_speed: ops / end_s,
            speed_mean: ops / present_s,
            speed_90: quantile(&pieces, 0.9 * present_s),
            speed_max: pieces.last().map_or(0.0, |(speed, _)| *speed),
            interval_mean_s: present_s / trace.intervals().len() as f64,
            long_intervals: long_intervals(trace),
        }
    }
}

/// The speed at which so many seconds are slower, from speeds in order, each with how long it lasts.
fn quantile(pieces: &[(f64, f64)], seconds: f64) -> f64 {
    let mut passed = 0.0;
    let reached = pieces.iter().find(|(_, length)| {
        passed += length;
        passed >= seconds
    });
    reached.or(pieces.last()).map_or(0.0, |(speed, _)| *speed)
}

fn long_intervals(trace: &Trace) -> f64 {
    let end = trace.end();
    let share = |counts: &dyn Fn(Time, Time) -> bool| {
        let intervals = trace.intervals().iter().enumerate();
        let whole = intervals.filter(|(_, interval)| counts(interval.from, interval.until));
        let (mut all, mut long) = (0_u32, 0_u32);
        for (index, _) in whole {
            all += 1;
            long += u32::from(trace.ops_in(index) >= Statistics::LONG_OPS);
        }
        (all > 0).then(|| f64::from(long) / f64::from(all))
    };
    let whole = share(&|from, until| from > Time::ZERO && until < end);
    whole.or_else(|| share(&|_, _| true)).unwrap_or(0.0)
}
