//! `gleaner paper`: a paper's experiments again, and its claims held against what comes out.

mod describe;

use crate::cli::{PAPERS, PaperArguments, PaperPart};
use crate::earlier::Earlier;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, progress, stdout};
use describe::describe;
use gleaner_papers::elleuch::Part;
use gleaner_papers::{Document, bertasi, cavalieri, dasilva, elleuch, khoo};
use gleaner_papers::{Interrupted, Kept, Progress, Stopped, Watch};
use gleaner_wire::meant::meant;
use gleaner_workload::ourgrid::trace::Workload;
use gleaner_workload::sites::usable_jobs;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// What came of a paper's experiments.
struct Findings {
    document: Document,
    /// By name, but for `claims.json`.
    files: Vec<(String, String)>,
}

pub(crate) fn run(arguments: &PaperArguments) -> Outcome {
    interrupt::listen();
    let earlier = Earlier::in_folder(arguments.out.as_deref());
    repeat(arguments)?;
    earlier.tell_what_is_left();
    Ok(())
}

fn repeat(arguments: &PaperArguments) -> Outcome {
    if !arguments.logs.is_empty() && arguments.name != "khoo" {
        return Err(Failure::Usage(format!("--log: {} takes no logs", arguments.name)));
    }
    if arguments.workload.is_some() && arguments.name != "dasilva" {
        return Err(Failure::Usage(format!("--workload: {} takes none", arguments.name)));
    }
    if let Some(dir) = &arguments.out {
        files::check_writable(dir).map_err(|error| Failure::Usage(format!("--out: {error}")))?;
    }
    let findings = match arguments.name.as_str() {
        "bertasi" if arguments.part.is_some_and(|part| part != PaperPart::Figures) => {
            return beside_bertasi(arguments);
        }
        "bertasi" => bertasi(arguments)?,
        "elleuch" => elleuch(arguments)?,
        "cavalieri" => cavalieri(arguments)?,
        "khoo" => khoo(arguments)?,
        "dasilva" => dasilva(arguments)?,
        name => {
            let (known, meant) = (PAPERS.join(", "), meant(name, PAPERS));
            return Err(Failure::Usage(format!("no paper is called \"{name}\"; there are {known}{meant}")));
        }
    };
    if let Some(dir) = &arguments.out {
        write(&findings, dir)?;
    }
    if arguments.json {
        stdout::print_json(&findings.document)
    } else {
        stdout::print(describe(&findings.document, arguments.out.as_deref()))
    }
}

/// An option, and whether it was given.
type IsGiven = (&'static str, fn(&PaperArguments) -> bool);

const DAYS: IsGiven = ("--days", |arguments| arguments.days.is_some());
const FIGURE: IsGiven = ("--figure", |arguments| arguments.figure.is_some());
const PART: IsGiven = ("--part", |arguments| arguments.part.is_some());

/// Refuses options that a paper has no use for, and names those that were given.
fn refuse(arguments: &PaperArguments, options: &[IsGiven], why: &str) -> Outcome {
    let given = options.iter().filter(|(_, is_given)| is_given(arguments));
    let given: Vec<&str> = given.map(|(name, _)| *name).collect();
    if given.is_empty() { Ok(()) } else { Err(Failure::Usage(format!("{}: {why}", given.join(", ")))) }
}

fn bertasi(arguments: &PaperArguments) -> Result<Findings, Failure> {
    refuse(arguments, &[DAYS], "bertasi's figures last as long as their jobs")?;
    let figure = arguments.figure.map(|number| {
        let unknown = || Failure::Usage(format!("--figure {number}: bertasi has figures 1 to 4"));
        bertasi::FigureId::numbered(number).ok_or_else(unknown)
    });
    let experiments =
        bertasi::Experiments::new(figure.transpose()?, arguments.seeds.unwrap_or(bertasi::SEEDS));
    let findings = watched((experiments.simulations(), "simulations"), |watch| experiments.run(watch))?;
    Ok(Findings { document: findings.document(), files: findings.files() })
}

/// What was tried beside the paper's figures.
fn beside_bertasi(arguments: &PaperArguments) -> Outcome {
    refuse(arguments, &[DAYS, FIGURE], "such a part of bertasi is run whole")?;
    let seeds = arguments.seeds.unwrap_or(bertasi::SEEDS);
    let (total, conduct): (u64, bertasi::Conduct) = match arguments.part {
        Some(PaperPart::Distributed) => {
            (bertasi::distributed::simulations(seeds), bertasi::distributed::conduct)
        }
        Some(PaperPart::Readings) => (bertasi::movers::simulations(seeds), bertasi::movers::conduct),
        Some(PaperPart::Lengths) => (bertasi::learnt::simulations(seeds), bertasi::learnt::conduct),
        _ => {
            let found = "--part: bertasi has figures, distributed, readings and lengths";
            return Err(Failure::Usage(found.to_owned()));
        }
    };
    let compared = watched((total, "simulations"), |watch| conduct(seeds, watch))?;
    if let Some(dir) = &arguments.out {
        for (name, text) in compared.files() {
            files::write_text(dir, &name, &text)?;
        }
        files::write_json(dir, "compared.json", &compared)?;
    }
    if arguments.json { stdout::print_json(&compared) } else { stdout::print(compared.text()) }
}

fn dasilva(arguments: &PaperArguments) -> Result<Findings, Failure> {
    refuse(arguments, &[DAYS, PART, FIGURE], "dasilva is run whole, with --full at its size")?;
    let mut experiments =
        dasilva::Experiments::new(arguments.seeds.unwrap_or(dasilva::SEEDS), arguments.full);
    if let Some(file) = &arguments.workload {
        experiments = experiments.with_workload(Workload::load(file)?);
    }
    let run = (experiments.simulations(), dasilva::EDITION);
    let findings = kept(arguments, run, |kept, progress| experiments.run(kept, progress))?;
    Ok(Findings { document: findings.document(), files: findings.files() })
}

fn elleuch(arguments: &PaperArguments) -> Result<Findings, Failure> {
    let parts = match (arguments.figure, arguments.part) {
        (None, None) => Part::ALL.to_vec(),
        (None, Some(part)) => vec![part.of_elleuch()?],
        // Both are drawn from the same simulations.
        (Some(4 | 5), _) => vec![Part::Figures],
        (Some(number), _) => {
            let found = format!("--figure {number}: of elleuch's, figures 4 and 5 show results");
            return Err(Failure::Usage(found));
        }
    };
    let experiments = elleuch::Experiments::new(&parts, arguments.seeds.unwrap_or(elleuch::SEEDS));
    let experiments = experiments.lasting(arguments.days.unwrap_or(elleuch::DAYS));
    let run = (experiments.simulations(), elleuch::EDITION);
    let findings = kept(arguments, run, |kept, progress| experiments.run(kept, progress))?;
    let findings = match arguments.figure {
        Some(number) => findings.of_figure(number),
        None => findings,
    };
    Ok(Findings { document: findings.document(), files: findings.files() })
}

fn cavalieri(arguments: &PaperArguments) -> Result<Findings, Failure> {
    refuse(arguments, &[DAYS, FIGURE], "cavalieri has parts only, as --part figures")?;
    let parts = match arguments.part {
        None => cavalieri::Part::ALL.to_vec(),
        Some(part) => vec![part.of_cavalieri()?],
    };
    let experiments = cavalieri::Experiments::new(&parts, arguments.seeds.unwrap_or(cavalieri::SEEDS));
    let findings = watched((experiments.simulations(), "simulations"), |watch| experiments.run(watch))?;
    Ok(Findings { document: findings.document(), files: findings.files() })
}

fn khoo(arguments: &PaperArguments) -> Result<Findings, Failure> {
    refuse(arguments, &[FIGURE, DAYS, PART], "khoo has one table")?;
    let logs: Result<Vec<khoo::Log>, Failure> = arguments
        .logs
        .iter()
        .map(|file| {
            let log = gleaner_workload::logs::load(file, None)?;
            let name = file.file_name().map_or(log.name(), |name| name.to_string_lossy().into_owned());
            Ok((name, Arc::new(usable_jobs(&log))))
        })
        .collect();
    let experiments = khoo::Experiments::new(arguments.seeds, &logs?);
    let findings = watched((experiments.setups(), "setups"), |watch| experiments.run(watch))?;
    Ok(Findings { document: findings.document(), files: findings.files() })
}

impl PaperPart {
    fn of_elleuch(self) -> Result<Part, Failure> {
        match self {
            PaperPart::Figures => Ok(Part::Figures),
            PaperPart::Periods => Ok(Part::Periods),
            PaperPart::Heuristics => Ok(Part::Heuristics),
            PaperPart::Readings => Ok(Part::Readings),
            PaperPart::Machines => Ok(Part::Machines),
            PaperPart::Recommended => Ok(Part::Recommended),
            PaperPart::Stays => Ok(Part::Stays),
            PaperPart::FutureWork => Ok(Part::FutureWork),
            PaperPart::Ages | PaperPart::Distributed | PaperPart::Lengths => {
                Err(Failure::Usage("--part: elleuch has no such part".to_owned()))
            }
        }
    }

    fn of_cavalieri(self) -> Result<cavalieri::Part, Failure> {
        match self {
            PaperPart::Figures => Ok(cavalieri::Part::Figures),
            PaperPart::Readings => Ok(cavalieri::Part::Readings),
            PaperPart::Ages => Ok(cavalieri::Part::Ages),
            PaperPart::Periods
            | PaperPart::Heuristics
            | PaperPart::Machines
            | PaperPart::Recommended
            | PaperPart::Stays
            | PaperPart::FutureWork
            | PaperPart::Distributed
            | PaperPart::Lengths => {
                Err(Failure::Usage("--part: cavalieri has figures, readings and ages".to_owned()))
            }
        }
    }
}

/// A long run of so many simulations or setups, of which nothing is kept if it is stopped.
fn watched<T>(
    (total, what): (u64, &str),
    run: impl FnOnce(Watch<'_>) -> Result<T, Stopped>,
) -> Result<T, Failure> {
    let bar = progress::bar(total, what);
    let watch = || {
        bar.inc(1);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = run(&watch);
    let done = bar.position();
    bar.finish_and_clear();
    result
        .map_err(|_| Failure::Interrupted(format!("{done} of {total} {what} were done; nothing was written")))
}

/// A long run of so many simulations, each of which is kept in the folder of `--out`, as of an edition.
fn kept<T, K: Clone + Serialize + DeserializeOwned>(
    arguments: &PaperArguments,
    (total, edition): (u64, &'static str),
    run: impl FnOnce(&Kept<K>, Progress<'_>) -> Result<T, Interrupted>,
) -> Result<T, Failure> {
    let kept = match &arguments.out {
        Some(dir) => Kept::in_folder(dir, edition)?,
        None => Kept::nowhere(),
    };
    let bar = progress::bar(total, "simulations");
    let result = run(&kept, Progress { done: &|| bar.inc(1), stop: &interrupt::asked });
    let done = format!("{} of {total} simulations were done", bar.position());
    bar.finish_and_clear();
    result.map_err(|why| match (why, &arguments.out) {
        (Interrupted::Stopped, Some(dir)) => {
            Failure::Interrupted(format!("{done} and kept; go on with --out {}", dir.display()))
        }
        (Interrupted::Stopped, None) => {
            Failure::Interrupted(format!("{done}; nothing was kept, as there is no --out"))
        }
        (Interrupted::Kept(error), _) => error.into(),
    })
}

fn write(findings: &Findings, dir: &Path) -> Outcome {
    for (name, text) in &findings.files {
        files::write_text(dir, name, text)?;
    }
    files::write_json(dir, "claims.json", &findings.document)?;
    Ok(())
}
