//! All simulations as CSV, a line each, for whoever wants to analyse them again.

use super::findings::Findings;
use super::outcome::Outcome;
use std::fmt::Write;

pub(super) fn simulations(findings: &Findings) -> String {
    let mut lines =
        "month,version,budget,variant,seed,makespan_s,unfinished,stalls,use_share,work_share,aborts,paid\n"
            .to_owned();
    for (case, outcomes) in findings.outcomes() {
        let name = case.to_string();
        for (seed, outcome) in outcomes.iter().enumerate() {
            let Outcome { makespan_s, unfinished, stalls, use_share, work_share, aborts, paid } = outcome;
            let seed = seed + 1;
            writeln!(
                lines,
                "{},{seed},{makespan_s:.9},{unfinished},{stalls},{use_share:.6},{work_share:.6},{aborts},{paid}",
                name.replace(' ', ",")
            )
            .expect("a string takes what it is given");
        }
    }
    lines
}
