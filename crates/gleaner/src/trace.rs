//! `gleaner trace`: when machines are there, and how fast.

use crate::cli::{GenerateArguments, ImportArguments, Month, Speeds, TraceArguments, WrittenArguments};
use crate::failure::Failure;
use crate::{Outcome, files, stdout};
use gleaner_report::numbers::{self, decimals, grouped};
use gleaner_sim::Trace;
use gleaner_workload::availability::import::Import;
use gleaner_workload::availability::{self, Profile, Statistics};
use serde::Serialize;
use std::path::Path;

const DAY_S: f64 = 86_400.0;
/// More machines than a run or a table could take.
const MACHINES_MAX: usize = 1_000_000;

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    version: u32,
    #[serde(flatten)]
    statistics: Statistics,
}

pub(crate) fn run(arguments: &TraceArguments) -> Outcome {
    match arguments {
        TraceArguments::Generate(arguments) => write(&generate(arguments)?, &arguments.written),
        TraceArguments::Check(arguments) => say(&availability::load(&arguments.file)?, arguments.json),
        TraceArguments::Import(arguments) => write(&import(arguments)?, &arguments.written),
    }
}

fn generate(arguments: &GenerateArguments) -> Result<Trace, Failure> {
    let mut profile = match (arguments.month, arguments.speeds) {
        (Month::September, Speeds::Tenfold) => Profile::SEPTEMBER,
        (Month::June, Speeds::Tenfold) => Profile::JUNE,
        (Month::September, Speeds::AsPrinted) => Profile::MANY_SEPTEMBER,
        (Month::June, Speeds::AsPrinted) => Profile::MANY_JUNE,
    };
    profile = arguments.present.map_or(profile, |present| profile.with_present(present));
    profile = arguments.mean_speed.map_or(profile, |speed| profile.with_mean_speed(speed));
    if !(1..=MACHINES_MAX).contains(&profile.machines()) {
        let found = format!("--present: {} machines ever come", profile.machines());
        return Err(Failure::Usage(format!("{found}; expected from 1 to {MACHINES_MAX}")));
    }
    Ok(profile.draw(arguments.seed, f64::from(arguments.days) * DAY_S))
}

fn import(arguments: &ImportArguments) -> Result<Trace, Failure> {
    let WrittenArguments { out, machines, .. } = &arguments.written;
    files::check_is_not_read("--out", out, &arguments.file)?;
    if let Some(machines) = machines {
        files::check_is_not_read("--machines", machines, &arguments.file)?;
    }
    let import = Import { speed: arguments.speed, component: arguments.component.clone() };
    Ok(import.read(&arguments.file)?)
}

fn write(trace: &Trace, arguments: &WrittenArguments) -> Outcome {
    if trace.intervals().is_empty() {
        return Err(Failure::Usage(
            "no machine is ever there in such a trace; nothing was written".to_owned(),
        ));
    }
    if arguments.machines.as_ref() == Some(&arguments.out) {
        let out = arguments.out.display();
        return Err(Failure::Usage(format!(
            "--machines: found {out}, which --out names; expected another file"
        )));
    }
    put(&arguments.out, |out| availability::write(trace, out))?;
    if let Some(path) = &arguments.machines {
        put(path, |out| availability::write_machines(trace, out))?;
    }
    say(trace, arguments.json)?;
    if !arguments.json {
        for path in std::iter::once(&arguments.out).chain(&arguments.machines) {
            stdout::print(format!("{:12} {}\n", "written", path.display()))?;
        }
    }
    Ok(())
}

fn put(path: &Path, content: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Outcome {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    files::write_file(files::folder_of(path), &name, content)?;
    Ok(())
}

fn say(trace: &Trace, json: bool) -> Outcome {
    let statistics = Statistics::of(trace);
    if json {
        return stdout::print_json(&Document { version: 1, statistics });
    }
    let Statistics { machines, intervals, pieces, end_s, present_mean, .. } = statistics;
    let speed = |speed: f64| format!("{} operations a second", numbers::significant(speed, 3));
    let long = decimals(100.0 * statistics.long_intervals, 1);
    let lines = [
        ("machines", grouped(machines as u64)),
        ("intervals", format!("{}, {} pieces", grouped(intervals as u64), grouped(pieces as u64))),
        ("length", numbers::seconds(end_s)),
        ("present", format!("{} on average", decimals(present_mean, 1))),
        ("together", speed(statistics.cumulative_speed)),
        ("mean speed", speed(statistics.speed_mean)),
        ("90 % below", speed(statistics.speed_90)),
        ("fastest", speed(statistics.speed_max)),
        ("an interval", format!("{} on average", numbers::seconds(statistics.interval_mean_s))),
        ("long enough", format!("{long} % of the intervals for 12 million operations")),
    ];
    stdout::print(lines.map(|(what, value)| format!("{what:12} {value}\n")).concat())
}
