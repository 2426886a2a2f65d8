//! Looks at the machine and at its owner, and says what changed.

use super::room::Shortage;
use crate::duties::Event;
use crate::family::family;
use crate::home::Home;
use crate::owner::{
    self, Attendance, DayMinute, FileError, Hand, Programs, Reason, Rules, Said, Verdict, WeekMinute, Word,
    decide,
};
use crate::probes::{LoadFilter, Moment, Ours, ProbeError, Sample, Sampler};
use gleaner_net::Disk;
use gleaner_units::{Span, Time};
use gleaner_wire::session::{self, Profile};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// How many more files the disk must be able to hold, or nothing new starts: a task makes some hundreds.
const FREE_FILES_MIN: u64 = 4_096;

/// What is known of machine and owner.
#[derive(Debug)]
pub(crate) struct Watch {
    home: Arc<Home>,
    sampler: Sampler,
    filter: LoadFilter,
    attendance: Attendance,
    rules: Rules,
    /// By what the file was known when it was read last.
    read_as: Option<Stamp>,
    verdict: Verdict,
    sample: Sample,
    faults: Vec<String>,
}

impl Watch {
    /// With the rules in the agent's folder, on a machine as it was `found`.
    pub(crate) fn new(home: Arc<Home>, sampler: Sampler, found: &Profile) -> Result<Self, FileError> {
        let read_as = stamp(&home.rules());
        let rules = owner::read_beside(&home.rules(), found)?;
        call_out(&rules, &home);
        let said = said_before(&home);
        let mut watch = Self {
            home,
            sampler,
            filter: LoadFilter::new(),
            attendance: Attendance::of(said),
            rules,
            read_as,
            verdict: Verdict::NoNewTasks(Reason::LoadUnknown),
            sample: Sample::default(),
            faults: Vec::new(),
        };
        watch.judge();
        Ok(watch)
    }

    /// The owner's rules in force.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The owner's rules in force where their file is gone, for whoever reads it.
    pub(crate) fn rules_without_file(&self) -> Option<Rules> {
        stamp(&self.home.rules()).is_none().then(|| self.rules.clone())
    }

    /// Reads the rules again if their file is another now; those before, if they changed. **With a mistake in it, or gone, it changes
    /// nothing**: whoever writes it may not be done.
    pub(crate) fn reread(&mut self, machine: &Profile) -> Option<Rules> {
        let found = stamp(&self.home.rules());
        if found == self.read_as {
            return None;
        }
        self.read_as = found;
        match owner::read_again(&self.home.rules(), machine) {
            Ok(rules) if rules == self.rules => None,
            Ok(rules) => {
                call_out(&rules, &self.home);
                Some(std::mem::replace(&mut self.rules, rules))
            }
            Err(why) => {
                tracing::error!(%why, "the owner's rules stay as they were");
                None
            }
        }
    }

    /// What the owner's rules allow, as of the last look.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Takes a sample; what follows from it, the most urgent first. `tasks` is what tasks have used by their cgroups.
    pub(crate) fn look(&mut self, now: Time, tasks: Option<Span>) -> Vec<Event> {
        let moment = Moment { steady: now, wall: SystemTime::now() };
        let observation = self.sampler.sample(moment, Ours { processes: &ours(), tasks });
        self.complain(&observation.faults);
        self.sample = observation.sample;
        if self.rules.programs == Programs::Ignore {
            self.sample.load = Some(0.0);
        }
        self.attendance.observe(&self.rules, now, &self.sample);
        let mut events = vec![self.judge()];
        let load = self.sample.load;
        if let Some(load) = load.and_then(|load| self.filter.observe(load, self.attendance.owner())) {
            events.push(Event::LoadChanged { load, why: "as measured".into() });
        }
        events.push(Event::Sampled(for_the_wire(&self.sample)));
        events
    }

    /// How much is free on the disk now, if tasks are to have another share of it than where so much was free.
    pub(crate) fn changed_disk(&self, known: Option<u64>) -> Option<u64> {
        let free = self.sample.free_disk?;
        known.is_none_or(|known| self.rules.has_other_disk(known, free)).then_some(free)
    }

    /// What is short on the disk now.
    pub(crate) fn shortage(&self) -> Shortage {
        let bytes = self.sample.free_disk.is_some_and(|free| free < self.rules.disk_free_min());
        let files = Disk::of(self.home.path()).is_ok_and(|disk| !disk.has_files(FREE_FILES_MIN));
        Shortage { bytes, files }
    }

    /// The owner says something.
    pub(crate) fn hear(&mut self, word: Word) -> Event {
        self.attendance.hear(word);
        self.judge()
    }

    /// What they said and have not taken back.
    pub(crate) fn said(&self) -> Said {
        self.attendance.said()
    }

    fn judge(&mut self) -> Event {
        self.verdict = decide(&self.rules, &self.attendance, &self.sample, minute_of_week(), self.verdict);
        if self.verdict == Verdict::Run && self.home.is_full_of_trouble() {
            self.verdict = Verdict::NoNewTasks(Reason::Leftovers);
        }
        if self.verdict == Verdict::Run && self.shortage().files {
            self.verdict = Verdict::NoNewTasks(Reason::DiskFull);
        }
        Event::Judged(self.verdict)
    }

    /// Says once what is wrong, and again when something else is.
    fn complain(&mut self, faults: &[ProbeError]) {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        if faults != self.faults {
            for fault in &faults {
                tracing::warn!(fault, "the machine cannot be measured in full");
            }
            self.faults = faults;
        }
    }
}

/// Whose use of the machine is the grid's, and not its owner's: this agent's with all that it runs, and that of the
/// coordinator that started it, as `gleaner up` does. What else the coordinator's process started counts as the owner's.
fn ours() -> Vec<u32> {
    let mut ours = family(std::process::id());
    ours.extend(parent().filter(|&parent| is_this_program(parent)));
    ours
}

fn parent() -> Option<u32> {
    rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// Whether a process runs the very file that this one does, whatever it is called by now.
fn is_this_program(pid: u32) -> bool {
    let file =
        |process: &str| fs::metadata(format!("/proc/{process}/exe")).map(|data| (data.dev(), data.ino()));
    let (its, ours) = (file(&pid.to_string()), file("self"));
    its.is_ok_and(|its| ours.is_ok_and(|ours| its == ours))
}

/// What of the owner's rules does nothing as the machine is now.
fn call_out(rules: &Rules, home: &Home) {
    for doubt in rules.doubts(home.path()) {
        tracing::warn!("of the owner's rules, {doubt}");
    }
}

/// What the owner said before this start. Where that cannot be read, all stands still until they say something.
fn said_before(home: &Home) -> Said {
    home.said().unwrap_or_else(|why| {
        tracing::error!(
            %why,
            "what the owner said by hand before cannot be read: tasks stand still until `gleaner owner resume`"
        );
        Said { hand: Hand::Paused, here: false }
    })
}

fn minute_of_week() -> WeekMinute {
    let now = jiff::Zoned::now();
    let day = now.weekday().to_monday_zero_offset().unsigned_abs();
    let (hour, minute) = (now.hour().unsigned_abs(), now.minute().unsigned_abs());
    DayMinute::new(hour.into(), minute.into())
        .and_then(|minute| WeekMinute::new(day, minute))
        .expect("days, hours and minutes of a week are within it")
}

/// Another one for each content that a file has had, as far as the system tells.
type Stamp = (u64, i64, i64, u64);

fn stamp(file: &Path) -> Option<Stamp> {
    let data = fs::metadata(file).ok()?;
    Some((data.ino(), data.mtime(), data.mtime_nsec(), data.len()))
}

fn for_the_wire(sample: &Sample) -> session::Sample {
    session::Sample {
        load: sample.load.unwrap_or(0.0),
        free_memory: sample.free_memory,
        free_disk: sample.free_disk,
        cpu_pressure: sample.pressure.cpu,
        memory_pressure: sample.pressure.memory,
        io_pressure: sample.pressure.io,
        temperature: sample.temperature,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_parent_of_the_same_program_is_the_grids() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (is_child, is_self) = (is_this_program(child.id()), is_this_program(std::process::id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_self && !is_child);
        // Whoever runs the tests is another program.
        assert!(!ours().contains(&parent().unwrap()));
    }

    #[test]
    fn what_the_owner_said_holds_over_starts_until_they_take_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let domain = crate::probes::Domain::detect(&crate::probes::Root::new("/")).unwrap();
        let start = || {
            let home = Arc::new(Home::open(folder.path()).unwrap());
            let sampler = Sampler::new(domain.clone(), folder.path());
            Watch::new(home, sampler, &Profile::new([1.0; 3], 1)).unwrap()
        };
        let unknown = Verdict::NoNewTasks(Reason::LoadUnknown);
        let here = Verdict::Suspend(Reason::OwnerHere(owner::Sign::ByHand));
        for (word, verdict) in [
            (Word::Pause, Verdict::Suspend(Reason::Paused)),
            (Word::Here, Verdict::Suspend(Reason::Paused)),
            (Word::Resume, here),
            (Word::Away, unknown),
            (Word::Drain, Verdict::NoNewTasks(Reason::Draining)),
            (Word::Evict, Verdict::NoNewTasks(Reason::Draining)),
            (Word::Resume, unknown),
        ] {
            let mut watch = start();
            watch.hear(word);
            watch.home.remember_said(watch.said()).unwrap();
            drop(watch);
            assert_eq!(start().verdict(), verdict, "{word:?}");
        }
        // Whoever cannot read what was said last takes it for the most careful word.
        fs::write(folder.path().join("by_hand.json"), "{\"hand\": \"pau").unwrap();
        assert_eq!(start().verdict(), Verdict::Suspend(Reason::Paused));
    }

    #[test]
    fn rules_are_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(folder.path()).unwrap());
        let path = home.rules();
        let domain = crate::probes::Domain::detect(&crate::probes::Root::new("/")).unwrap();
        let mut machine = Profile::new([1.0; 3], 1);
        let mut watch = Watch::new(home, Sampler::new(domain, folder.path()), &machine).unwrap();
        machine.attributes.insert("Requirements".to_owned(), "x".repeat(15_000));
        let many = format!("users = [\"{}\"]", vec!["a".repeat(100); 40].join("\", \""));
        for (text, changed, idle_seconds) in [
            (None, false, 60),
            (Some("idle_seconds = 10"), true, 10),
            (Some("idle_seconds = 10"), false, 10),
            (Some("idle_second = 1"), false, 10),
            (Some(many.as_str()), false, 10),
            (Some("users = [\"a b\"]"), false, 10),
            (Some(""), false, 10),
            (Some("idle_seconds = 300"), true, 300),
        ] {
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            assert_eq!(
                (watch.reread(&machine).is_some(), watch.rules().idle_seconds),
                (changed, idle_seconds),
                "{text:?}"
            );
        }
        assert_eq!(watch.rules_without_file(), None);
        fs::remove_file(&path).unwrap();
        for _ in 0..2 {
            assert_eq!(watch.rules_without_file().map(|rules| rules.idle_seconds), Some(300));
            assert_eq!((watch.reread(&machine).is_some(), watch.rules().idle_seconds), (false, 300));
        }
        fs::write(&path, "idle_seconds = 20").unwrap();
        assert_eq!((watch.reread(&machine).is_some(), watch.rules().idle_seconds), (true, 20));
    }
}
