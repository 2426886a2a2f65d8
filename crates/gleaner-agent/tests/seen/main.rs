//! What is sampled of a machine and of whoever sits there, and what follows from it.

mod load_filter;
mod owner;
mod recorded;
