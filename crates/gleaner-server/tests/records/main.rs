//! What the coordinator keeps: its journal, its blobs, and the books that follow from its facts.

mod blobs;
mod ledger;
mod parts;
mod second_runs;
mod small_world;
mod store;

use gleaner_server::store::{Home, HomeError, NetworkFolder};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// The folder's home. A program that another test starts has this one's locks too for a moment, until it is loaded.
fn home(folder: &Path) -> Home {
    let mut tries = 0..100;
    loop {
        match Home::open(folder, NetworkFolder::Refuse) {
            Err(HomeError::Locked { .. }) if tries.next().is_some() => sleep(Duration::from_millis(10)),
            opened => return opened.expect("the folder is free"),
        }
    }
}
