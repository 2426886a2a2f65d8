//! What was tried beside the paper's figures: rules on the same inputs, each against one of them, seed by seed.

use crate::statistics::Estimate;
use crate::{Stopped, Watch};
use gleaner_report::{Block, Cell, Report, Table, numbers};
use serde::Serialize;
use std::fmt::Write as _;

/// Rules beside each other.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// Of this document.
    pub version: u32,
    /// The paper's short name.
    pub paper: &'static str,
    /// What was asked for.
    pub part: &'static str,
    /// What was run, in a sentence or two.
    pub about: String,
    /// The seeds 1 to this.
    pub seeds: u64,
    /// The rule that all are held against: the first row.
    pub against: String,
    /// What else was measured.
    pub columns: Vec<&'static str>,
    /// One for each rule.
    pub rows: Vec<Row>,
}

/// A rule, and how it did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// In words.
    pub rule: String,
    /// The mean over the seeds.
    pub makespan_s: f64,
    /// How much longer it takes than the first rule with the same inputs, relative to that.
    pub excess: f64,
    /// The lower end of the 95 % interval.
    pub excess_low: f64,
    /// Its upper end.
    pub excess_high: f64,
    /// Means, one for each column.
    pub more: Vec<f64>,
}

/// An experiment with so many seeds.
pub type Conduct = fn(u64, Watch<'_>) -> Result<Compared, Stopped>;

/// What came of one run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measure {
    pub(super) makespan_s: f64,
    /// One for each column.
    pub(super) more: Vec<f64>,
}

impl Compared {
    /// From the measures of each rule, by seed; the first rule is what the others are held against.
    pub(super) fn of(
        part: &'static str,
        about: String,
        columns: Vec<&'static str>,
        rules: &[(String, Vec<Measure>)],
    ) -> Self {
        let first: Vec<f64> = rules[0].1.iter().map(|run| run.makespan_s).collect();
        let row = |(rule, runs): &(String, Vec<Measure>)| {
            let pairs = runs.iter().zip(&first);
            let excess: Vec<f64> = pairs.map(|(run, first)| run.makespan_s / first - 1.0).collect();
            let excess = Estimate::of(&excess);
            let mean = |of: &dyn Fn(&Measure) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
            Row {
                rule: rule.clone(),
                makespan_s: mean(&|run| run.makespan_s),
                excess: excess.mean,
                excess_low: excess.low,
                excess_high: excess.high,
                more: (0..columns.len()).map(|column| mean(&|run| run.more[column])).collect(),
            }
        };
        Self {
            version: 1,
            paper: "bertasi",
            part,
            about,
            seeds: first.len() as u64,
            against: rules[0].0.clone(),
            rows: rules.iter().map(row).collect(),
            columns,
        }
    }

    fn heading(&self) -> Vec<String> {
        let first = ["rule", "makespan (s)", "above the first (%)", "95 % interval"];
        first.into_iter().chain(self.columns.iter().copied()).map(str::to_owned).collect()
    }

    fn cells(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.rows.iter().map(|row| {
            let percent = |part: f64| numbers::decimals(100.0 * part, 2);
            let interval = format!("{} to {}", percent(row.excess_low), percent(row.excess_high));
            let first =
                [row.rule.clone(), numbers::decimals(row.makespan_s, 0), percent(row.excess), interval];
            first.into_iter().chain(row.more.iter().map(|more| numbers::decimals(*more, 2))).collect()
        })
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let rows: Vec<Vec<String>> = [self.heading()].into_iter().chain(self.cells()).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        let mut text = format!("{} {} seeds, in pairs.\n\n", self.about, self.seeds);
        for row in &rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())
                .expect("a string takes all");
        }
        text
    }

    /// Every file but the document: a table and a report.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut csv = "rule,makespan_s,excess,excess_low,excess_high".to_owned();
        self.columns.iter().for_each(|column| csv.extend([",", &column.replace(' ', "_")]));
        csv.push('\n');
        for row in &self.rows {
            let numbers = [row.makespan_s, row.excess, row.excess_low, row.excess_high];
            let numbers = numbers.iter().chain(&row.more).map(|number| format!(",{number}"));
            writeln!(csv, "\"{}\"{}", row.rule, numbers.collect::<String>()).expect("a string takes all");
        }
        let table = self.cells().fold(Table::new("Rules beside each other", self.heading()), |table, row| {
            let mut cells = row.into_iter();
            let first = cells.next().map(Cell::text);
            table.row(first.into_iter().chain(cells.map(Cell::number)))
        });
        let report = Report::new(format!("Bertasi et al., beside the figures: {}", self.part))
            .lead(format!("{} {} seeds, in pairs.", self.about, self.seeds))
            .with(Block::heading("What came out"))
            .with(table);
        vec![(format!("{}.csv", self.part), csv), ("report.html".to_owned(), report.html())]
    }
}
