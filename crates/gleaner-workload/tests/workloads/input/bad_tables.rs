//! What is reported for tables that are bad input.

use super::folder::{Folder, LOADS, MACHINES, TASKS};
use gleaner_workload::Experiment;

/// Each case is a file's text and the error that it gives.
#[track_caller]
fn check_file(name: &str, cases: &[(&str, &str)]) {
    for &(text, expected) in cases {
        Folder::new().with(name, text).check_error(&[], expected);
    }
}

/// Each case replaces a part of the right file.
#[track_caller]
fn check_edits(name: &str, right: &str, cases: &[(&str, &str, &str)]) {
    for &(old, new, expected) in cases {
        assert!(right.contains(old), "{old}");
        Folder::new().with(name, right.replacen(old, new, 1)).check_error(&[], expected);
    }
}

#[test]
fn files_that_cannot_be_read() {
    for (name, right, key) in [
        ("machines.csv", MACHINES, "scenario.toml:2: grid.machines"),
        ("owner_load.csv", LOADS, "scenario.toml:3: grid.owner_load"),
        ("tasks.csv", TASKS, "scenario.toml:6: work.tasks"),
    ] {
        let missing = format!("{key}: found no file {name}; expected the name of a file that can be read");
        Folder::new().without(name).check_error(&[], &missing);
        let line = right.lines().count() + 1;
        let not_text = format!("{name}:{line}: found bytes that are not UTF-8; expected UTF-8 text");
        Folder::new().with(name, [right.as_bytes(), b"\xff\n"].concat()).check_error(&[], &not_text);
    }
    let error = Folder::new().load(&["grid.machines=."]).expect_err("a folder").to_string();
    assert!(error.ends_with("which is a folder; expected the name of a file that can be read"), "{error}");
}

#[test]
fn a_speed_with_which_a_task_takes_for_ever() {
    for speed in ["1e-308", "-1", "inf", "1e19"] {
        let expected = "operations a second: 0, or from 1e-9 to 1e18";
        let found = format!("machines.csv:2: cpu: found \"{speed}\"; expected {expected}");
        check_edits("machines.csv", MACHINES, &[("m0,4", &format!("m0,{speed}"), &found)]);
    }
}

#[test]
fn a_length_that_takes_for_ever() {
    check_edits(
        "tasks.csv",
        TASKS,
        &[(
            "t0,0,",
            "t0,0,1e308,0.5,0.5,0\nt9,0,",
            "tasks.csv:2: length: found \"1e308\"; expected a length that some machine can do in less than 584 years",
        )],
    );
}

#[test]
fn columns() {
    check_edits(
        "tasks.csv",
        TASKS,
        &[
            (
                "length",
                "lenght",
                "tasks.csv:1: lenght: found an unknown column; expected one of id, arrival_s, length, declared, cores, memory_bytes, disk_bytes, priority, checkpoint, label, domain, ad, user, cpu, disk, net; did you mean length?",
            ),
            (
                "net",
                "net,mem",
                "tasks.csv:1: mem: found an unknown column; expected one of id, arrival_s, length, declared, cores, memory_bytes, disk_bytes, priority, checkpoint, label, domain, ad, user, cpu, disk, net",
            ),
            ("net", "cpu", "tasks.csv:1: cpu: found the column twice; expected each column once"),
            (
                "length,",
                "",
                "tasks.csv:1: length: found the columns id, arrival_s, cpu, disk, net; expected a column length",
            ),
            (
                ",disk",
                "",
                "tasks.csv:1: disk: found the columns id, arrival_s, length, cpu, net; expected a column disk",
            ),
            (
                ",cpu,disk,net",
                "",
                "tasks.csv:1: cpu: found no composition; expected a column for each dimension, or one label",
            ),
            (
                ",cpu,disk,net",
                ",label",
                "tasks.csv:1: label: found labels that mean nothing; expected work.labels in the scenario",
            ),
            (
                ",net",
                ",net,label",
                "tasks.csv:1: label: found a column for cpu too; expected either labels or a column for each dimension",
            ),
            (
                "id",
                "\"id",
                "tasks.csv:1: found a quote that is not closed; expected quoted fields that end on their line",
            ),
        ],
    );
    check_edits(
        "machines.csv",
        MACHINES,
        &[
            (
                "cpu",
                "gpu",
                "machines.csv:1: gpu: found an unknown column; expected one of id, site, cores, memory_bytes, disk_bytes, price, provides, ad, cpu, disk, net; did you mean cpu?",
            ),
            (
                "id",
                "site",
                "machines.csv:1: id: found the columns site, cpu, disk, net; expected a column id",
            ),
        ],
    );
    check_edits(
        "owner_load.csv",
        LOADS,
        &[
            (
                "load",
                "λ",
                "owner_load.csv:1: λ: found an unknown column; expected one of time_s, machine, load",
            ),
            (
                ",load",
                "",
                "owner_load.csv:1: load: found the columns time_s, machine; expected a column load",
            ),
        ],
    );
    let unweighed = || Folder::new().edited("weights = { cpu = 2e-5, disk = 0.1, net = 0.1 }", "");
    unweighed().with("machines.csv", "id,cores\nm0,1\n").check_error(
        &[],
        "machines.csv:1: found no dimension; expected an id and one column a dimension, as cpu",
    );
    for name in ["length", "user"] {
        let expected = "found a dimension of that name; expected a name that tasks have no column for";
        let machines = format!("id,{name}\nm0,1\n");
        unweighed()
            .with("machines.csv", &machines)
            .check_error(&[], &format!("machines.csv:1: {name}: {expected}"));
    }
}

#[test]
fn columns_without_end() {
    let header = format!("id{}\n", ",a".repeat(500_000));
    check_file("machines.csv", &[(&header, "machines.csv:1: found 500001 columns; expected at most 1000")]);
}

#[test]
fn rows_of_the_wrong_width() {
    check_edits(
        "tasks.csv",
        TASKS,
        &[
            ("0,200000,", "200000,", "tasks.csv:2: net: found 5 fields; expected 6, one a column"),
            ("1,0,0", "1,0,0,0", "tasks.csv:2: found 7 fields; expected 6, one a column"),
            (
                "0.1,0.2\n",
                "0.1",
                "tasks.csv:3: found that the file ends in the middle of a row; expected 6 fields and a line end",
            ),
            (
                "t1,0.5,50000,0.7,0.1,0.2\n",
                "\"t1",
                "tasks.csv:3: found that the file ends in the middle of a row; expected 6 fields and a line end",
            ),
            ("0.1,0.2\n", "0.1,0.2,3", "tasks.csv:3: found 7 fields; expected 6, one a column"),
            (
                "t0",
                "\"t0",
                "tasks.csv:2: found a quote that is not closed; expected quoted fields that end on their line",
            ),
        ],
    );
    let long = format!("{TASKS}t2,{}\n", "0".repeat(1 << 20));
    check_file(
        "tasks.csv",
        &[(&long, "tasks.csv:4: found a line of more than 1 MiB; expected at most 1 MiB a line")],
    );
    let commas = format!("{TASKS}{}\n", ",".repeat(1_000_000));
    check_file("tasks.csv", &[(&commas, "tasks.csv:4: found 1000001 fields; expected 6, one a column")]);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let expected = "expected operations as a finite number above 0";
    for (why, text, line) in [
        ("line ends of two characters", TASKS.replace('\n', "\r\n"), 3),
        ("blank lines", TASKS.replace('\n', "\n\n\n"), 7),
        ("a byte order mark", format!("\u{feff}\n{TASKS}"), 4),
    ] {
        let text = text.replace("50000", "no");
        println!("{why}");
        let expected = format!("tasks.csv:{line}: length: found \"no\"; {expected}");
        Folder::new().with("tasks.csv", text).check_error(&[], &expected);
    }
}

#[test]
fn empty_tables() {
    for (name, of) in [("machines.csv", "machines"), ("tasks.csv", "tasks")] {
        let empty = format!("{name}: found an empty file; expected a header, then {of}");
        Folder::new().with(name, "").check_error(&[], &empty);
        Folder::new().with(name, "\n \r\n").check_error(&[], &empty);
    }
    check_file(
        "machines.csv",
        &[(
            "id,cpu,disk,net\n",
            "machines.csv: found no machines; expected machines, one a line below the header",
        )],
    );
    check_file(
        "tasks.csv",
        &[(
            "id,arrival_s,length,cpu,disk,net\n\n",
            "tasks.csv: found no tasks; expected tasks, one a line below the header",
        )],
    );
}

#[test]
fn declared_lengths() {
    let tasks =
        |declared: &str| format!("id,arrival_s,length,declared,cpu,disk,net\nt0,0,200,{declared},1,0,0\n");
    for bad in ["0", "-1", "NaN", "inf", "long"] {
        let expected = "operations as a finite number above 0, or nothing";
        let expected = format!("tasks.csv:2: declared: found {bad:?}; expected {expected}");
        Folder::new().with("tasks.csv", tasks(bad)).check_error(&[], &expected);
    }
}

#[test]
fn needs_and_room() {
    let cores = "expected a whole number, 1 or more, below 2^32";
    let size = "expected size, as 512M, 4GB or a number of bytes";
    let priority = "expected a whole number from -2147483648 to 2147483647";
    for (field, bad, expected) in [
        ("cores", "0", cores),
        ("memory_bytes", "much", size),
        ("disk_bytes", "-1", size),
        ("priority", "high", priority),
        ("priority", "2147483648", priority),
        ("checkpoint", "maybe", "expected yes or no"),
    ] {
        let tasks = format!("id,arrival_s,length,{field},cpu,disk,net\nt0,0,200,{bad},1,0,0\n");
        let expected = format!("tasks.csv:2: {field}: found {bad:?}; {expected}");
        Folder::new().with("tasks.csv", tasks).check_error(&[], &expected);
        let machines = format!("id,{field},cpu,disk,net\nm2,{bad},1,0,0\n");
        if ["memory_bytes", "disk_bytes"].contains(&field) {
            Folder::new()
                .with("machines.csv", machines)
                .check_error(&[], &expected.replace("tasks.csv", "machines.csv"));
        }
    }
}

#[test]
fn tasks_that_are_too_large_for_every_machine() {
    let machines =
        MACHINES.replace("net\n", "net,cores,memory_bytes,disk_bytes\n").replace("250\n", "250,2,100,100\n");
    for (field, why) in [
        ("cores", "3 of 3 machines have fewer than 101 cores for tasks"),
        ("memory_bytes", "3 of 3 machines have less than 101 bytes of memory for tasks"),
        ("disk_bytes", "3 of 3 machines have less than 101 bytes of disk for tasks"),
    ] {
        let tasks =
            format!("id,arrival_s,length,{field},cpu,disk,net\nt0,0,200,,1,0,0\nt1,0,200,101,1,0,0\n");
        let folder = Folder::new().with("machines.csv", &machines).with("tasks.csv", tasks);
        let scenario = folder.load(&["grid.sharing=exclusive"]).unwrap_or_else(|error| panic!("{error}"));
        let error = Experiment::of(scenario).expect_err("no room").to_string();
        let found = format!("tasks.csv:3: {field}: found t1, which no machine could ever run: {why}");
        assert!(error.contains(&found), "{error}");
    }
}

#[test]
fn machines() {
    let speed = "expected operations a second: 0, or from 1e-9 to 1e18";
    for bad in ["-1", "NaN", "inf", "1e999", "fast", "", "1 2", "0x10"] {
        let text = MACHINES.replace("m1,2,", &format!("m1,{bad},"));
        let expected = format!("machines.csv:3: cpu: found {bad:?}; {speed}");
        Folder::new().with("machines.csv", text).check_error(&[], &expected);
    }
    check_edits(
        "machines.csv",
        MACHINES,
        &[
            ("m1", "m0", "machines.csv:3: id: found \"m0\"; expected an id that no machine above has"),
            ("m1", "", "machines.csv:3: id: found an empty field; expected a name"),
        ],
    );
    let cores = "expected a whole number, 1 or more, below 2^32";
    let price = "expected credits for an operation as a finite number, 0 or more";
    for (field, bad, expected) in [
        ("cores", "0", cores),
        ("cores", "1.5", cores),
        ("cores", "-1", cores),
        ("cores", "4294967296", cores),
        ("price", "-0.5", price),
        ("price", "nan", price),
        ("price", "free", price),
    ] {
        let text = format!("id,cpu,disk,net,{field}\nm2,1,1,1,{bad}\n");
        let expected = format!("machines.csv:2: {field}: found {bad:?}; {expected}");
        Folder::new().with("machines.csv", text).check_error(&[], &expected);
    }
}

#[test]
fn owner_loads() {
    let time = "expected seconds as a finite number, 0 or more";
    check_edits(
        "owner_load.csv",
        LOADS,
        &[
            ("0.95", "1.01", "owner_load.csv:2: load: found \"1.01\"; expected a number from 0 to 1"),
            ("0.95", "-0.1", "owner_load.csv:2: load: found \"-0.1\"; expected a number from 0 to 1"),
            ("0.95", "nan", "owner_load.csv:2: load: found \"nan\"; expected a number from 0 to 1"),
            (
                "m2",
                "m22",
                "owner_load.csv:2: machine: found \"m22\"; expected one of m0, m1, m2; did you mean m2?",
            ),
            ("2,", "-2,", &format!("owner_load.csv:2: time_s: found \"-2\"; {time}")),
            ("2,", "NaN,", &format!("owner_load.csv:2: time_s: found \"NaN\"; {time}")),
            ("2,", "inf,", &format!("owner_load.csv:2: time_s: found \"inf\"; {time}")),
            (
                "2,",
                "1e11,",
                "owner_load.csv:2: time_s: found \"1e11\"; expected at most 18446744073 seconds, where time ends",
            ),
            (
                "2,m2,0.95\n",
                "2,m2,0\n1.5,m0,0\n",
                "owner_load.csv:3: time_s: found \"1.5\"; expected 2.000000000 or more, as the row before has that time",
            ),
        ],
    );
}

#[test]
fn tasks() {
    let length = "expected operations as a finite number above 0";
    let share = "expected a share as a finite number, 0 or more";
    let sum = "expected shares that add up to 1, within 1e-9";
    check_edits(
        "tasks.csv",
        TASKS,
        &[
            ("t1", "t0", "tasks.csv:3: id: found \"t0\"; expected an id that no task above has"),
            ("t1", "\"\"", "tasks.csv:3: id: found an empty field; expected a name"),
            (
                "0.5,",
                "abc,",
                "tasks.csv:3: arrival_s: found \"abc\"; expected seconds as a finite number, 0 or more",
            ),
            (
                "0.5,",
                "-0.5,",
                "tasks.csv:3: arrival_s: found \"-0.5\"; expected seconds as a finite number, 0 or more",
            ),
            (
                "0.5,",
                "1e300,",
                "tasks.csv:3: arrival_s: found \"1e300\"; expected at most 18446744073 seconds, where time ends",
            ),
            (
                "t0,0,",
                "t0,0.6,",
                "tasks.csv:3: arrival_s: found \"0.5\"; expected 0.600000000 or more, as the row before has that time",
            ),
            ("50000", "0", &format!("tasks.csv:3: length: found \"0\"; {length}")),
            ("50000", "-1", &format!("tasks.csv:3: length: found \"-1\"; {length}")),
            ("50000", "inf", &format!("tasks.csv:3: length: found \"inf\"; {length}")),
            ("50000", "NaN", &format!("tasks.csv:3: length: found \"NaN\"; {length}")),
            ("0.7,0.1", "0.9,-0.1", &format!("tasks.csv:3: disk: found \"-0.1\"; {share}")),
            ("0.7", "nan", &format!("tasks.csv:3: cpu: found \"nan\"; {share}")),
            ("0.7", "\u{1b}[2J", &format!("tasks.csv:3: cpu: found \"\\u{{1b}}[2J\"; {share}")),
            ("0.7", "0.8", &format!("tasks.csv:3: composition: found shares that add up to 1.1; {sum}")),
            ("1,0,0", "0,0,0", &format!("tasks.csv:2: composition: found shares that add up to 0; {sum}")),
            (
                "1,0,0",
                "1,0.0000000011,0",
                &format!("tasks.csv:2: composition: found shares that add up to 1.0000000011; {sum}"),
            ),
        ],
    );
    let almost = TASKS.replace("1,0,0", "1,0.0000000009,0");
    Folder::new().with("tasks.csv", almost).load(&[]).expect("shares that add up within the tolerance");
}

#[test]
fn a_field_is_shown_in_part() {
    let text = TASKS.replace("50000", &"ü".repeat(100_000));
    let error = Folder::new().with("tasks.csv", text).load(&[]).expect_err("a long field");
    assert_eq!(error.found, format!("\"{}…\"", "ü".repeat(60)));
}

#[test]
fn labels() {
    let folder = || {
        let tasks = "id,arrival_s,length,label\na,0,1,mixed\nb,0,1,cqu\n";
        Folder::new().with("tasks.csv", tasks).edited("[policy]", "labels = \"labels.csv\"\n[policy]")
    };
    for (text, expected) in [
        (
            "label,cpu,disk,net\nmixed,0.5,0.5,0\ncpu,1,0,0\n",
            "tasks.csv:3: label: found \"cqu\"; expected one of mixed, cpu; did you mean cpu?",
        ),
        (
            "label,cpu,disk,net\nmixed,0.5,0.5,1\n",
            "labels.csv:2: composition: found shares that add up to 2; expected shares that add up to 1, within 1e-9",
        ),
        (
            "label,cpu,disk,net\nmixed,1,0,0\nmixed,1,0,0\n",
            "labels.csv:3: label: found \"mixed\"; expected a label that no row above has",
        ),
        (
            "label,cpu,disk,net\nmixed,1,-1,1\n",
            "labels.csv:2: disk: found \"-1\"; expected a share as a finite number, 0 or more",
        ),
        (
            "label,cpu,disk\nmixed,1,0\n",
            "labels.csv:1: net: found the columns label, cpu, disk; expected a column net",
        ),
        ("label,cpu,disk,net\n", "labels.csv: found no labels; expected labels, one a line below the header"),
    ] {
        folder().with("labels.csv", text).check_error(&[], expected);
    }
    for (set, expected) in [
        (
            "work.labels=7",
            "--set work.labels=7: work.labels: found 7; expected the name of a file, or a table for each label",
        ),
        ("work.labels={ a = 1 }", "--set work.labels={ a = 1 }: work.labels.a: found 1; expected a table"),
        (
            "work.labels={ a = { cqu = 1 } }",
            "--set work.labels={ a = { cqu = 1 } }: work.labels.a.cqu: found an unknown key; expected one of cpu, disk, net; did you mean cpu?",
        ),
        (
            "work.labels={ a = { cpu = 0.5 } }",
            "--set work.labels={ a = { cpu = 0.5 } }: work.labels.a: found shares that add up to 0.5; expected shares that add up to 1, within 1e-9",
        ),
        (
            "work.labels={ a = { cpu = nan } }",
            "--set work.labels={ a = { cpu = nan } }: work.labels.a.cpu: found NaN; expected a share as a finite number, 0 or more",
        ),
    ] {
        folder().check_error(&[set], expected);
    }
}

#[test]
fn tasks_that_could_never_run() {
    let machines = "id,cpu,disk,net,provides\nm0,1,0,1,linux gpu\nm1,0,1,1,linux\nm2,1,0,1,bsd\n";
    let run = "expected a task that some machine could run";
    for (shares, why) in [
        ("1,0,0,gpu mac", "no machine provides gpu, mac"),
        ("0,1,0,gpu", "disk has speed 0 on every machine that provides gpu"),
        ("0.5,0.5,0,linux", "every machine that provides linux has speed 0 in one of cpu, disk"),
        ("0.5,0.5,0,", "every machine has speed 0 in one of cpu, disk"),
    ] {
        let tasks = format!("id,arrival_s,length,cpu,disk,net,domain\nt0,0,1,1,0,0,\nt1,0,1,{shares}\n");
        let expected = format!("tasks.csv:3: id: found t1, which no machine could ever run: {why}; {run}");
        Folder::new().with("machines.csv", machines).with("tasks.csv", tasks).check_error(&[], &expected);
    }
}

#[test]
fn tasks_of_unknown_length_where_lengths_matter() {
    let machines = MACHINES.replace("net\n", "net,price\n").replace("250\n", "250,1\n");
    let tasks = "id,arrival_s,length,declared,cpu,disk,net\nt0,0,200,200,1,0,0\nt1,0,200,,1,0,0\n";
    for (policy, why) in [
        ("preset = \"elleuch/min-min\"", "this policy plans by lengths"),
        (
            "preset = \"bertasi/greedy\"\nbudget = { rule = \"b\", recharge = 1000, period_s = 1 }",
            "there is a budget",
        ),
    ] {
        let folder = Folder::new().with("machines.csv", &machines).with("tasks.csv", tasks);
        let folder = folder.edited("[policy]\npreset = \"bertasi/greedy\"", &format!("[policy]\n{policy}"));
        let scenario = folder.load(&["grid.sharing=exclusive"]).unwrap_or_else(|error| panic!("{error}"));
        let error = Experiment::of(scenario).expect_err("no length").to_string();
        let expected = format!(
            "tasks.csv:3: declared: found an empty field; expected operations as a finite number above 0, since {why}"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
}
