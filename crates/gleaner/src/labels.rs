//! `gleaner labels`.

use crate::api::Api;
use crate::cli::PlainArguments;
use crate::columns::{Side, aligned, shown};
use crate::{Outcome, stdout};

pub(crate) fn run(arguments: &PlainArguments) -> Outcome {
    let labels = Api::open(&arguments.grid)?.labels()?;
    if arguments.grid.json {
        return stdout::print_json(&labels);
    }
    let headings = [
        ("USER", Side::Left),
        ("LABEL", Side::Left),
        ("CPU", Side::Right),
        ("DISK", Side::Right),
        ("NET", Side::Right),
        ("RUNS", Side::Right),
    ];
    let rows = labels.labels.iter().map(|label| {
        let [cpu, disk, net] = label.composition.map(|share| format!("{share:.3}"));
        vec![shown(&label.user, 20), shown(&label.label, 40), cpu, disk, net, label.runs.to_string()]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return stdout::print(
            "no labels: give tasks that are alike one, with `gleaner submit --label NAME`\n",
        );
    }
    stdout::print(aligned(&headings, &rows))
}
