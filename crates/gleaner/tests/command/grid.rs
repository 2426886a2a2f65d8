//! The commands that need a coordinator, where there is none.

use assert_cmd::Command;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A token that looks like one.
fn token() -> String {
    gleaner_net::Token::generate(gleaner_net::TokenKind::User).expect("random bytes").reveal()
}

fn gleaner(home: &Path, line: &str) -> (i32, String) {
    let mut command = Command::cargo_bin("gleaner").expect("the program");
    for name in ["GLEANER_SERVER", "GLEANER_TOKEN", "GLEANER_FINGERPRINT"] {
        command.env_remove(name);
    }
    let output = command.env("GLEANER_HOME", home).args(line.split(' ')).output().expect("it runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What is removed is not had back, so nobody is to mean days and get seconds.
#[test]
fn how_long_things_are_kept_has_a_unit() {
    let home = tempfile::tempdir().expect("a folder");
    for key in ["keep_results_for", "keep_for"] {
        let (code, error) = gleaner(home.path(), &format!("serve --{} 30", key.replace('_', "-")));
        assert_eq!(code, 2, "{error}");
        assert!(
            error.contains(&format!("{key} is 30; expected a time from 1s to 213503d with its unit, as 30d")),
            "{error}"
        );
    }
    std::fs::write(home.path().join("config.toml"), "keep_results_for = \"30\"\n").expect("a disk");
    let (code, error) = gleaner(home.path(), "serve");
    assert!(code == 2 && error.contains("with its unit"), "{error}");
}

/// A start that nothing comes of leaves no grid behind.
#[test]
fn a_coordinator_that_cannot_be_reached_begins_no_grid() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listener.local_addr().expect("an address").to_string();
    for (line, expected) in [
        (format!("serve --listen {taken}"), taken.as_str()),
        ("serve --listen 127.0.0.1:0 --name host:1".to_owned(), "neither a host name nor an IP address"),
    ] {
        let home = tempfile::tempdir().expect("a folder");
        let (code, error) = gleaner(home.path(), &line);
        assert_eq!(code, 2, "{line}: {error}");
        assert!(error.contains(expected), "{line}: {error}");
        assert!(!home.path().join("gleaner.db").exists(), "{line}: no journal is begun");
    }
}

#[test]
fn without_a_coordinator_the_exit_code_is_3() {
    let home = tempfile::tempdir().expect("a folder");
    // Nobody listens where somebody just did.
    let address =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    for line in [
        "submit -- true",
        "status",
        "status 7 --tasks",
        "watch 7",
        "wait 7",
        "logs 7/0",
        "cancel 7",
        "rerun 7 --failed",
        "machines",
        "machine pause lab1",
        "machine owner lab1 ada",
        "machine owner lab1 --none",
        "explain 7/0",
        "history 7/0",
        "fetch 7 --to x",
        "policy set bertasi/social",
        "labels",
        "use --user ada",
        "token user ada",
    ] {
        let (code, error) = gleaner(home.path(), line);
        assert_eq!(code, 3, "{line}: {error}");
        assert!(error.contains("start one with `gleaner up`"), "{line}: {error}");
        let (command, rest) = line.split_once(" -- ").unwrap_or((line, ""));
        let rest = if rest.is_empty() { String::new() } else { format!(" -- {rest}") };
        let (token, fingerprint) = (token(), "0".repeat(64));
        let line = format!(
            "{command} --json --server https://{address} --fingerprint {fingerprint} --token {token}{rest}"
        );
        let (code, error) = gleaner(home.path(), &line);
        assert_eq!(code, 3, "{line}: {error}");
        let error: serde_json::Value = serde_json::from_str(&error).expect(&line);
        assert_eq!((&error["version"], &error["code"]), (&1.into(), &3.into()), "{line}");
        let text = error["error"].as_str().expect("a text");
        assert!(text.contains("cannot be reached") && !text.contains(&token), "{text}");
        assert!(text.contains("gleaner login https://NEW:PORT"), "{text}");
    }
}

#[test]
fn mistakes_need_no_coordinator_to_be_found() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("a.sub");
    std::fs::write(&file, "executable = e\nuniverse = java\nfoo = 1\nqueue\n").expect("a file is written");
    let toml = home.path().join("a.toml");
    std::fs::write(&toml, "command = ['a']\noutputs = ['../b']\n").expect("a file is written");
    for (line, expected) in [
        (format!("submit -f {}", file.display()), "a.sub:3: foo: neither a key that Gleaner knows"),
        ("submit --input missing -- true".to_owned(), "cannot read the input missing"),
        ("submit --output /etc/passwd -- true".to_owned(), "is no name within the task's folder"),
        ("submit --output a[ -- true".to_owned(), "outputs: "),
        ("submit --compare same -- true".to_owned(), "compare is given, and quorum is 1"),
        ("submit --key= -- true".to_owned(), "--key"),
        (format!("submit -f {}", toml.display()), "the job of "),
        ("policy set nonsense".to_owned(), "nonsense"),
        ("status --server http://lab.example:80 --token x".to_owned(), "lab.example"),
    ] {
        let (code, error) = gleaner(home.path(), &line);
        assert_eq!(code, 2, "{line}: {error}");
        assert!(error.contains(expected), "{line}: {error}");
    }
}

/// `GLEANER_LENGTH` is a parameter that users set, and no other of Gleaner's is: what is right goes on to ask for a coordinator.
#[test]
fn lengths_may_differ_from_task_to_task() {
    let home = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::write(&path, text).expect("a file is written");
        path.display().to_string()
    };
    let json = write("gl", r#"[{"GLEANER_LENGTH":1000000},{"GLEANER_LENGTH":2000000}]"#);
    let csv = write("gl.csv", "GLEANER_LENGTH,a\n1e6,x\n2e6,y\n");
    let file = write("job.toml", "command = [\"true\"]\n[tasks]\nsweep = { GLEANER_LENGTH = [1, 2] }\n");
    for line in [
        format!("submit --from-json {json} -- true"),
        format!("submit --from-csv {csv} -- true"),
        "submit --sweep GLEANER_LENGTH=1000000,2000000 -- true".to_owned(),
        format!("submit -f {file}"),
    ] {
        let (code, error) = gleaner(home.path(), &line);
        assert!(code == 3 && error.contains("start one with `gleaner up`"), "{line}: {code} {error}");
    }
    let (code, error) = gleaner(home.path(), "submit --sweep GLEANER_INDEX=1,2 -- true");
    assert!(code == 2 && error.contains("keeps for itself"), "{code} {error}");
}

/// What no machine could make in a task's folder.
#[test]
fn inputs_that_cannot_lie_beside_each_other_are_a_mistake() {
    let home = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a", "b"].map(|name| {
        let path = home.path().join(name);
        std::fs::write(&path, name).expect("a file is written");
        path.display().to_string()
    });
    let long = "x".repeat(256);
    for (inputs, expected) in [
        (format!("-i {a}=z -i {b}=z"), "would both be \"z\""),
        (format!("-i {a}=z -i {b}=z/y"), "\"z\" and \"z/y\" cannot lie in one folder"),
        (format!("-i {a}=z -i {b}=z/"), "two inputs are \"z/\""),
        (format!("-i {a}=."), "is no name within the task's folder"),
        (format!("-i {a}=./z"), "is no name within the task's folder"),
        (format!("-i {a}=../z"), "is no name within the task's folder"),
        (format!("-i {a}=.tmp"), "has a folder .tmp"),
        (format!("-i {a}={long}"), "at most 255 are taken"),
    ] {
        let (code, error) = gleaner(home.path(), &format!("submit {inputs} -- true"));
        assert!(code == 2 && error.contains(expected), "{inputs}: {code} {error}");
    }
    let (code, error) = gleaner(home.path(), &format!("submit -i {a}=z/y -i {b}=z/x -- true"));
    assert_eq!(code, 3, "{error}");
}

/// What is wrong with the files and folders that a command names is a mistake of who named them, and nothing is made there.
#[test]
fn a_folder_without_a_journal_is_a_mistake() {
    let home = tempfile::tempdir().expect("a folder");
    let [nowhere, empty, junk] = ["nowhere", "empty", "junk"].map(|name| home.path().join(name));
    std::fs::create_dir(&empty).expect("a folder");
    std::fs::write(&junk, "junk\n").expect("a file is written");
    let [nowhere, empty, junk] = [nowhere, empty, junk].map(|path| path.display().to_string());
    let no_journal = "expected a journal, as a coordinator's folder has one in the file gleaner.db";
    for (line, expected) in [
        (format!("journal verify --home {nowhere}"), no_journal),
        (format!("journal verify --home {empty}"), no_journal),
        (format!("journal export --home {empty}"), no_journal),
        (format!("journal rebuild --home {empty}"), no_journal),
        (format!("journal compact --home {nowhere}"), no_journal),
        (format!("journal restore --home {nowhere}"), "there is no journal in"),
        (format!("journal restore {nowhere} --home {empty}"), no_journal),
        (format!("journal restore {empty} --home {empty}"), no_journal),
        (
            format!("journal restore {junk} --home {empty}"),
            "is no journal, or one that cannot be read at all",
        ),
        (format!("audit --home {empty}"), no_journal),
        (format!("backup {empty}/b --home {nowhere}"), no_journal),
        (format!("serve --home {junk}"), "is no folder, and none can be made there"),
        (format!("serve --home {junk}/below"), "is no folder, and none can be made there"),
        (format!("owner set idle_seconds 5 --home {nowhere}"), "there is no folder"),
    ] {
        let (code, error) = gleaner(home.path(), &line);
        assert_eq!(code, 2, "{line}: {error}");
        assert!(error.contains(expected), "{line}: {error}");
    }
    assert!(!Path::new(&nowhere).exists(), "no folder is made");
    assert_eq!(std::fs::read_dir(&empty).expect("a folder").count(), 0, "no journal is made");
}

/// As an administrator's own PC, where the journal is not.
#[test]
fn what_reads_a_journal_says_where_it_is_from_a_folder_that_signs_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    let reached = serde_json::json!({ "address": "https://lab:7717", "fingerprint": "ab", "pid": 0 });
    let file = home.join("coordinator.json");
    std::fs::write(&file, reached.to_string()).expect("a file is written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    let own = home.display();
    for line in [
        "advise".to_owned(),
        "audit".to_owned(),
        "journal verify".to_owned(),
        format!("advise --journal {own}"),
        format!("replay {own} --policy bertasi/greedy"),
        format!("workload info {own}"),
        format!("workload convert {own} --out {own}/live.swf"),
    ] {
        let (code, error) = gleaner(home, &line);
        assert_eq!(code, 2, "{line}: {error}");
        let where_it_is = format!("{own} has no journal, since it only signs in to https://lab:7717");
        assert!(error.contains(&where_it_is), "{line}: {error}");
        assert!(error.contains("run this on that coordinator's machine"), "{line}: {error}");
        assert!(error.contains("gleaner advise --journal"), "{line}: {error}");
    }
}

#[test]
fn errors_about_arguments_are_whole_as_json() {
    let home = tempfile::tempdir().expect("a folder");
    for (line, expected) in [
        (
            "submit --json",
            "not provided: <COMMAND>...; a program and its arguments: gleaner submit -- PROGRAM",
        ),
        ("login --json", "no line was given"),
        ("login --json 7802", "https://HOST:PORT glu_"),
        ("login --json rubbish", "found one word; expected the line that"),
        ("logs --json", "not provided: <JOB[/TASK]>"),
    ] {
        let (code, error) = gleaner(home.path(), line);
        assert_eq!(code, 2, "{line}: {error}");
        let error: serde_json::Value = serde_json::from_str(&error).expect(line);
        assert!(error["error"].as_str().is_some_and(|text| text.contains(expected)), "{line}: {error}");
    }
    // What the program to run is told is none of our business.
    let (code, error) = gleaner(home.path(), "submit --nonsense -- true --json");
    assert!(code == 2 && error.starts_with("error: "), "{error}");
}

#[test]
fn the_doctor_says_whether_tasks_of_others_are_taken() {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::cargo_bin("gleaner").expect("the program");
    let output = command.args(["doctor", "--json", "--home"]).arg(home.path()).output().expect("it runs");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let walls = found["walls"].as_array().expect("a list");
    assert_eq!(walls[0]["wall"], "sandbox");
    assert_eq!(walls[0]["stands"], found["takes_tasks_of_others"]);
    assert_eq!(output.status.success(), found["takes_tasks_of_others"] == true, "{found}");
    assert!(walls.iter().all(|wall| wall["why"].as_str().is_some_and(|why| !why.is_empty())), "{found}");
    let memory = walls.iter().find(|wall| wall["wall"] == "cgroup: memory").expect("it is looked at");
    let is_tried = memory["why"].as_str().is_some_and(|why| why.contains("tried"));
    assert_eq!(is_tried, memory["stands"] == true && walls[0]["stands"] == true, "{memory}");
    assert_eq!(std::fs::read_dir(home.path()).expect("a folder").count(), 0, "nothing stays");
}

/// Runs a command at a terminal, presses a key when the terminal shows nothing of what is typed, and says how the command ended and
/// whether the terminal shows it again.
const AT_A_TERMINAL: &str = "
import os, pty, sys, termios, time
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shows = lambda: bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
until = time.monotonic() + 60
while shows() and time.monotonic() < until:
    time.sleep(0.01)
os.write(terminal, sys.argv[1].encode())
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), shows())
";

#[test]
fn a_login_that_is_interrupted_leaves_the_terminal_as_it_was() {
    let home = tempfile::tempdir().expect("a folder");
    // Ctrl-C, a line, and Ctrl-Z before one: nobody stops it there.
    for (typed, expected) in
        [("\x03", "130 True\n"), ("rubbish\n", "2 True\n"), ("\x1arubbish\n", "2 True\n")]
    {
        let mut command = Command::new("python3");
        command.args(["-c", AT_A_TERMINAL, typed, env!("CARGO_BIN_EXE_gleaner"), "login"]);
        let output = command.env("GLEANER_HOME", home.path()).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{typed:?}: {output:?}");
    }
}
