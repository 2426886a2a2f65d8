//! What the ledger makes of facts.

mod books;
mod elsewhere;
mod long_past;
mod replicas;
