//! `gleaner user`.

use crate::api::Api;
use crate::cli::UserArguments;
use crate::columns::{Side, aligned};
use crate::moments::clock;
use crate::{Outcome, stdout};
use gleaner_wire::api::{UserList, UserView};

pub(crate) fn run(arguments: &UserArguments) -> Outcome {
    let users = match arguments {
        UserArguments::List(arguments) => Api::open(&arguments.grid)?.users()?,
        UserArguments::Remove { name, grid } => Api::open(grid)?.remove_user(name)?,
    };
    if arguments.json() {
        return stdout::print_json(&users);
    }
    match arguments {
        UserArguments::List(_) => stdout::print(table(&users)),
        UserArguments::Remove { name, .. } => stdout::print(format!("{name} cannot sign in any more\n")),
    }
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
