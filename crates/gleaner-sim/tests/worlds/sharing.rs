//! The processor-sharing engine against hand-made examples and against a simulator too simple to be wrong.

mod against_reference;
mod examples;
mod reference;
mod scenario;
