//! Which machines could take tasks, and why others do not; what one answer about many jobs looks up once.

use super::closed::all_closed;
use super::{discreet, tried};
use crate::desk::Desk;
use crate::ledger::Ledger;
use crate::limits::REASONS_TOLD_MAX;
use crate::store::TaskRange;
use gleaner_core::explain::words;
use gleaner_core::{Explanation, Work};
use gleaner_units::{MachineId, RunId, TaskClassId};
use std::collections::{BTreeSet, HashMap};

/// Where tasks of a class can run, of the machines that may ever take some: one that was revoked, or forgotten, does not.
pub(super) fn explanation(ledger: &Ledger, class: TaskClassId) -> Explanation {
    explanation_without(ledger, class, &[])
}

/// Likewise, as if some machines were not there.
pub(super) fn explanation_without(ledger: &Ledger, class: TaskClassId, apart: &[MachineId]) -> Explanation {
    let counts = |on: MachineId| !ledger.agent(on).revoked && !apart.contains(&on);
    tried::explanation(Explanation::among(ledger.grid(), class, counts))
}

/// Likewise, of all of them, within what an answer about several classes may cost.
pub(super) fn explanation_within(ledger: &Ledger, class: TaskClassId, work: &mut Work) -> Explanation {
    let counts = |on: MachineId| !ledger.agent(on).revoked;
    tried::explanation(Explanation::within(ledger.grid(), class, counts, work))
}

/// The kinds of operations that live machines are measured by.
pub(super) fn dimensions() -> Vec<String> {
    ["CPU", "disk", "network"].map(str::to_owned).to_vec()
}

/// Why no machine takes tasks, once for each class. All evaluations share one budget.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    of_class: HashMap<TaskClassId, String>,
    work: Work,
    without_space: Option<BTreeSet<RunId>>,
}

impl Reasons {
    /// Which machines could take tasks of a class that nothing else keeps from them. Costs O(machines) for each class that is new.
    pub(super) fn machines(&mut self, ledger: &Ledger, class: TaskClassId) -> String {
        if let Some(told) = self.of_class.get(&class) {
            return told.clone();
        }
        let waits_for = ledger.recipe().waits_for();
        if self.of_class.len() >= REASONS_TOLD_MAX {
            return format!("{waits_for}: `gleaner explain` says which could take it");
        }
        let able =
            (0..ledger.agents().len()).filter(|&on| ledger.grid().can_run(class, MachineId::new(on))).count();
        let told = match able {
            0 => {
                let explanation = explanation_within(ledger, class, &mut self.work);
                let why = words::sentence(&discreet::explanation(explanation), &dimensions());
                match all_closed(ledger, class) {
                    Some(closed) => format!("{closed}; {why}"),
                    None => format!("{waits_for}: {why}"),
                }
            }
            1 => format!("{waits_for}: 1 machine can take it"),
            able => format!("{waits_for}: {able} machines can take it"),
        };
        self.of_class.insert(class, told.clone());
        told
    }

    /// How many runs of these tasks have ended, and find no space on the coordinator's disk for what they left.
    pub(super) fn without_space(&mut self, desk: &Desk, tasks: TaskRange) -> usize {
        let runs = self.without_space.get_or_insert_with(|| desk.without_space().collect());
        runs.range(RunId::new(tasks.first(), 0)..=RunId::new(tasks.last(), u32::MAX)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Entry, Fact};
    use gleaner_units::Time;
    use gleaner_wire::job::JobSpec;
    use std::sync::Arc;

    /// Each of so many jobs waits for something else.
    fn jobs(count: usize) -> Ledger {
        let mut ledger = Ledger::new();
        for number in 0..count {
            let (job, user) = (ledger.next_job(), "ada".to_owned());
            let requirements = Some(format!("TARGET.Number == {number}"));
            let spec = Arc::new(JobSpec { requirements, ..JobSpec::new(["true"]) });
            ledger.apply(&Entry {
                at: Time::ZERO,
                fact: Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 },
            });
        }
        ledger
    }

    #[test]
    fn a_list_tells_so_many_reasons_each_once() {
        let ledger = jobs(REASONS_TOLD_MAX + 2);
        let mut reasons = Reasons::default();
        let mut told = || -> Vec<String> {
            let classes: Vec<TaskClassId> = ledger.jobs().map(|(_, job)| job.class).collect();
            classes.into_iter().map(|class| reasons.machines(&ledger, class)).collect()
        };
        let (first, again) = (told(), told());
        assert_eq!(first, again);
        let unsaid = first.iter().filter(|text| text.contains("gleaner explain")).count();
        assert_eq!(unsaid, 2, "{first:?}");
        assert_eq!(reasons.of_class.len(), REASONS_TOLD_MAX);
    }
}
