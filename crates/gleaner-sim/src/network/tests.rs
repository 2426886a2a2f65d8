//! Worked examples, and rates against a reference that raises all of them in small steps.

use super::*;
use proptest::prelude::*;

fn seconds(time: Time) -> f64 {
    time.seconds()
}

/// Ends of all transfers, started at their moments: (start, links, bytes).
fn ends(capacities: &[f64], transfers: &[(f64, &[usize], f64)]) -> Vec<f64> {
    let mut network = Network::default();
    let links: Vec<LinkId> = capacities.iter().map(|capacity| network.add_link(*capacity)).collect();
    let mut found = vec![0.0; transfers.len()];
    let mut started: Vec<TransferId> = Vec::new();
    loop {
        let start = transfers.get(started.len()).and_then(|transfer| Time::from_seconds(transfer.0));
        match (network.next(), start) {
            (Some((end, id)), start) if start.is_none_or(|start| end <= start) => {
                network.end(end, id);
                let index = started.iter().position(|other| *other == id).expect("it was started");
                found[index] = seconds(end);
            }
            (_, Some(start)) => {
                let (_, route, bytes) = transfers[started.len()];
                let route: Vec<LinkId> = route.iter().map(|link| links[*link]).collect();
                started.push(network.start(start, &route, bytes));
            }
            (_, None) => return found,
        }
        network.check();
    }
}

#[test]
fn transfers_share_what_they_meet_on() {
    for (name, capacities, transfers, expected) in [
        ("alone", &[10.0][..], &[(0.0, &[0][..], 100.0)][..], &[10.0][..]),
        ("two at once", &[10.0], &[(0.0, &[0], 100.0), (0.0, &[0], 100.0)], &[20.0, 20.0]),
        ("the second comes later", &[10.0], &[(0.0, &[0], 100.0), (5.0, &[0], 100.0)], &[15.0, 20.0]),
        ("the shorter goes first", &[10.0], &[(0.0, &[0], 100.0), (0.0, &[0], 20.0)], &[12.0, 4.0]),
        // The second is held at 2 by its own link, so the first has 8 of the shared one.
        ("a narrow link elsewhere", &[10.0, 2.0], &[(0.0, &[0], 80.0), (0.0, &[0, 1], 20.0)], &[10.0, 10.0]),
        ("nothing to share", &[10.0, 5.0], &[(0.0, &[0], 10.0), (0.0, &[1], 10.0)], &[1.0, 2.0]),
        ("no link", &[], &[(3.0, &[], 1e9)], &[3.0]),
        ("no bytes", &[1.0], &[(3.0, &[0], 0.0)], &[3.0]),
    ] {
        let found = ends(capacities, transfers);
        let is_equal = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6);
        assert!(is_equal, "{name}: {found:?}, expected {expected:?}");
    }
}

#[test]
fn a_transfer_that_is_broken_off_leaves_its_share() {
    let mut network = Network::default();
    let link = network.add_link(10.0);
    let one = network.start(Time::ZERO, &[link], 100.0);
    let other = network.start(Time::ZERO, &[link], 100.0);
    let now = Time::ZERO.after_seconds(4.0);
    assert!((network.cancel(now, one) - 80.0).abs() < 1e-6);
    let (end, id) = network.next().expect("one is left");
    assert_eq!((id, seconds(end)), (other, 12.0));
}

/// Rates are worked out of the links that transfers meet on, and are those of a network that has no others.
#[test]
fn links_that_carry_nothing_make_no_difference() {
    let routes: [&[usize]; 5] = [&[0, 1], &[1, 2], &[2], &[0, 3], &[4]];
    let (mut large, mut small) = (Network::default(), Network::default());
    let mut large_links = Vec::new();
    let mut small_links = Vec::new();
    for number in 0..1000_u32 {
        let link = large.add_link(f64::from(1 + number % 7));
        if number % 200 == 150 {
            large_links.push(link);
            small_links.push(small.add_link(f64::from(1 + number % 7)));
        }
    }
    let of = |links: &[LinkId], route: &[usize]| route.iter().map(|link| links[*link]).collect::<Vec<_>>();
    let mut last = None;
    for (number, route) in routes.into_iter().enumerate() {
        let bytes = 100.0 * (number + 1) as f64;
        last = Some(large.start(Time::ZERO, &of(&large_links, route), bytes));
        small.start(Time::ZERO, &of(&small_links, route), bytes);
    }
    let last = last.expect("the last transfer");
    assert_eq!(links_of(&large.around(last)), large_links[4..], "it meets no others");
    assert_eq!(links_of(&large.around(TransferId(0))), large_links[..4]);
    while let Some((end, id)) = large.next() {
        assert_eq!(small.next(), Some((end, id)));
        large.end(end, id);
        small.end(end, id);
        large.check();
    }
    assert!(small.is_empty());
}

/// Rates by raising all that are not held by a full link, together and a little at a time.
fn naive_rates(capacities: &[f64], routes: &[Vec<usize>]) -> Vec<f64> {
    const STEP: f64 = 1e-3;
    let mut rates = vec![0.0; routes.len()];
    let mut held = vec![false; routes.len()];
    while held.iter().any(|held| !held) {
        for (rate, _) in rates.iter_mut().zip(&held).filter(|(_, held)| !**held) {
            *rate += STEP;
        }
        for (link, capacity) in capacities.iter().enumerate() {
            let on = |route: &Vec<usize>| route.contains(&link);
            let load: f64 =
                rates.iter().zip(routes).filter(|(_, route)| on(route)).map(|(rate, _)| rate).sum();
            if load >= *capacity - STEP {
                held.iter_mut().zip(routes).filter(|(_, route)| on(route)).for_each(|(held, _)| *held = true);
            }
        }
    }
    rates
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rates_are_max_min_fair(
        capacities in prop::collection::vec(1_u32..8, 1..5),
        picks in prop::collection::vec(1_u32..31, 1..8),
    ) {
        let capacities: Vec<f64> = capacities.into_iter().map(f64::from).collect();
        let route = |pick: &u32| {
            let links = (0..capacities.len()).filter(|link| pick >> link & 1 == 1);
            let links: Vec<usize> = links.collect();
            if links.is_empty() { vec![0] } else { links }
        };
        let routes: Vec<Vec<usize>> = picks.iter().map(route).collect();
        let mut network = Network::default();
        let links: Vec<LinkId> = capacities.iter().map(|capacity| network.add_link(*capacity)).collect();
        for route in &routes {
            let route: Vec<LinkId> = route.iter().map(|link| links[*link]).collect();
            network.start(Time::ZERO, &route, 1e6);
            network.check();
        }
        let found: Vec<f64> = network.transfers.values().map(|transfer| transfer.rate).collect();
        let expected = naive_rates(&capacities, &routes);
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 0.02, "{found} where {expected} is fair");
        }
    }
}
