//! Facts about agents and their machines.

use super::{Agent, Ledger, Loss, Step, Verdict};
use crate::store::TaskRange;
use gleaner_core::{Event, Owner, Run, RunEnd, Stage};
use gleaner_units::{MachineId, RunId, Time};
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::session::Profile;
use std::collections::BTreeSet;

impl Ledger {
    /// It is part of the grid at once, and lost until it connects.
    pub(super) fn enrolled(&mut self, at: Time, id: MachineId, agent: Agent) {
        assert_eq!(id.index(), self.books.agents.len(), "{id} is not the next agent");
        let owner = agent.owner.clone();
        self.books.agents.push(agent);
        let tells_apart = self.note_ad(id);
        let class = self.class_of(at, id);
        self.tell(at, &Event::MachineJoined { machine: id, class });
        if let Some(owner) = owner {
            let owner = Some(self.owner_called(&owner));
            self.tell(at, &Event::MachineOwned { machine: id, owner });
        }
        self.tell(at, &Event::MachineLost { machine: id });
        if tells_apart {
            self.classify_all(at);
        }
    }

    /// Under which number the scheduler knows an owner.
    fn owner_called(&mut self, name: &str) -> Owner {
        let next = self.books.owners.len() as u32;
        Owner(*self.books.owners.entry(name.to_owned()).or_insert(next))
    }

    /// What waits for an answer of somebody else may be given to other machines now than before.
    pub(super) fn owner_set(&mut self, at: Time, id: MachineId, name: Option<&str>) {
        self.books.agents[id.index()].owner = name.map(str::to_owned);
        let owner = name.map(|name| self.owner_called(name));
        self.tell(at, &Event::MachineOwned { machine: id, owner });
        self.tell(at, &Event::RuleChanged);
    }

    /// What ran there before has ended, and nothing more is heard of it but of what is brought.
    pub(super) fn started_afresh(
        &mut self,
        at: Time,
        id: MachineId,
        incarnation: u64,
        profile: &Profile,
        brings: &[RunId],
    ) {
        let mut vanished = self.steps_of_a_loss(id, Loss::Restart);
        let silent = self.take_silent(id);
        vanished.extend(silent.into_iter().map(|run| (run, Step::Lost(Loss::Restart))));
        let brought: BTreeSet<RunId> = brings.iter().copied().collect();
        vanished.retain(|(run, _)| !brought.contains(run));
        for (run, _) in &vanished {
            self.vanished(at, (*run, id));
        }
        self.lost(id, vanished);
        self.books.agents[id.index()].incarnation = Some(incarnation);
        self.profiled(at, id, profile);
        self.returned(at, id);
        let is_given_up =
            |run: &RunId| self.grid().find_run(*run).is_some_and(|run| run.stage() == Stage::Missing);
        let given_up: Vec<RunId> = brings.iter().copied().filter(is_given_up).collect();
        self.await_brought(at, (id, &given_up));
    }

    /// The runs that had begun on a machine when its lease ended, and of which nothing was heard since.
    fn take_silent(&mut self, id: MachineId) -> Vec<RunId> {
        let mut silent = std::mem::take(&mut self.books.agents[id.index()].silent);
        let is_missing = |run: &Run| run.stage() == Stage::Missing;
        silent.retain(|run| !self.is_retired(run.task) && self.grid().find_run(*run).is_some_and(is_missing));
        silent
    }

    /// The agent that had a run is another now. One that had begun, and was the only one of its task, may have ended it. Where others are
    /// asked for the same task, that is what one machine says of it, and those that run say nothing of this one.
    fn vanished(&mut self, at: Time, (run, on): (RunId, MachineId)) {
        let task = run.task;
        let is_compared = self.is_compared(run);
        let had_begun = {
            let mut runs = self.grid().runs_of(task).filter(|known| known.stage() != Stage::Missing);
            runs.all(|known| if known.id() == run { known.stage() == Stage::Running } else { is_compared })
        };
        let (before, quorum) = (self.left_by(task), self.quorum_of(task));
        let verdict = if had_begun { self.books.records.own(task).vanished((on, quorum)) } else { None };
        let (verdict, end) = match verdict {
            Some(Verdict::GivenUp) => self.gave_up((run, on)),
            verdict => (verdict, RunEnd::Lost),
        };
        let (now, phase) =
            (self.left_by(task), verdict.and_then(|verdict| self.record(task).over_by(verdict)));
        if now != before {
            self.replace_bytes(self.job_of(task).0, before, now);
        }
        if let Some(phase) = phase {
            return self.finish(at, run, phase, end);
        }
        self.tell(at, &Event::RunEnded { run, end });
        self.after_a_run(at, task);
        if let Some(Verdict::AgainAfter(rest)) = verdict {
            self.rest(at, task, at + rest);
        }
    }

    /// Its lease ended: whatever it has of ours it must have ended too, but a result may still come.
    pub(super) fn given_up(&mut self, at: Time, id: MachineId) {
        let had_begun = self.live_on(id).filter(|run| run.stage() == Stage::Running);
        let had_begun = had_begun.map(Run::id).collect::<Vec<_>>();
        let mut silent = self.take_silent(id);
        silent.extend(had_begun);
        self.books.agents[id.index()].lost = true;
        self.books.agents[id.index()].load = 0.0;
        self.books.agents[id.index()].silent = silent;
        let held = self.grid().machine(id).runs().filter(|&run| self.find_live(run, id).is_none());
        let held = held.map(|run| (run, Step::TargetLost)).collect::<Vec<_>>();
        let given_up = self.steps_of_a_loss(id, Loss::Silence);
        self.tell(at, &Event::MachineLost { machine: id });
        for (run, _) in &given_up {
            self.after_a_run(at, run.task);
        }
        self.lost(id, given_up.into_iter().chain(held));
        self.reconsider_elsewhere(at);
    }

    /// What an agent has, which it has no more.
    fn steps_of_a_loss(&self, id: MachineId, loss: Loss) -> Vec<(RunId, Step)> {
        self.live_on(id).map(|run| (run.id(), Step::Lost(loss))).collect()
    }

    fn lost(&mut self, id: MachineId, runs: impl IntoIterator<Item = (RunId, Step)>) {
        for (run, step) in runs {
            self.tell_step(TaskRange::one(run.task), Some((run, id)), step);
        }
    }

    pub(super) fn returned(&mut self, at: Time, id: MachineId) {
        if std::mem::take(&mut self.books.agents[id.index()].lost) {
            self.tell(at, &Event::MachineReturned { machine: id });
            if !self.agent(id).open {
                self.tell(at, &Event::MachineClosed { machine: id });
            }
        }
    }

    pub(super) fn profiled(&mut self, at: Time, id: MachineId, profile: &Profile) {
        if self.agent(id).profile == *profile {
            return;
        }
        let tells_apart = self.with_ad_changed(id, |ledger| {
            let agent = &mut ledger.books.agents[id.index()];
            agent.shown.said(agent.profile.speeds, profile.speeds);
            agent.profile = profile.clone();
        });
        self.classify(at, id);
        if tells_apart {
            self.classify_all(at);
        }
    }

    /// What its tasks show is less than what it says, or not any more.
    pub(super) fn doubted(&mut self, at: Time, id: MachineId, share: f64, why: &str) {
        self.books.agents[id.index()].shown.doubt(share, why);
        self.classify(at, id);
    }

    /// The share of its speeds with which a machine should be counted, if that is another than it is.
    pub(crate) fn due_share(&self, id: MachineId) -> Option<f64> {
        let shown = &self.agent(id).shown;
        let due = shown.due_share();
        (due != shown.share()).then_some(due)
    }

    /// What it costs from now on; what runs there was paid for already.
    pub(super) fn priced(&mut self, at: Time, id: MachineId, price: f64) {
        self.books.agents[id.index()].price = price;
        self.classify(at, id);
    }

    /// What it has of ours goes on until it hears of it or its lease ends; nothing new starts there.
    pub(super) fn revoked(&mut self, at: Time, id: MachineId) {
        let agent = &mut self.books.agents[id.index()];
        (agent.revoked, agent.open) = (true, false);
        self.tell(at, &Event::MachineClosed { machine: id });
        self.reconsider_elsewhere(at);
    }

    /// As good as revoked, and listed no more.
    pub(super) fn forgotten(&mut self, at: Time, id: MachineId) {
        self.books.agents[id.index()].forgotten = true;
        self.revoked(at, id);
    }

    /// Owner and administrator each have a say: it is open where neither wants it closed.
    pub(super) fn opened(&mut self, at: Time, id: MachineId, open: bool, why: &str, by: &Actor) {
        let agent = &mut self.books.agents[id.index()];
        // What is open needs no reason.
        let why = (!open && !why.is_empty()).then(|| why.to_owned());
        let since = (!open).then_some(at);
        match by {
            Actor::Agent(_) => {
                if open || !agent.closed_by_owner {
                    agent.closed_since.owner = since;
                }
                (agent.closed_by_owner, agent.why) = (!open, why);
            }
            Actor::User(_) | Actor::Coordinator => {
                if open || !agent.closed_by_order || agent.why_by_order != why {
                    agent.closed_since.order = since;
                }
                (agent.closed_by_order, agent.why_by_order) = (!open, why);
            }
        }
        if open {
            agent.not_started = 0;
        }
        self.open_or_close(at, id);
    }

    /// What runs there stands still once its agent hears of it; nothing new is given to it from now on.
    pub(super) fn paused(&mut self, at: Time, id: MachineId, paused: bool, by: &Actor) {
        let agent = &mut self.books.agents[id.index()];
        let by = paused.then(|| by.clone());
        if agent.paused_by != by {
            (agent.paused_by, agent.closed_since.pause) = (by, paused.then_some(at));
        }
        self.open_or_close(at, id);
    }

    fn open_or_close(&mut self, at: Time, id: MachineId) {
        let agent = &mut self.books.agents[id.index()];
        agent.open = agent.may_be_open();
        if agent.open {
            self.tell(at, &Event::MachineOpened { machine: id });
        } else {
            self.tell(at, &Event::MachineClosed { machine: id });
            self.reconsider_elsewhere(at);
        }
    }

    /// A load of 1 means that what runs there stands still.
    pub(super) fn load_reported(&mut self, at: Time, id: MachineId, load: f64, why: &str) {
        let agent = &mut self.books.agents[id.index()];
        agent.load = load;
        // What was measured says nothing of why a machine is closed.
        if agent.is_suspended() || agent.open {
            agent.why = (!why.is_empty()).then(|| why.to_owned());
        }
        let here = if agent.is_suspended() { TaskPhase::Suspended } else { TaskPhase::Running };
        let runs: Vec<RunId> = self.live_on(id).map(Run::id).collect();
        for run in runs {
            if matches!(self.record(run.task).phase, TaskPhase::Running | TaskPhase::Suspended) {
                self.enter(at, run.task, self.standing(run.task).unwrap_or(here));
                self.tell_step(TaskRange::one(run.task), Some((run, id)), Step::OwnerCame);
            }
        }
        self.tell(at, &Event::OwnerLoadReported { machine: id, load });
    }
}
