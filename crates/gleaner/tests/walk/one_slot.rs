//! A machine with one slot, a program on it that does not stop when it is told to, and another that waits for the slot.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use serde_json::Value;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";
/// Writes down each moment at which it is still there, whatever it is told; when it goes on elsewhere, it says which was
/// the last.
const STUBBORN: &str = "\
cd \"$GLEANER_CHECKPOINT\"
if [ \"$GLEANER_RESUMED\" = 1 ]; then tail -n 1 beats; exit 0; fi
trap '' TERM
while :; do date +%s%N >> beats; sleep 0.05; done";

fn decided(facts: &[Value], what: &str) -> bool {
    let decisions = facts.iter().filter_map(|fact| fact["decided"]["decisions"].as_array()).flatten();
    decisions.into_iter().any(|decision| decision[what].is_object())
}

fn moment(grid: &Grid, job: &str) -> u64 {
    let told = grid.ok(&["logs", job]);
    told.trim().parse().unwrap_or_else(|_| panic!("{told:?} is no moment"))
}

#[test]
fn a_slot_is_free_when_the_program_there_is_gone_and_not_before() {
    let mut grid = Grid::new("one-slot", 8);
    grid.start();
    grid.add("slow", 10, RULES, &["--slots", "1"]);
    let submit =
        |grid: &Grid, arguments: &[&str]| grid.json(&[&["submit"], arguments].concat())["job"].to_string();
    let stubborn = submit(&grid, &["--checkpoint", "--grace", "4s", "--", "sh", "-c", STUBBORN]);
    until("it runs", PATIENCE, || {
        let task = grid.json(&["status", &stubborn, "--tasks"])["list"][0].take();
        (task["phase"] == "running").then_some(())
    });
    // What a move gains is worth its cost once the task has run for long enough.
    grid.ok(&[
        "policy",
        "set",
        "bertasi/greedy",
        "--set",
        "relocate.score=greedy",
        "--set",
        "relocate.period_s=1",
    ]);
    grid.add("fast", 60, RULES, &["--slots", "1"]);
    until("it is to move", PATIENCE, || decided(&grid.facts(), "Relocate").then_some(()));
    let next = submit(&grid, &["--", "date", "+%s%N"]);
    for job in [&next, &stubborn] {
        grid.ok(&["wait", job]);
    }
    let facts = grid.facts();
    let place = |is_it: &dyn Fn(&Value) -> bool| facts.iter().position(is_it).expect("it is in the journal");
    let number: u64 = next.parse().expect("a number");
    let waited = place(&|fact| fact["job_submitted"]["job"] == number);
    let gone = place(&|fact| fact["run_ended"]["end"]["checkpoint"].is_object());
    assert!(waited < gone, "the slot was free before anyone waited for it");
    let (last_beat, first_moment) = (moment(&grid, &stubborn), moment(&grid, &next));
    assert!(first_moment > last_beat, "both were there for {} ns", last_beat - first_moment);
    grid.wind_up();
}
