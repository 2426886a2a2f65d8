//! Bytes as people write them.

/// In the largest unit, a power of 1024, in which it is a whole number.
pub fn size(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.iter().find(|(_, shift)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    whole.map_or_else(|| format!("{bytes} bytes"), |(unit, shift)| format!("{} {unit}", bytes >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_people_do_where_that_is_exact() {
        for (bytes, expected) in [
            (429_496_729_600, "400 GiB"),
            (101, "101 bytes"),
            (0, "0 bytes"),
            (1 << 40, "1 TiB"),
            (1_536, "1536 bytes"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
