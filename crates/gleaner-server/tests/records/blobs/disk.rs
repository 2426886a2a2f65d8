//! The form in a folder: it conforms, survives crashes, notices damage, and says when the disk is full.

use super::at;
use super::conformance::keeps_every_promise;
use crate::home;
use crate::small_world::{folder, run_in_namespace};
use gleaner_server::blobs::{Blobs, DamagedBlob, FolderBlobs, PutError, Removed, Terms};
use gleaner_server::desk::Written;
use gleaner_server::outputs::Outputs;
use gleaner_server::store::{Lack, Row, SqliteStore, Store as _};
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::session::Stream;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn open(folder: &Path) -> FolderBlobs {
    FolderBlobs::open(&home(folder)).unwrap()
}

/// All files of the blobs.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("blobs")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    files.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn conforms() {
    keeps_every_promise(|promise| promise(&open(TempDir::new().unwrap().path())));
}

#[test]
fn lies_where_it_is_said_to_and_nobody_else_may_look() {
    let folder = TempDir::new().unwrap();
    let id = open(folder.path()).put(&mut b"content".as_slice(), at(1)).unwrap().id.to_string();
    let path = folder.path().join("blobs").join(&id[..2]).join(&id[2..]);
    assert_eq!(files(folder.path()), std::slice::from_ref(&path));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn reopens_with_what_was_put_and_sweeps_what_a_crash_left() {
    let folder = TempDir::new().unwrap();
    let id = open(folder.path()).put(&mut b"content".as_slice(), at(1)).unwrap().id;
    for left in ["0", "7", "anything"] {
        fs::write(folder.path().join("blobs/incoming").join(left), "half of a blob").unwrap();
    }
    let blobs = open(folder.path());
    assert_eq!(blobs.size(id).unwrap(), Some(7));
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn a_refused_or_broken_body_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let blobs = open(folder.path());
    let mut terms = at(1);
    terms.at_most = 10;
    blobs.put(&mut io::repeat(1), terms).unwrap_err();
    terms.claimed = Some(BlobHash::of(b"other"));
    blobs.put(&mut b"content".as_slice(), terms).unwrap_err();
    assert_eq!(files(folder.path()), [] as [PathBuf; 0]);
}

#[test]
fn damage_is_noticed_at_the_end_and_healed_by_putting_it_again() {
    let content: Vec<u8> = (0..100_000_u32).map(|index| index as u8).collect();
    let flipped: Vec<u8> = content.iter().map(|byte| byte ^ 1).collect();
    let longer = [content.as_slice(), b"x"].concat();
    for damaged in [&flipped, &longer, &content[..50_000].to_vec(), &Vec::new()] {
        let folder = TempDir::new().unwrap();
        let blobs = open(folder.path());
        let id = blobs.put(&mut content.as_slice(), at(1)).unwrap().id;
        fs::write(&files(folder.path())[0], damaged).unwrap();
        let read = || blobs.get(id).unwrap().unwrap().body.read_to_end(&mut Vec::new());
        let error = read().unwrap_err();
        let told = error.get_ref().and_then(|error| error.downcast_ref::<DamagedBlob>());
        assert_eq!(told, Some(&DamagedBlob { id }));
        assert!(blobs.put_aside(id).unwrap());
        assert_eq!(blobs.size(id).unwrap(), None);
        let aside = files(folder.path());
        assert!(aside.len() == 1 && &fs::read(&aside[0]).unwrap() == damaged, "{aside:?}");
        blobs.put(&mut content.as_slice(), at(2)).unwrap();
        assert_eq!(read().unwrap(), content.len());
        assert!(!blobs.put_aside(id).unwrap(), "it is sound");
    }
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = TempDir::new().unwrap();
    drop(open(folder.path()));
    let other = folder.path().join("blobs/notes/readme");
    fs::create_dir(other.parent().unwrap()).unwrap();
    fs::write(&other, "mine").unwrap();
    let blobs = open(folder.path());
    let removed = blobs.remove_unreferenced(&|_| false, Time::NEVER).unwrap();
    assert_eq!(removed, Removed::default());
    assert!(other.exists());
}

#[test]
fn a_full_disk_keeps_what_was_there_and_nothing_of_what_did_not_fit() {
    run_in_namespace("mount -t tmpfs -o size=1m,mode=700 none \"$TEST_FOLDER\"", "blobs::disk::full");
}

#[test]
#[ignore = "run by another test, on a small disk"]
fn full() {
    let folder = folder();
    let blobs = open(&folder);
    let small = blobs.put(&mut io::repeat(1).take(500_000), at(1)).unwrap();
    for _ in 0..3 {
        let refused = blobs.put(&mut io::repeat(2).take(800_000), at(1));
        assert!(matches!(refused, Err(PutError::DiskFull(Lack::Space))), "{refused:?}");
    }
    // What an empty disk would not take is told apart: nobody is to come again with it.
    let never = Terms { announced: Some(1 << 20), ..at(1) };
    let refused = blobs.put(&mut io::repeat(2).take(1 << 20), never);
    assert!(matches!(refused, Err(PutError::LargerThanDisk { bytes: 0x10_0000, .. })), "{refused:?}");
    assert_eq!(files(&folder).len(), 1);
    assert_eq!(blobs.size(small.id).unwrap(), Some(500_000));
    blobs.get(small.id).unwrap().unwrap().body.read_to_end(&mut Vec::new()).unwrap();
}

/// It can hold so few files that an eighth of them stays free, and not `DISK_RESERVE_FILES`.
#[test]
fn a_disk_without_inodes_takes_no_files_and_goes_on() {
    run_in_namespace(
        "mount -t tmpfs -o size=64m,nr_inodes=800,mode=700 none \"$TEST_FOLDER\"",
        "blobs::disk::without_inodes",
    );
}

#[test]
#[ignore = "run by another test, on a disk that holds few files"]
fn without_inodes() {
    let folder = folder();
    let first = home(&folder);
    let blobs = FolderBlobs::open(&first).unwrap();
    let mut store = SqliteStore::open(&first).unwrap();
    let row = || Row { at: Time::ZERO, tasks: Vec::new(), steps: String::new(), body: "{}".to_owned() };
    let refused = (0_u32..).find_map(|number| blobs.put(&mut number.to_le_bytes().as_slice(), at(1)).err());
    let refused = refused.expect("it holds so many files");
    assert!(matches!(refused, PutError::DiskFull(Lack::Inodes)), "{refused:?}");
    assert!(refused.to_string().contains("no inodes are left"), "{refused}");
    let nothing = blobs.put(&mut io::empty(), at(1));
    assert!(matches!(nothing, Err(PutError::DiskFull(Lack::Inodes))), "{nothing:?}");
    // Agents are in, and keep to themselves what tasks print; what was on its way has its place, and so has the journal.
    assert_eq!((first.lack(), first.lack_for_output()), (None, Some(Lack::Inodes)));
    let mut outputs = Outputs::open(&first, Time::ZERO);
    let run = RunId { task: TaskId::new(0), number: 1 };
    outputs.keep(&Written { run, stream: Stream::Stdout, offset: 0, bytes: vec![b'x'; 5_000] }).unwrap();
    outputs.seal(run, [5_000, 0]).unwrap();
    store.commit(&[row()]).unwrap();

    // Others take what is left: whatever is there is given up for a start, which waits for no agent.
    drop((store, blobs, outputs, first));
    let taken = (0..).take_while(|number| fs::File::create(folder.join(format!("other{number}"))).is_ok());
    assert!(taken.count() > 0);
    let second = home(&folder);
    let mut store = SqliteStore::open(&second).unwrap();
    FolderBlobs::open(&second).unwrap();
    assert_eq!(second.lack(), Some(Lack::Inodes));
    store.commit(&[row()]).unwrap();
}
