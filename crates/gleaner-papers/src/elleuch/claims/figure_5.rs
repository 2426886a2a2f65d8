//! How much of the machines is used.

use super::words::{NO_CONDITION, id, reading, slug};
use crate::elleuch::case::{Case, Heuristic, Month, Rule, Variant};
use crate::elleuch::findings::Findings;
use crate::{Claim, Condition, Criterion};

pub(super) fn claims(findings: &Findings) -> Vec<Claim> {
    let read = Variant::READINGS.into_iter();
    let by_reading = read.flat_map(|read| {
        let of_months = Month::ALL.map(|month| more_use_less_makespan(findings, month, read));
        [budgets_decrease(findings, read)].into_iter().chain(of_months)
    });
    [june_is_full(findings)].into_iter().chain(by_reading).collect()
}

fn june_is_full(findings: &Findings) -> Claim {
    let free = Case::free(Month::June, Heuristic::MinMin);
    let work = findings.over_seeds(|seed| findings.outcome(free, seed).work_share).mean;
    Claim {
        id: "figure-5/june-is-full".to_owned(),
        claim: "the average resource utilization is about 98 % in the June case without a budget",
        paper: "98 %",
        quantity: "of the time in which machines were there until the makespan, the part in which they ran something"
            .to_owned(),
        besides: Some(format!("of what they could have done, {:.1} % was", 100.0 * work)),
        measured: findings.over_seeds(|seed| findings.outcome(free, seed).use_share).within(0.0, 1.0).percent(),
        unit: "%",
        criterion: Criterion::Near { value: 98.0, holds: 1.0, partly: 5.0 },
        condition: None,
        reading: NO_CONDITION,
    }
}

/// Every version of Min-Min with every budget.
fn budgeted(findings: &Findings, month: Month, read: Variant) -> Vec<Case> {
    let budgets = findings.budgets(month, Heuristic::MinMin);
    let cases = Rule::BUDGETED
        .into_iter()
        .flat_map(|rule| budgets.iter().map(move |budget| Case::min_min(month, rule, *budget).read(read)));
    cases.collect()
}

/// Those whose runs all came to their end: what a run that is given up used until then says nothing about all of it.
fn ended(findings: &Findings, month: Month, read: Variant) -> Vec<Case> {
    let cases = budgeted(findings, month, read).into_iter();
    cases.filter(|case| findings.always_ends(*case)).collect()
}

/// That no run of these months was given up.
fn all_ended(findings: &Findings, months: &[Month], read: Variant) -> Condition {
    let ends = |month: &Month| ended(findings, *month, read) == budgeted(findings, *month, read);
    Condition { what: "every run came to its end", met: months.iter().all(ends) }
}

fn budgets_decrease(findings: &Findings, read: Variant) -> Claim {
    let cases: Vec<Case> = Month::ALL.into_iter().flat_map(|month| ended(findings, month, read)).collect();
    let difference = |seed: usize| {
        let of = |case: Case| findings.outcome(case, seed).use_share;
        crate::statistics::mean(cases.iter().map(|case| of(*case) - of(case.yardstick())))
    };
    Claim {
        id: id("figure-5/budgets-decrease-use".to_owned(), read),
        claim: "applying a budget constraint decreases the resource utilization",
        paper: "decreases",
        quantity: "the difference of use from that without a budget, over all versions, budgets and months \
                   whose runs came to their end"
            .to_owned(),
        besides: cases.is_empty().then(|| "none did".to_owned()),
        measured: findings.over_seeds(difference).percent(),
        unit: "percentage points",
        criterion: Criterion::Negative,
        condition: Some(all_ended(findings, &Month::ALL, read)),
        reading: reading(read),
    }
}

/// Of one month: "a unit value of the normalized makespan is specific to each month and is not comparable with another month".
fn more_use_less_makespan(findings: &Findings, month: Month, read: Variant) -> Claim {
    let cases = ended(findings, month, read);
    let correlation = |seed: usize| {
        let point = |case: &Case| (findings.outcome(*case, seed).use_share, findings.normalized(*case, seed));
        rank_correlation(&cases.iter().map(point).collect::<Vec<(f64, f64)>>())
    };
    let measured = findings.over_seeds(correlation).within(-1.0, 1.0);
    let none = || match cases.len() {
        0 | 1 => "there is none, since fewer than two did".to_owned(),
        _ => "there is none, since with some pattern all that did are alike".to_owned(),
    };
    Claim {
        id: id(format!("figure-5/more-use-less-makespan-{}", slug(month)), read),
        claim: "a lower makespan can be achieved by increasing the resource utilization",
        paper: "lower with more",
        quantity:
            "Spearman's rank correlation of use and normalized makespan over the month's versions and budgets whose runs \
             came to their end"
                .to_owned(),
        besides: measured.mean.is_nan().then(none),
        measured,
        unit: "",
        criterion: Criterion::Negative,
        condition: Some(all_ended(findings, &[month], read)),
        reading: reading(read),
    }
}

/// Spearman's; equal values share their ranks' mean.
fn rank_correlation(points: &[(f64, f64)]) -> f64 {
    let rank = |values: Vec<f64>| -> Vec<f64> {
        let count = |value: &f64, than: &dyn Fn(&f64, &f64) -> bool| {
            values.iter().filter(|other| than(other, value)).count() as f64
        };
        let rank = |value| count(value, &|other, value| other < value) + count(value, &|a, b| a == b) / 2.0;
        values.iter().map(rank).collect()
    };
    let (one, other): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (one, other) = (rank(one), rank(other));
    let middle = points.len() as f64 / 2.0;
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    sum(&one, &other) / (sum(&one, &one) * sum(&other, &other)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate_whatever_the_values() {
        let correlation = |points: &[(f64, f64)]| (rank_correlation(points) * 1000.0).round() / 1000.0;
        assert_eq!(correlation(&[(1.0, 5.0), (2.0, 50.0), (9.0, 51.0)]), 1.0);
        assert_eq!(correlation(&[(1.0, 5.0), (2.0, 4.0), (9.0, -1.0)]), -1.0);
        // Ranks 1 2 3 4 and 1.5 1.5 3.5 3.5.
        assert_eq!(correlation(&[(1.0, 0.0), (2.0, 0.0), (3.0, 1.0), (4.0, 1.0)]), 0.894);
    }
}
