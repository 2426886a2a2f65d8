//! One field of a line changed, and nothing else.

/// `line` with its field number `field`, counted from 1, replaced by `value`. Blanks before it give way or fill up, so
/// that columns stay columns. A line that has no such field stays as it is.
pub fn with_field(line: &[u8], field: usize, value: &str) -> Vec<u8> {
    let mut end = 0;
    let mut blanks = 0..0;
    for _ in 0..field {
        let rest = &line[end..];
        let before = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let long = rest[before..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        blanks = end..end + before;
        end += before + long;
    }
    if blanks.end == end {
        return line.to_vec();
    }
    let spaces = line[blanks.clone()].iter().rev().take_while(|&&byte| byte == b' ').count();
    let width = spaces + end - blanks.end;
    let least = usize::from(spaces > 0 && blanks.start > 0);
    let fill = width.saturating_sub(value.len()).max(least) * usize::from(spaces > 0);
    let mut changed = line[..blanks.end - spaces].to_vec();
    changed.resize(changed.len() + fill, b' ');
    changed.extend(value.as_bytes());
    changed.extend(&line[end..]);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, field: usize, value: &str, expected: &str) {
        let changed = String::from_utf8(with_field(line.as_bytes(), field, value)).expect("text");
        assert_eq!(changed, expected, "{line:?}");
    }

    #[test]
    fn a_field_changes_and_the_columns_stay() {
        check("  1    0     -1  97", 3, "1234", "  1    0   1234  97");
        check("  1    0     -1  97", 3, "12345678", "  1    0 12345678  97");
        check("  1    0 123456  97", 3, "7", "  1    0      7  97");
        check("1\t0\t-1\t97", 3, "1234", "1\t0\t1234\t97");
        check("1 0 -1 97", 1, "12", "12 0 -1 97");
        check(" 1 0 -1 97", 1, "123", "123 0 -1 97");
        check("1 0 -1 97", 4, "5", "1 0 -1  5");
        check("1 0 -1", 4, "5", "1 0 -1");
        check("", 1, "5", "");
    }
}
