//! A measurement as people and programs read it.

use gleaner_bench::table::{Aim, Measurement};
use serde_json::{Value, json};

pub(super) fn line(measurement: &Measurement) -> String {
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

pub(super) fn document(line: &Measurement) -> Value {
    let Measurement { name, value, unit, aim } = line;
    let (at_least, at_most) = match *aim {
        Some(Aim::AtLeast(least)) => (Some(least), None),
        Some(Aim::AtMost(most)) => (None, Some(most)),
        None => (None, None),
    };
    json!({ "name": name, "value": value, "unit": unit, "at_least": at_least, "at_most": at_most })
}
