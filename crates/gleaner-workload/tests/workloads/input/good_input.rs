//! What a scenario reads as.

use super::folder::{Folder, MACHINES, SCENARIO, TASKS};
use gleaner_core::{Budget, Charged, Needs, Room, Scope};
use gleaner_policy::{Mover, Relocate, Score, When};
use gleaner_units::{Credits, MachineId, Ops, Span, Time};
use gleaner_workload::{Experiment, InputError, Migration, Scenario, Sharing};
use std::collections::BTreeSet;

#[track_caller]
fn load(folder: &Folder) -> Scenario {
    folder.load(&[]).unwrap_or_else(|error| panic!("{error}"))
}

fn words(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn a_scenario_reads_as_written() {
    let scenario = load(&Folder::new());
    assert_eq!(scenario.dimensions, ["cpu", "disk", "net"]);
    assert_eq!(scenario.weights, [2e-5, 0.1, 0.1]);
    assert_eq!(scenario.machines.len(), 3);
    assert_eq!(scenario.machines.rows()[2].id, "m2");
    assert_eq!(scenario.machines.kind_of(2).speeds, [1.0, 800.0, 250.0]);
    assert_eq!(scenario.machines.kind_of(2).cores, 1);
    assert_eq!((scenario.loads[0].machine, scenario.loads[0].load), (MachineId::new(2), 0.95));
    assert_eq!(scenario.loads[0].time, Time::from_nanos(2_000_000_000));
    assert_eq!(scenario.tasks.len(), 2);
    assert_eq!(scenario.tasks.id(1), "t1");
    assert_eq!(scenario.tasks.arrivals()[1], Time::from_nanos(500_000_000));
    assert_eq!(scenario.tasks.lengths()[1].amount(), 50000.0);
    assert_eq!(scenario.tasks.kind_of(1).composition, [0.7, 0.1, 0.2]);
    assert_eq!(scenario.policy.name(), "bertasi/greedy");
    assert_eq!(scenario.base, scenario.file.parent().expect("a folder"));
}

#[test]
fn a_declared_length_is_apart_from_the_true_one() {
    let declared = |tasks: &str| -> Vec<Option<f64>> {
        let scenario = load(&Folder::new().with("tasks.csv", tasks));
        assert_eq!(scenario.tasks.lengths()[0].amount(), 200.0);
        (0..scenario.tasks.len()).map(|task| scenario.tasks.declared(task).map(Ops::amount)).collect()
    };
    let without = "id,arrival_s,length,cpu,disk,net\nt0,0,200,1,0,0\nt1,0.5,50,1,0,0\n";
    assert_eq!(declared(without), [Some(200.0), Some(50.0)]);
    let with = "id,arrival_s,length,declared,cpu,disk,net\nt0,0,200,1e3,1,0,0\nt1,0.5,50,,1,0,0\n";
    assert_eq!(declared(with), [Some(1000.0), None]);
}

#[test]
fn what_tasks_take_and_machines_have() {
    let machines =
        "id,cpu,disk,net,cores,memory_bytes,disk_bytes\nm0,4,100,250,8,16GB,\nm1,2,100,250,,,1024\n";
    let tasks = "id,arrival_s,length,cpu,disk,net,cores,memory_bytes,disk_bytes,priority,checkpoint\n\
                 t0,0,200,1,0,0,4,1.5G,512M,-3,no\nt1,0,200,1,0,0,,,,,\nt2,0,200,1,0,0,1,0,0,0,yes\n";
    let owners = "time_s,machine,load\n2,m1,0.95\n";
    let folder =
        Folder::new().with("machines.csv", machines).with("tasks.csv", tasks).with("owner_load.csv", owners);
    let experiment = |sharing: &str| {
        let scenario = folder.load(&[sharing]).unwrap_or_else(|error| panic!("{error}"));
        Experiment::of(scenario).unwrap_or_else(|error| panic!("{error}")).setup
    };
    let setup = experiment("grid.sharing=exclusive");
    let room = |machine: usize| setup.machine_classes[setup.machines[machine].index()].room;
    assert_eq!(room(0), Room { slots: Some(8), memory: Some(16 << 30), disk: None });
    assert_eq!(room(1), Room { slots: Some(1), memory: None, disk: Some(1024) });
    let class = |task: usize| &setup.task_classes[setup.tasks.classes[task].index()];
    assert_eq!(class(0).needs, Needs { cores: 4, memory: 3 << 29, disk: 512 << 20 });
    assert_eq!((class(0).priority, class(0).restarts), (-3, true));
    // What is not said is what the default would be, and so the same class.
    assert_eq!((class(1).needs, class(1).priority, class(1).restarts), (Needs::default(), 0, false));
    assert_eq!(setup.tasks.classes[1], setup.tasks.classes[2]);
    let shared = experiment("grid.sharing=time");
    assert_eq!(shared.machine_classes[0].room, Room { slots: None, memory: Some(16 << 30), disk: None });
}

#[test]
fn what_is_absent_has_its_default() {
    let least = "[grid]\nmachines = \"machines.csv\"\n[work]\ntasks = \"tasks.csv\"\n[policy]\npreset = \"bertasi/greedy\"\n";
    let machines = "disk,id,cpu,site,net,price\n1,m0,2,,3,\n";
    let scenario = load(&Folder::new().with("scenario.toml", least).with("machines.csv", machines));
    assert_eq!(scenario.loads, []);
    assert_eq!(scenario.dimensions, ["disk", "cpu", "net"]);
    assert_eq!(scenario.weights, [1.0; 3]);
    assert_eq!(scenario.machines.rows()[0].site, None);
    assert_eq!(scenario.machines.rows()[0].price, None);
    assert_eq!(scenario.sharing, Sharing::Time);
    assert_eq!(scenario.policy.recipe().relocate, None);
    assert_eq!(scenario.policy.amounts(), None);
    assert_eq!(scenario.migration, Migration { seconds: 0.0, bytes: 0.0 });
    assert_eq!(scenario.seed, 1);
}

#[test]
fn settings_read_as_written() {
    let more = r#"
relocate = { score = "social-as-printed", moves_max = 0, gain_min = 0, difference_min = 1, period_s = 0.5, mover = "last" }
budget = { rule = "none", recharge = 1000, period_s = 120, charged = "ended", per = "user" }
[migration]
seconds = 2
bytes = 1e6
[run]
seed = 18446744073709551615
"#;
    let scenario = load(&Folder::new().with("scenario.toml", format!("{SCENARIO}{more}")));
    let span = |seconds| Span::from_seconds(seconds).expect("a period");
    let relocate = Relocate {
        score: Score::SocialAsPrinted,
        moves_max: 0,
        gain_min: 0.0,
        difference_min: 1,
        when: When::Every(span(0.5)),
        mover: Mover::Last,
    };
    let budget = Budget {
        recharge: Credits::new(1000),
        period: span(120.0),
        charged: Charged::Ended,
        scope: Scope::PerUser,
    };
    assert_eq!(scenario.policy.recipe().relocate, Some(relocate));
    assert_eq!(scenario.policy.amounts(), Some(budget));
    assert_eq!(scenario.migration, Migration { seconds: 2.0, bytes: 1e6 });
    assert_eq!(scenario.seed, u64::MAX);
}

#[test]
fn relocation_has_defaults() {
    let score = "policy.relocate.score=min-num";
    let scenario = Folder::new().load(&[score]).expect("a scenario");
    assert_eq!(scenario.policy.recipe().relocate, Some(Relocate::by(Score::MinNum)));
    let none = Folder::new().load(&[score, "policy.relocate=none"]).expect("a scenario");
    assert_eq!(none.policy.recipe().relocate, None);
}

#[test]
fn overrides_are_laid_over_the_document() {
    let overrides = [
        "policy.preset=bertasi/social",
        "policy.relocate={ score = \"greedy\" }",
        "policy.relocate.gain_min = 0.05",
        "run.seed=7",
        "run.seed=8",
        "grid.sharing=\"exclusive\"",
    ];
    let scenario = Folder::new().load(&overrides).expect("a scenario");
    assert_eq!(scenario.policy.name(), "bertasi/social");
    assert_eq!(scenario.policy.recipe().relocate.expect("moves").gain_min, 0.05);
    assert_eq!((scenario.seed, scenario.sharing), (8, Sharing::Exclusive));
}

#[test]
fn files_may_be_written_in_any_usual_way() {
    let plain = load(&Folder::new());
    let crlf = |text: &str| text.replace('\n', "\r\n");
    for (why, machines, tasks) in [
        ("line ends of two characters", crlf(MACHINES), crlf(TASKS)),
        ("no last line end", MACHINES.trim_end().to_owned(), TASKS.trim_end().to_owned()),
        ("blank lines", MACHINES.replace('\n', "\n\n \n"), format!("\n\r\n{TASKS}\n\n")),
        ("a byte order mark", format!("\u{feff}{MACHINES}"), format!("\u{feff}{TASKS}")),
        ("quotes", MACHINES.replace("m1", "\"m1\""), TASKS.replace("t0", "\"t0\"").replace("0.7", "\"0.7\"")),
        ("blanks", MACHINES.replace(',', " , "), TASKS.replace(',', "\t,")),
        ("a zero below zero", MACHINES.to_owned(), TASKS.replace("1,0,0", "1,-0,0e5")),
    ] {
        let scenario = Folder::new().with("machines.csv", machines).with("tasks.csv", tasks).load(&[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{why}: {error}"));
        assert_eq!((scenario.machines, &scenario.tasks), (plain.machines.clone(), &plain.tasks), "{why}");
    }
    let scenario = format!("\u{feff}{}", crlf(SCENARIO));
    assert_eq!(load(&Folder::new().with("scenario.toml", scenario)).tasks, plain.tasks);
}

#[test]
fn equal_machines_and_tasks_are_one_kind() {
    let machines = "id,cores,cpu,disk,net,provides\na,1,1,1,1,x y\nb,2,1,1,1,x\nc,,1,1,1,y;x\nd,2,1,1,1,x\n";
    let tasks = "id,arrival_s,length,cpu,disk,net,domain\n\
        a,0,1,1,0,0,y x\nb,0,1,0,1,0,\nc,0,2,1,0,0,x;y\nd,0,1,1,0,0,\n\"e,\"\"f\",0,1,0,1,0,\n";
    let loads = "time_s,machine,load\n";
    let folder =
        Folder::new().with("machines.csv", machines).with("tasks.csv", tasks).with("owner_load.csv", loads);
    let scenario = load(&folder);
    let kinds: Vec<u32> = scenario.machines.rows().iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [0, 1, 0, 1]);
    assert_eq!(scenario.machines.kinds()[0].provides, words(&["x", "y"]));
    assert_eq!(scenario.tasks.kind_numbers(), [0, 1, 0, 2, 1]);
    assert_eq!(scenario.tasks.kind_of(2).domain, words(&["x", "y"]));
    assert_eq!(scenario.tasks.ids().iter().collect::<Vec<_>>(), ["a", "b", "c", "d", "e,\"f"]);
}

#[test]
fn labels_stand_for_compositions() {
    let tasks = "id,arrival_s,length,label\na,0,1,mixed\nb,0,1,cpu only\n";
    let in_file =
        Folder::new().with("tasks.csv", tasks).edited("[policy]", "labels = \"labels.csv\"\n[policy]");
    let in_file = in_file.with("labels.csv", "label,net,cpu,disk\ncpu only,0,1,0\nmixed,0.2,0.7,0.1\n");
    let inline = "[work.labels.mixed]\ncpu = 0.7\ndisk = 0.1\nnet = 0.2\n[work.labels.\"cpu only\"]\ncpu = 1\n[policy]";
    let inline = Folder::new().with("tasks.csv", tasks).edited("[policy]", inline);
    for folder in [in_file, inline] {
        let tasks = load(&folder).tasks;
        assert_eq!(tasks.kind_of(0).composition, [0.7, 0.1, 0.2]);
        assert_eq!(tasks.kind_of(1).composition, [1.0, 0.0, 0.0]);
    }
}

#[test]
fn owner_loads_do_not_make_a_machine_unfit() {
    let loads = "time_s,machine,load\n0,m0,1\n0,m1,1\n0,m2,1\n";
    assert_eq!(load(&Folder::new().with("owner_load.csv", loads)).loads.len(), 3);
}

#[test]
fn later_stages_report_where_a_key_is() {
    let error_of = |overrides: &[&str], key: &str| {
        let scenario = Folder::new().load(overrides).expect("a scenario");
        let error = InputError::at_key(&scenario, key, "a", "b");
        (error.file.rsplit('/').next().map(str::to_owned), error.line, error.field)
    };
    let file = || Some("scenario.toml".to_owned());
    assert_eq!(error_of(&[], "policy.preset"), (file(), Some(10), "policy.preset".to_owned()));
    assert_eq!(error_of(&[], "policy.budget.rule"), (file(), Some(9), "policy.budget.rule".to_owned()));
    assert_eq!(error_of(&[], "run.seed"), (file(), None, "run.seed".to_owned()));
    let set = "policy.preset=bertasi/social";
    let over = Some("social".to_owned());
    assert_eq!(error_of(&[set], "policy.preset"), (over, None, "policy.preset".to_owned()));
}

#[test]
fn errors_are_data() {
    let mut error = Folder::new().load(&["run.seed=-1"]).expect_err("no seed");
    let json = r#"{"file":"--set run.seed=-1","line":null,"field":"run.seed","found":"-1","expected":"a whole number, 0 or more, below 2^64"}"#;
    assert_eq!(serde_json::to_string(&error).expect("JSON"), json);
    error.line = Some(3);
    assert!(serde_json::to_string(&error).expect("JSON").contains(r#""line":3"#));
}
