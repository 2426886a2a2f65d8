//! `gleaner token`.

use crate::cli::TokenArguments;
use crate::grid::Grid;
use crate::moments::clock;
use crate::{Outcome, stdout};

pub(crate) fn run(arguments: &TokenArguments) -> Outcome {
    let token = match arguments {
        TokenArguments::Join(arguments) => Grid::open(&arguments.grid)?.join_token()?,
        TokenArguments::User { name, role, expires, grid } => {
            Grid::open(grid)?.user_token(name, (*role).into(), *expires)?
        }
    };
    if arguments.json() {
        return stdout::print_json(&token);
    }
    if let Some(expires_s) = token.expires_s {
        let good = match arguments {
            TokenArguments::Join(_) => "good for one machine, until",
            TokenArguments::User { .. } => "good until",
        };
        anstream::eprintln!("{good} {}", clock(expires_s));
    }
    // Alone on standard output, so that a script can take it.
    stdout::print(token.token + "\n")
}
