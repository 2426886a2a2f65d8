//! The core depends on a fixed set of crates, none of which does I/O, and says so to clippy.

use std::path::Path;

const ALLOWED: [&str; 4] = ["gleaner-classad", "gleaner-units", "serde", "thiserror"];

fn manifest(crate_name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_name).join("Cargo.toml");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names in `[dependencies]`.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("[dependencies]").nth(1).expect("a dependency section");
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', '=', ' ']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_core_depends_on_a_fixed_set() {
    assert_eq!(dependencies(&manifest("gleaner-core")), ALLOWED);
}

#[test]
fn dependencies_point_one_way() {
    let forbidden = [
        ("gleaner-units", &["gleaner-core", "gleaner-policy", "gleaner-sim"][..]),
        ("gleaner-classad", &["gleaner-units", "gleaner-core", "gleaner-policy", "gleaner-sim"]),
        ("gleaner-policy", &["gleaner-sim", "gleaner-papers", "gleaner-workload"]),
        ("gleaner-sim", &["gleaner-papers", "gleaner"]),
    ];
    for (from, to) in forbidden {
        let found = dependencies(&manifest(from));
        let wrong = found.iter().find(|name| to.contains(&name.as_str()));
        assert_eq!(wrong, None, "{from} must not depend on it");
    }
}
