//! `gleaner man`.

use crate::cli::{Cli, ManArguments};
use crate::failure::Failure;
use crate::{Outcome, stdout};
use clap::CommandFactory;
use std::fs;
use std::io;
use std::path::Path;

pub(crate) fn run(arguments: &ManArguments) -> Outcome {
    if let Some(dir) = &arguments.out {
        return write_all(dir).map_err(|error| Failure::io("write the pages to", dir, error));
    }
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(Cli::command()).render(&mut page);
    written.expect("memory takes all that is written");
    stdout::print(page)
}

/// A page for each command: `gleaner.1`, `gleaner-submit.1`, `gleaner-machine-pause.1`.
fn write_all(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)
}
