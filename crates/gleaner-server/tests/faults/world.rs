//! The simulated world: a coordinator, agents, users and a network, each with its troubles, in one stream of events.
//!
//! It is rough until enough has happened; then all is mended, and whatever was begun has to come to its end.

use super::agent::{Agent, Link};
use super::chance::Chance;
use super::flaw::BROKEN;
use super::history::History;
use super::mutant::Mutant;
use super::network::Network;
use super::queue::{Event, Queue};
use super::scene::{Scene, Timer};
use super::server::Server;
use super::users::{ADMIN, Users};
use gleaner_server::desk::{Checked, Effect, Input, Order};
use gleaner_units::{MachineId, Span, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::session::{FromAgent, Outcome, ToAgent};
use std::collections::BTreeMap;

/// What has to happen before the calm.
const EVENTS_MIN: u64 = 200;
const FAULTS_MIN: u64 = 3;
/// What must not happen: it means that something goes round in circles.
const STEPS_MAX: u64 = 60_000;
/// How long an agent waits for its welcome.
const GREETING_MAX: Span = Span::from_nanos(15_000_000_000);

pub(crate) struct World {
    pub(super) now: Time,
    pub(super) queue: Queue,
    pub(super) chance: Chance,
    pub(super) server: Server,
    pub(super) network: Network,
    pub(super) agents: Vec<Agent>,
    pub(super) users: Users,
    /// The rows with which the grid begins.
    pub(super) founded: u64,
    /// What is stored at the coordinator, and how far the counting was.
    blobs: BTreeMap<BlobHash, Span>,
    pub(super) history: History,
    pub(super) mutant: Option<Mutant>,
    pub(super) is_rough: bool,
    /// How many times slower than usual messages are.
    pub(super) slowness: u64,
    /// Until when each agent sleeps, and until when nothing reaches it.
    pub(super) asleep_until: Vec<Time>,
    pub(super) cut_off_until: Vec<Time>,
    /// The last greeting of each agent arrives then: who greets again has given up the connection before.
    pub(super) last_greeting: Vec<Time>,
    pub(super) died_at: Time,
    is_turn_set: bool,
    tick_at: Time,
    is_traced: bool,
}

impl World {
    pub(crate) fn new(seed: u64, mutant: Option<Mutant>, is_traced: bool) -> Self {
        let mut world = Self {
            now: Time::from_nanos(1),
            queue: Queue::default(),
            chance: Chance::seeded(seed),
            server: Server::new(mutant),
            network: Network::default(),
            agents: Vec::new(),
            users: Users::default(),
            founded: 0,
            blobs: BTreeMap::new(),
            history: History::default(),
            mutant,
            is_rough: false,
            slowness: 1,
            asleep_until: Vec::new(),
            cut_off_until: Vec::new(),
            last_greeting: Vec::new(),
            died_at: Time::ZERO,
            is_turn_set: false,
            tick_at: Time::NEVER,
            is_traced,
        };
        world.found();
        world
    }

    /// Lives through the whole history; the error says what never came to its end.
    pub(crate) fn run(mut self) -> Result<(History, Server), String> {
        self.is_rough = true;
        for event in [Event::UserActs, Event::OwnerActs, Event::Trouble] {
            self.after(1_000, 3_000, event);
        }
        for _ in 0..STEPS_MAX {
            let Some((at, event)) = self.queue.next() else { return Err("nothing is left to happen".into()) };
            self.now = at;
            if self.is_traced {
                println!("{at} {event:?}");
            }
            self.history.events += u64::from(event.counts());
            self.happen(event)?;
            if self.is_rough && self.history.events >= EVENTS_MIN && self.history.faults >= FAULTS_MIN {
                self.calm_down();
            }
            if !self.is_rough && self.is_settled() {
                return self.finish();
            }
        }
        Err(format!("it never ends: {}", self.what_is_left()))
    }

    fn happen(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Turn(process) => {
                if process == self.server.number {
                    self.turn();
                }
            }
            Event::Commit(process) => {
                if process == self.server.number {
                    self.commit();
                }
            }
            Event::Tick(process) => {
                self.tick_at = Time::NEVER;
                if process == self.server.number {
                    self.set_turn();
                }
            }
            Event::Restart => self.restart()?,
            Event::ToServer(connection, frame) => self.arrive_at_server(connection, *frame),
            Event::ToAgent(connection, message) => self.arrive_at_agent(connection, *message),
            Event::ServerLoses(connection) => {
                if std::mem::take(&mut self.network.get_mut(connection).is_open_to_server) {
                    self.put_in(Input::Disconnected { session: Network::session(connection) });
                }
            }
            Event::AgentLoses(connection) => self.agent_loses(connection),
            Event::Timer(agent, incarnation, timer) => self.timer(agent, incarnation, timer),
            Event::Wake(agent) => self.act(agent, Agent::wake),
            Event::Reborn(agent) => {
                self.agents[agent].is_gone = false;
                self.dial(agent);
            }
            Event::Order(id, asked) => {
                if self.server.is_up() {
                    self.put_in(Input::Order { id, by: asked.by, order: Box::new(asked.order) });
                }
            }
            Event::Answer(id, answer) => {
                let told = self.users.told(id, *answer);
                self.history.seen.extend(told.map(|seen| (self.now, seen)));
            }
            Event::Compared(process, session, run, answer) => {
                if process == self.server.number {
                    let (end, digest) = *answer;
                    self.put_in(Input::Answered { session, run, end: Box::new(end), digest });
                }
            }
            Event::Impatient(id) => {
                if let Some((id, asked)) = self.users.ask_again(id) {
                    self.request(id, asked);
                }
            }
            Event::UserActs => self.user_acts(),
            Event::OwnerActs => self.owner_acts(),
            Event::Trouble => self.trouble()?,
            Event::Care => self.care(),
        }
        Ok(())
    }

    pub(super) fn after(&mut self, low: u64, high: u64, event: Event) {
        let at = self.now + self.chance.millis(low, high);
        self.queue.put(at, event);
    }

    /// Lets an agent do something, and sees to what comes of it.
    pub(super) fn act(&mut self, agent: usize, deed: impl FnOnce(&mut Agent, &mut Scene)) {
        let mut scene = Scene {
            now: self.now,
            chance: &mut self.chance,
            blobs: &mut self.blobs,
            seen: &mut self.history.seen,
            mutant: self.mutant,
            compares: self.users.compares,
            is_rough: self.is_rough,
            sends: Vec::new(),
            timers: Vec::new(),
            close: false,
        };
        deed(&mut self.agents[agent], &mut scene);
        let (sends, timers, close) = (scene.sends, scene.timers, scene.close);
        let incarnation = self.agents[agent].incarnation;
        for (after, timer) in timers {
            self.queue.put(self.now + after, Event::Timer(agent, incarnation, timer));
        }
        if let Some(connection) = self.agents[agent].connection() {
            for frame in sends {
                self.send_to_server(connection, frame);
            }
            if close {
                self.close_from_agent(connection);
                self.act(agent, Agent::disconnected);
            }
        }
    }

    /// What was sent before still arrives.
    pub(super) fn close_from_agent(&mut self, connection: usize) {
        self.network.get_mut(connection).is_open_to_agent = false;
        let delay = self.delay();
        let at = self.network.arrival_at_server(connection, self.now, delay);
        self.queue.put(at, Event::ServerLoses(connection));
    }

    fn timer(&mut self, agent: usize, incarnation: u64, timer: Timer) {
        if self.agents[agent].incarnation != incarnation || self.agents[agent].is_gone {
        } else if self.agents[agent].is_asleep && !self.is_for_minders(agent, &timer) {
            self.queue.put(self.asleep_until[agent], Event::Timer(agent, incarnation, timer));
        } else if timer == Timer::Dial {
            self.dial(agent);
        } else {
            self.act(agent, |agent, scene| agent.timer(&timer, scene));
        }
    }

    /// They keep the lease, whatever becomes of their agent.
    fn is_for_minders(&self, agent: usize, timer: &Timer) -> bool {
        let keep = self.mutant != Some(Mutant::LeaseKeptByTheAgentAlone);
        self.agents[agent].is_stopped && *timer == Timer::Lease && keep
    }

    pub(super) fn dial(&mut self, agent: usize) {
        if self.agents[agent].link != Link::Down {
            return;
        }
        if !self.server.is_up() || self.now < self.cut_off_until[agent] {
            let incarnation = self.agents[agent].incarnation;
            self.after(500, 4_000, Event::Timer(agent, incarnation, Timer::Dial));
            return;
        }
        let connection = self.network.open(agent);
        let hello = self.agents[agent].greet(self.now, connection);
        let incarnation = self.agents[agent].incarnation;
        let patience = Event::Timer(agent, incarnation, Timer::Welcome(connection));
        self.queue.put(self.now + GREETING_MAX, patience);
        let delay = self.delay();
        let earliest = self.network.arrival_at_server(connection, self.now, delay);
        let behind_the_last = self.last_greeting[agent].since(self.now);
        let at = self.network.arrival_at_server(connection, earliest, behind_the_last);
        self.last_greeting[agent] = at;
        self.queue.put(at, Event::ToServer(connection, Box::new(FromAgent::Hello(hello))));
    }

    fn send_to_server(&mut self, connection: usize, frame: FromAgent) {
        let delay = self.delay();
        let at = self.network.arrival_at_server(connection, self.now, delay);
        self.queue.put(at, Event::ToServer(connection, Box::new(frame)));
    }

    fn arrive_at_server(&mut self, connection: usize, mut frame: FromAgent) {
        let open = self.network.get(connection);
        if open.is_dead || !open.is_open_to_server {
            return;
        }
        let session = Network::session(connection);
        if self.mutant == Some(Mutant::FailuresAreNobodys)
            && let FromAgent::Ended { end, .. } = &mut frame
            && matches!(end.outcome, Outcome::NotStarted { .. } | Outcome::Exited { code: BROKEN })
        {
            end.outcome = Outcome::Abandoned { why: "nobody knows why".to_owned() };
        }
        if let &FromAgent::Ended { run, ref end } = &frame
            && let Some(checkpoint) = &end.checkpoint
        {
            // Whether it is there is for the checker to say.
            let (agent, blob) = (MachineId::new(open.agent), checkpoint.blob);
            self.put_in(Input::Stored { agent, run, blob, bytes: checkpoint.size });
        }
        self.put_in(match frame {
            FromAgent::Hello(hello) => {
                let hello = Box::new(Checked::of(hello).expect("a machine"));
                Input::Connected { session, hello, token: String::new(), fits: true }
            }
            frame => Input::said(session, frame).expect("a machine"),
        });
    }

    fn arrive_at_agent(&mut self, connection: usize, message: ToAgent) {
        let open = self.network.get(connection);
        let agent = open.agent;
        if open.is_dead || !open.is_open_to_agent || self.agents[agent].connection() != Some(connection) {
        } else if self.agents[agent].is_asleep {
            self.queue.put(self.asleep_until[agent], Event::ToAgent(connection, Box::new(message)));
        } else {
            self.act(agent, |agent, scene| agent.hear(message, scene));
        }
    }

    fn agent_loses(&mut self, connection: usize) {
        let agent = self.network.get(connection).agent;
        if self.agents[agent].connection() != Some(connection) {
        } else if self.agents[agent].is_asleep {
            self.queue.put(self.asleep_until[agent], Event::AgentLoses(connection));
        } else {
            self.network.get_mut(connection).is_open_to_agent = false;
            self.act(agent, Agent::disconnected);
        }
    }

    pub(super) fn put_in(&mut self, input: Input) {
        if self.server.is_up() {
            self.server.inbox.push(input);
            self.set_turn();
        }
    }

    /// For a process that has just been started.
    pub(super) fn start_turning(&mut self) {
        (self.is_turn_set, self.tick_at) = (false, Time::NEVER);
        self.set_turn();
    }

    fn set_turn(&mut self) {
        if !std::mem::replace(&mut self.is_turn_set, true) {
            let process = self.server.number;
            self.after(0, 5, Event::Turn(process));
        }
    }

    fn turn(&mut self) {
        self.is_turn_set = false;
        if !self.server.is_up() || self.server.is_committing() {
            return;
        }
        let all = self.server.inbox.len();
        let inputs = if self.chance.one_in(8) { self.chance.below(all as u64 + 1) as usize } else { all };
        let hasty = self.server.turn(self.now, inputs);
        for effect in hasty {
            self.let_out(effect);
        }
        let process = self.server.number;
        let (low, high) = match () {
            () if self.goes_wrong(800) => (30_000, 120_000),
            () if self.goes_wrong(40) => (1_000, 20_000),
            () => (0, 10),
        };
        self.after(low, high, Event::Commit(process));
    }

    fn commit(&mut self) {
        let committed = self.server.commit(&mut self.history.seen, self.now);
        let Ok(mut effects) = committed else { return self.kill_server() };
        // It may die after the commit, with some of the effects out.
        let dies = !effects.is_empty() && self.goes_wrong(250);
        if dies {
            effects.truncate(self.chance.below(effects.len() as u64) as usize);
        }
        for effect in effects {
            self.let_out(effect);
        }
        if dies {
            self.history.faults += 1;
            return self.kill_server();
        }
        if self.chance.one_in(40) {
            let keep = self.chance.one_in(2);
            self.server.snapshot(keep);
        }
        if !self.server.inbox.is_empty() {
            self.set_turn();
        }
        if let Some(at) = self.server.next_tick().map(|at| at.max(self.now)).filter(|&at| at < self.tick_at) {
            self.tick_at = at;
            self.queue.put(at, Event::Tick(self.server.number));
        }
    }

    fn let_out(&mut self, effect: Effect) {
        match effect {
            Effect::Reply(id, answer) => {
                if !self.goes_wrong(15) {
                    let delay = self.delay();
                    self.queue.put(self.now + delay, Event::Answer(id, Box::new(answer)));
                }
            }
            Effect::Run(session, order) => {
                let run = order.filled_in().expect("a short order");
                self.let_out(Effect::Send(session, ToAgent::Run(Box::new(run))));
            }
            Effect::Send(session, message) => {
                let connection = session.0 as usize;
                if self.network.get(connection).is_open_to_server {
                    let delay = self.delay();
                    let at = self.network.arrival_at_agent(connection, self.now, delay);
                    self.queue.put(at, Event::ToAgent(connection, Box::new(message)));
                }
            }
            Effect::Compare(session, run, end) => {
                let digest = self.server.answer(run, &end);
                let process = self.server.number;
                self.after(0, 300, Event::Compared(process, session, run, Box::new((*end, digest))));
            }
            Effect::Close(session) => {
                let connection = session.0 as usize;
                self.network.get_mut(connection).is_open_to_server = false;
                let delay = self.delay();
                let at = self.network.arrival_at_agent(connection, self.now, delay);
                self.queue.put(at, Event::AgentLoses(connection));
            }
        }
    }

    fn delay(&mut self) -> Span {
        let millis = if self.goes_wrong(30) { 2_000 } else { 60 };
        Span::from_nanos(self.chance.millis(1, millis).nanos() * self.slowness)
    }

    pub(super) fn goes_wrong(&mut self, cases: u64) -> bool {
        self.is_rough && self.chance.one_in(cases)
    }

    pub(super) fn request(&mut self, id: gleaner_server::desk::OrderId, mut asked: super::users::Asked) {
        if self.mutant == Some(Mutant::KeysLost)
            && let Order::Submit { key, .. } = &mut asked.order
        {
            *key = None;
        }
        self.queue.put(self.now + Span::from_nanos(20_000_000_000), Event::Impatient(id));
        if !self.goes_wrong(30) {
            let delay = self.delay();
            self.queue.put(self.now + delay, Event::Order(id, Box::new(asked)));
        }
    }

    pub(super) fn admin_asks(&mut self, order: Order) {
        let (id, asked) = self.users.ask(ADMIN, order);
        self.request(id, asked);
    }

    fn is_settled(&self) -> bool {
        let Some(desk) = self.server.desk() else { return false };
        let is_safe = !self.server.is_committing() && self.server.inbox.is_empty();
        is_safe
            && desk.ledger().tally().open() == 0
            && self.users.open.is_empty()
            && self.agents.iter().all(|agent| agent.is_gone || agent.is_idle())
    }

    fn finish(mut self) -> Result<(History, Server), String> {
        self.server.snapshot(false);
        let Some(desk) = self.server.desk() else { return Err("the coordinator is down".into()) };
        desk.ledger().check()?;
        let tasks = (0..desk.ledger().task_count()).map(gleaner_units::TaskId::new);
        self.history.phases = tasks.map(|task| desk.ledger().record(task).phase).collect();
        self.history.rows = self.server.rows();
        Ok((self.history, self.server))
    }

    fn what_is_left(&self) -> String {
        let Some(desk) = self.server.desk() else { return "the coordinator is down".into() };
        let ledger = desk.ledger();
        let tasks = (0..ledger.task_count()).map(gleaner_units::TaskId::new);
        let open = tasks.filter(|&task| !ledger.record(task).phase.is_over());
        let open: Vec<String> = open
            .map(|task| {
                let (record, grid) = (ledger.record(task), ledger.grid());
                let planned = grid.plans().queue_of(task);
                format!("{task}: {record:?}, in the grid {:?}, planned for {planned:?}", grid.task(task))
            })
            .collect();
        let agents: Vec<String> = self.agents.iter().map(Agent::state).collect();
        format!("{:?}, {open:#?}, {agents:#?}, {:?}", ledger.tally(), self.users.open)
    }
}
