//! `gleaner user`.

use crate::api::Api;
use crate::cli::{GridArguments, PlainArguments, UserArguments};
use crate::columns::{Side, aligned};
use crate::moments::clock;
use crate::submit::Signing;
use crate::{Outcome, stdout};
use gleaner_wire::api::{UserList, UserView};
use serde_json::json;

pub(crate) fn run(arguments: &UserArguments) -> Outcome {
    match arguments {
        UserArguments::List(PlainArguments { grid }) => {
            let users = Api::open(grid)?.users()?;
            if grid.json { stdout::print_json(&users) } else { stdout::print(table(&users)) }
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

fn table(list: &UserList) -> String {
    let headings = [("USER", Side::Left), ("ROLE", Side::Left), ("TOKEN GOOD UNTIL", Side::Left)];
    let row = |user: &UserView| {
        vec![
            user.name.clone(),
            user.role.name().to_owned(),
            user.expires_s.map_or("replaced".to_owned(), clock),
        ]
    };
    let rows: Vec<Vec<String>> = list.users.iter().map(row).collect();
    aligned(&headings, &rows)
}
