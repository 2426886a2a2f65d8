//! Each crate depends on what the table in ARCHITECTURE.md says, and on nothing else of ours; the core on a fixed set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Names = BTreeSet<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifest(name: &str) -> String {
    read(format!("crates/{name}/Cargo.toml"))
}

/// The names in a section such as `[dependencies]`; none if there is no such section.
fn dependencies(manifest: &str, section: &str) -> Names {
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', '=', ' ']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn ours(names: Names) -> Names {
    names.into_iter().filter(|name| name.starts_with("gleaner-")).collect()
}

/// What each crate may depend on, by the table in ARCHITECTURE.md.
fn allowed() -> BTreeMap<String, Names> {
    let map = read("ARCHITECTURE.md");
    let rows = map.lines().skip_while(|line| !line.starts_with("| crate | depends on |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let mut cells = line.split('|').skip(1).map(str::trim);
        let name = cells.next().expect("a crate").trim_matches('`').to_owned();
        let uses = cells.next().expect("what it depends on").split(", ").filter(|name| !name.is_empty());
        (name, uses.map(|name| format!("gleaner-{name}")).collect())
    };
    rows.map(row).collect()
}

fn crates() -> Names {
    let folders = std::fs::read_dir(root().join("crates")).expect("the folder of crates");
    folders.map(|folder| folder.expect("a folder").file_name().into_string().expect("a name")).collect()
}

#[test]
fn the_core_depends_on_a_fixed_set() {
    let allowed = ["gleaner-classad", "gleaner-units", "rand_chacha", "rand_core", "serde", "thiserror"]
        .map(str::to_owned);
    assert_eq!(dependencies(&manifest("gleaner-core"), "[dependencies]"), Names::from(allowed));
}

#[test]
fn each_crate_depends_on_what_the_map_says() {
    let allowed = allowed();
    assert_eq!(allowed.keys().cloned().collect::<Names>(), crates(), "a row for each crate");
    for (name, uses) in &allowed {
        let manifest = manifest(name);
        // Nothing of ours comes in by another door.
        let sections = manifest.lines().filter(|line| line.starts_with('[') && line.contains("dependencies"));
        let doors = ["[dependencies]", "[dev-dependencies]"];
        assert!(sections.into_iter().all(|section| doors.contains(&section)), "{name}");
        let of_tests = dependencies(&manifest, "[dev-dependencies]");
        let mut found = ours(dependencies(&manifest, "[dependencies]"));
        assert!(!found.contains("gleaner-testkit"), "{name}");
        // A crate's own tests may ask for features of it.
        found.extend(ours(of_tests).into_iter().filter(|other| other != "gleaner-testkit" && other != name));
        assert_eq!(&found, uses, "{name}");
    }
}

/// The code of a crate, without its tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder of code");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| path.is_dir());
    let read = |file: PathBuf| (file.clone(), std::fs::read_to_string(file).unwrap_or_default());
    files.into_iter().map(read).chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// A policy says itself what it keeps a task from, what it pays and what it believes.
#[test]
fn no_other_crate_asks_which_policy_it_is() {
    for name in crates().iter().filter(|name| *name != "gleaner-policy") {
        for (path, code) in sources(&root().join("crates").join(name).join("src")) {
            assert!(!code.contains("AnyPolicy::"), "{}", path.display());
            // The testkit has goals of its own.
            assert!(name == "gleaner-testkit" || !code.contains("Goal::"), "{}", path.display());
        }
    }
}

/// An order of all crates in which each comes after those that it depends on.
#[test]
fn dependencies_point_one_way() {
    let mut left = allowed();
    while !left.is_empty() {
        let ready = left.iter().find(|(_, uses)| uses.iter().all(|name| !left.contains_key(name)));
        let Some((name, _)) = ready else { panic!("in a circle: {:?}", left.keys()) };
        let name = name.clone();
        left.remove(&name);
    }
}
