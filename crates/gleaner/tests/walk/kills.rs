//! Real processes are killed and real links cut at random moments while a grid works; afterwards an independent check
//! says whether anything was lost or done twice.
//!
//! `GLEANER_KILLS=N` and `GLEANER_TASKS=N` make it larger; `GLEANER_KILL_SEED=N` draws the same troubles again, at much
//! the same moments.

use crate::checker::{self, Promise};
use crate::grid::{Grid, USER};
use crate::processes::until;
use crate::trouble::Trouble;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Each with so much of a core.
pub(crate) const MACHINES: [(&str, u32); 3] = [("north", 150), ("east", 100), ("south", 50)];
/// Nobody sits at these machines.
pub(crate) const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
const WITNESS: &str = include_str!("witness.sh");
const KILLS: u64 = 20;
const TASKS: u32 = 300;
/// Short enough that a cut link outlasts it now and then.
const LEASE_S: u32 = 3;

pub(crate) fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}; expected a number")))
}

#[test]
fn kills() {
    let seed = seed();
    let count = setting("GLEANER_KILLS").unwrap_or(KILLS);
    let tasks = setting("GLEANER_TASKS").map_or(TASKS, |tasks| tasks as u32).max(20);
    eprintln!("GLEANER_KILL_SEED={seed} GLEANER_KILLS={count} GLEANER_TASKS={tasks}");
    let mut grid = Grid::new("kills", LEASE_S);
    let (script, folder) = witness(&grid);
    grid.start();
    for (name, percent) in MACHINES {
        grid.add(name, percent, RULES, &["--as", USER, "--slots", "8"]);
    }

    let started = Instant::now();
    let mut promises = Vec::new();
    let mut jobs = jobs(tasks, &script, &folder).into_iter();
    let mut trouble = Trouble::new(seed, count);
    while trouble.goes_on() {
        // Submitted in the middle of it all: what is acknowledged must stay.
        if promises.len() as u64 * 4 <= trouble.done()
            && let Some(job) = jobs.next()
        {
            promises.push(submit(&mut grid, &mut trouble, job));
        }
        trouble.make(&mut grid);
        std::thread::sleep(Duration::from_millis(20));
    }
    for job in jobs {
        promises.push(submit(&mut grid, &mut trouble, job));
    }
    trouble.heal(&mut grid);
    eprintln!("{} troubles in {:.0?}; now the rest of the work", trouble.done(), started.elapsed());
    expect_all_over(&mut grid, &promises);
    grid.wind_up();
    let report = checker::check(&grid, &folder, &promises);
    let kills = trouble.kills().len();
    eprintln!("{} troubles, {kills} of them kills; {report}; in {:.0?}", trouble.done(), started.elapsed());
}

/// What draws all troubles.
pub(crate) fn seed() -> u64 {
    setting("GLEANER_KILL_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later than 1970");
        u64::from(now.subsec_nanos())
    })
}

/// The program of tasks that leave witness, and the folder in which they do.
pub(crate) fn witness(grid: &Grid) -> (PathBuf, PathBuf) {
    let folder = grid.folder.path().join("witness");
    std::fs::create_dir(&folder).expect("a folder for the witnesses");
    let script = folder.join("witness.sh");
    std::fs::write(&script, WITNESS).expect("the script");
    (script, folder)
}

/// Waits until all tasks are. One whose runs ended with their agents again and again rests for up to five minutes.
pub(crate) fn expect_all_over(grid: &mut Grid, promises: &[Promise]) {
    let tasks: u32 = promises.iter().map(Promise::count).sum();
    let patience = Duration::from_mins(6) + Duration::from_millis(u64::from(tasks) * 100);
    for promise in promises {
        until(&format!("job {} is over", promise.job), patience, || {
            grid.expect_all_alive();
            let status = grid.try_json(&["status", &promise.job])?;
            let open: u64 = ["waiting", "running", "suspended", "held"]
                .iter()
                .map(|phase| status["tasks"][phase].as_u64().expect("a number"))
                .sum();
            (open == 0).then_some(())
        });
    }
}

pub(crate) fn submit(grid: &mut Grid, trouble: &mut Trouble, mut job: Promise) -> Promise {
    let arguments: Vec<&str> = job.arguments.iter().map(String::as_str).collect();
    let line = [&["submit", "--key", &job.key], arguments.as_slice()].concat();
    job.job = until(&format!("{} is acknowledged", job.key), Duration::from_mins(1), || {
        // Whoever is not answered asks again, under the same key.
        trouble.mend(grid);
        Some(grid.try_json(&line)?["job"].to_string())
    });
    job
}

/// Short tasks outside the sandbox, counters with checkpoints, and tasks in the sandbox with an input and an output.
fn jobs(tasks: u32, script: &Path, folder: &Path) -> Vec<Promise> {
    let input = folder.join("input");
    std::fs::write(&input, "handed in\n").expect("an input");
    let (script, folder) = (script.display().to_string(), folder.display().to_string());
    let input = format!("{}=input", input.display());
    let counters = tasks / 20;
    let boxed = tasks / 20;
    let short = tasks - counters - boxed;
    let witness = |range: (u32, u32), goal: &str, pause: &str, options: &[&str]| {
        let array = format!("{}-{}", range.0, range.1);
        let fixed = ["--no-sandbox", "--array", &array];
        let command = ["--", "bash", &script, &folder, "{GLEANER_INDEX}", goal, pause];
        [&fixed, options, &command].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let boxed_array = format!("1-{boxed}");
    let in_a_box = ["--array", &boxed_array, "--input", &input, "--output", "result", "--", "sh", "-c"]
        .into_iter()
        .chain(["sleep 0.2; { cat input; echo $GLEANER_INDEX; } > result; echo task $GLEANER_INDEX left it"]);
    let third = short / 3;
    vec![
        Promise::counting("first", (1, third), 2, witness((1, third), "2", "0.1", &[])),
        Promise::counting(
            "counters",
            (short + 1, short + counters),
            60,
            witness((short + 1, short + counters), "60", "0.1", &["--checkpoint", "--grace", "1s"]),
        ),
        Promise::counting(
            "second",
            (third + 1, 2 * third),
            2,
            witness((third + 1, 2 * third), "2", "0.1", &[]),
        ),
        Promise::boxed("boxed", (1, boxed), in_a_box.map(str::to_owned).collect()),
        Promise::counting(
            "third",
            (2 * third + 1, short),
            2,
            witness((2 * third + 1, short), "2", "0.1", &[]),
        ),
    ]
}
