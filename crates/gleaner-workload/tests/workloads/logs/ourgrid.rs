//! OurGrid's descriptions of jobs and sites.

use crate::shared;
use gleaner_workload::ourgrid::jdf::{self, Job, Verb};
use gleaner_workload::ourgrid::sdf;
use gleaner_workload::submit::Source;
use proptest::prelude::*;

const JOB: &str = "\
# A comment
JOB :  # and another
label: tests of all: that there is
requirements : (os==linux && ram>=400) OR NOT os != solaris and (playpen_size
   < 300 or has_java)
init : put sample/execute .
  IF (mem < 300 && IN_PATH perl) THEN
    PUT \"sample/input \\\"1\\\"\" input1
    STORE sample/input2 \"input 2\"
  ELSE
    PUT sample/input{1-3} $STORAGE/in{1-3}
  ENDIF
remote : awk '{print $1}' \"in 1\" # no comment; echo \\\\

task :
TASK:
init : none
remote : \"sh run.sh\"
final : get out results/out-$TASK
check : diff results/out-$TASK expected
task:
final:
";

fn job(text: &str) -> Job {
    jdf::read(&Source::new("a.jdf", text)).expect("a job")
}

#[test]
fn a_job_is_read_in_full() {
    let job = job(JOB);
    assert_eq!(job.label, "tests of all: that there is");
    let requirements = job.requirements.expect("some").to_string();
    assert_eq!(
        requirements,
        "((os == linux && ram >= 400) || (!(os != solaris) && (playpen_size < 300 || has_java)))"
    );
    let told: Vec<String> = (job.tasks[0].init.iter())
        .map(|transfer| {
            let when = transfer.when.as_ref().map_or(String::new(), |when| format!(" if {when}"));
            format!("{} {:?} {} {}{when}", transfer.line, transfer.verb, transfer.from, transfer.to)
        })
        .collect();
    let otherwise = "if !((mem < 300 && in_path perl))";
    assert_eq!(
        told,
        [
            "6 Put sample/execute .".to_owned(),
            "8 Put sample/input \"1\" input1 if (mem < 300 && in_path perl)".to_owned(),
            "9 Store sample/input2 input 2 if (mem < 300 && in_path perl)".to_owned(),
            format!("11 Put sample/input1 $STORAGE/in1 {otherwise}"),
            format!("11 Put sample/input2 $STORAGE/in2 {otherwise}"),
            format!("11 Put sample/input3 $STORAGE/in3 {otherwise}"),
        ]
    );
    let command = "awk '{print $1}' \"in 1\" # no comment; echo \\";
    let commands: Vec<_> = job.tasks.iter().map(|task| task.remote.as_deref()).collect();
    assert_eq!(commands, [Some(command), Some("sh run.sh"), Some(command)]);
    // What a task says goes before what the job says, though it be nothing.
    assert_eq!(job.tasks.iter().map(|task| task.init.len()).collect::<Vec<_>>(), [6, 0, 6]);
    let second = &job.tasks[1];
    assert_eq!((second.line, second.finals.len(), second.finals[0].verb), (16, 1, Verb::Get));
    assert_eq!(second.check, Some((20, "diff results/out-$TASK expected".into())));
}

#[test]
fn line_ends_of_any_kind_and_none_at_the_end() {
    let text = "job:\r\nlabel: a\r\ntask:\r\nremote: echo\r\nfinal: get a b";
    let job = job(text);
    assert_eq!((job.label.as_str(), job.tasks[0].remote.as_deref()), ("a", Some("echo")));
    assert_eq!(job.tasks[0].finals[0].to, "b");
}

#[test]
fn what_is_wrong_is_pointed_at() {
    for (text, said) in [
        ("", "a.jdf:1: column 1: found the end of the file; expected job :"),
        ("task :", "a.jdf:1: column 1: found \"task\"; expected job :"),
        ("job\n", "a.jdf:1: column 4: found the end of the line; expected a colon behind job"),
        (
            "job :\nlabel : a\n",
            "a.jdf:3: column 1: found the end of the file; expected task :, at least once",
        ),
        (
            "job :\n remote : a\n init : none\ntask :",
            "a.jdf:3: column 2: found \"init\"; expected label, req",
        ),
        ("job :\ntask :\n  run : a", "a.jdf:3: column 3: found \"run\"; expected init, remote, final, check"),
        ("job :\ntask :\nremote :\n", "a.jdf:3: column 1: found a remote without a command"),
        (
            "job :\ntask :\ninit : put a\n",
            "a.jdf:3: column 13: found the end of the line; expected what the task",
        ),
        (
            "job :\ntask :\ninit : put a b c\n",
            "a.jdf:3: column 16: found \"c\"; expected the end of the line",
        ),
        ("job :\ntask :\ninit : get a b\n", "a.jdf:3: column 8: found \"get\"; expected init, remote"),
        ("job :\ntask :\nfinal : put a b\n", "a.jdf:3: column 9: found \"put\""),
        (
            "job :\ntask :\ninit : if a put b c\n",
            "a.jdf:3: column 13: found \"put\"; expected and, or, or then",
        ),
        (
            "job :\ntask :\ninit : if a then endif\n",
            "a.jdf:3: column 18: found \"endif\"; expected put or store",
        ),
        (
            "job :\ntask :\ninit : if a then put b c\nremote : d",
            "a.jdf:4: column 1: found \"remote\"; expected put or store or else or endif",
        ),
        (
            "job :\nrequirements : (a == b\ntask :",
            "a.jdf:3: column 1: found \"task\"; expected and, or, or )",
        ),
        (
            "job :\nrequirements : a == \ntask :",
            "a.jdf:2: column 21: found the end of the line; expected a value",
        ),
        (
            "job :\nrequirements : a &&\ntask :",
            "a.jdf:2: column 20: found the end of the line; expected a cond",
        ),
        (
            "job :\nrequirements : a b\ntask :",
            "a.jdf:2: column 18: found \"b\"; expected and, or, or the end",
        ),
        ("job :\ntask :\ninit : put \"a b\n", "a.jdf:3: column 12: found a quote that is not closed"),
        ("job :\ntask :\ninit : put c:\\a b", "a.jdf:3: column 14: found a lone backslash"),
        ("job :\ntask :\ninit : put a{1-3} b{1-2}", "a.jdf:3: column 8: found 3 files and 2 names for them"),
        ("job :\ntask :\ninit : put a{1-999999} b", "a.jdf:3: column 11: found a range of more than"),
    ] {
        let error = jdf::read(&Source::new("a.jdf", text)).expect_err(text).to_string();
        assert!(error.starts_with(said), "{text:?}\n{error}");
    }
    let deep = format!("job :\nrequirements : {}a", "(".repeat(100_000));
    let error = jdf::read(&Source::new("a.jdf", deep)).expect_err("deep").to_string();
    assert!(error.contains("a condition more than 100 deep"), "{error}");
    // A chain is no nesting, however long it is.
    let long = format!("job :\nrequirements : {}a", "a and ".repeat(100_000));
    let error = jdf::read(&Source::new("a.jdf", long)).expect_err("long").to_string();
    assert!(error.contains("a condition of more than 10000 comparisons"), "{error}");
}

#[test]
fn what_a_few_lines_stand_for_is_bounded() {
    let name = "x".repeat(1_000);
    let files = format!("job :\ntask :\ninit : {}", format!("put {name}{{1-9999}} {name}\n").repeat(4));
    let error = jdf::read(&Source::new("a.jdf", files)).expect_err("80 MB of names").to_string();
    assert!(
        error.contains("names of files of more than 67108864 bytes; expected at most 67108864 bytes"),
        "{error}"
    );
    for (site, said) in [
        (
            "worker :\n username : w{1-60000}\n servername : x\n".repeat(2),
            "more than 100000 workers; expected fewer workers",
        ),
        (
            format!(
                "workerdefaults :\n servername : x\n a : {}\nworker :\n username : w{{1-60000}}\n",
                "x".repeat(10_000)
            ),
            "over all workers; expected at most 268435456 bytes",
        ),
    ] {
        let error = sdf::read(&Source::new("a.sdf", site)).expect_err(said).to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_site_is_read_in_either_form() {
    let text = "# a site\nWORKERDEFAULTS :\n OS : linux\n copyTo : scp $localfile $machine:$remotefile\n\
                worker :\n username : w{08-10}\n servername : x.org\n\nworker:\n username : v\n servername : y.org\n os : solaris\n";
    let site = sdf::read(&Source::new("a.sdf", text)).expect("a site");
    let told = |site: &sdf::Site| {
        let told = site.workers.iter().map(|worker| format!("{} {}", worker.name(), worker.attributes["os"]));
        told.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(told(&site), "w08@x.org linux, w09@x.org linux, w10@x.org linux, v@y.org solaris");
    assert_eq!(site.workers[0].attributes["copyto"], "scp $localfile $machine:$remotefile");
    assert_eq!(site.workers[3].line, 9);
    let ad = "[ ServerName = \"x.org\"; OS = \"linux\"; Workers = {w1, W2};\n\
               w1 = [ UserName = \"a\"; Mem = 256; ]; w2 = [ UserName = \"b\"; os = \"solaris\" ] ]";
    let site = sdf::read(&Source::new("a.sdf", ad)).expect("a site");
    assert_eq!(told(&site), "a@x.org linux, b@x.org solaris");
    assert_eq!(site.workers[0].attributes["mem"], "256");
    for (text, said) in [
        ("worker :\n mem :  \n", "a.sdf:2: column 2: found mem without a value; expected NAME : VALUE"),
        ("worker :\n mem 5\n", "a.sdf:2: column 6: found \"5\"; expected a colon behind mem"),
        ("peer :\n", "a.sdf:1: column 1: found \"peer\"; expected workerdefaults : at the top, or worker :"),
        (
            "worker :\n servername : x\n",
            "a.sdf:1: column 1: found a worker without username; expected username : NAME",
        ),
        (
            "worker :\n username : w\n",
            "a.sdf:1: column 1: found a worker without servername; expected servername",
        ),
        (
            "[ workers = {w1}; w1 = [ username = \"a\" ] ]",
            "a.sdf: w1: found a worker without servername; expected servername, in its ad or around all ads",
        ),
        (
            "worker :\n username : a\n servername : b\nworkerdefaults :\n",
            "a.sdf:4: column 1: found \"workerdefaults\"",
        ),
        ("[ a = ]", "a.sdf:1: column 7: found found `]`"),
        ("[ workers = 5 ]", "a.sdf: workers: found no list"),
        ("[ workers = {w1} ]", "a.sdf: w1: found no ad of that name"),
    ] {
        let error = sdf::read(&Source::new("a.sdf", text)).expect_err(text).to_string();
        assert!(error.starts_with(said), "{text:?}\n{error}");
    }
}

#[test]
fn the_files_of_ourgrid_are_read_but_for_the_invalid_ones() {
    let Some(folder) = shared("jdf") else { return };
    let entries = folder.read_dir().expect("a readable folder");
    let (mut tasks, mut workers) = (0, 0);
    for path in entries.flatten().map(|entry| entry.path()) {
        let source = Source::file(&path).expect("a readable file");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        if name == "GridPeerTest41.sdf" {
            let error = sdf::read(&source).expect_err("its worker has no address").to_string();
            assert!(error.contains(":3: column 2: found a worker without servername"), "{error}");
        } else if path.extension().is_some_and(|end| end == "sdf") {
            workers += sdf::read(&source).unwrap_or_else(|error| panic!("{error}")).workers.len();
        } else if name == "job_with_invalid_syntax.jdf" {
            let error = jdf::read(&source).expect_err("it has no task").to_string();
            assert!(
                error.ends_with(":5: column 28: found the end of the file; expected task :, at least once"),
                "{error}"
            );
        } else {
            tasks += jdf::read(&source).unwrap_or_else(|error| panic!("{error}")).tasks.len();
        }
    }
    assert_eq!((tasks, workers), (43, 38));
}

proptest! {
    #[test]
    fn no_description_makes_a_reader_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, 0..16_usize), 0..6)
    ) {
        let inserts = ["", "\n", "\"", "\\", "(", ")", ":", "#", "{1-99}", "if ", "endif\n", "then ", "and ", "é", "[", "task :\n"];
        let mut text: Vec<char> = JOB.chars().collect();
        for (at, removed, insert) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserts[insert].chars());
        }
        let source = Source::new("a", text.into_iter().collect::<String>());
        for error in [jdf::read(&source).err(), sdf::read(&source).err()].into_iter().flatten() {
            prop_assert!(!error.found.is_empty() && !error.expected.is_empty() && error.line.is_some());
        }
    }
}
