//! The report for people, and all files that go with it.

use super::case::{Case, Variant, Work};
use super::experiments::{Findings, Part, TTLS, corners, slow};
use super::readings::READINGS;
use super::rule::Rule;

use super::{ages, claims, drawn, plots, standings};
use crate::claim::tally;
use crate::claim_tables::{self, cell};
use crate::reading;
use crate::{Claim, Document};
use gleaner_report::{Block, Cell, Figure, Report, Table, numbers};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const NOTE: &str = "All rules of a seed are given the same jobs and the same sites. Intervals hold the true mean over seeds \
    with 95 % confidence (Student's t). Network, sites, files and everything else that the paper leaves open were chosen, and \
    the rules that judge claims were written, before the first comparison; docs/cavalieri.md has the choices with their \
    reasons. One rule was changed after that: what is to be better by a few per cent is so in part only above 0.";

impl Findings {
    /// The claims of the parts asked for, judged.
    pub fn claims(&self) -> Vec<Claim> {
        claims::claims(self)
    }

    /// The claims as the contract has them.
    pub fn document(&self) -> Document {
        Document { version: 1, paper: "cavalieri", seeds: self.seeds(), claims: self.claims() }
    }

    /// Every file but `claims.json`: plots, lifetimes as CSV, and last the report.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = claim_tables::files(plots::all(self));
        files.push(("lifetimes.csv".to_owned(), self.csv()));
        files.push(("report.html".to_owned(), self.report().html()));
        files
    }

    fn csv(&self) -> String {
        let mut text = "work,inter_s,ttl_s,brokers,variant,rule,seed,lifetime_s\n".to_owned();
        // Parts may have runs in common.
        let mut seen = BTreeSet::new();
        for (case, rule, lives) in self.all() {
            for (seed, life) in (1..).zip(lives) {
                let Case { work, inter_s, brokers, variant, .. } = case;
                let [work, variant, rule] =
                    [work.name(), variant.name(), &rule.name()].map(|name| name.replace(", ", " "));
                let ttl_s = case.ttl_s();
                let run = format!("{work},{inter_s},{ttl_s},{brokers},{variant},{rule},{seed}");
                if seen.insert(run.clone()) {
                    writeln!(text, "{run},{life:.3}").expect("a string takes all");
                }
            }
        }
        text
    }

    fn report(&self) -> Report {
        let claims = self.claims();
        let report = Report::new("Cavalieri et al.: brokering over an index that is out of date, run again")
            .lead(self.lead(&claims))
            .with(Block::text(NOTE))
            .with(Block::heading("Claims"))
            .with(claim_tables::table(
                "The paper's statements, and two sketches'",
                &claims.iter().collect::<Vec<_>>(),
            ));
        let plots = plots::all(self).into_iter();
        let report = plots
            .fold(report, |report, (_, caption, svg)| report.with(Block::from(Figure::new(caption, svg))));
        let mut tables = Vec::new();
        if self.has(Part::Figures) {
            let works = [Work::Balanced, Work::Unbalanced, Work::Heavy, Work::HeavyScaled];
            let figures = self.only(Part::Figures);
            tables.extend(works.map(|work| figure(&figures, work)));
        }
        if self.has(Part::Readings) {
            tables.push(variants(&self.only(Part::Readings)));
        }
        if self.has(Part::Ages) {
            let of_ages = self.only(Part::Ages);
            tables.push(rules_compared(&of_ages));
            tables.extend(
                ages::WORKS
                    .iter()
                    .flat_map(|work| ages::BROKERS.map(|brokers| by_age(&of_ages, *work, brokers))),
            );
        }
        let report = drawn::section(report).with(Block::heading("Numbers"));
        let report = tables.into_iter().fold(report, Report::with);
        report.with(Block::heading("How the paper was read")).with(reading::table(&READINGS))
    }

    fn lead(&self, claims: &[Claim]) -> String {
        format!(
            "“Proposing and Evaluating Allocation Algorithms in a Grid Environment”, simulated with the seeds 1 to {}. {}.",
            self.seeds(),
            tally(claims)
        )
    }
}

/// The two new rules' gains.
fn gains(findings: &Findings, case: Case) -> [Cell; 2] {
    [Rule::DETERMINISTIC, Rule::STOCHASTIC].map(|rule| cell(findings.gain(&[case], rule, Rule::CURRENT), 1))
}

fn figure(findings: &Findings, work: Work) -> Table {
    let mut header = vec![
        "Interarrival (s)",
        "Current (s)",
        "Deterministic (s)",
        "Stochastic (s)",
        "Deterministic (%)",
        "Stochastic (%)",
    ];
    if !work.is_light() {
        header.push("Stochastic, slow update (s)");
    }
    let table = Table::new(format!("Lifetimes and improvements: {}", work.name()), header);
    work.loads_s().iter().fold(table, |table, load| {
        let case = Case::of(work, *load);
        let lives = Rule::FIGURES.map(|rule| cell(findings.life(case, rule), 0));
        let slow = (!work.is_light()).then(|| cell(findings.life(slow(case), Rule::STOCHASTIC), 0));
        let head = Cell::number(numbers::decimals(*load, 0));
        table.row(std::iter::once(head).chain(lives).chain(gains(findings, case)).chain(slow))
    })
}

/// What hangs on each reading.
fn variants(findings: &Findings) -> Table {
    let header =
        ["Jobs", "Reading", "Interarrival (s)", "Current (s)", "Deterministic (%)", "Stochastic (%)"];
    let mut table =
        Table::new("Improvements under other readings, at both ends and the middle of the figures", header);
    for work in [Work::Balanced, Work::Unbalanced, Work::HeavyScaled] {
        let others = Variant::ALL.map(|variant| (variant.name().to_owned(), variant, work.ttl()));
        let ttls = TTLS.into_iter().filter(|_| work.is_light());
        let ttls = ttls.map(|ttl| (format!("index {ttl:?}").to_lowercase(), Variant::None, ttl));
        for (name, variant, ttl) in others.into_iter().chain(ttls) {
            for load in corners(work) {
                let case = Case::of(work, load).but(variant).with_ttl(ttl);
                let head =
                    [Cell::text(work.name()), Cell::text(&*name), Cell::number(numbers::decimals(load, 0))];
                let current = cell(findings.life(case, Rule::CURRENT), 0);
                table = table.row(head.into_iter().chain([current]).chain(gains(findings, case)));
            }
        }
    }
    table
}

fn rules_compared(findings: &Findings) -> Table {
    let header = ["Rule", "Beaten in", "Above the best, mean (%)", "At worst (%)"];
    let caption = format!(
        "Every choice and belief over {} settings: age of the index, jobs, brokers",
        ages::cases().len()
    );
    standings::all(findings).into_iter().fold(Table::new(caption, header), |table, standing| {
        table.row([
            Cell::text(standing.rule.name()),
            Cell::number(standing.beaten.to_string()),
            Cell::number(numbers::decimals(standing.mean, 1)),
            Cell::number(numbers::decimals(standing.worst, 1)),
        ])
    })
}

fn by_age(findings: &Findings, work: (Work, f64), brokers: u32) -> Table {
    let header = std::iter::once("Rule".to_owned()).chain(ages::AGES.iter().map(|age| format!("{age}")));
    let caption = format!(
        "Lifetimes (s) by the time to live of the index in interarrival times: {}, {} s, brokers: {brokers}",
        work.0.name(),
        work.1
    );
    ages::rules().into_iter().fold(Table::new(caption, header), |table, rule| {
        let lives = ages::row(work, brokers).map(|case| cell(findings.life(case, rule), 0));
        table.row(std::iter::once(Cell::text(rule.name())).chain(lives))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parts_have_in_common_is_written_once() {
        let text = Findings::made().csv();
        let runs: Vec<&str> =
            text.lines().skip(1).filter_map(|line| Some(line.rsplit_once(',')?.0)).collect();
        assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), runs.len());
        // The figure has one rule that the ages have not, and a third seed of the other two.
        assert_eq!(runs.len(), ages::cases().len() * ages::rules().len() * 2 + 3 + 2);
    }
}
