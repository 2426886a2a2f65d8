//! All rules at all budgets: makespans in units of that without a budget, and how many runs were given up.

use super::cells::budget;
use crate::elleuch::case::{Case, Heuristic, Month, Rule, Variant};
use crate::elleuch::experiments;
use crate::elleuch::findings::Findings;
use crate::statistics::Estimate;
use gleaner_report::{Block, Cell, Table};

pub(super) fn tables(findings: &Findings) -> Vec<Block> {
    Month::ALL.map(|month| Block::from(of_month(findings, month))).into()
}

fn of_month(findings: &Findings, month: Month) -> Table {
    let budgets = findings.budgets(month, Heuristic::MinMin);
    let headings = budgets.iter().map(|budget| format!("{}·10¹¹", *budget as f64 / 1e11));
    let caption = format!(
        "{}: makespans in units of that without a budget, ± the 95 % interval, of the patterns that came to their end; \
         how many were given up, or not done when the trace ended",
        month.name()
    );
    let header: Vec<String> = std::iter::once("Rule".to_owned()).chain(headings).collect();
    let rows = Rule::ALL_BUDGETED.into_iter().flat_map(|rule| {
        Case::min_min(month, rule, 0).readings().iter().map(move |reading| (rule, *reading))
    });
    rows.fold(Table::new(caption, header), |table, (rule, reading)| {
        let case = |budget: u64| Case::min_min(month, rule, budget).read(reading);
        let cells = budgets.iter().map(|budget| outcome(findings, case(*budget)));
        table.row(std::iter::once(Cell::text(name(rule, case(0)))).chain(cells))
    })
}

/// The recommended rule and the paper's, in pairs: every pattern with each.
pub(super) fn recommended(findings: &Findings) -> Block {
    let caption = "The recommended rule beside the paper's: makespans in units of that without a budget, and how much longer than \
                   gleaner/budget takes with the same patterns, ± the 95 % interval, of the patterns that came to their end";
    let header = ["Rule", "Month", "Budget (10¹¹)", "Makespan", "Longer than gleaner/budget (%)"];
    let cases = experiments::recommended().into_iter();
    let table =
        cases.filter(|case| case.rule != Rule::Free).fold(Table::new(caption, header), |table, case| {
            let own = Case::min_min(case.month, Rule::MovingPrice, 0).with(Variant::Held);
            let own = Case { budget: case.budget, ..own };
            table.row([
                Cell::text(name(case.rule, case)),
                Cell::text(case.month.name()),
                budget(case),
                outcome(findings, case),
                if case == own { Cell::text("") } else { longer(findings, case, own) },
            ])
        });
    table.into()
}

fn longer(findings: &Findings, case: Case, own: Case) -> Cell {
    let ended = |seed: &usize| [case, own].iter().all(|case| findings.outcome(*case, *seed).unfinished == 0);
    let percent = |seed: usize| {
        let makespan_s = |case| findings.outcome(case, seed).makespan_s;
        100.0 * (makespan_s(case) / makespan_s(own) - 1.0)
    };
    let longer: Vec<f64> = (0..findings.seeds() as usize).filter(ended).map(percent).collect();
    if longer.is_empty() { Cell::text("–") } else { Cell::number(Estimate::of(&longer).with_reach(2)) }
}

fn name(rule: Rule, case: Case) -> String {
    match rule {
        Rule::WithinReach => "BTT within reach".to_owned(),
        Rule::MovingPrice if case.variant == Variant::Held => {
            "moving price, held back (gleaner/budget)".to_owned()
        }
        Rule::MovingPrice => "moving price".to_owned(),
        _ => rule.prefix().to_owned() + case.remark(),
    }
}

/// The makespan in units of that without a budget, of what came to its end, and how many did not.
pub(super) fn outcome(findings: &Findings, case: Case) -> Cell {
    let outcomes = &findings.outcomes()[&case];
    let ended: Vec<f64> =
        findings.ended(case).into_iter().map(|seed| findings.normalized(case, seed)).collect();
    let stalls = outcomes.iter().filter(|outcome| outcome.stalls).count();
    let over = outcomes.len() - ended.len() - stalls;
    let mut text = if ended.is_empty() { String::new() } else { said(Estimate::of(&ended)) };
    for (count, what) in [(stalls, "stall"), (over, "not done")] {
        if count > 0 {
            let before = if text.is_empty() { "" } else { ", " };
            text += &format!("{before}{count} {what}");
        }
    }
    Cell::number(text)
}

fn said(estimate: Estimate) -> String {
    if estimate.reach().is_finite() { estimate.with_reach(3) } else { format!("{:.3}", estimate.mean) }
}
