//! `gleaner quota`: how much each user may have of the coordinator at a time.

use crate::api::Api;
use crate::cli::{QuotaArguments, QuotaSetArguments};
use crate::columns::{Side, marked, rough_size, shown};
use crate::{Outcome, stdout};
use gleaner_wire::api::{Quota, QuotaList, QuotaSetting};

pub(crate) fn run(arguments: &QuotaArguments) -> Outcome {
    let (quotas, json) = match arguments {
        QuotaArguments::Show(arguments) => (Api::open(&arguments.grid)?.quotas()?, arguments.grid.json),
        QuotaArguments::Set(arguments) => {
            let grid = Api::open(&arguments.grid)?;
            let now = grid.quotas()?;
            let held = now.users.iter().find(|view| Some(&view.user) == arguments.user.as_ref());
            let held = held.map_or(now.everyone, |view| view.quota);
            let quota = Quota {
                tasks: arguments.tasks.unwrap_or(held.tasks),
                tasks_ever: arguments.tasks_ever.unwrap_or(held.tasks_ever),
                cores: arguments.cores.unwrap_or(held.cores),
                bytes: arguments.bytes.unwrap_or(held.bytes),
                requirement_bytes: arguments.requirements.unwrap_or(held.requirement_bytes),
                description_bytes: arguments.descriptions.unwrap_or(held.description_bytes),
                requests_per_s: arguments.requests.unwrap_or(held.requests_per_s),
                priority: arguments.priority.map_or(held.priority, |highest| highest.0),
            };
            let quota = (!arguments.default).then_some(quota);
            let setting = QuotaSetting { user: arguments.user.clone(), quota };
            let quotas = grid.set_quota(&setting)?;
            anstream::eprint!("{}", nothing_left(arguments));
            (quotas, arguments.grid.json)
        }
    };
    if json { stdout::print_json(&quotas) } else { stdout::print(table(&quotas)) }
}

/// What a quota of nothing does, for whoever meant no bound by it.
fn nothing_left(arguments: &QuotaSetArguments) -> String {
    let effects = [
        (arguments.tasks == Some(0), "--tasks 0: they can submit no job"),
        (arguments.tasks_ever == Some(0), "--tasks-ever 0: they can submit no job"),
        (arguments.cores == Some(0), "--cores 0: none of their tasks starts, and all wait"),
    ];
    let effects = effects.iter().filter(|(is_so, _)| *is_so);
    effects.map(|(_, effect)| format!("{effect}, until the quota is larger\n")).collect()
}

/// The columns that a narrow terminal does not show, in this order.
const SPARE: [&str; 6] =
    ["DESCRIPTIONS", "REQUIREMENTS", "REQUESTS A SECOND", "TASKS EVER", "STORED", "CORES"];

/// What each user has of the most that they may have.
fn table(quotas: &QuotaList) -> String {
    let headings = [
        ("USER", Side::Left),
        ("TASKS", Side::Right),
        ("TASKS EVER", Side::Right),
        ("CORES", Side::Right),
        ("STORED", Side::Right),
        ("REQUIREMENTS", Side::Right),
        ("DESCRIPTIONS", Side::Right),
        ("REQUESTS A SECOND", Side::Right),
        ("PRIORITY", Side::Right),
    ];
    let row = |user: String, used: Option<[String; 6]>, quota: Quota| {
        let most = [
            quota.tasks.to_string(),
            quota.tasks_ever.to_string(),
            quota.cores.to_string(),
            rough_size(quota.bytes),
            rough_size(quota.requirement_bytes),
            rough_size(quota.description_bytes),
        ];
        let used: Vec<String> = used.map(Vec::from).unwrap_or_default();
        let used = used.into_iter().map(|used| used + " of ").chain(std::iter::repeat(String::new()));
        let pairs = used.zip(most).map(|(used, most)| used + &most);
        let priority = quota.priority.map_or_else(|| "any".to_owned(), |most| most.to_string());
        let others = [quota.requests_per_s.to_string(), priority];
        [user].into_iter().chain(pairs).chain(others).collect::<Vec<_>>()
    };
    let mut rows = vec![row("everyone else".to_owned(), None, quotas.everyone)];
    let users = quotas.users.iter();
    rows.extend(users.map(|view| {
        let used = [
            view.tasks.to_string(),
            view.tasks_ever.to_string(),
            view.cores.to_string(),
            rough_size(view.bytes.saturating_add(view.sent_bytes)),
            rough_size(view.requirement_bytes),
            rough_size(view.description_bytes),
        ];
        row(shown(&view.user, 32), Some(used), view.quota)
    }));
    marked(&headings, &rows, &SPARE, |_| false)
}

#[cfg(test)]
mod tests {
    use super::{QuotaList, nothing_left, table};
    use crate::cli::{Cli, Command, QuotaArguments};
    use clap::Parser as _;
    use serde_json::json;

    #[test]
    fn what_users_have_stands_before_what_they_may_have() {
        let quota = json!({"tasks": 5, "tasks_ever": 9, "cores": 1, "bytes": 1024, "requirement_bytes": 1024,
            "description_bytes": 1024, "requests_per_s": 7, "priority": 3});
        let ann = json!({"user": "ann", "quota": quota, "tasks": 2, "cores": 1, "bytes": 0});
        let list = json!({"version": 1, "everyone": quota, "users": [ann]});
        let list: QuotaList = serde_json::from_value(list).expect("quotas");
        let text = anstream::adapter::strip_str(&table(&list)).to_string();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        assert_eq!(lines[1], "everyone else 5 9 1 1.0 KiB 1.0 KiB 1.0 KiB 7 3");
        assert_eq!(lines[2], "ann 2 of 5 0 of 9 1 of 1 0 B of 1.0 KiB 0 B of 1.0 KiB 0 B of 1.0 KiB 7 3");
    }

    #[test]
    fn a_quota_of_nothing_says_what_it_does() {
        for (set, expected) in [
            ("--cores 1 --tasks 5", ""),
            ("--default", ""),
            ("--cores 0", "--cores 0: none of their tasks starts, and all wait, until the quota is larger\n"),
            ("--tasks 0", "--tasks 0: they can submit no job, until the quota is larger\n"),
        ] {
            let line = format!("gleaner quota set --user bob {set}");
            let cli = Cli::try_parse_from(line.split(' ')).expect("it parses");
            let Command::Quota(QuotaArguments::Set(arguments)) = cli.command else { unreachable!("{line}") };
            assert_eq!(nothing_left(&arguments), expected, "{line}");
        }
    }
}
