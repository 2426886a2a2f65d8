//! What users used in the last day, as far as machines are believed.

use super::small::{JOB, Small, all, end, one, only};
use gleaner_server::day::Day;
use gleaner_server::desk::{Input, Order, SessionId};
use gleaner_server::journal::{Entry, Fact};
use gleaner_units::{RunId, TaskId};
use gleaner_wire::session::{End, FromAgent, Outcome, Usage};

/// The last day of a desk.
struct Told {
    small: Small,
    day: Day,
    /// How many facts it was told of.
    facts: usize,
}

impl Told {
    fn of(small: Small) -> Self {
        let mut told = Self { small, day: Day::default(), facts: 0 };
        told.read();
        told
    }

    fn read(&mut self) {
        for fact in &self.small.all[self.facts..] {
            let entry = Entry { at: self.small.now, fact: fact.clone() };
            self.day.read(self.small.desk.ledger(), &entry);
        }
        self.facts = self.small.all.len();
    }

    /// A machine says that the first run was 8 s long; nobody waits for that.
    fn is_refused(&mut self, session: SessionId) {
        let usage = Usage { elapsed_s: 8.0, ..Usage::default() };
        let end = End { usage, ..end(&Outcome::Exited { code: 0 }) };
        let said = Input::said(session, FromAgent::Ended { run: one(), end }).expect("a machine");
        self.small.put(vec![said]);
        assert!(self.small.facts.iter().any(is_refusal), "{:?}", self.small.facts);
    }

    /// How many runs, and how many seconds of cores.
    fn used(&self) -> Option<(u64, f64)> {
        let list = self.day.usages(None, self.small.now);
        list.users.first().map(|user| (user.runs, user.wasted_core_s))
    }
}

fn is_refusal(fact: &Fact) -> bool {
    matches!(fact, Fact::ResultRefused { .. })
}

#[test]
fn what_a_machine_says_of_runs_that_it_never_had_is_nobodys_use() {
    let mut told = Told::of(Small::running());
    let other = told.small.joined_by_another();
    told.small.now = told.small.now.after_seconds(20.0);
    told.is_refused(other);
    told.read();
    assert_eq!(told.used(), None);
    let runs = told.day.runs(None, 9, told.small.now).runs;
    assert_eq!(runs.iter().filter(|run| run.to_s.is_none()).count(), 2, "both go on: {runs:?}");
}

#[test]
fn what_a_lost_run_used_counts_once_though_its_end_does_not() {
    let mut told = Told::of(Small::running());
    told.small.lose();
    told.small.order(Order::Cancel(JOB, only(0)));
    told.small.connect(1);
    told.is_refused(SessionId(told.small.sessions));
    told.read();
    assert_eq!(told.used(), Some((1, 8.0)));
    // Of what is retired nobody knows any more that it was told.
    told.facts = told.small.all.iter().rposition(is_refusal).expect("it was refused");
    told.read();
    assert_eq!(told.used(), Some((1, 8.0)));
}

/// One of two runs began, and both are stopped.
#[test]
fn users_and_jobs_have_the_same_runs_those_that_began() {
    let mut told = Told::of(Small::ordered());
    let stopped = |elapsed_s| {
        let usage = Usage { elapsed_s, ..Usage::default() };
        End { usage, ..end(&Outcome::Stopped) }
    };
    let ends = |told: &mut Told, run, elapsed_s| {
        told.small.say(FromAgent::Ended { run, end: stopped(elapsed_s) });
        told.read();
    };
    let other = RunId::new(TaskId::new(1), 1);
    told.small.say(FromAgent::Started(other));
    told.small.order(Order::Cancel(JOB, all()));
    told.read();
    ends(&mut told, one(), 0.0);
    assert_eq!(told.used(), None, "it was given back before it began");
    ends(&mut told, other, 8.0);
    let list = told.day.usages(None, told.small.now);
    assert_eq!((list.users[0].runs, list.jobs[0].runs), (1, 1), "{list:?}");
    assert_eq!(list.jobs[0].time_mean_s, 0.0, "how long it takes is known of none");
}
