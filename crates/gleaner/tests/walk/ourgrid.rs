//! A job description of OurGrid on the live grid: its files are sent, its tasks find what they expect, and the results
//! come back.

use crate::grid::Grid;
use std::fs;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";
const JOB: &str = "\
job :
label : sums
requirements : ( os == linux and mem >= 1 )
init : put add.sh add.sh
       store numbers $STORAGE/data/numbers
final : get sum-$JOB.$TASK sum-$JOB.$TASK

task :
remote : add.sh $STORAGE/data/numbers 1 > sum-$JOB.$TASK
task :
remote : sh $PLAYPEN/add.sh data/numbers 10 > sum-$JOB.$TASK && echo \"task $TASK\"
";

#[test]
fn a_job_description_runs_as_it_would_there() {
    let mut grid = Grid::new("ourgrid", 8);
    grid.start();
    grid.add("lab", 50, RULES, &[]);
    let folder = grid.folder.path().join("job");
    fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in [
        ("job.jdf", JOB),
        ("add.sh", "#!/bin/sh\nwhile read n; do echo $((n + $2)); done < \"$1\"\n"),
        ("numbers", "1\n2\n"),
    ] {
        fs::write(folder.join(name), text).expect("a file is written");
    }
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("add.sh"), executable).expect("it is ours");
    let path = folder.join("job.jdf").display().to_string();
    let job = grid.json(&["submit", "-f", &path])["job"].to_string();
    grid.ok(&["wait", &job]);
    assert_eq!(grid.ok(&["logs", &format!("{job}/1")]), "task 2\n");
    let out = grid.folder.path().join("out");
    grid.ok(&["fetch", &job, "--to", &out.display().to_string()]);
    let mut found = Vec::new();
    let mut folders = vec![out];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.file_name().into_string().expect("a plain name");
                found.push((name, fs::read_to_string(entry.path()).expect("a file")));
            }
        }
    }
    found.sort();
    let expected = [("sum-1.1", "2\n3\n"), ("sum-1.2", "11\n12\n")];
    assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let doubtful = JOB.replace("mem >=", "memm >=");
    fs::write(folder.join("doubtful.jdf"), doubtful).expect("a file is written");
    let said = grid.cli(&["submit", "--dry-run", "-f", &folder.join("doubtful.jdf").display().to_string()]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("doubtful.jdf:3: requirements: no machine has an attribute memm"), "{said}");
    assert!(said.contains("did you mean mem?"), "{said}");
    grid.wind_up();
}
