//! What each fact means to the ledger, but for decisions.

use super::{Agent, JoinPermit, Ledger, User, Wish};
use crate::journal::Fact;
use gleaner_core::Event;
use gleaner_policy::PolicySpec;
use gleaner_units::Time;
use gleaner_wire::Lineage;
use gleaner_wire::api::Quota;

impl Ledger {
    /// Takes in any fact but a decision.
    pub(super) fn write(&mut self, at: Time, fact: &Fact) {
        if matches!(fact, Fact::CoordinatorStarted { .. } | Fact::JournalRestored { .. }) {
            self.note_gap(at);
        }
        self.books.now = at;
        self.books.rows += 1;
        match fact {
            Fact::CoordinatorStarted { epoch, lineage, seed, policy, .. } => {
                self.started(at, (*epoch, *lineage), *seed, policy.as_ref());
            }
            Fact::JournalRestored { lineage } => self.books.lineages.restored(*lineage),
            Fact::CoordinatorSlept { length } => self.add_gap(at, *length),
            Fact::PolicySet { policy, .. } => self.set_policy(at, policy.clone()),
            Fact::PriceSet { agent, price, .. } => self.priced(at, *agent, *price),
            Fact::MachineOwnerSet { agent, owner, .. } => self.owner_set(at, *agent, owner.as_deref()),
            Fact::QuotaSet { user, quota, .. } => self.quota_set(at, user.as_deref(), *quota),
            Fact::UserAdded { user, token, role, expires, .. } => {
                let user = User { name: user.clone(), role: *role, expires: *expires };
                self.books.people.add(user, token.clone());
            }
            Fact::UserRemoved { user, .. } => self.books.people.remove(user),
            Fact::JoinTokenIssued { token, expires, uses, owner, .. } => {
                let permit = JoinPermit { expires: *expires, uses: *uses, owner: owner.clone() };
                self.books.people.issue(at, token.clone(), permit);
            }
            Fact::JoinTokenRemoved { token, .. } => self.books.people.withdraw(token),
            Fact::AgentEnrolled { agent, name, key, token, profile } => {
                let owner = self.books.people.joins(token.clone(), *agent);
                let agent_of = Agent { owner, ..Agent::new(name.clone(), key.clone(), profile.clone()) };
                self.enrolled(at, *agent, agent_of);
            }
            Fact::AgentRevoked { agent, .. } => self.revoked(at, *agent),
            Fact::AgentForgotten { agent, .. } => self.forgotten(at, *agent),
            Fact::SpeedDoubted { agent, share, why } => self.doubted(at, *agent, *share, why),
            Fact::AgentStarted { agent, incarnation, profile, brings } => {
                self.started_afresh(at, *agent, *incarnation, profile, brings);
            }
            Fact::MachineProfiled { agent, profile } => self.profiled(at, *agent, profile),
            Fact::LeaseExpired { agent } => self.given_up(at, *agent),
            Fact::AgentReturned { agent, brings } => {
                self.returned(at, *agent);
                self.await_brought(at, (*agent, brings));
            }
            Fact::MachineOpened { agent, open, why, by } => self.opened(at, *agent, *open, why, by),
            Fact::MachinePaused { agent, paused, by } => self.paused(at, *agent, *paused, by),
            Fact::OwnerLoadReported { agent, load, why } => self.load_reported(at, *agent, *load, why),
            Fact::JobSubmitted { job, user, spec, key, bytes, described } => {
                self.submitted(at, *job, user, spec, (key.as_deref(), *bytes, *described));
            }
            Fact::TasksCancelled(chosen) => self.wished(at, chosen, Wish::Cancel),
            Fact::TasksHeld(chosen) => self.wished(at, chosen, Wish::Hold),
            Fact::TasksReleased(chosen) => self.released(at, chosen),
            Fact::TasksRerun(chosen) => self.rerun(at, chosen),
            Fact::TasksRetired(tasks) => self.retire(at, tasks),
            Fact::TasksRevived(revived) => self.revive(at, revived),
            Fact::ResultsKept { job, keep, .. } => self.results_kept(*job, *keep),
            Fact::ResultsRemoved { jobs, kept_for } => self.results_removed(at, jobs, *kept_for),
            Fact::ResultsGone(jobs) => self.results_gone(jobs),
            Fact::JobsForgotten { jobs, described, .. } => self.jobs_forgotten(jobs, described),
            Fact::TasksRested(tasks) => self.rested(at, tasks),
            Fact::RunStarted(run) => self.run_started(at, *run),
            Fact::RunEnded { run, agent, end, answer, is_left } => {
                self.run_ended(at, (*run, *agent), end, (answer.as_deref(), *is_left));
            }
            Fact::ResultRefused { run, agent, end } => self.result_refused(at, *run, *agent, end),
            Fact::WokeUp { alarm } => self.tell(at, &Event::WokeUp { alarm: *alarm }),
            Fact::Decided { .. } | Fact::JournalCompacted { .. } => {}
        }
    }

    fn started(
        &mut self,
        at: Time,
        (epoch, lineage): (u32, Lineage),
        seed: u64,
        policy: Option<&PolicySpec>,
    ) {
        self.books.lineages.started(lineage, self.books.rows);
        if self.books.epoch == 0 {
            self.books.began = at;
        }
        self.books.epoch = epoch;
        self.tell(at, &Event::SeedDrawn(seed));
        match policy {
            Some(policy) => self.set_policy(at, policy.clone()),
            // A start knows only what the grid tells, and so does whoever decides again from the journal.
            None => self.scheduler.set_policy(self.recipe().build()),
        }
    }

    fn quota_set(&mut self, at: Time, user: Option<&str>, quota: Option<Quota>) {
        self.books.people.set_quota(user, quota);
        // A user of whom nothing was submitted yet is known by no number.
        let payer = user.map(|user| self.books.payers.get(user).copied());
        if payer != Some(None) {
            let cores = quota.or_else(|| user.is_none().then(Quota::default)).map(|quota| quota.cores);
            self.tell(at, &Event::CoresCapped { user: payer.flatten(), cores });
        }
    }

    fn set_policy(&mut self, at: Time, policy: PolicySpec) {
        let learnt = self.recipe().lengths.is_learnt();
        let rule = policy.rule();
        self.books.policy = policy;
        self.scheduler.set_rule(at, rule);
        self.note_orders();
        if learnt && !self.recipe().lengths.is_learnt() {
            self.forget_what_was_learnt_from(at);
        }
    }
}
