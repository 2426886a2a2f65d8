//! No file needs another that needs it: each crate's files can be put in an order in which each comes after those that
//! it takes something from.
//!
//! An arrow leads from a file to each file of its crate that a `use` in it names, or a path in the middle of its code
//! (`super::f()`, `crate::x::T`), wherever what it names is written down: a re-export is followed to its source. **That a
//! file declares a module or re-exports what is below it (`mod x; pub use x::Y;`) is no arrow**: a parent may show its
//! children. What stands below `#[cfg(test)]` does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Circles that stay for now: of these files and of those below them, each with the reason.
const KEPT: [(&str, &[&str], &str); 1] = [(
    "gleaner-classad",
    &["ad", "context", "eval", "expr", "functions", "ops", "scope", "time", "unparse", "value"],
    "the language is recursive: a value may be a list or an ad, which are expressions, which have values and call \
         functions, which evaluate expressions",
)];

/// The path of a module below its crate: `["grid", "apply"]`; nothing for the root.
type Module = Vec<String>;

/// One name that a file takes: in which module it is looked for, which one, and whether it is shown to others.
struct Taken {
    path: Vec<String>,
    shown: bool,
}

fn files(folder: &Path, at: &Module, found: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        let below = |name: String| at.iter().cloned().chain([name]).collect::<Module>();
        if path.is_dir() {
            // Programs beside the crate's own are trees of their own.
            if stem != "bin" {
                files(&path, &below(stem), found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module =
                if ["lib", "main", "mod"].contains(&stem.as_str()) { at.clone() } else { below(stem) };
            let text = std::fs::read_to_string(&path).expect("a file");
            found.entry(module).or_default().push_str(&text);
        }
    }
}

/// What the `use` statements of a file and the paths in its code name, without comments and tests.
fn taken(text: &str) -> Vec<Taken> {
    let lines = before_tests(text).lines().map(|line| line.split("//").next().expect("a first part").trim());
    let code = lines.collect::<Vec<_>>().join(" ");
    let mut taken = Vec::new();
    for statement in code.split(';') {
        let is_tree = |c: char| c.is_alphanumeric() || "_:{},* ".contains(c);
        let Some(start) = statement.rfind("use ").filter(|start| {
            statement[..*start].chars().last().is_none_or(|before| before == ' ' || before == '}')
                && statement[*start..].chars().all(is_tree)
        }) else {
            taken.extend(paths_in(statement));
            continue;
        };
        taken.extend(paths_in(&statement[..start]));
        let (before, tree) = (&statement[..start], &statement[start + 4..]);
        let shown = before.trim_end().rsplit(' ').next().is_some_and(|word| word.starts_with("pub"));
        let mut paths = Vec::new();
        branches(tree, &[], &mut paths);
        taken.extend(paths.into_iter().map(|path| Taken { path, shown }));
    }
    taken
}

/// What stands above the tests, if they stand in the file itself.
fn before_tests(text: &str) -> &str {
    let begins = |(at, mark): &(usize, &str)| {
        let declared = text[at + mark.len()..].lines().next().unwrap_or_default();
        declared.contains("mod ") && declared.ends_with('{')
    };
    let at = text.match_indices("#[cfg(test)]\n").find(begins).map_or(text.len(), |(at, _)| at);
    &text[..at]
}

/// The paths of code that is no `use`.
fn paths_in(code: &str) -> impl Iterator<Item = Taken> + '_ {
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let paths = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    paths.map(|path| {
        let names = path.split("::").filter(|name| !name.is_empty() && *name != "self");
        Taken { path: names.map(str::to_owned).collect(), shown: false }
    })
}

/// Each path of a tree such as `a::{b, c::{self, d as e}}`.
fn branches(tree: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
    let (stem, inner) = match tree.split_once('{') {
        Some((stem, inner)) => (stem, Some(inner.rsplit_once('}').map_or(inner, |(inner, _)| inner))),
        None => (tree, None),
    };
    let stem = stem.split(" as ").next().expect("a first part");
    let names = stem.split("::").map(str::trim).filter(|name| !name.is_empty() && *name != "self");
    let path: Vec<String> = before.iter().cloned().chain(names.map(str::to_owned)).collect();
    let Some(inner) = inner else {
        paths.push(path);
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    branches(&inner[start..at], &path, paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The module that a path leads to from another, and the name in it; nothing if it leads out of the crate.
fn resolved(from: &Module, path: &[String], files: &BTreeMap<Module, String>) -> Option<(Module, String)> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let (mut at, rest) = match path.first()?.as_str() {
        "crate" => (Module::new(), &path[1..]),
        "super" => (from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..]),
        name => (from.clone(), files.contains_key(&below(from, name)).then_some(path)?),
    };
    let mut rest = rest.iter();
    for name in rest.by_ref() {
        if !files.contains_key(&below(&at, name)) {
            return Some((at, name.clone()));
        }
        at.push(name.clone());
    }
    Some((at, String::new()))
}

fn below(module: &Module, name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// From each file to those that it takes something from.
fn arrows(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let uses: BTreeMap<&Module, Vec<Taken>> =
        files.iter().map(|(module, text)| (module, taken(text))).collect();
    let mut shown: BTreeMap<(Module, String), (Module, String)> = BTreeMap::new();
    for (module, uses) in &uses {
        for Taken { path, .. } in uses.iter().filter(|taken| taken.shown) {
            if let Some(source) = resolved(module, path, files) {
                shown.insert(((*module).clone(), path.last().expect("a name").clone()), source);
            }
        }
    }
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, uses) in uses {
        let own = arrows.entry(module.clone()).or_default();
        for Taken { path, shown: shows } in uses {
            let Some(mut target) = resolved(module, &path, files) else { continue };
            for _ in 0..8 {
                let Some(source) = shown.get(&target) else { break };
                target = source.clone();
            }
            if target.0 != *module && !(shows && target.0.starts_with(module)) {
                own.insert(target.0);
            }
        }
    }
    arrows
}

fn reached<'a>(from: &'a Module, arrows: &'a BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'a Module> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        open.extend(arrows[module].iter().filter(|next| reached.insert(*next)));
    }
    reached
}

/// The largest sets of files of which each leads to each.
fn circles(files: &BTreeMap<Module, String>) -> BTreeSet<Vec<String>> {
    let arrows = arrows(files);
    let reached: BTreeMap<_, _> = arrows.keys().map(|module| (module, reached(module, &arrows))).collect();
    let on_circle = reached.iter().filter(|(module, reaches)| reaches.contains(*module));
    let circle = on_circle.map(|(module, reaches)| {
        let both = reaches.iter().filter(|other| reached[*other].contains(module));
        both.map(|module| module.join("/")).collect::<Vec<_>>()
    });
    circle.collect()
}

#[test]
fn no_circle_of_files() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for folder in std::fs::read_dir(crates).expect("the folder of crates") {
        let folder = folder.expect("a folder");
        let name = folder.file_name().into_string().expect("UTF-8");
        let mut files = BTreeMap::new();
        self::files(&folder.path().join("src"), &Module::new(), &mut files);
        found.extend(circles(&files).into_iter().map(|circle| (name.clone(), circle)));
    }
    let is_kept = |(name, kept, _): &(&str, &[&str], &str), (of, circle): &(String, Vec<String>)| {
        let is_there = |file: &String| {
            kept.iter().any(|kept| {
                file.strip_prefix(kept).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        name == of && circle.iter().all(is_there)
    };
    let new: Vec<_> = found.iter().filter(|circle| !KEPT.iter().any(|kept| is_kept(kept, circle))).collect();
    let gone: Vec<_> = KEPT.iter().filter(|kept| !found.iter().any(|circle| is_kept(kept, circle))).collect();
    assert!(new.is_empty(), "files that need each other: {new:#?}");
    assert!(gone.is_empty(), "no circles any more, to be taken from the list: {gone:#?}");
}

#[test]
fn circles_are_seen_through_re_exports_and_not_in_them() {
    let crate_of = |files: &[(&str, &str)]| {
        let module =
            |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let files = files.iter().map(|(path, text)| (module(path), (*text).to_owned()));
        circles(&files.collect::<BTreeMap<Module, String>>())
    };
    let none = BTreeSet::new();
    let parent = ("", "mod a;\nmod b;\npub use a::A;\npub use b::{B, C as D};\n");
    assert_eq!(crate_of(&[parent, ("a", "pub struct A;"), ("b", "use crate::A;\npub struct B;")]), none);
    let circle = BTreeSet::from([vec!["a".to_owned(), "b".to_owned()]]);
    let a = ("a", "use crate::{B, other::{self}};\n// use crate::C;\n");
    assert_eq!(crate_of(&[parent, a, ("b", "use super::A;")]), circle);
    let tests = ("b", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n");
    assert_eq!(crate_of(&[parent, a, tests]), none);
    let shared = ("b", "pub struct B;\n#[cfg(test)]\npub(crate) mod tests {\n    use crate::A;\n}\n");
    assert_eq!(crate_of(&[parent, a, shared]), none);
    let elsewhere = ("b", "#[cfg(test)]\nmod tests;\nuse crate::A;\npub struct B;");
    assert_eq!(crate_of(&[parent, a, elsewhere]), circle);
    let in_code = ("b", "pub struct B;\nfn f() -> u32 {\n    super::A::new(\"see https://x\");\n}\n");
    assert_eq!(crate_of(&[parent, a, in_code]), circle);
    let in_type = ("b", "pub struct B(Vec<crate::a::A>);\n// super::A\n");
    assert_eq!(crate_of(&[parent, a, in_type]), circle);
    let of_a_child = ("a", "mod c;\npub struct A;\nfn f() {\n    c::g();\n}\n");
    let child = ("a/c", "pub fn g(_: super::A) {}\n");
    let both = BTreeSet::from([vec!["a".to_owned(), "a/c".to_owned()]]);
    assert_eq!(crate_of(&[("", "mod a;"), of_a_child, child]), both);
}
