//! `gleaner workload`: logs of jobs, read, converted, drawn and filtered; and what a description of OurGrid says.

mod live;

use crate::cli::{
    ConvertArguments, DASH, DrawArguments, FilterArguments, InfoArguments, Model, ReadArguments,
    WorkloadArguments, WrittenFormat, WrittenLogArguments,
};
use crate::failure::Failure;
use crate::{Outcome, files, stdout};
use gleaner_report::numbers::{self, decimals, grouped};
use gleaner_workload::logs::{self, Format};
use gleaner_workload::models::{Lublin, UserGroups};
use gleaner_workload::ourgrid::trace::Workload;
use gleaner_workload::ourgrid::{jdf, sdf};
use gleaner_workload::submit::Source;
use gleaner_workload::swf::{Filter, Log, Statistics};
use gleaner_workload::{batsim, gwf};
use serde_json::json;
use std::io;
use std::path::Path;

pub(crate) fn run(arguments: &WorkloadArguments) -> Outcome {
    match arguments {
        WorkloadArguments::Info(arguments) => info(arguments),
        WorkloadArguments::Convert(arguments) => convert(arguments),
        WorkloadArguments::Generate(arguments) => generate(arguments),
        WorkloadArguments::Filter(arguments) => filter(arguments),
    }
}

/// A log, or a live grid's past as one.
fn read(arguments: &ReadArguments) -> Result<Log, Failure> {
    if arguments.format.is_none() && live::is_there(&arguments.file) {
        return live::read(&arguments.file);
    }
    Ok(logs::load(&arguments.file, arguments.format.map(Format::from))?)
}

fn info(arguments: &InfoArguments) -> Outcome {
    let file = &arguments.read.file;
    let ends = |end: &str| file.extension().is_some_and(|found| found.eq_ignore_ascii_case(end));
    if ends("jdf") {
        return tell_job(&jdf::read(&Source::file(file)?)?, arguments.json);
    }
    if ends("sdf") {
        return tell_site(&sdf::read(&Source::file(file)?)?, arguments.json);
    }
    let format = arguments.read.format.map(Format::from);
    let log = if format.is_none() && live::is_there(file) {
        live::read(file)?
    } else {
        // Read once: a pipe gives its text once only.
        let text = logs::read(file)?;
        if format.is_none() && Workload::is_in(&text) {
            return tell_trace(&Workload::parse(&file.display().to_string(), text)?, arguments.json);
        }
        logs::parse(file, text, format)?
    };
    tell(&log, arguments.cores.unwrap_or_else(|| Statistics::cores_of(&log)), arguments.json)
}

fn convert(arguments: &ConvertArguments) -> Outcome {
    files::check_is_not_read("--out", &arguments.written.out, &arguments.read.file)?;
    let log = read(&arguments.read)?;
    write(&log, arguments.cores, &arguments.written)
}

fn generate(arguments: &DrawArguments) -> Outcome {
    let DrawArguments { model, jobs, seed, cores, written } = arguments;
    let count = *jobs as usize;
    let log = match model {
        Model::Lublin => Lublin::of_two_kinds().for_cores(*cores).log(*seed, count),
        Model::LublinOneKind => Lublin::of_one_kind().for_cores(*cores).log(*seed, count),
        Model::UserGroups => UserGroups { cores: *cores, ..UserGroups::default() }.log(*seed, count),
    };
    write(&log?, Some(*cores), written)
}

fn filter(arguments: &FilterArguments) -> Outcome {
    let filter = Filter {
        from_s: arguments.from,
        to_s: arguments.to,
        users: arguments.users.iter().copied().collect(),
        cores: arguments.cores,
        scale_load: arguments.scale_load,
    };
    files::check_is_not_read("--out", &arguments.written.out, &arguments.read.file)?;
    let log = read(&arguments.read)?.filtered(&filter)?;
    write(&log, arguments.cores, &arguments.written)
}

/// Writes the log, and tells what it amounts to.
fn write(log: &Log, cores: Option<u32>, arguments: &WrittenLogArguments) -> Outcome {
    let path = &arguments.out;
    let is_printed = path == Path::new(DASH);
    if is_printed && arguments.json {
        let found = "--json: found --out -, by which the log is printed; expected one of the two";
        return Err(Failure::Usage(found.to_owned()));
    }
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let format = arguments.written_as.or_else(|| written_format(path)).ok_or_else(|| {
        Failure::Usage(format!(
            "--out {}: expected a name in .swf, .gwf, .json or .csv, or --as",
            path.display()
        ))
    })?;
    let cores = cores.unwrap_or_else(|| Statistics::cores_of(log));
    check_holds_some(format, log, cores, path)?;
    let content = |out: &mut dyn io::Write| match format {
        WrittenFormat::Swf => log.write(out),
        WrittenFormat::Gwf => gwf::write(log, out),
        WrittenFormat::Batsim => batsim::write(cores, log, out),
        WrittenFormat::Tasks => logs::write_tasks(&log.kept(cores), out),
    };
    if is_printed {
        return stdout::print_file(content);
    }
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    files::write_file(files::folder_of(path), &name, |out| {
        if is_packed { logs::pack(out, content) } else { content(out) }
    })?;
    tell(log, cores, arguments.json)?;
    if arguments.json { Ok(()) } else { stdout::print(format!("{:12} {}\n", "written", path.display())) }
}

/// A file that is to hold only what can run, and would hold nothing, could not be read again.
fn check_holds_some(format: WrittenFormat, log: &Log, cores: u32, path: &Path) -> Outcome {
    if matches!(format, WrittenFormat::Batsim | WrittenFormat::Tasks) {
        let kept = log.kept(cores);
        if kept.jobs.is_empty() {
            return Err(Failure::Usage(format!(
                "--out {}: found no job that can run on {cores} processors: {}; expected one, since this format holds no others",
                path.display(),
                kept.left_out
            )));
        }
    }
    Ok(())
}

fn written_format(path: &Path) -> Option<WrittenFormat> {
    match Format::of_name(path) {
        Some(Format::Swf) => Some(WrittenFormat::Swf),
        Some(Format::Gwf) => Some(WrittenFormat::Gwf),
        Some(Format::Batsim) => Some(WrittenFormat::Batsim),
        None => {
            let name = path.to_str()?.to_ascii_lowercase();
            let ending = name.strip_suffix(".gz").unwrap_or(&name).rsplit('.').next()?;
            (ending == "csv").then_some(WrittenFormat::Tasks)
        }
    }
}

fn tell(log: &Log, cores: u32, as_json: bool) -> Outcome {
    let statistics = Statistics::of(log, cores);
    if as_json {
        let mut document = json!({ "version": 1, "kind": "log" });
        let told = json!(statistics);
        let both = document.as_object_mut().zip(told.as_object());
        let (document_keys, told_keys) = both.expect("both are objects");
        document_keys.extend(told_keys.clone());
        return stdout::print_json(&document);
    }
    let percent = |share: f64| format!("{} %", decimals(100.0 * share, 1));
    let s = &statistics;
    let lines = [
        ("jobs", format!("{}, of {} users", grouped(s.jobs as u64), s.users)),
        ("scheduled", grouped(s.kept as u64)),
        ("left out", s.left_out.to_string()),
        (
            "processors",
            format!(
                "{}; a job takes {} on average, {} at most",
                s.cores,
                decimals(s.size_mean, 1),
                s.size_max
            ),
        ),
        (
            "sizes",
            format!("{} on one processor, {} on a power of two", percent(s.serial), percent(s.powers_of_two)),
        ),
        (
            "submitted",
            format!(
                "over {}, {} out of order",
                numbers::seconds(s.last_submit_s - s.first_submit_s),
                s.out_of_order
            ),
        ),
        ("load", percent(s.load)),
        (
            "run time",
            format!(
                "{} on average, median {}, {} at most",
                numbers::seconds(s.run_mean_s),
                numbers::seconds(s.run_median_s),
                numbers::seconds(s.run_max_s)
            ),
        ),
        (
            "estimates",
            format!("{} of the jobs; {} run longer", percent(s.with_estimate), percent(s.past_estimate)),
        ),
    ];
    stdout::print(lines.map(|(what, value)| format!("{what:12} {value}\n")).concat())
}

fn tell_job(job: &jdf::Job, as_json: bool) -> Outcome {
    let files: usize = job.tasks.iter().map(|task| task.init.len() + task.finals.len()).sum();
    let requirements = job.requirements.as_ref().map(ToString::to_string);
    if as_json {
        return stdout::print_json(&json!({
            "version": 1, "kind": "job", "label": job.label, "tasks": job.tasks.len(), "files": files,
            "requirements": requirements,
        }));
    }
    let lines = [
        ("label", job.label.clone()),
        ("tasks", grouped(job.tasks.len() as u64)),
        ("files", grouped(files as u64)),
        ("requirements", requirements.unwrap_or_else(|| "none".to_owned())),
    ];
    stdout::print(lines.map(|(what, value)| format!("{what:12} {value}\n")).concat())
}

/// A trace of bags of tasks.
fn tell_trace(trace: &Workload, as_json: bool) -> Outcome {
    let (peers, users, jobs, tasks) =
        (trace.peers.len(), trace.users.len(), trace.jobs.len(), trace.runs.len());
    let run_s: f64 = trace.runs.iter().map(|run| run.seconds()).sum();
    let last_s = trace.jobs.last().map_or(0.0, |job| job.submit.seconds());
    let mean_s = run_s / tasks as f64;
    if as_json {
        return stdout::print_json(&json!({
            "version": 1, "kind": "bags", "peers": peers, "users": users, "jobs": jobs, "tasks": tasks,
            "run_mean_s": mean_s, "last_arrival_s": last_s,
        }));
    }
    let lines = [
        ("peers", grouped(peers as u64)),
        ("users", grouped(users as u64)),
        (
            "jobs",
            format!(
                "{}, {} tasks each on average",
                grouped(jobs as u64),
                decimals(tasks as f64 / jobs as f64, 1)
            ),
        ),
        ("tasks", format!("{}, {} s each on average", grouped(tasks as u64), decimals(mean_s, 0))),
        ("arrivals", format!("over {} days", decimals(last_s / 86_400.0, 1))),
    ];
    stdout::print(lines.map(|(name, value)| format!("{name:13}{value}\n")).concat())
}

fn tell_site(site: &sdf::Site, as_json: bool) -> Outcome {
    if as_json {
        let workers: Vec<_> = site.workers.iter().map(|worker| json!(worker.attributes)).collect();
        return stdout::print_json(&json!({ "version": 1, "kind": "site", "workers": workers }));
    }
    let lines = site.workers.iter().map(|worker| {
        let attributes = worker.attributes.iter().map(|(name, value)| format!("{name}={value}"));
        format!("{}\n", attributes.collect::<Vec<_>>().join(" "))
    });
    stdout::print(lines.collect::<String>())
}
