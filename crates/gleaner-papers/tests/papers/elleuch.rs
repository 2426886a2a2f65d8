//! The second paper's experiments: verdicts come from results, and results are the same however they were come by.

use gleaner_papers::elleuch::{
    AMPLE, BUDGETS, Case, EDITION, Experiments, Findings, Heuristic, Month, Outcome, Part, Rule, Variant,
};
use gleaner_papers::{Interrupted, Kept, Progress};
use gleaner_report::Verdict;
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

const DAY_S: f64 = 86_400.0;

/// All parts, three patterns of two weeks.
fn made(outcome: impl Fn(Case, u64) -> Outcome) -> Findings {
    let cases = Part::ALL.into_iter().flat_map(Part::cases);
    let outcomes: BTreeMap<Case, Vec<Outcome>> =
        cases.map(|case| (case, (0..3).map(|seed| outcome(case, seed)).collect())).collect();
    Findings::new(Part::ALL.to_vec(), 3, 14.0, outcomes)
}

/// How much longer than without a budget.
fn excess(rule: Rule, budget: u64) -> f64 {
    let rank = BUDGETS.iter().position(|known| *known == budget).expect("a budget");
    match rule {
        Rule::Free => 0.0,
        Rule::Cap => [1.0, 0.8, 0.6, 0.3, 0.005][rank],
        Rule::PerTask => [0.5, 0.4, 0.3, 0.1, 0.004][rank],
        Rule::PerTaskAndTime => [0.05, 0.004, 0.003, 0.002, 0.001][rank],
        Rule::PerClass => [0.4, 0.3, 0.2, 0.05, 0.002][rank],
        Rule::WithinReach | Rule::MovingPrice => 0.001,
    }
}

fn as_the_paper_says(case: Case, seed: u64) -> Outcome {
    let after_s = match (case.month, case.variant) {
        (Month::September, Variant::Period(70..=100)) => 10.0 * 3600.0,
        (Month::September, _) => 600.0,
        (Month::June, _) => 42.5 * 3600.0,
    };
    let excess = case.budget.map_or(0.0, |budget| excess(case.rule, budget));
    let free_s = 14.0 * DAY_S + after_s + seed as f64;
    Outcome {
        makespan_s: free_s * (1.0 + excess),
        unfinished: 0,
        stalls: false,
        use_share: 0.98 - 0.4 * excess - 0.001 * seed as f64,
        work_share: 0.9,
        aborts: 10,
        paid: 1e15,
    }
}

fn verdicts(findings: &Findings) -> BTreeMap<String, Verdict> {
    findings.claims().into_iter().map(|claim| (claim.id.clone(), claim.verdict())).collect()
}

#[test]
fn what_the_paper_says_holds_where_it_is_so() {
    // At a hundred machines there are hardly fewer classes than machines, whatever the makespans are.
    let verdicts = verdicts(&made(as_the_paper_says)).into_iter();
    for (id, verdict) in verdicts.filter(|(id, _)| !id.contains("looks-at-fewer")) {
        assert_eq!(verdict, Verdict::Holds, "{id}");
    }
}

#[test]
fn and_does_not_where_it_is_otherwise() {
    // The other way round: more budget, more time; the plain version best; June as September.
    let turned = made(|case, seed| {
        let Outcome { makespan_s, .. } = as_the_paper_says(case, seed);
        let worse = match case.rule {
            Rule::Free => 0.0,
            Rule::Cap => 0.1,
            Rule::PerTask => 0.2,
            Rule::PerTaskAndTime => 0.3,
            Rule::PerClass => 0.12,
            Rule::WithinReach | Rule::MovingPrice => 0.6,
        };
        let budget = case.budget.map_or(0.0, |budget| budget as f64 / AMPLE as f64);
        let heuristic = if case.heuristic == Heuristic::MinMin { 1.0 } else { 1.0 + budget };
        Outcome {
            makespan_s: (makespan_s.min(15.0 * DAY_S) + 5.0 * 3600.0) * (1.0 + (worse + budget) * heuristic),
            use_share: 0.3 + 0.1 * (worse + budget),
            ..as_the_paper_says(case, seed)
        }
    });
    // How many machines there are does not depend on makespans; and nothing is shorter than what is free here too.
    let holds_anyway = |id: &str| id.contains("looks-at-fewer") || id.contains("no-budget-is-least");
    for (id, verdict) in verdicts(&turned) {
        assert!(verdict != Verdict::Holds || holds_anyway(&id), "{id}");
    }
}

#[test]
fn months_are_not_pooled() {
    // Within each month more use goes with a longer makespan; June is fuller and its makespans are nearer to 1.
    let findings = made(|case, seed| {
        let excess = case.budget.map_or(0.0, |budget| excess(case.rule, budget));
        let (fullest, longer) = match case.month {
            Month::September => (0.37 + 0.1 * excess, 0.25 * excess),
            Month::June => (0.95 + 0.01 * excess, 0.0006 * excess),
        };
        let free_s = 14.0 * DAY_S + 600.0;
        let makespan_s = free_s * (1.0 + longer);
        Outcome { makespan_s, use_share: fullest, ..as_the_paper_says(case, seed) }
    });
    let verdicts = verdicts(&findings);
    for month in ["september", "june"] {
        assert_eq!(verdicts[&format!("figure-5/more-use-less-makespan-{month}")], Verdict::Not, "{month}");
    }
}

/// The rows of a version in a month of a report's tables of numbers, without tags.
fn rows_of(page: &str, version: &str, month: &str) -> Vec<Vec<String>> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(page, options).expect("it is well-formed");
    let rows = document.descendants().filter(|node| node.tag_name().name() == "tr");
    let cells = rows.map(|row| {
        let cells = row.children().filter(roxmltree::Node::is_element);
        cells.map(|cell| cell.text().unwrap_or_default().to_owned()).collect::<Vec<String>>()
    });
    cells.filter(|cells| cells.len() > 2 && cells[0] == version && cells[1] == month).collect()
}

#[test]
fn what_was_given_up_is_not_shown_as_measured() {
    // Given up on the third day, 2,160 periods after the start, after 3·10¹¹ credits in each of them.
    let gives_up = |case: Case| case.rule == Rule::PerTask;
    let findings = made(|case, seed| match as_the_paper_says(case, seed) {
        outcome if gives_up(case) => {
            let paid = 3e11 * 2160.0;
            Outcome { makespan_s: 45.0 * DAY_S, unfinished: 9, stalls: true, paid, ..outcome }
        }
        outcome => outcome,
    });
    let files = findings.files();
    let text = |name: &str| &files.iter().find(|(known, _)| known == name).expect("a file").1;
    let rows = rows_of(text("report.html"), "BTMinMin", "June");
    assert!(!rows.is_empty());
    for cells in &rows {
        let row = cells.join(" ");
        assert!(row.contains("3 stall") && !row.contains("45.00") && !row.contains("0.20"), "{row}");
    }
    let plot = text("figure-4.svg");
    assert!(plot.contains("Left out: 90 runs that were given up or not done"), "{plot}");
    // Of the runs that ended the longest takes twice as long as without a budget; the others would be at 3.2.
    let document = roxmltree::Document::parse(plot).expect("it is well-formed");
    let beside = document.descendants().filter(|node| node.attribute("text-anchor") == Some("end"));
    let ticks = beside.filter_map(|node| node.text()?.parse::<f64>().ok());
    let highest = ticks.fold(0.0, f64::max);
    assert!((1.9..2.6).contains(&highest), "{highest}: {plot}");
}

#[test]
fn what_was_given_up_decides_nothing_about_sizes() {
    let given_up = |case: Case| matches!(case.rule, Rule::PerTask | Rule::PerTaskAndTime);
    let cut = made(|case, seed| match as_the_paper_says(case, seed) {
        outcome if given_up(case) => {
            Outcome { makespan_s: 45.0 * DAY_S, unfinished: 9, stalls: true, ..outcome }
        }
        outcome => outcome,
    });
    let verdicts = verdicts(&cut);
    assert_eq!(verdicts["figure-4/btt-before-bt-september"], Verdict::Undecided, "neither ended");
    assert_eq!(verdicts["figure-4/bt-before-b-september"], Verdict::Not, "BT takes even longer");
    assert_eq!(
        verdicts["figure-4/only-btt-sustains"],
        Verdict::Not,
        "it takes at least as long as is counted"
    );
    assert_eq!(verdicts["figure-5/budgets-decrease-use"], Verdict::Partly, "by those that ended");
}

#[test]
fn where_too_few_came_to_their_end_the_claim_says_so() {
    let findings = made(|case, seed| match as_the_paper_says(case, seed) {
        outcome if case.budget.is_some() && case.month == Month::June => {
            Outcome { makespan_s: 45.0 * DAY_S, unfinished: 9, stalls: true, ..outcome }
        }
        outcome => outcome,
    });
    let claims = findings.claims();
    let claim_of = |month: &str| {
        let id = format!("figure-5/more-use-less-makespan-{month}");
        claims.iter().find(|claim| claim.id == id).expect("it is judged")
    };
    assert_eq!(claim_of("june").verdict(), Verdict::Undecided);
    assert_eq!(claim_of("june").besides.as_deref(), Some("there is none, since fewer than two did"));
    assert_eq!(claim_of("september").besides, None);
}

#[test]
fn all_readings_are_judged_and_ids_are_unlike() {
    let findings = made(as_the_paper_says);
    let claims = findings.claims();
    assert_eq!(verdicts(&findings).len(), claims.len());
    let derived = claims.iter().filter(|claim| claim.id.ends_with("-as-derived")).count();
    let printed =
        claims.iter().filter(|claim| claim.reading.ends_with("as printed; line 9 to the letter")).count();
    let ready = claims.iter().filter(|claim| claim.id.ends_with("-cheapest-if-ready")).count();
    assert_eq!((derived, ready), (printed, printed));
    assert!(derived > 0);
}

#[test]
fn the_page_is_well_formed_and_every_simulation_has_a_line() {
    let findings = made(as_the_paper_says);
    let files = findings.files();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["figure-4.svg", "figure-5.svg", "periods.svg", "simulations.csv", "report.html"]);
    for (name, text) in &files {
        if !text.starts_with('<') {
            let columns = |line: &str| line.split(',').count();
            assert!(text.lines().all(|line| columns(line) == 12), "{name}");
            let cases: std::collections::BTreeSet<Case> =
                Part::ALL.into_iter().flat_map(Part::cases).collect();
            assert_eq!(text.lines().count(), 1 + 3 * cases.len());
            continue;
        }
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        roxmltree::Document::parse_with_options(text, options)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Half an hour of arrivals with six periods and two patterns.
fn small() -> Experiments {
    Experiments::new(&[Part::Periods], 2).lasting(0.02)
}

fn json(findings: &Findings) -> String {
    serde_json::to_string(&findings.document()).expect("plain data")
}

#[test]
fn threads_do_not_matter_and_what_was_stopped_goes_on() {
    let counted = AtomicU64::new(0);
    let done = || {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let run = |threads: usize, kept: &Kept<Outcome>, stop: &(dyn Fn() -> bool + Sync)| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a few threads");
        pool.install(|| small().run(kept, Progress { done: &done, stop }))
    };
    let whole = run(1, &Kept::nowhere(), &|| false).expect("nobody stops it");
    assert_eq!(counted.swap(0, Ordering::Relaxed), small().simulations());

    let folder = tempfile::tempdir().expect("a folder");
    let kept = Kept::in_folder(folder.path(), EDITION).expect("a new file");
    let stopped = run(1, &kept, &|| counted.load(Ordering::Relaxed) >= 5);
    assert!(matches!(stopped, Err(Interrupted::Stopped)), "{stopped:?}");
    let lines = || std::fs::read_to_string(folder.path().join("simulations.jsonl")).expect("results");
    let before = lines();
    assert!(before.lines().count() >= 5, "{before}");

    counted.store(0, Ordering::Relaxed);
    let kept = Kept::in_folder(folder.path(), EDITION).expect("results");
    let again = run(3, &kept, &|| false).expect("nobody stops it");
    assert_eq!(counted.into_inner(), small().simulations());
    assert_eq!((json(&again), again.files()), (json(&whole), whole.files()));
    assert!(lines().starts_with(&before), "what was done is not done again");
    assert_eq!(lines().lines().count() as u64, small().simulations());
}
