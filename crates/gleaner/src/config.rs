//! `gleaner config`: what a coordinator goes by, and why.

use crate::cli::{ConfigArguments, ConfigShowArguments};
use crate::{Outcome, home, settings, stdout};
use serde_json::json;

pub(crate) fn run(arguments: &ConfigArguments) -> Outcome {
    let ConfigArguments::Show(ConfigShowArguments { serve, json }) = arguments;
    let folder = home::folder(serve.home.as_deref())?;
    let shown = settings::shown(&folder, serve)?;
    if *json {
        return stdout::print_json(&json!({ "version": 1, "home": folder, "settings": shown }));
    }
    let lines =
        shown.iter().map(|one| format!("{:<16} {:<24} {}\n", one.key, one.value.to_string(), one.source));
    stdout::print(
        format!("{:<16} {:<24} --home, GLEANER_HOME or the default\n", "home", folder.display())
            + &lines.collect::<String>(),
    )
}
