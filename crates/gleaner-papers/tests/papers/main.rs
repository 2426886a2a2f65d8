//! Each paper's experiments, and what is concluded from them.

mod bertasi;
mod cavalieri;
mod claims;
mod dasilva;
mod elleuch;
mod experiments;
mod khoo;
