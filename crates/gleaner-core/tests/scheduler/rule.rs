//! A change of the rule is one call: the policy, what may be spent, and how many machines have to agree.

use crate::plain::empty;
use crate::puppet::NOW;
use gleaner_core::{
    Accounts, Budget, Cause, Change, Charged, Checking, Decision, Grid, Occasion, Policy, Rule, Scheduler,
    Scope,
};
use gleaner_units::{Credits, Span, Time};

/// Wishes nothing, and notes what it hears.
#[derive(Clone, Default)]
struct Notes {
    rebuilt: u32,
    budgets: u32,
    asked: Vec<Cause>,
}

impl Policy for Notes {
    fn observe(&mut self, _: &Grid, change: &Change) {
        self.budgets += u32::from(matches!(change, Change::BudgetChanged));
    }

    fn propose(&mut self, _: &Grid, _: Time, occasion: Occasion) -> Option<Decision> {
        self.asked.push(occasion.cause);
        None
    }

    fn rebuild(&mut self, _: &Grid) {
        self.rebuilt += 1;
    }

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn the_policy_and_what_it_goes_by_change_together() {
    let mut scheduler = Scheduler::new(empty(), Notes::default());
    let budget = Budget {
        recharge: Credits::new(10),
        period: Span::from_nanos(1_000),
        charged: Charged::default(),
        scope: Scope::default(),
    };
    let checking = Checking { quorum: 2, most: 3, trust: None };
    // What is as it was is no news.
    for (budget, checking, news) in [
        (None, None, 0),
        (Some(budget), Some(checking), 1),
        (Some(budget), None, 0),
        (Some(Budget { recharge: Credits::new(20), ..budget }), None, 1),
        (None, Some(checking), 1),
    ] {
        scheduler.set_rule(NOW, Rule { policy: Notes::default(), budget, checking });
        scheduler.decide(NOW, &mut Vec::new());
        let grid = scheduler.grid();
        assert_eq!((grid.accounts().map(Accounts::budget), grid.checking()), (budget, checking));
        let Notes { rebuilt, budgets, asked } = scheduler.policy();
        assert_eq!((*rebuilt, *budgets, &asked[..]), (1, news, &[Cause::RuleChanged][..]));
        scheduler.check().expect("a whole grid");
    }
    scheduler.set_policy(Notes::default());
    assert!(!scheduler.is_asked(), "it is asked about nothing");
}
