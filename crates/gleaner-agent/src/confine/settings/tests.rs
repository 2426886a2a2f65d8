//! Small machines whose settings are copied.

use super::*;
use crate::archive::list;
use gleaner_net::Files;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

/// A machine below a folder, and copies of its settings beside it.
struct Machine {
    root: PathBuf,
    copies: Copies,
    _scratch: TempDir,
}

impl Machine {
    /// With a file for each of these, in which is its name.
    fn new(files: &[&str]) -> Self {
        let scratch = TempDir::new().unwrap();
        let within = scratch.path().canonicalize().unwrap();
        let copies = Copies::new(&within.join("settings"));
        let machine = Self { root: within.join("root"), copies, _scratch: scratch };
        for file in files {
            machine.write(file, file);
        }
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join("etc").join(path)
    }

    fn permit(&self, path: &str, mode: u32) {
        fs::set_permissions(self.at(path), Permissions::from_mode(mode)).unwrap();
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.at(path);
        let folder = file.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        for folder in folder.ancestors().take_while(|folder| *folder != self.root) {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(&file, text).unwrap();
        self.permit(path, 0o644);
    }

    fn link(&self, path: &str, leads_to: &str) {
        symlink(leads_to, self.at(path)).unwrap();
    }

    fn follow(&mut self) -> String {
        self.changes();
        self.copied()
    }

    /// Whether a look finds changes, which are then copied.
    fn changes(&mut self) -> bool {
        self.copies.become_as(look(&self.root, MOST).unwrap()).unwrap()
    }

    /// What tasks see, but for what is always there.
    fn copied(&self) -> String {
        let folder = beneath::open_root(&self.copies.shown).unwrap();
        let always = ["hosts", "protocols", "resolv.conf", "services", "ssl"];
        let mut seen = Vec::new();
        for (path, about) in list(&folder, &[]).unwrap() {
            let at = self.copies.shown.join(&path);
            let (name, mode) = (path.display(), about.st_mode & 0o7777);
            let line = match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory => {
                    assert_eq!(mode, 0o755, "{name}");
                    format!("{name}/")
                }
                FileType::Symlink => format!("{name} > {}", fs::read_link(&at).unwrap().display()),
                FileType::RegularFile => {
                    assert_eq!(mode, 0o644, "{name}");
                    format!("{name}: {}", fs::read_to_string(&at).unwrap())
                }
                other => panic!("{name} is {other:?}"),
            };
            if always.iter().all(|always| path != Path::new(always)) {
                seen.push(line);
            }
        }
        seen.join(", ")
    }
}

#[test]
fn what_is_named_and_open_to_everybody_is_copied_and_nothing_else() {
    let closed = ["fonts/closed", "fonts/private/in", "hidden/group", "pki/listed/in"];
    let mut machine = Machine::new(&["fonts/conf.d/10", "pki/certs/a", "passwd", "shadow", "zones/UTC"]);
    for file in closed {
        machine.write(file, "secret");
    }
    machine.permit("fonts/closed", 0o640);
    machine.permit("fonts/private", 0o750);
    machine.permit("hidden", 0o700);
    machine.permit("pki/listed", 0o754);
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, machine.at("fonts/pipe"), FileType::Fifo, mode, 0).unwrap();
    machine.write("ssl/other", "not named");
    for (path, leads_to) in [
        ("fonts/conf.d/20", "../../shadow"),
        ("group", "hidden/group"),
        ("localtime", "zones/UTC"),
        ("nsswitch.conf", "nothing"),
        ("ssl/certs", "../pki/certs"),
    ] {
        machine.link(path, leads_to);
    }
    assert_eq!(
        machine.follow(),
        "fonts/, fonts/conf.d/, fonts/conf.d/10: fonts/conf.d/10, fonts/conf.d/20 > ../../shadow, \
         localtime: zones/UTC, passwd: passwd, pki/, pki/certs/, pki/certs/a: pki/certs/a, ssl/certs/, \
         ssl/certs/a: pki/certs/a"
    );
    for file in ["hosts", "protocols", "resolv.conf", "services"] {
        assert_eq!(fs::metadata(machine.copies.shown.join(file)).unwrap().len(), 0, "{file}");
    }
}

#[test]
fn no_other_user_comes_to_the_copies_by_themselves() {
    let mut machine = Machine::new(&["passwd"]);
    machine.follow();
    assert_eq!(fs::metadata(&machine.copies.within).unwrap().mode() & 0o7777, 0o700);
}

#[test]
fn what_changes_is_copied_anew_and_all_else_stays() {
    let mut machine = Machine::new(&["fonts/a", "fonts/b", "fonts/c/d", "fonts/e", "group", "passwd"]);
    machine.link("alternatives", "fonts");
    machine.link("fonts/f", "a");
    machine.follow();
    let inode = |machine: &Machine, file: &str| fs::metadata(machine.copies.shown.join(file)).unwrap().ino();
    let before = ["group", "passwd"].map(|file| inode(&machine, file));

    // In its place, so that its folder does not change.
    fs::write(machine.at("passwd"), "more users").unwrap();
    machine.permit("fonts/a", 0o600);
    fs::remove_file(machine.at("fonts/b")).unwrap();
    machine.write("fonts/b/g", "a folder now");
    fs::remove_dir_all(machine.at("fonts/c")).unwrap();
    machine.write("fonts/c", "a file now");
    fs::remove_file(machine.at("fonts/e")).unwrap();
    fs::remove_file(machine.at("fonts/f")).unwrap();
    machine.link("fonts/f", "c");
    fs::remove_file(machine.at("alternatives")).unwrap();
    let expected = "fonts/, fonts/b/, fonts/b/g: a folder now, fonts/c: a file now, fonts/f > c, group: group, \
                    passwd: more users";
    assert_eq!(machine.follow(), expected);
    let after = ["group", "passwd"].map(|file| inode(&machine, file));
    assert!(before[0] == after[0] && before[1] != after[1], "{before:?} {after:?}");

    // Whoever has it open still reads what it was.
    let mut open = File::open(machine.copies.shown.join("passwd")).unwrap();
    machine.write("passwd", "others");
    machine.follow();
    assert_eq!(io::read_to_string(&mut open).unwrap(), "more users");
}

#[test]
fn whoever_changes_them_may_not_be_done() {
    let mut machine = Machine::new(&["group", "passwd"]);
    assert_eq!([(); 2].map(|()| machine.changes()), [true, false], "made");
    machine.write("passwd", "more users");
    assert_eq!([(); 2].map(|()| machine.changes()), [true, false], "written");
    fs::remove_file(machine.at("group")).unwrap();
    assert_eq!([(); 2].map(|()| machine.changes()), [true, false], "removed");
}

#[test]
fn what_is_closed_between_a_look_and_its_copying_is_not_copied() {
    let mut machine = Machine::new(&["group", "passwd"]);
    machine.follow();
    machine.write("passwd", "more users");
    let found = look(&machine.root, MOST).unwrap();
    machine.permit("passwd", 0o600);
    machine.copies.become_as(found).unwrap();
    assert_eq!(machine.copied(), "group: group");
    assert_eq!(machine.follow(), "group: group");
    machine.permit("passwd", 0o644);
    assert_eq!(machine.follow(), "group: group, passwd: more users");
}

#[test]
fn what_an_earlier_agent_left_goes_and_a_folder_that_went_is_made_again() {
    let mut machine = Machine::new(&["passwd"]);
    machine.follow();
    let Copies { within, shown, .. } = &machine.copies;
    fs::write(shown.join("shadow"), "from another machine").unwrap();
    fs::write(shown.join("passwd"), "half").unwrap();
    fs::write(within.join("part"), "a copy that broke off").unwrap();
    machine.copies = Copies::new(within);
    assert_eq!(machine.follow(), "passwd: passwd");
    fs::remove_dir_all(&machine.copies.within).unwrap();
    assert_eq!(machine.follow(), "passwd: passwd");
}

#[test]
fn so_many_files_and_bytes_are_copied_and_no_more() {
    let machine = Machine::new(&["fonts/a", "fonts/b"]);
    let most = |paths, bytes| look(&machine.root, Most { paths, bytes });
    // Four for the network, two folders and two files with seven letters each.
    assert_eq!(most(8, 14).unwrap().len(), 8);
    assert!(matches!(most(7, 14), Err(SettingsError::TooMany(7))));
    assert!(matches!(most(8, 13), Err(SettingsError::TooLarge(13))));
}

#[test]
fn they_take_little_of_what_is_free() {
    let disk = |free, files| Disk { size: 1 << 30, free, files: Some(Files { all: 1 << 20, free: files }) };
    for (disk, count, bytes, expected) in [
        (disk(1 << 20, 1_600), 8, 32 << 10, true),
        (disk(1 << 20, 1_600), 8, (32 << 10) + 1, false),
        (disk(1 << 20, 127), 8, 32 << 10, false),
        (disk(0, 0), 0, 0, true),
    ] {
        assert_eq!(has_room(disk, count, bytes), expected, "{count} with {bytes} bytes on {disk:?}");
    }
}

#[test]
fn where_no_copies_can_be_made_there_are_none_until_they_can() {
    let scratch = TempDir::new().unwrap();
    let home = scratch.path().join("home");
    fs::write(&home, "in the way").unwrap();
    let settings = Settings::make(&home.join("settings"));
    assert_eq!(settings.folder(), None);
    fs::remove_file(&home).unwrap();
    assert!(!settings.is_changing(), "what fails is not tried sooner");
    settings.follow();
    assert!(settings.is_changing());
    settings.follow();
    assert!(!settings.is_changing());
    let shown = home.join("settings/etc");
    assert_eq!(settings.folder(), Some(&*shown));
    assert_eq!(fs::read(shown.join("passwd")).unwrap(), fs::read("/etc/passwd").unwrap());
}
