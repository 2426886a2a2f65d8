//! From the arguments of `gleaner submit` to descriptions of jobs.

use crate::Outcome;
use crate::cli::SubmitArguments;
use crate::failure::Failure;
use gleaner_classad::Expr;
use gleaner_server::desk::check_job;
use gleaner_wire::job::{Confinement, JobSpec, TaskList};
use gleaner_wire::text::as_part;
use gleaner_workload::submit::condor::{self, Surroundings};
use gleaner_workload::submit::{
    JobDescription, JobFile, LocalFile, Note, SentFile, Source, Submission, TaskSource, array, each_line,
    from_csv, from_json, is_pattern, jdf, read_job_file, sweep,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What the arguments describe.
pub(super) struct Described {
    pub(super) jobs: Vec<JobDescription>,
    /// Where its requirements stand, where they are OurGrid's.
    pub(super) requirements_at: Option<String>,
}

/// In what form a job is described.
enum Form<'a> {
    Command,
    JobFile(&'a Path),
    OurGrid(&'a Path),
    Condor(&'a Path),
}

impl<'a> Form<'a> {
    fn of(arguments: &'a SubmitArguments) -> Self {
        let Some(file) = arguments.file.as_deref() else { return Self::Command };
        if file == Path::new("-") || file.extension().is_some_and(|end| end == "toml") {
            Self::JobFile(file)
        } else if file.extension().is_some_and(|end| end.eq_ignore_ascii_case("jdf")) {
            Self::OurGrid(file)
        } else {
            Self::Condor(file)
        }
    }

    /// What would have no effect is not dropped without a word.
    fn expect_no_options_of_others(&self, arguments: &SubmitArguments) -> Outcome {
        if !arguments.macros.is_empty() && !matches!(self, Self::Condor(_)) {
            let why = "--set is for the macros of an HTCondor submit file, and this is none";
            return Err(Failure::Usage(why.to_owned()));
        }
        if !arguments.ignore.is_empty() && !matches!(self, Self::Condor(_) | Self::OurGrid(_)) {
            let why =
                "--ignore is for HTCondor submit files and job descriptions of OurGrid, and this is neither";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(())
    }
}

/// The jobs that the arguments describe. Options lie over what a file says.
pub(super) fn jobs(arguments: &SubmitArguments) -> Result<Described, Failure> {
    let mut requirements_at = None;
    let form = Form::of(arguments);
    form.expect_no_options_of_others(arguments)?;
    let mut jobs = match form {
        Form::Command => {
            vec![JobDescription::new(JobSpec::new(arguments.command.iter().map(String::as_str)))]
        }
        Form::JobFile(file) => vec![job_file(file)?],
        Form::OurGrid(file) => {
            let folder = file.parent().unwrap_or(Path::new(""));
            let submission = jdf::translate(&source(file)?, folder, &arguments.ignore)?;
            are_there(file, &submission.files)?;
            requirements_at = submission.requirements_line.map(|line| format!("{}:{line}", file.display()));
            noted(file, submission)
        }
        Form::Condor(file) => submit_file(file, arguments)?,
    };
    let tasks = task_list(arguments)?;
    for job in &mut jobs {
        if let Some(tasks) = &tasks {
            job.spec.tasks = tasks.clone();
        }
        lay_over(arguments, job)?;
        job.check_size().map_err(|error| Failure::Usage(error.to_string()))?;
    }
    if arguments.requirements.is_some() {
        requirements_at = None;
    }
    Ok(Described { jobs, requirements_at })
}

/// Whether the coordinator would take such a job: what it would refuse is a mistake in the arguments or the file, and found here.
pub(super) fn check(arguments: &SubmitArguments, spec: &JobSpec) -> Outcome {
    let whose = arguments.file.as_ref().map(|file| format!("the job of {}: ", file.display()));
    check_job(spec).map_err(|why| Failure::Usage(whose.unwrap_or_default() + &why.message))
}

/// Every file that a description sends can be read, or is a folder; else where the description names it.
fn are_there(description: &Path, files: &[SentFile]) -> Result<(), Failure> {
    for SentFile { line, key, source } in files {
        // What is a folder or a pattern is looked into when it is sent.
        let found = std::fs::metadata(source)
            .and_then(|found| if found.is_file() { File::open(source).map(drop) } else { Ok(()) });
        if let Err(error) = found.or_else(|error| if is_pattern(source) { Ok(()) } else { Err(error) }) {
            let at = description.display();
            return Err(Failure::Usage(format!(
                "{at}:{line}: {key}: cannot read {source}: {error}; files are looked for from the folder of the description"
            )));
        }
    }
    Ok(())
}

fn job_file(path: &Path) -> Result<JobDescription, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let near = |name: &str| folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    let JobFile { mut job, tasks } = read_job_file(&source(path)?)?;
    match tasks {
        TaskSource::Here => {}
        TaskSource::EachLine(name) => job.spec.tasks = each_line(&source(&near(&name))?)?,
        TaskSource::FromJson(name) => job.spec.tasks = from_json(&source(&near(&name))?)?,
        TaskSource::FromCsv(name) => job.spec.tasks = from_csv(&source(&near(&name))?)?,
    }
    for input in job.inputs.iter_mut().chain(&mut job.stdin) {
        folder.unwrap_or(Path::new("")).clone_into(&mut input.folder);
    }
    job.spec.cwd = job.spec.cwd.map(|name| folder_to_run_in("cwd", &name, near)).transpose()?;
    Ok(job)
}

fn submit_file(path: &Path, arguments: &SubmitArguments) -> Result<Vec<JobDescription>, Failure> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let macros = arguments.macros.iter().map(|text| {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.trim().is_empty())
            .ok_or_else(|| Failure::Usage(format!("--set {text}: expected NAME=VALUE, as N=100")))?;
        Ok((name.trim().to_owned(), value.to_owned()))
    });
    let macros = macros.collect::<Result<Vec<_>, Failure>>()?;
    let surroundings = Surroundings {
        folder: Path::new(""),
        environment: &environment,
        macros: &macros,
        ignored: &arguments.ignore,
    };
    Ok(noted(path, condor::read(&source(path)?, &surroundings)?))
}

/// The whole path of a folder to run in, since an agent was started elsewhere. What begins with a parameter may be whole.
fn folder_to_run_in(key: &str, name: &str, near: impl Fn(&str) -> PathBuf) -> Result<String, Failure> {
    if name.starts_with('{') {
        return Ok(name.to_owned());
    }
    let place = if name.is_empty() { PathBuf::new() } else { near(name) };
    let whole =
        std::path::absolute(place).map_err(|error| Failure::Usage(format!("{key} {name:?}: {error}")))?;
    let whole = whole.display().to_string();
    let braces = |text: &str| text.matches('{').count();
    if braces(&whole) > braces(name) {
        return Err(Failure::Usage(format!(
            "{key} {name:?}: the folder that it is in has a brace in its name, and could be taken for one with a parameter: \
             give the whole path"
        )));
    }
    Ok(whole)
}

/// The jobs of a description, once the user was told what is done in another way than there.
fn noted(path: &Path, submission: Submission) -> Vec<JobDescription> {
    for Note { line, key, text } in &submission.notes {
        anstream::eprintln!("note: {}:{line}: {key}: {text}", path.display());
    }
    for text in &submission.unmet {
        anstream::eprintln!("warning: {}: {text}", path.display());
    }
    submission.jobs
}

/// The file, or standard input for `-`.
fn source(path: &Path) -> Result<Source, Failure> {
    Ok(if path == Path::new("-") {
        Source::reader("standard input", std::io::stdin().lock())?
    } else {
        Source::file(path)?
    })
}

fn task_list(arguments: &SubmitArguments) -> Result<Option<TaskList>, Failure> {
    Ok(Some(if let Some(text) = &arguments.array {
        array("--array", text)?
    } else if let Some(path) = &arguments.each_line {
        each_line(&source(path)?)?
    } else if let Some(path) = &arguments.from_json {
        from_json(&source(path)?)?
    } else if let Some(path) = &arguments.from_csv {
        from_csv(&source(path)?)?
    } else if !arguments.sweep.is_empty() {
        sweep("--sweep", &arguments.sweep)?
    } else {
        return Ok(None);
    }))
}

fn lay_over(arguments: &SubmitArguments, job: &mut JobDescription) -> Result<(), Failure> {
    job.inputs.extend(arguments.inputs.iter().map(|text| input(text)));
    let stdin = |name: &String| LocalFile { at: "--stdin".to_owned(), ..LocalFile::new(name) };
    set_some(&mut job.stdin, arguments.stdin.as_ref().map(stdin).as_ref());
    let spec = &mut job.spec;
    for text in &arguments.env {
        let (name, value) = variable(text)?;
        spec.env.insert(name, value);
    }
    spec.outputs.extend(arguments.outputs.iter().cloned());
    if let Some(name) = &arguments.cwd {
        spec.cwd = Some(folder_to_run_in("--cwd", name, |name| Path::new(name).to_path_buf())?);
    }
    set_some(&mut spec.label, arguments.label.as_ref());
    set(&mut spec.name, arguments.name.as_ref());
    set(&mut spec.priority, arguments.priority.as_ref());
    set(&mut spec.retries, arguments.retries.as_ref());
    set(&mut spec.quorum, arguments.quorum.as_ref());
    if let Some(program) = &arguments.compare {
        spec.compare = program.split_whitespace().map(str::to_owned).collect();
    }
    set(&mut spec.needs.cores, arguments.cores.as_ref());
    set(&mut spec.needs.memory, arguments.memory.as_ref());
    set(&mut spec.needs.disk, arguments.disk.as_ref());
    set(&mut spec.needs.time_limit_s, arguments.time_limit.as_ref());
    set(&mut spec.checkpoint.grace_s, arguments.grace.as_ref());
    set_some(&mut spec.checkpoint.exit_code, arguments.checkpoint_exit_code.map(i32::from).as_ref());
    set_some(&mut spec.requirements, expression("--requirements", arguments.requirements.as_ref())?);
    for tag in &arguments.tags {
        let asked = format!("member(\"{tag}\", TARGET.Tags)");
        spec.requirements = Some(match spec.requirements.take() {
            Some(others) => format!("{} && {asked}", as_part(&others)),
            None => asked,
        });
    }
    set_some(&mut spec.rank, expression("--rank", arguments.rank.as_ref())?);
    spec.checkpoint.folder |= arguments.checkpoint;
    spec.hold |= arguments.hold;
    set_some(&mut spec.composition, arguments.composition.as_ref());
    set_some(&mut spec.length, arguments.length.as_ref());
    if arguments.no_sandbox {
        spec.confinement = Confinement::None;
    } else if arguments.network {
        spec.confinement = Confinement::SandboxWithNetwork;
    }
    if spec.cwd.is_some() && spec.confinement != Confinement::None {
        let why = "a folder to run in has a meaning only outside the sandbox: give --no-sandbox too, \
                   or send what the task needs with --input";
        return Err(Failure::Usage(why.to_owned()));
    }
    Ok(())
}

fn set<T: Clone>(place: &mut T, given: Option<&T>) {
    if let Some(given) = given {
        *place = given.clone();
    }
}

fn set_some<T: Clone>(place: &mut Option<T>, given: Option<&T>) {
    if given.is_some() {
        *place = given.cloned();
    }
}

fn expression<'a>(option: &str, text: Option<&'a String>) -> Result<Option<&'a String>, Failure> {
    if let Some(text) = text {
        Expr::parse(text).map_err(|error| Failure::Usage(format!("{option}: at {error}")))?;
    }
    Ok(text)
}

fn variable(text: &str) -> Result<(String, String), Failure> {
    if let Some((name, value)) = text.split_once('=') {
        return Ok((name.to_owned(), value.to_owned()));
    }
    let value = std::env::var(text).map_err(|error| {
        Failure::Usage(format!("--env {text}: {error}; give it a value, as --env {text}=VALUE"))
    })?;
    Ok((text.to_owned(), value))
}

/// `FILE`, or `FILE=NAME`; a file that is there goes by the whole text.
fn input(text: &str) -> LocalFile {
    let split = text.rsplit_once('=').filter(|_| !Path::new(text).exists());
    let (source, target) = split.map_or((text, None), |(source, target)| (source, Some(target.to_owned())));
    LocalFile { target, ..LocalFile::new(source) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use gleaner_wire::job::Needs;

    fn described(line: &str) -> Result<JobDescription, String> {
        let words = std::iter::once("gleaner").chain(line.split(' '));
        let parsed = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
        let Command::Submit(arguments) = parsed.command else { panic!("another command") };
        jobs(&arguments).map(|mut described| described.jobs.remove(0)).map_err(|failure| failure.to_string())
    }

    #[test]
    fn options_become_the_job() {
        let job = described(
            "submit --array 1-3 -i a.csv -i b.bin=c.bin -o out/* -e A=1=2 --cores 2 --memory 4GB --time-limit 2h \
             --retries 3 --priority -5 --checkpoint --checkpoint-exit-code 85 --composition 0.5,0.25,0.25 --length 5G --network \
             --hold -- ./run {GLEANER_INDEX} --array x",
        )
        .expect("a job");
        let spec = job.spec;
        assert_eq!(spec.command, ["./run", "{GLEANER_INDEX}", "--array", "x"]);
        assert_eq!(spec.tasks, TaskList::Array { first: 1, last: 3, step: 1 });
        assert_eq!(spec.needs, Needs { cores: 2, memory: 4 << 30, disk: 0, time_limit_s: 7200.0 });
        assert_eq!(spec.env["A"], "1=2");
        assert_eq!((spec.retries, spec.priority, spec.hold), (3, -5, true));
        assert_eq!(spec.composition, Some([0.5, 0.25, 0.25]));
        assert_eq!(spec.length, Some(5e9));
        assert_eq!(spec.confinement, Confinement::SandboxWithNetwork);
        assert_eq!(spec.checkpoint.exit_code, Some(85));
        assert_eq!(job.inputs[1].source, "b.bin");
        assert_eq!(job.inputs[1].target.as_deref(), Some("c.bin"));
    }

    #[test]
    fn tags_are_required() {
        let required = |line: &str| described(line).expect("a job").spec.requirements;
        assert_eq!(required("submit --tag gpu -- b").as_deref(), Some("member(\"gpu\", TARGET.Tags)"));
        assert_eq!(
            required("submit --tag gpu --tag lab-3 --requirements TARGET.Cpus>2||true -- b").as_deref(),
            Some("((TARGET.Cpus>2||true) && member(\"gpu\", TARGET.Tags)) && member(\"lab-3\", TARGET.Tags)")
        );
        assert!(described("submit --tag a\"b -- b").is_err());
    }

    #[test]
    fn options_lie_over_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("job.toml");
        let text = "command = ['a']\nretries = 1\npriority = 2\ninputs = ['x']\n[tasks]\neach_line = 'list'";
        std::fs::write(&path, text).expect("a file is written");
        std::fs::write(folder.path().join("list"), "1\n2\n").expect("a file is written");
        let job = described(&format!("submit -f {} --retries 5", path.display())).expect("a job");
        assert_eq!((job.spec.retries, job.spec.priority), (5, 2));
        assert_eq!(job.spec.tasks.count(), 2);
        assert_eq!(job.inputs[0].folder.join(&job.inputs[0].source), folder.path().join("x"));
    }

    /// An agent would take another for it, from where it was started.
    #[test]
    fn a_folder_to_run_in_is_whole() {
        let here = std::env::current_dir().expect("a folder");
        let cwd = |line: &str| described(line).expect("a job").spec.cwd.expect("a folder");
        for (given, expected) in [
            (".", here.clone()),
            ("in/it", here.join("in/it")),
            ("/data", "/data".into()),
            ("{GLEANER_LINE}/x", "{GLEANER_LINE}/x".into()),
        ] {
            let found = cwd(&format!("submit --no-sandbox --cwd {given} -- b"));
            assert_eq!(Path::new(&found), expected, "{given}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("job.toml");
        std::fs::write(&path, "command = ['a']\nconfinement = 'none'\ncwd = 'sub'")
            .expect("a file is written");
        assert_eq!(Path::new(&cwd(&format!("submit -f {}", path.display()))), folder.path().join("sub"));
    }

    #[test]
    fn braces_in_the_folder_of_a_job_file_are_no_parameter() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("run{a}");
        std::fs::create_dir(&folder).expect("a folder is made");
        let path = folder.join("job.toml");
        let written = |text: &str| {
            let text =
                format!("command = ['a']\nconfinement = 'none'\n{text}\n[tasks]\nsweep = {{ a = ['1'] }}");
            std::fs::write(&path, text).expect("a file is written");
            described(&format!("submit -f {}", path.display()))
        };
        let stdin = written("stdin = 'in.txt'").expect("a job").stdin.expect("a file");
        assert_eq!((stdin.folder, stdin.source.as_str()), (folder.clone(), "in.txt"));
        let refused = written("cwd = 'sub'").expect_err("it would be filled in");
        assert!(refused.contains("has a brace in its name"), "{refused}");
        let whole = written("cwd = '/data/{a}'").expect("a job").spec.cwd;
        assert_eq!(whole.as_deref(), Some("/data/{a}"));
    }

    #[test]
    fn a_file_that_is_missing_is_named_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        write(
            "job.jdf",
            "job :\ntask :\ninit : put here in\n  store gone in2\nremote : a\ntask :\nremote : b\n",
        );
        write("here", "");
        let path = folder.path().join("job.jdf").display().to_string();
        let error = described(&format!("submit -f {path}")).expect_err("a file is missing");
        let gone = folder.path().join("gone").display().to_string();
        let expected = format!("{path}:4: store: cannot read {gone}: No such file or directory");
        assert!(error.starts_with(&expected), "{error}");
        write("gone", "");
        let job = described(&format!("submit -f {path}")).expect("now it is there");
        assert_eq!(job.inputs.len(), 2);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, expected) in [
            ("submit", "required"),
            ("submit -f a.toml -- b", "cannot be used with"),
            ("submit --array 1-2 --sweep a=1 -- b", "cannot be used with"),
            ("submit --memory 4X -- b", "expected a size, as 512M, 4GB or a number of bytes"),
            ("submit --length long -- b", "expected a number of operations above 0, as 12e6, 5G or 1.5T"),
            ("submit --rank 1+ -- b", "--rank: at "),
            ("submit --cwd /tmp -- b", "give --no-sandbox too"),
            ("submit --label= -- b", "leave the option out for no label"),
            ("submit --no-sandbox --cwd= -- b", "--cwd \"\": cannot make an empty path absolute"),
            ("submit --hold --wait -- b", "cannot be used with"),
            ("submit --no-sandbox --network -- b", "cannot be used with"),
            ("submit -f missing.toml", "no such file"),
            ("submit -f missing.toml --set a=1", "--set is for the macros of an HTCondor submit file"),
            ("submit -f missing.sub --set =2", "--set =2: expected NAME=VALUE, as N=100"),
            ("submit --time-limit 99999999999999h -- b", "expected a time of at most 366000 days"),
            ("submit --time-limit 10:00 -- b", "expected a time without doubt: minutes are 10m or 00:10:00"),
            ("submit --quorum 0 -- b", "0 is not in 1..=7"),
            ("submit --quorum 2 --compare= -- b", "expected a program and its words; leave the option out"),
            ("submit -f missing.jdf --set a=1", "--set is for the macros of an HTCondor submit file"),
            ("submit -f missing.toml --ignore command", "--ignore is for HTCondor submit files and"),
            ("submit --set a=1 -- b", "--set"),
            ("submit --ignore a -- b", "--ignore"),
            ("submit --env GLEANER_NEVER_SET -- b", "give it a value, as --env GLEANER_NEVER_SET=VALUE"),
        ] {
            let error = described(line).expect_err(line);
            assert!(error.contains(expected), "{line}\n{error}");
        }
    }
}
