//! The fifth paper's sites are what docs/cavalieri.md says of them.

use gleaner_papers::cavalieri::{Case, Rule, Variant, Work, setup};
use gleaner_sim::brokering::{Brokerage, BrokeringSetup};

/// The interarrival time below which no rule has a steady state: what all processors do together, with reading.
fn saturates_s(setup: &BrokeringSetup) -> f64 {
    let bytes: u64 = setup.files.iter().map(|file| file.bytes).sum();
    let length = setup.jobs[0].length.amount();
    let jobs_per_s = setup.elements.iter().map(|element| {
        let reading = bytes as f64 / setup.storage[element.site.index()].bytes_per_s;
        f64::from(element.cpus) / (reading + length / element.ops_per_s)
    });
    1.0 / jobs_per_s.sum::<f64>()
}

#[test]
fn light_sites_saturate_near_50_s_and_have_their_files_where_they_should() {
    for work in [Work::Balanced, Work::Unbalanced] {
        let setup = setup(&Case::of(work, 60.0), 1);
        let count = |mips: f64| setup.elements.iter().filter(|element| element.ops_per_s == mips).count();
        assert_eq!([300.0, 200.0, 100.0].map(count), [6, 5, 5], "{work:?}");
        assert!((saturates_s(&setup) - 48.573).abs() < 0.001, "{}", saturates_s(&setup));
        let power = |file: usize| {
            setup.files[file]
                .at
                .iter()
                .map(|site| setup.elements[site.index()].ops_per_s)
                .collect::<Vec<f64>>()
        };
        let (large, small) = (power(0), power(1));
        match work {
            Work::Unbalanced => assert_eq!((large, small), (vec![300.0; 4], vec![100.0; 4])),
            _ => assert_eq!(
                (large, small),
                (vec![300.0, 200.0, 100.0, 300.0], vec![200.0, 100.0, 300.0, 200.0])
            ),
        }
    }
}

#[test]
fn heavy_sites_are_drawn_and_scaled_to_where_the_figure_saturates() {
    for seed in 1..=20 {
        let printed = setup(&Case::of(Work::Heavy, 750.0), seed);
        for element in &printed.elements {
            assert!((20..=30).contains(&element.cpus) && (100.0..300.0).contains(&element.ops_per_s));
        }
        let scaled = saturates_s(&setup(&Case::of(Work::HeavyScaled, 750.0), seed));
        assert!((scaled - 700.0).abs() < 0.1, "{scaled}");
    }
}

#[test]
fn all_rules_and_variants_of_a_seed_are_given_the_same_jobs_and_end_them() {
    let case = Case::of(Work::Balanced, 150.0);
    let jobs = setup(&case, 3).jobs;
    for variant in Variant::ALL {
        assert_eq!(setup(&case.but(variant), 3).jobs, jobs, "{variant:?}");
    }
    let mut short = setup(&case, 3);
    short.jobs.truncate(60);
    for rule in Rule::all().into_iter().chain(Rule::FIGURES) {
        let mut run = Brokerage::new(&short, rule.recipe(&case), 3).expect("sites that make sense");
        run.run();
        assert_eq!(run.finished(), 60, "{}", rule.name());
    }
}
