//! What is written of the experiments.

use super::experiments::{Findings, Pair};
use super::table_2::Cell;
use super::{claims, drawn, plots};
use crate::claim::tally;
use crate::{Document, claim_tables};
use gleaner_report::{Block, Figure, Report};
use std::fmt::Write as _;

impl Findings {
    /// The claims as the contract has them.
    pub fn document(&self) -> Document {
        Document { version: 1, paper: "dasilva", seeds: self.seeds, claims: claims::claims(self) }
    }

    /// Every file but `claims.json`.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut csv =
            "peers,months,band,reading,seed,traditional_s,greedy_s,improvement_percent,traditional_deviation,greedy_deviation\n".to_owned();
        for case in &self.cases {
            for (pair, seed) in case.pairs.iter().zip(1..) {
                let Cell { peers, months, band, .. } = case.cell;
                let Pair { traditional, greedy, deviations: [one, other] } = pair;
                let (band, reading, gain) = (band.name(), case.reading.name, pair.improvement());
                writeln!(
                    csv,
                    "{peers},{months},{band},{reading},{seed},{traditional},{greedy},{gain},{one},{other}"
                )
                .expect("a string takes all");
            }
        }
        let claims = claims::claims(self);
        let report = Report::new("Da Silva and Nesmachnow: peers that lend each other workers, run again")
            .lead(format!(
                "Both rules on the same instances, of the seeds 1 to {}. {}. Improvement is the mean response of a job under \
                 the traditional rule over that under the greedy one, less 1. What the paper leaves open was fixed in \
                 docs/dasilva.md before anything was compared.",
                self.seeds,
                tally(&claims)
            ))
            .with(Block::heading("Claims"))
            .with(claim_tables::table("The paper's statements", &claims.iter().collect::<Vec<_>>()));
        let mut files = vec![("instances.csv".to_owned(), csv)];
        let mut report = report.with(Block::heading("Figures"));
        for (name, caption, svg) in plots::all(self) {
            files.push((format!("{name}.svg"), svg.to_string()));
            report = report.with(Figure::new(caption, svg));
        }
        files.push(("report.html".to_owned(), drawn::section(report).html()));
        files
    }
}
