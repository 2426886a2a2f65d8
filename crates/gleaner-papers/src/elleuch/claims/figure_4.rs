//! Makespans by budget.

use super::words::{NO_CONDITION, id, reading, slug};
use crate::elleuch::case::{Case, Heuristic, Month, Rule, Variant};
use crate::elleuch::findings::Findings;
use crate::elleuch::{AMPLE, SCARCE};
use crate::statistics::{mean, range, share};
use crate::{Claim, Condition, Criterion};

/// What "able to sustain the arrival rate" allows, as a makespan in units of that without a budget.
const SUSTAINED: f64 = 1.01;

pub(super) fn claims(findings: &Findings) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Month::ALL.map(|month| unconstrained(findings, month)).into();
    let (among_tasks, through_time) = ((Rule::Cap, Rule::PerTask), (Rule::PerTask, Rule::PerTaskAndTime));
    let of_bt = [Variant::WithinPeriod, Variant::CheapestAsOthers];
    for read in [Variant::Standard].into_iter().chain(of_bt) {
        claims.extend(Month::ALL.map(|month| better(findings, month, read, among_tasks)));
    }
    for read in of_bt {
        claims.extend(Month::ALL.map(|month| better(findings, month, read, through_time)));
    }
    for read in Variant::READINGS {
        claims.push(least(findings, read));
        claims
            .extend(Month::ALL.map(|month| better(findings, month, read, (Rule::Cap, Rule::PerTaskAndTime))));
        claims.extend(Month::ALL.map(|month| lbtt_suffers(findings, month, read)));
        claims.extend([falls(findings, read), towards_free(findings, read)]);
        claims.extend(Month::ALL.map(|month| better(findings, month, read, through_time)));
        claims.push(only_btt(findings, read));
        claims.extend(Month::ALL.map(|month| lbtt_catches_up(findings, month, read)));
    }
    claims
}

fn unconstrained(findings: &Findings, month: Month) -> Claim {
    let free = Case::free(month, Heuristic::MinMin);
    let (claim, paper, unit, unit_s, criterion) = match month {
        Month::September => (
            "without a budget the makespan is the two weeks plus ten minutes for September",
            "10 min",
            "min",
            60.0,
            Criterion::Near { value: 10.0, holds: 1.0, partly: 3.0 },
        ),
        Month::June => (
            "and plus 42 hours 30 minutes for June",
            "42.5 h",
            "h",
            3600.0,
            Criterion::Near { value: 42.5, holds: 4.25, partly: 12.75 },
        ),
    };
    Claim {
        id: format!("figure-4/{}-unconstrained", slug(month)),
        claim,
        paper,
        quantity: "how long after the last arrival the last task ends, without a budget".to_owned(),
        besides: None,
        measured: findings.longer(|seed| findings.after_s(free, seed) / unit_s, ([free], [])),
        unit,
        criterion,
        condition: None,
        reading: NO_CONDITION,
    }
}

/// Each version in each month.
fn curves() -> impl Iterator<Item = (Month, Rule)> {
    Month::ALL.into_iter().flat_map(|month| Rule::BUDGETED.map(|rule| (month, rule)))
}

fn falls(findings: &Findings, read: Variant) -> Claim {
    let steps = |seed: usize| {
        share(curves().flat_map(|(month, rule)| {
            let budgets = findings.budgets(month, Heuristic::MinMin);
            let at =
                move |budget: u64| findings.normalized(Case::min_min(month, rule, budget).read(read), seed);
            // Of two that never ended nobody knows which would have been the longer.
            let ended = move |budget: u64| {
                findings.outcome(Case::min_min(month, rule, budget).read(read), seed).unfinished == 0
            };
            let steps = budgets.windows(2).filter(|pair| ended(pair[0]) || ended(pair[1]));
            let falls: Vec<bool> = steps.map(|pair| at(pair[1]) <= at(pair[0]) * 1.001).collect();
            falls
        }))
    };
    Claim {
        id: id("figure-4/falls-with-the-budget".to_owned(), read),
        claim: "for all the budget adapted versions, increasing the budget decreases the makespan",
        paper: "all versions",
        quantity: "steps from one budget to the next by which the makespan does not grow by more than 0.1 %, of all \
                   versions and months, where not both runs were given up"
            .to_owned(),
        besides: None,
        measured: findings.over_seeds(steps).within(0.0, 1.0).percent(),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 100.0, partly: 90.0 },
        condition: Some(all_end(
            findings,
            curves().map(|(month, rule)| Case::min_min(month, rule, AMPLE).read(read)),
        )),
        reading: reading(read),
    }
}

/// That runs which never end are as long as each other says nothing.
fn all_end(findings: &Findings, mut cases: impl Iterator<Item = Case>) -> Condition {
    Condition {
        what: "with the largest budget every run comes to its end",
        met: cases.all(|case| findings.always_ends(case)),
    }
}

fn towards_free(findings: &Findings, read: Variant) -> Claim {
    let worst = |seed: usize| {
        range(
            curves()
                .map(|(month, rule)| findings.normalized(Case::min_min(month, rule, AMPLE).read(read), seed)),
        )
        .1
    };
    Claim {
        id: id("figure-4/towards-unconstrained".to_owned(), read),
        claim: "until it reaches a value close to that of the non constrained version",
        paper: "close",
        quantity:
            "how much longer than without a budget, at 7·10¹¹, of the version and month where it is most"
                .to_owned(),
        besides: None,
        measured: findings
            .longer(
                |seed| worst(seed) - 1.0,
                (curves().map(|(month, rule)| Case::min_min(month, rule, AMPLE).read(read)), []),
            )
            .percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 1.0, partly: 5.0 },
        condition: None,
        reading: reading(read),
    }
}

fn better(findings: &Findings, month: Month, read: Variant, (worse, better): (Rule, Rule)) -> Claim {
    let budgets = findings.budgets(month, Heuristic::MinMin);
    let excess = |budget: u64, seed: usize| {
        let of = |rule| findings.outcome(Case::min_min(month, rule, budget).read(read), seed).makespan_s;
        of(worse) / of(better) - 1.0
    };
    let at = |budget: u64| findings.over_seeds(|seed| excess(budget, seed)).mean;
    let cases = |rule: Rule| {
        let cases = budgets.iter().map(move |budget| Case::min_min(month, rule, *budget).read(read));
        cases.collect::<Vec<Case>>()
    };
    let (claim, paper) = match better {
        Rule::PerTask => {
            ("the repartition among tasks reduces significantly the normalized makespan", "significantly")
        }
        _ if worse == Rule::Cap => (
            "even if the desktop grid is overloaded, the repartition of the budget among tasks and through time is able \
             to enhance the makespan",
            "enhances",
        ),
        _ => ("the repartition through time improves more over the normalized makespan", "improves more"),
    };
    let by_budget: Vec<String> =
        budgets.iter().map(|budget| format!("{:.1} %", 100.0 * at(*budget))).collect();
    Claim {
        id: id(
            format!("figure-4/{}-before-{}-{}", better.prefix(), worse.prefix(), slug(month)).to_lowercase(),
            read,
        ),
        claim,
        paper,
        quantity: format!(
            "how much longer {}MinMin takes than {}MinMin, on average over the budgets",
            worse.prefix(),
            better.prefix()
        ),
        besides: Some(format!("by budget {}", by_budget.join(", "))),
        measured: findings
            .longer(
                |seed| mean(budgets.iter().map(|budget| excess(*budget, seed))),
                (cases(worse), cases(better)),
            )
            .percent(),
        unit: "%",
        criterion: Criterion::Positive,
        condition: Some(Condition {
            what: "it is longer at every budget where either is not yet within 1 % of no budget",
            met: budgets.iter().all(|budget| {
                let close = |rule| {
                    let case = Case::min_min(month, rule, *budget).read(read);
                    findings.over_seeds(|seed| findings.normalized(case, seed)).mean <= SUSTAINED
                };
                at(*budget) > 0.0 || (close(worse) && close(better))
            }),
        }),
        reading: match (better, read) {
            (Rule::PerTask, Variant::Standard) => NO_CONDITION,
            _ => reading(read),
        },
    }
}

fn only_btt(findings: &Findings, read: Variant) -> Claim {
    let case = |rule| Case::min_min(Month::September, rule, SCARCE).read(read);
    let normalized = |rule, seed| findings.normalized(case(rule), seed);
    let others = [Rule::Cap, Rule::PerTask, Rule::PerClass];
    let mean_of = |rule| findings.over_seeds(|seed| normalized(rule, seed)).mean;
    let said = others.map(|rule| format!("{}MinMin {:.1} %", rule.prefix(), 100.0 * (mean_of(rule) - 1.0)));
    Claim {
        id: id("figure-4/only-btt-sustains".to_owned(), read),
        claim: "with a budget little more than 3·10¹¹ BTTMinMin is able to sustain September's arrival rate, the \
                other versions are not",
        paper: "BTTMinMin alone",
        quantity: "how much longer BTTMinMin takes than MinMin without a budget, at 3.5·10¹¹".to_owned(),
        besides: Some(format!("the others: {}", said.join(", "))),
        measured: findings
            .longer(|seed| normalized(Rule::PerTaskAndTime, seed) - 1.0, ([case(Rule::PerTaskAndTime)], []))
            .percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 1.0, partly: 5.0 },
        condition: Some(Condition {
            what: "each of the others takes more than 1 % longer",
            met: others.into_iter().all(|rule| mean_of(rule) > SUSTAINED),
        }),
        reading: reading(read),
    }
}

fn least(findings: &Findings, read: Variant) -> Claim {
    let all = || {
        curves().flat_map(|(month, rule)| {
            let budgets = findings.budgets(month, Heuristic::MinMin).into_iter();
            budgets.map(move |budget| Case::min_min(month, rule, budget).read(read))
        })
    };
    let shortest = |seed: usize| range(all().map(|case| findings.normalized(case, seed))).0 - 1.0;
    Claim {
        id: id("figure-4/no-budget-is-least".to_owned(), read),
        claim: "the conventional MinMin heuristic is not budget constrained, it gives the minimum makespan",
        paper: "the minimum",
        quantity: "how much longer than without a budget, of the version, budget and month where it is least"
            .to_owned(),
        besides: None,
        // What was given up is longer than all others.
        measured: findings.over_seeds(shortest).percent(),
        unit: "%",
        criterion: Criterion::AtLeast { holds: -0.1, partly: -1.0 },
        condition: None,
        reading: reading(read),
    }
}

fn lbtt_suffers(findings: &Findings, month: Month, read: Variant) -> Claim {
    let budgets = findings.budgets(month, Heuristic::MinMin).into_iter();
    let budgets: Vec<u64> = budgets.filter(|budget| *budget < AMPLE).collect();
    let case = |rule, budget| Case::min_min(month, rule, budget).read(read);
    let excess = |seed: usize| {
        let of = |rule, budget| findings.outcome(case(rule, budget), seed).makespan_s;
        let longer = |budget: &u64| of(Rule::PerClass, *budget) / of(Rule::PerTaskAndTime, *budget) - 1.0;
        mean(budgets.iter().map(longer))
    };
    let cases = |rule| budgets.iter().map(|budget| case(rule, *budget)).collect::<Vec<Case>>();
    Claim {
        id: id(format!("figure-4/lbtt-suffers-{}", slug(month)), read),
        claim: "the normalized makespan of LBTTMinMin suffers from the approximation of ready times",
        paper: "longer than BTTMinMin",
        quantity: "how much longer LBTTMinMin takes than BTTMinMin, on average over the budgets below 7·10¹¹"
            .to_owned(),
        besides: None,
        measured: findings.longer(excess, (cases(Rule::PerClass), cases(Rule::PerTaskAndTime))).percent(),
        unit: "%",
        criterion: Criterion::Positive,
        condition: None,
        reading: reading(read),
    }
}

fn lbtt_catches_up(findings: &Findings, month: Month, read: Variant) -> Claim {
    let excess = |seed: usize| {
        let of = |rule| findings.outcome(Case::min_min(month, rule, AMPLE).read(read), seed).makespan_s;
        of(Rule::PerClass) / of(Rule::PerTaskAndTime) - 1.0
    };
    let case = |rule| [Case::min_min(month, rule, AMPLE).read(read)];
    Claim {
        id: id(format!("figure-4/lbtt-reaches-btt-{}", slug(month)), read),
        claim: "with a budget equal to 7·10¹¹ LBTTMinMin achieves a makespan comparable to BTTMinMin",
        paper: "comparable",
        quantity: "how much longer LBTTMinMin takes than BTTMinMin, at 7·10¹¹".to_owned(),
        besides: None,
        measured: findings.longer(excess, (case(Rule::PerClass), case(Rule::PerTaskAndTime))).percent(),
        unit: "%",
        criterion: Criterion::Near { value: 0.0, holds: 1.0, partly: 5.0 },
        condition: Some(all_end(
            findings,
            [Rule::PerClass, Rule::PerTaskAndTime]
                .into_iter()
                .map(|rule| Case::min_min(month, rule, AMPLE).read(read)),
        )),
        reading: reading(read),
    }
}
