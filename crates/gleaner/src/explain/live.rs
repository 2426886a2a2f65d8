//! A task of the live grid, now or at a moment of the past.

use crate::api::Api;
use crate::cli::{ExplainArguments, JobOrTask, TaskName, Which};
use crate::failure::Failure;
use crate::moments::clock;
use crate::{Outcome, stdout, which};
use gleaner_wire::api::{ExpectedStart, ExplanationView, TaskPhase};

/// Further machines are counted, not listed.
const RATINGS_SHOWN: usize = 20;

pub(super) fn run(arguments: &ExplainArguments, subject: &Which) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let TaskName { job, task } = named(&grid, which::one(&grid, subject)?, arguments)?;
    let explained = grid.explain(job, task, arguments.at)?;
    if arguments.grid.json {
        return stdout::print_json(&explained);
    }
    stdout::print(format!("{job}/{task} at {}: {}", clock(explained.at_s), describe(&explained)))
}

/// The task that is meant. Who asks about a job that waits in part asks why it does.
fn named(grid: &Api, meant: JobOrTask, arguments: &ExplainArguments) -> Result<TaskName, Failure> {
    let waiting = match (meant.task, arguments.at) {
        (None, None) => grid.first(meant.job, Some(TaskPhase::Waiting))?,
        (task, _) => task,
    };
    grid.named(JobOrTask { task: waiting, ..meant })
}

/// The explanation for people.
pub(crate) fn describe(explained: &ExplanationView) -> String {
    let ExplanationView { summary, ruled_out, ratings, remedies, starts, scores_are, .. } = explained;
    let mut text = format!("{summary}\n");
    if let Some(ExpectedStart { machine, at_s: Some(at_s), .. }) = starts {
        text += &format!("it is expected to start on {machine} at {}\n", clock(*at_s));
    }
    if !ruled_out.is_empty() {
        text += "\nmachines ruled out\n";
    }
    for ruled in ruled_out {
        let more = if ruled.count > ruled.machines.len() { ", …" } else { "" };
        text += &format!("  {:>6}  {} ({}{more})\n", ruled.count, ruled.rule, ruled.machines.join(", "));
    }
    if !remedies.is_empty() {
        text += "\nit could also run\n";
    }
    for remedy in remedies {
        text += &format!("  {remedy}\n");
    }
    if !ratings.is_empty() {
        let are = scores_are.as_ref().map_or_else(String::new, |are| format!(" ({are})"));
        text += &format!("\nscores, best first{are}\n");
    }
    for rating in ratings.iter().take(RATINGS_SHOWN) {
        text += &format!("  {}  {}\n", crate::columns::score_cell(rating.score), rating.machine);
    }
    if ratings.len() > RATINGS_SHOWN {
        text += &format!("  … and {} more\n", ratings.len() - RATINGS_SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::api::{Rating, RuledOutView};

    #[test]
    fn each_part_is_told() {
        let explained = ExplanationView {
            version: 1,
            at_s: 0.0,
            summary: "it waits: no machine has 8 free cores".into(),
            ruled_out: vec![RuledOutView {
                rule: "fewer than 8 cores".into(),
                count: 3,
                machines: vec!["lab1".into(), "lab2".into()],
            }],
            ratings: vec![Rating { machine: "big".into(), score: 0.25 }],
            remedies: vec!["on 3 machines more with 4 cores".into()],
            starts: Some(ExpectedStart { machine: "big".into(), at_s: Some(60.0), by: "believed".into() }),
            scores_are: Some("affinities".into()),
        };
        let at = clock(60.0);
        assert_eq!(
            describe(&explained),
            format!(
                "it waits: no machine has 8 free cores\nit is expected to start on big at {at}\n\n\
             machines ruled out\n       3  fewer than 8 cores (lab1, lab2, …)\n\n\
             it could also run\n  on 3 machines more with 4 cores\n\n\
             scores, best first (affinities)\n        0.250000  big\n"
            )
        );
    }
}
