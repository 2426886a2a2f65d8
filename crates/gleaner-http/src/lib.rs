//! The coordinator on the network: it listens, lets users and programs ask over HTTP, and keeps a session with each agent.
//!
//! What is known and what is done about it stands in `gleaner_server`. Here, what came over the network becomes an input of the
//! desk, and what the desk answers goes back. [`serve`] runs all of it in one folder, at one address.

pub mod http;
mod limits;
mod listener;
mod pace;
mod places;
pub mod serve;
mod sessions;
