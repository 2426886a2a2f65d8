//! `gleaner workload` from outside, and a scenario that runs on what it writes.

use crate::program::{document, gleaner_in};
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

const LOG: &str = "; MaxProcs: 8\r\n\
    1   0 -1  100  4 -1 -1 4 120 -1 1 3 1 -1 1 -1 -1 -1\r\n\
    2  60 -1   50 16 -1 -1 2  40 -1 1 7 1 -1 1 -1 -1 -1\r\n\
    3 120 -1 0.50  1 -1 -1 1  -1 -1 1 7 1 -1 1 -1 -1 -1\r\n";

fn gleaner(dir: &Path, arguments: &str) -> Output {
    gleaner_in(dir, &arguments.split(' ').collect::<Vec<_>>())
}

fn json(dir: &Path, arguments: &str) -> Value {
    document(&gleaner(dir, &format!("{arguments} --json")))
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("a.swf"), LOG).expect("written");
    dir
}

fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).expect("a file")
}

#[test]
fn a_log_is_told_of_to_people_and_programs() {
    let dir = folder();
    let told = json(dir.path(), "workload info a.swf");
    assert_eq!(
        (&told["version"], &told["jobs"], &told["kept"], &told["cores"]),
        (&1.into(), &3.into(), &2.into(), &8.into())
    );
    assert_eq!((&told["left_out"]["too_large"], &told["with_estimate"]), (&1.into(), &0.5.into()));
    assert_eq!(json(dir.path(), "workload info a.swf --cores 16")["kept"], 3);
    let people = String::from_utf8(gleaner(dir.path(), "workload info a.swf").stdout).expect("text");
    assert!(
        people.starts_with("jobs         3, of 2 users\n") && people.contains("1 larger than the machine"),
        "{people}"
    );
}

#[test]
fn what_is_converted_says_the_same() {
    let dir = folder();
    let same = |name: &str| json(dir.path(), &format!("workload info {name} --cores 16"));
    json(dir.path(), "workload convert a.swf --out b.swf.gz");
    json(dir.path(), "workload convert b.swf.gz --out c.swf");
    assert_eq!(text(dir.path(), "c.swf"), LOG, "every byte is as it was");
    json(dir.path(), "workload convert a.swf --out d.gwf");
    assert_eq!(same("d.gwf"), same("a.swf"));
    json(dir.path(), "workload convert a.swf --cores 16 --out e.json");
    let (of_batsim, of_log) = (same("e.json"), same("a.swf"));
    for key in ["jobs", "kept", "load", "run_mean_s", "size_mean", "past_estimate"] {
        assert_eq!(of_batsim[key], of_log[key], "{key}");
    }
    json(dir.path(), "workload convert a.swf --out f.csv");
    // Folders that are not there are made, so what was written where is said.
    let told = String::from_utf8(gleaner(dir.path(), "workload convert a.swf --out new/f.csv").stdout)
        .expect("text");
    assert!(told.ends_with("written      new/f.csv\n"), "{told}");
    assert_eq!(text(dir.path(), "f.csv"), "id,arrival_s,length,ops,user\n1,0,400,1,u3\n3,120,0.5,1,u7\n");
}

#[test]
fn a_scenario_runs_on_what_is_written_for_it() {
    let dir = folder();
    json(dir.path(), "workload generate user-groups --jobs 50 --seed 3 --out tasks.csv");
    fs::write(dir.path().join("machines.csv"), "id,cores,ops\na,4,10\nb,2,20\n").expect("written");
    let scenario = "[grid]\nmachines = \"machines.csv\"\n[work]\ntasks = \"tasks.csv\"\n[policy]\npreset = \"bertasi/greedy\"\n";
    fs::write(dir.path().join("s.toml"), scenario).expect("written");
    let ended = json(dir.path(), "simulate s.toml --out out");
    assert_eq!((&ended["tasks"], &ended["unfinished"]), (&50.into(), &0.into()));
}

#[test]
fn a_model_draws_the_same_log_again() {
    let dir = folder();
    let made = json(dir.path(), "workload generate lublin --jobs 2000 --seed 7 --out x.swf");
    json(dir.path(), "workload generate lublin --jobs 2000 --seed 7 --out y.swf");
    assert_eq!(text(dir.path(), "x.swf"), text(dir.path(), "y.swf"));
    assert_eq!((&made["jobs"], &made["kept"], &made["cores"]), (&2000.into(), &2000.into(), &128.into()));
    assert_eq!(json(dir.path(), "workload info x.swf"), made);
    json(dir.path(), "workload generate lublin-one-kind --jobs 100 --cores 16 --out z.swf");
    assert!(json(dir.path(), "workload info z.swf")["size_max"].as_u64() <= Some(16));
}

#[test]
fn a_filter_leaves_lines_as_they_are() {
    let dir = folder();
    json(dir.path(), "workload filter a.swf --from 60 --to 2min --out b.swf");
    let lines: Vec<&str> = LOG.split_inclusive('\n').collect();
    assert_eq!(text(dir.path(), "b.swf"), [lines[0], lines[2]].concat());
    json(dir.path(), "workload filter a.swf --users 3,9 --out b.swf");
    assert_eq!(text(dir.path(), "b.swf"), [lines[0], lines[1]].concat());
    json(dir.path(), "workload filter a.swf --cores 8 --out b.swf");
    assert_eq!(text(dir.path(), "b.swf"), [lines[0], lines[1], lines[3]].concat());
    let busier = json(dir.path(), "workload filter a.swf --scale-load 2 --out b.swf");
    assert_eq!(text(dir.path(), "b.swf"), LOG.replace("2  60", "2  30").replace("3 120", "3  60"));
    let load = |told: &Value| told["load"].as_f64().expect("a number");
    assert!((load(&busier) / load(&json(dir.path(), "workload info a.swf")) - 2.0).abs() < 1e-9);
}

#[test]
fn descriptions_of_ourgrid_are_told_of() {
    let dir = folder();
    let job = "job :\nlabel : a\nrequirements : os == linux\ntask :\nremote : b\ninit : put c d\n";
    fs::write(dir.path().join("a.jdf"), job).expect("written");
    let refused = gleaner(dir.path(), "workload info a.jdf");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).expect("text");
    assert!(
        said.contains("a.jdf:6: column 1: found \"init\"; expected init, remote, final, check"),
        "{said}"
    );
    fs::write(
        dir.path().join("a.jdf"),
        job.replace("remote : b\ninit : put c d", "init : put c d\nremote : b"),
    )
    .expect("written");
    let told = json(dir.path(), "workload info a.jdf");
    assert_eq!((&told["tasks"], &told["requirements"]), (&1.into(), &"os == linux".into()));
    fs::write(
        dir.path().join("a.sdf"),
        "workerdefaults:\n servername: x\n os: linux\nworker:\n username: w{1-2}\n",
    )
    .expect("written");
    let told = json(dir.path(), "workload info a.sdf");
    assert_eq!((&told["workers"][1]["username"], &told["workers"][1]["os"]), (&"w2".into(), &"linux".into()));
    let trace =
        "taskId time jobId jobSize runtime user peer\n1 0 1 2 500 1 a\n2 0 1 2 700 1 a\n3 30 2 1 600 2 b\n";
    fs::write(dir.path().join("bags.txt"), trace).expect("written");
    let told = json(dir.path(), "workload info bags.txt");
    assert_eq!(
        (&told["kind"], &told["peers"], &told["jobs"], &told["tasks"]),
        (&"bags".into(), &2.into(), &2.into(), &3.into())
    );
    assert_eq!(told["run_mean_s"], 600.0);
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let dir = folder();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let told = json(dir.path(), "workload info a.swf");
    for arguments in ["workload info pipe", "workload convert pipe --as swf --out b.swf"] {
        let writer = pipe.clone();
        let writer = std::thread::spawn(move || fs::write(writer, LOG).expect("a reader"));
        assert_eq!(json(dir.path(), arguments), told, "{arguments}");
        writer.join().expect("no panic");
    }
    assert_eq!(text(dir.path(), "b.swf"), LOG);
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let dir = folder();
    fs::write(dir.path().join("bad.swf"), LOG.replace("50 16", "50 16.5")).expect("written");
    fs::write(dir.path().join("idle.swf"), LOG.replace("-1 -1 4", "-1 -1 9").replace("0.50  1", "-1  1"))
        .expect("written");
    for (arguments, said) in [
        ("workload convert bad.swf --out b.swf", "bad.swf:3: field 5 (allocated processors): found \"16.5\""),
        (
            "workload convert idle.swf --cores 1 --out b.json",
            "--out b.json: found no job that can run on 1 processors: 1 without a run time, 2 larger than the machine",
        ),
        (
            "workload convert idle.swf --cores 1 --out b.csv",
            "expected one, since this format holds no others",
        ),
        ("workload convert none.swf --out b.swf", "none.swf: found no such file"),
        ("workload convert a.swf --out b.txt", "expected a name in .swf, .gwf, .json or .csv, or --as"),
        ("workload filter a.swf --scale-load 0 --out b.swf", "expected a factor, from 1e-6 to 1e6"),
        ("workload info a.swf --format batsim", "a.swf:1: column 1: found"),
        (
            "simulate a.swf",
            "a.swf: found a log of jobs, by its name; expected a scenario; a log is given with --swf",
        ),
        ("workload filter a.swf --from 5 --to 3 --out b.swf", "a.swf: found no job that the filter keeps"),
        ("workload filter a.swf --from 9999d --out b.swf", "a.swf: found no job that the filter keeps"),
        (
            "workload filter a.swf --from 60 --out ./a.swf",
            "--out: found ./a.swf, which is the file that is read",
        ),
        ("workload convert a.swf --as gwf --out a.swf", "--out: found a.swf, which is the file that is read"),
        ("workload generate lublin --jobs 0 --out b.swf", "0 is not in 1..=10000000"),
    ] {
        let refused = gleaner(dir.path(), arguments);
        let found = String::from_utf8(refused.stderr).expect("text");
        assert!(refused.status.code() == Some(2) && found.contains(said), "{arguments}\n{found}");
        let written = ["b.swf", "b.txt", "b.json", "b.csv"].map(|name| dir.path().join(name).exists());
        assert_eq!(written, [false; 4], "{arguments}");
        assert_eq!(text(dir.path(), "a.swf"), LOG, "{arguments}");
    }
}

#[test]
fn a_dash_is_standard_input_and_standard_output() {
    let dir = folder();
    let run = |arguments: &str, stdin: &str| -> Output {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
        command
            .current_dir(dir.path())
            .args(arguments.split(' '))
            .write_stdin(stdin)
            .output()
            .expect("it runs")
    };
    let info = json(dir.path(), "workload info a.swf");
    assert_eq!(document(&run("workload info - --json", LOG)), info);
    let converted = run("workload convert - --out - --as swf", LOG);
    assert_eq!(converted.status.code(), Some(0), "{converted:?}");
    assert_eq!(String::from_utf8_lossy(&converted.stdout), LOG);
    let simulated = run("simulate --swf - --policy queue/easy --json", LOG);
    assert!(document(&simulated).is_object());
    for (arguments, said) in [
        ("workload convert a.swf --out -", "--out -: expected a name in .swf, .gwf, .json or .csv, or --as"),
        ("workload convert a.swf --as gwf --out - --json", "--json: found --out -"),
        ("replay - --policy bertasi/greedy", "/dev/stdin:1: "),
    ] {
        let refused = run(arguments, "no journal");
        let found = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && found.contains(said), "{arguments}\n{found}");
    }
    assert!(!dir.path().join("-").exists());
}
