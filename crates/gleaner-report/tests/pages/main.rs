//! Plots, and pages with plots and tables.

mod plots;
mod reports;
