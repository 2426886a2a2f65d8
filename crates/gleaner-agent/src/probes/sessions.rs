//! How long the people who are logged in have been idle.
//!
//! Where systemd runs, its `/run/systemd/sessions` says who is logged in; where it does not, each pseudo-terminal
//! counts as a session. A session on a terminal has been idle since somebody typed there, which is when the terminal
//! was last read from (the kernel notes it to within eight seconds). What is typed in a graphical session goes past
//! its terminal, and whether its screen is locked is not in any file: so the one in the foreground is never idle, and
//! one that was switched away from is no session at all.

use std::time::{Duration, SystemTime};

use gleaner_units::Span;

use super::error::ProbeError;
use super::root::Root;
use super::text::Text;

const SESSIONS: &str = "/run/systemd/sessions";
const PSEUDO_TERMINALS: &str = "/dev/pts";

/// The shortest time that any session has been idle; `None` if nobody is logged in.
pub(crate) fn shortest_idle(root: &Root, now: SystemTime) -> Result<Option<Span>, ProbeError> {
    let idle = if root.has_folder(SESSIONS) { idle_sessions(root, now)? } else { idle_terminals(root, now)? };
    Ok(idle.into_iter().min())
}

fn idle_sessions(root: &Root, now: SystemTime) -> Result<Vec<Span>, ProbeError> {
    let mut idle = Vec::new();
    for name in root.list(SESSIONS)? {
        // Beside each session lies a pipe called NAME.ref, which must not be opened.
        if name.contains('.') {
            continue;
        }
        let Some(session) = root.read(&format!("{SESSIONS}/{name}"))? else { continue };
        idle.extend(session_idle(root, &session, now));
    }
    Ok(idle)
}

fn session_idle(root: &Root, session: &Text, now: SystemTime) -> Option<Span> {
    // Greeters, background jobs and the user's own service manager are not people.
    let is_person = session.find_value("CLASS").is_none_or(|class| class.starts_with("user"));
    if !is_person || session.find_value("STATE") == Some("closing") {
        return None;
    }
    let is_active = session.find_value("ACTIVE") == Some("1");
    let is_graphical = matches!(session.find_value("TYPE"), Some("x11" | "wayland" | "mir"));
    match session.find_value("TTY") {
        _ if is_graphical => is_active.then_some(Span::ZERO),
        Some(terminal) => terminal_idle(root, &format!("/dev/{terminal}"), now),
        // A session of commands over the network has no terminal, and nobody types in it.
        None => None,
    }
}

fn idle_terminals(root: &Root, now: SystemTime) -> Result<Vec<Span>, ProbeError> {
    let names = root.list(PSEUDO_TERMINALS)?.into_iter().filter(|name| name != "ptmx");
    Ok(names.filter_map(|name| terminal_idle(root, &format!("{PSEUDO_TERMINALS}/{name}"), now)).collect())
}

fn terminal_idle(root: &Root, terminal: &str, now: SystemTime) -> Option<Span> {
    let typed = root.accessed(terminal)?;
    let idle = now.duration_since(typed).unwrap_or(Duration::ZERO);
    Some(Span::from_nanos(idle.as_nanos().try_into().unwrap_or(u64::MAX)))
}
