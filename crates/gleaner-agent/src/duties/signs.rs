//! What the owner wants, and what the coordinator is told of it.

use super::held::Stage;
use super::{Deed, Duties, Signal, Verdict};
use gleaner_units::Time;
use gleaner_wire::session::FromAgent;

impl Duties {
    pub(super) fn judged(&mut self, now: Time, verdict: Verdict) {
        if verdict == self.verdict {
            return;
        }
        let was_suspended = matches!(self.verdict, Verdict::Suspend(_));
        let is_suspended = matches!(verdict, Verdict::Suspend(_));
        self.verdict = verdict;
        if was_suspended != is_suspended {
            self.signal_all(now, if is_suspended { Signal::Freeze } else { Signal::Thaw });
        }
        self.tell_load();
        self.tell_open();
    }

    /// What is ending goes on: it has its grace, which nobody can use asleep.
    fn signal_all(&mut self, now: Time, signal: Signal) {
        for (attempt, held) in &mut self.runs {
            if !matches!(held.stage, Stage::Running) || held.ending.is_some() {
                continue;
            }
            if signal == Signal::Freeze {
                held.active.pause(now);
            } else {
                held.active.go(now);
            }
            self.deeds.push_back(Deed::Signal(*attempt, signal));
        }
    }

    pub(super) fn tell_load(&mut self) {
        let (load, why) = match &self.verdict {
            Verdict::Suspend(why) => (1.0, why.clone()),
            Verdict::Run | Verdict::NoNewTasks(_) => self.load.clone(),
        };
        self.send(FromAgent::OwnerLoad { load, why });
    }

    pub(super) fn tell_open(&mut self) {
        let (open, why) = match &self.verdict {
            _ if self.leaving.is_some() => (false, "the agent was told to leave".to_owned()),
            Verdict::Suspend(why) | Verdict::NoNewTasks(why) => (false, why.clone()),
            Verdict::Run if !self.is_opened => (false, "closed at the coordinator".to_owned()),
            Verdict::Run => (true, "nothing speaks against it".to_owned()),
        };
        self.send(FromAgent::Open { open, why });
    }
}
