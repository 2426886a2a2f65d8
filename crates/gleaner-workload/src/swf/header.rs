//! What the comments at the top of a log say.

use super::Log;
use crate::packed;

/// One `; Key: value` of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// As `MaxProcs`.
    pub key: String,
    /// Without the blanks around it. A value of several lines is several entries, of which the later have no key.
    pub value: String,
}

impl Log {
    /// The entries above the first job, in order.
    pub fn header(&self) -> Vec<Entry> {
        let end = self.lines.first().map_or(self.text.len(), |line| line.start);
        let lines =
            packed::without_mark(&self.text[..end]).split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter_map(|line| line.strip_prefix(b";")).map(entry).collect()
    }

    /// How many processors the machine has, by its header: `MaxProcs`, else `MaxNodes`.
    pub fn processors(&self) -> Option<u32> {
        let number = |key| self.number(key).filter(|&count| count > 0);
        number("MaxProcs").or_else(|| number("MaxNodes"))
    }

    /// The beginning of the log in seconds since 1970, by its header.
    pub fn unix_start(&self) -> Option<f64> {
        let value = self.value("UnixStartTime")?;
        let whole = digits(&value).len();
        let fraction = value[whole..].strip_prefix('.').map_or(0, |rest| 1 + digits(rest).len());
        value[..whole + fraction].parse().ok()
    }

    fn number(&self, key: &str) -> Option<u32> {
        digits(&self.value(key)?).parse().ok()
    }

    fn value(&self, key: &str) -> Option<String> {
        let entry = self.header().into_iter().find(|entry| entry.key.eq_ignore_ascii_case(key))?;
        Some(entry.value)
    }
}

/// Those that a value begins with: some logs explain the number behind it.
fn digits(value: &str) -> &str {
    value.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
}

fn entry(comment: &[u8]) -> Entry {
    let comment = String::from_utf8_lossy(comment);
    let (key, value) = match comment.split_once(':') {
        // What follows after blanks goes on with the value above, and may hold a colon as in an address.
        Some((key, value)) if !key.starts_with("  ") && !key.trim().contains(' ') => (key, value),
        Some(_) | None => ("", &*comment),
    };
    Entry { key: key.trim().to_owned(), value: value.trim().to_owned() }
}
