//! Claims as tables of a report.

use crate::Claim;
use gleaner_report::{Cell, Table};

/// A row a claim: what the paper says, what was measured, and how far it holds.
pub(crate) fn table(caption: &str, claims: &[&Claim]) -> Table {
    let header =
        ["Claim", "Paper", "Measured", "95 % interval", "Verdict", "What was measured; when it holds"];
    claims.iter().fold(Table::new(caption, header), |table, claim| {
        let how = [Some(claim.quantity.clone()), claim.besides.clone(), Some(claim.rule_in_words())];
        table.row([
            Cell::text(claim.claim),
            Cell::text(claim.paper),
            Cell::number(claim.said()),
            Cell::number(claim.interval()),
            claim.verdict().into(),
            Cell::text(how.into_iter().flatten().map(|part| sentence(&part)).collect::<Vec<_>>().join(" ")),
        ])
    })
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
