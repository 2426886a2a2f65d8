//! Ads as JSON, as HTCondor writes them: objects are ads, arrays are lists, `null` is `undefined`, and an expression is
//! the string `"\/Expr(…)\/"`.

use crate::ad::ClassAd;
use crate::counted::Counted;
use crate::diagnostic::{ParseError, Problem, excerpt};
use crate::expr::{Expr, Literal, Node};
use crate::limits::Limits;
use crate::name::Name;
use crate::number;
use crate::stack::deeper;
use crate::value::Text;

impl ClassAd {
    /// Parses an ad from JSON.
    ///
    /// ```
    /// use gleaner_classad::{ClassAd, Context, Value};
    ///
    /// let ad = ClassAd::parse_json(r#"{"a": [1, 2.5], "b": "\/Expr(size(a) + 1)\/", "c": null}"#)?;
    /// assert_eq!(ad.evaluate("b", &Context::new()), Value::Integer(3));
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn parse_json(text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        let mut reader = Reader { text: text.as_ref(), at: 0, counted: Counted::new(&Limits::DEFAULT) };
        reader.skip_space();
        let ad = reader.object()?;
        reader.skip_space();
        if reader.at < reader.text.len() { Err(reader.expected("the end of the input")) } else { Ok(ad) }
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    counted: Counted,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn problem(&self, problem: Problem) -> ParseError {
        ParseError::at(self.text, self.at, self.text.get(self.at..=self.at).unwrap_or_default(), problem)
    }

    fn expected(&self, expected: &'static str) -> ParseError {
        let found = match self.text.get(self.at..=self.at) {
            Some(byte) => format!("`{}`", excerpt(byte)),
            None => "the end of the input".to_owned(),
        };
        self.problem(Problem::Markup { found, expected })
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Items between commas, up to the closing bracket.
    fn series(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.skip_space();
        if self.take(close) {
            return Ok(());
        }
        loop {
            self.skip_space();
            item(self)?;
            self.skip_space();
            if self.take(close) {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.expected("`,` or a closing bracket"));
            }
        }
    }

    fn object(&mut self) -> Result<ClassAd, ParseError> {
        if !self.take(b'{') {
            return Err(self.expected("`{`"));
        }
        let mut ad = ClassAd::new();
        self.series(b'}', |reader| {
            let name = reader.string()?;
            if name.is_empty() {
                return Err(reader.expected("a name that is not empty"));
            }
            reader.skip_space();
            if !reader.take(b':') {
                return Err(reader.expected("`:`"));
            }
            reader.skip_space();
            ad.insert(Name::new(name), reader.value()?);
            Ok(())
        })?;
        Ok(ad)
    }

    fn value(&mut self) -> Result<Expr, ParseError> {
        self.counted
            .element()
            .and_then(|()| self.counted.enter())
            .map_err(|problem| self.problem(problem))?;
        let value = deeper(|| self.any_value());
        self.counted.leave(1);
        value
    }

    fn any_value(&mut self) -> Result<Expr, ParseError> {
        let literal = match self.text.get(self.at) {
            Some(b'{') => return self.object().map(Expr::from),
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                self.series(b']', |reader| {
                    items.push(reader.value()?);
                    Ok(())
                })?;
                return Ok(Expr::new(Node::List(items.into())));
            }
            Some(b'"') => return self.string_or_expr(),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ if self.word("true") => Literal::Boolean(true),
            _ if self.word("false") => Literal::Boolean(false),
            _ if self.word("null") => Literal::Undefined,
            _ => return Err(self.expected("a value")),
        };
        Ok(Expr::new(Node::Literal(literal)))
    }

    fn number(&mut self) -> Result<Literal, ParseError> {
        let start = self.at;
        while self
            .text
            .get(self.at)
            .is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        {
            self.at += 1;
        }
        let written = &self.text[start..self.at];
        let text = String::from_utf8_lossy(written);
        if let Ok(integer) = text.parse() {
            return Ok(Literal::Integer(integer));
        }
        match number::leading_real(written) {
            Some((real, length)) if length == written.len() => Ok(Literal::Real(real)),
            _ => {
                self.at = start;
                Err(self.problem(Problem::Number(excerpt(written), "a number")))
            }
        }
    }

    fn string_or_expr(&mut self) -> Result<Expr, ParseError> {
        let start = self.at;
        let is_expr = self.text[self.at + 1..].starts_with(b"\\/");
        let bytes = self.string()?;
        let inside = if is_expr {
            bytes.strip_prefix(b"/Expr(").and_then(|rest| rest.strip_suffix(b")/"))
        } else {
            None
        };
        match inside {
            None => Ok(Expr::new(Node::Literal(Literal::String(Text::from(bytes))))),
            // The place inside the string is of little use, since escapes have moved it.
            Some(text) => Expr::parse_within(text, self.counted.limits())
                .map_err(|error| ParseError::at(self.text, start, error.token.as_bytes(), error.problem)),
        }
    }

    fn string(&mut self) -> Result<Vec<u8>, ParseError> {
        if !self.take(b'"') {
            return Err(self.expected("a string"));
        }
        let mut string = Vec::new();
        loop {
            let Some(&byte) = self.text.get(self.at) else {
                return Err(self.problem(Problem::Unterminated("string")));
            };
            self.at += 1;
            match byte {
                b'"' => return Ok(string),
                b'\\' => self.escape(&mut string)?,
                b'\0' => return Err(self.problem(Problem::Nul)),
                _ => string.push(byte),
            }
        }
    }

    fn escape(&mut self, string: &mut Vec<u8>) -> Result<(), ParseError> {
        let Some(&byte) = self.text.get(self.at) else {
            return Err(self.problem(Problem::Unterminated("string")));
        };
        self.at += 1;
        string.push(match byte {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut char = self.code_unit()?;
                if (0xd800..0xdc00).contains(&char) && self.word("\\u") {
                    let low = self.code_unit()?;
                    char = 0x10000 + ((char - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                }
                let char = char::from_u32(char).unwrap_or(char::REPLACEMENT_CHARACTER);
                if char == '\0' {
                    return Err(self.problem(Problem::Nul));
                }
                string.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            b'\0' => return Err(self.problem(Problem::Nul)),
            other => other,
        });
        Ok(())
    }

    fn code_unit(&mut self) -> Result<u32, ParseError> {
        let digits =
            self.text.get(self.at..self.at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => Err(self.expected("four hexadecimal digits")),
        }
    }
}
