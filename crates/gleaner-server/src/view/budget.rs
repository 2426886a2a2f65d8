//! The budget as users see it.

use crate::desk::{Desk, Requester};
use crate::ledger::Ledger;
use gleaner_core::{Account, Scope};
use gleaner_units::{Time, UserId};
use gleaner_wire::VERSION;
use gleaner_wire::api::{AccountView, BudgetView, PolicyKeys};

/// The budget, and what became of it in the period that is running. Where each user has one: of who asks, or for an administrator of all.
/// Costs O(those).
pub fn budget(desk: &Desk, by: &Requester, now: Time) -> BudgetView {
    let ledger = desk.ledger();
    let accounts = ledger.grid().accounts();
    BudgetView {
        version: VERSION,
        budget: budget_keys(ledger),
        heeded: accounts.is_some(),
        next_recharge_s: accounts.map(|accounts| accounts.budget().next_recharge(now).seconds()),
        accounts: accounts_of(ledger, by, now),
    }
}

/// As it was set.
fn budget_keys(ledger: &Ledger) -> Option<PolicyKeys> {
    let keys = ledger.policy().tree().get("budget")?.as_object()?;
    Some(PolicyKeys(keys.clone()))
}

fn accounts_of(ledger: &Ledger, by: &Requester, now: Time) -> Vec<AccountView> {
    let Some(accounts) = ledger.grid().accounts() else { return Vec::new() };
    match accounts.budget().scope {
        Scope::Shared => vec![account(None, accounts.of(UserId::default()), now)],
        Scope::PerUser => {
            let of = |(name, payer): (&String, UserId)| account(Some(name.clone()), accounts.of(payer), now);
            if by.role.sees_all() {
                ledger.payers().map(of).collect()
            } else {
                ledger.payer_of(&by.user).map(of).into_iter().collect()
            }
        }
    }
}

fn account(user: Option<String>, account: &Account, now: Time) -> AccountView {
    AccountView {
        user,
        spent: account.spent(now).count(),
        held: account.held().count(),
        left: account.left(now).count(),
        paid: account.paid().count(),
    }
}
