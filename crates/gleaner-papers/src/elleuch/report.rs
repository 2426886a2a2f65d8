//! The report for people.

mod cells;
mod rules;
mod traces;

use super::case::{Case, Heuristic, Month, Part, Rule, Variant};
use super::experiments;
use super::findings::Findings;
use super::readings::READINGS;
use super::{claims, drawn, plots, tables};
use crate::claim::tally;
use crate::claim_tables::{self, cell};
use crate::reading;
use crate::statistics::Estimate;
use crate::{Claim, Document};
use cells::budget;
use gleaner_report::{Block, Cell, Figure, Report, Table, numbers};

const NOTE: &str = "Every version is given the same tasks and meets the same machines. Intervals hold the true mean \
    over patterns of arrivals with 95 % confidence (Student's t). Each claim has a rule that says when it holds and \
    when in part; it is undecided where the interval is not on one side of the rule's bounds, or runs were given up. The \
    rules and the budgets were fixed before anything was simulated. The machines and line 9 were read anew once, after \
    that; the readings of before stand beside those of now, and claims that were missing were added then.";

impl Findings {
    /// The claims of the parts asked for, judged.
    pub fn claims(&self) -> Vec<Claim> {
        claims::claims(self)
    }

    /// The claims as the contract has them.
    pub fn document(&self) -> Document {
        Document { version: 1, paper: "elleuch", seeds: self.seeds(), claims: self.claims() }
    }

    /// Every file but `claims.json`: plots, runs as CSV, and last the report.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = claim_tables::files(plots::all(self));
        files.push(("simulations.csv".to_owned(), tables::simulations(self)));
        files.push(("report.html".to_owned(), self.report().html()));
        files
    }

    pub(super) fn report(&self) -> Report {
        let report = Report::new("Elleuch et al.: scheduling within a budget, run again")
            .lead(self.lead())
            .with(claim_tables::by_statement(&self.claims(), &claims::SUFFIXES))
            .with(Block::text(NOTE))
            .with(Block::heading("Claims"))
            .with(claim_tables::table("The paper's statements", &self.claims().iter().collect::<Vec<_>>()));
        let report = plots::all(self)
            .into_iter()
            .fold(report, |report, (_, caption, svg)| report.with(Block::from(Figure::new(caption, svg))));
        let tables = [
            self.has(Part::Figures).then(|| figures(self, Heuristic::MinMin)),
            self.has(Part::Heuristics).then(|| figures(self, Heuristic::MaxMin)),
            self.has(Part::Heuristics).then(|| figures(self, Heuristic::Sufferage)),
            self.has(Part::Readings).then(|| readings_compared(self)),
            self.has(Part::Machines).then(|| machines_compared(self)),
            self.has(Part::Recommended).then(|| rules::recommended(self)),
            self.has(Part::Stays).then(|| stays_compared(self)),
            self.has(Part::FutureWork).then(|| forecasts(self)),
            self.has(Part::FutureWork).then(|| demand_prices(self)),
            self.has(Part::FutureWork).then(|| reputation(self)),
        ];
        let report = if self.has(Part::Figures) {
            rules::tables(self)
                .into_iter()
                .fold(report.with(Block::heading("All rules at all budgets")), Report::with)
        } else {
            report
        };
        let report = drawn::section(report).with(Block::heading("The machines")).with(traces::table());
        let report = report.with(Block::heading("Numbers"));
        let report = tables.into_iter().flatten().fold(report, Report::with);
        report.with(Block::heading("How the paper was read")).with(reading::table(&READINGS))
    }

    fn lead(&self) -> String {
        format!(
            "“Dynamic Scheduling of Independent Tasks with a Budget Constraint on a Desktop Grid”, simulated with the \
             arrival patterns of the seeds 1 to {}, {} days each. {}.",
            self.seeds(),
            self.days(),
            tally(&self.claims())
        )
    }
}

/// A row's numbers: makespan in days, normalized, use, aborts, credits a period, tasks that were never done. All but the last are of
/// the patterns that came to their end: of a run that was given up nobody knows them.
fn numbers_of(findings: &Findings, case: Case) -> [Cell; 6] {
    let ended = findings.ended(case);
    let over = |of: &dyn Fn(usize) -> f64, places: usize| {
        let values: Vec<f64> = ended.iter().map(|seed| of(*seed)).collect();
        if values.is_empty() { Cell::text("–") } else { cell(Estimate::of(&values), places) }
    };
    let unfinished: usize = findings.outcomes()[&case].iter().map(|outcome| outcome.unfinished).sum();
    let periods = |seed| findings.outcome(case, seed).makespan_s / f64::from(case.variant.period_s());
    [
        over(&|seed| findings.outcome(case, seed).makespan_s / 86_400.0, 2),
        rules::outcome(findings, case),
        over(&|seed| 100.0 * findings.outcome(case, seed).use_share, 1),
        over(&|seed| findings.outcome(case, seed).aborts as f64, 0),
        over(&|seed| findings.outcome(case, seed).paid / periods(seed) / 1e11, 2),
        Cell::number(numbers::grouped(unfinished as u64)),
    ]
}

const NUMBERS: [&str; 6] =
    ["Makespan (d)", "Normalized", "Use (%)", "Aborts", "Spent in a period (10¹¹)", "Not done, all patterns"];

fn figures(findings: &Findings, heuristic: Heuristic) -> Block {
    let header = ["Version", "Month", "Budget (10¹¹)"].into_iter().chain(NUMBERS);
    let caption = format!(
        "{} by version, month and budget, ± the 95 % interval, of the patterns that came to their end",
        heuristic.name()
    );
    let mut table = Table::new(caption, header);
    for month in Month::ALL {
        let budgets = findings.budgets(month, heuristic);
        let budgeted = Rule::ALL_BUDGETED.into_iter().flat_map(|rule| {
            budgets.iter().map(move |budget| Case::min_min(month, rule, *budget).by(heuristic))
        });
        let mut cases = vec![Case::free(month, heuristic)];
        cases
            .extend(budgeted.flat_map(|case| case.readings().iter().map(move |reading| case.read(*reading))));
        for case in cases {
            let cells = [Cell::text(case.version() + case.remark()), Cell::text(month.name()), budget(case)];
            table = table.row(cells.into_iter().chain(numbers_of(findings, case)));
        }
    }
    table.into()
}

fn variants(findings: &Findings, caption: &str, cases: Vec<Case>) -> Block {
    let header = ["Version", "Month", "Budget (10¹¹)", "Variant"].into_iter().chain(NUMBERS);
    let table = cases.into_iter().fold(Table::new(caption, header), |table, case| {
        let variant = match case.variant {
            Variant::Standard => "as in the figures",
            Variant::Period(_) => "another period",
            Variant::AsDerived => "condition (5) as derived",
            Variant::WithinPeriod => "machines ready within the period only",
            Variant::CheapestIfReady => "the cheapest machines too only if ready within the period",
            Variant::CheapestAsOthers => "the cheapest machines under condition (4) too",
            Variant::ManyMachines => "machines as slow as printed, and many",
            Variant::ChargedAtStart => "charged as it starts",
            Variant::ChargedAtEnd => "charged as it ends",
            Variant::PlansStand => "plans stand",
            Variant::Held => "held back from slow machines",
            Variant::HeldManyMachines => "as slow as printed, and held back from the slowest",
            Variant::StaysLearnt => "it counts how often machines were lost",
            Variant::HeldStaysLearnt => "the same, and held back from slow machines",
            Variant::Forecast => "speeds forecast",
            Variant::DemandPrices => "prices follow demand",
            Variant::Saboteurs => "one machine in ten gives up every task",
            Variant::PutAside => "the same, put aside after three in a row",
        };
        let cells =
            [Cell::text(case.version()), Cell::text(case.month.name()), budget(case), Cell::text(variant)];
        table.row(cells.into_iter().chain(numbers_of(findings, case)))
    });
    table.into()
}

fn readings_compared(findings: &Findings) -> Block {
    let caption = "When a task is charged, September, ± the 95 % interval";
    variants(findings, caption, experiments::readings())
}

fn machines_compared(findings: &Findings) -> Block {
    let caption = "Machines as they are counted, and as slow as printed; tasks held back from the slowest; ± the 95 % interval";
    variants(findings, caption, experiments::machines())
}

fn stays_compared(findings: &Findings) -> Block {
    let caption = "Machines that are taken to stay, and machines of which it counts how often they were lost, ± the 95 % interval";
    variants(findings, caption, experiments::stays())
}

fn forecasts(findings: &Findings) -> Block {
    let caption =
        "Speeds known fifteen minutes ahead, and forecast from what was measured, ± the 95 % interval";
    variants(findings, caption, experiments::forecasts())
}

fn demand_prices(findings: &Findings) -> Block {
    let caption = "Prices in proportion to speed, and prices that follow demand, ± the 95 % interval";
    variants(findings, caption, experiments::demand_prices())
}

fn reputation(findings: &Findings) -> Block {
    let caption = "Machines that give up what they begin, ± the 95 % interval";
    variants(findings, caption, experiments::reputation())
}
