//! FCFS, EASY and conservative backfilling as they are told: at each instant whoever ended leaves, whoever came queues up,
//! and then everybody who waits is looked at, with all that runs.
//!
//! Each job has three lengths: what is *believed* of it, how long it may take until that belief has *failed*, and how long it
//! takes *at most* by what its user said, or else by the longest that is known. The first in line is promised the earliest
//! moment at which enough is free if no belief fails. A belief that failed counts where the first in line could start sooner if
//! that run ended now: there lengths are at most, and where that is over too, or nothing was said, nobody overtakes.

use std::cmp::Reverse;

/// The estimate of a user who gives none.
pub const UNSAID: u64 = u64::MAX;

/// Where jobs run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Its processors.
    pub cores: u32,
    /// How many times as fast as a machine on which a job takes as long as is said.
    pub speed: u32,
}

/// A rigid job, in whole seconds.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// When it comes.
    pub submit: u64,
    /// How many processors it holds.
    pub cores: u32,
    /// How long, at speed 1.
    pub run: u64,
    /// How long its user says, at speed 1; [`UNSAID`] if he does not. It may take longer.
    pub estimate: u64,
    /// Who hands it in.
    pub user: usize,
}

/// Who may overtake whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Nobody.
    Fcfs,
    /// Whoever does not delay the first, in that order.
    Easy(Order),
    /// Whoever does not delay anybody before him.
    Conservative,
}

/// Who overtakes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Who came first.
    Arrival,
    /// The shortest.
    Shortest,
    /// The smallest product of length and processors.
    Area,
}

/// How long a job is believed to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Belief {
    /// As its user says.
    Estimate,
    /// As the mean of the user's last two.
    LastTwo,
    /// The same; a run that takes longer is believed to take what its user says.
    LastTwoThenEstimate,
    /// As the median of up to twenty of the user's latest with the same estimate, or else of any; that belief has failed when it
    /// takes longer than the median of those that took longer.
    Learnt,
}

/// What is known of a job's length.
#[derive(Clone, Copy, Debug, Default)]
struct Length {
    believed: f64,
    fails: f64,
    at_most: f64,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    job: usize,
    on: usize,
    start: f64,
}

/// Which of a job's lengths count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Believed,
    AtMost,
    /// Nobody knows when the first in line starts.
    Nobody,
}

/// What is promised to the first in line on a machine.
#[derive(Clone, Copy, Debug)]
struct Promise {
    on: usize,
    at: f64,
    spare: i64,
    word: Word,
    /// When it starts there, if what is late takes as long again as it is late by now.
    expected: f64,
}

/// Cores of a machine that are taken from a moment until another.
type Taken = (usize, i64, f64, f64);

struct Site<'a> {
    jobs: &'a [Job],
    machines: &'a [Machine],
    lengths: Vec<Length>,
    running: Vec<Running>,
    is_conservative: bool,
}

const NEVER: f64 = f64::INFINITY;
/// What takes no time holds its cores for an instant: shorter than any length, and not lost beside any moment.
const INSTANT: f64 = 1e-6;

impl Site<'_> {
    fn cores(&self, job: usize) -> i64 {
        self.jobs[job].cores.into()
    }

    fn has_cores(&self, on: usize, job: usize) -> bool {
        self.machines[on].cores >= self.jobs[job].cores
    }

    /// How long something takes on a machine.
    fn seconds(&self, length: f64, on: usize) -> f64 {
        length / f64::from(self.machines[on].speed)
    }

    /// When a run ends, if it is as long as that.
    fn end(&self, run: &Running, length: impl Fn(&Length) -> f64) -> f64 {
        run.start + self.seconds(length(&self.lengths[run.job]), run.on).max(INSTANT)
    }

    /// When it ends in truth.
    fn true_end(&self, run: &Running) -> f64 {
        run.start + self.seconds(self.jobs[run.job].run as f64, run.on)
    }

    /// The processors of a machine that are free at a moment, if runs end when that says, less those that are taken.
    fn free(&self, on: usize, at: f64, ends: &dyn Fn(&Running) -> f64, taken: &[Taken]) -> i64 {
        let runs = self.running.iter().filter(|run| run.on == on && ends(run) > at);
        let runs: i64 = runs.map(|run| self.cores(run.job)).sum();
        let kept = taken.iter().filter(|&&(machine, _, from, to)| machine == on && from <= at && at < to);
        i64::from(self.machines[on].cores) - runs - kept.map(|taken| taken.1).sum::<i64>()
    }

    /// Of the machines on which a job has room now and that it may have, the fastest, and of these the one with the least room.
    fn room_now(&self, job: usize, may: impl Fn(usize) -> bool) -> Option<usize> {
        let free = |on: usize| self.free(on, 0.0, &|_| NEVER, &[]);
        let machines = (0..self.machines.len()).filter(|&on| may(on) && free(on) >= self.cores(job));
        machines.min_by_key(|&on| (Reverse(self.machines[on].speed), free(on), on))
    }

    /// How long a run may take until what is believed of it has failed.
    fn fails(&self, length: &Length) -> f64 {
        if self.is_conservative { length.believed } else { length.fails }
    }

    /// From when on a job has room there, if runs take as long as that, and those that are late have ended, or never do.
    fn earliest(&self, now: f64, job: usize, on: usize, length: &dyn Fn(&Length) -> f64, late: f64) -> f64 {
        let ends = |run: &Running| Some(self.end(run, length)).filter(|end| *end > now).unwrap_or(late);
        let moments = self.running.iter().map(ends).chain([now]).filter(|at| *at >= now && *at < NEVER);
        let enough = moments.filter(|&at| self.free(on, at, &ends, &[]) >= self.cores(job));
        enough.min_by(f64::total_cmp).unwrap_or(NEVER)
    }

    fn promise_on(&self, now: f64, job: usize, on: usize) -> Promise {
        let fails = |length: &Length| self.fails(length);
        let at_most = |length: &Length| length.at_most;
        let without = |length: &dyn Fn(&Length) -> f64| self.earliest(now, job, on, length, NEVER);
        let slipped =
            |length: &dyn Fn(&Length) -> f64| self.earliest(now, job, on, length, now) < without(length);
        let spare = |at: f64, length: &dyn Fn(&Length) -> f64| {
            let ends = |run: &Running| Some(self.end(run, length)).filter(|end| *end > now).unwrap_or(NEVER);
            self.free(on, at, &ends, &[]) - self.cores(job)
        };
        let nobody = Promise { on, at: NEVER, spare: 0, word: Word::Nobody, expected: NEVER };
        if !slipped(&fails) {
            let at = without(&fails);
            if at == NEVER {
                return nobody;
            }
            return Promise { on, at, spare: spare(at, &fails), word: Word::Believed, expected: at };
        }
        let here = self.running.iter().filter(|run| run.on == on);
        let first = here.map(|run| self.end(run, fails)).min_by(f64::total_cmp).expect("it is late");
        let expected = (now + (now - first)).min(without(&fails));
        let at = without(&at_most);
        if slipped(&at_most) || at == NEVER {
            return Promise { expected, ..nobody };
        }
        Promise { on, at, spare: spare(at, &at_most), word: Word::AtMost, expected }
    }

    /// What is promised to the first in line, that cannot start now, where it is expected to start first.
    fn promise(&self, now: f64, head: usize) -> Option<Promise> {
        let machines = (0..self.machines.len()).filter(|&on| self.has_cores(on, head));
        let promises = machines.map(|on| self.promise_on(now, head, on));
        promises.min_by(|one, other| one.expected.total_cmp(&other.expected).then(one.on.cmp(&other.on)))
    }

    /// Who starts now, and where, of those that wait.
    fn next(&self, now: f64, waiting: &[usize], rule: Rule) -> Option<(usize, usize)> {
        let is_able = |job: &&usize| (0..self.machines.len()).any(|on| self.has_cores(on, **job));
        let waiting: Vec<usize> = waiting.iter().filter(is_able).copied().collect();
        let &head = waiting.first()?;
        if let (Some(on), true) = (self.room_now(head, |_| true), rule != Rule::Conservative) {
            return Some((head, on));
        }
        match rule {
            Rule::Fcfs => None,
            Rule::Easy(order) => self.next_filler(now, &waiting, order),
            Rule::Conservative => self.next_planned(now, &waiting),
        }
    }

    fn next_filler(&self, now: f64, waiting: &[usize], order: Order) -> Option<(usize, usize)> {
        let kept = self.promise(now, waiting[0])?;
        let length = |job: usize| match kept.word {
            Word::Believed | Word::Nobody => self.lengths[job].believed,
            Word::AtMost => self.lengths[job].at_most,
        };
        let mut others = waiting[1..].to_vec();
        match order {
            Order::Arrival => {}
            Order::Shortest => others.sort_by(|&a, &b| length(a).total_cmp(&length(b)).then(a.cmp(&b))),
            Order::Area => {
                let area = |job: usize| length(job) * f64::from(self.jobs[job].cores);
                others.sort_by(|&a, &b| area(a).total_cmp(&area(b)).then(a.cmp(&b)));
            }
        }
        others.into_iter().find_map(|job| {
            let is_in_time = now + self.seconds(length(job), kept.on) <= kept.at;
            let delays_nobody = kept.word != Word::Nobody && (self.cores(job) <= kept.spare || is_in_time);
            Some((job, self.room_now(job, |on| on != kept.on || delays_nobody)?))
        })
    }

    /// Each in turn has the earliest moment that those before him leave; who has none has a machine kept for him.
    fn next_planned(&self, now: f64, waiting: &[usize]) -> Option<(usize, usize)> {
        let head = waiting[0];
        let promise = if self.room_now(head, |_| true).is_some() { None } else { self.promise(now, head) };
        let word = |on: usize| promise.filter(|kept| kept.on == on).map_or(Word::Believed, |kept| kept.word);
        let mut closed: Vec<bool> = (0..self.machines.len()).map(|on| word(on) == Word::Nobody).collect();
        let length = |job: usize, on: usize| {
            let length = match word(on) {
                Word::Believed | Word::Nobody => self.lengths[job].believed,
                Word::AtMost => self.lengths[job].at_most,
            };
            self.seconds(length, on).max(INSTANT)
        };
        // Of what is late nobody believes more than what was said.
        let ends = |run: &Running| {
            let believed = run.start + length(run.job, run.on);
            let at_most = self.end(run, |length| length.at_most);
            [believed, at_most].into_iter().find(|end| *end > now).unwrap_or(NEVER)
        };
        let mut taken: Vec<Taken> = Vec::new();
        for &job in waiting {
            let moments =
                self.running.iter().map(&ends).chain(taken.iter().flat_map(|taken| [taken.2, taken.3]));
            let mut moments: Vec<f64> = moments.filter(|at| *at > now && *at < NEVER).chain([now]).collect();
            moments.sort_by(f64::total_cmp);
            moments.dedup();
            let fits = |on: usize, at: f64| {
                let end = at + length(job, on);
                let during = moments.iter().filter(|&&moment| at < moment && moment < end);
                let is_free = |at: f64| self.free(on, at, &ends, &taken) >= self.cores(job);
                is_free(at) && during.copied().all(is_free)
            };
            let able: Vec<usize> =
                (0..self.machines.len()).filter(|&on| !closed[on] && self.has_cores(on, job)).collect();
            let starts =
                able.iter().filter_map(|&on| Some((moments.iter().copied().find(|&at| fits(on, at))?, on)));
            // Of machines on which it starts equally early, where it ends first.
            let order = |&(at, on): &(f64, usize)| (at, at + length(job, on), on);
            let first = starts.min_by(|one, other| order(one).partial_cmp(&order(other)).expect("numbers"));
            match first {
                Some((at, on)) if at == now => return Some((job, on)),
                Some((at, on)) => taken.push((on, self.cores(job), at, at + length(job, on))),
                None if job == head && promise.is_some_and(|kept| kept.word == Word::Nobody) => {}
                None => able.first().into_iter().for_each(|&on| closed[on] = true),
            }
        }
        None
    }
}

/// A job that ran: when it ended, which, and how long it was; at least a second where it ran.
type Ran = (f64, usize, f64);

/// What is known of a job that comes now, by what its user's jobs took that ended before, in order.
fn length(jobs: &[Job], job: &Job, ran: &[Ran], belief: Belief, now: f64) -> Length {
    let estimate = if job.estimate == UNSAID { NEVER } else { job.estimate as f64 };
    let length = |ran: &Ran| ran.2;
    let before: Vec<Ran> = ran.iter().rev().filter(|run| run.0 < now).copied().collect();
    let mut known: Vec<f64> = match belief {
        Belief::Estimate => Vec::new(),
        Belief::LastTwo | Belief::LastTwoThenEstimate => match &before[..] {
            [last, before, ..] => vec![f64::midpoint(length(before), length(last))],
            _ => Vec::new(),
        },
        Belief::Learnt => {
            let alike = before.iter().filter(|run| jobs[run.1].estimate == job.estimate).take(20);
            let mut sample: Vec<f64> = alike.map(length).collect();
            if sample.len() < 2 {
                sample = before.iter().take(20).map(length).collect();
            }
            if sample.len() < 2 {
                sample.clear();
            }
            sample.sort_by(f64::total_cmp);
            let mut medians = Vec::new();
            while let Some(&median) = sample.get(sample.len() / 2) {
                medians.push(median);
                sample.retain(|length| *length > median);
            }
            medians
        }
    };
    known.retain(|length| *length < estimate);
    let believed = known.first().copied().unwrap_or(estimate);
    let fails = known.get(1).copied().unwrap_or(believed);
    let at_most = if estimate < NEVER { estimate } else { known.last().copied().unwrap_or(NEVER) };
    Length { believed, fails, at_most }
}

/// When each job starts, and where. The jobs come in order of submission.
pub fn starts(jobs: &[Job], machines: &[Machine], rule: Rule, belief: Belief) -> Vec<(f64, usize)> {
    let is_conservative = rule == Rule::Conservative;
    let lengths = vec![Length::default(); jobs.len()];
    let mut site = Site { jobs, machines, lengths, running: Vec::new(), is_conservative };
    let mut started = vec![(0.0, 0); jobs.len()];
    let mut ran: Vec<Vec<Ran>> = Vec::new();
    let (mut waiting, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut looked = -1.0;
    loop {
        let arrival = jobs.get(next).map(|job| job.submit);
        let end = site.running.iter().map(|run| site.true_end(run));
        // When a belief fails, all are looked at again.
        let failing = site.running.iter().map(|run| site.end(run, |length| site.fails(length)));
        let failing = failing.filter(|at| *at > looked && belief != Belief::Estimate && !waiting.is_empty());
        let events = arrival.into_iter().map(|at| at as f64).chain(end).chain(failing);
        let Some(now) = events.min_by(f64::total_cmp).filter(|at| *at < NEVER) else { return started };
        looked = now;
        let mut ended: Vec<Running> = Vec::new();
        for run in std::mem::take(&mut site.running) {
            let over = site.true_end(&run) == now;
            if over { &mut ended } else { &mut site.running }.push(run);
        }
        ended.sort_by_key(|run| run.job);
        for run in ended {
            let user = jobs[run.job].user;
            ran.resize(ran.len().max(user + 1), Vec::new());
            let least = f64::from(machines[run.on].speed);
            ran[user].push((now, run.job, (jobs[run.job].run as f64).max(least)));
            // At one instant the lowest comes first, whichever of them began then.
            ran[user].sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        }
        while let Some(job) = jobs.get(next).filter(|job| job.submit as f64 == now) {
            let before = ran.get(job.user).map_or(&[][..], |ran| ran);
            site.lengths[next] = length(jobs, job, before, belief, now);
            waiting.push(next);
            next += 1;
        }
        if belief == Belief::LastTwoThenEstimate {
            for run in &site.running {
                let length = site.lengths[run.job];
                if run.start + site.seconds(length.believed, run.on) <= now {
                    let (believed, fails) = (length.at_most, length.at_most);
                    site.lengths[run.job] = Length { believed, fails, ..length };
                }
            }
        }
        while let Some((job, on)) = site.next(now, &waiting, rule) {
            started[job] = (now, on);
            site.running.push(Running { job, on, start: now });
            waiting.retain(|other| *other != job);
        }
    }
}
