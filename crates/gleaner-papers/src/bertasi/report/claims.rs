//! Claims as tables, those about SOCIAL to the letter apart from the others.

use crate::Claim;
use crate::bertasi::claims::TO_THE_LETTER;
use crate::bertasi::{FigureId, Findings};
use crate::claim_tables::table;
use gleaner_report::{Block, Cell, Report, Table, Verdict};

/// Whatever the ties.
fn is_to_the_letter(claim: &Claim) -> bool {
    claim.reading.starts_with(TO_THE_LETTER)
}

/// How many claims of each figure have which verdict.
pub(super) fn summary(findings: &Findings) -> Table {
    let header = [
        "Figure",
        "Holds",
        "Partly",
        "Not",
        "Undecided",
        "Printed: holds",
        "Printed: partly",
        "Printed: not",
        "Printed: undecided",
    ];
    let table =
        Table::new("Verdicts by figure; on the right those of claims about SOCIAL as printed", header);
    findings.figures.iter().fold(table, |table, figure| {
        let claims = findings.claims_of(*figure);
        let mut cells = vec![Cell::text(title(*figure))];
        for to_the_letter in [false, true] {
            for verdict in Verdict::ALL {
                let counted =
                    claims.iter().filter(|c| is_to_the_letter(c) == to_the_letter && c.verdict() == verdict);
                cells.push(Cell::number(counted.count().to_string()));
            }
        }
        table.row(cells)
    })
}

fn title(figure: FigureId) -> &'static str {
    match figure {
        FigureId::One => "1: N and θ",
        FigureId::Two => "2: an owner returns",
        FigureId::Three => "3: 24 orders of arrival",
        FigureId::Four => "4: the same with four owners",
    }
}

/// The claims of a figure.
pub(super) fn section(report: Report, claims: &[Claim]) -> Report {
    let (printed, others): (Vec<&Claim>, Vec<&Claim>) =
        claims.iter().partition(|claim| is_to_the_letter(claim));
    report
        .with(Block::subheading("Claims"))
        .with(table("Claims, SOCIAL by execution times where the reading does not say otherwise", &others))
        .with(table("Claims, SOCIAL as printed", &printed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bertasi::claims::ties;
    use crate::bertasi::permutations::{ORDERS, TYING, VARIED, Variations};
    use crate::{Run, Trial, Trials};

    #[test]
    fn claims_about_ties_are_of_the_printed_reading() {
        let run = Run { makespan_s: 1.0, moves: 0, busy: 1.0, fairness: 1.0 };
        let trial = Trial { bound_s: 1.0, runs: vec![run; TYING.len()] };
        let nothing = || Trials::new(Vec::new(), vec![vec![Trial { bound_s: 1.0, runs: Vec::new() }]]);
        let variations = Variations {
            away: nothing(),
            with_owners: nothing(),
            ties: Trials::new(TYING.to_vec(), vec![vec![trial; 2]; ORDERS.len() * VARIED.len()]),
        };
        let claims: Vec<Claim> = ties::claims(&variations).collect();
        assert!(!claims.is_empty() && claims.iter().all(is_to_the_letter), "{claims:?}");
    }
}
