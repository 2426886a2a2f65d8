//! Attacks that were tried on the live grid, as real programs against real processes. Each test names what it attacks and
//! what stops it; SECURITY.md has the threats, and points here.
//!
//! ```text
//! cargo test -p gleaner --test walk attacks
//! ```

mod audit;
mod bounds;
mod folders;
mod guests;
mod internet;
mod loopback;
mod senders;
mod signed;
mod walls;
