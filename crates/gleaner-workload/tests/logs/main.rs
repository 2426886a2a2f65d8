//! Logs of jobs in the formats of others, and what is made of them.

mod swf;
