//! Machines whose owners run only what certain users signed. What a coordinator that was taken over can try is in
//! `gleaner-agent/tests/working/signed.rs`, where the test plays that coordinator.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const RULES: &str = "sessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\n";

/// Unsigned jobs, and jobs that somebody else signed, are not placed there, and it is said why; a signed one runs.
#[test]
fn only_what_its_user_signed_comes_to_a_machine_that_asks_for_that() {
    let mut grid = Grid::new("signed", 60);
    grid.start();
    let signer = grid.ok(&["user", "key"]).trim().to_owned();
    assert_eq!(signer, grid.ok(&["user", "key"]).trim(), "the key stays");
    let key = grid.home.join("signing.key");
    assert_eq!(fs::metadata(&key).expect("a key").permissions().mode() & 0o777, 0o600);
    grid.add("lab", 100, &format!("{RULES}signed_by = [\"{signer}\"]\n"), &[]);

    let unsigned = grid.json(&["submit", "--", "echo", "unsigned"])["job"].to_string();
    let explained = grid.ok(&["explain", &format!("{unsigned}/0")]);
    for said in ["run only what certain users have signed", "submit --sign"] {
        assert!(explained.contains(said), "{explained}");
    }
    let signed = grid.ok(&["submit", "--sign", "--wait", "--array", "1-3", "--", "echo", "{GLEANER_INDEX}"]);
    assert!(signed.contains("3 done"), "{signed}");
    assert_eq!(grid.json(&["status", &unsigned])["tasks"]["waiting"], 1);

    // Who takes another's job for their own, or changes a signed one, is told so at the door.
    let job = grid.json(&["submit", "--sign", "--hold", "--", "echo", "mine"])["job"].clone();
    let submitted = |fact: &serde_json::Value| {
        let submitted = fact.get("JobSubmitted").or_else(|| fact.get("job_submitted"))?;
        (submitted["job"] == job).then(|| submitted["spec"].clone())
    };
    let mut spec = grid.facts().iter().find_map(submitted).expect("it was written down");
    assert_eq!(grid.api("POST", "/api/v1/jobs", Some(&spec)).0, 201);
    spec["command"][1] = "yours".into();
    let (status, problem) = grid.api("POST", "/api/v1/jobs", Some(&spec));
    assert!(status == 422 && problem.to_string().contains("another job"), "{status} {problem}");

    // An owner who asks no more for it gets the others too.
    fs::write(grid.machine("lab").home.join("rules.toml"), RULES).expect("the owner's rules");
    until("the unsigned one is done", PATIENCE, || {
        (grid.json(&["status", &unsigned])["tasks"]["done"] == 1).then_some(())
    });
    grid.wind_up();
}
