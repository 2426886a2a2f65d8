//! What the ledger makes of facts.

mod answers;
mod books;
mod elsewhere;
mod replicas;
