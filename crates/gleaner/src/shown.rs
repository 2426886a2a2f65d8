//! What programs of others wrote, on a terminal: what would steer it is shown instead, as `cat -v` and `less` do. It could
//! change what else is to be seen there, the title, or what is in the clipboard. Where it goes to a file or a pipe, it stays as it is.

use std::io::{self, IsTerminal, Write};
use std::str;

/// Where such bytes go.
pub(crate) fn outlet<W: Write + IsTerminal + 'static>(out: W) -> Box<dyn Write> {
    if out.is_terminal() { Box::new(Shown { out, begun: Vec::new() }) } else { Box::new(out) }
}

/// A terminal, and the bytes of a character whose others are still to come.
struct Shown<W: Write> {
    out: W,
    begun: Vec<u8>,
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let text = show(&mut self.begun);
        self.out.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        // Whoever closed the terminal wants no more.
        let _ = self.begun.iter().try_for_each(|byte| write!(self.out, "<{byte:02X}>"));
    }
}

/// All of it as it is shown; what may be the beginning of a character is left.
fn show(bytes: &mut Vec<u8>) -> String {
    let (mut text, mut read) = (String::with_capacity(bytes.len()), 0);
    while read < bytes.len() {
        let rest = &bytes[read..];
        let (valid, bad) = match str::from_utf8(rest) {
            Ok(_) => (rest.len(), Some(0)),
            Err(error) => (error.valid_up_to(), error.error_len()),
        };
        let (characters, others) = rest.split_at(valid);
        str::from_utf8(characters).unwrap_or_default().chars().for_each(|each| show_one(each, &mut text));
        read += valid;
        let Some(bad) = bad else { break };
        others[..bad].iter().for_each(|byte| text += &format!("<{byte:02X}>"));
        read += bad;
    }
    bytes.drain(..read);
    text
}

fn show_one(character: char, text: &mut String) {
    match character {
        '\n' | '\t' => text.push(character),
        '\0'..='\x1f' | '\x7f' => text.extend(['^', char::from(character as u8 ^ 0x40)]),
        // They end lines, or turn the direction of writing round.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => {
            text.push_str(&format!("<U+{:04X}>", u32::from(character)));
        }
        _ => text.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_and_all_else_is_as_it_was() {
        for (written, seen) in [
            (&b"plain\ttext\n"[..], "plain\ttext\n"),
            ("grün, 日本, 👩‍🔬\n".as_bytes(), "grün, 日本, 👩‍🔬\n"),
            (b"\x1b]0;title\x07\x1b[2J", "^[]0;title^G^[[2J"),
            (b"10 %\r20 %\x08\x7f\0", "10 %^M20 %^H^?^@"),
            ("a\u{9b}2J\u{202e}b\u{2066}".as_bytes(), "a<U+009B>2J<U+202E>b<U+2066>"),
            (b"\x9b2J\xff\xe6\x97", "<9B>2J<FF><E6><97>"),
        ] {
            // In one piece, and byte by byte.
            for size in [written.len(), 1] {
                let mut out = Vec::new();
                let mut shown = Shown { out: &mut out, begun: Vec::new() };
                written.chunks(size).for_each(|piece| shown.write_all(piece).expect("memory"));
                drop(shown);
                assert_eq!(String::from_utf8_lossy(&out), seen, "{written:?}");
            }
        }
    }

    #[test]
    fn a_file_gets_it_as_it_is() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        outlet(file.reopen().expect("a file")).write_all(b"\x1b[2J\x9b").expect("it is written");
        assert_eq!(std::fs::read(file.path()).expect("it is there"), b"\x1b[2J\x9b");
    }
}
