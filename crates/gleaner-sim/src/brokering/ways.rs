//! Routes between sites: the fewest links, of several the ones that come first; and what is on its way.

use super::setup::BrokeringSetup;
use crate::network::{LinkId, Network};
use gleaner_units::SiteId;
use std::collections::VecDeque;

/// A place, and the link that leads there.
type Step = (usize, LinkId);

/// The routes of a setup.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// By where it begins, then by where it ends: the links, or nothing where no way leads there.
    routes: Vec<Vec<Option<Vec<LinkId>>>>,
}

impl Ways {
    /// The routes, and the network that they lead through. Costs O(sites · links).
    pub(super) fn of(setup: &BrokeringSetup) -> (Self, Network) {
        let mut network = Network::new(setup.model.links);
        let sites = setup.storage.len();
        let places = setup.links.iter().flat_map(|link| [link.between.0, link.between.1]).max();
        let places = sites.max(places.map_or(0, |place| place + 1));
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); places];
        for link in &setup.links {
            let (one, other) = link.between;
            steps[one].push((other, network.add_link(link.bytes_per_s)));
            steps[other].push((one, network.add_link(link.bytes_per_s)));
        }
        let routes = (0..sites).map(|from| routes_from(from, sites, &steps)).collect();
        (Self { routes }, network)
    }

    /// The links from one site to another.
    pub(super) fn route(&self, from: SiteId, to: SiteId) -> Option<&[LinkId]> {
        self.routes[from.index()][to.index()].as_deref()
    }
}

fn routes_from(from: usize, sites: usize, steps: &[Vec<Step>]) -> Vec<Option<Vec<LinkId>>> {
    let mut routes: Vec<Option<Vec<LinkId>>> = vec![None; steps.len()];
    routes[from] = Some(Vec::new());
    let mut next = VecDeque::from([from]);
    while let Some(place) = next.pop_front() {
        for &(to, link) in &steps[place] {
            if routes[to].is_none() {
                let mut route = routes[place].clone().expect("a place that was reached");
                route.push(link);
                routes[to] = Some(route);
                next.push_back(to);
            }
        }
    }
    routes.truncate(sites);
    routes
}
