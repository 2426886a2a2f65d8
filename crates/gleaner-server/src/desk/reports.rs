//! How much the desk does for each agent without having asked: so much at once, and then so much in a time.
//!
//! - Reports are what an agent says without having been asked: it may go into the journal, and it takes the desk's time. Ends of
//!   runs that the coordinator ordered and that were run do not count. **What is too much is not recorded, and the connection is closed**: what
//!   matters is said again over the next one.
//! - Changes of a machine's profile are far fewer, since the grid is told of another machine. **Of those that are too much, the latest
//!   waits.**

use gleaner_units::{MachineId, Span, Time};
use gleaner_wire::limits::{PROFILE_SECONDS, PROFILES_AT_ONCE, REPORTS_AT_ONCE, REPORTS_PER_S};
use gleaner_wire::session::Profile;
use std::collections::BTreeMap;

const SECOND: u64 = 1_000_000_000;
/// So many bytes more count as one more report.
const BYTES_EACH: usize = 512;

/// When each agent will have made up for all that it had.
#[derive(Clone, Debug)]
struct Allowance {
    each: Span,
    at_once: Span,
    made_up_at: BTreeMap<MachineId, Time>,
}

impl Allowance {
    fn new(each: Span, at_once: u32) -> Self {
        let at_once = Span::from_nanos(each.nanos() * u64::from(at_once));
        Self { each, at_once, made_up_at: BTreeMap::new() }
    }

    /// Counts so many; whether that is not too much. Costs O(log agents).
    fn take(&mut self, agent: MachineId, now: Time, count: u64) -> bool {
        let made_up_at = self.made_up_at.entry(agent).or_insert(now);
        let cost = self.each.nanos().saturating_mul(count);
        let after = Time::from_nanos((*made_up_at).max(now).nanos().saturating_add(cost));
        let fits = after.since(now) <= self.at_once;
        if fits {
            *made_up_at = after;
        }
        fits
    }

    /// From when on one more is not too much.
    fn next(&self, agent: MachineId) -> Time {
        let after = self.made_up_at.get(&agent).map_or(Time::ZERO, |&at| at + self.each);
        Time::from_nanos(after.nanos().saturating_sub(self.at_once.nanos()))
    }

    /// How long it takes until so many are not too much; of more than fit at once, until nothing is to be made up for.
    fn until(&self, agent: MachineId, now: Time, count: u64) -> Span {
        let cost = self.each.nanos().saturating_mul(count).min(self.at_once.nanos());
        let made_up_at = self.made_up_at.get(&agent).map_or(0, |at| at.nanos());
        Span::from_nanos((made_up_at + cost).saturating_sub(now.nanos() + self.at_once.nanos()))
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Reports(Allowance);

impl Default for Reports {
    fn default() -> Self {
        Self(Allowance::new(Span::from_nanos(SECOND / u64::from(REPORTS_PER_S)), REPORTS_AT_ONCE))
    }
}

impl Reports {
    /// Counts a report of so many bytes; whether it is not too much.
    pub(super) fn take(&mut self, agent: MachineId, now: Time, bytes: usize) -> bool {
        self.0.take(agent, now, count_of(bytes))
    }

    /// How long it takes until one of so many bytes is not too much.
    pub(super) fn until(&self, agent: MachineId, now: Time, bytes: usize) -> Span {
        self.0.until(agent, now, count_of(bytes))
    }
}

fn count_of(bytes: usize) -> u64 {
    1 + (bytes / BYTES_EACH) as u64
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    allowance: Allowance,
    waiting: BTreeMap<MachineId, Profile>,
}

impl Default for Changes {
    fn default() -> Self {
        let each = Span::from_nanos(u64::from(PROFILE_SECONDS) * SECOND);
        Self { allowance: Allowance::new(each, PROFILES_AT_ONCE), waiting: BTreeMap::new() }
    }
}

impl Changes {
    /// Counts a change; whether it is not too much.
    pub(super) fn take(&mut self, agent: MachineId, now: Time) -> bool {
        self.allowance.take(agent, now, 1)
    }

    /// How long it takes until one is not too much.
    pub(super) fn until(&self, agent: MachineId, now: Time) -> Span {
        self.allowance.until(agent, now, 1)
    }

    /// What an agent said last waits until it may be recorded.
    pub(super) fn wait(&mut self, agent: MachineId, profile: Profile) {
        self.waiting.insert(agent, profile);
    }

    /// It said something else, or will say it again.
    pub(super) fn forget(&mut self, agent: MachineId) {
        self.waiting.remove(&agent);
    }

    /// When the next of those that wait may be recorded. Costs O(those that wait).
    pub(super) fn next_due(&self) -> Option<Time> {
        self.waiting.keys().map(|&agent| self.allowance.next(agent)).min()
    }

    /// One that may be recorded now; it counts.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(MachineId, Profile)> {
        let due = |agent: &MachineId| self.allowance.next(*agent) <= now;
        let agent = self.waiting.keys().copied().find(due)?;
        self.take(agent, now).then(|| self.waiting.remove_entry(&agent)).flatten()
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
