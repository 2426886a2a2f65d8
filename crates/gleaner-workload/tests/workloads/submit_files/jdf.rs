//! Job descriptions of OurGrid as jobs here.

use super::commands;
use gleaner_classad::{ClassAd, Context, Expr, matches};
use gleaner_workload::submit::{JobDescription, Source, Submission, jdf};
use std::path::Path;

fn translated(text: &str, ignored: &[&str]) -> Result<Submission, String> {
    let ignored: Vec<String> = ignored.iter().map(ToString::to_string).collect();
    let source = Source::new("a.jdf", text);
    jdf::translate(&source, Path::new("dir"), &ignored).map_err(|error| error.to_string())
}

fn only_job(text: &str) -> JobDescription {
    let Submission { mut jobs, .. } = translated(text, &[]).expect("a job");
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

fn files(job: &JobDescription) -> Vec<String> {
    let told = |target: &Option<String>| target.clone().unwrap_or_default();
    job.inputs.iter().map(|input| format!("{} as {}", input.source, told(&input.target))).collect()
}

#[test]
fn a_bag_of_tasks_is_one_job() {
    let job = only_job(
        "job :\nlabel : primes\ninit : put Fat.class .\n store /lib/x.so $STORAGE/lib/\n\
         final : get out-$JOB.$TASK out-$JOB.$TASK\n\
         task :\nremote : java Fat 3 10\ntask :\nremote : java Fat 11 20\ntask :\nremote : java {Fat}\n",
    );
    assert_eq!((job.spec.name.as_str(), job.spec.tasks.count()), ("primes", 3));
    let last_lines: Vec<String> =
        commands(&job).iter().map(|words| words[2].lines().nth(1).unwrap().to_owned()).collect();
    assert_eq!(last_lines, ["java Fat 3 10", "java Fat 11 20", "java {Fat}"]);
    assert_eq!(files(&job), ["dir/Fat.class as Fat.class", "/lib/x.so as lib/x.so"]);
    let parameters = job.spec.tasks.parameters(2);
    let filled = |text: &str| gleaner_wire::job::fill_in(text, &parameters);
    assert_eq!(
        (filled(&job.spec.env["TASK"]), filled(&job.spec.outputs[0])),
        ("3".to_owned(), "out-1.3".to_owned())
    );
}

/// The files that each task is sent, as it is named with the user and as it finds it.
fn files_of_tasks(job: &JobDescription) -> Vec<String> {
    let of_task = |position| {
        let parameters = job.spec.tasks.parameters(position);
        files(job)
            .iter()
            .map(|file| gleaner_wire::job::fill_in(file, &parameters))
            .collect::<Vec<_>>()
            .join(" ")
    };
    (0..job.spec.tasks.count()).map(of_task).collect()
}

#[test]
fn tasks_with_files_of_their_own_are_one_job() {
    let each = |from: &str, to: &str| format!("task :\ninit : put {from} {to}\n");
    for (tasks, expected) in [
        (
            each("a1", "in") + &each("a2", "in") + &each("a1", "in"),
            ["dir/a1 as in", "dir/a2 as in", "dir/a1 as in"],
        ),
        (each("in$TASK", "in$TASK").repeat(3), ["dir/in1 as in1", "dir/in2 as in2", "dir/in3 as in3"]),
        (each("a", "in/$TASK").repeat(3), ["dir/a as in/1", "dir/a as in/2", "dir/a as in/3"]),
        (each("/x/$TASK", "in").repeat(3), ["/x/1 as in", "/x/2 as in", "/x/3 as in"]),
    ] {
        assert_eq!(files_of_tasks(&only_job(&format!("job :\nremote : run\n{tasks}"))), expected, "{tasks}");
    }
    // How many files it gets is no text.
    let more = format!("job :\nremote : run\n{}{}put b b\n", each("a", "a"), each("a", "a"));
    assert_eq!(translated(&more, &[]).expect("jobs").jobs.len(), 2);
}

#[test]
fn requirements_agree_with_machines_as_meant() {
    let machine = |extra: &str| {
        let ad = format!("[ OpSys = \"linux\"; Memory = 512; Arch = \"x86_64\"; Cpus = 4; {extra} ]");
        ClassAd::parse(ad).expect("an ad")
    };
    for (requirements, expected) in [
        ("os == Linux", true),
        ("( os = windows )", false),
        ("NOT ( ( OS = Linux AND mem >= 1000 ) or ( 0s = Windows ) )", false),
        ("NOT ( OS = Linux AND mem >= 1000 )", true),
        ("os == linux && mem >= 400 || missing == 1", true),
        ("missing == 1 or ! (ram < 100)", true),
        ("playpen_size >= 200", true),
        ("environment == \"weather model\" and num_procs = 4", true),
        ("has_java", true),
        ("'0s' == x or arch != x86_64", false),
        ("mem >= 99999999999999999999", false),
        ("mem >= -99999999999999999999", true),
        ("mem >= 5. and mem < 08000 and playpen_size > 2.5e2", false),
        ("mem >= 5. and mem < 08000 and playpen_size >= 2.5e2", true),
    ] {
        let job = only_job(&format!("job :\nrequirements : {requirements}\ntask :\nremote : a"));
        let text = job.spec.requirements.expect("some");
        let task = ClassAd::parse(format!("[ Requirements = {text} ]")).expect(&text);
        let machine = machine("playpen_size = 250; environment = \"Weather Model\"; has_java = true");
        assert_eq!(matches(&machine, &task, &Context::new()), expected, "{requirements}: {text}");
    }
    assert_eq!(only_job("job :\nrequirements :\ntask :\nremote : a").spec.requirements, None);
    let many = format!("job :\nrequirements : {}a or b\ntask :\nremote : a", "a and ".repeat(1_099));
    let text = only_job(&many).spec.requirements.expect("some");
    assert_eq!(text.matches("TARGET.a").count(), 1_100);
    Expr::parse(&text).expect("an expression");
}

#[test]
fn what_cannot_be_done_is_named_with_its_line() {
    for (text, said) in [
        ("job :\ntask :\n", "a.jdf:2: task: there is no remote, neither here nor in the job"),
        (
            "job :\nremote : a\ntask :\ninit : if ( os == linux ) then\n put a b\n endif",
            "a.jdf:5: put: whether a file is brought cannot depend on the machine",
        ),
        (
            "job :\nremote : a\ntask :\nfinal : get /etc/passwd b",
            "a.jdf:4: get: \"/etc/passwd\" lies outside",
        ),
        (
            "job :\nremote : a\ntask :\ninit : put a ../b",
            "a.jdf:4: put: \"../b\" lies outside the task's folder",
        ),
        (
            "job :\nremote : a\ntask :\ninit : put $HOME/a b",
            "a.jdf:4: put: $HOME: in names of files there are",
        ),
        (
            "job :\nrequirements : in_path perl\nremote : a\ntask :",
            "a.jdf:2: requirements: perl: no machine says",
        ),
        ("job :\ncheck : diff\ntask :\nremote : a", "a.jdf:2: check: results are not checked"),
        ("job :\ntask :\nfoo", "a.jdf:3: column 1: found \"foo\""),
        // With = for the colon, as in a test of OurGrid's reader of grammars.
        (
            "JOB : \nREQUIREMENTS\t=\tOS == Linux;\nINIT =\tscript;\nTASK :\n",
            "a.jdf:2: column 14: found \"=\"; expected a colon behind requirements",
        ),
    ] {
        let refused = translated(text, &[]).expect_err(text);
        assert!(refused.starts_with(said), "{refused}");
    }
    let text = "job :\nrequirements : in_path perl\ncheck : diff\ntask :\nremote : a";
    let job = translated(text, &["check", "Requirements"]).expect("a job").jobs.remove(0);
    assert_eq!(job.spec.requirements, None);
    let unmet = |ignored: &[&str]| translated(text, ignored).expect("a job").unmet;
    assert_eq!(unmet(&["check", "Requirements"]), [""; 0]);
    let nothing = "the file has nothing of that name to go on without";
    assert_eq!(
        unmet(&["check", "requirements", "Chck", "remote"]),
        [format!("--ignore Chck: {nothing}; did you mean check?"), format!("--ignore remote: {nothing}")]
    );
    let noted = translated("job :\nremote : a\ntask :\nfinal : get a b/a", &[]).expect("a job").notes;
    assert_eq!((noted.len(), noted[0].line, noted[0].key.as_str()), (1, 4, "get"));
}

#[test]
fn files_and_requirements_are_known_by_their_lines() {
    let text = "job :\nrequirements : os == linux\nremote : a\ntask :\ninit : put a{1-2} in/\n store a1 other\ntask :\n";
    let submission = translated(text, &[]).expect("jobs");
    let files = submission.files.iter().map(|file| (file.line, file.key, file.source.as_str()));
    assert_eq!(
        files.collect::<Vec<_>>(),
        [(5, "put", "dir/a1"), (5, "put", "dir/a2")],
        "each where it is first asked for"
    );
    assert_eq!(submission.requirements_line, Some(2));
    assert_eq!(translated("job :\ntask :\nremote : a", &[]).expect("a job").requirements_line, None);
}

/// What descriptions that are published beside OurGrid's program do, and the folder of examples does not.
#[test]
fn published_descriptions_are_read() {
    for (text, tasks, inputs) in [
        // Clauses with nothing in them.
        ("job :\nlabel : p\n\ntask :\ninit :\nremote : python -V", 1, 0),
        (
            "job : \nrequirements : \n\ntask :\ninit \t: put s.tar s.tar\nremote : tar x; mkdir r\nfinal   : \n",
            1,
            1,
        ),
        // A command with redirections, quotes, backquotes, brackets and a colon.
        (
            "job:\ntask:\nremote: F < i >> o 2>> e; if [ ! `which x` ]; then echo \"no: $d\"; fi && exit 3\n",
            1,
            0,
        ),
        // Names in capitals, tabs, the colon behind a label, task clauses that take all over from the job.
        (
            "JOB:  \nlabel:\ta:b\nREQUIREMENTS:\tOS ==Linux && PLAYPEN_SIZE >=200\nREMOTE:\t$PLAYPEN/x i\n\nTASK:\n\nTASK :\n",
            2,
            0,
        ),
        ("JOB:\nINIT:\n\tPUT sample/execute .\n\tPUT \"sample/input 1\" input1\nREMOTE: x\nTASK:\n", 1, 2),
        // Nothing is sent, although the job has something to send.
        ("job :\ninit : put a b\nremote : x:1\ntask :\ninit : none\n", 1, 0),
    ] {
        let job = only_job(text);
        assert_eq!((job.spec.tasks.count(), job.inputs.len()), (tasks, inputs), "{text}");
    }
}
