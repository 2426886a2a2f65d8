//! Which samples of the owner's load become reports.

use gleaner_agent::owner::{Owner, Sign};
use gleaner_agent::probes::{LOAD_CHANGE, LOAD_SAMPLES, LOAD_STEP, LoadFilter};
use proptest::prelude::*;

const HERE: Owner = Owner::Here(Sign::Session);

/// Samples, an exclamation mark where the owner is here; and what is reported at each, `-` for nothing.
fn check(samples: &str, expected: &str) {
    let mut filter = LoadFilter::new();
    let reports = samples.split_whitespace().map(|sample| {
        let (load, owner) = sample.strip_suffix('!').map_or((sample, Owner::Away), |load| (load, HERE));
        let report = filter.observe(load.parse().unwrap(), owner);
        report.map_or("-".to_owned(), |report| report.to_string())
    });
    let reports: Vec<_> = reports.collect();
    assert_eq!(reports.join(" "), expected, "{samples}");
}

#[test]
fn reports_what_is_new_and_stays() {
    check("0.32", "0.3");
    check("0 0.09 0.09 0.09", "0 - - -");
    check("0.2 0.3 0.3 0.3", "0.2 - 0.3 -");
    check("0.2 0.9 0.2 0.9 0.2", "0.2 - - - -");
    check("0 0.5 0.9 0.9 0.9", "0 - 0.9 - -");
    check("1 0.14 0.16 0.11", "1 - 0.15 -");
}

#[test]
fn reports_the_owners_return_at_once_and_once() {
    check("0 0.07! 0.07! 0.07!", "0 0.05 - -");
    check("0 0.6! 0.6! 0.6 0.9!", "0 0.6 - - 0.9");
}

fn observe_all(filter: &mut LoadFilter, samples: &[f64]) -> usize {
    samples.iter().filter_map(|&load| filter.observe(load, Owner::Away)).count()
}

proptest! {
    #[test]
    fn never_reports_more_than_once_in_so_many_samples(samples in proptest::collection::vec(0.0f64..=1.0, 1..200)) {
        let reports = observe_all(&mut LoadFilter::new(), &samples);
        prop_assert!(reports <= 1 + (samples.len() - 1) / LOAD_SAMPLES as usize);
    }

    #[test]
    fn converges_to_a_load_that_stays(
        samples in proptest::collection::vec(0.0f64..=1.0, 0..50),
        stays in 0.0f64..=1.0,
    ) {
        let mut filter = LoadFilter::new();
        observe_all(&mut filter, &samples);
        observe_all(&mut filter, &vec![stays; LOAD_SAMPLES as usize]);
        let reported = filter.reported().unwrap();
        prop_assert!((reported - stays).abs() < LOAD_CHANGE);
        prop_assert!((reported / LOAD_STEP - (reported / LOAD_STEP).round()).abs() < 1e-9);
        prop_assert_eq!(observe_all(&mut filter, &[stays; 20]), 0);
    }
}
