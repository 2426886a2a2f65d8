//! The same inputs in Gleaner and in SimGrid: finish times side by side, and how long each took.
//!
//! `compare PROGRAM DIR`: PROGRAM is greedy.cpp, compiled; DIR is a folder for the inputs. Started by run.sh.

use gleaner_bench::{crowd, figure_3, processor_seconds};
use gleaner_sim::{Setup, Simulation};
use gleaner_workload::{Experiment, Scenario};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SCENARIO: &str = "\
[grid]
machines = \"machines.csv\"
[work]
tasks = \"tasks.csv\"
weights = { cpu = 2e-5, disk = 0.1, net = 0.1 }
[policy]
preset = \"bertasi/greedy\"
";
/// Finish times may differ by so much, relative to their size.
const TOLERANCE: f64 = 1e-6;
/// The least of so many runs counts.
const RUNS: usize = 5;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// What some inputs took, and how many tasks end at other times.
#[derive(Default)]
struct Compared {
    gleaner_s: f64,
    simgrid_s: f64,
    /// Tasks whose finish times differ by more than the tolerance.
    differing: usize,
    tasks: usize,
}

/// Both forms of the SimGrid program; the faster counts.
const BOTH: &[&str] = &["actors", "executions"];
/// With so many tasks at once the other form takes many minutes.
const ACTORS: &[&str] = &["actors"];

fn main() -> Fallible<()> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(program), Some(dir)) = (arguments.next(), arguments.next()) else {
        return Err("usage: compare PROGRAM DIR".into());
    };
    println!("{:42} {:>10} {:>10} {:>8} {:>12}", "input", "Gleaner", "SimGrid", "ratio", "differing");
    let cases = [
        ("figure 3: 120 runs of 2,000 tasks on 70", figure_3::setups(), BOTH),
        ("200,000 tasks on 7,000 machines", vec![crowd(7_000, 200_000, 100.0)], ACTORS),
        ("4,000 tasks on one machine", vec![crowd(1, 4_000, 1.0)], BOTH),
    ];
    let mut agree = true;
    for (name, setups, forms) in cases {
        let mut all = Compared::default();
        for setup in &setups {
            let one = compare(setup, &program, forms, &dir)?;
            all.gleaner_s += one.gleaner_s;
            all.simgrid_s += one.simgrid_s;
            all.differing += one.differing;
            all.tasks += one.tasks;
        }
        let Compared { gleaner_s, simgrid_s, differing, tasks } = all;
        let ratio = simgrid_s / gleaner_s;
        println!("{name:42} {gleaner_s:8.4} s {simgrid_s:8.3} s {ratio:8.0} {differing:>6} of {tasks}");
        agree &= differing == 0;
    }
    if agree { Ok(()) } else { Err(format!("finish times differ by more than {TOLERANCE}").into()) }
}

fn compare(setup: &Setup, program: &Path, forms: &[&str], dir: &Path) -> Fallible<Compared> {
    write_inputs(setup, dir)?;
    let experiment = Experiment::of(Scenario::load(dir.join("scenario.toml"), &[])?)?;
    let (gleaner_s, ours) = gleaner(&experiment);
    let (mut simgrid_s, mut differing) = (f64::INFINITY, 0);
    for form in forms {
        let output = Command::new(program).arg(dir).arg(form).output()?;
        simgrid_s = String::from_utf8(output.stdout)?.trim().parse::<f64>()?.min(simgrid_s);
        let theirs = read_finishes(dir)?;
        assert_eq!(ours.len(), theirs.len(), "both have all tasks");
        let pairs = ours.iter().zip(theirs);
        let differ = pairs.filter(|(ours, theirs)| (*ours - theirs).abs() > TOLERANCE * *ours).count();
        differing = differing.max(differ);
    }
    Ok(Compared { gleaner_s, simgrid_s, differing, tasks: ours.len() })
}

/// The seconds that it took, and when each task ended.
fn gleaner(experiment: &Experiment) -> (f64, Vec<f64>) {
    let mut least = f64::INFINITY;
    let mut finishes = Vec::new();
    for _ in 0..RUNS {
        let mut run = None;
        let took = processor_seconds(|| {
            let run = run.insert(Simulation::new(&experiment.setup, experiment.recipe.build()));
            run.run();
        });
        least = least.min(took);
        finishes =
            run.iter().flat_map(|run| run.history().tasks()).map(|task| task.finished.seconds()).collect();
    }
    (least, finishes)
}

fn write_inputs(setup: &Setup, dir: &Path) -> Fallible<()> {
    let grid = setup.idle_grid();
    let mut machines = "id,cpu,disk,net\n".to_owned();
    for (index, &class) in setup.machines.iter().enumerate() {
        let speeds = &grid.classes().machine_class(class).speeds;
        writeln!(machines, "m{index},{},{},{}", speeds[0], speeds[1], speeds[2])?;
    }
    let mut tasks = "id,arrival_s,length,cpu,disk,net\n".to_owned();
    for (index, &class) in setup.tasks.classes.iter().enumerate() {
        let parts = &grid.classes().task_class(class).composition;
        let (arrival, length) = (setup.tasks.arrivals[index], setup.tasks.lengths[index].amount());
        writeln!(tasks, "t{index},{arrival},{length},{},{},{}", parts[0], parts[1], parts[2])?;
    }
    fs::create_dir_all(dir)?;
    for (name, text) in [("machines.csv", &*machines), ("tasks.csv", &*tasks), ("scenario.toml", SCENARIO)] {
        fs::write(dir.join(name), text)?;
    }
    Ok(())
}

fn read_finishes(dir: &Path) -> Fallible<Vec<f64>> {
    let text = fs::read_to_string(dir.join("simgrid.csv"))?;
    let rows = text.lines().skip(1);
    rows.map(|row| Ok(row.rsplit(',').next().unwrap_or_default().parse()?)).collect()
}
