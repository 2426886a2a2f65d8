//! Machines that come and go by a trace: what happens, and what the scheduler is told of it.

use gleaner_core::{Command, Event, GridConfig, MachineClass, Migration, Room, RunEnd, TaskClass};
use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::{Answers, MachineTraces, Prediction, Pricing, Setup, Simulation, SpeedScale, Tasks, Trace};
use gleaner_testkit::record::{Entry, Record, run};
use gleaner_units::{Ops, Span, TaskClassId, Time};
use gleaner_workload::availability::{Profile, load};
use gleaner_workload::{Experiment, InputError, Scenario};
use std::collections::BTreeSet;
use std::sync::Arc;

fn seconds(seconds: f64) -> Time {
    Time::from_seconds(seconds).expect("a time")
}

/// Rows of a trace, and tasks as arrival and length. One core a machine.
fn setup(rows: &str, tasks: &[(f64, f64)], prediction: Prediction) -> Setup {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.csv");
    std::fs::write(&path, format!("machine,interval,from_s,until_s,speed\n{}\n", rows.trim()))
        .expect("written");
    let trace = load(&path).expect("a trace");
    of_trace(trace, tasks, prediction)
}

fn of_trace(trace: Trace, tasks: &[(f64, f64)], prediction: Prediction) -> Setup {
    let scale = SpeedScale::elleuch();
    let kind = MachineClass {
        room: Room { slots: Some(1), ..Room::default() },
        provides: BTreeSet::new(),
        ..MachineClass::plain(Vec::new(), 1)
    };
    let task_class = TaskClass { requires: BTreeSet::new(), ..TaskClass::plain(vec![1.0]) };
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machine_classes: MachineTraces::classes(&scale, &[kind], Pricing::BySpeed),
        machines: Vec::new(),
        availability: Some(MachineTraces {
            kinds: vec![0; trace.machines().len()],
            trace: Arc::new(trace),
            scale,
            look_every: Span::from_seconds(120.0).expect("a span"),
            prediction,
            pricing: Pricing::BySpeed,
            saboteurs: BTreeSet::new(),
            aborts_max: None,
        }),
        task_classes: vec![task_class],
        tasks: Tasks::truly_declared(
            tasks.iter().map(|(arrival, _)| seconds(*arrival)).collect(),
            tasks.iter().map(|(_, length)| Ops::new(*length).expect("a length")).collect(),
            vec![TaskClassId::new(0); tasks.len()],
        ),
        loads: Vec::new(),
        budget: None,
        answers: Answers::default(),
    }
}

const GREEDY: Recipe = Recipe::by(Score::Greedy);

/// What the scheduler was told of machines and how tasks went, a line each.
fn told(setup: &Setup, recipe: Recipe) -> Vec<String> {
    let speeds = SpeedScale::elleuch();
    let Record(entries) = run(setup, recipe.build());
    let line = |(time, entry): &(Time, Entry)| {
        let what = match entry {
            Entry::Event(Event::MachineJoined { machine, class }) => {
                format!("{machine} joined {}", speeds.values()[class.index()])
            }
            Entry::Event(Event::MachineMeasured { machine, class }) => {
                format!("{machine} measured {}", speeds.values()[class.index()])
            }
            Entry::Event(Event::MachineLost { machine }) => format!("{machine} lost"),
            Entry::Event(Event::RunEnded { run, end: RunEnd::Finished }) => {
                format!("{} finished {}", run.task, run.number)
            }
            Entry::Command(Command::Start { run, on }) => format!("{} to {on}", run.task),
            _ => return None,
        };
        Some(format!("{} {what}", time.seconds()))
    };
    entries.iter().filter_map(line).collect()
}

#[test]
fn tasks_get_on_as_the_trace_has_it_and_a_machine_that_returns_is_a_new_one() {
    let rows = "
a,1,0,300,1000
a,1,300,600,3000
a,2,900,2000,500
b,1,100,700,2000";
    // t0 gets 300,000 operations in 300 s and the others in 100 s.
    let setup = setup(rows, &[(0.0, 600_000.0), (0.0, 500_000.0), (890.0, 100_000.0)], Prediction::ELLEUCH);
    assert_eq!(
        told(&setup, GREEDY),
        [
            "0 m0 joined 2000",
            "0 t0 to m0",
            "100 m1 joined 2000",
            "100 t1 to m1",
            "120 m0 measured 2200",
            "240 m0 measured 2700",
            "350 t1 finished 1",
            "360 m0 measured 3000",
            "400 t0 finished 1",
            "600 m0 lost",
            "700 m1 lost",
            "900 m2 joined 500",
            "900 t2 to m2",
            "1100 t2 finished 1",
        ]
    );
}

#[test]
fn a_task_that_does_not_fit_is_lost_with_its_machine_and_starts_again() {
    let rows = "
a,1,0,100,1000
b,1,50,500,1000
a,2,600,5000,1000";
    let setup = setup(rows, &[(0.0, 120_000.0)], Prediction::ELLEUCH);
    let told = told(&setup, GREEDY);
    assert_eq!(
        told,
        [
            "0 m0 joined 1000",
            "0 t0 to m0",
            "50 m1 joined 1000",
            "100 m0 lost",
            "100 t0 to m1",
            "220 t0 finished 2"
        ]
    );
    let mut simulation = Simulation::new(&setup, GREEDY.build());
    simulation.run();
    assert_eq!(simulation.history().aborts(), 1);
    assert_eq!(simulation.busy_seconds(gleaner_units::MachineId::new(0)), 100.0);
    // All of a's first time, and of b's what is left, could have been used.
    let bound = makespan_bound(&setup).expect("there is time enough");
    assert!((bound - 85.0).abs() < 1e-6, "{bound}");
}

#[test]
fn what_never_fits_leaves_the_task_and_ends_the_run() {
    let setup = setup("a,1,0,100,1000", &[(0.0, 120_000.0)], Prediction::ELLEUCH);
    let mut simulation = Simulation::new(&setup, GREEDY.build());
    simulation.run();
    assert_eq!((simulation.history().unfinished(), simulation.history().aborts()), (1, 1));
    assert_eq!(makespan_bound(&setup), None);
}

#[test]
fn a_forecast_knows_only_what_was_measured() {
    let setup = setup("a,1,60,700,1000\na,1,700,2000,3000", &[(0.0, 4e6)], Prediction::Forecast);
    let told = told(&setup, GREEDY);
    // At 720 the last period was fast for 20 of 120 s; what was last has the least error before and after.
    let expected = ["60 m0 joined 1000", "60 t0 to m0", "720 m0 measured 1300", "840 m0 measured 3000"];
    assert_eq!(told[..4], expected, "{told:?}");
    assert_eq!(told.last().map(String::as_str), Some("1820 t0 finished 1"));
}

#[test]
fn who_keeps_aborting_is_put_aside_whenever_it_comes() {
    let rows = "
a,1,0,100,3000
a,2,200,900,3000
b,1,0,900,1000";
    let mut setup = setup(rows, &[(0.0, 30_000.0), (210.0, 30_000.0)], Prediction::ELLEUCH);
    let by_trace = setup.availability.as_mut().expect("a trace");
    by_trace.saboteurs.insert(0);
    by_trace.aborts_max = Some(2);
    let closed = |setup: &Setup| {
        let Record(entries) = run(setup, GREEDY.build());
        let closed = |(time, entry): &(Time, Entry)| match entry {
            Entry::Event(Event::MachineClosed { machine }) => Some(format!("{} {machine}", time.seconds())),
            _ => None,
        };
        entries.iter().filter_map(closed).collect::<Vec<_>>()
    };
    // Nine tenths of 10 s, twice; what starts at that very moment is in vain too. Then there is the slow one.
    assert_eq!(closed(&setup), ["18 m0", "200 m2"]);
    assert_eq!(
        told(&setup, GREEDY)[2..],
        [
            "0 t0 to m0",
            "9 t0 to m0",
            "18 t0 to m0",
            "27 t0 to m1",
            "57 t0 finished 4",
            "100 m0 lost",
            "200 m2 joined 3000",
            "210 t1 to m1",
            "240 t1 finished 1"
        ]
    );
    let mut simulation = Simulation::new(&setup, GREEDY.build());
    simulation.run();
    assert_eq!(simulation.history().aborts(), 3);
}

fn month() -> Setup {
    let trace = Profile::MANY_JUNE.with_present(100e3 / 8.9e3).draw(7, 172_800.0);
    let tasks: Vec<(f64, f64)> =
        (0..600).map(|at| (f64::from(at / 6) * 600.0, 5e6 + f64::from(at % 7) * 1e6)).collect();
    of_trace(trace, &tasks, Prediction::ELLEUCH)
}

#[test]
fn a_run_is_never_before_its_bound_and_its_grid_stays_whole() {
    for recipe in [GREEDY, Recipe { relocate: Some(Relocate::by(Score::Greedy)), ..GREEDY }] {
        let setup = month();
        let mut simulation = Simulation::new(&setup, recipe.build());
        while simulation.step() {
            if simulation.progress().events.is_multiple_of(100) {
                simulation.scheduler().check().expect("a whole grid");
            }
        }
        let bound = makespan_bound(&setup).expect("there is time enough");
        let history = simulation.history();
        assert_eq!(history.unfinished(), 0);
        assert!(history.makespan().seconds() >= bound, "{} before {bound}", history.makespan());
        assert!(history.aborts() > 0, "no machine goes too early");
    }
}

#[test]
fn a_run_that_was_saved_goes_on_to_the_same_end() {
    for prediction in [Prediction::ELLEUCH, Prediction::Forecast] {
        let mut setup = month();
        if let Some(availability) = &mut setup.availability {
            availability.prediction = prediction;
        }
        let mut whole = Simulation::new(&setup, GREEDY.build());
        whole.run();
        let mut broken = Simulation::new(&setup, GREEDY.build());
        for _ in 0..whole.progress().events / 2 {
            broken.step();
        }
        let saved = broken.save("greedy");
        let mut resumed =
            Simulation::restore(&setup, || GREEDY.build(), "greedy", &saved).expect("what was saved");
        resumed.run();
        assert_eq!(resumed.save("greedy"), whole.save("greedy"));
    }
}

/// A scenario of exclusive machines, with the rows of each of its tables below their head.
fn scenario(
    (machines, trace): (&str, &str),
    (tasks_head, tasks): (&str, &str),
    policy: &str,
) -> Result<Experiment, InputError> {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "[grid]\nmachines = \"machines.csv\"\navailability = \"trace.csv\"\nsharing = \"exclusive\"\n[work]\n\
         tasks = \"tasks.csv\"\nweights = {{ cpu = 1.0 }}\n[policy]\n{policy}\n"
    );
    let files = [
        ("scenario.toml", text),
        ("machines.csv", machines.to_owned()),
        ("trace.csv", format!("machine,interval,from_s,until_s,speed\n{trace}")),
        ("tasks.csv", format!("{tasks_head}\n{tasks}")),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    Scenario::load(folder.path().join("scenario.toml"), &[]).and_then(Experiment::of)
}

/// How long a task was, nobody can say by a machine that cannot run it any more.
#[test]
fn lengths_that_were_learnt_stay_when_their_machine_stands_still() {
    let trace = "m0,1,0,2000,1\nm0,1,2000,5000,0\nm1,1,4000,9000,1\n";
    let tasks = ("id,arrival_s,length,user,cpu", "a,0,1,u,1\nb,0,1,u,1\nc,2100,1,u,1\n");
    for policy in ["queue/easy", "queue/conservative"] {
        let policy = format!("preset = \"{policy}\"\nlengths = \"last-two\"");
        let experiment = scenario(("id,cpu\nm0,1\nm1,1\n", trace), tasks, &policy).expect("a scenario");
        let mut simulation = Simulation::new(&experiment.setup, experiment.recipe.build());
        while simulation.step() {
            simulation.scheduler().check().expect("a whole grid");
        }
        assert_eq!(simulation.history().unfinished(), 0, "{policy}");
    }
}

/// There is no model of it.
#[test]
fn nothing_is_divided_over_machines_that_come_by_a_trace() {
    let run = |policy: &str| {
        let trace = "m0,1,0,2000,1\nm1,1,0,2000,1\n";
        let machines = "id,cores,cpu\nm0,2,1\nm1,2,1\n";
        let tasks = ("id,arrival_s,length,cores,cpu", "a,0,100,2,1\nb,0,100,1,1\nc,1,100,2,1\n");
        let experiment = scenario((machines, trace), tasks, policy).map_err(|error| error.to_string())?;
        let mut simulation = Simulation::new(&experiment.setup, experiment.recipe.build());
        simulation.run();
        Ok(simulation.history().unfinished())
    };
    for (preset, split) in [("khoo/mrs", "nearest"), ("khoo/mrs", "whole-if-it-fits")] {
        let policy = format!("preset = \"{preset}\"\nsites = {{ split = \"{split}\" }}");
        let error: String = run(&policy).expect_err("a rule that divides tasks");
        let expected = format!(
            "scenario.toml:10: policy.sites.split: found \"{split}\", and machines that come and go by a trace; \
             expected \"whole\": no task runs in parts there"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
    assert!(run("preset = \"khoo/mrs\"").is_err());
    assert_eq!(run("preset = \"khoo/mrs\"\nsites = { split = \"whole\" }"), Ok(0));
}

/// Rounded to two digits, a and c would be equally fast.
#[test]
fn of_machines_that_differ_little_the_fastest_is_taken() {
    let trace = "a,1,0,2000,149\nb,1,0,2000,145\nc,1,0,2000,154\n";
    let machines = "id,cpu\na,149\nb,145\nc,154\n";
    for policy in ["preset = \"bertasi/greedy\"", "preset = \"immediate/met\""] {
        let tasks = ("id,arrival_s,length,cpu", "t,1,154000,1\n");
        let experiment = scenario((machines, trace), tasks, policy).expect("a scenario");
        let mut simulation = Simulation::new(&experiment.setup, experiment.recipe.build());
        simulation.run();
        assert_eq!(simulation.history().makespan().seconds(), 1001.0, "{policy}");
    }
}
