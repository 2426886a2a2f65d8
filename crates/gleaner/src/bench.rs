//! `gleaner bench`.

mod live;
mod written;

use crate::cli::{BenchArguments, BenchCommand};
use crate::failure::Failure;
use crate::{Outcome, interrupt, progress, stdout};
use gleaner_bench::mapping;
use gleaner_bench::table::{self, Step};
use serde_json::{Value, json};
use written::{document, line};

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
