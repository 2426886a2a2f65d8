//!
//! - [`map`] has the coordinates of Khoo et al., equations (1) and (2), and nothing that depends on a grid.

pub mod map;
