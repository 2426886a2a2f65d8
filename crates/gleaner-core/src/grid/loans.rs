//! Machines that change hands for a while: which are lent and to whom, which are borrowed and from whom, who wants some.
//!
//! **A lent machine has no run of ours**, and takes none until it is back. **A borrowed machine is a machine like any other**
//! while it is here, and out of reach before and after.

use super::favours::Favours;
use super::{Availability, Grid};
use crate::effects::Effects;
use crate::lending::{Lending, LendingEvent, LendingRefusal, Seek, Want};
use crate::{Cause, Change, Command, Refusal};
use gleaner_units::{MachineClassId, MachineId, PartyId, TaskClassId};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A machine of ours that a peer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loan {
    to: PartyId,
    /// Newer ones have higher numbers.
    number: u64,
    is_recalled: bool,
    /// It was closed meanwhile: so it is when it comes back.
    is_closed: bool,
}

impl Loan {
    /// Who has it.
    pub fn to(&self) -> PartyId {
        self.to
    }
}

/// What peers know that we want.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Asked {
    /// How many workers.
    pub workers: u32,
    /// Which of the workers on offer is wanted.
    pub seek: Seek,
    /// No peer has one to lend, as far as we heard since.
    pub in_vain: bool,
}

/// All of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Loans {
    lent: BTreeMap<MachineId, Loan>,
    /// The same by peer, those that are being taken back apart; newest last, no peer without any.
    held_by: BTreeMap<PartyId, BTreeSet<(u64, MachineId)>>,
    /// Every machine that was ever borrowed, and from whom where it is here.
    borrowed: BTreeMap<MachineId, Option<PartyId>>,
    wants: Vec<Want>,
    /// No class of which none are wanted.
    asked: BTreeMap<TaskClassId, Asked>,
    offers: Option<MachineClassId>,
    is_connected: bool,
    made: u64,
    recalled: usize,
    favours: Favours,
}

impl Loans {
    /// What peers did for us.
    pub fn favours(&self) -> &Favours {
        &self.favours
    }

    /// Who wants workers now, in the order in which they have waited for them.
    pub fn wants(&self) -> &[Want] {
        &self.wants
    }

    /// What peers know that we want for tasks of a class.
    pub fn asked(&self, class: TaskClassId) -> Asked {
        self.asked.get(&class).copied().unwrap_or_default()
    }

    /// The most powerful worker that peers think we lend.
    pub fn offers(&self) -> Option<MachineClassId> {
        self.offers
    }

    /// Whether who asks for workers is answered.
    pub fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Whether a machine belongs to a peer.
    #[inline]
    pub fn is_borrowed(&self, machine: MachineId) -> bool {
        !self.borrowed.is_empty() && self.borrowed.contains_key(&machine)
    }

    /// Whose a machine is that is here and belongs to a peer.
    #[inline]
    pub fn lender(&self, machine: MachineId) -> Option<PartyId> {
        if self.borrowed.is_empty() { None } else { self.borrowed.get(&machine).copied().flatten() }
    }

    /// How many machines are lent, those that are being taken back too.
    pub fn lent(&self) -> usize {
        self.lent.len()
    }

    /// How many machines are being taken back.
    pub fn recalled(&self) -> usize {
        self.recalled
    }

    /// The peers that have machines of ours, with those machines, the newest loan last.
    pub fn holders(&self) -> impl Iterator<Item = (PartyId, &BTreeSet<(u64, MachineId)>)> + '_ {
        self.held_by.iter().map(|(peer, machines)| (*peer, machines))
    }

    /// The machine that is taken back first, of those asked for: the newest loan of whoever holds most beyond the share that
    /// its favours earn, of several such the one with the newest loan. Costs O(peers that hold any, and their loans that are
    /// not asked for).
    pub fn first_to_recall(&self, wanted: impl Fn(MachineId) -> bool) -> Option<MachineId> {
        let all: usize = self.held_by.values().map(BTreeSet::len).sum();
        let owed: f64 = self.held_by.keys().map(|peer| self.favours.owed_to(*peer).seconds()).sum();
        let beyond = |peer: PartyId, count: usize| {
            let favours = self.favours.owed_to(peer).seconds();
            let share = if owed > 0.0 { favours / owed } else { 1.0 / self.held_by.len() as f64 };
            count as f64 - all as f64 * share
        };
        let newest = self.holders().filter_map(|(peer, loans)| {
            let &(number, machine) = loans.iter().rev().find(|(_, machine)| wanted(*machine))?;
            Some((beyond(peer, loans.len()), number, machine))
        });
        let first = newest.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        first.map(|(.., machine)| machine)
    }

    /// What is wanted: first by whom most is owed, if that counts; then by who has waited longest. Costs O(wants·log wants).
    pub fn in_order(&self, by_favours: bool) -> impl Iterator<Item = &Want> + '_ {
        let mut wants: Vec<&Want> = self.wants.iter().collect();
        if by_favours {
            wants.sort_by_key(|want| Reverse(self.favours.owed_to(want.by)));
        }
        wants.into_iter()
    }

    fn forget(&mut self, machine: MachineId) -> Option<Loan> {
        let loan = self.lent.remove(&machine)?;
        if loan.is_recalled {
            self.recalled -= 1;
        } else {
            self.release(machine, loan);
        }
        Some(loan)
    }

    fn release(&mut self, machine: MachineId, loan: Loan) {
        if let Some(held) = self.held_by.get_mut(&loan.to) {
            held.remove(&(loan.number, machine));
            if held.is_empty() {
                self.held_by.remove(&loan.to);
            }
        }
    }

    /// Whether both sides of each index tell the same.
    fn is_whole(&self) -> bool {
        let held = self.lent.iter().filter(|(_, loan)| !loan.is_recalled);
        let mut expected: BTreeMap<PartyId, BTreeSet<(u64, MachineId)>> = BTreeMap::new();
        for (&machine, loan) in held {
            expected.entry(loan.to).or_default().insert((loan.number, machine));
        }
        let own = self.lent.keys().all(|machine| !self.borrowed.contains_key(machine));
        let recalled = self.lent.values().filter(|loan| loan.is_recalled).count();
        own && expected == self.held_by && recalled == self.recalled
    }
}

impl Grid {
    /// What is lent, borrowed and wanted.
    #[inline]
    pub fn loans(&self) -> &Loans {
        &self.loans
    }

    /// How many machines are one's own. Costs O(1).
    pub fn own_machines(&self) -> usize {
        self.machines.len() - self.loans.borrowed.len()
    }

    pub(super) fn heard_of_peers(&mut self, event: &LendingEvent, effects: &mut Effects) {
        match *event {
            LendingEvent::Wanted(ref wants) => {
                self.loans.wants.clear();
                self.loans.wants.extend(wants.iter().filter(|want| want.workers > 0));
                effects.changes.push(Change::LoansChanged);
                self.ask(Cause::Wanted);
            }
            LendingEvent::NothingLent { class, seek } => {
                // What was asked for before is not what is asked for now.
                let asked = self.loans.asked.get_mut(&class);
                if let Some(asked) = asked.filter(|asked| asked.seek == seek) {
                    asked.in_vain = true;
                    effects.changes.push(Change::LoansChanged);
                }
                self.ask(Cause::NothingLent);
            }
            LendingEvent::Connected { is_connected } => {
                if self.loans.is_connected != is_connected {
                    self.loans.is_connected = is_connected;
                    effects.changes.push(Change::LoansChanged);
                    self.ask(Cause::NothingLent);
                }
            }
            LendingEvent::Borrowed { machine, class, from } => {
                self.borrowed(machine, class, from, effects);
            }
            LendingEvent::Returned { machine } => {
                if let Some(loan) = self.loans.forget(machine) {
                    let to = if loan.is_closed { Availability::Closed } else { Availability::Open };
                    self.set_availability(machine, to, effects);
                    if to == Availability::Open {
                        self.ask(Cause::Opened(machine));
                    }
                }
            }
            LendingEvent::FavourReceived { from, worth } => {
                self.loans.favours.received(from, worth);
                effects.changes.push(Change::LoansChanged);
            }
            LendingEvent::FavourDone { to, worth } => {
                self.loans.favours.done(to, worth);
                effects.changes.push(Change::LoansChanged);
            }
        }
    }

    fn borrowed(&mut self, id: MachineId, class: MachineClassId, from: PartyId, effects: &mut Effects) {
        if id.index() == self.machines.len() {
            self.loans.borrowed.insert(id, Some(from));
            self.joined(id, class, effects);
            return;
        }
        let known = self.loans.borrowed.get(&id).copied();
        assert_eq!(known, Some(None), "{id} is neither the next machine nor a borrowed one that went back");
        assert_eq!(self.machine(id).class(), class, "{id} is of another class");
        self.loans.borrowed.insert(id, Some(from));
        self.set_availability(id, Availability::Open, effects);
        self.ask(Cause::Joined(id));
    }

    /// A machine is out of reach: whoever had it has it no more.
    pub(super) fn lost_to_peers(&mut self, machine: MachineId) {
        self.loans.forget(machine);
        if let Some(from) = self.loans.borrowed.get_mut(&machine) {
            *from = None;
        }
    }

    /// A machine that is lent was closed or opened: that shows when it is back. Whether it is lent.
    pub(super) fn closed_while_lent(&mut self, machine: MachineId, is_closed: bool) -> bool {
        let Some(loan) = self.loans.lent.get_mut(&machine) else { return false };
        loan.is_closed = is_closed;
        true
    }

    /// Costs O(log machines), and O(wants) for what a peer wants.
    pub(super) fn lend(&mut self, wish: Lending, effects: &mut Effects) -> Result<(), Refusal> {
        match wish {
            Lending::Ask { class, workers, seek } => {
                let before = self.loans.asked(class);
                if before.workers == workers && (workers == 0 || before.seek == seek) {
                    return Err(LendingRefusal::NothingNew.into());
                }
                if workers == 0 {
                    self.loans.asked.remove(&class);
                } else {
                    self.loans.asked.insert(class, Asked { workers, seek, in_vain: false });
                }
            }
            Lending::Offer { best } => {
                if self.loans.offers == best {
                    return Err(LendingRefusal::NothingNew.into());
                }
                self.loans.offers = best;
            }
            Lending::Lend { machine, to } => self.lend_to(machine, to, effects)?,
            Lending::Refuse => {
                if self.loans.wants.is_empty() {
                    return Err(LendingRefusal::NothingNew.into());
                }
                self.loans.wants.clear();
            }
            Lending::Recall { machine } => {
                let loan = self.loans.lent.get_mut(&machine).filter(|loan| !loan.is_recalled);
                let loan = loan.ok_or(LendingRefusal::NotLent(machine))?;
                loan.is_recalled = true;
                let loan = *loan;
                self.loans.release(machine, loan);
                self.loans.recalled += 1;
            }
            Lending::GiveBack { machine } => {
                let is_here = self.loans.borrowed.get(&machine).is_some_and(Option::is_some);
                if !is_here {
                    return Err(LendingRefusal::NotBorrowed(machine).into());
                }
                if !self.is_idle(machine) {
                    return Err(LendingRefusal::NotIdle(machine).into());
                }
                self.loans.borrowed.insert(machine, None);
                self.set_availability(machine, Availability::Lost, effects);
            }
        }
        effects.changes.push(Change::LoansChanged);
        effects.orders.push(Command::Lending(wish));
        Ok(())
    }

    fn lend_to(&mut self, machine: MachineId, to: PartyId, effects: &mut Effects) -> Result<(), Refusal> {
        if self.loans.is_borrowed(machine) {
            return Err(LendingRefusal::NotOwn(machine).into());
        }
        if self.machine(machine).availability() != Availability::Open {
            return Err(Refusal::Closed(machine));
        }
        if !self.is_idle(machine) {
            return Err(LendingRefusal::NotIdle(machine).into());
        }
        let runs = |want: &Want| self.seconds_per_op(want.class, machine).is_finite();
        let wants = &self.loans.wants;
        let wanted = wants.iter().position(|want| want.by == to && runs(want));
        let wanted = wanted.ok_or(LendingRefusal::NotWanted(to))?;
        if self.loans.wants[wanted].seek != Seek::First {
            // Which is the most powerful one now is to be said anew.
            self.loans.offers = None;
        }
        self.loans.wants[wanted].workers -= 1;
        if self.loans.wants[wanted].workers == 0 {
            self.loans.wants.remove(wanted);
        }
        let loan = Loan { to, number: self.loans.made, is_recalled: false, is_closed: false };
        self.loans.made += 1;
        self.loans.lent.insert(machine, loan);
        self.loans.held_by.entry(to).or_default().insert((loan.number, machine));
        self.set_availability(machine, Availability::Lent, effects);
        Ok(())
    }

    /// Whether no run takes anything of a machine.
    fn is_idle(&self, machine: MachineId) -> bool {
        let machine = self.machine(machine);
        machine.count() == 0 && machine.stopping().is_empty()
    }

    /// What is lent is away and has no run; what is borrowed and not here is out of reach.
    pub(super) fn loans_are_whole(&self) -> bool {
        let mut machines = (0..self.machines.len()).map(MachineId::new);
        let fits = |id: MachineId| {
            let availability = self.machine(id).availability();
            let is_lent = self.loans.lent.contains_key(&id);
            let is_away = self.loans.borrowed.get(&id) == Some(&None);
            (availability == Availability::Lent) == is_lent
                && (!is_lent || self.is_idle(id))
                && (!is_away || availability == Availability::Lost)
        };
        machines.all(fits) && self.loans.is_whole()
    }
}
