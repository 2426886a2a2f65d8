//! Policies for machines that are sites: clusters with many cores behind one link, over which one job may be split.
//!
//! - [`map`] has the coordinates of Khoo et al., equations (1) and (2), and nothing that depends on a grid.
//! - [`split`] divides a job's cores over sites in an order.
//! - `rooms` has what sites are believed to have free, `maps` each class's virtual map, `estimate` how long jobs would take.
//! - `traffic` has the transfers that share links, where the map counts them.
//! - `line` has who waits, `running` until when what runs holds its room, `pass` how far the line was looked at, `unfit` who found too
//!   little room.
//! - `why` says why a job waits.
//! - [`dispatcher`] is the policy, put together by a [`SiteRule`](crate::parts::sites::SiteRule).

pub mod dispatcher;
pub mod estimate;
mod line;
pub mod map;
pub mod maps;
mod pass;
mod places;
mod rooms;
mod running;
pub mod split;
mod traffic;
mod unfit;
mod why;

pub use why::HeldBackOverSites;
