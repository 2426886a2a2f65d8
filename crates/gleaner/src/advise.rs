//! `gleaner advise`: every rule that makes sense, over a scenario, a log or a grid's own past, and the one to use.
//!
//! All are run with the same seeds and held against each other by one number. **What the best gains is measured again, with
//! seeds that did not choose it**: of many rules the luckiest looks better than it is.

mod candidate;
mod candidates;
mod findings;
mod lost_wait;
mod report;
mod subject;
mod verdict;

use crate::cli::AdviseArguments;
use crate::failure::Failure;
use crate::trials::{self, Numbers, Ranking, Runnable as _};
use crate::{Outcome, files, interrupt, stdout};
use candidate::Candidate;
use findings::{Findings, Moved, Runs};
use lost_wait::LostWait;
use subject::{Ready, Subject};

/// Whenever results mean something else than before, this changes.
const EDITION: &str = "advise 6";

pub(crate) fn run(arguments: &AdviseArguments) -> Outcome {
    interrupt::listen();
    if let Some(dir) = &arguments.out {
        files::check_writable(dir).map_err(|error| Failure::Usage(format!("--out: {error}")))?;
    }
    let subject = Subject::of(arguments)?;
    let now = subject.load(&subject.first())?;
    let measure = now.measure_of(arguments.measure.as_deref())?;
    let (tried, left_out) = candidates::that_work(&subject, &now, &arguments.policy)?;
    let out = (EDITION, arguments.out.as_deref());
    let load = |candidate: &Candidate| subject.load(candidate);
    let runs = trials::run(out, (&tried, arguments.seeds), load, Candidate::name)?;
    let runs = trials::once_if_alike(runs);
    let ranking = Ranking::of(&measure, &runs);
    let again = match ranking.best.filter(|best| *best != 0) {
        None => None,
        Some(best) => {
            let seeds = now.seed().saturating_add(arguments.seeds);
            let pair = [tried[0].clone(), tried[best].clone()];
            let later = |candidate: &Candidate| Ok(subject.load(candidate)?.with_seed(seeds));
            let runs = trials::run(out, (&pair, arguments.seeds), later, Candidate::name)?;
            Some(trials::once_if_alike(runs))
        }
    };
    let waits = runs.iter().map(|runs| longest_wait(runs)).collect();
    let moved = Moved { shake_s: now.shake_s(), lost_wait: lost_wait(&subject, &now, &runs[0])? };
    let findings = Findings::of(&subject, (tried, left_out), measure, moved, Runs { ranking, again, waits });
    if let Some(dir) = &arguments.out {
        files::write_text(dir, "rules.csv", &findings.table())?;
        files::write_json(dir, "advice.json", &findings)?;
        files::write_text(dir, "report.html", &report::page(&findings, &subject))?;
    }
    if arguments.json {
        stdout::print_json(&findings)
    } else {
        stdout::print(report::text(&findings, arguments.out.as_deref()))
    }
}

/// How much of the first rule's waiting is gone since arrivals are moved, if that is most of it.
fn lost_wait(subject: &Subject, now: &Ready<'_>, shaken: &[Numbers]) -> Result<Option<LostWait>, Failure> {
    if now.shake_s() == 0.0 {
        return Ok(None);
    }
    let unshaken = subject.load(&subject.first())?.unshaken();
    Ok(LostWait::of(&unshaken.measure(unshaken.seed())?, shaken))
}

/// The longest wait of any of a rule's runs; none where some run does not say.
fn longest_wait(runs: &[Numbers]) -> Option<f64> {
    let waits: Option<Vec<f64>> = runs.iter().map(|run| run.number("wait_max_s")).collect();
    waits?.into_iter().reduce(f64::max)
}
