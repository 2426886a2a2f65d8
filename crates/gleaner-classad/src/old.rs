//! The old form of ads: one attribute a line, `name = expression`, ads apart by blank lines.

use crate::ad::ClassAd;
use crate::diagnostic::{ParseError, Problem, excerpt};
use crate::expr::Expr;
use crate::lexer::Strings;
use crate::limits::Limits;
use crate::name::Name;
use crate::parser::Parser;

impl ClassAd {
    /// Parses an ad in the old form. Blank lines and lines that begin with `#` are passed over; a backslash in a
    /// string is a backslash, except before a quote.
    ///
    /// ```
    /// use gleaner_classad::{ClassAd, Context, Value};
    ///
    /// let ad = ClassAd::parse_old("# a machine\nMemory = 1024\nHalf = Memory / 2\nPath = \"C:\\dir\"\n")?;
    /// assert_eq!(ad.evaluate("Half", &Context::new()), Value::Integer(512));
    /// assert_eq!(ad.evaluate("Path", &Context::new()), Value::string("C:\\dir"));
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn parse_old(text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        let limits = &Limits::DEFAULT;
        let mut ad = Self::new();
        for (number, line) in text.as_ref().split(|&byte| byte == b'\n').enumerate() {
            if let Some((name, expr)) = attribute(line, limits).map_err(|error| at_line(error, number))? {
                ad.insert(name, expr);
            }
            if ad.len() > limits.elements {
                return Err(at_line(
                    ParseError::at(line, 0, line, Problem::TooLong(limits.elements)),
                    number,
                ));
            }
        }
        Ok(ad)
    }

    /// Parses an ad in the form it seems to be in: `[` begins the new one, `<` XML, `{` JSON, all else is old.
    ///
    /// ```
    /// use gleaner_classad::ClassAd;
    ///
    /// let written = ["[a = 1]", "a = 1", "{\"a\": 1}", "<c><a n=\"a\"><i>1</i></a></c>"];
    /// for text in written {
    ///     assert_eq!(ClassAd::parse_any(text)?, ClassAd::parse("[a = 1]")?);
    /// }
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn parse_any(text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        let text = text.as_ref();
        match first_meaning(text) {
            Some(b'[') => Self::parse(text),
            Some(b'<') => Self::parse_xml(text),
            Some(b'{') => Self::parse_json(text),
            _ => Self::parse_old(text),
        }
    }
}

/// The first byte that is neither space nor in a comment.
fn first_meaning(text: &[u8]) -> Option<u8> {
    let mut rest = text.trim_ascii_start();
    loop {
        if rest.starts_with(b"//") || rest.starts_with(b"#") {
            let end = rest.iter().position(|&byte| byte == b'\n')?;
            rest = rest[end..].trim_ascii_start();
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).position(|pair| pair == b"*/")?;
            rest = rest[end + 2..].trim_ascii_start();
        } else {
            return rest.first().copied();
        }
    }
}

fn at_line(error: ParseError, lines_before: usize) -> ParseError {
    ParseError { line: error.line + lines_before, ..error }
}

/// One line's attribute; `None` for a line that says nothing.
fn attribute(line: &[u8], limits: &Limits) -> Result<Option<(Name, Expr)>, ParseError> {
    let line = line.trim_ascii_end();
    let indent = line.len() - line.trim_ascii_start().len();
    if line.len() == indent || line[indent] == b'#' {
        return Ok(None);
    }
    let Some(sign) = line.iter().position(|&byte| byte == b'=') else {
        let found = format!("`{}`", excerpt(&line[indent..]));
        let problem = Problem::Unexpected { found, expected: "`name = expression`" };
        return Err(ParseError::at(line, indent, &line[indent..], problem));
    };
    let name = line[indent..sign].trim_ascii_end();
    let is_word = name.first().is_some_and(|byte| !byte.is_ascii_digit())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    if !is_word {
        let found = if name.is_empty() { "`=`".to_owned() } else { format!("`{}`", excerpt(name)) };
        let problem = Problem::Unexpected { found, expected: "the name of an attribute" };
        return Err(ParseError::at(line, indent, &line[indent..=sign], problem));
    }
    // The parser sees the whole line, blank up to the expression, so that its columns are those of the line.
    let mut padded = vec![b' '; sign + 1];
    padded.extend_from_slice(&line[sign + 1..]);
    let expr = Parser::new(&padded, Strings::Old, limits)?.whole(Parser::expression)?;
    Ok(Some((Name::new(name), expr)))
}
