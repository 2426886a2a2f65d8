//! What the machines can do in a period, and the price up to which a recharge pays for it.
//!
//! **It follows from the machines and from what there is to do, planned or not**, and so is the same at every moment of a
//! batch.

use super::at_most;
use gleaner_units::Credits;

/// What the machines can do in a period, as far as a rule asks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Supply {
    /// No rule asks.
    Unasked,
    /// So many operations, above 0.
    Within(f64),
    /// At each price so many operations, from the cheapest on.
    AtPrices(Vec<(f64, f64)>),
}

/// The price of a batch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Going {
    /// All that is expected to begin at this price or below costs no more than the recharge.
    pub(crate) price: f64,
    /// The next higher price that any machine asks.
    pub(crate) next: f64,
    /// What an operation of that costs on average.
    pub(crate) average: f64,
    /// What it leaves of the recharge.
    pub(crate) surplus: f64,
}

impl Supply {
    /// Of operations at prices in no order.
    pub(crate) fn at_prices(mut ops: Vec<(f64, f64)>) -> Self {
        ops.sort_by(|one, other| one.0.total_cmp(&other.0));
        ops.dedup_by(|dearer, cheaper| {
            let is_same = dearer.0 == cheaper.0;
            if is_same {
                cheaper.1 += dearer.1;
            }
            is_same
        });
        Supply::AtPrices(ops)
    }

    /// The price where so many operations are to be done for a recharge. The cheapest machines are always paid for. Costs
    /// O(prices·log prices).
    pub(crate) fn going(&self, demand: f64, recharge: Credits) -> Going {
        let none = Going { price: f64::INFINITY, next: f64::INFINITY, average: 0.0, surplus: 0.0 };
        let Supply::AtPrices(prices) = self else { return none };
        let recharge = recharge.amount();
        // What more machines cost is no less: dearer ones take work from cheaper ones, or more is done.
        let (mut paid, mut dear) = (1, prices.len() + 1);
        while dear - paid > 1 {
            let middle = paid.midpoint(dear);
            let is_paid = cost(&prices[..middle], demand).0 <= at_most(recharge);
            (paid, dear) = if is_paid { (middle, dear) } else { (paid, middle) };
        }
        let Some(&(price, _)) = prices.get(paid - 1) else { return none };
        let (cost, ops) = cost(&prices[..paid], demand);
        let Some(&(next, _)) = prices.get(paid) else { return none };
        let average = if ops > 0.0 { cost / ops } else { 0.0 };
        Going { price, next, average, surplus: (recharge - cost).max(0.0) }
    }
}

/// What it costs to do the demand at these prices, the dearest first, or as much of it as can be done; and how much that is.
fn cost(prices: &[(f64, f64)], demand: f64) -> (f64, f64) {
    prices.iter().rev().fold((0.0, 0.0), |(cost, done), &(price, able)| {
        let ops = able.min(demand - done);
        (cost + price * ops, done + ops)
    })
}
