//! What the ledger makes of facts.

mod answers;
mod books;
mod classes;
mod elsewhere;
mod long_past;
mod replicas;
mod story;
mod vanished;
