//! `gleaner quota`: how much each user may have of the coordinator at a time.

use crate::api::Api;
use crate::cli::QuotaArguments;
use crate::columns::{Side, aligned, shown};
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
                requests_per_s: arguments.requests.unwrap_or(held.requests_per_s),
            };
            let setting = QuotaSetting { user: arguments.user.clone(), quota };
            (grid.set_quota(&setting)?, arguments.grid.json)
        }
    };
    if json { stdout::print_json(&quotas) } else { stdout::print(table(&quotas)) }
}

fn table(quotas: &QuotaList) -> String {
    let headings = [
        ("USER", Side::Left),
        ("TASKS", Side::Right),
        ("OF", Side::Right),
        ("REQUESTS A SECOND", Side::Right),
    ];
    let row = |user: String, tasks: String, quota: Quota| {
        vec![user, tasks, quota.tasks.to_string(), quota.requests_per_s.to_string()]
    };
    let mut rows = vec![row("everyone else".to_owned(), String::new(), quotas.everyone)];
    let users = quotas.users.iter();
    rows.extend(users.map(|view| row(shown(&view.user, 32), view.tasks.to_string(), view.quota)));
    aligned(&headings, &rows)
}
