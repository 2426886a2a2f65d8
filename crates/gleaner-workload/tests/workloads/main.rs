//! Scenarios, logs and descriptions of jobs, as they are read, and what is made of them.

mod availability;
mod brokering;
mod input;
mod logs;
mod queues;
mod sites;
mod submit_files;

use std::path::{Path, PathBuf};

/// A file or folder of the data that lies beside the project; the test that asks ends without it.
fn shared(name: &str) -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = above.map(|folder| folder.join("shared/data").join(name)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: there is no shared/data/{name} beside the project");
    }
    found
}
