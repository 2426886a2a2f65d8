//! Claims as tables, those about SOCIAL to the letter apart from the others.

use crate::Claim;
use crate::bertasi::{FigureId, Findings};
use crate::claim_tables::table;
use gleaner_report::{Block, Cell, Report, Table, Verdict};

fn is_to_the_letter(claim: &Claim) -> bool {
    claim.id.ends_with("-as-printed")
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
        .with(table("Claims, SOCIAL by execution times", &others))
        .with(table("The same with SOCIAL as printed", &printed))
}
