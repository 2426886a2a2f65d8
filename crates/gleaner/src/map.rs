//! `gleaner map`.

mod polishing;

pub(crate) use polishing::Budget;

use crate::cli::MapArguments;
use crate::failure::Failure;
use crate::{Outcome, files, stdout};
use gleaner_mapping::bound::{Bound, BoundBy};
use gleaner_mapping::{Heuristic, Mapping, Matrix};
use gleaner_report::{Axis, Plot, Series, Style};
use gleaner_workload::InputError;
use polishing::{CurvePoint, Polished, polish};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Up to so many tasks, people are shown where each goes.
const SHOWN_TASKS: usize = 32;

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    heuristic: String,
    tasks: usize,
    machines: usize,
    makespan: f64,
    bound: Option<f64>,
    gap: Option<f64>,
    assignment: &'a [u32],
    #[serde(skip_serializing_if = "Option::is_none")]
    polish: Option<&'a Polished>,
}

pub(crate) fn run(arguments: &MapArguments) -> Outcome {
    let matrix = read(&arguments.file)?;
    let mapping = arguments.heuristic.map(&matrix);
    let wanted = arguments.bound || arguments.polish.is_some();
    let bound = wanted.then(|| Bound::of(&matrix));
    let (mapping, polished) = match (arguments.polish, &bound) {
        (Some(budget), Some(bound)) => {
            let (mapping, polished) = polish(&matrix, &mapping, bound, budget, arguments.seed);
            (mapping, Some(polished))
        }
        _ => (mapping, None),
    };
    if let Some(dir) = &arguments.out {
        write(dir, &mapping, polished.as_ref().zip(bound.as_ref()))?;
    }
    let bound = bound.filter(|_| arguments.bound);
    if arguments.json {
        stdout::print_json(&document(
            arguments.heuristic,
            &matrix,
            &mapping,
            bound.as_ref(),
            polished.as_ref(),
        ))?;
    } else {
        stdout::print(describe(arguments, &matrix, &mapping, bound.as_ref(), polished.as_ref()))?;
    }
    match polished {
        Some(polished) if polished.interrupted => {
            let kept = format!("{} moves were tried; the best mapping so far is kept", polished.moves);
            Err(Failure::Interrupted(kept))
        }
        _ => Ok(()),
    }
}

fn read(file: &Path) -> Result<Matrix, Failure> {
    let content = std::fs::read(file).map_err(|error| InputError {
        file: file.display().to_string(),
        line: None,
        field: String::new(),
        found: error.to_string(),
        expected: "a file that can be read".to_owned(),
    })?;
    Matrix::parse(&content).map_err(|error| Failure::Usage(format!("{}:{error}", file.display())))
}

fn document<'a>(
    heuristic: Heuristic,
    matrix: &Matrix,
    mapping: &'a Mapping,
    bound: Option<&Bound>,
    polish: Option<&'a Polished>,
) -> Document<'a> {
    Document {
        version: 1,
        heuristic: heuristic.to_string(),
        tasks: matrix.tasks(),
        machines: matrix.machines(),
        makespan: mapping.makespan,
        bound: bound.map(|bound| bound.value),
        gap: bound.and_then(|bound| bound.gap(mapping.makespan)),
        assignment: &mapping.assignment,
        polish,
    }
}

fn describe(
    arguments: &MapArguments,
    matrix: &Matrix,
    mapping: &Mapping,
    bound: Option<&Bound>,
    polished: Option<&Polished>,
) -> String {
    let mut lines = vec![
        ("heuristic", arguments.heuristic.to_string()),
        ("instance", format!("{} tasks × {} machines", matrix.tasks(), matrix.machines())),
        ("makespan", format!("{:.3}", mapping.makespan)),
    ];
    if let Some(bound) = bound {
        let by = match bound.by {
            BoundBy::LinearProgram => "no mapping does better even if tasks are divided",
            BoundBy::LongestTask => "one task alone takes that long",
        };
        lines.push(("bound", format!("{:.3}, {by}", bound.value)));
        let gap = bound.gap(mapping.makespan);
        lines.push(("gap", gap.map_or("none".to_owned(), |gap| format!("{:.3} %", 100.0 * gap))));
    }
    if let Some(Polished { seed, moves, makespan_before, reproducible, .. }) = polished {
        let depends = if *reproducible { "" } else { "; how many depends on this machine" };
        lines.push(("polished", format!("from {makespan_before:.3} by {moves} moves, seed {seed}{depends}")));
    }
    if matrix.tasks() <= SHOWN_TASKS {
        let machines: Vec<String> = mapping.assignment.iter().map(u32::to_string).collect();
        lines.push(("assignment", machines.join(" ")));
    }
    lines.extend(
        arguments.out.as_deref().map(|dir| ("results", dir.join("assignment.csv").display().to_string())),
    );
    let lines: Vec<String> = lines.into_iter().map(|(what, value)| format!("{what:12} {value}\n")).collect();
    lines.concat()
}

fn write(dir: &Path, mapping: &Mapping, polished: Option<(&Polished, &Bound)>) -> Outcome {
    let mut table = "task,machine\n".to_owned();
    for (task, machine) in mapping.assignment.iter().enumerate() {
        writeln!(table, "{task},{machine}").expect("writing to a string does not fail");
    }
    files::write_text(dir, "assignment.csv", &table)?;
    let Some((polished, bound)) = polished else { return Ok(()) };
    let mut table = "moves,seconds,makespan\n".to_owned();
    for CurvePoint { moves, seconds, makespan } in &polished.curve {
        writeln!(table, "{moves},{seconds:.6},{makespan}").expect("writing to a string does not fail");
    }
    files::write_text(dir, "polish.csv", &table)?;
    let points = polished.curve.iter().map(|point| (point.seconds, point.makespan));
    let moments = polished.curve.iter().map(|point| (point.seconds, bound.value));
    let plot = Plot::new("Best makespan while polishing", Axis::linear("time (s)"), Axis::linear("makespan"))
        .with(Series::new("best so far", Style::Step, points))
        .with(Series::new("lower bound", Style::Step, moments));
    files::write_text(dir, "polish.svg", plot.svg().as_str())?;
    Ok(())
}
