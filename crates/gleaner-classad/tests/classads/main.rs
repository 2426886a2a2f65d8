//! The language, held to tables, to properties and to HTCondor.

mod differential;
mod forms;
mod functional;
mod generate;
mod language;
mod limits;
mod properties;
