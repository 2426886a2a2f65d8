//! What goes wrong in the simulated world, what its users and owners do meanwhile, and the calm that follows.

use super::agent::Agent;
use super::flaw::Flaw;
use super::history::Seen;
use super::mutant::Mutant;
use super::queue::Event;
use super::users::ADMIN;
use super::world::World;
use gleaner_server::desk::{Administration, Checked, Input, NewUser, Order, OrderId, Requester};
use gleaner_server::store::{Failure, PastReader as _, Results, WithResults};
use gleaner_units::{Span, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Choice, Enrolment, Role};
use gleaner_wire::session::Profile;

/// What the largest machine has, and no task needs more than.
const MEMORY_MAX: u64 = 8_000_000_000;
const DAY_NANOS: u64 = 86_400_000_000_000;

impl World {
    /// A coordinator with its administrator and some enrolled agents.
    pub(super) fn found(&mut self) {
        self.server.start(self.now, Time::from_nanos(DAY_NANOS)).expect("an empty journal can be read");
        let (user, token) = (ADMIN.to_owned(), "t".to_owned());
        let user = Order::Administer(Administration::AddUser(NewUser {
            user,
            token,
            role: Some(Role::Admin),
            expires: None,
            again: false,
        }));
        let mut orders = vec![user];
        let agents = self.chance.between(2, 4) as u32;
        for number in 0..agents {
            let token = format!("join-{number}");
            let profile = self.profile(number);
            orders.push(Order::Administer(Administration::IssueJoinToken {
                token: token.clone(),
                expires: Time::NEVER,
                uses: 1,
                owner: None,
            }));
            let enrolment = Enrolment {
                name: format!("m{number}"),
                key: format!("k{number}"),
                profile: profile.clone(),
                replace: false,
            };
            orders.push(Order::Enrol {
                token,
                enrolment: Box::new(Checked::of(enrolment).expect("a machine")),
            });
            let drift = self.chance.between(0, 100).cast_signed() - 50;
            self.agents.push(Agent::new(number, profile, drift));
        }
        self.users.flawed = self.chance.below(agents.into()) as u32;
        self.users.compares = agents > 2 && self.chance.one_in(2);
        for order in orders {
            let by = Requester { user: ADMIN.to_owned(), role: Role::Admin, token: None };
            self.server.inbox.push(Input::Order { id: OrderId(0), by, order: Box::new(order) });
        }
        let all = self.server.inbox.len();
        self.server.turn(self.now, all);
        self.server.commit(&mut self.history.seen, self.now).expect("nothing is wrong yet");
        self.founded = self.server.rows().len() as u64;
        for agent in 0..self.agents.len() {
            self.asleep_until.push(Time::ZERO);
            self.cut_off_until.push(Time::ZERO);
            self.last_greeting.push(Time::ZERO);
            self.dial(agent);
        }
    }

    fn profile(&mut self, number: u32) -> Profile {
        // The first machine can run everything.
        let cores = if number == 0 { 4 } else { self.chance.between(1, 3) as u32 };
        let speeds = [*self.chance.pick(&[500.0, 1_000.0, 2_000.0]), 100.0, 100.0];
        let slots = cores + self.chance.below(3) as u32;
        let memory = if number == 0 { MEMORY_MAX } else { *self.chance.pick(&[MEMORY_MAX / 2, MEMORY_MAX]) };
        Profile { slots, memory, user: "worker".to_owned(), ..Profile::new(speeds, cores) }
    }

    pub(super) fn user_acts(&mut self) {
        if self.is_rough {
            let (by, order) = match self.due() {
                Some(order) => (String::new(), order),
                None => self.users.wish(&mut self.chance, self.agents.len() as u32),
            };
            let (id, asked) = self.users.ask(&by, order);
            self.request(id, asked);
            self.after(200, 10_000, Event::UserActs);
        }
    }

    /// What the coordinator itself wants done about results that were kept for long enough.
    fn due(&mut self) -> Option<Order> {
        let results = *self.chance.pick(&[Results::There, Results::Going]);
        let wanted = WithResults { results, user: None, ended: (Time::ZERO, Time::NEVER) };
        let mut jobs: Vec<JobId> = Vec::new();
        let read = self.server.disk.past_with(&wanted, 3, &mut |found| jobs.push(found.job));
        read.expect("memory can be read");
        let is_wanted = !jobs.is_empty() && self.chance.one_in(3);
        let removes = results == Results::There;
        is_wanted.then_some(if removes { Order::RemoveResults(jobs) } else { Order::ResultsGone(jobs) })
    }

    pub(super) fn owner_acts(&mut self) {
        if !self.is_rough {
            return;
        }
        let agent = self.chance.below(self.agents.len() as u64) as usize;
        if !self.agents[agent].is_asleep && !self.agents[agent].is_gone {
            if self.chance.one_in(6) {
                let speed = *self.chance.pick(&[500.0, 1_000.0, 2_000.0]);
                self.act(agent, |agent, scene| agent.measured(speed, scene));
            } else {
                let load = *self.chance.pick(&[0.0, 0.0, 0.37, 0.8, 1.0]);
                let open = !self.chance.one_in(5);
                self.act(agent, |agent, scene| agent.owner_acts(load, open, scene));
            }
        }
        self.after(2_000, 20_000, Event::OwnerActs);
    }

    pub(super) fn trouble(&mut self) -> Result<(), String> {
        if !self.is_rough {
            return Ok(());
        }
        let agent = self.chance.below(self.agents.len() as u64) as usize;
        let happened = match self.chance.below(17) {
            0 | 1 => self.server_crashes(),
            2 => self.commit_fails(),
            3 => self.connection_breaks(agent),
            4 => self.agent_is_cut_off(agent),
            5 => self.agent_crashes(agent),
            6 => self.agent_sleeps(agent),
            7 => {
                self.server.disk.fail_save(1);
                true
            }
            8 => self.journal_is_put_back(),
            9 | 10 => self.agent_is_stopped(agent),
            11 | 12 => self.journal_is_compacted()?,
            13 => self.a_bit_flips()?,
            14 | 15 => self.machine_breaks(),
            _ => {
                self.slowness = if self.slowness == 1 { self.chance.between(5, 60) } else { 1 };
                true
            }
        };
        self.history.faults += u64::from(happened);
        self.after(1_000, 25_000, Event::Trouble);
        Ok(())
    }

    fn server_crashes(&mut self) -> bool {
        let was_up = self.server.is_up();
        if was_up {
            self.kill_server();
        }
        was_up
    }

    /// A backup is put in the journal's place, by order.
    fn journal_is_put_back(&mut self) -> bool {
        if !self.server.is_up() {
            return false;
        }
        self.kill_server();
        // A backup has whole commits, and is no older than the last compaction.
        let begins = self.server.begins().number();
        let commits = self.history.seen.iter().filter_map(|(_, seen)| match seen {
            Seen::Committed { rows } if *rows >= self.founded.max(begins) => Some(*rows),
            _ => None,
        });
        let commits: Vec<u64> = commits.collect();
        if commits.is_empty() {
            return true;
        }
        let back = self.chance.below(commits.len() as u64).min(self.chance.below(40));
        self.put_back(commits[commits.len() - 1 - back as usize]);
        true
    }

    fn put_back(&mut self, rows: u64) {
        // What was on its way is of the past that is no more.
        for connection in self.network.all() {
            self.network.get_mut(connection).is_dead = true;
        }
        let last = self.server.put_back(rows).expect("memory can be written");
        self.history.put_back(self.now, rows, self.server.starts());
        self.history.seen.push((self.now, Seen::Committed { rows: last }));
        self.users.forget(&self.server.jobs());
    }

    /// In a row of the journal, while the coordinator is down. What cannot be read any more is noticed, and saved by order as far as
    /// it goes; what nobody reads is noticed by whoever verifies, and put right from a copy.
    fn a_bit_flips(&mut self) -> Result<bool, String> {
        let (begins, last) = (self.server.begins().number(), self.server.rows().len() as u64);
        if !self.server.is_up() || last <= self.founded.max(begins) {
            return Ok(false);
        }
        self.kill_server();
        let row = self.chance.between(self.founded.max(begins) + 1, last);
        let is_read = self.server.flip(row)?;
        if is_read && self.mutant == Some(Mutant::DamageTakenForTheEnd) {
            self.server.cut(row - 1);
        } else if is_read {
            self.put_back(row - 1);
        }
        Ok(true)
    }

    /// By order, while the coordinator is stopped. It may be killed in the middle of it.
    fn journal_is_compacted(&mut self) -> Result<bool, String> {
        if !self.server.is_up() {
            return Ok(false);
        }
        self.kill_server();
        let (begins, last) = (self.server.begins().number(), self.server.rows().len() as u64);
        let rows = self.chance.between(begins.max(1), last);
        if rows == last {
            return Ok(true);
        }
        if self.chance.one_in(3) {
            self.commit_fails();
        }
        self.server.compact(rows)?;
        let last = self.server.rows().len() as u64;
        self.history.seen.push((self.now, Seen::Committed { rows: last }));
        Ok(true)
    }

    /// Always the same one of them. It may be mended for a while.
    fn machine_breaks(&mut self) -> bool {
        let agent = &mut self.agents[self.users.flawed as usize];
        let flaws: &[Flaw] = if self.users.compares {
            &[Flaw::StartsNothing, Flaw::Fails, Flaw::Lies, Flaw::Lies]
        } else {
            &[Flaw::StartsNothing, Flaw::StartsNothing, Flaw::Fails]
        };
        let is_mended = agent.flaw.is_wrong() && self.chance.one_in(3);
        agent.flaw = if is_mended { Flaw::None } else { *self.chance.pick(flaws) };
        true
    }

    fn commit_fails(&mut self) -> bool {
        let failure = if self.chance.one_in(2) { Failure::Lost } else { Failure::Kept };
        self.server.disk.fail_commit(1, failure);
        true
    }

    fn connection_breaks(&mut self, agent: usize) -> bool {
        let Some(connection) = self.agents[agent].connection() else { return false };
        self.network.get_mut(connection).is_dead = true;
        self.after(0, 10_000, Event::AgentLoses(connection));
        self.after(0, 10_000, Event::ServerLoses(connection));
        true
    }

    /// Nobody is told: both have to notice.
    fn agent_is_cut_off(&mut self, agent: usize) -> bool {
        self.cut_off_until[agent] = self.now + self.chance.millis(5_000, 150_000);
        if let Some(connection) = self.agents[agent].connection() {
            self.network.get_mut(connection).is_dead = true;
        }
        true
    }

    fn agent_crashes(&mut self, agent: usize) -> bool {
        if self.agents[agent].is_gone || self.agents[agent].is_asleep {
            return false;
        }
        if let Some(connection) = self.agents[agent].connection() {
            self.close_from_agent(connection);
        }
        self.act(agent, Agent::crash);
        self.after(500, 90_000, Event::Reborn(agent));
        true
    }

    fn agent_sleeps(&mut self, agent: usize) -> bool {
        if self.agents[agent].is_gone || self.agents[agent].is_asleep {
            return false;
        }
        self.act(agent, Agent::sleep);
        let until = self.now + self.chance.millis(5_000, 150_000);
        self.asleep_until[agent] = until;
        self.queue.put(until, Event::Wake(agent));
        true
    }

    /// Its machine and its runs go on without it.
    fn agent_is_stopped(&mut self, agent: usize) -> bool {
        if self.agents[agent].is_gone || self.agents[agent].is_asleep {
            return false;
        }
        self.act(agent, |agent, _| agent.stall());
        let until = self.now + self.chance.millis(5_000, 150_000);
        self.asleep_until[agent] = until;
        self.queue.put(until, Event::Wake(agent));
        true
    }

    pub(super) fn kill_server(&mut self) {
        self.server.kill();
        self.died_at = self.now;
        for connection in self.network.all() {
            if std::mem::take(&mut self.network.get_mut(connection).is_open_to_server) {
                self.after(0, 4_000, Event::AgentLoses(connection));
            }
        }
        let high = if self.goes_wrong(5) { 90_000 } else { 8_000 };
        self.after(100, high, Event::Restart);
    }

    /// The wall clock may have been set meanwhile.
    pub(super) fn restart(&mut self) -> Result<(), String> {
        let jump = if self.goes_wrong(4) {
            self.chance.below(2 * DAY_NANOS).cast_signed() - DAY_NANOS.cast_signed()
        } else {
            0
        };
        let wall = self.server.wall(self.now.since(self.died_at), jump);
        self.server.start(self.now, wall)?;
        self.start_turning();
        Ok(())
    }

    /// From now on nothing goes wrong, owners are away, and users want everything to come to its end.
    pub(super) fn calm_down(&mut self) {
        self.is_rough = false;
        self.slowness = 1;
        self.cut_off_until.fill(self.now);
        self.agents.iter_mut().for_each(|agent| agent.flaw = Flaw::None);
        self.queue.put(self.now, Event::Care);
    }

    pub(super) fn care(&mut self) {
        for agent in 0..self.agents.len() {
            if !self.agents[agent].is_asleep && !self.agents[agent].is_gone {
                self.act(agent, Agent::calm_down);
            }
        }
        let held: Vec<_> = self.server.desk().map_or(Vec::new(), |desk| {
            let jobs = desk.ledger().jobs().filter(|(_, job)| job.tally.held > 0);
            jobs.map(|(id, _)| id).collect()
        });
        for job in held {
            self.admin_asks(Order::Release(job, Choice::default()));
        }
        for agent in 0..self.agents.len() {
            self.admin_asks(Order::Administer(Administration::SetOpen {
                machine: format!("m{agent}"),
                open: true,
                why: None,
            }));
            self.admin_asks(Order::Administer(Administration::SetPaused {
                machine: format!("m{agent}"),
                paused: false,
            }));
        }
        self.queue.put(self.now + Span::from_nanos(15_000_000_000), Event::Care);
    }
}
