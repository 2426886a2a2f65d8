//! `gleaner use`: what users used in the last day.

use crate::api::Api;
use crate::cli::UseArguments;
use crate::columns::{Side, marked, rough_size, shown};
use crate::moments::{clock, span};
use crate::{Outcome, stdout};
use gleaner_wire::day::{UseList, UserUse};

/// The columns that a narrow terminal does not show, in this order: what was had and what of it was for nothing stays longest.
const SPARE: [&str; 7] = ["PEAK MEMORY", "MACHINE TIME", "CPU TIME", "DONE", "FAILED", "RUNS", "WASTED"];

pub(crate) fn run(arguments: &UseArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let mut list = grid.usages()?;
    if let Some(user) = &arguments.user {
        // Of somebody unknown, and of another who may not be asked about, this is refused: nothing used would be no answer.
        grid.jobs(1, None, Some(user))?;
        list.users.retain(|used| used.user == *user);
        list.jobs.retain(|job| job.user == *user);
    }
    if arguments.grid.json { stdout::print_json(&list) } else { stdout::print(told(&list)) }
}

fn told(list: &UseList) -> String {
    let since = clock(list.began_s);
    if list.users.is_empty() {
        return format!("no run ended since {since}\n");
    }
    let headings = [
        ("USER", Side::Left),
        ("RUNS", Side::Right),
        ("DONE", Side::Right),
        ("FAILED", Side::Right),
        ("MACHINE TIME", Side::Right),
        ("CORE HOURS", Side::Right),
        ("WASTED", Side::Right),
        ("CPU TIME", Side::Right),
        ("PEAK MEMORY", Side::Right),
    ];
    let hours = |seconds: f64| format!("{:.2}", seconds / 3600.0);
    let rows = list.users.iter().map(|used| {
        let UserUse { user, runs, done, failed, machine_s, core_s, wasted_core_s, cpu_s, memory_bytes } =
            used;
        vec![
            shown(user, 32),
            runs.to_string(),
            done.to_string(),
            failed.to_string(),
            span(*machine_s),
            hours(*core_s),
            hours(*wasted_core_s),
            span(*cpu_s),
            rough_size(*memory_bytes),
        ]
    });
    let table = marked(&headings, &rows.collect::<Vec<_>>(), &SPARE, |_| false);
    format!(
        "{table}\nof runs that ended since {since}; core hours are those of the cores that tasks asked for\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{UseList, UserUse, told};

    #[test]
    fn what_users_used_is_a_line_for_each() {
        let used = UserUse {
            user: "ada".to_owned(),
            runs: 4,
            done: 3,
            failed: 1,
            machine_s: 7200.0,
            core_s: 14_400.0,
            wasted_core_s: 1800.0,
            cpu_s: 3600.0,
            memory_bytes: 64 << 20,
        };
        let list = UseList { version: 1, began_s: 172_800.0, users: vec![used], jobs: Vec::new() };
        let text = anstream::adapter::strip_str(&told(&list)).to_string();
        let cells: Vec<&str> = text.lines().nth(1).expect("a user").split_whitespace().collect();
        assert_eq!(
            cells,
            ["ada", "4", "3", "1", "2h", "00m", "4.00", "0.50", "1h", "00m", "64.0", "MiB"],
            "{text}"
        );
        assert!(text.contains("\nof runs that ended since 1970-01-0"), "{text}");
        let none = told(&UseList { users: Vec::new(), ..list });
        assert!(none.starts_with("no run ended since 1970-01-0"), "{none}");
    }
}
