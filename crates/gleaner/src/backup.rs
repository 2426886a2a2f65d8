//! `gleaner backup`: a copy of a coordinator's folder while it works.

use crate::cli::BackupArguments;
use crate::columns::plural;
use crate::failure::Failure;
use crate::journal::named;
use crate::{Outcome, home, stdout};
use gleaner_server::backup::{Copied, backup};
use serde_json::json;

pub(crate) fn run(arguments: &BackupArguments) -> Outcome {
    home::keep_private();
    let from = home::folder(arguments.home.as_deref())?;
    let to = &arguments.to;
    let Copied { last, files, bytes, wrong } = backup(&from, to)?;
    let rows = last.number();
    if !wrong.is_empty() {
        let message = format!(
            "{} has the journal up to row {rows}, and {files} files; but {} in {} {} not as the journal says, and not copied: {}",
            to.display(),
            plural(wrong.len() as u64, "file"),
            from.display(),
            if wrong.len() == 1 { "is" } else { "are" },
            named(&wrong),
        );
        return Err(Failure::Difference(message));
    }
    if arguments.json {
        return stdout::print_json(
            &json!({ "version": 1, "to": to, "rows": rows, "files": files, "bytes_copied": bytes }),
        );
    }
    let to = to.display();
    stdout::print(format!(
        "{to} has the journal up to row {rows}, and {files} files ({bytes} bytes of them copied now).\n\
         It has the grid's keys too: keep it as safe as {}.\n\
         `gleaner journal verify --home {to} --files` checks it; docs/when-things-break.md says how to go back to it.\n",
        from.display()
    ))
}
