//! `gleaner bench`.

mod live;

use crate::cli::{BenchArguments, BenchCommand};
use crate::failure::Failure;
use crate::{Outcome, interrupt, progress, stdout};
use gleaner_bench::mapping;
use gleaner_bench::table::{self, Aim, Measurement, Step};
use serde_json::{Value, json};

pub(crate) fn run(arguments: &BenchArguments) -> Outcome {
    match &arguments.what {
        Some(BenchCommand::Live(arguments)) => live::run(arguments),
        Some(BenchCommand::Map(arguments)) => measure(&mapping::steps(), arguments.json),
        None => measure(&table::steps(), arguments.json),
    }
}

fn measure(steps: &[Step], json: bool) -> Outcome {
    interrupt::listen();
    let bar = progress::bar(steps.len() as u64, "measurements");
    let mut lines = Vec::new();
    for step in steps {
        if interrupt::asked() {
            return Err(Failure::Interrupted(format!(
                "{} of {} measurements were made",
                bar.position(),
                steps.len()
            )));
        }
        let measured = step.measure();
        if !json {
            bar.suspend(|| stdout::print(measured.iter().map(line).collect::<String>()))?;
        }
        lines.extend(measured);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if json {
        let measurements: Vec<Value> = lines.iter().map(document).collect();
        stdout::print_json(&json!({ "version": 1, "measurements": measurements }))?;
    }
    Ok(())
}

fn line(measurement: &Measurement) -> String {
    let Measurement { name, value, unit, aim } = measurement;
    let value = shown(*value, unit);
    let aim = match aim {
        Some(Aim::AtLeast(least)) => format!("  aim: at least {}", shown(*least, unit)),
        Some(Aim::AtMost(most)) => format!("  aim: at most {}", shown(*most, unit)),
        None => String::new(),
    };
    format!("{name:46} {value:>10} {unit:11}{aim}").trim_end().to_owned() + "\n"
}

fn shown(value: f64, unit: &str) -> String {
    match unit {
        "events/s" => format!("{:.1} M", value / 1e6),
        "ns" | "tasks/s" => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

fn document(line: &Measurement) -> Value {
    let Measurement { name, value, unit, aim } = line;
    let (at_least, at_most) = match *aim {
        Some(Aim::AtLeast(least)) => (Some(least), None),
        Some(Aim::AtMost(most)) => (None, Some(most)),
        None => (None, None),
    };
    json!({ "name": name, "value": value, "unit": unit, "at_least": at_least, "at_most": at_most })
}
