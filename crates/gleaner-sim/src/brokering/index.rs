//! The information index: each part takes in, once a period, what is below it, and knows that until the next time. So what
//! the top knows is as old as all the waits on the way up together.
//!
//! **Of parts that are due at one instant, those farthest from the top come first.**

use super::setup::{BrokeringSetup, IndexNode};
use gleaner_core::SiteState;
use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How an element was, and when.
pub(super) type Known = (SiteState, Time);

/// What each part knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Index {
    /// By part, then by element.
    known: Vec<Vec<Option<Known>>>,
    /// What comes next: when, how far from the top, which part.
    due: BTreeSet<(Time, Reverse<usize>, usize)>,
}

impl Index {
    pub(super) fn new(setup: &BrokeringSetup) -> Self {
        let parts = &setup.index;
        let due = (0..parts.len()).map(|part| (Time::ZERO, Reverse(depth(parts, part)), part)).collect();
        Self { known: vec![vec![None; setup.elements.len()]; parts.len()], due }
    }

    /// When the next part is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.due.first().map(|&(at, _, _)| at)
    }

    /// The part that is due next.
    pub(super) fn due(&self) -> usize {
        self.due.first().map_or(0, |&(_, _, part)| part)
    }

    /// How many parts stand above each other at most.
    pub(super) fn levels(&self) -> usize {
        self.due.iter().map(|&(_, Reverse(far), _)| far + 1).max().unwrap_or(0)
    }

    /// The part that is due takes in what is below it; the elements of which it knows more than before are returned, if
    /// brokers ask this part; `published` has what publishes to it. Costs O(elements · parts below).
    pub(super) fn refresh(
        &mut self,
        setup: &BrokeringSetup,
        now: Time,
        published: &[Option<SiteState>],
    ) -> Vec<(usize, Known)> {
        let (_, far, part) = self.due.pop_first().expect("a part is due");
        self.due.insert((now + setup.index[part].ttl, far, part));
        let below: Vec<usize> =
            (0..setup.index.len()).filter(|other| setup.index[*other].above == Some(part)).collect();
        let mut news = Vec::new();
        for (element, published) in published.iter().enumerate() {
            let direct = published.map(|state| (state, now));
            let known = direct.or_else(|| below.iter().find_map(|other| self.known[*other][element]));
            if let Some(known) = known
                && self.known[part][element].is_none_or(|before| before.1 < known.1)
            {
                self.known[part][element] = Some(known);
                news.push((element, known));
            }
        }
        if setup.index[part].above.is_none() { news } else { Vec::new() }
    }
}

fn depth(parts: &[IndexNode], part: usize) -> usize {
    std::iter::successors(parts[part].above, |above| parts[*above].above).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokering::{Element, Model, first_come};
    use gleaner_core::Tags;
    use gleaner_units::{SiteId, Span};

    fn setup(ttls_s: &[u64], above: &[Option<usize>], publishing_to: &[usize]) -> BrokeringSetup {
        let part = |(ttl, above): (&u64, &Option<usize>)| IndexNode {
            ttl: Span::from_nanos(ttl * 1_000_000_000),
            above: *above,
        };
        let element = |&index: &usize| Element {
            site: SiteId::FIRST,
            cpus: 1,
            ops_per_s: 1.0,
            provides: Tags::new(),
            ad: None,
            index,
        };
        BrokeringSetup {
            elements: publishing_to.iter().map(element).collect(),
            storage: Vec::new(),
            files: Vec::new(),
            copies: Vec::new(),
            links: Vec::new(),
            index: ttls_s.iter().zip(above).map(part).collect(),
            classes: Vec::new(),
            jobs: Vec::new(),
            brokers: 1,
            queue: first_come(),
            model: Model::default(),
        }
    }

    /// Of which moment the top knows each element at each whole second, by letting the index run.
    fn runs(setup: &BrokeringSetup, until_s: u64) -> Vec<Vec<u64>> {
        let mut index = Index::new(setup);
        let mut known = vec![0; setup.elements.len()];
        let mut seconds = Vec::new();
        for second in 0..=until_s {
            while index.next().is_some_and(|at| at.nanos() <= second * 1_000_000_000) {
                let (now, part) = (index.next().expect("due"), index.due());
                let published = |of: &Element| (of.index == part).then(SiteState::default);
                let published: Vec<_> = setup.elements.iter().map(published).collect();
                for (element, (_, known_at)) in index.refresh(setup, now, &published) {
                    known[element] = known_at.nanos() / 1_000_000_000;
                }
            }
            seconds.push(known.clone());
        }
        seconds
    }

    /// The same from what a time to live means: a part knows what was below it at the latest whole number of its periods.
    fn moment(setup: &BrokeringSetup, element: usize, at: u64) -> u64 {
        let mut part = Some(setup.elements[element].index);
        let mut ttls = Vec::new();
        while let Some(node) = part {
            ttls.push(setup.index[node].ttl.nanos() / 1_000_000_000);
            part = setup.index[node].above;
        }
        ttls.iter().rev().fold(at, |at, ttl| at / ttl * ttl)
    }

    #[test]
    fn what_the_top_holds_is_as_old_as_the_worked_example_says() {
        let known = runs(&setup(&[30, 50], &[Some(1), None], &[0]), 150);
        let age = |at: u64| at - known[at as usize][0];
        assert_eq!([49, 50, 99, 100, 149, 150].map(age), [49, 20, 69, 10, 59, 0]);
    }

    #[test]
    fn ages_are_those_of_a_plain_simulation_of_the_hierarchy() {
        for (ttls, above, publishing_to) in [
            (&[60][..], &[None][..], &[0, 0][..]),
            (&[60, 100], &[Some(1), None], &[0, 1]),
            (&[30, 70, 200], &[Some(1), Some(2), None], &[0, 1, 2]),
            (&[100, 40, 30, 25], &[None, Some(0), Some(0), Some(1)], &[3, 1, 2, 0, 3]),
            (&[7, 7, 7], &[Some(1), Some(2), None], &[0]),
        ] {
            let setup = setup(ttls, above, publishing_to);
            for (at, known) in (0..).zip(runs(&setup, 700)) {
                for (element, known) in known.into_iter().enumerate() {
                    assert_eq!(known, moment(&setup, element, at), "{ttls:?}: element {element} at {at}");
                }
            }
        }
    }
}
