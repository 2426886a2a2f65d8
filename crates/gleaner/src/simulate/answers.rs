//! What machines answered, in lines for people.

use gleaner_report::numbers::{decimals, grouped};
use gleaner_sim::Answered;

/// The accepted answers that are wrong, in per cent.
pub(super) fn wrong_percent(answered: &Answered) -> f64 {
    if answered.accepted == 0 { 0.0 } else { 100.0 * answered.wrong as f64 / answered.accepted as f64 }
}

/// What was believed, and what that took.
pub(super) fn lines(answered: &Answered) -> Vec<(&'static str, String)> {
    let count = |count: usize| grouped(count as u64);
    let Answered { liars, runs, accepted, wrong, disputed, outvoted, .. } = answered;
    let Answered { run_again, liars_trusted, closed, honest_closed, work, .. } = answered;
    vec![
        ("liars", format!("{} machines, of which {} are trusted", count(*liars), count(*liars_trusted))),
        (
            "wrong",
            format!(
                "{} of {} answers that were accepted ({} %)",
                count(*wrong),
                count(*accepted),
                decimals(wrong_percent(answered), 3)
            ),
        ),
        ("answers", format!("{} given, {} outvoted", grouped(*runs), grouped(*outvoted))),
        ("closed", format!("{} machines, of which {} do not lie", count(*closed), count(*honest_closed))),
        ("given up", format!("{} tasks, since too few machines agreed", count(*disputed))),
        ("run again", format!("{} tasks that a liar had answered alone", grouped(*run_again))),
        ("work", format!("{} times what the tasks need once", decimals(*work, 3))),
    ]
}
