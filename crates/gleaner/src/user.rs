//! `gleaner user`.

use crate::api::Api;
use crate::cli::{GridArguments, PlainArguments, UserArguments};
use crate::columns::{Side, aligned};
use crate::moments::{clock, now_s};
use crate::submit::Signing;
use crate::{Outcome, stdout};
use gleaner_wire::api::{UserList, UserView};
use serde_json::json;

pub(crate) fn run(arguments: &UserArguments) -> Outcome {
    match arguments {
        UserArguments::List(PlainArguments { grid }) => {
            let users = Api::open(grid)?.users()?;
            if grid.json { stdout::print_json(&users) } else { stdout::print(table(&users, now_s())) }
        }
        UserArguments::Key(PlainArguments { grid }) => key(grid),
        UserArguments::Remove { name, grid } => {
            let users = Api::open(grid)?.remove_user(name)?;
            if grid.json {
                return stdout::print_json(&users);
            }
            stdout::print(format!("{name} cannot sign in any more\n"))
        }
    }
}

/// The signer alone on standard output, so that a script can take it.
fn key(grid: &GridArguments) -> Outcome {
    let signer = Signing::open(grid.home.as_deref(), &Api::open(grid)?)?.signer();
    if grid.json {
        return stdout::print_json(
            &json!({ "version": 1, "user": signer.user, "key": signer.key.to_string() }),
        );
    }
    anstream::eprintln!(
        "for the owner of a machine that is to run only what you sign: gleaner owner set signed_by '[\"{signer}\"]'"
    );
    stdout::print(format!("{signer}\n"))
}

/// Until when a token is good, or since when it is not.
fn good_until(expires_s: Option<f64>, now_s: f64) -> String {
    match expires_s {
        None => "without end".to_owned(),
        Some(at_s) if at_s <= now_s => format!("expired {}", clock(at_s)),
        Some(at_s) => clock(at_s),
    }
}

fn table(list: &UserList, now_s: f64) -> String {
    let headings = [("USER", Side::Left), ("ROLE", Side::Left), ("TOKEN GOOD UNTIL", Side::Left)];
    let row = |user: &UserView| {
        vec![user.name.clone(), user.role.name().to_owned(), good_until(user.expires_s, now_s)]
    };
    let rows: Vec<Vec<String>> = list.users.iter().map(row).collect();
    aligned(&headings, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::api::Role;

    #[test]
    fn a_token_that_has_expired_is_told_from_one_that_will() {
        let user = |name: &str, expires_s| UserView { name: name.to_owned(), role: Role::User, expires_s };
        let users = vec![user("ada", None), user("bob", Some(100.0)), user("eve", Some(101.0))];
        let list = UserList { version: 1, users, join_tokens: Vec::new() };
        let text = table(&list, 100.0);
        let ends = |name: &str| text.lines().find(|line| line.starts_with(name)).expect("a line").to_owned();
        assert!(ends("ada").ends_with("without end"), "{text}");
        assert!(ends("bob").contains("expired ") && !ends("eve").contains("expired"), "{text}");
    }
}
