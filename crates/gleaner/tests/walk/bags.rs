//! The rules for bags of tasks among peers, on a grid that has none: each task starts at once, and nobody waits for an
//! answer that never comes.

use crate::grid::Grid;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";

#[test]
fn rules_for_bags_run_where_there_are_no_peers() {
    let mut grid = Grid::new("bags", 30);
    grid.start();
    grid.add("small", 50, RULES, &["--slots", "1"]);
    grid.add("large", 50, RULES, &["--slots", "4"]);
    for preset in ["gleaner/bags", "gleaner/bags-longest"] {
        grid.ok(&["policy", "set", preset]);
        let bag = grid.json(&["submit", "--array", "0-7", "--", "sh", "-c", "echo $GLEANER_INDEX"]);
        let bag = bag["job"].to_string();
        grid.ok(&["wait", &bag]);
        assert_eq!(grid.ok(&["logs", &format!("{bag}/7")]).trim(), "7", "{preset}");
    }
    grid.wind_up();
}
