//! Any bytes, and good archives that were changed: reading them ends, without a panic, and nothing is written elsewhere.

use super::{Existing, Taking, place, unpack};
use crate::beneath::open_root;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tar::{Builder, EntryType, Header};

const BLOCK: usize = 512;

/// One of each that an archive may hold, and names both short and long.
fn good() -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    let long = ["a_name_that_makes_a_path_long"; 8].join("/");
    for (name, kind, content) in [
        ("a", EntryType::Directory, ""),
        ("a/file", EntryType::Regular, "content"),
        (&long, EntryType::Regular, "more of it"),
        ("a/link", EntryType::Symlink, ".."),
        ("a/link2", EntryType::Symlink, &long),
        ("a/link3/x", EntryType::Regular, "x"),
    ] {
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        header.set_entry_type(kind);
        header.set_size(if kind == EntryType::Symlink { 0 } else { content.len() as u64 });
        if kind == EntryType::Symlink {
            archive.append_link(&mut header, name, content).unwrap();
        } else {
            archive.append_data(&mut header, name, content.as_bytes()).unwrap();
        }
    }
    archive.into_inner().unwrap()
}

/// Makes the sums right again that stand in the blocks, or nothing that was changed would be looked at.
fn sum_up(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(BLOCK) {
        let header = Header::from_byte_slice(block);
        if header.as_gnu().is_some() || header.as_ustar().is_some() {
            let mut header = header.clone();
            header.set_cksum();
            block.copy_from_slice(header.as_bytes());
        }
    }
}

/// What an archive could change outside the folder that it is unpacked into.
fn outside(scratch: &std::path::Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read(path).unwrap_or_default())).collect()
}

fn check(archive: &[u8]) {
    for taking in [Taking::All, Taking::Files] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("folder");
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(scratch.path().join("token"), "secret").unwrap();
        symlink("..", folder.join("a/link3")).unwrap();
        let before = outside(scratch.path());
        let _ = unpack(archive, open_root(&folder).unwrap(), taking);
        assert_eq!(outside(scratch.path()), before, "{taking:?}");
    }
    for existing in [Existing::Stays, Existing::GivesWay] {
        let scratch = tempfile::tempdir().unwrap();
        let [staged, folder] = ["staged", "folder"].map(|name| scratch.path().join(name));
        fs::create_dir(&staged).unwrap();
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(scratch.path().join("token"), "secret").unwrap();
        symlink("..", folder.join("a/link3")).unwrap();
        let before = outside(scratch.path());
        let [staged, folder] = [staged, folder].map(|folder| open_root(&folder).unwrap());
        if unpack(archive, &staged, Taking::Files).is_ok() {
            let _ = place(&staged, &folder, existing);
        }
        assert_eq!(outside(scratch.path()), before, "{existing:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..3 * BLOCK), summed: bool) {
        if summed {
            sum_up(&mut bytes);
        }
        check(&bytes);
    }

    #[test]
    fn a_changed_archive_does_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24),
        header_fields in prop::collection::vec((0_usize..10, 100_usize..160, any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = good();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for (block, field, byte) in header_fields {
            if let Some(found) = bytes.get_mut(block * BLOCK + field) {
                *found = byte;
            }
        }
        sum_up(&mut bytes);
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        check(&bytes);
    }

    /// Names of every kind, as headers have them.
    #[test]
    fn a_name_leads_nowhere_else(
        names in prop::collection::vec(("(\\.\\./|/|\\./|a/|link/|link3/){0,6}[a-c.]{0,2}", 0_u8..8), 1..8),
    ) {
        let mut bytes = Vec::new();
        for (name, kind) in names {
            let mut header = Header::new_gnu();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_mode(0o755);
            header.set_entry_type(EntryType::new(b'0' + kind));
            header.set_link_name("..").unwrap();
            header.set_size(0);
            header.set_cksum();
            bytes.extend(header.as_bytes());
        }
        check(&bytes);
    }
}
