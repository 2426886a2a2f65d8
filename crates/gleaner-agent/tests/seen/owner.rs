//! The owner's rules as tables.

use gleaner_agent::owner::{
    Attendance, DISK_FREE_MIN, DayMinute, Owner, Programs, Reason, Rules, Sessions, Sign, Verdict,
    WeekMinute, Word, decide,
};
use gleaner_agent::probes::Sample;
use gleaner_units::{Span, Time};
use proptest::prelude::*;

/// A machine of four cores on which nothing happens.
fn quiet() -> Sample {
    Sample { load: Some(0.0), cores: 4.0, ..Sample::default() }
}

fn busy(load: f64) -> Sample {
    Sample { load: Some(load), ..quiet() }
}

fn typed(seconds_ago: f64) -> Sample {
    Sample { session_idle: Span::from_seconds(seconds_ago), ..quiet() }
}

/// A Monday's.
fn at(hour: u16, minute: u16) -> WeekMinute {
    WeekMinute::new(0, DayMinute::new(hour, minute).unwrap()).unwrap()
}

fn noon() -> WeekMinute {
    at(12, 0)
}

/// What each step leaves the owner as: `H` here by hand, `S` by a session, `P` by programs, `-` away. A step is a
/// second's number and what was sampled then, or a word.
fn attend(rules: &Rules, steps: &str) -> String {
    let mut attendance = Attendance::new();
    let shown = steps.split(", ").map(|step| {
        match step.split_once(' ') {
            None => attendance.hear(word(step)),
            Some((second, sampled)) => {
                let now = Time::from_seconds(second.parse().unwrap()).unwrap();
                attendance.observe(rules, now, &sample(sampled));
            }
        }
        match attendance.owner() {
            Owner::Away => '-',
            Owner::Here(Sign::ByHand) => 'H',
            Owner::Here(Sign::Session) => 'S',
            Owner::Here(Sign::Programs) => 'P',
        }
    });
    shown.collect()
}

fn word(word: &str) -> Word {
    match word {
        "here" => Word::Here,
        "away" => Word::Away,
        "pause" => Word::Pause,
        "drain" => Word::Drain,
        "resume" => Word::Resume,
        _ => panic!("no word {word}"),
    }
}

fn sample(sampled: &str) -> Sample {
    match sampled.split_once(' ') {
        None if sampled == "quiet" => quiet(),
        None if sampled == "unknown" => Sample { load: None, ..quiet() },
        Some(("busy", load)) => busy(load.parse().unwrap()),
        Some(("typed", ago)) => typed(ago.parse().unwrap()),
        _ => panic!("no sample {sampled}"),
    }
}

#[test]
fn the_owner_is_back_at_once_and_away_only_after_a_while() {
    let table = [
        ("0 unknown, 1 quiet", "--"),
        ("here, 1 quiet, 999 quiet, away", "HHH-"),
        ("1 typed 0, 60 typed 59, 61 typed 60, 119 typed 118, 120 typed 119", "SSSS-"),
        ("1 typed 59, 2 typed 60", "SS"),
        ("1 typed 60", "-"),
        ("1 busy 0.125, 2 quiet, 60 quiet, 61 quiet", "PPP-"),
        ("1 busy 0.124", "-"),
        ("1 busy 0.5, 40 busy 0.5, 99 quiet, 100 quiet", "PPP-"),
        ("1 busy 0.5, here, away, 2 quiet, 3 busy 0.5", "PH--P"),
        ("1 typed 0, 2 busy 1", "SP"),
        ("pause, drain, resume", "---"),
    ];
    for (steps, expected) in table {
        assert_eq!(attend(&Rules::default(), steps), expected, "{steps}");
    }
}

#[test]
fn the_owner_configures_what_counts() {
    let table = [
        (Rules { sessions: Sessions::Ignore, ..Rules::default() }, "1 typed 0, 2 busy 0.5", "-P"),
        // A terminal says of who types all the time that they did up to eight seconds ago.
        (
            Rules { idle_seconds: 5, ..Rules::default() },
            "1 typed 4, 2 typed 8.9, 6 typed 9, 7 typed 10",
            "SSS-",
        ),
        (Rules { idle_seconds: 0, ..Rules::default() }, "1 typed 0, 9 typed 8, 10 typed 9", "SS-"),
        (Rules { busy_cores: 0.1, ..Rules::default() }, "1 busy 0.03", "P"),
        // Half of four cores, but a quarter is as much as may be asked.
        (Rules { busy_cores: 2.0, ..Rules::default() }, "1 busy 0.24, 2 busy 0.25", "-P"),
    ];
    for (rules, steps, expected) in table {
        assert_eq!(attend(&rules, steps), expected, "{steps}");
    }
}

#[test]
fn a_sign_that_the_rules_no_longer_watch_is_none() {
    let unwatched = |rules: Rules, sampled: &str| {
        let mut attendance = Attendance::new();
        let at = |second: f64| Time::from_seconds(second).unwrap();
        attendance.observe(&Rules::default(), at(1.0), &sample(sampled));
        attendance.observe(&rules, at(2.0), &sample("quiet"));
        attendance.owner()
    };
    let no_programs = Rules { programs: Programs::Ignore, ..Rules::default() };
    let no_sessions = Rules { sessions: Sessions::Ignore, ..Rules::default() };
    for (rules, sampled, expected) in [
        (&no_programs, "busy 1", Owner::Away),
        (&no_programs, "typed 0", Owner::Here(Sign::Session)),
        (&no_sessions, "typed 0", Owner::Away),
        (&no_sessions, "busy 1", Owner::Here(Sign::Programs)),
    ] {
        assert_eq!(unwatched(rules.clone(), sampled), expected, "{sampled} under {rules:?}");
    }
}

#[test]
fn on_a_small_share_of_a_core_the_owner_is_seen_too() {
    let sample = Sample { load: Some(0.25), cores: 0.25, ..Sample::default() };
    let mut attendance = Attendance::new();
    attendance.observe(&Rules::default(), Time::ZERO, &sample);
    assert_eq!(attendance.owner(), Owner::Here(Sign::Programs));
}

fn strict() -> Rules {
    Rules {
        temperature_max: Some(80.0),
        hours: Some(vec!["18:00-07:00".parse().unwrap()]),
        ..Rules::default()
    }
}

/// Everything that speaks against tasks at once, in the order in which it counts; each line takes one away.
#[test]
fn of_several_reasons_the_first_counts() {
    let all = Sample { load: Some(1.0), temperature: Some(80.0), on_battery: Some(true), ..typed(0.0) };
    let cool = Sample { temperature: Some(79.9), ..all.clone() };
    let plugged_in = Sample { on_battery: Some(false), ..cool.clone() };
    let alone = Sample { session_idle: None, ..plugged_in.clone() };
    let night = at(23, 0);
    let ignore = |rules: Rules| Rules { sessions: Sessions::Ignore, busy_cores: 99.0, ..rules };
    let mild = Rules { suspend_on_return: false, ..strict() };
    let table = [
        (strict(), "here pause", &all, noon(), Verdict::Suspend(Reason::Paused)),
        (mild.clone(), "here drain", &all, noon(), Verdict::Suspend(Reason::OwnerHere(Sign::ByHand))),
        (strict(), "drain", &all, noon(), Verdict::Suspend(Reason::OwnerHere(Sign::Session))),
        (mild.clone(), "drain", &all, noon(), Verdict::Suspend(Reason::TooHot)),
        (mild.clone(), "drain", &cool, noon(), Verdict::Suspend(Reason::OnBattery)),
        (mild.clone(), "drain", &plugged_in, noon(), Verdict::Suspend(Reason::OutsideHours)),
        (mild.clone(), "drain", &plugged_in, night, Verdict::NoNewTasks(Reason::OwnerHere(Sign::Session))),
        (mild, "drain", &alone, night, Verdict::NoNewTasks(Reason::OwnerHere(Sign::Programs))),
        (ignore(strict()), "drain", &busy(0.2), night, Verdict::NoNewTasks(Reason::Draining)),
        (ignore(strict()), "", &busy(0.2), night, Verdict::Run),
        (ignore(strict()), "pause resume here away", &busy(0.2), night, Verdict::Run),
    ];
    for (line, (rules, words, sample, minute, expected)) in table.into_iter().enumerate() {
        let mut attendance = Attendance::new();
        for said in words.split_whitespace() {
            attendance.hear(word(said));
        }
        attendance.observe(&rules, Time::ZERO, sample);
        let verdict = decide(&rules, &attendance, sample, minute, Verdict::Run);
        assert_eq!(verdict, expected, "line {line}");
    }
}

#[test]
fn the_load_keeps_new_tasks_away() {
    let table = [
        (Some(0.0), Verdict::Run),
        (Some(0.49), Verdict::Run),
        (Some(0.5), Verdict::NoNewTasks(Reason::LoadTooHigh)),
        (None, Verdict::NoNewTasks(Reason::LoadUnknown)),
    ];
    for (load, expected) in table {
        let sample = Sample { load, ..quiet() };
        let verdict = decide(&Rules::default(), &Attendance::new(), &sample, noon(), Verdict::Run);
        assert_eq!(verdict, expected, "{load:?}");
    }
}

#[test]
fn a_full_disk_keeps_new_tasks_away() {
    let full = Verdict::NoNewTasks(Reason::DiskFull);
    for (free_disk, expected) in
        [(None, Verdict::Run), (Some(DISK_FREE_MIN), Verdict::Run), (Some(DISK_FREE_MIN - 1), full)]
    {
        let sample = Sample { free_disk, ..quiet() };
        let verdict = decide(&Rules::default(), &Attendance::new(), &sample, noon(), Verdict::Run);
        assert_eq!(verdict, expected, "{free_disk:?}");
    }
}

#[test]
fn a_disk_that_the_owner_keeps_free_is_called_by_its_rule_and_both_numbers() {
    let rules = Rules { disk_free_min_gb: Some(100.0), ..Rules::default() };
    let mut verdict = Verdict::Run;
    for (free, expected) in [
        (20_340_000_000, "20.3"),
        // What is told is recorded: little changes tell nothing new.
        (16_000_000_000, "20.3"),
        (15_000_000_000, "15"),
        (99_960_000_000, "100"),
        (400_000_000, "0.4"),
    ] {
        let sample = Sample { free_disk: Some(free), ..quiet() };
        verdict = decide(&rules, &Attendance::new(), &sample, noon(), verdict);
        let expected = format!(
            "no new tasks: about {expected} GB are free on its disk, and the owner keeps 100 GB free (disk_free_min_gb)"
        );
        assert_eq!(verdict.to_string(), expected);
    }
}

#[test]
fn a_hot_machine_must_cool() {
    let rules = Rules { temperature_max: Some(80.0), ..Rules::default() };
    let hot = Verdict::Suspend(Reason::TooHot);
    let mut verdict = Verdict::Run;
    for (degrees, expected) in
        [(79.9, Verdict::Run), (80.0, hot), (75.0, hot), (74.9, Verdict::Run), (79.9, Verdict::Run)]
    {
        let sample = Sample { temperature: Some(degrees), ..quiet() };
        verdict = decide(&rules, &Attendance::new(), &sample, noon(), verdict);
        assert_eq!(verdict, expected, "{degrees}");
    }
}

#[test]
fn a_verdict_says_why() {
    let table = [
        (Verdict::Run, "tasks run"),
        (Verdict::Suspend(Reason::OwnerHere(Sign::Session)), "suspended: somebody is logged in and not idle"),
        (Verdict::NoNewTasks(Reason::Draining), "no new tasks: the owner wants it back (said by hand)"),
    ];
    for (verdict, expected) in table {
        assert_eq!(verdict.to_string(), expected);
    }
}

#[test]
fn rules_are_read_and_checked() {
    let read = |text: &str| toml::from_str::<Rules>(text);
    assert_eq!(read("").unwrap(), Rules::default());
    let written =
        "run_below_load = 0.3\nhours = [\"18:00-07:00\"]\nsessions = \"ignore\"\ntemperature_max = 85.0";
    let expected = Rules {
        run_below_load: 0.3,
        hours: Some(vec!["18:00-07:00".parse().unwrap()]),
        sessions: Sessions::Ignore,
        temperature_max: Some(85.0),
        ..Rules::default()
    };
    assert_eq!(read(written).unwrap(), expected);
    for text in ["hours = [\"late\"]", "idle = 3", "idle_seconds = -1", "sessions = \"some\""] {
        assert!(read(text).is_err(), "{text}");
    }
    let table = [
        ("", "fine"),
        ("run_below_load = 1.5", "run_below_load is 1.5; it must be a share from 0 to 1"),
        ("run_below_load = nan", "run_below_load is NaN; it must be a share from 0 to 1"),
        ("busy_cores = 0.0", "busy_cores is 0; it must be a number of cores, from 0.01 to 256"),
        ("temperature_max = -3.0", "temperature_max is -3; it must be degrees Celsius, from 20 to 150"),
    ];
    for (text, expected) in table {
        let checked = read(text).unwrap().check();
        assert_eq!(checked.map_or_else(|error| error.to_string(), |()| "fine".to_owned()), expected);
    }
}

proptest! {
    /// Whatever else is so, nothing runs while the owner is here.
    #[test]
    fn the_owner_always_wins(
        said in proptest::sample::subsequence(vec![Word::Here, Word::Pause, Word::Drain], 0..=3),
        load in proptest::option::of(0.0f64..=1.0),
        idle in proptest::option::of(0.0f64..100.0),
        suspend_on_return: bool,
        minute in 0u16..60,
    ) {
        let rules = Rules { suspend_on_return, ..Rules::default() };
        let sample = Sample { load, session_idle: idle.and_then(Span::from_seconds), ..quiet() };
        let mut attendance = Attendance::new();
        for &word in &said {
            attendance.hear(word);
        }
        attendance.observe(&rules, Time::ZERO, &sample);
        let verdict = decide(&rules, &attendance, &sample, at(3, minute), Verdict::Run);
        if verdict == Verdict::Run {
            prop_assert!(said.is_empty());
            prop_assert_eq!(attendance.owner(), Owner::Away);
        }
        if said.contains(&Word::Here) {
            prop_assert!(matches!(verdict, Verdict::Suspend(_)));
        }
    }
}
