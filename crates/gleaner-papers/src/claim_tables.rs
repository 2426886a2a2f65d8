//! What the papers' reports share: claims as tables, estimates as cells, plots as files.

use crate::Claim;
use crate::statistics::Estimate;
use gleaner_report::{Cell, Svg, Table, numbers};

/// A row a claim: what the paper says, what was measured, how far it holds, and how the paper was read. Several may have the same
/// words, and none the same name.
pub(crate) fn table(caption: &str, claims: &[&Claim]) -> Table {
    let header = [
        "Name",
        "Claim",
        "Paper",
        "Measured",
        "95 % interval",
        "Verdict",
        "What was measured; when it holds",
        "Reading",
    ];
    claims.iter().fold(Table::new(caption, header), |table, claim| {
        let how = [Some(claim.quantity.clone()), claim.besides.clone(), Some(claim.criterion_in_words())];
        table.row([
            Cell::text(claim.id.clone()),
            Cell::text(claim.claim),
            Cell::text(claim.paper),
            Cell::number(claim.said()),
            Cell::number(claim.interval()),
            claim.verdict().into(),
            Cell::text(how.into_iter().flatten().map(|part| sentence(&part)).collect::<Vec<_>>().join(" ")),
            Cell::text(claim.reading),
        ])
    })
}

/// A row a statement, and in it the verdict of each reading; a reading's claims end in its suffix, the default's in none.
pub(crate) fn by_statement(claims: &[Claim], readings: &[(&str, &str)]) -> Table {
    let stem = |claim: &Claim| {
        let suffix = readings.iter().position(|(suffix, _)| claim.id.ends_with(suffix));
        let cut = suffix.map_or(0, |at| readings[at].0.len());
        (claim.id[..claim.id.len() - cut].to_owned(), suffix.map_or(0, |at| at + 1))
    };
    let mut rows: Vec<(String, Vec<Option<&Claim>>)> = Vec::new();
    for claim in claims {
        let (name, column) = stem(claim);
        let at = rows.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            rows.push((name, vec![None; readings.len() + 1]));
            rows.len() - 1
        });
        rows[at].1[column] = Some(claim);
    }
    let used = |column: usize| rows.iter().any(|(_, claims)| claims[column].is_some());
    let columns: Vec<usize> = (0..=readings.len()).filter(|&column| used(column)).collect();
    let heading = |&column: &usize| if column == 0 { "As read here" } else { readings[column - 1].1 };
    let header =
        ["Statement", "Claim", "Paper"].into_iter().chain(columns.iter().map(heading)).collect::<Vec<_>>();
    let caption =
        "What the paper states, a row each, and what came out in each reading, with its 95 % interval";
    rows.iter().fold(Table::new(caption, header), |table, (name, claims)| {
        let any = claims.iter().flatten().next().expect("a row has a claim");
        let cells = columns.iter().map(|&column| Cell::text(claims[column].map_or(String::new(), found)));
        let head = [Cell::text(any.claim), Cell::text(name.clone()), Cell::text(any.paper)];
        table.row(head.into_iter().chain(cells))
    })
}

/// `1.01 ± 0.04`, without a reach where one value alone leaves it open.
pub(crate) fn cell(estimate: Estimate, places: usize) -> Cell {
    let is_known = estimate.reach().is_finite();
    Cell::number(if is_known {
        estimate.with_reach(places)
    } else {
        numbers::decimals(estimate.mean, places)
    })
}

/// Plots by name and caption, each as a file.
pub(crate) fn files(plots: Vec<(&'static str, &'static str, Svg)>) -> Vec<(String, String)> {
    plots.into_iter().map(|(name, _, svg)| (format!("{name}.svg"), svg.as_str().to_owned())).collect()
}

fn found(claim: &Claim) -> String {
    format!("{}: {} ({})", claim.verdict().word(), claim.said(), claim.interval())
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Criterion;
    use crate::statistics::Estimate;
    use gleaner_report::Report;

    fn claim(id: &str, reading: &'static str) -> Claim {
        Claim {
            id: id.to_owned(),
            claim: "c",
            paper: "p",
            quantity: "q".to_owned(),
            besides: None,
            measured: Estimate::known(1.0),
            unit: "%",
            criterion: Criterion::Positive,
            condition: None,
            reading,
        }
    }

    #[test]
    fn claims_of_the_same_words_are_told_apart() {
        let claims =
            [claim("figure-1/a-june", "to the letter"), claim("figure-1/a-june-as-derived", "as derived")];
        let page = Report::new("r").with(table("t", &claims.each_ref())).html();
        for claim in &claims {
            for text in [claim.id.as_str(), claim.reading] {
                assert!(page.contains(&format!(">{text}<")), "{text}: {page}");
            }
        }
    }
}
