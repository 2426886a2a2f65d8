//! The commands from outside, a module for each group of them, and what the docs say of them.

mod advise;
mod classad;
mod compare;
mod docs;
mod explain;
mod grid;
mod groups;
mod help;
mod limits;
mod map;
mod packaging;
mod paper;
mod peers;
mod program;
mod scratch;
mod service;
mod simulate;
mod sites;
mod swf;
mod trace;
mod tune;
mod workload;
