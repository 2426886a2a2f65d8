//! What `docs/limits.md` says of a limit; a test of the program compares that page with the sources.

fn value(limit: &str) -> String {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let page = std::fs::read_to_string(page).unwrap();
    let row = page.lines().find(|line| line.starts_with(&format!("| `{limit}` |")));
    let value = row.and_then(|row| row.split('|').nth(2)).unwrap_or_else(|| panic!("no limit {limit}"));
    value.trim().to_owned()
}

/// A number: of things, bytes or seconds.
pub(crate) fn documented(limit: &str) -> u64 {
    let value = value(limit);
    let (number, unit) = value.split_at(value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len()));
    let shift = match unit {
        "" | "B" | "s" => 0,
        "KiB" => 10,
        "MiB" => 20,
        other => panic!("{limit} is in {other}"),
    };
    let number: String = number.split_whitespace().collect();
    number.parse::<u64>().unwrap_or_else(|_| panic!("{limit} is {value}")) << shift
}

/// How many for all together, and for each.
pub(crate) fn documented_share(limit: &str) -> (usize, usize) {
    let value = value(limit);
    let (all, each) = value.split_once(", ").unwrap_or_else(|| panic!("{limit} is {value}"));
    (all.parse().unwrap(), each.strip_suffix(" each").unwrap().parse().unwrap())
}
