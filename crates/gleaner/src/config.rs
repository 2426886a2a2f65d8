//! `gleaner config`: what a coordinator goes by, and why.

use crate::cli::{ConfigArguments, ConfigShowArguments};
use crate::{Outcome, home, settings, stdout};
use serde_json::json;

pub(crate) fn run(arguments: &ConfigArguments) -> Outcome {
    let ConfigArguments::Show(ConfigShowArguments { serve }) = arguments;
    let folder = home::folder(serve.home.as_deref())?;
    let shown = settings::shown(&folder, serve)?;
    if serve.json {
        return stdout::print_json(&json!({ "version": 1, "home": folder, "settings": shown }));
    }
    // What the command line said of the coordinator that runs is in its folder.
    let running = home::is_coordinators(&folder).then(|| home::coordinator(&folder)).transpose()?;
    let running = running.map_or(String::new(), |reached| {
        format!("{:<16} {:<24} as the coordinator said when it started last\n", "reached at", reached.address)
    });
    let lines =
        shown.iter().map(|one| format!("{:<16} {:<24} {}\n", one.key, one.value.to_string(), one.source));
    stdout::print(
        format!("{:<16} {:<24} --home, GLEANER_HOME or the default\n", "home", folder.display())
            + &running
            + &lines.collect::<String>(),
    )
}
