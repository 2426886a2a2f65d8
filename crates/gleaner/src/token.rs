//! `gleaner token`.

use crate::api::Api;
use crate::cli::{GridArguments, TokenArguments};
use crate::columns::{Side, aligned, plural};
use crate::moments::clock;
use crate::{Outcome, files, home, stdout};
use gleaner_net::Address;
use gleaner_server::store::TOKEN_FILE;
use gleaner_wire::VERSION;
use gleaner_wire::api::{JoinTokenView, NewToken, UserList};
use serde_json::json;

pub(crate) fn run(arguments: &TokenArguments) -> Outcome {
    match arguments {
        TokenArguments::Join { uses, expires, owner, grid } => {
            let good = format!("good for {}", plural(u64::from(*uses), "machine"));
            show(grid.json, &Api::open(grid)?.join_token(*uses, *expires, owner.as_deref())?, &good)
        }
        TokenArguments::User { name, role, expires, again, grid } => {
            let api = Api::open(grid)?;
            let is_own = grid.token.is_none() && api.overview()?.user == *name;
            let token = api.user_token(name, role.map(Into::into), *expires, *again)?;
            let kept = if is_own { keep(grid, &token) } else { Ok(()) };
            // The one before is good for nothing any more: whoever cannot keep this one has to see it.
            show(grid.json, &token, &good_for(name, &token))?;
            kept
        }
        TokenArguments::List(arguments) => list(arguments.grid.json, &Api::open(&arguments.grid)?.users()?),
        TokenArguments::Remove { id, grid } => list(grid.json, &Api::open(grid)?.remove_join_token(id)?),
    }
}

/// Whose it is, and as what: it is said where that is another role than before.
fn good_for(name: &str, token: &NewToken) -> String {
    let role = token.role.map_or(String::new(), |role| format!(" as {}", role.name()));
    match token.was.filter(|was| Some(*was) != token.role) {
        Some(was) => format!("good for {name}{role}, no longer as {}", was.name()),
        None => format!("good for {name}{role}"),
    }
}

/// The folder's token was the user's own, and is good for nothing now.
fn keep(grid: &GridArguments, token: &NewToken) -> Outcome {
    home::keep_private();
    let folder = home::folder(grid.home.as_deref())?;
    files::write_text(&folder, TOKEN_FILE, &token.token)?;
    anstream::eprintln!("{} has it from now on", folder.join(TOKEN_FILE).display());
    Ok(())
}

/// The line alone on standard output, so that a script can take it.
fn show(json: bool, token: &NewToken, good: &str) -> Outcome {
    if json {
        return stdout::print_json(token);
    }
    let until =
        token.expires_s.map_or("until it is replaced".to_owned(), |at| format!("until {}", clock(at)));
    anstream::eprintln!("{good}, {until}");
    if let Some(port) = port_of_alone(&token.line) {
        anstream::eprintln!(
            "other machines cannot reach this coordinator: start it with --listen 0.0.0.0:{port} to let them"
        );
    }
    stdout::print(format!("{}\n", token.line))
}

/// The port of the coordinator that a line names, where only its own machine reaches it: it keeps it when it is started for all.
fn port_of_alone(line: &str) -> Option<u16> {
    let mut addresses = line.split(' ').filter_map(|word| word.parse::<Address>().ok());
    addresses.find(Address::is_loopback).map(|address| address.port())
}

fn list(json: bool, users: &UserList) -> Outcome {
    if json {
        return stdout::print_json(&json!({ "version": VERSION, "join_tokens": users.join_tokens }));
    }
    if users.join_tokens.is_empty() {
        return stdout::print("no join token is good: `gleaner token join` makes one\n");
    }
    let row = |token: &JoinTokenView| {
        let owner = token.owner.clone().unwrap_or_default();
        vec![token.id.clone(), token.uses.to_string(), clock(token.expires_s), owner]
    };
    let headings = [
        ("TOKEN", Side::Left),
        ("USES LEFT", Side::Right),
        ("GOOD UNTIL", Side::Left),
        ("OWNER", Side::Left),
    ];
    stdout::print(aligned(&headings, &users.join_tokens.iter().map(row).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_alone_is_told_of_the_port_that_all_know() {
        for (line, port) in [
            ("gleaner login https://127.0.0.1:19717 --token x", Some(19_717)),
            ("gleaner work --join https://localhost:7717 --token x", Some(7_717)),
            ("gleaner login https://lab.example:19717 --token x", None),
        ] {
            assert_eq!(port_of_alone(line), port, "{line}");
        }
    }
}
