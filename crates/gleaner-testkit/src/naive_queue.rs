//! FCFS, EASY and conservative backfilling as they are told: at each instant whoever ended leaves, whoever came queues up,
//! and then everybody who waits is looked at, with all that runs.

/// A rigid job, in whole seconds.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// When it comes.
    pub submit: u64,
    /// How many processors it holds.
    pub cores: u32,
    /// How long.
    pub run: u64,
    /// How long its user says.
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
    /// As the mean of the user's last two; when that is over, as its user says.
    LastTwo,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    job: usize,
    on: usize,
    start: f64,
    believed_end: f64,
}

struct Site<'a> {
    jobs: &'a [Job],
    machines: &'a [u32],
    believed: Vec<f64>,
    running: Vec<Running>,
}

impl Site<'_> {
    /// The processors of a machine that are free at a moment, by what is believed, less those in `kept`.
    fn free(&self, on: usize, at: f64, kept: &[(usize, usize, f64, f64)]) -> i64 {
        let runs = self.running.iter().filter(|run| run.on == on && run.believed_end > at);
        let taken: i64 = runs.map(|run| i64::from(self.jobs[run.job].cores)).sum();
        let reserved = kept.iter().filter(|&&(_, machine, from, to)| machine == on && from <= at && at < to);
        let reserved: i64 = reserved.map(|&(job, ..)| i64::from(self.jobs[job].cores)).sum();
        i64::from(self.machines[on]) - taken - reserved
    }

    /// The moments at which anything may become free, now among them.
    fn moments(&self, now: f64, kept: &[(usize, usize, f64, f64)]) -> Vec<f64> {
        let ends = self.running.iter().map(|run| run.believed_end);
        let ends = ends.chain(kept.iter().flat_map(|&(_, _, from, to)| [from, to]));
        let mut moments: Vec<f64> = ends.filter(|end| *end > now).chain([now]).collect();
        moments.sort_by(f64::total_cmp);
        moments.dedup();
        moments
    }

    /// Where a job has room now, the machine with the least; not on `but`.
    fn room_now(&self, now: f64, job: usize, but: Option<usize>) -> Option<usize> {
        let free = |on: usize| self.free(on, now, &[]);
        let machines = (0..self.machines.len()).filter(|&on| Some(on) != but);
        machines.filter(|&on| free(on) >= self.jobs[job].cores.into()).min_by_key(|&on| (free(on), on))
    }

    fn start(&mut self, now: f64, job: usize, on: usize) {
        let believed_end = now + self.believed[job];
        self.running.push(Running { job, on, start: now, believed_end });
    }

    /// Who starts now, and where, of those that wait.
    fn next(&self, now: f64, waiting: &[usize], rule: Rule) -> Option<(usize, usize)> {
        let &head = waiting.first()?;
        if rule == Rule::Conservative {
            return self.next_planned(now, waiting);
        }
        if let Some(on) = self.room_now(now, head, None) {
            return Some((head, on));
        }
        let Rule::Easy(order) = rule else { return None };
        let cores = i64::from(self.jobs[head].cores);
        let moments = self.moments(now, &[]);
        let machines = (0..self.machines.len()).filter(|&on| i64::from(self.machines[on]) >= cores);
        let kept = machines.filter_map(|on| {
            let at = moments.iter().copied().find(|&at| self.free(on, at, &[]) >= cores)?;
            Some((at, on))
        });
        let (at, kept_on) = kept.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        let spare = self.free(kept_on, at, &[]) - cores;
        let mut others = waiting[1..].to_vec();
        match order {
            Order::Arrival => {}
            Order::Shortest => {
                others.sort_by(|&a, &b| self.believed[a].total_cmp(&self.believed[b]).then(a.cmp(&b)));
            }
            Order::Area => {
                let area = |job: usize| self.believed[job] * f64::from(self.jobs[job].cores);
                others.sort_by(|&a, &b| area(a).total_cmp(&area(b)).then(a.cmp(&b)));
            }
        }
        others.into_iter().find_map(|job| {
            if let Some(on) = self.room_now(now, job, Some(kept_on)) {
                return Some((job, on));
            }
            let cores = i64::from(self.jobs[job].cores);
            let fits = self.free(kept_on, now, &[]) >= cores;
            (fits && (cores <= spare || now + self.believed[job] <= at)).then_some((job, kept_on))
        })
    }

    fn next_planned(&self, now: f64, waiting: &[usize]) -> Option<(usize, usize)> {
        let mut kept: Vec<(usize, usize, f64, f64)> = Vec::new();
        for &job in waiting {
            let cores = i64::from(self.jobs[job].cores);
            let moments = self.moments(now, &kept);
            let fits = |on: usize, at: f64| {
                let end = at + self.believed[job];
                let during = moments.iter().filter(|&&moment| at < moment && moment < end);
                std::iter::once(&at).chain(during).all(|&moment| self.free(on, moment, &kept) >= cores)
            };
            let machines = (0..self.machines.len()).filter(|&on| i64::from(self.machines[on]) >= cores);
            let starts = machines.filter_map(|on| {
                let at = moments.iter().copied().find(|&at| fits(on, at))?;
                Some((at, on))
            });
            let (at, on) = starts.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
            if at == now {
                return Some((job, on));
            }
            kept.push((job, on, at, at + self.believed[job]));
        }
        None
    }
}

/// When each job starts, and where. The jobs come in order of submission, and none is larger than the largest machine.
pub fn starts(jobs: &[Job], machines: &[u32], rule: Rule, belief: Belief) -> Vec<(f64, usize)> {
    let mut site = Site { jobs, machines, believed: vec![0.0; jobs.len()], running: Vec::new() };
    let mut started = vec![(0.0, 0); jobs.len()];
    let mut ran: Vec<Vec<(f64, usize)>> = Vec::new();
    let (mut waiting, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
    loop {
        let arrival = jobs.get(next).map(|job| job.submit);
        let end = site.running.iter().map(|run| run.start + jobs[run.job].run as f64);
        let short = site.running.iter().map(|run| run.believed_end);
        let short = short.filter(|_| belief == Belief::LastTwo && !waiting.is_empty());
        let events = arrival.into_iter().map(|at| at as f64).chain(end).chain(short);
        let Some(now) = events.min_by(f64::total_cmp) else { return started };
        let mut ended: Vec<Running> = Vec::new();
        site.running.retain(|run| {
            let over = run.start + jobs[run.job].run as f64 == now;
            ended.extend(over.then_some(*run));
            !over
        });
        ended.sort_by_key(|run| run.job);
        for run in ended {
            let user = jobs[run.job].user;
            ran.resize(ran.len().max(user + 1), Vec::new());
            ran[user].push((now, run.job));
            // At one instant the lowest comes first, whichever of them began then.
            ran[user].sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        }
        while let Some(job) = jobs.get(next).filter(|job| job.submit as f64 == now) {
            let estimate = job.estimate as f64;
            let mut before = ran.get(job.user).into_iter().flatten().rev().filter(|run| run.0 < now);
            let last = before.next().and_then(|last| Some((before.next()?.1, last.1)));
            site.believed[next] = match (belief, last) {
                (Belief::LastTwo, Some((before, last))) => {
                    let seconds = |job: usize| jobs[job].run.max(1) as f64;
                    f64::midpoint(seconds(before), seconds(last)).min(estimate)
                }
                (Belief::Estimate, _) | (_, None) => estimate,
            };
            waiting.push(next);
            next += 1;
        }
        for run in &mut site.running {
            if run.believed_end <= now {
                run.believed_end = run.start + jobs[run.job].estimate as f64;
            }
        }
        while let Some((job, on)) = site.next(now, &waiting, rule) {
            started[job] = (now, on);
            site.start(now, job, on);
            waiting.retain(|other| *other != job);
        }
    }
}
