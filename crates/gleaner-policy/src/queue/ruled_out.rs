//! Whom a failed search rules out too: whoever needs as many cores for as long.

use super::row::Waiter;
use gleaner_units::Time;

/// Nobody who needs as many cores for as long begins before that moment.
#[derive(Clone, Copy, Debug)]
struct Failed {
    cores: u32,
    length: f64,
    before: Time,
}

/// By speeds: what failed, with more and more cores and shorter and shorter.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuledOut(Vec<Vec<Failed>>);

impl RuledOut {
    /// Whether somebody of that length surely begins no sooner than that.
    #[inline]
    pub(crate) fn has(&self, waiter: &Waiter, length: f64, before: Time) -> bool {
        let Some(failed) = self.0.get(waiter.speeds as usize) else { return false };
        let fewer = failed.partition_point(|failed| failed.cores <= waiter.cores);
        fewer > 0 && {
            let shortest = failed[fewer - 1];
            shortest.length <= length && before <= shortest.before
        }
    }

    /// He does not.
    pub(crate) fn add(&mut self, waiter: &Waiter, length: f64, before: Time) {
        let speeds = waiter.speeds as usize;
        if self.0.len() <= speeds {
            self.0.resize_with(speeds + 1, Vec::new);
        }
        let failed = &mut self.0[speeds];
        let from = failed.partition_point(|failed| failed.cores < waiter.cores);
        let longer = failed[from..].iter().take_while(|failed| failed.length >= length).count();
        let new = Failed { cores: waiter.cores, length, before };
        failed.splice(from..from + longer, [new]);
    }

    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;
    use std::cmp::Reverse;

    #[test]
    fn whoever_needs_as_much_is_ruled_out() {
        let waiter = |cores| Waiter {
            turn: (Reverse(0), TaskId::new(0)),
            cores,
            speeds: 1,
            believed: 1.0,
            at_most: 1.0,
        };
        let soon = Time::from_nanos(10);
        let mut out = RuledOut::default();
        for (cores, length) in [(4, 10.0), (8, 5.0), (2, 50.0), (4, 8.0)] {
            out.add(&waiter(cores), length, soon);
        }
        for (cores, length, is) in [
            (1, 99.0, false),
            (2, 50.0, true),
            (3, 49.0, false),
            (4, 8.0, true),
            (7, 8.0, true),
            (7, 7.0, false),
            (8, 5.0, true),
            (9, 4.0, false),
        ] {
            assert_eq!(out.has(&waiter(cores), length, soon), is, "{cores} cores for {length}");
            assert!(!out.has(&waiter(cores), length, Time::NEVER), "nothing is known of later");
        }
        assert!(!out.has(&Waiter { speeds: 0, ..waiter(9) }, 99.0, soon), "another is faster");
        out.clear();
        assert!(!out.has(&waiter(9), 99.0, soon));
    }
}
