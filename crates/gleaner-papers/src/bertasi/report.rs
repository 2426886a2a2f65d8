//! The report for people, and all files that go with it.

mod cells;
mod claims;
mod figure_1;
mod figure_2;
mod permutations;
mod variations;

use super::claims::SUFFIXES;
use super::{FigureId, Findings, READINGS, drawn, plots, tables};
use crate::claim::tally;
use crate::claim_tables;
use crate::reading;
use gleaner_report::{Block, Report, Svg};

const NOTE: &str = "Each makespan stands beside its distance from a lower bound: no schedule whatever, with \
    relocation for nothing and full knowledge of all lengths, ends before it. Intervals hold the true mean with \
    95 % confidence (Student's t over the seeds); differences between schemes are taken seed by seed, since all \
    schemes are given the same tasks.\n\nEach claim has a rule that says when it holds and when in part. It is undecided \
    where the interval is not on one side of the rule's bounds. The rules' bounds follow the paper's words and were not changed once verdicts were seen. What is counted for shares of \
    permutations was changed once, from each run to the paper's own way, makespans averaged over the seeds; what the shares \
    are run by run still stands beside them. With five \
    seeds four verdicts became better by it and one worse. Their intervals were the jackknife's, which is not valid for shares; \
    now they reach from the permutations in which it is surely so to those in which it may be, each by its own interval over \
    the seeds. MIN-NUM's losses without its guard, figure 2's axes, fairness, balance and the late jobs of C3 were added \
    after the others.\n\nSOCIAL is judged \
    in three readings: by execution times, with a move's gain relative to the moved task's own term or to the whole sum, and \
    as printed. What sets them apart, and every other place where the paper leaves a choice, is at the end.";

impl Findings {
    /// Every file but `claims.json`: plots, runs as CSV, and last the report.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = self
            .plots()
            .into_iter()
            .map(|(name, svg)| (format!("{name}.svg"), svg.as_str().to_owned()))
            .collect();
        files.extend(self.tables().into_iter().map(|(name, text)| (format!("{name}.csv"), text)));
        files.push(("report.html".to_owned(), self.report().html()));
        files
    }

    fn plots(&self) -> Vec<(&'static str, Svg)> {
        let mut all = Vec::new();
        all.extend(self.figure_1.as_ref().map(|samples| ("figure-1", plots::figure_1(samples))));
        if let Some(samples) = &self.figure_2 {
            all.push(("figure-2", plots::figure_2(samples)));
            all.push(("figure-2-whole", plots::figure_2_whole(samples)));
        }
        if let Some(samples) = self.figure_3.as_ref().filter(|_| self.figures.contains(&FigureId::Three)) {
            all.push(("figure-3", plots::permutations(samples, "Figure 3: makespan by order of arrival")));
        }
        let title = "Figure 4: makespan by order of arrival, four owners back";
        all.extend(self.figure_4.as_ref().map(|samples| ("figure-4", plots::permutations(samples, title))));
        all
    }

    fn tables(&self) -> Vec<(&'static str, String)> {
        let mut all = Vec::new();
        all.extend(self.figure_1.as_ref().map(|samples| ("figure-1", tables::figure_1(samples))));
        all.extend(self.figure_2.as_ref().map(|samples| ("figure-2", tables::figure_2(samples))));
        all.extend(self.figure_3.as_ref().map(|samples| ("figure-3", tables::permutations(samples))));
        all.extend(self.figure_4.as_ref().map(|samples| ("figure-4", tables::permutations(samples))));
        if let Some(variations) = &self.variations {
            all.extend(
                ["variations", "variations-with-owners"].into_iter().zip(tables::variations(variations)),
            );
        }
        all
    }

    fn report(&self) -> Report {
        let mut report = Report::new("Bertasi et al.: a resource-driven allocation scheme, run again")
            .lead(self.lead())
            .with(claim_tables::by_statement(&self.claims(), &SUFFIXES))
            .with(Block::text(NOTE))
            .with(claims::summary(self));
        for figure in &self.figures {
            report = match figure {
                FigureId::One => figure_1::section(report, self),
                FigureId::Two => figure_2::section(report, self),
                FigureId::Three => permutations::figure_3(report, self),
                FigureId::Four => permutations::figure_4(report, self),
            };
        }
        if let Some(variations) = &self.variations {
            report = variations::section(report, variations);
        }
        drawn::section(report, self)
            .with(Block::heading("How the paper was read"))
            .with(reading::table(&READINGS))
    }

    fn lead(&self) -> String {
        let claims = self.claims();
        let figures = match self.figures.as_slice() {
            [one] => format!("Figure {}", one.number()),
            _ => "Figures 1 to 4".to_owned(),
        };
        format!(
            "{figures} of “A Novel Resource-Driven Job Allocation Scheme for Desktop Grid Environments”, simulated \
             with the seeds 1 to {}. {}.",
            self.seeds,
            tally(&claims)
        )
    }
}
