//! Text made safe for XML and HTML: the only way names and labels enter a file.

use gleaner_wire::text::is_hidden;

/// `text` for use between tags or within a quoted attribute.
///
/// Characters that XML forbids even as references (most control characters) become U+FFFD, so that a strange task
/// name cannot make a file unreadable; so do those that are not seen, or turn round what stands beside them.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' => safe.push(c),
            '\u{FFFE}' | '\u{FFFF}' => safe.push('\u{FFFD}'),
            c if is_hidden(c) => safe.push('\u{FFFD}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_forbidden_characters_do_not_pass() {
        assert_eq!(escape("<b a='1'>\"&\""), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;&quot;");
        assert_eq!(escape("a\u{0}b\u{1b}c\u{ffff}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(escape("a\u{202e}b\u{2066}c\u{200b}d\u{9b}e"), "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e");
        assert_eq!(escape("θ = 10 %\n"), "θ = 10 %\n");
    }
}
