//! `gleaner watch`: what happens, a line each.

use crate::api::Api;
use crate::cli::WatchArguments;
use crate::columns::shown;
use crate::failure::Failure;
use crate::moments::clock;
use crate::{Outcome, lasting, stdout, which};
use gleaner_net::Events;
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, LiveEvent, TaskPhase};
use serde_json::json;

pub(crate) fn run(arguments: &WatchArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let job = arguments.job.as_ref().map(|named| which::one_job(&grid, named)).transpose()?;
    if let Some(view) = job.map(|job| grid.job(job)).transpose()?.filter(|view| view.tasks.open() == 0) {
        return over(&view, arguments.grid.json);
    }
    let mut events = grid.events(job)?;
    loop {
        if show(events, arguments.grid.json)? {
            return Ok(());
        }
        if lasting::ask(|| is_over(&grid, job))? {
            return Ok(());
        }
        events = lasting::ask(|| grid.events(job))?;
        if arguments.grid.json {
            // How many, nobody counted.
            if stdout::print_more(stdout::json_line(&json!({ "version": 1, "missed": null })))? {
                return Ok(());
            }
        } else {
            anstream::eprintln!(
                "-- the coordinator was away; what happened meanwhile is in `gleaner history` --"
            );
        }
    }
}

/// Prints what comes until the stream ends, as that of one job does when the job is over; or until nobody reads it any more, and whether
/// that is so.
fn show(events: Events, as_json: bool) -> Result<bool, Failure> {
    for event in events {
        let event = match event {
            Err(why) if lasting::is_away(&why) => return Ok(false),
            event => event?,
        };
        if event.event == "missed" {
            let missed: u64 = event.data.parse().unwrap_or(0);
            if !as_json {
                anstream::eprintln!("-- {missed} events were left out: this was not read fast enough --");
            } else if stdout::print_more(stdout::json_line(&json!({ "version": 1, "missed": missed })))? {
                return Ok(true);
            }
            continue;
        }
        let Ok(happened) = serde_json::from_str::<LiveEvent>(&event.data) else { continue };
        let text = if as_json {
            let mut document = json!(happened);
            document["version"] = json!(1);
            stdout::json_line(&document)
        } else {
            line(&happened)
        };
        if stdout::print_more(text)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Of a job that is over nothing happens any more: that is said, as one event.
fn over(job: &JobView, as_json: bool) -> Outcome {
    if !as_json {
        anstream::eprintln!("job {0} is over: `gleaner history {0}` says what happened", job.job);
        return Ok(());
    }
    let (at_s, text) = (job.ended_s.unwrap_or(job.submitted_s), format!("over: {}", job.state.name()));
    let event = LiveEvent { at_s, job: Some(job.job), task: None, machine: None, phase: None, text };
    let mut document = json!(event);
    document["version"] = json!(1);
    stdout::print_json(&document)
}

fn is_over(grid: &Api, job: Option<JobId>) -> Result<bool, Failure> {
    job.map_or(Ok(false), |job| Ok(grid.job(job)?.tasks.open() == 0))
}

fn line(event: &LiveEvent) -> String {
    let task = match (event.job, event.task) {
        (Some(job), Some(task)) => format!("{job}/{task}"),
        (Some(job), None) => job.to_string(),
        (None, _) => String::new(),
    };
    let phase = event.phase.map_or("", TaskPhase::name);
    let machine = event.machine.as_deref().unwrap_or_default();
    let text = shown(&event.text, 200);
    let line = format!("{}  {task:<10}  {phase:<9}  {machine:<12}  {text}", clock(event.at_s));
    line.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_line() {
        let event = LiveEvent {
            at_s: 0.0,
            job: Some(JobId(7)),
            task: Some(3),
            machine: Some("lab1".into()),
            phase: Some(TaskPhase::Running),
            text: "started".into(),
        };
        let text = line(&event);
        assert!(text.ends_with("  7/3         running    lab1          started\n"), "{text}");
    }
}
