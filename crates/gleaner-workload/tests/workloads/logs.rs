//! Logs of jobs and descriptions in the formats of others, and what is made of them.

mod bags;
mod models;
mod others;
mod ourgrid;
mod swf;
