//! Real processes are killed while tasks are on their way from one machine to another: an owner comes back here and leaves there,
//! and under a policy that moves tasks they go to and fro with their checkpoints.
//!
//! `GLEANER_KILLS_IN_MOVES=N` makes it larger; `GLEANER_KILL_SEED=N` draws the same troubles again.

use crate::checker::{self, Promise};
use crate::grid::{Grid, USER};
use crate::kills::{MACHINES, RULES, expect_all_over, seed, setting, submit, witness};
use crate::trouble::Trouble;
use gleaner_testkit::random::Choices;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

const POLICY: [&str; 5] = ["policy", "set", "bertasi/greedy", "--set", "relocate.score=greedy"];
/// As many as there is room for, so that each owner who comes sets all of them going.
const MOVES_AT_ONCE: [&str; 2] = ["--set", "relocate.moves_max=8"];
const KILLS: usize = 60;
/// Of so many kills one at least is to find a task on its way.
const KILLS_EACH: usize = 3;
const LEASE_S: u32 = 3;
/// Tasks of a job, and to what each counts: some seconds, and more where it is killed.
const TASKS: u32 = 9;
const GOAL: u32 = 60;
/// How many tasks there are work for at least.
const OPEN: u64 = 9;
/// How long whoever is told to stop takes for it.
const FAREWELL: &str = "0.4";

#[test]
fn kills_among_moves() {
    let seed = seed();
    let wanted = setting("GLEANER_KILLS_IN_MOVES").map_or(KILLS, |kills| kills as usize);
    eprintln!("GLEANER_KILL_SEED={seed} GLEANER_KILLS_IN_MOVES={wanted}");
    let mut grid = Grid::new("kills-in-moves", LEASE_S);
    let (script, folder) = witness(&grid);
    grid.start();
    for (name, percent) in MACHINES {
        grid.add(name, percent, RULES, &["--as", USER, "--slots", "8"]);
    }
    grid.ok(&[&POLICY[..], &MOVES_AT_ONCE].concat());

    let started = Instant::now();
    let (mut trouble, mut owners) = (Trouble::new(seed, u64::MAX), Owners::new(seed));
    let mut promises: Vec<Promise> = Vec::new();
    let mut among_moves = 0;
    while among_moves < wanted {
        assert!(
            trouble.kills().len() < KILLS_EACH * wanted,
            "{among_moves} kills of so many were among moves"
        );
        trouble.mend(&mut grid);
        if open(&grid, &promises).is_some_and(|open| open < OPEN) {
            let job = counters(promises.len() as u32, &script, &folder);
            promises.push(submit(&mut grid, &mut trouble, job));
        }
        owners.change(&grid);
        if wait_for_a_move(&mut grid, &mut trouble, &promises) {
            std::thread::sleep(Duration::from_millis(owners.choices.below(250) as u64));
            trouble.kill_something(&mut grid);
        }
        if trouble.kills().len() % 10 == 9 {
            among_moves = kills_among(&moves(&grid), trouble.kills());
        }
    }
    owners.leave(&grid);
    trouble.heal(&mut grid);
    eprintln!("{} kills in {:.0?}; now the rest of the work", trouble.kills().len(), started.elapsed());
    expect_all_over(&mut grid, &promises);
    grid.wind_up();
    let report = checker::check(&grid, &folder, &promises);
    let moves = moves(&grid);
    let among_moves = kills_among(&moves, trouble.kills());
    eprintln!(
        "{} kills, {among_moves} of them while a task was on its way; {} moves; {report}; in {:.0?}",
        trouble.kills().len(),
        moves.len(),
        started.elapsed()
    );
    assert!(among_moves >= wanted, "{among_moves} kills among moves");
}

/// Whose machines they are, and who of them is there.
struct Owners {
    choices: Choices,
    present: Option<usize>,
}

impl Owners {
    fn new(seed: u64) -> Self {
        Self { choices: Choices::seeded(seed ^ 1), present: None }
    }

    /// One leaves, another comes, and what runs there goes elsewhere.
    fn change(&mut self, grid: &Grid) {
        self.leave(grid);
        let next = self.choices.below(grid.machines.len());
        grid.machines[next].rule(&format!("{RULES}{}", not_today()));
        self.present = Some(next);
    }

    fn leave(&mut self, grid: &Grid) {
        if let Some(present) = self.present.take() {
            grid.machines[present].rule(RULES);
        }
    }
}

/// A rule by which nothing runs while an owner is there. Their agent may be there or not.
fn not_today() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later than 1970");
    // That was a Thursday; three days on from today it is another day everywhere.
    let days = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];
    let day = days[(now.as_secs() / 86_400 + 3) as usize % days.len()];
    format!("hours = [\"{day} 00:00-00:01\"]\n")
}

fn counters(number: u32, script: &Path, folder: &Path) -> Promise {
    let tasks = (number * TASKS + 1, (number + 1) * TASKS);
    let array = format!("{}-{}", tasks.0, tasks.1);
    let (script, folder, goal) =
        (script.display().to_string(), folder.display().to_string(), GOAL.to_string());
    let options = ["--no-sandbox", "--checkpoint", "--grace", "2s", "--array", &array, "--", "bash"];
    let words = [script.as_str(), &folder, "{GLEANER_INDEX}", &goal, "0.1", FAREWELL];
    let arguments = options.iter().chain(&words).map(|word| (*word).to_owned()).collect();
    Promise::counting(&format!("counters-{number}"), tasks, GOAL, arguments)
}

/// How many tasks are not over; nothing where nobody answers.
fn open(grid: &Grid, promises: &[Promise]) -> Option<u64> {
    let mut open = 0;
    for promise in promises {
        let status = grid.try_json(&["status", &promise.job])?;
        let phases = ["waiting", "running", "suspended"];
        open += phases.iter().map(|phase| status["tasks"][phase].as_u64().expect("a number")).sum::<u64>();
    }
    Some(open)
}

/// Whether one began soon enough. A task on its way has a run that is being stopped, and one that is to go on from there.
fn wait_for_a_move(grid: &mut Grid, trouble: &mut Trouble, promises: &[Promise]) -> bool {
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end {
        trouble.mend(grid);
        // Older ones are over.
        for promise in promises.iter().rev().take(3) {
            let Some(status) = grid.try_json(&["status", &promise.job, "--tasks"]) else { break };
            let tasks = status["list"].as_array().expect("a list");
            if tasks.iter().any(|task| task["open_runs"].as_array().is_some_and(|runs| runs.len() > 1)) {
                return true;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// From when until when each task was on its way, in nanoseconds of the coordinator's clock: from the decision until the run that
/// goes on has started, or the run before left no checkpoint, or the machine is lost that it was to go to.
fn moves(grid: &Grid) -> Vec<(u64, u64)> {
    let mut moves = Vec::new();
    let mut on_their_way: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for row in grid.rows() {
        let (at, fact) = (row["at_ns"].as_u64().expect("a number"), &row["fact"]);
        let decisions = fact["decided"]["decisions"].as_array().into_iter().flatten();
        for moved in decisions.map(|decision| &decision["Relocate"]) {
            if let (Some(task), Some(to)) = (moved["task"].as_u64(), moved["to"].as_u64()) {
                on_their_way.entry(task).or_insert((at, to));
            }
        }
        // The end of the run before is the middle of the move, if it left a checkpoint.
        let is_middle = fact["run_ended"]["end"]["checkpoint"].is_object();
        let ended = [&fact["run_started"], &fact["run_ended"]["run"]].map(|run| run["task"].as_u64());
        let lost = [&fact["agent_started"], &fact["lease_expired"]].map(|of| of["agent"].as_u64());
        on_their_way.retain(|task, (began, to)| {
            let is_over = (ended.contains(&Some(*task)) && !is_middle) || lost.contains(&Some(*to));
            if is_over {
                moves.push((*began, at));
            }
            !is_over
        });
    }
    moves.extend(on_their_way.into_values().map(|(began, _)| (began, began)));
    moves
}

fn kills_among(moves: &[(u64, u64)], kills: &[u64]) -> usize {
    let is_among = |kill: &&u64| moves.iter().any(|(began, ended)| (began..=ended).contains(kill));
    kills.iter().filter(is_among).count()
}
