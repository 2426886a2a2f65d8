//! Worked examples: the contract's, and those of an independent reading of the paper.

use super::*;

const SITES: usize = 3;

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{found} where {expected} is expected"
    );
}

fn amounts([compute, memory, disk, potential]: [f64; 4]) -> Amounts {
    Amounts { compute, memory, disk, potential }
}

fn both(has: [f64; 4], needs: [f64; 4]) -> (f64, f64) {
    let index = |root| computation_index(&amounts(has), &amounts(needs), &Weights::EVEN, root);
    (index(Root::Whole), index(Root::AsPrinted))
}

#[test]
fn the_computation_index_of_the_contract() {
    let needs = |potential| [80.0, 64.0, 100.0, potential];
    near(both([200.0, 16.0, 500.0, 90.0], needs(60.0)).0, 0.75);
    near(both([200.0, 16.0, 500.0, 45.0], needs(60.0)).0, 0.790_569_415_0);
    near(both([60.0, 0.0, 90.0, 0.0], needs(60.0)).0, 1.439_618_004_9);
}

#[test]
fn the_computation_index_in_both_readings_of_the_root() {
    let needs = [10.0, 10.0, 40.0, 6.0];
    let short = both([6.0, 8.0, 50.0, 4.5], needs);
    near(short.0, 0.512_347_538_3);
    near(short.1, 0.509_713_595_5);
    assert_eq!(both([20.0, 20.0, 90.0, 9.0], needs), (0.0, 0.0), "more than enough costs nothing");
    let empty = both([0.0; 4], needs);
    near(empty.0, 2.0);
    near(empty.1, 2.732_050_808);
}

#[test]
fn a_larger_weight_counts_less() {
    let weights = Weights { compute: 2.0, memory: 4.0, disk: 1.0, potential: 0.5 };
    let (has, needs) = (amounts([6.0, 8.0, 50.0, 4.5]), amounts([10.0, 10.0, 40.0, 6.0]));
    near(computation_index(&has, &needs, &weights, Root::AsPrinted), 0.425);
    near(computation_index(&has, &needs, &weights, Root::Whole), 0.463_680_924_8);
}

#[test]
fn the_data_index_divides_nothing_by_zero() {
    near(data_index(600.0 / 10.0, 300.0, AtSource::Nothing), 0.2);
    near(data_index(7.0 / 3.0, 11.0, AtSource::Infinite), 0.212_121_212_1);
    assert_eq!(data_index(0.0, 11.0, AtSource::Nothing).to_bits(), 0);
    assert_eq!(data_index(0.0, 11.0, AtSource::Infinite), f64::INFINITY);
    assert_eq!(data_index(f64::INFINITY, 11.0, AtSource::Nothing), f64::INFINITY, "there is no way");
}

#[test]
fn potential_in_both_directions() {
    let (up, down) = ([1.0, 2.0, 4.0], [10.0, 3.0, 1.5]);
    let obtains = |from: usize, to: usize| f64::min(down[to], up[from]);
    let sends = |from: usize, to: usize| obtains(to, from);
    assert_eq!([0, 1, 2].map(|site| potential(site, SITES, obtains)), [6.0, 4.0, 2.5]);
    assert_eq!([0, 1, 2].map(|site| potential(site, SITES, sends)), [2.0, 3.5, 7.0]);
}

#[test]
fn the_virtual_map_of_the_contract() {
    let (cores, memory) = ([4.0, 8.0, 2.0], [8.0, 16.0, 2.0]);
    let links = [[0.0, 10.0, 5.0], [10.0, 0.0, 5.0], [5.0, 5.0, 0.0]];
    let at = |site| potential(site, SITES, |from, to| links[from][to]);
    let needs = amounts([12.0, 12.0, 60.0, at(0)]);
    let expected = [0.745_355_99, 0.338_690_29, 1.230_609_61];
    for site in 0..SITES {
        let has = amounts([cores[site], memory[site], 1000.0, at(site)]);
        let bring_s = if site == 0 { 0.0 } else { 60.0 / links[0][site] };
        let x = computation_index(&has, &needs, &Weights::EVEN, Root::Whole);
        let y = data_index(bring_s, 100.0, AtSource::Nothing);
        assert!((distance(&[x, y]) - expected[site]).abs() < 1e-8, "site {site}: {x}, {y}");
    }
}

#[test]
fn the_nearest_first_and_of_equals_the_lowest() {
    let (x, y) = ([0.0, 0.447_213_595_499_957_9, 0.25, 1.0, 0.25], [0.5, 0.0, 0.2, 0.0, 0.2]);
    let mut sites: Vec<(f64, usize)> = (0..5).map(|site| (distance(&[x[site], y[site]]), site)).collect();
    sites.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    assert_eq!(nearest_first(&sites).collect::<Vec<_>>(), [2, 4, 1, 0, 3]);
    near(sites[0].0, 0.320_156_211_9);
    let close = [
        (0.5 * (1.0 - 1e-11), 7),
        (0.5 * (1.0 - 1e-13), 9),
        (0.5, 3),
        (f64::INFINITY, 8),
        (f64::INFINITY, 1),
    ];
    assert_eq!(nearest_first(&close).collect::<Vec<_>>(), [7, 3, 9, 1, 8]);
}

#[test]
fn further_axes_move_a_site_away() {
    near(distance(&[0.3, 0.4, quality_index(0.9, 0.9), cost_index(0.0, 10.0)]), 0.5);
    near(distance(&[0.0, 0.0, quality_index(0.6, 0.9), 0.0]), 1.0 / 3.0);
    near(distance(&[0.0, 0.0, 0.0, cost_index(5.0, 10.0)]), 0.5);
}
