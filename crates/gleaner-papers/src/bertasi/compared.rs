//! What was tried beside the paper's figures: rules on the same inputs, each against one of them, seed by seed.

use crate::statistics::Estimate;
use crate::{Stopped, Watch};
use gleaner_report::{Block, Cell, Report, Table, numbers};
use rayon::prelude::*;
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
    /// The rule that it is held against.
    pub against: String,
    /// How much longer it takes than that with the same inputs, relative to it.
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

/// Runs every rule on every seed's inputs, on all cores: measures by rule, then by seed.
pub(super) fn measured<R: Sync>(
    rules: &[R],
    seeds: u64,
    watch: Watch<'_>,
    run: impl Fn(&R, u64) -> Measure + Sync,
) -> Result<Vec<Vec<Measure>>, Stopped> {
    let inputs: Vec<(usize, u64)> =
        (0..rules.len()).flat_map(|rule| (1..=seeds).map(move |seed| (rule, seed))).collect();
    let one = |(rule, seed): (usize, u64)| {
        let measure = run(&rules[rule], seed);
        if watch().is_break() { Err(Stopped) } else { Ok(measure) }
    };
    let all: Result<Vec<Measure>, Stopped> = inputs.into_par_iter().map(one).collect();
    Ok(all?.chunks(seeds as usize).map(<[Measure]>::to_vec).collect())
}

/// What came of one run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measure {
    pub(super) makespan_s: f64,
    /// One for each column.
    pub(super) more: Vec<f64>,
}

impl Compared {
    /// From the measures of each rule by seed, and the place of the rule that it is held against.
    pub(super) fn of(
        part: &'static str,
        about: String,
        columns: Vec<&'static str>,
        rules: &[(String, usize, Vec<Measure>)],
    ) -> Self {
        let row = |(rule, against, runs): &(String, usize, Vec<Measure>)| {
            let (other, _, others) = &rules[*against];
            let pairs = runs.iter().zip(others);
            let excess: Vec<f64> =
                pairs.map(|(run, other)| run.makespan_s / other.makespan_s - 1.0).collect();
            let excess = Estimate::of(&excess);
            let mean = |of: &dyn Fn(&Measure) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
            Row {
                rule: rule.clone(),
                against: other.clone(),
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
            seeds: rules[0].2.len() as u64,
            rows: rules.iter().map(row).collect(),
            columns,
        }
    }

    fn heading(&self) -> Vec<String> {
        let first = ["rule", "makespan (s)", "longer than", "by (%)", "95 % interval"];
        first.into_iter().chain(self.columns.iter().copied()).map(str::to_owned).collect()
    }

    fn cells(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.rows.iter().map(|row| {
            let percent = |part: f64| numbers::decimals(100.0 * part, 2);
            let interval = format!("{} to {}", percent(row.excess_low), percent(row.excess_high));
            let against = if row.rule == row.against { "–".to_owned() } else { row.against.clone() };
            let makespan = numbers::decimals(row.makespan_s, 0);
            let first = [row.rule.clone(), makespan, against, percent(row.excess), interval];
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
        let mut csv = "rule,makespan_s,against,excess,excess_low,excess_high".to_owned();
        self.columns.iter().for_each(|column| csv.extend([",", &column.replace(' ', "_")]));
        csv.push('\n');
        for row in &self.rows {
            let Row { rule, against, makespan_s, .. } = row;
            let numbers = [row.excess, row.excess_low, row.excess_high];
            let numbers = numbers.iter().chain(&row.more).map(|number| format!(",{number}"));
            let numbers = numbers.collect::<String>();
            writeln!(csv, "\"{rule}\",{makespan_s},\"{against}\"{numbers}").expect("a string takes all");
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
