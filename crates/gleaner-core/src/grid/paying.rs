//! What running costs, and who pays for it.

use super::{Account, Accounts, Budget, Grid, Scope, Sum};
use crate::effects::Effects;
use crate::{Cause, Change, Part, Refusal};
use gleaner_units::{Credits, MachineClassId, MachineId, OpsTotal, TaskClassId, TaskId, Time, UserId};

impl Grid {
    /// What a task costs on machines of a class; nothing is known where they have a price and it has no length.
    pub fn cost(&self, id: TaskId, on: MachineClassId) -> Option<Credits> {
        let price = self.classes.machine_class(on).price;
        if price == 0.0 { Some(Credits::ZERO) } else { Some(Credits::cost(self.declared_length(id)?, price)) }
    }

    /// Whether what a task costs on machines of a class can be paid now.
    pub fn can_pay(&self, now: Time, id: TaskId, on: MachineClassId) -> bool {
        let Some(account) = self.account_of(self.task(id).class) else { return true };
        self.cost(id, on).is_some_and(|cost| account.can_start(now, id, cost))
    }

    /// Whether what a task costs on machines of a class can be paid in some period, if nothing changes.
    pub fn could_pay(&self, id: TaskId, on: MachineClassId) -> bool {
        let Some(account) = self.account_of(self.task(id).class) else { return true };
        self.cost(id, on).is_some_and(|cost| account.could_start(id, cost))
    }

    /// The budget as it is used, if there is one.
    pub fn accounts(&self) -> Option<&Accounts> {
        self.accounts.as_ref()
    }

    /// The account that tasks of that class are paid from, if there is a budget.
    pub fn account_of(&self, class: TaskClassId) -> Option<&Account> {
        let payer = self.classes.demand(class).payer;
        self.accounts.as_ref().map(|accounts| accounts.of(payer))
    }

    /// How long the tasks that wait are together, as far as it was declared, of those that are paid from the same
    /// account as a class. Costs O(users) where that is all.
    pub fn waiting_ops(&self, class: TaskClassId) -> OpsTotal {
        let scope = self.accounts.as_ref().map_or(Scope::Shared, |accounts| accounts.budget().scope);
        match scope {
            Scope::Shared => self.waiting_ops.sum(),
            Scope::PerUser => {
                let payer = self.classes.demand(class).payer;
                self.waiting_ops.of(payer)
            }
        }
    }

    pub(super) fn payer(&self, id: TaskId) -> UserId {
        self.classes.demand(self.task(id).class).payer
    }

    /// What a task costs, with its length.
    pub(super) fn bill(&self, task: TaskId, on: MachineClassId) -> Result<Sum, Refusal> {
        let cost = self.cost(task, on).ok_or(Refusal::NoLength(task))?;
        Ok(Sum::of(self.declared_length(task), cost))
    }

    /// Takes what a task costs on a machine, instead of what was taken for it so far.
    pub(super) fn pay(&mut self, now: Time, id: TaskId, on: MachineId) -> Result<(), Refusal> {
        if self.accounts.is_none() {
            return Ok(());
        }
        let (payer, bill) = (self.payer(id), self.bill(id, self.machine(on).class())?);
        let paid =
            self.accounts.as_mut().map_or(Ok(()), |accounts| accounts.of_mut(payer).start(now, id, bill));
        paid.map_err(|left| Refusal::TooDear { task: id, cost: bill.credits, left })
    }

    /// Likewise of a run in several parts: to each machine falls what its cores are of all.
    pub(super) fn pay_for_parts(&mut self, now: Time, id: TaskId, parts: &[Part]) -> Result<(), Refusal> {
        if self.accounts.is_none() {
            return Ok(());
        }
        let cores = f64::from(self.needs(self.task(id).class).cores);
        let price = |part: &Part| self.class_of(part.on).price * f64::from(part.cores) / cores;
        let price: f64 = parts.iter().map(price).sum();
        let length = self.declared_length(id);
        let cost = match length {
            _ if price == 0.0 => Credits::ZERO,
            Some(length) => Credits::cost(length, price),
            None => return Err(Refusal::NoLength(id)),
        };
        let (payer, bill) = (self.payer(id), Sum::of(length, cost));
        let paid =
            self.accounts.as_mut().map_or(Ok(()), |accounts| accounts.of_mut(payer).start(now, id, bill));
        paid.map_err(|left| Refusal::TooDear { task: id, cost, left })
    }

    /// Nothing was to be paid for the task after all.
    pub(super) fn give_back(&mut self, now: Time, id: TaskId) {
        let payer = self.payer(id);
        if let Some(accounts) = &mut self.accounts {
            accounts.of_mut(payer).give_back(now, id);
        }
    }

    pub(super) fn budget_set(&mut self, now: Time, budget: Option<Budget>, effects: &mut Effects) {
        match (&mut self.accounts, budget) {
            (Some(accounts), Some(budget)) => accounts.set_budget(now, budget),
            (accounts, budget) => *accounts = budget.map(Accounts::new),
        }
        effects.changes.push(Change::BudgetChanged);
        if self.has_waiting() {
            self.ask(Cause::RuleChanged);
        }
    }
}
