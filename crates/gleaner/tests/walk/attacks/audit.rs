//! Whoever may write the coordinator's folder makes a row disappear, and seals the journal anew so that nothing in the folder
//! shows it.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use gleaner_server::store::{
    DATABASE, Home, NetworkFolder, Reader as _, Row, Seq, SqliteReader, SqliteStore, Store as _,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What somebody does to the rows.
type Forging = fn(&mut Vec<Row>);

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\n";
const FILES: [&str; 2] = [DATABASE, "journal.last"];

/// The journal in a folder, with other rows: sealed as Gleaner itself seals it.
fn forge(from: &Path, to: &Path, forging: impl Fn(&mut Vec<Row>)) {
    let reader = SqliteReader::open(from).expect("a journal");
    let mut rows = Vec::new();
    loop {
        let page = reader.read(Seq::new(rows.len() as u64 + 1), 1_000).expect("rows");
        if page.is_empty() {
            break;
        }
        rows.extend(page.into_iter().map(|stored| stored.row));
    }
    forging(&mut rows);
    let home = Home::open(to, NetworkFolder::Accept).expect("a folder");
    SqliteStore::open(&home).expect("a journal").commit(&rows).expect("it is committed");
}

fn is_about_eve(row: &Row) -> bool {
    row.body.contains("user_added") && row.body.contains("\"eve\"")
}

#[test]
fn a_row_that_was_taken_out_or_changed_is_missed_by_whoever_kept_a_head_and_by_machines() {
    let mut grid = Grid::new("audit", 8);
    grid.start();
    grid.ok(&["token", "user", "eve", "--role", "admin"]);
    grid.add("lab", 80, RULES, &[]);
    let met = grid.folder.path().join("lab/met.json");
    until("the machine remembers what it heard of", PATIENCE, || {
        let met: Value = serde_json::from_str(&fs::read_to_string(&met).ok()?).ok()?;
        met["hash"].is_string().then_some(())
    });
    grid.stop_coordinator();
    let head = grid.ok(&["audit", "--head"]).trim().to_owned();
    assert!(grid.ok(&["audit", "--verify", "--since", &head]).contains(&format!("head {head}")));
    assert_eq!(grid.json(&["audit", "--head"]), json!({ "version": 1, "head": head }));
    let verified = grid.json(&["audit", "--verify", "--since", &head]);
    assert_eq!((&verified["head"], verified["rows"].is_u64()), (&json!(head), true), "{verified}");

    let forgeries: [(&str, Forging); 3] = [
        ("taken out", |rows| rows.retain(|row| !is_about_eve(row))),
        ("cut off", |rows| rows.truncate(rows.len() - 1)),
        ("changed", |rows| {
            let row = rows.iter_mut().find(|row| is_about_eve(row)).expect("she was added");
            row.body = row.body.replace("\"eve\"", "\"ada\"");
        }),
    ];
    let folder = grid.folder.path().to_owned();
    for (what, forging) in forgeries {
        let forged = folder.join(what);
        forge(&grid.home, &forged, forging);
        let home = forged.to_str().expect("text");
        let alone = grid.ok(&["audit", "--home", home, "--verify"]);
        assert!(alone.contains("each follows from those before it"), "{what}: {alone}");
        let held = grid.cli(&["audit", "--home", home, "--verify", "--since", &head]);
        let said = String::from_utf8_lossy(&held.stderr).into_owned();
        assert_eq!(held.status.code(), Some(1), "{what}: {said}");
        assert!(said.contains("taken away"), "{what}: {said}");
    }

    for name in FILES {
        fs::copy(folder.join("changed").join(name), grid.home.join(name)).expect("it is put in place");
    }
    for name in ["gleaner.db-wal", "gleaner.db-shm"] {
        drop(fs::remove_file(grid.home.join(name)));
    }
    // Else it would start from what was true.
    drop(fs::remove_dir_all(grid.home.join("snapshots")));
    grid.start();
    until("the machine turns away", PATIENCE, || {
        let machines = grid.json(&["machines"]);
        let why = machines["machines"][0]["why"].as_str().unwrap_or_default().to_owned();
        why.contains("the coordinator's journal is not what it was").then_some(())
    });
    grid.stop_coordinator();
    grid.ok(&["journal", "restore", "--yes"]);
    grid.start();
    until("it is let in by order", PATIENCE, || (grid.state_of("lab")? == "open").then_some(()));
    grid.wind_up();
}
