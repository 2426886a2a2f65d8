use super::*;
use crate::beneath::open_root;
use rustix::fs::{CWD, mknodat};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

fn packed(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let folder = open_root(folder).unwrap();
    pack(&folder, &list(&folder, &["left-out"]).expect("it is there"), &mut bytes).expect("it can be read");
    bytes
}

fn unpacked(archive: &[u8], taking: Taking) -> (TempDir, Result<(), ArchiveError>) {
    let folder = tempfile::tempdir().unwrap();
    let result = unpack(archive, open_root(folder.path()).unwrap(), taking);
    (folder, result)
}

/// An archive with these entries: the name, what it is, and its content or where it leads.
fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for &(name, kind, content) in entries {
        let mut header = Header::new_gnu();
        // As the library itself would refuse to.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_mode(0o644);
        header.set_entry_type(kind);
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        if is_link {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content.as_bytes());
        }
        let content = if is_link { "" } else { content };
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn what_is_packed_comes_back_and_always_as_the_same_bytes() {
    let from = tempfile::tempdir().unwrap();
    let deep = ["a_name_that_makes_a_path_long"; 20].join("/");
    for folder in ["b", "left-out", "b/left-out", &deep] {
        fs::create_dir_all(from.path().join(folder)).unwrap();
    }
    for file in ["z", "b/a", "b/left-out/kept", "left-out/gone", &format!("{deep}/file")] {
        fs::write(from.path().join(file), file).unwrap();
    }
    fs::set_permissions(from.path().join("z"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("/etc/passwd", from.path().join("link")).unwrap();
    symlink(&deep, from.path().join("long-link")).unwrap();
    mknodat(CWD, from.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let bytes = packed(from.path());
    let (to, result) = unpacked(&bytes, Taking::All);
    result.unwrap();
    assert_eq!(packed(to.path()), bytes);
    assert_eq!(fs::read(to.path().join("b/left-out/kept")).unwrap(), b"b/left-out/kept");
    assert_eq!(fs::read_link(to.path().join("link")).unwrap(), Path::new("/etc/passwd"));
    assert_eq!(fs::read_link(to.path().join("long-link")).unwrap(), Path::new(&deep));
    assert!(!to.path().join("left-out").exists());
}

/// Root reads them without more ado.
#[test]
fn what_its_task_closed_is_packed() {
    let from = tempfile::tempdir().unwrap();
    for folder in ["closed", "listed"] {
        fs::create_dir(from.path().join(folder)).unwrap();
        fs::write(from.path().join(folder).join("file"), "in it").unwrap();
    }
    fs::write(from.path().join("unreadable"), "kept").unwrap();
    // The last is the folder itself.
    for (name, mode) in
        [("closed/file", 0), ("closed", 0), ("listed", 0o400), ("unreadable", 0o200), ("", 0o400)]
    {
        fs::set_permissions(from.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let (to, result) = unpacked(&packed(from.path()), Taking::All);
    result.unwrap();
    for (name, text) in [("closed/file", "in it"), ("listed/file", "in it"), ("unreadable", "kept")] {
        assert_eq!(fs::read(to.path().join(name)).unwrap(), text.as_bytes(), "{name}");
    }
}

#[test]
fn nothing_is_packed_by_way_of_a_link() {
    let (folder, secret) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(secret.path().join("token"), "secret").unwrap();
    symlink(secret.path(), folder.path().join("door")).unwrap();
    let root = open_root(folder.path()).unwrap();
    let door = beneath::open_folder(&root, Path::new("door"));
    assert!(door.is_err(), "the folder itself is a link");
    // A folder when it was listed, a link when it is packed; and a file that became a pipe.
    fs::create_dir(folder.path().join("a")).unwrap();
    fs::write(folder.path().join("a/token"), "mine").unwrap();
    fs::write(folder.path().join("b"), "").unwrap();
    let listing = list(&root, &[]).unwrap();
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    symlink(secret.path(), folder.path().join("a")).unwrap();
    let mut bytes = Vec::new();
    assert!(pack(&root, &listing, &mut bytes).is_err());
    assert!(!bytes.windows(6).any(|part| part == b"secret"));
    fs::remove_file(folder.path().join("b")).unwrap();
    mknodat(CWD, folder.path().join("b"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let only_b = listing.into_iter().filter(|(path, _)| path == Path::new("b")).collect();
    assert!(pack(&root, &only_b, Vec::new()).is_err());
}

#[test]
fn what_is_too_deep_is_refused() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut at = open_root(folder.path()).unwrap();
    for _ in 0..3_000 {
        rustix::fs::mkdirat(&at, "n", Mode::RWXU).unwrap();
        at = beneath::open_folder(&at, Path::new("n")).unwrap();
    }
    assert!(matches!(list(open_root(folder.path()).unwrap(), &[]), Err(ArchiveError::TooDeep)));
    beneath::remove(folder.path()).unwrap();
}

#[test]
fn an_archive_cannot_reach_outside() {
    for (name, kind) in [
        ("../x", EntryType::Regular),
        ("a/../../x", EntryType::Regular),
        ("/tmp/x", EntryType::Regular),
        ("..", EntryType::Directory),
        ("x", EntryType::Link),
        ("x", EntryType::Char),
        ("x", EntryType::Fifo),
        ("x", EntryType::GNUSparse),
        ("x", EntryType::XHeader),
        ("", EntryType::Regular),
    ] {
        let (_folder, result) = unpacked(&archive(&[(name, kind, "")]), Taking::All);
        assert!(matches!(result, Err(ArchiveError::Foreign(_))), "{name}: {result:?}");
    }
}

#[test]
fn a_link_inside_does_not_lead_files_outside() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().to_str().unwrap();
    for entries in [
        [("door", EntryType::Symlink, outside), ("door/evil", EntryType::Regular, "evil")],
        [("door", EntryType::Symlink, outside), ("door/evil", EntryType::Directory, "")],
        [("evil", EntryType::Symlink, "/dev/full"), ("evil", EntryType::Regular, "evil")],
    ] {
        let (_folder, result) = unpacked(&archive(&entries), Taking::All);
        assert!(result.is_err(), "{entries:?}");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 0, "{entries:?}");
    }
}

#[test]
fn a_link_among_output_files_is_refused_by_name() {
    for target in ["/etc/passwd", "../../.ssh/authorized_keys", "inside"] {
        let (folder, result) = unpacked(&archive(&[("a", EntryType::Symlink, target)]), Taking::Files);
        let said = result.unwrap_err().to_string();
        assert!(said.contains("\"a\"") && said.contains(target), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_replaced() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = other.path().join("kept");
    fs::write(&kept, "kept").unwrap();
    fs::write(folder.path().join("mine"), "mine").unwrap();
    fs::hard_link(&kept, folder.path().join("hard")).unwrap();
    symlink(&kept, folder.path().join("soft")).unwrap();
    for name in ["mine", "hard", "soft"] {
        let bytes = archive(&[("first", EntryType::Regular, "new"), (name, EntryType::Regular, "new")]);
        let root = open_root(folder.path()).unwrap();
        let (staged, result) = unpacked(&bytes, Taking::Files);
        result.unwrap();
        let staged = open_root(staged.path()).unwrap();
        drop(fs::remove_file(folder.path().join("first")));
        let result = place(&staged, &root, Existing::Stays);
        assert!(matches!(&result, Err(ArchiveError::Exists(path)) if path == Path::new(name)), "{result:?}");
        assert!(!folder.path().join("first").exists(), "nothing was moved");
        place(&staged, &root, Existing::GivesWay).unwrap();
        assert_eq!(fs::read(folder.path().join("first")).unwrap(), b"new");
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), b"new");
        assert_eq!(fs::read(&kept).unwrap(), b"kept", "not through {name}");
    }
}

#[test]
fn files_are_placed_among_others_and_never_by_way_of_a_link() {
    let entries = [("a", EntryType::Directory, ""), ("a/b", EntryType::Regular, "new")];
    let outside = tempfile::tempdir().unwrap();
    for (made, existing, is_placed) in [
        ("nothing", Existing::Stays, true),
        ("folder", Existing::Stays, true),
        ("file", Existing::GivesWay, false),
        ("link", Existing::GivesWay, false),
        ("folder in its place", Existing::GivesWay, false),
    ] {
        let (staged, result) = unpacked(&archive(&entries), Taking::Files);
        result.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let a = folder.path().join("a");
        match made {
            "folder" => fs::create_dir(&a).unwrap(),
            "file" => fs::write(&a, "mine").unwrap(),
            "link" => symlink(outside.path(), &a).unwrap(),
            "folder in its place" => fs::create_dir_all(a.join("b")).unwrap(),
            _ => {}
        }
        let [from, to] = [staged.path(), folder.path()].map(|folder| open_root(folder).unwrap());
        assert_eq!(place(&from, &to, existing).is_ok(), is_placed, "{made}");
        assert_eq!(fs::read(a.join("b")).is_ok_and(|text| text == b"new"), is_placed, "{made}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{made}");
    }
}

#[test]
fn an_archive_that_is_cut_short_or_claims_too_much_is_refused() {
    let whole = archive(&[("a", EntryType::Regular, &"x".repeat(2_000))]);
    assert!(unpacked(&whole[..1_500], Taking::All).1.is_err());
    for (kind, size) in
        [(EntryType::Regular, u64::MAX), (EntryType::GNULongName, 8 << 30), (EntryType::GNULongLink, 5_000)]
    {
        let mut header = Header::new_gnu();
        header.set_path("a").unwrap();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(size);
        header.set_cksum();
        let (_folder, result) = unpacked(header.as_bytes(), Taking::All);
        assert!(result.is_err(), "{kind:?}: {result:?}");
    }
}

/// A terminal would obey what an agent wrote there.
#[test]
fn no_text_of_an_archives_reaches_a_terminal_as_it_is() {
    use gleaner_wire::text::is_hidden;
    let name = "a\x1b]0;owned\x07\u{202e}b\u{9b}2J";
    let one = |kind, content: &str| archive(&[(name, kind, content)]);
    let mut of_no_size = one(EntryType::Regular, "text");
    of_no_size[124..136].copy_from_slice(b"\x1b[31mzzzzzzz");
    let mut of_no_sum = one(EntryType::Regular, "text");
    of_no_sum[148..156].copy_from_slice(b"\x1b[31mzzz");
    let twice = archive(&[(name, EntryType::Regular, "x"), (name, EntryType::Regular, "x")]);
    let folder_and_file = archive(&[(name, EntryType::Directory, ""), (name, EntryType::Regular, "x")]);
    let outside = archive(&[(&*format!("../{name}"), EntryType::Regular, "x")]);
    let mut short = one(EntryType::Regular, "text");
    short.truncate(514);
    for bytes in [
        one(EntryType::Symlink, "\x1b[31m\u{202e}"),
        one(EntryType::Fifo, ""),
        of_no_size,
        of_no_sum,
        twice,
        folder_and_file,
        outside,
        short,
    ] {
        let said = unpacked(&bytes, Taking::Files).1.unwrap_err().to_string();
        assert!(!said.contains(is_hidden) && !said.is_empty(), "{said:?}");
    }
}
