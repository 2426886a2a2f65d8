//! The folder in which a grid's coordinator keeps everything, and what a client finds there.

use crate::failure::Failure;
use gleaner_http::serve::{ADDRESS_FILE, Reached};
use gleaner_net::read_private;
use gleaner_server::store::TOKEN_FILE;
use rustix::fs::Mode;
use std::path::{Path, PathBuf};

/// The folder that was given, or else the one that commands look in by themselves: `GLEANER_HOME`, or the usual one.
pub(crate) fn folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(folder) = given {
        return Ok(folder.to_owned());
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = || variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    variable("GLEANER_HOME").or_else(|| Some(state()?.join("gleaner"))).ok_or_else(|| {
        Failure::Usage("there is no HOME to keep anything in: name a folder with --home DIR".to_owned())
    })
}

/// From now on this process makes no file and no folder that others can read, whatever it was started with.
pub(crate) fn keep_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Whether a coordinator was ever started in `folder`.
pub(crate) fn is_coordinators(folder: &Path) -> bool {
    folder.join(ADDRESS_FILE).is_file()
}

/// Where the coordinator is to which a folder only signs in.
pub(crate) fn signs_in_to(folder: &Path) -> Option<String> {
    // A coordinator's own folder has the number of its process.
    let reached = coordinator(folder).ok().filter(|reached| reached.pid == 0)?;
    Some(reached.address)
}

/// What the coordinator of `folder` last wrote about itself.
pub(crate) fn coordinator(folder: &Path) -> Result<Reached, Failure> {
    let path = folder.join(ADDRESS_FILE);
    let text = read(&path)?.ok_or_else(|| {
        Failure::NoGrid(format!(
            "no coordinator was ever started in {}: start one with `gleaner up`, or sign in to one with the line that its \
             administrator gave you, `gleaner login LINE`",
            folder.display()
        ))
    })?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("{} makes no sense: {error}", path.display())))
}

/// The token of the user whose folder it is.
pub(crate) fn token(folder: &Path) -> Result<String, Failure> {
    let path = folder.join(TOKEN_FILE);
    let text = read(&path)?.ok_or_else(|| {
        Failure::NoGrid(format!(
            "no token in {}: whoever runs the grid makes you a line with `gleaner token user NAME`; then `gleaner login LINE`",
            path.display()
        ))
    })?;
    if text.trim().is_empty() {
        return Err(Failure::Usage(format!(
            "{} is empty: on the coordinator's machine its next start writes a new token; elsewhere sign in again with the line of \
             `gleaner token user NAME`",
            path.display()
        )));
    }
    Ok(text.trim().to_owned())
}

/// Both files decide who gets the user's orders, so nobody else may have had a hand in them.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    let content = read_private(path).map_err(|error| Failure::Usage(error.to_string()))?;
    let text = content.map(String::from_utf8).transpose();
    text.map_err(|_| Failure::Usage(format!("{} is not text", path.display())))
}
