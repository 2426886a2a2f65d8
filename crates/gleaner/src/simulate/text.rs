//! What a run came to, as text.

use super::answers;
use super::summary::Summary;
use crate::columns::plural;
use gleaner_core::Scope;
use gleaner_report::numbers::grouped;
use gleaner_sim::Waste;
use gleaner_sim::brokering::Held;
use gleaner_units::Credits;
use std::path::Path;

/// Of a summary; none where nothing ended.
pub(super) fn makespan(seconds: Option<f64>) -> String {
    seconds.map_or("nothing ended".to_owned(), |seconds| format!("{seconds:.3} s"))
}

pub(super) fn describe(summary: &Summary, out: Option<&Path>) -> String {
    let Summary { policy, relocate, tasks, unfinished, makespan_s, lower_bound_s, gap, moves, .. } = summary;
    let bound = match (lower_bound_s, gap) {
        (Some(bound), Some(gap)) if gap.is_finite() => {
            format!("{bound:.3} s; the makespan is {:.2} % above it", 100.0 * gap)
        }
        (Some(bound), _) => format!("{bound:.3} s"),
        (None, _) => "none: no schedule ends all tasks".to_owned(),
    };
    let mut lines = vec![
        ("policy", format!("{policy}, relocation {}", relocate.unwrap_or("none"))),
        ("tasks", format!("{}, of which {} unfinished", grouped(*tasks as u64), grouped(*unfinished as u64))),
        ("makespan", makespan(*makespan_s)),
        ("lower bound", bound),
        ("moves", grouped(*moves)),
    ];
    let held = summary.held.iter();
    lines.extend(
        held.map(|Held { jobs, why, .. }| ("held", format!("{}: {why}", plural(*jobs as u64, "task")))),
    );
    lines.extend(summary.service.lines());
    if let Some(budget) = &summary.budget {
        let [recharge, most, paid, later] =
            [budget.recharge, budget.spent_max(), budget.paid, budget.given_back_later]
                .map(|sum| grouped(sum.count()));
        let spent = match budget.scope {
            Scope::Shared => format!("{paid} credits; in one period {most} of {recharge} at most"),
            Scope::PerUser => {
                format!("{paid} credits; in one period {most} at most, where each user has {recharge}")
            }
        };
        lines.push((
            "spent",
            if budget.given_back_later > Credits::ZERO {
                format!("{spent}; {later} given back in a later period")
            } else {
                spent
            },
        ));
    }
    if let Some(between) = &summary.between {
        let handed_over = 100.0 * between.handed_over_share;
        let age = between.age_mean_s.map_or(String::new(), |age| {
            format!(", by what was known of their machines for {age:.2} s on average")
        });
        lines.push((
            "letters",
            format!("{:.2} a task, {} in all", between.letters_per_task, grouped(between.letters)),
        ));
        lines.push(("neighbours", format!("had {handed_over:.1} % of the runs{age}")));
    }
    if let Some(Waste { runs, ops }) = summary.wasted {
        let ops = grouped(ops.round() as u64);
        lines.push(("wasted", format!("{ops} operations, by {} runs beside faster ones", grouped(runs))));
    }
    lines.extend(summary.answers.iter().flat_map(answers::lines));
    lines.extend(out.map(|dir| ("report", dir.join("report.html").display().to_string())));
    aligned(lines)
}

pub(super) fn aligned(lines: Vec<(&str, String)>) -> String {
    lines.into_iter().map(|(what, value)| format!("{what:12} {value}\n")).collect()
}
