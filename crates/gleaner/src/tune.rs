//! `gleaner tune`: a scenario under every combination of some numbers, and the setting to use.

mod findings;
mod parameter;
mod report;

pub(crate) use parameter::Parameter;

use crate::cli::TuneArguments;
use crate::failure::Failure;
use crate::simulate::Loaded;
use crate::trials;
use crate::{Outcome, files, interrupt, stdout};
use findings::Findings;
use gleaner_workload::InputError;
use parameter::{Setting, Sweep};
use rayon::prelude::*;

/// Whenever results mean something else than before, this changes.
const EDITION: &str = "tune 2";

pub(crate) fn run(arguments: &TuneArguments) -> Outcome {
    interrupt::listen();
    let sweep = Sweep::new(&arguments.parameters, arguments.steps).map_err(Failure::Usage)?;
    let (seeds, measure) = checked(arguments, &sweep)?;
    if let Some(dir) = &arguments.out {
        files::check_writable(dir).map_err(|error| Failure::Usage(format!("--out: {error}")))?;
    }
    let settings = sweep.settings();
    let runs = trials::run(
        (EDITION, arguments.out.as_deref()),
        (&settings, seeds),
        |setting| load(arguments, &sweep, setting),
        |setting| sweep.overrides(setting).join(" "),
    )?;
    let findings = Findings::of(sweep, measure, &trials::once_if_alike(runs));
    let (name, svg) = report::drawing(&findings);
    if let Some(dir) = &arguments.out {
        files::write_text(dir, "settings.csv", &findings.table())?;
        files::write_text(dir, name, svg.as_str())?;
        files::write_json(dir, "tune.json", &findings)?;
        let scenario = arguments.scenario.display().to_string();
        files::write_text(dir, "report.html", &report::page(&findings, &scenario, svg))?;
    }
    if arguments.json { stdout::print_json(&findings) } else { stdout::print(describe(arguments, &findings)) }
}

fn load(arguments: &TuneArguments, sweep: &Sweep, setting: &Setting) -> Result<Loaded, Failure> {
    let mut overrides = arguments.overrides.clone();
    overrides.extend(arguments.policy.iter().map(|name| format!("policy.preset=\"{name}\"")));
    let own = sweep.overrides(setting);
    overrides.extend(own.iter().cloned());
    Loaded::load(&arguments.scenario, &overrides).map_err(|failure| match failure {
        Failure::Input(InputError { file, line, field, found, expected }) => {
            let argument = own.iter().find(|argument| file == format!("--set {argument}"));
            let file = argument.map_or(file, |argument| format!("--param {argument}"));
            Failure::Input(InputError { file, line, field, found, expected })
        }
        other => other,
    })
}

/// Every setting can be run, and has the measure: bad input is found before anything runs. The seeds to run with, and what
/// is measured.
fn checked(arguments: &TuneArguments, sweep: &Sweep) -> Result<(u64, String), Failure> {
    if sweep.axes.iter().any(|(key, _)| key == "run.seed") {
        let found = "--param run.seed: found the seed; expected a number of the scenario: all settings run with the same seeds";
        return Err(Failure::Usage(found.to_owned()));
    }
    let settings = sweep.settings();
    let first = load(arguments, sweep, &settings[0])?;
    let draws = |setting: &Setting| load(arguments, sweep, setting).map(|loaded| loaded.draws());
    let others: Vec<Result<bool, Failure>> = settings[1..].par_iter().map(draws).collect();
    let others = others.into_iter().collect::<Result<Vec<bool>, Failure>>()?;
    let measure = arguments.measure.clone().unwrap_or_else(|| first.usual_measure().to_owned());
    if let Some(wanted) = &arguments.measure
        && !first.measures().contains(&wanted.as_str())
    {
        let known = first.measures().join(", ");
        return Err(Failure::Usage(format!("--measure: found \"{wanted}\"; expected one of {known}")));
    }
    // More runs of what draws nothing would all be the same.
    let draws = first.draws() || others.contains(&true);
    Ok((if draws { arguments.seeds } else { 1 }, measure))
}

fn describe(arguments: &TuneArguments, findings: &Findings) -> String {
    let runs = match findings.seeds {
        1 if arguments.seeds > 1 => {
            "one run each: nothing is drawn, so that other seeds give the same run".to_owned()
        }
        1 => "one run each (how sure it is takes several: --seeds)".to_owned(),
        seeds => format!("{seeds} runs each"),
    };
    let mut text = format!("{} settings, {runs}\n{}\n", findings.settings.len(), report::lead(findings));
    if !findings.set.is_empty() {
        let named = arguments.policy.iter().map(|name| format!("--policy {name}"));
        let set = arguments.overrides.iter().chain(&findings.set).map(|argument| format!("--set {argument}"));
        let said: Vec<String> = named.chain(set).collect();
        text += &format!("gleaner simulate {} {}\n", arguments.scenario.display(), said.join(" "));
    }
    match &arguments.out {
        Some(dir) => text += &format!("report: {}\n", dir.join("report.html").display()),
        None => text += "a heat map, tables and a report: --out DIR\n",
    }
    text
}
