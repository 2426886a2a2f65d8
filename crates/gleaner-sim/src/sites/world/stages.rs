//! How a run goes on from when all of its sites hold their part: its data comes, it computes, its result goes back; or it is given
//! up on all of them.

use super::SitesWorld;
use crate::Out;
use crate::sites::letters::{Slip, Word};
use crate::sites::manager::Holder;
use crate::sites::orders::Phase;
use crate::sites::setup::Staging;
use gleaner_core::{Event, Part, RunEnd};
use gleaner_policy::sites::estimate::crossing;
use gleaner_units::Time;
use std::collections::BTreeSet;

impl SitesWorld<'_> {
    /// All sites hold their part, and their meta-scheduler knows.
    pub(super) fn dispatch(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let order = self.state.orders.find_mut(holder).expect("only what was asked for is sent");
        order.dispatched = now;
        let job = &mut self.state.outcome.jobs[order.job];
        let sites: BTreeSet<usize> = order.parts.iter().map(|part| part.on.index()).collect();
        if job.dispatched == Time::NEVER {
            job.dispatched = now;
            self.count(now);
            self.state.waiting -= 1;
            self.forget(now, (holder.0, holder.1.task), out);
        }
        for site in &sites {
            let to = self.party_of(*site);
            self.state.post.say(now, (holder.0, to), Word::Dispatch(holder.1), out);
        }
        self.state.orders.set(holder, Phase::Granted(sites));
    }

    /// All sites hold their part: the data may come.
    pub(super) fn stage_in(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find(holder) else { return };
        let job = &self.setup.jobs[order.job];
        let (source, data) = (job.source, job.data as f64);
        let shares = self.shares(&order.parts);
        let mut transfers = BTreeSet::new();
        for (part, share) in order.parts.clone().iter().zip(shares) {
            let to = part.on.index();
            if to != source && data > 0.0 {
                let route = [self.state.links[source].0, self.state.links[to].1];
                transfers.insert(self.state.network.start(now, &route, data * share));
            }
        }
        let is_there = transfers.is_empty();
        self.state.orders.set(holder, Phase::StagingIn(transfers));
        if is_there {
            self.compute(now, holder, out);
        }
    }

    /// What falls to each part of data, by what a part is sent.
    fn shares(&self, parts: &[Part]) -> Vec<f64> {
        let all: f64 = parts.iter().map(|part| f64::from(part.cores)).sum();
        let share = |part: &Part| match self.setup.staging {
            Staging::Share => f64::from(part.cores) / all,
            Staging::Whole => 1.0,
        };
        parts.iter().map(share).collect()
    }

    pub(super) fn compute(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let (party, run) = holder;
        let Some(order) = self.state.orders.find_mut(holder) else { return };
        order.began = now;
        let job = &self.setup.jobs[order.job];
        let slowest = order.parts.iter().map(|part| self.setup.sites[part.on.index()].gflops);
        let slowest = slowest.fold(f64::INFINITY, f64::min);
        let crossing = crossing(order.parts.iter().map(|part| part.cores));
        let seconds = job.run_s / slowest * (1.0 + self.setup.crossing * crossing);
        let cores = order.cores();
        self.count(now);
        self.state.computing += cores;
        self.state.orders.set(holder, Phase::Computing(now.after_seconds(seconds)));
        // Its sites tell its meta-scheduler; nothing waits for that.
        out.tell(party, Event::RunStarted(run));
    }

    pub(super) fn moment(&mut self, now: Time, out: &mut Out<Slip>) {
        let Some((_, holder)) = self.state.orders.next() else { return };
        match self.state.orders.find(holder).map(|order| order.phase.clone()) {
            Some(Phase::Computing(_)) => self.stage_out(now, holder, out),
            _ => unreachable!("only what computes waits for a moment"),
        }
    }

    fn stage_out(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        self.count(now);
        let Some(order) = self.state.orders.find(holder) else { return };
        let (job, cores) = (&self.setup.jobs[order.job], order.cores());
        self.state.computing -= cores;
        let (source, result) = (job.source, job.result as f64);
        let mut transfers = BTreeSet::new();
        for part in &order.parts {
            let from = part.on.index();
            if from != source && result > 0.0 {
                let route = [self.state.links[from].0, self.state.links[source].1];
                // A result has as many pieces as its job has parts, whatever each part was sent.
                let share = f64::from(part.cores) / cores as f64;
                transfers.insert(self.state.network.start(now, &route, result * share));
            }
        }
        let is_back = transfers.is_empty();
        self.state.orders.set(holder, Phase::StagingOut(transfers));
        if is_back {
            self.finish(now, holder, out);
        }
    }

    pub(super) fn finish(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find(holder).cloned() else { return };
        self.state.orders.set(holder, Phase::Done);
        for part in &order.parts {
            self.release(now, part.on.index(), holder, out);
        }
        let job = &mut self.state.outcome.jobs[order.job];
        if job.ended == Time::NEVER {
            job.ended = now;
            job.dispatched_last = order.dispatched;
            job.computed_s = now.since(order.began).seconds();
            job.parts.clone_from(&order.parts);
            self.state.ended += 1;
            self.state.outcome.used_at_last_end = self.state.outcome.used;
        } else {
            self.waste(now, holder);
        }
        let first = self.party_of(order.parts[0].on.index());
        self.state.post.say(now, (first, holder.0), Word::Ended(holder.1), out);
    }

    /// A copy that is not wanted any more; one that has just ended is told as it was.
    pub(super) fn stop(&mut self, now: Time, holder: Holder, out: &mut Out<Slip>) {
        self.give_up(now, holder, RunEnd::Lost, out);
    }

    /// A run is not wanted any more, or cannot be: all of its sites are told.
    fn give_up(&mut self, now: Time, holder: Holder, end: RunEnd, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find(holder) else { return };
        if matches!(order.phase, Phase::GivenUp(..) | Phase::Done) {
            return;
        }
        let sites: BTreeSet<usize> = order.parts.iter().map(|part| part.on.index()).collect();
        if let Phase::Computing(until) = order.phase {
            debug_assert!(until >= now, "it has ended");
            let cores = order.cores();
            self.count(now);
            self.state.computing -= cores;
        }
        for site in &sites {
            let to = self.party_of(*site);
            self.state.post.say(now, (holder.0, to), Word::Release(holder.1), out);
        }
        for transfer in self.state.orders.set(holder, Phase::GivenUp(sites, end)) {
            self.state.network.cancel(now, transfer);
        }
    }

    pub(super) fn released(&mut self, now: Time, holder: Holder, site: usize, out: &mut Out<Slip>) {
        let Some(order) = self.state.orders.find_mut(holder) else { return };
        let Phase::GivenUp(silent, end) = &mut order.phase else { return };
        silent.remove(&site);
        if silent.is_empty() {
            let (end, was_dispatched) = (*end, order.dispatched != Time::NEVER);
            if was_dispatched {
                self.waste(now, holder);
            }
            self.state.orders.remove(holder);
            out.tell(holder.0, Event::RunEnded { run: holder.1, end });
        }
    }

    fn waste(&mut self, now: Time, holder: Holder) {
        let Some(order) = self.state.orders.find(holder) else { return };
        self.state.outcome.wasted += order.cores() as f64 * now.since(order.dispatched).seconds();
    }
}
