//! `job.toml`: a job in a file.
#![doc = include_str!("../../../../docs/job-file.md")]

use super::{InvalidQuantity, JobDescription, LocalFile, Source, duration_s, operations, size_bytes, tasks};
use crate::InputError;
use crate::document;
use crate::section::{Key, Section};
use gleaner_classad::Expr;
use gleaner_wire::job::{Checkpointing, Confinement, JobSpec, Needs, TaskList, is_length};
use gleaner_wire::limits::{QUORUM_MAX, SLOTS_MAX};
use gleaner_wire::meant::meant;
use gleaner_wire::text::is_blank;
use std::collections::BTreeMap;

const KEYS: [&str; 21] = [
    "name",
    "command",
    "label",
    "composition",
    "length",
    "inputs",
    "outputs",
    "stdin",
    "cwd",
    "requirements",
    "rank",
    "priority",
    "retries",
    "quorum",
    "compare",
    "hold",
    "confinement",
    "env",
    "needs",
    "checkpoint",
    "tasks",
];
/// What the table of tasks says, one of them.
const WAYS: [&str; 5] = ["array", "each_line", "from_json", "from_csv", "sweep"];
/// What the table of needs says.
const NEEDS: [&str; 4] = ["cores", "memory", "disk", "time_limit"];
/// What the table about checkpoints says.
const CHECKPOINT: [&str; 3] = ["folder", "exit_code", "grace"];
/// What others call a table of parameters.
const PARAMETERS: [&str; 3] = ["parameters", "axes", "matrix"];
/// What others call the jobs that a job waits for.
const DEPENDENCIES: [&str; 5] = ["depends_on", "dependencies", "dependency", "depends", "after"];
const SWEEP: &str = "a table of parameters and their values, as sweep = { rate = [0.1, 0.2], seed = [1, 2] }";
const CONFINEMENTS: [(&str, Confinement); 3] = [
    ("sandbox", Confinement::Sandbox),
    ("network", Confinement::SandboxWithNetwork),
    ("none", Confinement::None),
];

/// What a `job.toml` says. Its list of tasks may lie in a file of its own, which is still to be read.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    /// The job; one task, if `tasks` says more.
    pub job: JobDescription,
    /// Where its list of tasks is.
    pub tasks: TaskSource,
}

/// Where a job's list of tasks is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskSource {
    /// In the job itself.
    Here,
    /// In this file, a task a line.
    EachLine(String),
    /// In this file, as JSON.
    FromJson(String),
    /// In this file, as CSV.
    FromCsv(String),
}

/// Reads a `job.toml`.
pub fn read_job_file(source: &Source) -> Result<JobFile, InputError> {
    let document = document::parse(source.text(), &source.place())?;
    let root = Section::whole(&document)?;
    if let Some((name, key)) = root.keys().find(|(name, _)| WAYS.contains(name) || PARAMETERS.contains(name))
    {
        let found = format!("{name} outside of [tasks]");
        let expected =
            format!("the table [tasks] with one of {}, of which sweep is {SWEEP}", WAYS.join(", "));
        return Err(key.error_found(found, expected));
    }
    if let Some((_, key)) = root.keys().find(|(name, _)| DEPENDENCIES.contains(name)) {
        let expected = "none: no job waits for another. `gleaner submit --wait … && gleaner submit …` submits one after the other";
        return Err(key.error_found("a dependency", expected));
    }
    for (table, keys) in [("needs", &NEEDS[..]), ("checkpoint", &CHECKPOINT[..])] {
        if let Some((name, key)) = root.keys().find(|(name, _)| keys.contains(name)) {
            let expected = format!("{name} below a line [{table}]");
            return Err(key.error_found(format!("{name} outside of [{table}]"), expected));
        }
    }
    root.check_known(&KEYS)?;
    let command = root.key("command", "the program and its arguments, as [\"./run\", \"fast\"]")?;
    let words = command.texts("a list of texts")?;
    if words.is_empty() {
        return Err(command.error_found("an empty list", "the program and its arguments"));
    }
    let (tasks, source) = task_list(&root)?;
    let inputs = match root.find("inputs") {
        Some(key) => key.list(INPUT)?.iter().map(input).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let spec = JobSpec {
        name: text(&root, "name")?.unwrap_or_default(),
        command: words,
        tasks,
        env: environment(&root)?,
        cwd: text(&root, "cwd")?,
        stdin: None,
        inputs: Vec::new(),
        own_inputs: Vec::new(),
        outputs: texts(&root, "outputs")?,
        label: label(&root)?,
        composition: composition(&root)?,
        length: length(&root)?,
        needs: needs(&root)?,
        requirements: expression(&root, "requirements")?,
        rank: expression(&root, "rank")?,
        priority: integer(&root, "priority", i128::from(i32::MIN), "a whole number")?.unwrap_or(0),
        retries: integer(&root, "retries", 0, "a whole number, 0 or more")?.unwrap_or(0),
        quorum: up_to(&root, "quorum", QUORUM_MAX, "a whole number of machines")?.unwrap_or(1),
        compare: program(&root, "compare")?,
        checkpoint: checkpointing(&root)?,
        hold: flag(&root, "hold")?,
        confinement: root
            .find("confinement")
            .map_or(Ok(Confinement::default()), |key| key.choice(&CONFINEMENTS))?,
        signed: None,
    };
    let stdin = text(&root, "stdin")?.zip(root.find("stdin")).map(|(source, key)| file_at(&key, source));
    let job = JobDescription { inputs, stdin, ..JobDescription::new(spec) };
    Ok(JobFile { job, tasks: source })
}

const INPUT: &str = "files, as [\"data.csv\", { from = \"big.bin\", to = \"data.bin\" }]";

fn input(key: &Key<'_>) -> Result<LocalFile, InputError> {
    if let Some(source) = key.find_text() {
        return Ok(file_at(key, source));
    }
    let Some(table) = key.find_table() else { return Err(key.wrong(INPUT)) };
    table.check_known(&["from", "to", "executable"])?;
    let from = table.key("from", "the file")?;
    let file = file_at(&from, from.text("the file")?);
    Ok(LocalFile { target: text(&table, "to")?, executable: flag(&table, "executable")?, ..file })
}

fn file_at(key: &Key<'_>, source: impl Into<String>) -> LocalFile {
    LocalFile { at: key.place().of(key.path()), ..LocalFile::new(source) }
}

fn task_list(root: &Section<'_>) -> Result<(TaskList, TaskSource), InputError> {
    let Some(tasks) = root.find("tasks") else { return Ok((TaskList::One, TaskSource::Here)) };
    let section = tasks.table()?;
    if let Some((name, key)) = section.keys().find(|(name, _)| !WAYS.contains(name)) {
        let expected = format!("one of {}; parameters are in {SWEEP}{}", WAYS.join(", "), meant(name, WAYS));
        return Err(key.error_found("an unknown key", expected));
    }
    let mut given = section.keys();
    let Some((way, key)) = given.next() else { return Ok((TaskList::One, TaskSource::Here)) };
    if let Some((other, key)) = given.next() {
        return Err(key.error_found(format!("{other} beside {way}"), "one of the two"));
    }
    let file = || key.text("the name of a file").map(str::to_owned);
    Ok(match way {
        "array" => {
            let text = key.text("numbers, as \"1-1000\" or \"1,3,7-9\"")?;
            let tasks = tasks::array(key.path(), text)
                .map_err(|error| key.error_found(error.found, error.expected))?;
            (tasks, TaskSource::Here)
        }
        "each_line" => (TaskList::One, TaskSource::EachLine(file()?)),
        "from_json" => (TaskList::One, TaskSource::FromJson(file()?)),
        "from_csv" => (TaskList::One, TaskSource::FromCsv(file()?)),
        _ => (sweep(&key)?, TaskSource::Here),
    })
}

fn sweep(key: &Key<'_>) -> Result<TaskList, InputError> {
    let table = key.find_table().ok_or_else(|| key.wrong(SWEEP))?;
    if table.keys().next().is_none() {
        return Err(key.error_found("no parameter", SWEEP));
    }
    let axes = table.keys().map(|(name, key)| {
        let values = key.list(&format!("a list of values, as {name} = [1, 2]"))?;
        let values: Result<Vec<String>, InputError> = values.iter().map(Key::plain_text).collect();
        Ok((name.to_owned(), values?))
    });
    tasks::combinations(axes.collect::<Result<_, InputError>>()?, key.place())
}

fn environment(root: &Section<'_>) -> Result<BTreeMap<String, String>, InputError> {
    let Some(key) = root.find("env") else { return Ok(BTreeMap::new()) };
    let variable = |(name, key): (&str, Key<'_>)| {
        if !tasks::is_variable(name) {
            let expected = "a name of letters, digits and _ that does not start with a digit";
            return Err(key.error_found("no name for a variable", expected));
        }
        Ok((name.to_owned(), key.plain_text()?))
    };
    key.table()?.keys().map(variable).collect()
}

fn needs(root: &Section<'_>) -> Result<Needs, InputError> {
    let section = root.section("needs", &NEEDS)?;
    let otherwise = Needs::default();
    let size = |name| quantity(&section, name, size_bytes, |number| number as u64);
    Ok(Needs {
        cores: up_to(&section, "cores", SLOTS_MAX, "a whole number")?.unwrap_or(otherwise.cores),
        memory: size("memory")?.unwrap_or(otherwise.memory),
        disk: size("disk")?.unwrap_or(otherwise.disk),
        time_limit_s: quantity(&section, "time_limit", duration_s, |number| number)?
            .unwrap_or(otherwise.time_limit_s),
    })
}

fn checkpointing(root: &Section<'_>) -> Result<Checkpointing, InputError> {
    let section = root.section("checkpoint", &CHECKPOINT)?;
    let otherwise = Checkpointing::default();
    let exit_code: Option<u8> = integer(&section, "exit_code", 1, "an exit code from 1 to 255")?;
    Ok(Checkpointing {
        folder: flag(&section, "folder")?,
        exit_code: exit_code.map(i32::from),
        grace_s: quantity(&section, "grace", duration_s, |number| number)?.unwrap_or(otherwise.grace_s),
    })
}

fn label(root: &Section<'_>) -> Result<Option<String>, InputError> {
    let Some(key) = root.find("label") else { return Ok(None) };
    let label = key.text("a text")?;
    if is_blank(label) {
        return Err(key.wrong("a text that is seen; leave the key out for no label"));
    }
    Ok(Some(label.to_owned()))
}

fn composition(root: &Section<'_>) -> Result<Option<[f64; 3]>, InputError> {
    let Some(key) = root.find("composition") else { return Ok(None) };
    let expected = "the shares of CPU, disk and network, as [0.7, 0.1, 0.2]";
    let shares = key.list(expected)?;
    let shares: Result<Vec<f64>, InputError> =
        shares.iter().map(|share| share.number(expected, |number| (0.0..=1.0).contains(&number))).collect();
    let shares: [f64; 3] = shares?.try_into().map_err(|_| key.wrong(expected))?;
    Ok(Some(shares))
}

fn length(root: &Section<'_>) -> Result<Option<f64>, InputError> {
    let Some(key) = root.find("length") else { return Ok(None) };
    let Some(text) = key.find_text() else {
        return key.number("operations above 0, or a text as \"5G\"", is_length).map(Some);
    };
    operations(text).map(Some).map_err(|error| key.error_found(error.found, format!("a {}", error.expected)))
}

fn expression(root: &Section<'_>, name: &str) -> Result<Option<String>, InputError> {
    let Some(key) = root.find(name) else { return Ok(None) };
    let expected = "an expression in the ClassAd language";
    let text = key.text(expected)?;
    Expr::parse(text).map_err(|error| key.error_found(format!("at {error}"), expected))?;
    Ok(Some(text.to_owned()))
}

/// A number, or a text with a unit.
fn quantity<T>(
    section: &Section<'_>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, InvalidQuantity>,
    of_number: impl Fn(f64) -> T,
) -> Result<Option<T>, InputError> {
    let Some(key) = section.find(name) else { return Ok(None) };
    let Some(text) = key.find_text() else {
        return key
            .number("a number, 0 or more, or a text with a unit", |number| (0.0..1e15).contains(&number))
            .map(|number| Some(of_number(number)));
    };
    parse(text).map(Some).map_err(|error| key.error_found(error.found, format!("a {}", error.expected)))
}

fn integer<T: TryFrom<i128>>(
    section: &Section<'_>,
    name: &str,
    least: i128,
    expected: &str,
) -> Result<Option<T>, InputError> {
    section.find(name).map(|key| key.integer(least, expected)).transpose()
}

/// A number from 1 on.
fn up_to(section: &Section<'_>, name: &str, most: u32, what: &str) -> Result<Option<u32>, InputError> {
    let Some(key) = section.find(name) else { return Ok(None) };
    let expected = format!("{what}, from 1 to {most}");
    let number = key.integer(1, &expected)?;
    if number > most { Err(key.wrong(&expected)) } else { Ok(Some(number)) }
}

fn flag(section: &Section<'_>, name: &str) -> Result<bool, InputError> {
    section.find(name).map_or(Ok(false), |key| key.flag())
}

fn text(section: &Section<'_>, name: &str) -> Result<Option<String>, InputError> {
    section.find(name).map(|key| key.text("a text").map(str::to_owned)).transpose()
}

fn texts(section: &Section<'_>, name: &str) -> Result<Vec<String>, InputError> {
    section.find(name).map_or(Ok(Vec::new()), |key| key.texts("a list of texts"))
}

/// A program and its words.
fn program(section: &Section<'_>, name: &str) -> Result<Vec<String>, InputError> {
    let words = texts(section, name)?;
    match section.find(name) {
        Some(key) if words.is_empty() => {
            let expected = "a program and its words; leave the key out for no program";
            Err(key.error_found("an empty list", expected))
        }
        _ => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<JobFile, InputError> {
        read_job_file(&Source::new("job.toml", text))
    }

    /// The example that users get to read.
    /// The jobs of the page, and its list of tasks.
    fn documented() -> Vec<&'static str> {
        let page = include_str!("../../../../docs/job-file.md");
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
    }

    #[test]
    fn the_documented_files_have_every_key() {
        let fences = documented();
        for key in KEYS {
            let has_it =
                |fence: &&str| fence.contains(&format!("{key} ")) || fence.contains(&format!("[{key}]"));
            assert!(fences.iter().any(has_it), "{key}");
        }
        let JobFile { job, tasks } = read(fences[0]).expect("a job");
        assert_eq!(tasks, TaskSource::Here);
        let axes = [("rate", ["0.1", "0.2"]), ("scene", ["a", "b"])];
        let axes = axes.map(|(name, values)| (name.to_owned(), values.map(str::to_owned).to_vec()));
        let TaskList::Sweep { axes: mut found } = job.spec.tasks.clone() else {
            panic!("{:?}", job.spec.tasks)
        };
        found.sort();
        assert_eq!(found, axes);
        assert_eq!(job.spec.needs, Needs { cores: 2, memory: 4 << 30, disk: 10 << 30, time_limit_s: 7200.0 });
        assert_eq!(job.spec.checkpoint, Checkpointing { folder: true, exit_code: Some(85), grace_s: 30.0 });
        assert_eq!(job.inputs[2].target.as_deref(), Some("scene.blend"));
        assert!(job.spec.hold);
    }

    #[test]
    fn one_command_is_enough() {
        let JobFile { job, .. } = read("command = ['true']").expect("a job");
        assert_eq!(job.spec.tasks, TaskList::One);
        assert_eq!(job.spec.needs, Needs::default());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            (
                "",
                "job.toml: command: found nothing; expected the program and its arguments, as [\"./run\", \"fast\"]",
            ),
            (
                "command = []",
                "job.toml:1: command: found an empty list; expected the program and its arguments",
            ),
            ("command = ['a', 1]", "job.toml:1: command[1]: found 1; expected a list of texts"),
            (
                "command = ['a']\nretrys = 1",
                "job.toml:2: retrys: found an unknown key; expected one of name, command, label, composition, length, inputs, outputs, stdin, cwd, requirements, rank, priority, retries, quorum, compare, hold, confinement, env, needs, checkpoint, tasks; did you mean retries?",
            ),
            (
                "command = ['a']\n[needs]\nmemory = '4X'",
                "job.toml:3: needs.memory: found \"4X\"; expected a size, as 512M, 4GB or a number of bytes",
            ),
            (
                "command = ['a']\n[needs]\ncores = 0",
                "job.toml:3: needs.cores: found 0; expected a whole number, from 1 to 65536",
            ),
            (
                "command = ['a']\nquorum = 9",
                "job.toml:2: quorum: found 9; expected a whole number of machines, from 1 to 7",
            ),
            (
                "command = ['a']\nquorum = 2\ncompare = []",
                "job.toml:3: compare: found an empty list; expected a program and its words",
            ),
            (
                "command = ['a']\n[env]\na-b = 'x'",
                "job.toml:3: env.a-b: found no name for a variable; expected a name of letters, digits and _",
            ),
            (
                "command = ['a']\nlabel = ''",
                "job.toml:2: label: found \"\"; expected a text that is seen; leave the key out for no label",
            ),
            ("command = ['a']\nhold = 1", "job.toml:2: hold: found 1; expected true or false"),
            ("command = ['a']\nrank = '1 +'", "job.toml:2: rank: found at "),
        ] {
            expect_mistake(text, expected);
        }
    }

    fn expect_mistake(text: &str, expected: &str) {
        let error = read(text).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}\n  {error}\n  {expected}");
    }

    #[test]
    fn mistakes_below_the_first_table_are_named() {
        for (text, expected) in [
            (
                "command = ['a']\n[tasks]\narray = '3-1'",
                "job.toml:3: tasks.array: found \"3-1\"; expected a first number",
            ),
            (
                "command = ['a']\n[tasks]\narray = '1-3'\nsweep = {a = [1]}",
                "job.toml:4: tasks.sweep: found sweep beside array; expected one of the two",
            ),
            (
                "command = ['a']\n[tasks]\nsweep = {a = [[1]]}",
                "job.toml:3: tasks.sweep.a[0]: found a list; expected a text, a number, true or false",
            ),
            (
                "command = ['a']\n[tasks]\nsweep = {a = 1}",
                "job.toml:3: tasks.sweep.a: found 1; expected a list of values, as a = [1, 2]",
            ),
            (
                "command = ['a']\n[tasks]\nsweep = [1]",
                "job.toml:3: tasks.sweep: found a list; expected a table of parameters and their values, as sweep = {",
            ),
            (
                "command = ['a']\n[tasks.sweep]",
                "job.toml:2: tasks.sweep: found no parameter; expected a table of parameters and their values, as sweep",
            ),
            (
                "command = ['a']\n[tasks]\nrate = [1, 2]",
                "job.toml:3: tasks.rate: found an unknown key; expected one of array, ",
            ),
            (
                "command = ['a']\n[sweep]\nrate = [1, 2]",
                "job.toml:2: sweep: found sweep outside of [tasks]; expected the table [tasks] with one of array, ",
            ),
            (
                "command = ['a']\nparameters = {rate = [1]}",
                "job.toml:2: parameters: found parameters outside of [tasks]; expected the table [tasks] with one of array, ",
            ),
            (
                "command = ['a']\ntime_limit = '1h'",
                "job.toml:2: time_limit: found time_limit outside of [needs]; expected time_limit below a line [needs]",
            ),
            (
                "command = ['a']\nexit_code = 3",
                "job.toml:2: exit_code: found exit_code outside of [checkpoint]; expected exit_code below a line [checkpoint]",
            ),
            (
                "command = ['a']\ndepends_on = [1]",
                "job.toml:2: depends_on: found a dependency; expected none: no job waits for another. `gleaner submit --wait",
            ),
            (
                "command = ['a']\n[checkpoint]\nexit_code = 0",
                "job.toml:3: checkpoint.exit_code: found 0; expected an exit code from 1 to 255",
            ),
            (
                "command = ['a']\ncomposition = [1, 0]",
                "job.toml:2: composition: found a list; expected the shares",
            ),
            ("command = ['a'", "job.toml:1: found no TOML"),
        ] {
            expect_mistake(text, expected);
        }
    }
}
