//! Max-Min and Sufferage, of which the paper only says that they are comparable.

use super::words::{NO_CONDITION, heuristic_slug, id, reading, slug};
use crate::elleuch::case::{Case, Heuristic, Month, Rule, Variant};
use crate::elleuch::findings::Findings;
use crate::elleuch::{AMPLE, SCARCE};
use crate::statistics::{mean, range};
use crate::{Claim, Condition, Criterion};

pub(super) fn claims(findings: &Findings) -> Vec<Claim> {
    let others = [Heuristic::MaxMin, Heuristic::Sufferage];
    let mut claims = Vec::new();
    for heuristic in others {
        claims.extend(Variant::READINGS.map(|read| comparable(findings, heuristic, read)));
        for month in Month::ALL {
            let among_tasks = (Rule::Cap, Rule::PerTask);
            claims.push(better(findings, heuristic, (month, Variant::Standard), among_tasks));
            let through_time = (Rule::PerTask, Rule::PerTaskAndTime);
            claims.extend(
                Variant::READINGS.map(|read| better(findings, heuristic, (month, read), through_time)),
            );
        }
    }
    claims
}

fn comparable(findings: &Findings, heuristic: Heuristic, read: Variant) -> Claim {
    let apart = |seed: usize| {
        range(Month::ALL.into_iter().flat_map(|month| {
            Rule::BUDGETED.into_iter().flat_map(move |rule| {
                [SCARCE, AMPLE].map(|budget| {
                    let case = Case::min_min(month, rule, budget).read(read);
                    let of = |case: Case| findings.normalized(case, seed);
                    (of(case.by(heuristic)) / of(case) - 1.0).abs()
                })
            })
        }))
        .1
    };
    let cases = Month::ALL.into_iter().flat_map(|month| {
        Rule::BUDGETED.into_iter().flat_map(move |rule| {
            [SCARCE, AMPLE].map(move |budget| Case::min_min(month, rule, budget).read(read))
        })
    });
    let any_cut = cases.flat_map(|case| [case, case.by(heuristic)]).any(|case| !findings.always_ends(case));
    Claim {
        id: id(format!("section-5/{}-comparable", heuristic_slug(heuristic)), read),
        claim: "for the two other heuristics, namely MaxMin and Sufferage, we obtained comparable results",
        paper: "comparable",
        quantity: format!(
            "how far the normalized makespans of {} are from those of MinMin, of the version, month and budget where \
             they are farthest",
            heuristic.name()
        ),
        besides: None,
        measured: findings.over_seeds(apart).or_more(any_cut).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 10.0, partly: 30.0 },
        condition: None,
        reading: reading(read),
    }
}

fn better(
    findings: &Findings,
    heuristic: Heuristic,
    (month, read): (Month, Variant),
    (worse, better): (Rule, Rule),
) -> Claim {
    let excess = |budget: u64, seed: usize| {
        let of = |rule| {
            findings.outcome(Case::min_min(month, rule, budget).read(read).by(heuristic), seed).makespan_s
        };
        of(worse) / of(better) - 1.0
    };
    let cases =
        |rule| [SCARCE, AMPLE].map(|budget| Case::min_min(month, rule, budget).read(read).by(heuristic));
    let [worse_name, better_name] =
        [worse, better].map(|rule| format!("{}{}", rule.prefix(), heuristic.name()));
    Claim {
        id: id(
            format!(
                "section-5/{}-{}-before-{}-{}",
                heuristic_slug(heuristic),
                better.prefix().to_lowercase(),
                worse.prefix().to_lowercase(),
                slug(month)
            ),
            read,
        ),
        claim: "the versions follow each other as for MinMin",
        paper: "as for MinMin",
        quantity: format!("how much longer {worse_name} takes than {better_name}, over 3.5·10¹¹ and 7·10¹¹"),
        besides: None,
        measured: findings
            .longer(
                |seed| mean([SCARCE, AMPLE].map(|budget| excess(budget, seed))),
                (cases(worse), cases(better)),
            )
            .percent(),
        unit: "%",
        criterion: Criterion::Positive,
        condition: Some(Condition {
            what: "it is longer at 3.5·10¹¹",
            met: findings.over_seeds(|seed| excess(SCARCE, seed)).mean > 0.0,
        }),
        reading: if better == Rule::PerTask { NO_CONDITION } else { reading(read) },
    }
}
