//! The columns of `machines.csv` and `tasks.csv` that are no dimensions.

pub(crate) const MACHINES: [&str; 8] =
    ["id", "site", "cores", "memory_bytes", "disk_bytes", "price", "provides", "ad"];
pub(crate) const TASKS: [&str; 13] = [
    "id",
    "arrival_s",
    "length",
    "declared",
    "cores",
    "memory_bytes",
    "disk_bytes",
    "priority",
    "checkpoint",
    "label",
    "domain",
    "ad",
    "user",
];

/// Whether no dimension may have this name: it means something else in one of the two tables.
pub(crate) fn is_taken(name: &str) -> bool {
    name.is_empty() || MACHINES.contains(&name) || TASKS.contains(&name)
}
