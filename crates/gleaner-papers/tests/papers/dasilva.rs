//! The fourth paper's experiments can be stopped, and go on to the same end.

use gleaner_papers::dasilva::{EDITION, Experiments};
use gleaner_papers::{Interrupted, Kept, Progress};
use gleaner_workload::ourgrid::trace::Workload;
use std::sync::atomic::{AtomicU64, Ordering};

const TRACE: &str = "taskId time jobId jobSize runtime user peer\n1 0 1 2 500 1 a\n2 0 1 2 700 1 a\n3 2000 2 1 400 1 a\n\
                     4 30 3 1 600 2 b\n";

#[test]
fn what_was_kept_is_not_simulated_again() {
    let trace = Workload::parse("trace", TRACE.as_bytes().to_vec()).expect("a trace");
    let experiments = Experiments::small(2).with_workload(trace);
    let folder = tempfile::tempdir().expect("a folder");
    let counted = AtomicU64::new(0);
    let done = || {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let run = |stop: &(dyn Fn() -> bool + Sync)| {
        let kept = Kept::in_folder(folder.path(), EDITION).expect("a file of ours");
        experiments.run(&kept, Progress { done: &done, stop })
    };
    let stopped = run(&|| counted.load(Ordering::Relaxed) >= 3);
    assert!(matches!(stopped, Err(Interrupted::Stopped)));
    let lines = || std::fs::read_to_string(folder.path().join("simulations.jsonl")).expect("results");
    let before = lines();
    assert!(before.lines().count() >= 3, "{before}");
    counted.store(0, Ordering::Relaxed);
    let findings = run(&|| false).expect("nobody stops it");
    assert_eq!(counted.load(Ordering::Relaxed), experiments.simulations());
    assert!(lines().starts_with(&before), "what was done is not done again");
    assert_eq!(lines().lines().count() as u64, experiments.simulations());
    let again = run(&|| true).expect("all is kept: nothing is left to stop");
    assert_eq!(again.files(), findings.files());
    let files: Vec<String> = findings.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["instances.csv", "figure-2.svg", "figure-3.svg", "report.html"]);
    let claims = findings.document().claims;
    let ids: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
    for id in [
        "figure-3/load",
        "figure-3/load-on-workers",
        "favours/share",
        "favours/share-equal-bags",
        "ourgrid/week",
    ] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
}
