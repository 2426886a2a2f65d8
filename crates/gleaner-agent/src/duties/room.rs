//! How much runs here at a time: no more than the owner lets tasks have, whatever the coordinator orders.
//!
//! The coordinator counts too, and a run takes its room there for longer: so an order of one that counts right is never refused,
//! unless the owner has just given less.

use super::Duties;
use super::held::Held;
use gleaner_wire::session::Run;

impl Duties {
    /// Why a run finds no room beside what is ordered to run here, if so. What is ending makes room.
    pub(super) fn why_not_taken(&self, run: &Run) -> Option<String> {
        let is_to_run =
            |held: &Held| held.is_alive() || (held.is_before_its_start() && held.run.after.is_none());
        self.why_no_room(run, |held| held.ending.is_none() && is_to_run(held))
    }

    /// Why a run may not begin beside what runs, if so, though what is ending were gone.
    pub(super) fn why_not_begun(&self, run: &Run) -> Option<String> {
        self.why_no_room(run, |held| held.ending.is_none() && held.is_alive())
    }

    /// Whether a run has to wait for what is ending.
    pub(super) fn waits_for_room(&self, run: &Run) -> bool {
        self.why_no_room(run, Held::is_alive).is_some()
    }

    fn why_no_room(&self, run: &Run, counts: impl Fn(&Held) -> bool) -> Option<String> {
        let others = self.runs.values().filter(|held| held.run.id != run.id && counts(held));
        let all = others.map(|held| &*held.run).chain([run]);
        let (cores, memory, disk) = all.fold((0_u64, 0_u64, 0_u64), |(cores, memory, disk), run| {
            let needs = &run.needs;
            (
                cores + u64::from(needs.cores.max(1)),
                memory.saturating_add(needs.memory),
                disk.saturating_add(needs.disk),
            )
        });
        let (slots, most) = (self.profile.slots, self.profile.memory);
        let lacks = |what: String| Some(format!("its machine has no room for it: tasks get {what} together"));
        if cores > slots.into() {
            return lacks(format!("{slots} of its cores"));
        }
        if memory > most {
            return lacks(format!("{most} bytes of memory"));
        }
        if let Some(most) = self.profile.disk.filter(|most| disk > *most) {
            return lacks(format!("{most} bytes of disk"));
        }
        None
    }
}
