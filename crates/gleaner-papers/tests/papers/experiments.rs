//! Whole experiments, small: the same everywhere, stoppable, and with a report that is well-formed.

use gleaner_papers::Stopped;
use gleaner_papers::bertasi::{Experiments, FigureId, Findings};
use rayon::ThreadPoolBuilder;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

fn run(figure: FigureId, threads: usize) -> (Findings, u64) {
    let counted = AtomicU64::new(0);
    let watch = || {
        counted.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
    let findings = pool.install(|| Experiments::new(Some(figure), 2).run(&watch)).expect("nobody stops it");
    (findings, counted.into_inner())
}

fn json(findings: &Findings) -> String {
    serde_json::to_string(&findings.document()).expect("plain data")
}

#[test]
fn threads_do_not_matter_and_every_simulation_is_counted() {
    for figure in [FigureId::One, FigureId::Two] {
        let (one, counted) = run(figure, 1);
        let (many, _) = run(figure, 4);
        assert_eq!(json(&one), json(&many));
        assert_eq!(one.files(), many.files());
        assert_eq!(counted, Experiments::new(Some(figure), 2).simulations());
    }
}

#[test]
fn files_are_named_and_the_page_is_well_formed() {
    let (findings, _) = run(FigureId::Two, 2);
    let files = findings.files();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["figure-2.svg", "figure-2-whole.svg", "figure-2.csv", "report.html"]);
    let (_, page) = &files[3];
    assert_eq!(page.matches("\"bars\":[[").count(), 4, "schedules of four schemes");
    for (name, text) in &files {
        if !text.starts_with('<') {
            let columns = |line: &str| line.split(',').count();
            let header = text.lines().next().map(columns);
            assert!(text.lines().all(|line| Some(columns(line)) == header), "{name}");
            continue;
        }
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        roxmltree::Document::parse_with_options(text, options)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn it_stops_when_asked() {
    let counted = AtomicU64::new(0);
    let watch = || match counted.fetch_add(1, Ordering::Relaxed) {
        0..5 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    assert_eq!(Experiments::new(None, 1000).run(&watch), Err(Stopped));
    assert!(counted.into_inner() < 50);
}

#[test]
fn claims_are_as_the_contract_has_them() {
    let (findings, _) = run(FigureId::Two, 2);
    let document = serde_json::to_value(findings.document()).expect("plain data");
    assert_eq!(document["version"], 1);
    assert_eq!(document["paper"], "bertasi");
    assert_eq!(document["seeds"], 2);
    let claims = document["claims"].as_array().expect("a list");
    let mut ids: Vec<&str> = claims.iter().filter_map(|claim| claim["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), claims.len(), "ids are unique");
    for claim in claims {
        let keys: Vec<&String> = claim.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["ci", "claim", "id", "measured", "paper", "reading", "verdict"]);
        assert!(
            ["holds", "partly", "not", "undecided"].contains(&claim["verdict"].as_str().expect("a word"))
        );
        assert_eq!(claim["ci"].as_array().map(Vec::len), Some(2), "{claim}");
        let measured = claim["measured"].as_str().expect("text");
        assert!(measured.starts_with(|c: char| c.is_ascii_digit() || c == '-'), "{measured}");
    }
}
