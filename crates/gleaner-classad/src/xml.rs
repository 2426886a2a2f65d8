//! Ads as XML, as HTCondor writes them: `<c>` an ad, `<a n="…">` an attribute, `<l>` a list, `<e>` an expression, and
//! `<i>`, `<r>`, `<s>`, `<b v="t"/>`, `<un/>`, `<er/>`, `<at>`, `<rt>` the literals.

use crate::ad::ClassAd;
use crate::counted::Counted;
use crate::diagnostic::{ParseError, Problem, excerpt};
use crate::expr::{Expr, Literal, Node};
use crate::lexer::unescape;
use crate::limits::Limits;
use crate::name::Name;
use crate::number;
use crate::stack::deeper;
use crate::time;
use crate::value::Text;

impl ClassAd {
    /// Parses an ad from XML: the first in the text.
    ///
    /// ```
    /// use gleaner_classad::{ClassAd, Context, Value};
    ///
    /// let ad = ClassAd::parse_xml("<c><a n=\"a\"><l><i>1</i><e>1 &lt; 2</e></l></a></c>")?;
    /// assert_eq!(ad.to_string(), "[a = {1, 1 < 2}]");
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn parse_xml(text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text.as_ref(), &Limits::DEFAULT);
        reader.next()?;
        match reader.whole()?.node() {
            Node::Ad(ad) => Ok(ad.clone()),
            _ => Err(reader.expected("`<c>`")),
        }
    }
}

/// A tag, or the text before the next one.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Open { tag: String, attribute: Option<Vec<u8>>, is_empty: bool },
    Close(String),
    Text(Vec<u8>),
    End,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    start: usize,
    piece: Piece,
    counted: Counted,
}

impl<'t> Reader<'t> {
    fn new(text: &'t [u8], limits: &Limits) -> Self {
        Self { text, at: 0, start: 0, piece: Piece::End, counted: Counted::new(limits) }
    }

    fn problem(&self, problem: Problem) -> ParseError {
        ParseError::at(self.text, self.start, &self.text[self.start..self.at.min(self.text.len())], problem)
    }

    fn expected(&self, expected: &'static str) -> ParseError {
        let piece = &self.text[self.start..self.at.min(self.text.len())];
        let found = if piece.is_empty() {
            "the end of the input".to_owned()
        } else {
            format!("`{}`", excerpt(piece))
        };
        self.problem(Problem::Markup { found, expected })
    }

    fn find(&self, end: &[u8]) -> Option<usize> {
        self.text[self.at..].windows(end.len()).position(|window| window == end).map(|place| self.at + place)
    }

    /// Goes on to the next piece; blank text, comments and declarations are passed over.
    fn next(&mut self) -> Result<(), ParseError> {
        loop {
            self.start = self.at;
            if self.at >= self.text.len() {
                self.piece = Piece::End;
                return Ok(());
            }
            if self.text[self.at] != b'<' {
                let end = self.find(b"<").unwrap_or(self.text.len());
                let text = &self.text[self.at..end];
                self.at = end;
                if text.trim_ascii().is_empty() && !self.is_inside_string() {
                    continue;
                }
                self.piece = Piece::Text(decode(text));
                return Ok(());
            }
            let skipped = [(&b"<!--"[..], &b"-->"[..]), (b"<?", b"?>"), (b"<!", b">")];
            if let Some((_, end)) = skipped.iter().find(|(begin, _)| self.text[self.at..].starts_with(begin))
            {
                let Some(place) = self.find(end) else {
                    self.at = self.text.len();
                    return Err(self.problem(Problem::Unterminated("tag")));
                };
                self.at = place + end.len();
                continue;
            }
            return self.tag();
        }
    }

    /// Only strings may be blank.
    fn is_inside_string(&self) -> bool {
        matches!(&self.piece, Piece::Open { tag, is_empty: false, .. } if tag == "s")
    }

    fn tag(&mut self) -> Result<(), ParseError> {
        let Some(end) = self.find(b">") else {
            self.at = self.text.len();
            return Err(self.problem(Problem::Unterminated("tag")));
        };
        let inside = &self.text[self.at + 1..end];
        self.at = end + 1;
        if let Some(tag) = inside.strip_prefix(b"/") {
            self.piece = Piece::Close(String::from_utf8_lossy(tag.trim_ascii()).into_owned());
            return Ok(());
        }
        let (inside, is_empty) = match inside.strip_suffix(b"/") {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let length = inside.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let quoted: Vec<&[u8]> = inside[length..].splitn(3, |byte| matches!(byte, b'"' | b'\'')).collect();
        self.piece = Piece::Open {
            tag: String::from_utf8_lossy(&inside[..length]).into_owned(),
            attribute: if quoted.len() == 3 { Some(decode(quoted[1])) } else { None },
            is_empty,
        };
        Ok(())
    }

    /// A value, with or without `<classads>` around it.
    fn whole(&mut self) -> Result<Expr, ParseError> {
        if matches!(&self.piece, Piece::Open { tag, .. } if tag == "classads") {
            self.next()?;
        }
        self.value()
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
        let Piece::Open { tag, attribute, is_empty } = self.piece.clone() else {
            return Err(self.expected("a value's tag"));
        };
        let literal = match tag.as_str() {
            "c" => return self.ad(is_empty).map(Expr::from),
            "l" => return self.list(is_empty),
            "un" => Literal::Undefined,
            "er" => Literal::Error,
            "b" => {
                Literal::Boolean(attribute.is_some_and(|value| matches!(value.first(), Some(b't' | b'T'))))
            }
            "s" | "i" | "r" | "e" | "at" | "rt" => return self.with_text(&tag, is_empty),
            _ => return Err(self.expected("a value's tag")),
        };
        self.next()?;
        if !is_empty {
            self.close(&tag)?;
        }
        Ok(Expr::new(Node::Literal(literal)))
    }

    fn close(&mut self, tag: &str) -> Result<(), ParseError> {
        if matches!(&self.piece, Piece::Close(closed) if closed == tag) {
            self.next()
        } else {
            Err(self.expected("the closing tag"))
        }
    }

    fn with_text(&mut self, tag: &str, is_empty: bool) -> Result<Expr, ParseError> {
        let place = self.start;
        let mut text = Vec::new();
        self.next()?;
        if !is_empty {
            if let Piece::Text(found) = &mut self.piece {
                text = std::mem::take(found);
                self.next()?;
            }
            self.close(tag)?;
        }
        let wrong = |expected| {
            let found = format!("`{}`", excerpt(&text));
            ParseError::at(self.text, place, &text, Problem::Markup { found, expected })
        };
        let written = text.trim_ascii();
        let literal = match tag {
            "s" => {
                Literal::String(Text::from(unescaped(&text).ok_or_else(|| wrong("a string without NUL"))?))
            }
            "i" => Literal::Integer(
                std::str::from_utf8(written)
                    .ok()
                    .and_then(|text| text.parse().ok())
                    .ok_or_else(|| wrong("an integer"))?,
            ),
            "r" => Literal::Real(number::leading_real(written).ok_or_else(|| wrong("a real"))?.0),
            "at" => Literal::AbsTime(time::parse_absolute(written).ok_or_else(|| wrong("an absolute time"))?),
            "rt" => {
                Literal::RelTimeText(time::parse_relative(written).ok_or_else(|| wrong("a relative time"))?)
            }
            _ => {
                return Expr::parse_within(&text, self.counted.limits()).map_err(|error| {
                    ParseError::at(self.text, place, error.token.as_bytes(), error.problem)
                });
            }
        };
        Ok(Expr::new(Node::Literal(literal)))
    }

    fn list(&mut self, is_empty: bool) -> Result<Expr, ParseError> {
        let mut items = Vec::new();
        self.next()?;
        if !is_empty {
            while matches!(self.piece, Piece::Open { .. }) {
                items.push(self.value()?);
            }
            self.close("l")?;
        }
        Ok(Expr::new(Node::List(items.into())))
    }

    fn ad(&mut self, is_empty: bool) -> Result<ClassAd, ParseError> {
        let mut ad = ClassAd::new();
        self.next()?;
        if is_empty {
            return Ok(ad);
        }
        while let Piece::Open { tag, attribute, is_empty: false } = &self.piece {
            let Some(name) = attribute.clone().filter(|name| tag == "a" && !name.is_empty()) else {
                return Err(self.expected("`<a n=\"…\">`"));
            };
            let name = unescaped(&name).ok_or_else(|| self.problem(Problem::Nul))?;
            self.next()?;
            let value = self.value()?;
            self.close("a")?;
            ad.insert(Name::new(name), value);
        }
        self.close("c")?;
        Ok(ad)
    }
}

/// The language has no NUL, be it written as an escape or as it is.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    unescape(text).filter(|text| !text.contains(&0))
}

fn decode(text: &[u8]) -> Vec<u8> {
    const ENTITIES: [(&[u8], u8); 5] =
        [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\'')];
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        if let Some((entity, means)) = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)) {
            decoded.push(*means);
            rest = &rest[entity.len()..];
        } else {
            decoded.push(byte);
            rest = behind;
        }
    }
    decoded
}
