//! What the ledger makes of facts.

mod answers;
mod books;
mod classes;
mod elsewhere;
mod kept_bytes;
mod long_past;
mod periods;
mod replicas;
mod starts;
mod story;
mod unread;
mod vanished;
