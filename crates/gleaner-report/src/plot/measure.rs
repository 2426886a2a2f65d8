//! What all figures have alike, and how wide a text will be. The viewer's own font is used, so this is an estimate, rather too wide
//! than too narrow.

/// Size of the letters on axes and in legends, in pixels.
pub(super) const TEXT: f64 = 12.0;
/// Size of axis labels, in pixels.
pub(super) const LABEL: f64 = 13.0;
/// Size of a figure's title, in pixels.
pub(super) const TITLE: f64 = 15.0;
/// Around a figure, in pixels.
pub(super) const MARGIN: f64 = 14.0;
/// The height of the row with a figure's title, in pixels.
pub(super) const TITLE_ROW: f64 = 28.0;

/// The width of `text` in pixels at a font size of `size` pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(ems).sum::<f64>() * size
}

/// `text`, shortened with an ellipsis where it would be wider than `room`.
pub(super) fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = ems('…') * size;
    for c in text.chars() {
        used += ems(c) * size;
        if used > room {
            break;
        }
        short.push(c);
    }
    format!("{}…", short.trim_end())
}

/// `text` in lines no wider than `room`, broken between words.
pub(super) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + ems(' ') * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fit(word, size, room)),
        }
    }
    lines
}

fn ems(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.32,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.95,
        'A'..='Z' => 0.70,
        // Ideographs and other wide letters.
        '\u{1100}'.. if !('\u{2000}'..'\u{2500}').contains(&c) => 1.0,
        _ => 0.60,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_or_wrapped() {
        assert_eq!(fit("short", 12.0, 100.0), "short");
        assert_eq!(fit("a very long machine name", 12.0, 80.0), "a very lon…");
        assert_eq!(wrap("one two three four", 12.0, 70.0), ["one two", "three four"]);
        assert!(wrap("", 12.0, 70.0).is_empty());
    }
}
