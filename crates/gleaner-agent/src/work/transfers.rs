//! Whose files are on their way, each by a thread.
//!
//! **There is one thread for a run at a time**, and what it works in stays until it has answered: what comes next for the run, be
//! it another of the same number, waits for that. A thread for which nobody waits any more is told to stop.

use crate::duties::Wanted;
use gleaner_units::RunId;
use gleaner_wire::session::Run;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
pub(super) struct Transfers {
    under_way: BTreeMap<RunId, UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    is_stopped: Arc<AtomicBool>,
    is_to_be_cleared: bool,
    next: Option<Next>,
}

/// What is to be done for a run.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Next {
    Prepare(Arc<Run>),
    Collect(Arc<Run>, Wanted),
}

/// What a thread's answer is.
#[derive(PartialEq, Debug)]
pub(super) enum Answer {
    /// It is waited for.
    News,
    /// It is about what is of no use any more, which is then to be removed, or to be done once more.
    Late { is_to_be_cleared: bool, next: Option<Next> },
}

impl Transfers {
    /// A thread begins to work for a run. Returned is what tells it to stop.
    pub(super) fn begin(&mut self, run: RunId) -> Arc<AtomicBool> {
        let is_stopped = Arc::<AtomicBool>::default();
        self.under_way.insert(run, UnderWay { is_stopped: is_stopped.clone(), ..UnderWay::default() });
        is_stopped
    }

    /// Puts off what comes next for a run, if a thread still works for it.
    pub(super) fn put_off(&mut self, run: RunId, next: impl FnOnce() -> Next) -> bool {
        let Some(under_way) = self.under_way.get_mut(&run) else { return false };
        under_way.is_stopped.store(true, Ordering::Relaxed);
        under_way.next = Some(next());
        true
    }

    /// Puts off that what is left of a run is removed, if a thread still works for it.
    pub(super) fn put_off_clearing(&mut self, run: RunId) -> bool {
        let Some(under_way) = self.under_way.get_mut(&run) else { return false };
        under_way.is_stopped.store(true, Ordering::Relaxed);
        (under_way.is_to_be_cleared, under_way.next) = (true, None);
        true
    }

    /// Stops what nobody waits for. Costs O(what is under way).
    pub(super) fn heed(&self, is_waited_for: impl Fn(RunId) -> bool) {
        for (_, under_way) in self.under_way.iter().filter(|(run, _)| !is_waited_for(**run)) {
            under_way.is_stopped.store(true, Ordering::Relaxed);
        }
    }

    /// The thread that worked for a run has answered.
    pub(super) fn answered(&mut self, run: RunId) -> Answer {
        match self.under_way.remove(&run) {
            Some(UnderWay { is_to_be_cleared, next, .. }) if is_to_be_cleared || next.is_some() => {
                Answer::Late { is_to_be_cleared, next }
            }
            Some(_) | None => Answer::News,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::folders::tests::run;
    use super::*;
    use gleaner_wire::job::Confinement;

    #[test]
    fn what_a_thread_works_in_stays_until_it_has_answered() {
        let run = Arc::new(run(1, Confinement::None));
        let mut transfers = Transfers::default();
        assert!(!transfers.put_off_clearing(run.id) && transfers.answered(run.id) == Answer::News);
        let is_stopped = transfers.begin(run.id);
        transfers.heed(|_| true);
        assert!(!is_stopped.load(Ordering::Relaxed));
        // Its run was given up, and then the coordinator's journal was put back and another run got its number.
        transfers.heed(|_| false);
        assert!(is_stopped.load(Ordering::Relaxed));
        assert!(transfers.put_off_clearing(run.id));
        assert!(transfers.put_off(run.id, || Next::Prepare(run.clone())));
        let next = Some(Next::Prepare(run.clone()));
        assert_eq!(transfers.answered(run.id), Answer::Late { is_to_be_cleared: true, next });
        // The other one's own thread.
        let is_stopped = transfers.begin(run.id);
        assert!(!is_stopped.load(Ordering::Relaxed));
        assert_eq!(transfers.answered(run.id), Answer::News);
    }

    #[test]
    fn what_was_put_off_for_a_run_that_is_given_up_too_is_not_done() {
        let run = Arc::new(run(1, Confinement::None));
        let mut transfers = Transfers::default();
        transfers.begin(run.id);
        assert!(transfers.put_off(run.id, || Next::Prepare(run.clone())));
        assert!(transfers.put_off_clearing(run.id));
        assert_eq!(transfers.answered(run.id), Answer::Late { is_to_be_cleared: true, next: None });
    }
}
