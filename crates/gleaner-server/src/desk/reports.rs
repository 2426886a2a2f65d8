//! How much each agent may have written into the journal without having been asked: so much at once, and then so much a
//! second. Ends of runs that the coordinator ordered and that were run do not count.
//!
//! **What is too much is not recorded, and the connection is closed**: what matters is said again over the next one.

use gleaner_units::{MachineId, Span, Time};
use gleaner_wire::limits::{REPORTS_AT_ONCE, REPORTS_PER_S};
use std::collections::BTreeMap;

/// What one report uses up.
const EACH: Span = Span::from_nanos(1_000_000_000 / REPORTS_PER_S as u64);
const AT_ONCE: Span = Span::from_nanos(EACH.nanos() * REPORTS_AT_ONCE as u64);
/// So many bytes more count as one more report.
const BYTES_EACH: usize = 4 << 10;

/// When each agent will have made up for all that it said.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    made_up_at: BTreeMap<MachineId, Time>,
}

impl Reports {
    /// Counts a report of so many bytes; whether it is not too much. Costs O(log agents).
    pub(super) fn take(&mut self, agent: MachineId, now: Time, bytes: usize) -> bool {
        let made_up_at = self.made_up_at.entry(agent).or_insert(now);
        let cost = EACH.nanos().saturating_mul(1 + (bytes / BYTES_EACH) as u64);
        let after = Time::from_nanos((*made_up_at).max(now).nanos().saturating_add(cost));
        let fits = after.since(now) <= AT_ONCE;
        if fits {
            *made_up_at = after;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_so_many_a_second() {
        let (mut reports, at) =
            (Reports::default(), |seconds: u64| Time::from_nanos(seconds * 1_000_000_000));
        let [one, other] = [0, 1].map(MachineId::new);
        let taken = |reports: &mut Reports, now| {
            (0..=2 * REPORTS_AT_ONCE).take_while(|_| reports.take(one, now, 0)).count() as u32
        };
        assert_eq!(taken(&mut reports, at(5)), REPORTS_AT_ONCE);
        assert_eq!(taken(&mut reports, at(7)), 2 * REPORTS_PER_S);
        assert!(reports.take(other, at(7), 0), "each agent by itself");
        assert_eq!(taken(&mut reports, at(1_000_000)), REPORTS_AT_ONCE);
        assert!(!reports.take(other, at(8), usize::MAX), "long ones count for more");
    }
}
