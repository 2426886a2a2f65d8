//! Who finds room in time: for those who are equally fast on each machine, how long at most somebody may be who needs so many
//! cores. It is worked out once for a moment, and then asked about many who wait. **Whoever finds room is found to; where a
//! rounding error decides, somebody may be who does not**, so that whoever is to start is looked at once more.

use super::calendar::Gaps;
use gleaner_units::MachineId;
use std::cell::OnceCell;

/// As many as there are for a number of cores.
const POWERS: usize = u32::BITS as usize;
/// Outweighs what is rounded.
const ABOVE: f64 = 1.0 + 1e-14;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// By machine: the gaps that begin in time.
    gaps: Vec<Gaps>,
    /// By the speeds of those who wait, once it was asked.
    most: Vec<OnceCell<Most>>,
}

/// How many operations at most somebody may need.
#[derive(Clone, Debug)]
struct Most {
    /// For fewer and fewer cores, and each time more.
    by_cores: Vec<(i64, f64)>,
    /// For 1, 2, 4, 8, … cores.
    by_power: [f64; POWERS],
}

impl Most {
    fn of(by_cores: Vec<(i64, f64)>) -> Self {
        let mut by_power = [f64::NEG_INFINITY; POWERS];
        let mut rest = by_cores.iter().rev().peekable();
        for (power, most) in by_power.iter_mut().enumerate() {
            while rest.next_if(|(free, _)| *free < 1 << power).is_some() {}
            let Some((_, longest)) = rest.peek() else { break };
            *most = *longest;
        }
        Self { by_cores, by_power }
    }

    #[inline]
    fn has(&self, cores: u32, ops: f64) -> bool {
        // Mostly that tells: there is less for more cores.
        ops <= self.by_power[cores.max(1).ilog2() as usize]
            && (cores.is_power_of_two() || self.has_by_cores(cores, ops))
    }

    fn has_by_cores(&self, cores: u32, ops: f64) -> bool {
        let wide = self.by_cores.partition_point(|(free, _)| *free >= i64::from(cores));
        self.by_cores[..wide].last().is_some_and(|(_, most)| ops <= *most)
    }
}

impl Reach {
    /// Of machines with these gaps, for so many different speeds.
    pub(crate) fn new(gaps: Vec<Gaps>, speeds: usize) -> Self {
        Self { gaps, most: vec![OnceCell::new(); speeds] }
    }

    /// Whether somebody who needs so many cores for so many operations finds room on one of the machines, which are given with
    /// their seconds per operation, and are the same for all of these speeds.
    #[inline]
    pub(crate) fn has(
        &self,
        (speeds, cores, ops): (u32, u32, f64),
        places: impl FnOnce() -> Vec<(MachineId, f64)>,
    ) -> bool {
        let most = &self.most[speeds as usize];
        most.get().unwrap_or_else(|| most.get_or_init(|| self.most(&places()))).has(cores, ops)
    }

    fn most(&self, places: &[(MachineId, f64)]) -> Most {
        let of_place = |(on, seconds_per_op): &(MachineId, f64)| {
            let seconds_per_op = *seconds_per_op;
            let gaps = self.gaps[on.index()].widest_first();
            gaps.map(move |(free, nanos)| (free, ops_within(nanos, seconds_per_op)))
        };
        let count = |(on, _): &(MachineId, f64)| self.gaps[on.index()].widest_first().len();
        let mut most: Vec<(i64, f64)> = Vec::with_capacity(places.iter().map(count).sum());
        most.extend(places.iter().flat_map(of_place));
        if places.len() > 1 {
            most.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
            let mut longest = f64::NEG_INFINITY;
            most.retain(|(_, ops)| {
                let is_longer = *ops > longest;
                longest = longest.max(*ops);
                is_longer
            });
        }
        Most::of(most)
    }
}

/// The most operations that are over within so many nanoseconds, and at most a rounding error more.
fn ops_within(nanos: u64, seconds_per_op: f64) -> f64 {
    if nanos == u64::MAX { f64::INFINITY } else { (nanos as f64 + 0.5) * (ABOVE / 1e9) / seconds_per_op }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::calendar::Calendar;
    use crate::queue::holds::ends_after;
    use gleaner_units::Time;

    /// Whoever finds room is found to, whatever rounding does, and nobody else who is longer by more than a nanosecond.
    #[test]
    fn it_is_a_look_at_each_machine() {
        let mut random = 5_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut found, mut asked, mut close) = (0, 0, 0);
        for _ in 0..300 {
            let machines = 1 + draw(4) as usize;
            let gaps: Vec<Gaps> = (0..machines)
                .map(|_| {
                    let mut calendar = Calendar::of([(Time::ZERO, 16)]);
                    for _ in 0..draw(12) {
                        let from = draw(1 << 30);
                        let until = Time::from_nanos(from + 1 + draw(1 << 28));
                        let until = if draw(4) == 0 { Time::NEVER } else { until };
                        calendar.take(Time::from_nanos(from), until, draw(9).cast_signed());
                    }
                    calendar.gaps((Time::ZERO, Time::from_nanos(draw(1 << 29))))
                })
                .collect();
            let mut places: Vec<(MachineId, f64)> =
                (0..machines).map(|on| (MachineId::new(on), 1.0 / (1 + draw(1 << 20)) as f64)).collect();
            places.retain(|_| draw(5) > 0);
            let reach = Reach::new(gaps.clone(), 1);
            for _ in 0..40 {
                let cores = 1 + draw(17) as u32;
                // Often as long as some gap is, to the nanosecond.
                let nanos = match places.first().and_then(|(on, _)| gaps[on.index()].widest_first().last()) {
                    Some((_, nanos)) if draw(2) == 0 && nanos < 1 << 40 => nanos + draw(3) - 1,
                    Some(_) | None => draw(1 << 30),
                };
                let ops =
                    nanos as f64 / 1e9 / places.first().map_or(1.0, |(_, seconds_per_op)| *seconds_per_op);
                let fits = |ops: f64| {
                    places.iter().any(|(on, seconds_per_op)| {
                        let lasts = ends_after(Time::ZERO, ops * seconds_per_op).nanos();
                        let mut gaps = gaps[on.index()].widest_first();
                        gaps.any(|(free, nanos)| free >= i64::from(cores) && lasts <= nanos)
                    })
                };
                let is_found = reach.has((0, cores, ops), || places.clone());
                assert!(is_found || !fits(ops), "{cores} for {ops}");
                assert!(!is_found || fits(ops * (1.0 - 1e-13)), "{cores} for {ops}");
                close += u32::from(is_found && !fits(ops * (1.0 + 1e-7)));
                (found, asked) = (found + u32::from(is_found), asked + 1);
            }
        }
        assert!(found > asked / 10 && found < asked * 9 / 10, "{found} of {asked} are no test");
        assert!(close > 100, "{close} that just fit are no test");
    }
}
