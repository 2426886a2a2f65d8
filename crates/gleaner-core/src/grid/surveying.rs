//! Asking all sites how things are there, at one time: what they answer is believed, and who is silent at the deadline is
//! dropped until the next time.

use super::{Availability, Grid};
use crate::alarm::Alarm;
use crate::effects::Effects;
use crate::{Cause, Change, Command, Refusal, SiteState};
use gleaner_units::{MachineId, Time};

impl Grid {
    /// Whether sites are being asked how things are there, and not all of them have answered.
    pub fn is_surveying(&self) -> bool {
        !self.surveys.silent.is_empty()
    }

    /// Whether anything happened since the latest survey began, and before it was over.
    pub fn survey_missed(&self) -> bool {
        self.surveys.missed
    }

    /// Whether a site was silent when it was last asked how things are there.
    pub fn is_dropped(&self, site: MachineId) -> bool {
        self.surveys.dropped.contains(&site)
    }

    /// Costs O(machines): all are asked.
    pub(super) fn survey(&mut self, now: Time, until: Time, effects: &mut Effects) -> Result<(), Refusal> {
        if until < now {
            return Err(Refusal::Passed(until));
        }
        if self.is_surveying() {
            return Err(Refusal::Surveying);
        }
        let machines = self.machines.iter().enumerate();
        let open = machines.filter(|(_, machine)| machine.availability() == Availability::Open);
        let sites: Box<[MachineId]> = open.map(|(index, _)| MachineId::new(index)).collect();
        self.surveys.count += 1;
        self.surveys.missed = false;
        if sites.is_empty() {
            self.survey_is_over(now, effects);
            return Ok(());
        }
        self.surveys.silent = sites.iter().copied().collect();
        self.alarms.set(Alarm::Survey, until);
        effects.changes.push(Change::AlarmChanged(Alarm::Survey));
        effects.orders.push(Command::Survey { number: self.surveys.count, sites });
        Ok(())
    }

    pub(super) fn survey_answered(
        &mut self,
        now: Time,
        (number, machine): (u32, MachineId),
        (state, known_at): (SiteState, Time),
        effects: &mut Effects,
    ) {
        if machine.index() >= self.machines.len() {
            return;
        }
        if self.beliefs.published(machine, state, known_at) {
            effects.changes.push(Change::BeliefChanged(machine));
        }
        // What comes too late, or again, is news like any other, and answers nothing.
        if number != self.surveys.count || !self.surveys.silent.remove(&machine) {
            return;
        }
        if self.surveys.silent.is_empty() {
            self.alarms.take(Alarm::Survey);
            effects.changes.push(Change::AlarmChanged(Alarm::Survey));
            self.survey_is_over(now, effects);
        }
    }

    /// Whoever has not answered is dropped.
    pub(super) fn survey_is_over(&mut self, now: Time, effects: &mut Effects) {
        let silent = std::mem::take(&mut self.surveys.silent);
        let before = std::mem::replace(&mut self.surveys.dropped, silent);
        let changed = before.symmetric_difference(&self.surveys.dropped);
        effects.changes.extend(changed.map(|site| Change::BeliefChanged(*site)));
        self.ask(Cause::WokeUp { alarm: Alarm::Survey, due: now });
    }

    /// Nobody is dropped any more: another rule may not ask again.
    pub(super) fn drop_nobody(&mut self, effects: &mut Effects) {
        let dropped = std::mem::take(&mut self.surveys.dropped);
        effects.changes.extend(dropped.into_iter().map(Change::BeliefChanged));
    }
}
