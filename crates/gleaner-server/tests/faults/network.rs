//! Connections between agents and the coordinator. Within one, each direction keeps its order; between two, anything
//! can happen. What is on its way when a connection is cut is lost.

use gleaner_server::desk::SessionId;
use gleaner_units::{Span, Time};

pub(crate) struct Connection {
    pub(crate) agent: usize,
    /// What each side thinks.
    pub(crate) is_open_to_agent: bool,
    pub(crate) is_open_to_server: bool,
    /// Nothing arrives any more, and nobody was told.
    pub(crate) is_dead: bool,
    /// When the last message each way arrives.
    last_to_agent: Time,
    last_to_server: Time,
}

#[derive(Default)]
pub(crate) struct Network {
    connections: Vec<Connection>,
}

impl Network {
    pub(crate) fn open(&mut self, agent: usize) -> usize {
        let (last_to_agent, last_to_server) = (Time::ZERO, Time::ZERO);
        self.connections.push(Connection {
            agent,
            is_open_to_agent: true,
            is_open_to_server: true,
            is_dead: false,
            last_to_agent,
            last_to_server,
        });
        self.connections.len() - 1
    }

    pub(crate) fn get(&self, id: usize) -> &Connection {
        &self.connections[id]
    }

    pub(crate) fn get_mut(&mut self, id: usize) -> &mut Connection {
        &mut self.connections[id]
    }

    pub(crate) fn session(id: usize) -> SessionId {
        SessionId(id as u64)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.connections.len()
    }

    /// When a message that is sent now arrives at the agent: behind all before it.
    pub(crate) fn arrival_at_agent(&mut self, id: usize, now: Time, delay: Span) -> Time {
        let last = &mut self.connections[id].last_to_agent;
        *last = (now + delay).max(*last);
        *last
    }

    pub(crate) fn arrival_at_server(&mut self, id: usize, now: Time, delay: Span) -> Time {
        let last = &mut self.connections[id].last_to_server;
        *last = (now + delay).max(*last);
        *last
    }
}
