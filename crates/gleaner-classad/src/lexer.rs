//! Text into tokens, as HTCondor 25 cuts it.
//!
//! Facts worth knowing: integers are decimal whatever they look like (`0x1F` is read and means 0), an integer that
//! does not fit is 0, there are no `K`, `M` or `G` suffixes, a minus sign belongs to the number behind it unless a
//! value stands before it, and neighbouring strings are one string.

use crate::diagnostic::{ParseError, Problem, excerpt};
use crate::expr::BinaryOp;
use crate::number;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    End,
    Integer(i64),
    Real(f64),
    Boolean(bool),
    String(Vec<u8>),
    Undefined,
    Error,
    Identifier(Vec<u8>),
    Operator(BinaryOp),
    Not,
    Complement,
    Dot,
    Question,
    /// `?:`, also with white space between.
    Elvis,
    Colon,
    Semicolon,
    Comma,
    Assign,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    OpenBrace,
    CloseBrace,
}

impl Token {
    /// Whether a minus sign behind this token is an operator and not part of a number.
    fn ends_a_value(&self) -> bool {
        matches!(
            self,
            Self::Integer(_)
                | Self::Real(_)
                | Self::Boolean(_)
                | Self::String(_)
                | Self::Undefined
                | Self::Error
                | Self::Identifier(_)
                | Self::Dot
                | Self::CloseBracket
                | Self::CloseParen
                | Self::CloseBrace
        )
    }
}

/// How strings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strings {
    /// With the escapes of C.
    New,
    /// As they are; only a quote is escaped, and not at the very end.
    Old,
}

pub(crate) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    strings: Strings,
    after_value: bool,
    /// Where the latest token starts and ends.
    pub(crate) span: (usize, usize),
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t [u8], strings: Strings) -> Self {
        Self { text, at: 0, strings, after_value: false, span: (0, 0) }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&keep) {
            self.at += 1;
        }
    }

    pub(crate) fn error(&self, problem: Problem) -> ParseError {
        let (start, end) = self.span;
        ParseError::at(self.text, start, &self.text[start.min(end)..end.min(self.text.len())], problem)
    }

    fn fail(&mut self, problem: Problem) -> ParseError {
        self.span.1 = self.at.max(self.span.0 + 1).min(self.text.len());
        self.error(problem)
    }

    /// The latest token as it stands in the text.
    pub(crate) fn found(&self) -> String {
        let (start, end) = self.span;
        if start >= self.text.len() {
            "the end of the input".to_owned()
        } else {
            format!("`{}`", excerpt(&self.text[start..end.min(self.text.len())]))
        }
    }

    pub(crate) fn next(&mut self) -> Result<Token, ParseError> {
        self.skip_space()?;
        self.span = (self.at, self.at);
        let token = self.token()?;
        self.span.1 = self.at;
        self.after_value = token.ends_a_value();
        Ok(token)
    }

    fn skip_space(&mut self) -> Result<(), ParseError> {
        loop {
            self.take_while(is_space);
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'/')) => self.take_while(|byte| byte != b'\n'),
                (Some(b'/'), Some(b'*')) => {
                    self.span = (self.at, self.at);
                    let inside = &self.text[self.at + 2..];
                    let Some(length) = inside.windows(2).position(|pair| pair == b"*/") else {
                        self.at = self.text.len();
                        return Err(self.fail(Problem::Unterminated("comment")));
                    };
                    self.at += length + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(first) = self.peek(0) else { return Ok(Token::End) };
        match first {
            b'-' if !self.after_value && self.starts_number(1) => {
                self.at += 1;
                self.number()
            }
            b'.' if self.starts_number(0) => self.number(),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(self.word()),
            b'"' => self.quoted(b'"').map(Token::String),
            b'\'' => self.quoted(b'\'').map(Token::Identifier),
            _ => self.punctuation(first),
        }
    }

    fn starts_number(&self, ahead: usize) -> bool {
        let digit = |ahead| self.peek(ahead).is_some_and(|byte| byte.is_ascii_digit());
        digit(ahead) || self.peek(ahead) == Some(b'.') && digit(ahead + 1)
    }

    fn number(&mut self) -> Result<Token, ParseError> {
        let digits_start = self.at;
        if self.peek(0) == Some(b'0') && matches!(self.peek(1), Some(b'x' | b'X')) {
            self.at += 2;
            if !self.peek(0).is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.malformed("a hexadecimal digit"));
            }
            self.take_while(|byte| byte.is_ascii_hexdigit());
        } else {
            self.take_while(|byte| byte.is_ascii_digit());
        }
        let whole = &self.text[digits_start..self.at];
        let hexadecimal = whole.len() > 1 && !whole[1].is_ascii_digit();
        let mut is_real = !hexadecimal && matches!(self.peek(0), Some(b'e' | b'E'));
        if self.peek(0) == Some(b'.') {
            self.at += 1;
            if !self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.malformed("a digit behind the point"));
            }
            self.take_while(|byte| byte.is_ascii_digit());
            is_real = true;
        }
        if !is_real
            && whole.len() > 1
            && whole[0] == b'0'
            && whole.iter().any(|byte| matches!(byte, b'8' | b'9'))
            && !hexadecimal
        {
            return Err(self.malformed("octal digits behind a leading 0"));
        }
        if is_real && matches!(self.peek(0), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.malformed("a digit in the exponent"));
            }
            self.take_while(|byte| byte.is_ascii_digit());
        }
        let written = &self.text[self.span.0..self.at];
        Ok(if is_real {
            Token::Real(number::leading_real(written).map_or(0.0, |(real, _)| real))
        } else if hexadecimal {
            Token::Integer(0)
        } else {
            Token::Integer(
                std::str::from_utf8(written).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0),
            )
        })
    }

    fn malformed(&mut self, expected: &'static str) -> ParseError {
        let shown = excerpt(&self.text[self.span.0..self.at]);
        self.fail(Problem::Number(shown, expected))
    }

    fn word(&mut self) -> Token {
        let start = self.at;
        self.take_while(is_word);
        let word = &self.text[start..self.at];
        let is = |reserved: &str| word.eq_ignore_ascii_case(reserved.as_bytes());
        if is("true") {
            Token::Boolean(true)
        } else if is("false") {
            Token::Boolean(false)
        } else if is("undefined") {
            Token::Undefined
        } else if is("error") {
            Token::Error
        } else if is("is") {
            Token::Operator(BinaryOp::Is)
        } else if is("isnt") {
            Token::Operator(BinaryOp::Isnt)
        } else {
            Token::Identifier(word.to_vec())
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<Vec<u8>, ParseError> {
        if self.strings == Strings::Old {
            return self.quoted_old(quote);
        }
        // Neighbouring strings are joined before the escapes are read, so `"\10" "1"` is one letter.
        let mut raw = Vec::new();
        loop {
            self.at += 1;
            let start = self.at;
            loop {
                match self.peek(0) {
                    None => return Err(self.fail(Problem::Unterminated("string"))),
                    Some(0) => return Err(self.fail(Problem::Nul)),
                    Some(byte) if byte == quote => break,
                    Some(b'\\') if self.peek(1).is_some_and(|next| next != 0) => self.at += 2,
                    Some(_) => self.at += 1,
                }
            }
            raw.extend_from_slice(&self.text[start..self.at]);
            self.at += 1;
            let ahead = self.text[self.at..].iter().position(|&byte| !is_space(byte)).unwrap_or(0);
            if self.peek(ahead) != Some(quote) {
                break;
            }
            self.at += ahead;
        }
        unescape(&raw).ok_or_else(|| self.fail(Problem::Nul))
    }

    fn quoted_old(&mut self, quote: u8) -> Result<Vec<u8>, ParseError> {
        self.at += 1;
        let mut string = Vec::new();
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Err(self.fail(Problem::Unterminated("string"))),
                (Some(0), _) => return Err(self.fail(Problem::Nul)),
                // A backslash before the very last quote of the line is a backslash.
                (Some(b'\\'), Some(next)) if next == quote && !matches!(self.peek(2), None | Some(b'\n')) => {
                    string.push(quote);
                    self.at += 2;
                }
                (Some(byte), _) if byte == quote => {
                    self.at += 1;
                    return Ok(string);
                }
                (Some(byte), _) => {
                    string.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn question(&mut self) -> Token {
        let space = self.text[self.at..].iter().take_while(|byte| is_space(**byte)).count();
        if self.peek(space) != Some(b':') {
            return Token::Question;
        }
        self.at += space + 1;
        Token::Elvis
    }

    fn punctuation(&mut self, first: u8) -> Result<Token, ParseError> {
        use BinaryOp as Op;
        // Longest first.
        const OPERATORS: [(&[u8], Op); 19] = [
            (b">>>", Op::ShiftRightUnsigned),
            (b"=?=", Op::Is),
            (b"=!=", Op::Isnt),
            (b"&&", Op::And),
            (b"||", Op::Or),
            (b"==", Op::Equal),
            (b"!=", Op::NotEqual),
            (b"<=", Op::LessOrEqual),
            (b">=", Op::GreaterOrEqual),
            (b"<<", Op::ShiftLeft),
            (b">>", Op::ShiftRight),
            (b"&", Op::BitAnd),
            (b"|", Op::BitOr),
            (b"^", Op::BitXor),
            (b"<", Op::Less),
            (b">", Op::Greater),
            (b"*", Op::Multiply),
            (b"/", Op::Divide),
            (b"%", Op::Modulus),
        ];
        let rest = &self.text[self.at..];
        if let Some((written, op)) = OPERATORS.iter().find(|(written, _)| rest.starts_with(written)) {
            self.at += written.len();
            return Ok(Token::Operator(*op));
        }
        if rest.starts_with(b"=?") {
            self.at += 2;
            let found = format!("`{}`", excerpt(&rest[..2]));
            return Err(self.fail(Problem::Unexpected { found, expected: "`=?=`" }));
        }
        self.at += 1;
        Ok(match first {
            b'+' => Token::Operator(Op::Add),
            b'-' => Token::Operator(Op::Subtract),
            b'!' => Token::Not,
            b'~' => Token::Complement,
            b'.' => {
                // HTCondor reads two dots as one.
                self.at += usize::from(self.peek(0) == Some(b'.'));
                Token::Dot
            }
            b'?' => self.question(),
            b':' => Token::Colon,
            b';' => Token::Semicolon,
            b',' => Token::Comma,
            b'=' => Token::Assign,
            b'[' => Token::OpenBracket,
            b']' => Token::CloseBracket,
            b'(' => Token::OpenParen,
            b')' => Token::CloseParen,
            b'{' => Token::OpenBrace,
            b'}' => Token::CloseBrace,
            _ => {
                self.take_while(|byte| (0x80..0xc0).contains(&byte));
                let found = format!("`{}`", excerpt(&self.text[self.span.0..self.at]));
                return Err(self.fail(Problem::Unknown { found }));
            }
        })
    }
}

/// Reads the escapes of C; `None` where one means NUL.
pub(crate) fn unescape(raw: &[u8]) -> Option<Vec<u8>> {
    let mut string = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            string.push(byte);
            continue;
        }
        string.push(match bytes.next() {
            Some(b'a') => 0x07,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 0x0b,
            Some(digit @ b'0'..=b'7') => {
                let mut code = u16::from(digit - b'0');
                for place in 0..2 {
                    // A third digit only where it still fits a byte.
                    if place == 1 && code >= 0x20 {
                        break;
                    }
                    let Some(digit) = bytes.next_if(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    code = code * 8 + u16::from(digit - b'0');
                }
                if code == 0 {
                    return None;
                }
                code as u8
            }
            Some(other) => other,
            None => b'\\',
        });
    }
    Some(string)
}
