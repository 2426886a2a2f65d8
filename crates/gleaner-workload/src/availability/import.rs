//! Event files of the Failure Trace Archive: `event_trace.tab`.
//!
//! A line is an event, its fields parted by tabs: `event_id`, `component_id`, `node_id`, `platform_id`, `node_name`,
//! `event_type` (1: the node is available, 0: it is not; others are a data set's own), `event_start_time` and
//! `event_end_time` in seconds of the epoch, `event_end_reason`. Lines that begin with `#` are comments. Events of
//! several nodes may be mixed, and those of one come in any order. A node that is available twice without a break was
//! there all the time. The archive says nothing of speeds here: all are taken to be one.

use crate::InputError;
use crate::error::{Place, quoted};
use crate::ids::UniqueIds;
use crate::lines::{Lines, NamedBy};
use gleaner_sim::{Draft, Trace};
use gleaner_units::Time;
use std::path::Path;

const FIELDS: [&str; 8] = [
    "event_id",
    "component_id",
    "node_id",
    "platform_id",
    "node_name",
    "event_type",
    "event_start_time",
    "event_end_time",
];
const COMPONENT: usize = 1;
const NODE: usize = 2;
const TYPE: usize = 5;
const START: usize = 6;
const END: usize = 7;
/// As for the tables.
const EVENTS_MAX: usize = 100_000_000;

/// How an event file is taken.
#[derive(Clone, PartialEq, Debug)]
pub struct Import {
    /// How fast every machine is, in operations a second.
    pub speed: f64,
    /// Only events of this component; none takes all, which is right where each node has one.
    pub component: Option<String>,
}

impl Import {
    /// Reads the file at `path`. The first event begins at 0.
    ///
    /// # Panics
    /// If the speed is negative or not finite.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Trace, InputError> {
        assert!(self.speed.is_finite() && self.speed >= 0.0, "a speed of {}", self.speed);
        let path = path.as_ref();
        let mut lines = Lines::open(path, NamedBy::Hand(path))?;
        let (file, mut nodes, mut events) = (lines.file().clone(), UniqueIds::default(), Vec::new());
        while let Some(line) = lines.next()? {
            if line.text.starts_with('#') {
                continue;
            }
            let place = file.at_line(line.number);
            let event = self.event(&place, line.number, line.text, &mut nodes)?;
            events.extend(event);
            if events.len() > EVENTS_MAX {
                return Err(place.error("", format!("more than {EVENTS_MAX} events"), "a smaller file"));
            }
        }
        if events.is_empty() {
            return Err(file.error("", "no event that makes a node available", "lines with event_type 1"));
        }
        self.trace(&file, nodes, events)
    }

    /// None for what does not make a node available.
    fn event(
        &self,
        place: &Place,
        line: u64,
        text: &str,
        nodes: &mut UniqueIds,
    ) -> Result<Option<Available>, InputError> {
        let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
        if fields.len() < FIELDS.len() {
            let found = format!("{} fields parted by tabs", fields.len());
            return Err(place.error("", found, format!("at least {}: {}", FIELDS.len(), FIELDS.join(", "))));
        }
        let wrong = |at: usize, expected: &str| place.error(FIELDS[at], quoted(fields[at]), expected);
        let kind: u32 = fields[TYPE].parse().map_err(|_| wrong(TYPE, "a whole number: 1 where available"))?;
        let other = self.component.as_deref().is_some_and(|component| component != fields[COMPONENT]);
        if kind != 1 || other {
            return Ok(None);
        }
        let seconds = |at: usize| {
            let seconds =
                fields[at].parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
            seconds.ok_or_else(|| wrong(at, "seconds of the epoch as a finite number, 0 or more"))
        };
        let (start, end) = (seconds(START)?, seconds(END)?);
        if end < start {
            return Err(wrong(END, &format!("{start} or more, where the event begins")));
        }
        if fields[NODE].is_empty() {
            return Err(wrong(NODE, "a name"));
        }
        nodes.insert(fields[NODE]);
        let node = nodes.find(fields[NODE]).expect("it was inserted");
        Ok(Some(Available { node, start, end, line }))
    }

    fn trace(&self, file: &Place, nodes: UniqueIds, mut events: Vec<Available>) -> Result<Trace, InputError> {
        events.sort_by(|one, other| one.node.cmp(&other.node).then(one.start.total_cmp(&other.start)));
        let zero = events.iter().map(|event| event.start).fold(f64::INFINITY, f64::min);
        let mut drafts: Vec<Draft> = Vec::new();
        for event in &events {
            let place = || file.at_line(event.line);
            let time = |seconds: f64| {
                let late =
                    || place().error("", format!("{seconds} seconds"), "times less than 580 years apart");
                Time::from_seconds(seconds - zero).ok_or_else(late)
            };
            let (from, until) = (time(event.start)?, time(event.end)?);
            let before = drafts.last_mut().filter(|draft| draft.machine as usize == event.node);
            match before {
                Some(before) if from < before.until => {
                    let expected = format!(
                        "{zero} + {} or more, where an event of this node ends; of a node with several components \
                         take one",
                        before.until
                    );
                    return Err(place().error(FIELDS[START], event.start.to_string(), expected));
                }
                _ if until == from => {}
                Some(before) if from == before.until => before.go_on(until, self.speed),
                Some(_) | None => {
                    let mut draft = Draft::new(event.node as u32, from);
                    draft.go_on(until, self.speed);
                    drafts.push(draft);
                }
            }
        }
        Ok(Trace::of(nodes.into_ids(), drafts))
    }
}

/// A node is available.
#[derive(Clone, Copy, Debug)]
struct Available {
    node: usize,
    start: f64,
    end: f64,
    line: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(text: &str, component: Option<&str>) -> Result<Trace, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("event_trace.tab");
        std::fs::write(&path, text.replace(' ', "\t")).expect("written");
        let import = Import { speed: 100.0, component: component.map(str::to_owned) };
        import.read(&path).map_err(|error| {
            let line = error.line.map(|line| line.to_string()).unwrap_or_default();
            format!("{line} {}: {}", error.field, error.found)
        })
    }

    /// As `machine from until`, in order.
    fn intervals(trace: &Trace) -> Vec<String> {
        let intervals = trace.intervals().iter();
        intervals
            .map(|interval| {
                let name = trace.machines().id(interval.machine as usize);
                format!("{name} {} {}", interval.from.seconds(), interval.until.seconds())
            })
            .collect()
    }

    #[test]
    fn availability_is_taken_and_what_touches_is_one_interval() {
        let text = "# event_id component_id node_id platform_id node_name event_type event_start_time \
                    event_end_time event_end_reason\n\
                    1 0 7 1 a 1 1000 1100 NULL\n\
                    2 0 7 1 a 0 1100 1200 0\n\
                    5 0 9 1 b 1 1050.5 1300 0\n\
                    4 0 7 1 a 1 1300 1400 0\n\
                    3 0 7 1 a 1 1200 1300 0\n\
                    6 1 7 1 a 1 1000 1400 0\n";
        let trace = import(text, Some("0")).expect("a trace");
        assert_eq!(intervals(&trace), ["7 0 100", "9 50.5 300", "7 200 400"]);
        assert_eq!(trace.ops_in(0), 100.0 * 100.0);
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_field() {
        let good = "1 0 7 1 a 1 1000 1100 0\n";
        let cases = [
            ("1 0 7 1 a 1 1000\n", "2 : 7 fields parted by tabs"),
            ("1 0 7 1 a up 1000 1100 0\n", "2 event_type: \"up\""),
            ("1 0 7 1 a 1 NULL 1100 0\n", "2 event_start_time: \"NULL\""),
            ("1 0 7 1 a 1 1200 NaN 0\n", "2 event_end_time: \"NaN\""),
            ("1 0 7 1 a 1 1200 1100 0\n", "2 event_end_time: \"1100\""),
            ("1 0 7 1 a 1 1050 1200 0\n", "2 event_start_time: 1050"),
        ];
        for (line, expected) in cases {
            assert_eq!(import(&format!("{good}{line}"), None), Err(expected.to_owned()), "{line}");
        }
        assert_eq!(
            import("1 0 7 1 a 0 1000 1100 0\n", None),
            Err(" : no event that makes a node available".to_owned())
        );
    }
}
