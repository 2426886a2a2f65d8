//! The looks at machine, disk and owner, and what follows from each.

use super::Worker;
use crate::clock::now;
use crate::duties::Event;
use crate::owner::{Rules, check_signed};
use crate::work::room::Bound;
use gleaner_wire::session::{Profile, Run};

/// Every how many looks the folders of runs that have a limit, or where the disk is short, are measured.
const LOOKS_PER_SIZE: u64 = 5;
/// Every how many looks what could not be removed is tried again, and the machine's settings are looked at. While those change they are
/// looked at each time.
const LOOKS_PER_CLEARING: u64 = 11;

impl Worker {
    pub(super) fn look(&mut self) {
        if let Some(before) = self.watch.reread(&self.found) {
            self.bounding.set(self.watch.rules().limits_of_all());
            self.take(Event::Ruled(self.watch.rules().bounds()));
            self.end_what_is_forbidden(&before);
            self.take(Event::Measured(self.found.clone()));
            self.say_memory();
        }
        self.bounding.look();
        for event in self.watch.look(now(), self.limiter.cpu_used()) {
            self.take(event);
        }
        self.look_at_disk();
        if self.watch.shortage().bytes {
            self.threads.give_way();
        }
        self.looks += 1;
        let clears = self.looks.is_multiple_of(LOOKS_PER_CLEARING);
        if clears {
            self.threads.clear_leftovers();
        }
        if clears || self.threads.sees_settings_change() {
            self.threads.follow_settings();
        }
        if self.looks.is_multiple_of(LOOKS_PER_SIZE) {
            self.measure_folders();
            if self.duties.has_disk_fault() {
                self.threads.try_disk();
            }
        }
    }

    /// So that an owner sees what slots and rules come to.
    pub(super) fn say_memory(&self) {
        let profile = self.duties.profile();
        let each = self.minders.memory_unless_named(profile);
        let together = each.map(|bytes| bytes.saturating_mul(profile.slots.into()));
        tracing::info!(each, together, "bytes of memory for tasks that name none, from now on");
    }

    /// What tasks have on the disk is not taken from them: how much others leave is seen when there are none.
    fn look_at_disk(&mut self) {
        if self.duties.runs().next().is_none()
            && let Some(free) = self.watch.changed_disk(self.found.disk)
        {
            self.take(Event::Measured(Profile { disk: Some(free), ..self.found.clone() }));
        }
    }

    /// The rules are others than `before`: what they let come no more does not stay either.
    fn end_what_is_forbidden(&mut self, before: &Rules) {
        let rules = self.watch.rules();
        let signers = rules.signed_by.as_ref().filter(|signers| before.signed_by.as_ref() != Some(*signers));
        let grid = self.identity.authority.to_string();
        // A signature may expire while its run goes on.
        let is_unsigned =
            |run: &Run| signers.is_some_and(|signers| check_signed(run, signers, &grid, 0).is_err());
        let forbidden = self.duties.going().filter(|run| rules.forbid(run, before) || is_unsigned(run));
        for run in forbidden.map(|run| run.id).collect::<Vec<_>>() {
            self.take(Event::Forbidden(run));
        }
    }

    fn measure_folders(&self) {
        let short = self.watch.shortage();
        let bounded = self.duties.alive().filter_map(|(run, named)| Some((run, Bound::of(named, short)?)));
        for (run, bound) in bounded {
            self.threads.measure_folder(run, bound, (self.folders.of(run), self.minders.first_process(run)));
        }
    }
}
