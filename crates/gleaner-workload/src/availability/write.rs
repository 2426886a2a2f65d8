use super::read::COLUMNS;
use super::statistics::Statistics;
use gleaner_sim::Trace;
use gleaner_units::Time;
use std::fmt;
use std::io::{self, Write};

/// Writes the table that [`load`](super::load) reads. Times come back to the nanosecond up to 48 days, speeds to the bit.
pub fn write(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    let mut numbers = vec![0_u64; trace.machines().len()];
    for (index, interval) in trace.intervals().iter().enumerate() {
        let machine = interval.machine as usize;
        numbers[machine] += 1;
        let (name, number) = (Field(trace.machines().id(machine)), numbers[machine]);
        let pieces = trace.pieces(index);
        let ends = pieces[1..].iter().map(|next| next.from).chain([interval.until]);
        for (piece, until) in pieces.iter().zip(ends) {
            let (from, until) = (Seconds(piece.from), Seconds(until));
            writeln!(out, "{name},{number},{from},{until},{}", piece.speed)?;
        }
    }
    Ok(())
}

/// Writes the table of machines that a scenario needs beside the trace: all have a core, and the speed that all have on
/// average.
pub fn write_machines(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let speed = Statistics::of(trace).speed_mean.round();
    writeln!(out, "id,ops")?;
    trace.machines().iter().try_for_each(|name| writeln!(out, "{},{speed}", Field(name)))
}

/// A moment without the zeros that say nothing.
struct Seconds(Time);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A name as CSV has it: quoted where it must be.
struct Field<'a>(&'a str);

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains([',', '"']) {
            write!(f, "\"{}\"", self.0.replace('"', "\"\""))
        } else {
            f.write_str(self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use super::*;
    use crate::ids::UniqueIds;
    use gleaner_sim::{Draft, Piece};
    use proptest::prelude::*;

    /// Intervals of a few machines with odd names, by the lengths of their breaks and pieces in milliseconds.
    fn trace() -> impl Strategy<Value = Trace> {
        let piece = (1_u64..5_000_000, prop_oneof![Just(0.0), 1e-9..99_000.0, Just(1e-9), Just(1e18)]);
        let interval = (0_u64..5_000_000, prop::collection::vec(piece, 1..5));
        let machine = ("[a-z,\" ]{0,4}", prop::collection::vec(interval, 1..4));
        prop::collection::vec(machine, 1..6).prop_map(|machines| {
            let (mut ids, mut drafts) = (UniqueIds::default(), Vec::new());
            for (index, (name, intervals)) in machines.into_iter().enumerate() {
                assert!(ids.insert(format!("{name}{index}").trim()));
                let mut now = Time::ZERO;
                let later = |now: Time, millis: u64| Time::from_nanos(now.nanos() + millis * 1_000_000);
                for (away, pieces) in intervals {
                    now = later(now, away);
                    let mut draft = Draft::new(index as u32, now);
                    for (length, speed) in pieces {
                        now = later(now, length);
                        draft.go_on(now, speed);
                    }
                    drafts.push(draft);
                }
            }
            Trace::of(ids.into_ids(), drafts)
        })
    }

    /// By name, since a reader counts machines in the order in which it meets them.
    fn by_name(trace: &Trace) -> Vec<(String, Time, Time, Vec<Piece>)> {
        let intervals = trace.intervals().iter().enumerate();
        let mut all: Vec<_> = intervals
            .map(|(index, interval)| {
                let name = trace.machines().id(interval.machine as usize).to_owned();
                (name, interval.from, interval.until, trace.pieces(index).to_vec())
            })
            .collect();
        all.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        all
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(trace in trace()) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("trace.csv");
            let mut bytes = Vec::new();
            write(&trace, &mut bytes).expect("memory takes it");
            std::fs::write(&path, &bytes).expect("written");
            let read = load(&path).expect("what was written");
            prop_assert_eq!(by_name(&read), by_name(&trace));
            let mut again = Vec::new();
            write(&read, &mut again).expect("memory takes it");
            // The order of machines that come at one moment is the reader's own from the first time on.
            let reread = { std::fs::write(&path, &again).expect("written"); load(&path).expect("again") };
            prop_assert_eq!(read, reread);
        }
    }
}
