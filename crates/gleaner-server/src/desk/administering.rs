//! What administrators order, and how machines are let in.

use super::Desk;
use super::admission::{Rejection, RejectionKind, check_name};
use super::agents::{FORGOTTEN, REVOKED};
use super::order::{Administration, Answer, NewUser, Requester};
use crate::journal::Fact;
use crate::ledger::User;
use crate::policy;
use gleaner_policy::PolicySpec;
use gleaner_units::{MachineId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{Actor, Enrolled, Enrolment, PolicyKeys, QuotaSetting, Role};
use gleaner_wire::limits::{AGENTS_MAX, PRICE_MAX, REASON_BYTES_MAX};
use gleaner_wire::meant::meant;
use gleaner_wire::session::ToAgent;
use gleaner_wire::text::{is_blank, tamed};
use std::collections::{BTreeSet, HashSet};

impl Desk {
    pub(super) fn enrol(
        &mut self,
        now: Time,
        token: &str,
        enrolment: Enrolment,
    ) -> Result<Answer, Rejection> {
        if let Some(known) = self.find_enrolled(token, &enrolment.key) {
            return Ok(known);
        }
        if !self.ledger.people().may_join(token, now) {
            let message =
                "this join token was used, has expired or was never issued; `gleaner token join` issues one";
            return Err(Rejection::of(RejectionKind::Forbidden, message));
        }
        if self.ledger.agents().len() >= AGENTS_MAX {
            return Err(Rejection::of(
                RejectionKind::Conflict,
                format!(
                    "this grid has had {AGENTS_MAX} machines, those that were forgotten included: have an administrator begin another \
                     one in an empty folder (`gleaner serve --home`)"
                ),
            ));
        }
        let Enrolment { name, key, profile, replace } = enrolment;
        check_name("a machine", &name)?;
        if replace {
            self.make_room_for(now, &name)?;
        }
        let name = self.free_name(name);
        let agent = MachineId::new(self.ledger.agents().len());
        let (token, named) = (token.to_owned(), name.clone());
        self.record(now, Fact::AgentEnrolled { agent, name: named, key, token, profile });
        Ok(Answer::Enrolled(Enrolled { version: VERSION, agent: agent.index() as u32, name }))
    }

    /// An agent that did not hear that it was enrolled asks again, with the same key and the same token.
    fn find_enrolled(&self, token: &str, key: &str) -> Option<Answer> {
        let joined = self.ledger.people().joined(token).iter();
        let &id = joined.copied().find(|&id| self.ledger.agent(id).key == key).as_ref()?;
        let name = self.ledger.agent(id).name.clone();
        Some(Answer::Enrolled(Enrolled { version: VERSION, agent: id.index() as u32, name }))
    }

    /// A machine that was set up anew takes its name back, unless its former self is still there.
    fn make_room_for(&mut self, now: Time, name: &str) -> Result<(), Rejection> {
        let Some(agent) = self.ledger.find_agent(name) else { return Ok(()) };
        if self.is_connected(agent) {
            let message =
                format!("the agent of {name} is connected, so it was not set up anew; end it first");
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        self.record(now, Fact::AgentForgotten { agent, by: Actor::Coordinator });
        Ok(())
    }

    /// The name, or the name with the first number that makes it unique.
    fn free_name(&self, name: String) -> String {
        let listed = self.ledger.agents().iter().filter(|agent| !agent.forgotten);
        let taken: HashSet<&str> =
            listed.map(|agent| agent.name.as_str()).filter(|taken| taken.starts_with(&name)).collect();
        if !taken.contains(name.as_str()) {
            return name;
        }
        let mut numbered = (2..).map(|number| format!("{name}-{number}"));
        numbered.find(|name| !taken.contains(name.as_str())).expect("there are more numbers than agents")
    }

    pub(super) fn administer(
        &mut self,
        now: Time,
        by: &Requester,
        order: Administration,
    ) -> Result<Answer, Rejection> {
        if by.role != Role::Admin {
            let message = "only an administrator of this grid may do that";
            return Err(Rejection::of(RejectionKind::Forbidden, message));
        }
        let by = by.actor();
        let fact = match order {
            Administration::SetPolicy(keys) => {
                self.with_policy(by, policy::asked(keys, self.ledger.policy())?)?
            }
            Administration::SetBudget(keys) => {
                self.with_policy(by, with_budget(self.ledger.policy(), keys)?)?
            }
            Administration::SetQuota(setting) => self.with_quota(by, setting)?,
            Administration::SetPrice { machine, price } => {
                if !(0.0..=PRICE_MAX).contains(&price) {
                    let expected = format!("credits for a million operations, from 0 to {PRICE_MAX:e}");
                    return Err(Rejection::invalid(format!("price is {price}; expected {expected}")));
                }
                Fact::PriceSet { agent: self.machine(&machine)?, price, by }
            }
            Administration::SetOwner { machine, owner } => {
                owner.as_deref().map_or(Ok(()), |owner| check_name("an owner", owner))?;
                Fact::MachineOwnerSet { agent: self.machine(&machine)?, owner, by }
            }
            Administration::SetOpen { machine, open, why } => {
                let agent = self.machine_not_revoked(&machine)?;
                let said = why.filter(|why| !is_blank(why));
                let said =
                    said.map_or_else(String::new, |why| format!(": {}", tamed(&why, REASON_BYTES_MAX)));
                let why = if open { String::new() } else { format!("closed by {by}{said}") };
                // The agent is not told: what it says of itself is its owner's wish alone.
                Fact::MachineOpened { agent, open, why, by }
            }
            Administration::SetPaused { machine, paused } => {
                let agent = self.machine_not_revoked(&machine)?;
                if self.ledger.agent(agent).paused_by.is_some() == paused {
                    return Ok(Answer::Done);
                }
                // An agent that is away hears of it when it is back.
                self.tell(agent, ToAgent::SetPaused { paused, by: by.to_string() });
                Fact::MachinePaused { agent, paused, by }
            }
            Administration::Measure(machine) => {
                let agent = self.connected_machine(&machine)?;
                self.tell(agent, ToAgent::Measure);
                return Ok(Answer::Done);
            }
            Administration::Revoke(machine) => {
                let agent = self.machine(&machine)?;
                if self.ledger.agent(agent).revoked {
                    return Ok(Answer::Done);
                }
                self.turn_away(now, &machine, REVOKED, |agent| Fact::AgentRevoked { agent, by })?;
                return Ok(Answer::Done);
            }
            Administration::Forget(machine) => {
                self.turn_away(now, &machine, FORGOTTEN, |agent| Fact::AgentForgotten { agent, by })?;
                return Ok(Answer::Done);
            }
            Administration::AddUser(newcomer) => return self.add_user(now, by, newcomer),
            Administration::RemoveUser(user) => {
                self.check_is_user(&user)?;
                self.check_administered_without(now, &user)?;
                Fact::UserRemoved { user, by }
            }
            Administration::IssueJoinToken { token, expires, uses, owner } => {
                owner.as_deref().map_or(Ok(()), |owner| check_name("an owner", owner))?;
                Fact::JoinTokenIssued { token, expires, uses, owner, by }
            }
            Administration::RemoveJoinToken(id) => {
                Fact::JoinTokenRemoved { token: self.join_token(now, &id)?, by }
            }
        };
        self.record(now, fact);
        Ok(Answer::Done)
    }

    fn with_policy(&self, by: Actor, policy: PolicySpec) -> Result<Fact, Rejection> {
        self.check_goes_on_comparing(&policy)?;
        Ok(Fact::PolicySet { policy, by })
    }

    fn with_quota(&self, by: Actor, QuotaSetting { user, quota }: QuotaSetting) -> Result<Fact, Rejection> {
        if let Some(user) = &user {
            self.expect_user(user)?;
        }
        // Nobody could take it back.
        if quota.is_some_and(|quota| quota.requests_per_s == 0) {
            return Err(Rejection::invalid("requests_per_s is 0; expected 1 or more"));
        }
        Ok(Fact::QuotaSet { user, quota, by })
    }

    fn add_user(&mut self, now: Time, by: Actor, newcomer: NewUser) -> Result<Answer, Rejection> {
        let NewUser { user, token, role, expires, again } = newcomer;
        check_name("a user", &user)?;
        let known = self.ledger.people().users().find(|known| known.name == user);
        let was = known.map(|known| known.role);
        if was.is_none() && !again {
            self.check_nobodys(&user)?;
        }
        let role = role.or(was).unwrap_or_default();
        // Nobody could administer once a token ends.
        if role != Role::Admin || expires.is_some() {
            self.check_administered_without(now, &user)?;
        }
        self.record(now, Fact::UserAdded { user, token, role, expires, was, by });
        Ok(Answer::UserAdded { role, was })
    }

    fn check_is_user(&self, user: &str) -> Result<(), Rejection> {
        let known = || self.ledger.people().users().map(|known| known.name.as_str());
        if known().any(|known| known == user) {
            return Ok(());
        }
        let meant = meant(user, known());
        let message = format!("no user is called \"{user}\"; see `gleaner user list`{meant}");
        Err(Rejection::of(RejectionKind::NotFound, message))
    }

    /// Jobs are their user's by name.
    fn check_nobodys(&self, user: &str) -> Result<(), Rejection> {
        if self.ledger.payer_of(user).is_none() {
            return Ok(());
        }
        let message = format!(
            "{user} was a user here before, and who gets this token gets at that user's jobs, files and quota: choose another name, \
             or say --again if it is the same person"
        );
        Err(Rejection::of(RejectionKind::Conflict, message))
    }

    /// The agent hears why, and its session ends.
    fn turn_away(
        &mut self,
        now: Time,
        machine: &str,
        why: &str,
        fact: impl FnOnce(MachineId) -> Fact,
    ) -> Result<(), Rejection> {
        let agent = self.machine(machine)?;
        self.record(now, fact(agent));
        self.tell(agent, ToAgent::Refused { why: why.to_owned(), for_good: true });
        if let Some(&session) = self.by_agent.get(&agent) {
            self.close(now, session);
        }
        Ok(())
    }

    /// The hash of the one good join token whose hash begins so.
    fn join_token(&self, now: Time, id: &str) -> Result<String, Rejection> {
        let mut found = self.ledger.people().join_tokens(now).filter(|(token, _)| token.starts_with(id));
        match (found.next(), found.next()) {
            (Some((token, _)), None) if !id.is_empty() => Ok(token.clone()),
            _ => {
                let message = format!("no join token is called \"{id}\"; see `gleaner token list`");
                Err(Rejection::of(RejectionKind::NotFound, message))
            }
        }
    }

    /// Somebody has to be left who can let others in.
    fn check_administered_without(&self, now: Time, user: &str) -> Result<(), Rejection> {
        let admins = || self.ledger.people().users().filter(|known| known.role == Role::Admin);
        let is_left = |known: &User| known.name != user && known.is_let_in(now);
        if admins().any(|known| known.name == user) && !admins().any(is_left) {
            let message = format!("{user} is the only administrator whose token is good; make another first");
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        Ok(())
    }

    /// What is told and not recorded has to have someone who hears it.
    fn connected_machine(&self, name: &str) -> Result<MachineId, Rejection> {
        let agent = self.machine_not_revoked(name)?;
        let message = || format!("{name} is not connected; try again when it is, see `gleaner machines`");
        let is_connected = self.is_connected(agent);
        is_connected.then_some(agent).ok_or_else(|| Rejection::of(RejectionKind::Conflict, message()))
    }

    /// Whoever may sign in, or submitted anything.
    pub fn expect_user(&self, name: &str) -> Result<(), Rejection> {
        let people = self.ledger.people().users().map(|user| user.name.as_str());
        let known: BTreeSet<&str> =
            people.chain(self.ledger.payers().map(|(user, _)| user.as_str())).collect();
        if known.contains(name) {
            return Ok(());
        }
        let message = format!(
            "no user is called \"{name}\"; see `gleaner user list`{}",
            meant(name, known.iter().copied())
        );
        Err(Rejection::of(RejectionKind::NotFound, message))
    }

    fn machine_not_revoked(&self, name: &str) -> Result<MachineId, Rejection> {
        let agent = self.machine(name)?;
        if self.ledger.agent(agent).revoked {
            let message = format!("{name} was revoked: no task will ever start there");
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        Ok(agent)
    }

    fn machine(&self, name: &str) -> Result<MachineId, Rejection> {
        let listed = self.ledger.agents().iter().filter(|agent| !agent.forgotten);
        let known = || listed.clone().map(|agent| agent.name.as_str());
        let message =
            || format!("no machine is called \"{name}\"; see `gleaner machines`{}", meant(name, known()));
        self.ledger.find_agent(name).ok_or_else(|| Rejection::of(RejectionKind::NotFound, message()))
    }
}

/// The policy in force with another budget, or without one.
fn with_budget(in_force: &PolicySpec, keys: Option<PolicyKeys>) -> Result<PolicySpec, Rejection> {
    let is_none = keys.is_none();
    policy::with_budget(in_force, keys).map_err(|error| {
        if !is_none {
            let mut refusal = Rejection::from(error.clone());
            if error.key == "relocate" {
                refusal.message += "; `gleaner policy set --set relocate=none` first";
            }
            return refusal;
        }
        Rejection::invalid(format!(
            "{} spends a budget and cannot go on without one; choose another policy first, as `gleaner policy set \
             bertasi/greedy`",
            in_force.name()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{Start, Terms};
    use crate::journal::Entry;
    use crate::ledger::Ledger;
    use gleaner_wire::Lineage;
    use gleaner_wire::session::Profile;

    #[test]
    fn so_many_agents_join_and_no_more() {
        let (mut ledger, profile) = (Ledger::new(), Profile::new([1.0; 3], 1));
        let issued = Fact::JoinTokenIssued {
            token: "t".to_owned(),
            expires: Time::NEVER,
            uses: u32::MAX,
            owner: None,
            by: Actor::Coordinator,
        };
        ledger.apply(&Entry { at: Time::ZERO, fact: issued });
        for number in 1..AGENTS_MAX {
            let (name, token, profile) = (format!("m{number}"), "t".to_owned(), profile.clone());
            let agent = MachineId::new(number - 1);
            let fact = Fact::AgentEnrolled { agent, key: name.clone(), name, token, profile };
            ledger.apply(&Entry { at: Time::ZERO, fact });
        }
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let mut desk = Desk::new(ledger, Terms::default(), Time::ZERO, start);
        let mut join = |name: &str| {
            let (name, key, profile) = (name.to_owned(), name.to_owned(), profile.clone());
            desk.enrol(Time::ZERO, "t", Enrolment { name, key, profile, replace: false })
        };
        join("last").expect("one more has a place");
        let refusal = join("beyond").expect_err("one too many");
        assert!(refusal.message.contains(&AGENTS_MAX.to_string()), "{}", refusal.message);
    }
}
