//! The text of a description, taken apart from left to right.
//!
//! The language has no one kind of word: a clause's name or a condition ends at any sign, a file's name at a blank, and
//! a command or a site's attribute takes the line as it is. So whoever reads asks for what should come.

use crate::InputError;
use crate::error::{Place, quoted};

/// A place in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    at: usize,
    pub(super) line: u64,
    column: u64,
}

/// What stands between clauses and in conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Quoted(String),
    /// One of the signs below.
    Sign(&'static str),
    LineEnd,
    End,
}

/// Longer ones first.
const SIGNS: [&str; 17] =
    ["||", "&&", "==", "!=", "<=", ">=", "=", "<", ">", "!", "(", ")", "{", "}", ":", ";", ","];

pub(super) struct Text<'a> {
    all: &'a str,
    place: Place,
    spot: Spot,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str, place: Place) -> Self {
        Self { all: text, place, spot: Spot { at: 0, line: 1, column: 1 } }
    }

    pub(super) fn spot(&self) -> Spot {
        self.spot
    }

    /// Goes back, or on, to a place that was passed.
    pub(super) fn go_to(&mut self, spot: Spot) {
        self.spot = spot;
    }

    fn rest(&self) -> &'a str {
        &self.all[self.spot.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.spot.at += next.len_utf8();
        self.spot.column += 1;
        if next == '\n' {
            self.spot.line += 1;
            self.spot.column = 1;
        }
        Some(next)
    }

    fn take_while(&mut self, accepted: impl Fn(char) -> bool) -> &'a str {
        let start = self.spot.at;
        while self.peek().is_some_and(&accepted) {
            self.bump();
        }
        &self.all[start..self.spot.at]
    }

    fn blanks(&mut self) {
        self.take_while(|c| c != '\n' && c.is_whitespace());
    }

    /// The next token, and where it begins. A comment is part of the line end behind it.
    pub(super) fn token(&mut self) -> Result<(Spot, Token<'a>), InputError> {
        self.blanks();
        if self.peek() == Some('#') {
            self.take_while(|c| c != '\n');
        }
        let spot = self.spot;
        let token = match self.peek() {
            None => Token::End,
            Some('\n') => {
                self.bump();
                Token::LineEnd
            }
            Some('"') => Token::Quoted(self.quoted()?),
            Some(_) => match SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
                Some(sign) => {
                    sign.chars().for_each(|_| {
                        self.bump();
                    });
                    Token::Sign(sign)
                }
                None => Token::Word(self.take_while(is_of_word)),
            },
        };
        Ok((spot, token))
    }

    /// Likewise, the first that is no line end.
    pub(super) fn token_below(&mut self) -> Result<(Spot, Token<'a>), InputError> {
        loop {
            match self.token()? {
                (_, Token::LineEnd) => {}
                found => return Ok(found),
            }
        }
    }

    /// What the line still holds, without the quotes around all of it; empty if it holds nothing.
    pub(super) fn line(&mut self) -> Result<String, InputError> {
        self.blanks();
        if self.peek() == Some('"') {
            let start = self.spot;
            if let Ok(text) = self.quoted() {
                self.blanks();
                if matches!(self.peek(), None | Some('\n')) {
                    return Ok(text.trim().to_owned());
                }
            }
            // The quotes belong to what is written, as those in `"a b" c` do.
            self.spot = start;
        }
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|&c| c != '\n') {
            text.push(if c == '\\' { self.escaped()? } else { c });
            self.bump();
        }
        Ok(text.trim().to_owned())
    }

    /// A name that ends at a blank, or that stands in quotes; `what` it should be.
    pub(super) fn name(&mut self, what: &str) -> Result<String, InputError> {
        self.blanks();
        let spot = self.spot;
        if self.peek() == Some('"') {
            return self.quoted().and_then(|name| match name.trim() {
                "" => Err(self.error(spot, "an empty name", what)),
                name => Ok(name.to_owned()),
            });
        }
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace()) {
            name.push(if c == '\\' { self.escaped()? } else { c });
            self.bump();
        }
        if name.is_empty() {
            let found = if self.peek().is_some() { "the end of the line" } else { "the end of the file" };
            return Err(self.error(spot, found, what));
        }
        Ok(name)
    }

    /// What stands between quotes, which may be several lines.
    fn quoted(&mut self) -> Result<String, InputError> {
        let open = self.spot;
        self.bump();
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(self.error(open, "a quote that is not closed", "a closing quote")),
                Some('"') => {
                    self.bump();
                    return Ok(text);
                }
                Some('\\') => text.push(self.escaped()?),
                Some(c) => text.push(c),
            }
            self.bump();
        }
    }

    /// What the backslash here makes of the character after it, at which it leaves us.
    fn escaped(&mut self) -> Result<char, InputError> {
        let spot = self.spot;
        self.bump();
        match self.peek() {
            Some(c @ ('"' | '\\')) => Ok(c),
            _ => Err(self.error(spot, "a lone backslash", r#"\\ for a backslash, or \" for a quote"#)),
        }
    }

    pub(super) fn error(&self, spot: Spot, found: impl Into<String>, expected: &str) -> InputError {
        self.place.at_line(spot.line).error(&format!("column {}", spot.column), found, expected)
    }

    /// `token`, at `spot`, is not what is expected.
    pub(super) fn unexpected(&self, spot: Spot, token: &Token<'_>, expected: &str) -> InputError {
        let found = match token {
            Token::Word(word) => quoted(word),
            Token::Quoted(text) => quoted(text),
            Token::Sign(sign) => quoted(sign),
            Token::LineEnd => "the end of the line".to_owned(),
            Token::End => "the end of the file".to_owned(),
        };
        self.error(spot, found, expected)
    }
}

impl Token<'_> {
    /// Whether it is that word, in any case.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(found) if found.eq_ignore_ascii_case(word))
    }
}

fn is_of_word(c: char) -> bool {
    !c.is_whitespace() && !"|&=!<>(){}:;,\"".contains(c)
}
