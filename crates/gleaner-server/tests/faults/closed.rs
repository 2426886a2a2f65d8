//! Who closed a machine, and since when, for users who wait for it.

use super::small::Small;
use gleaner_server::desk::{Administration, Admitted, JobFiles, Order};
use gleaner_server::view::{Fetched, Known};
use gleaner_units::TaskId;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::FromAgent;

/// The machine takes no tasks from the tenth second on, and a task waits for it.
fn closed() -> Small {
    let mut small = Small::running();
    small.at(10.0).say(FromAgent::Open { open: false, why: "the owner's hours".to_owned() });
    let job = Admitted::check(JobSpec::new(["true"])).expect("a job");
    small.order(Order::Submit { job, key: None, files: JobFiles::default() });
    small
}

fn drain(small: &mut Small, open: bool, why: &str) {
    let why = Some(why.to_owned());
    small.order(Order::Administer(Administration::SetOpen { machine: "m".into(), open, why }));
}

fn pause(small: &mut Small, paused: bool) {
    small.order(Order::Administer(Administration::SetPaused { machine: "m".into(), paused }));
}

/// Why the task waits, with what everybody's words have in common left out.
fn waits(small: &Small) -> String {
    let fetched = Fetched::default();
    let known = Known::new(&small.desk, &fetched);
    let view = gleaner_server::view::explain(&known, small.now, TaskId::new(2)).expect("it is in memory");
    let told = view.summary.strip_prefix("it waits for m, which takes no tasks now: ");
    told.unwrap_or_else(|| panic!("{}", view.summary)).replace("1970-01-01 00:00:", "")
}

/// Whoever closed it last was said to have done so when the first did, and of two orders one was told.
#[test]
fn each_who_closes_a_machine_is_told_with_their_own_time() {
    let mut small = closed();
    assert_eq!(waits(&small), "the owner's hours, since 10 UTC");
    drain(small.at(20.0), false, "disk swap");
    assert_eq!(waits(&small), "closed by user root: disk swap, since 20 UTC");
    drain(small.at(25.0), false, "disk swap");
    assert_eq!(waits(&small), "closed by user root: disk swap, since 20 UTC");
    drain(small.at(30.0), false, "it is broken");
    assert_eq!(waits(&small), "closed by user root: it is broken, since 30 UTC");
    pause(small.at(40.0), true);
    let both = "paused by user root, since 40 UTC; closed by user root: it is broken, since 30 UTC";
    assert_eq!(waits(&small), both);
    let shown = gleaner_server::view::machines(&small.desk).machines.swap_remove(0).why;
    assert_eq!(shown.as_deref(), Some("paused by user root; closed by user root: it is broken"));
    pause(&mut small, false);
    drain(&mut small, true, "");
    assert_eq!(waits(&small), "the owner's hours, since 10 UTC");
}
