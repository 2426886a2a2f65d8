//! Any bytes as an archive that a stranger made: unpacking ends, and changes nothing outside its folder.
#![no_main]

use gleaner_agent::archive::{Existing, Taking, place, unpack};
use gleaner_agent::beneath::open_root;
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|bytes: &[u8]| {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("folder");
    fs::create_dir(&folder).expect("a folder");
    fs::write(scratch.path().join("token"), "secret").expect("a file");
    std::os::unix::fs::symlink("..", folder.join("door")).expect("a link");
    let staged = scratch.path().join("staged");
    fs::create_dir(&staged).expect("a folder");
    let [folder, staged] = [folder, staged].map(|path| open_root(&path).expect("it is there"));
    let _ = unpack(bytes, &folder, Taking::All);
    if unpack(bytes, &staged, Taking::Files).is_ok() {
        let _ = place(&staged, &folder, Existing::GivesWay);
    }
    assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 3);
    assert_eq!(fs::read(scratch.path().join("token")).expect("a file"), b"secret");
});
