//! The report for people.

use super::case::Group;
use super::claims::{self, PAIRS, improvement_of_table};
use super::findings::{Findings, Metric, Outcome};
use super::readings::READINGS;
use super::{MRS, TABLE, drawn, markdown, plots};
use crate::claim::tally;
use crate::reading;
use crate::statistics::Estimate;
use crate::{Claim, Document, claim_tables};
use gleaner_report::{Block, Cell, Figure, Report, Table, numbers};

const NOTE: &str = "All rules are given the same sites and jobs. Improvements are of means over seeds, in per cent of the other's, \
    and positive where a rule is better; intervals are the jackknife's, with 95 % confidence. A claim about a number holds from \
    half of the paper's on, and in part if the sign is the paper's. A share of the sweep is given from the points at which it is surely so, by \
    the whole interval there, to those at which it may be. The scenario was fixed before anything was compared.";

impl Findings {
    /// The claims, judged.
    pub fn claims(&self) -> Vec<Claim> {
        claims::claims(self)
    }

    /// The claims as the contract has them.
    pub fn document(&self) -> Document {
        Document { version: 1, paper: "khoo", seeds: self.seeds(), claims: self.claims() }
    }

    /// Every file but `claims.json`: plots, runs as CSV, the tables of `docs/khoo.md`, and last the report.
    pub fn files(&self) -> Vec<(String, String)> {
        let plots = plots::all(self).into_iter();
        let mut files: Vec<(String, String)> =
            plots.map(|(name, _, svg)| (format!("{name}.svg"), svg.as_str().to_owned())).collect();
        files.push(("simulations.csv".to_owned(), self.csv()));
        files.push(("scenario.toml".to_owned(), super::SCENARIO.to_owned()));
        files.push(("tables.md".to_owned(), markdown::tables(self)));
        files.push(("report.html".to_owned(), self.report().html()));
        files
    }

    fn report(&self) -> Report {
        let claims = self.claims();
        let lead = format!(
            "“A Co-ordinate Based Resource Allocation Strategy for Grid Environments”, table I simulated with the seeds 1 to {}. {}.",
            self.seeds(),
            tally(&claims)
        );
        let report = Report::new("Khoo et al.: MRS, run again")
            .lead(lead)
            .with(Block::text(NOTE))
            .with(Block::heading("Claims"))
            .with(claim_tables::table("The paper's statements", &claims.iter().collect::<Vec<_>>()));
        let report = plots::all(self)
            .into_iter()
            .fold(report, |report, (_, caption, svg)| report.with(Block::from(Figure::new(caption, svg))));
        let report = drawn::section(report).with(Block::heading("Numbers"));
        let tables = [self.base().map(|base| table_1(self, base)), Some(readings(self)), parts(self)];
        let report = tables.into_iter().flatten().fold(report, Report::with);
        report.with(Block::heading("How the paper was read")).with(reading::table(&READINGS))
    }
}

/// `1.01 ± 0.04`.
fn cell(estimate: Estimate, places: usize) -> Cell {
    Cell::number(estimate.with_reach(places))
}

fn row(findings: &Findings, case: usize, rule: &str) -> [Cell; 9] {
    let of = |of: &dyn Fn(&Outcome) -> f64, places| cell(findings.estimate(case, rule, of), places);
    [
        of(&|outcome| outcome.wait_s, 0),
        of(&|outcome| outcome.completion_s, 0),
        of(&|outcome| 100.0 * outcome.use_share, 1),
        of(&|outcome| 100.0 * outcome.compute_share, 1),
        of(&|outcome| outcome.response_s, 0),
        of(&|outcome| outcome.wide_wait_s, 0),
        of(&|outcome| outcome.narrow_wait_s, 0),
        of(&|outcome| outcome.parts, 2),
        of(&|outcome| 100.0 * outcome.wasted / outcome.held, 1),
    ]
}

const COLUMNS: [&str; 9] = [
    "AWT (s)",
    "QCT (s)",
    "AGU (%)",
    "computing (%)",
    "response (s)",
    "AWT, wide (s)",
    "AWT, narrow (s)",
    "sites a job",
    "waste (%)",
];

fn table_1(findings: &Findings, base: usize) -> Block {
    let header = ["Rule", "Paper: AWT, QCT, AGU"].into_iter().chain(COLUMNS);
    let mut table = Table::new(
        "Table I, ± the 95 % interval. Wide jobs take more than a twentieth of all processors",
        header,
    );
    let (_, case) = findings.cases(Group::Base).next().expect("the base was run");
    for (rule, _) in &case.rules {
        let paper = TABLE
            .iter()
            .find(|(name, _)| name == rule)
            .map_or(String::new(), |(_, [wait, completion, used])| {
                format!("{wait:.0}, {completion:.0}, {used:.1}")
            });
        let cells = [Cell::text(*rule), Cell::text(paper)];
        table = table.row(cells.into_iter().chain(row(findings, base, rule)));
    }
    table.into()
}

fn readings(findings: &Findings) -> Block {
    let columns = PAIRS.iter().flat_map(|(rule, other)| {
        Metric::OF_TABLE.map(|metric| format!("{rule} on {other}, {} (%)", metric.name()))
    });
    let header = std::iter::once("Reading".to_owned()).chain(columns);
    let paper = PAIRS.iter().flat_map(|pair| {
        Metric::OF_TABLE.map(|metric| Cell::number(numbers::decimals(improvement_of_table(*pair, metric), 1)))
    });
    let table = Table::new("Improvements by reading, ± the 95 % interval", header);
    let table = table.row(std::iter::once(Cell::text("the paper")).chain(paper));
    let cases = findings.cases(Group::Base).chain(findings.cases(Group::Reading));
    let table = cases.fold(table, |table, (index, case)| {
        let cells = PAIRS.iter().flat_map(|(rule, other)| {
            Metric::OF_TABLE.map(|metric| cell(findings.improvement(index, other, rule, metric), 1))
        });
        table.row(std::iter::once(Cell::text(case.name.clone())).chain(cells))
    });
    table.into()
}

fn parts(findings: &Findings) -> Option<Block> {
    let (index, case) = findings.cases(Group::Parts).next()?;
    let header = ["Rule", "AWT, better than MRS (%)"].into_iter().chain(COLUMNS);
    let table =
        Table::new("What each part of MRS is worth, and what is beside it, ± the 95 % interval", header);
    let table = case.rules.iter().fold(table, |table, (rule, _)| {
        let better = cell(findings.improvement(index, MRS, rule, Metric::Wait), 1);
        table.row([Cell::text(*rule), better].into_iter().chain(row(findings, index, rule)))
    });
    Some(table.into())
}
