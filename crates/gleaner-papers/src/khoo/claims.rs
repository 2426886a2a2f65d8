//! The paper's statements, held against what came out.

use super::case::{Group, Point};
use super::findings::{Findings, Metric, Outcome};
use super::{BACKFILL, MRS, REP, SITES, TABLE};
use crate::statistics::{Estimate, mean, share};
use crate::{Claim, Condition, Criterion};

const READING: &str = "the scenario as it was chosen before anything was compared";
const SWEPT: &str = "the sweep of load, size of data, likeness of processors and days of arrivals";

/// Which two the table compares: what is better or worse, than what.
pub(super) const PAIRS: [(&str, &str); 3] = [(MRS, BACKFILL), (REP, BACKFILL), (MRS, REP)];

/// The paper's improvement, in per cent.
pub(super) fn improvement_of_table((rule, other): (&str, &str), metric: Metric) -> f64 {
    let at = Metric::OF_TABLE.iter().position(|known| *known == metric).expect("one of the table's");
    let of = |name: &str| TABLE.iter().find(|(known, _)| *known == name).expect("in the table").1[at];
    metric.improvement(of(other), of(rule))
}

pub(super) fn claims(findings: &Findings) -> Vec<Claim> {
    let mut claims = Vec::new();
    let Some(base) = findings.base() else { return claims };
    for pair in PAIRS {
        claims.extend(Metric::OF_TABLE.map(|metric| of_table(findings, base, pair, metric)));
    }
    claims.push(many_wait(findings, base));
    for pair in PAIRS {
        claims.extend(Metric::OF_TABLE.iter().filter_map(|metric| of_sweep(findings, pair, *metric)));
    }
    claims.extend(in_all_cases(findings));
    claims.extend(knows_data(findings));
    claims.extend(loses_nowhere(findings));
    claims
}

fn slug(name: &str) -> String {
    name.to_lowercase().replace('/', "-")
}

fn printed((rule, other): (&str, &str), metric: Metric) -> (&'static str, &'static str) {
    match (rule, other, metric) {
        (MRS, BACKFILL, Metric::Wait) => ("MRS has a shorter average wait than BACKFILL", "50.89 %"),
        (MRS, BACKFILL, Metric::Completion) => ("MRS completes the queue sooner than BACKFILL", "18.41 %"),
        (MRS, BACKFILL, _) => ("MRS uses more of the grid than BACKFILL", "28.86 %"),
        (REP, BACKFILL, Metric::Wait) => ("REP has a shorter average wait than BACKFILL", "41.83 %"),
        (REP, BACKFILL, Metric::Completion) => ("REP completes the queue later than BACKFILL", "−71.04 %"),
        (REP, BACKFILL, _) => ("REP uses more of the grid than BACKFILL", "9.16 %"),
        (MRS, REP, Metric::Wait) => ("MRS has a shorter average wait than REP", "15.58 %"),
        (MRS, REP, Metric::Completion) => ("MRS completes the queue sooner than REP", "52.30 %"),
        _ => ("MRS uses more of the grid than REP", "18.04 %"),
    }
}

/// Half of what the paper has, with its sign, is enough; the sign alone is part of it.
fn criterion_for(paper: f64) -> Criterion {
    if paper > 0.0 {
        Criterion::AtLeast { holds: 0.5 * paper, partly: 0.0 }
    } else {
        Criterion::AtMost { holds: 0.5 * paper, partly: 0.0 }
    }
}

fn of_table(findings: &Findings, base: usize, pair: (&'static str, &'static str), metric: Metric) -> Claim {
    let (rule, other) = pair;
    let paper = improvement_of_table(pair, metric);
    let (claim, printed) = printed(pair, metric);
    let otherwise: Vec<String> = findings
        .cases(Group::Reading)
        .filter(|(case, _)| findings.improvement(*case, other, rule, metric).mean * paper <= 0.0)
        .map(|(_, case)| case.name.clone())
        .collect();
    let readings = findings.cases(Group::Reading).count();
    let besides = (readings > 0).then(|| {
        let held = readings - otherwise.len();
        let but = if otherwise.is_empty() {
            String::new()
        } else {
            format!("; not in: {}", otherwise.join(" · "))
        };
        format!("its sign holds in {held} of {readings} other readings{but}")
    });
    Claim {
        id: format!("table-1/{}-before-{}-{}", slug(rule), slug(other), slug(metric.name())),
        claim,
        paper: printed,
        quantity: format!("how much better the {} of {rule} is than that of {other}", metric.name()),
        besides,
        measured: findings.improvement(base, other, rule, metric),
        unit: "%",
        criterion: criterion_for(paper),
        condition: None,
        reading: READING,
    }
}

fn many_wait(findings: &Findings, base: usize) -> Claim {
    Claim {
        id: "section-5/many-wait".to_owned(),
        claim: "there is a large number of jobs in the queue, such that the effects of the scheduling algorithm are \
                significant",
        paper: "a large number; by table I and Little's law 2.8, 0.9 and 1.7",
        quantity: "how many jobs wait with BACKFILL, on average".to_owned(),
        besides: None,
        measured: findings.estimate(base, BACKFILL, |outcome| outcome.waiting),
        unit: "jobs",
        criterion: Criterion::AtLeast { holds: 20.0, partly: 5.0 },
        condition: None,
        reading: READING,
    }
}

fn of_sweep(findings: &Findings, pair: (&'static str, &'static str), metric: Metric) -> Option<Claim> {
    let (rule, other) = pair;
    let points = signed(findings, pair, metric);
    if points.is_empty() {
        return None;
    }
    let (claim, printed) = printed(pair, metric);
    Some(Claim {
        id: format!("sweep/{}-before-{}-{}", slug(rule), slug(other), slug(metric.name())),
        claim,
        paper: printed,
        quantity: format!(
            "the part of {} points of the sweep in which the sign is the paper's",
            points.len()
        ),
        besides: Some(turns(&points)),
        measured: Estimate::share_above_0(points.iter().map(|(_, improvement)| *improvement)).percent(),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 95.0, partly: 50.0 },
        condition: None,
        reading: SWEPT,
    })
}

/// Each point of the sweep with the improvement there, above 0 where its sign is the paper's.
pub(super) fn signed(
    findings: &Findings,
    pair: (&'static str, &'static str),
    metric: Metric,
) -> Vec<(Point, Estimate)> {
    let (rule, other) = pair;
    let is_above = improvement_of_table(pair, metric) > 0.0;
    let improvement = |case| findings.improvement(case, other, rule, metric);
    findings
        .cases(Group::Sweep)
        .filter_map(|(case, of)| {
            Some((of.at?, if is_above { improvement(case) } else { -improvement(case) }))
        })
        .collect()
}

/// The part of the points at which the estimate is above 0, by each of the numbers that are swept.
pub(super) fn turns(points: &[(Point, Estimate)]) -> String {
    let holds = |(_, improvement): &(Point, Estimate)| improvement.mean > 0.0;
    let by = |name: &str, value: &dyn Fn(&Point) -> f64| {
        let mut values: Vec<f64> = points.iter().map(|(point, _)| value(point)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let parts = values.into_iter().map(|at| {
            let part = share(points.iter().filter(|(point, _)| value(point) == at).map(holds));
            format!("{at}: {:.0} %", 100.0 * part)
        });
        format!("by {name} {}", parts.collect::<Vec<_>>().join(", "))
    };
    [
        by("load", &|point| point.load),
        by("data", &|point| point.data),
        by("days", &|point| point.days),
        by("alike processors (1) or not (0)", &|point| f64::from(u8::from(point.alike))),
    ]
    .join("; ")
}

fn in_all_cases(findings: &Findings) -> Option<Claim> {
    let cases: Vec<usize> =
        findings.cases(Group::Sweep).chain(findings.cases(Group::Reading)).map(|(case, _)| case).collect();
    if cases.is_empty() {
        return None;
    }
    let others = [BACKFILL, REP].map(|other| Metric::OF_TABLE.map(|metric| (other, metric)));
    let least = |case: &usize| findings.least_improvement(*case, MRS, others.as_flattened());
    Some(Claim {
        id: "abstract/in-all-cases".to_owned(),
        claim: "MRS renders a higher performance in all cases",
        paper: "in all cases",
        quantity: format!(
            "the part of {} readings and points of the sweep in which MRS is better than both others in all three",
            cases.len()
        ),
        besides: None,
        measured: Estimate::share_above_0(cases.iter().map(least)).percent(),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 95.0, partly: 50.0 },
        condition: None,
        reading: "every reading, and the sweep",
    })
}

/// The paper's reason for what BACKFILL loses: that it does not look at the data's time.
fn knows_data(findings: &Findings) -> Option<Claim> {
    let (case, _) = findings.cases(Group::Parts).next()?;
    let informed = "EASY that knows where data is";
    Some(Claim {
        id: "section-5/because-of-data".to_owned(),
        claim: "BACKFILL waits longer because it does not allocate jobs in consideration of the data distribution time",
        paper: "the reason for 50 %",
        quantity: "how much better the AWT of EASY is once it knows where data is".to_owned(),
        besides: Some(format!(
            "MRS is {:.1} % better than that; with EASY's reservation, MRS is {:.1} % better than EASY",
            findings.improvement(case, informed, MRS, Metric::Wait).mean,
            findings.improvement(case, "EASY", "MRS, EASY's reservation", Metric::Wait).mean,
        )),
        measured: findings.improvement(case, "EASY", informed, Metric::Wait),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 25.0, partly: 0.0 },
        condition: None,
        reading: READING,
    })
}

/// Ours, beside the better of MRS and BACKFILL at each point of the sweep.
fn loses_nowhere(findings: &Findings) -> Option<Claim> {
    let cases: Vec<(usize, Point)> =
        findings.cases(Group::Sweep).filter_map(|(case, of)| Some((case, of.at?))).collect();
    if cases.is_empty() {
        return None;
    }
    let worst = |case: usize, metric: Metric| {
        findings.least_improvement(case, SITES, &[(MRS, metric), (BACKFILL, metric)])
    };
    let lost = |metric: Metric| -> Vec<Point> {
        cases.iter().filter(|(case, _)| worst(*case, metric).high < 0.0).map(|(_, point)| *point).collect()
    };
    let (wait, wide) = (lost(Metric::Wait), lost(Metric::WideWait));
    let better = cases.iter().map(|(case, _)| worst(*case, Metric::Wait));
    let longest = |rule: &str| {
        let of = |outcome: &Outcome| outcome.longest_wait_s;
        mean(cases.iter().map(|(case, _)| findings.estimate(*case, rule, of).mean))
    };
    Some(Claim {
        id: "past-the-paper/sites".to_owned(),
        claim: "gleaner/sites waits less than both MRS and BACKFILL over the whole sweep (ours, not the paper's)",
        paper: "not in the paper",
        quantity: format!(
            "the part of {} points of the sweep in which its AWT is better than that of both",
            cases.len()
        ),
        besides: Some(format!(
            "all of the interval is worse than one of them at {} points; for wide jobs at {}; the longest wait of a run is \
             {:.0} s on average, with MRS {:.0} s, with BACKFILL {:.0} s",
            wait.len(),
            wide.len(),
            longest(SITES),
            longest(MRS),
            longest(BACKFILL),
        )),
        measured: Estimate::share_above_0(better).percent(),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 95.0, partly: 50.0 },
        condition: Some(Condition {
            what: "it is surely worse nowhere",
            met: wait.is_empty() && wide.is_empty(),
        }),
        reading: SWEPT,
    })
}

#[cfg(test)]
mod tests {
    use super::super::case::{Case, base, rules};
    use super::*;
    use gleaner_report::Verdict;

    const NOTHING: Outcome = Outcome {
        wait_s: 100.0,
        completion_s: 100.0,
        use_share: 0.5,
        compute_share: 0.5,
        sites_share: 0.5,
        response_s: 100.0,
        wide_wait_s: 100.0,
        narrow_wait_s: 100.0,
        longest_wait_s: 100.0,
        held: 1.0,
        wasted: 0.0,
        parts: 1.0,
        waiting: 1.0,
    };

    /// Four points of the sweep; waits by rule and seed.
    fn swept(waits_s: &[(&str, [f64; 2])]) -> Findings {
        let at = Some(Point { load: 0.3, data: 0.0, alike: true, days: 3.0 });
        let name = "a point".to_owned();
        let case = Case { group: Group::Sweep, name, at, scenario: base(), rules: rules() };
        let wait_s = |rule: &str, seed: usize| {
            let known = waits_s.iter().find(|(name, _)| *name == rule);
            known.map_or(NOTHING.wait_s, |(_, waits_s)| waits_s[seed])
        };
        let of_seed = |seed: usize| -> Vec<Outcome> {
            let names = case.rules.iter().map(|(name, _)| *name);
            names.map(|name| Outcome { wait_s: wait_s(name, seed), ..NOTHING }).collect()
        };
        let outcomes = vec![vec![of_seed(0), of_seed(1)]; 4];
        Findings::new(vec![case; 4], 2, outcomes)
    }

    #[test]
    fn a_sign_that_two_seeds_leave_open_decides_nothing_of_a_share() {
        // 1 % better with one seed, 0.9 % worse with the other.
        let findings = swept(&[(MRS, [99.0, 100.9])]);
        let claim = of_sweep(&findings, (MRS, BACKFILL), Metric::Wait).expect("there is a sweep");
        assert_eq!((claim.measured.low, claim.measured.mean, claim.measured.high), (0.0, 100.0, 100.0));
        assert_eq!(claim.verdict(), Verdict::Undecided);
        let all = in_all_cases(&findings).expect("there are cases");
        assert_eq!(all.measured, Estimate::known(0.0), "no better than REP by anything but the wait");
        let findings = swept(&[(MRS, [99.0, 99.1])]);
        let claim = of_sweep(&findings, (MRS, BACKFILL), Metric::Wait).expect("there is a sweep");
        assert_eq!((claim.measured, claim.verdict()), (Estimate::known(100.0), Verdict::Holds));
    }

    #[test]
    fn ours_is_worse_where_it_surely_is_than_either() {
        // Against MRS nobody knows, though its mean is the lower one; against BACKFILL it is worse for sure.
        let findings = swept(&[(MRS, [92.0, 106.0]), (BACKFILL, [99.4, 99.5]), (SITES, [100.0, 100.1])]);
        let claim = loses_nowhere(&findings).expect("there is a sweep");
        assert!(!claim.condition.expect("it has one").met);
        assert_eq!(claim.measured, Estimate::known(0.0));
        // Better than MRS for sure; against BACKFILL nobody knows, though its mean is the higher one.
        let findings = swept(&[(MRS, [102.0, 102.1]), (BACKFILL, [99.0, 109.0]), (SITES, [100.0, 100.1])]);
        let claim = loses_nowhere(&findings).expect("there is a sweep");
        assert_eq!((claim.measured.low, claim.measured.high), (0.0, 100.0));
        assert!(claim.condition.expect("it has one").met);
    }

    #[test]
    fn of_several_that_may_be_worse_one_is_so_by_chance_more_often() {
        let findings = swept(&[(MRS, [102.0, 102.1]), (BACKFILL, [98.95, 99.05]), (SITES, [100.0, 100.0])]);
        assert!(findings.improvement(0, BACKFILL, SITES, Metric::Wait).high < 0.0, "were it the only one");
        let claim = loses_nowhere(&findings).expect("there is a sweep");
        assert_eq!((claim.measured.low, claim.measured.high), (0.0, 100.0));
        assert!(claim.condition.expect("it has one").met);
        // To be better than both takes no more than to be better than each.
        let others = [(MRS, Metric::Wait), (BACKFILL, Metric::Wait)];
        let of_each = others.map(|(other, metric)| findings.improvement(0, other, SITES, metric).low);
        let least = findings.least_improvement(0, SITES, &others).low;
        assert!((least - of_each[0].min(of_each[1])).abs() < 1e-9, "{least}");
    }
}
