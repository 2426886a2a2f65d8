//! What the ledger makes of facts.

mod books;
mod elsewhere;
mod replicas;
