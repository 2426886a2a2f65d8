//! What a job asks of machines, and on what a transfer depends.
//!
//! `not` binds tighter than `and`, and `and` tighter than `or`. Values are words: a comparison is one of numbers where
//! both sides are, else one of words in any case.
//!
//! A chain of one word, as `a and b and c`, is one level with many terms: **a condition is no deeper than its parentheses
//! and negations**, so that whoever walks it stays within the stack.

use super::text::{Spot, Text, Token};
use crate::InputError;
use crate::limits::{CONDITION_DEPTH_MAX, CONDITION_TERMS_MAX};
use std::fmt;

/// A condition on a machine's attributes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Not so.
    Not(Box<Condition>),
    /// All of them; at least two.
    And(Vec<Condition>),
    /// At least one of them; at least two.
    Or(Vec<Condition>),
    /// How an attribute compares with a value.
    Compare(String, Comparison, String),
    /// The attribute is true.
    Is(String),
    /// A program is found by the machine's shell.
    InPath(String),
    /// A class is found by the machine's Java.
    InClasspath(String),
    /// A program is there in a version.
    Version(String, String),
}

/// How two values can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`, or `=`.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

/// Where a condition ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With its line, but for what is in parentheses.
    Line,
    /// Before `then`.
    Then,
}

/// The condition that begins here, up to its end; none if there is nothing before the end.
pub(super) fn read(text: &mut Text<'_>, ending: Ending) -> Result<Option<Condition>, InputError> {
    let mut reader = Reader { text, ending, depth: 0, terms: 0, open: 0 };
    let start = reader.text.spot();
    let (_, first) = reader.peek()?;
    if ending == Ending::Line && matches!(first, Token::LineEnd | Token::End) {
        return Ok(None);
    }
    let condition = reader.or()?;
    let (spot, token) = reader.peek()?;
    let ends = match ending {
        Ending::Line => matches!(token, Token::LineEnd | Token::End),
        Ending::Then => token.is("then"),
    };
    debug_assert!(reader.text.spot() != start, "a condition takes something");
    if ends { Ok(Some(condition)) } else { Err(reader.text.unexpected(spot, &token, reader.after())) }
}

struct Reader<'r, 'a> {
    text: &'r mut Text<'a>,
    ending: Ending,
    depth: usize,
    /// Comparisons and the like that were read.
    terms: usize,
    /// Parentheses that are not closed yet.
    open: usize,
}

impl<'a> Reader<'_, 'a> {
    fn next(&mut self) -> Result<(Spot, Token<'a>), InputError> {
        if self.open > 0 || self.ending == Ending::Then { self.text.token_below() } else { self.text.token() }
    }

    fn peek(&mut self) -> Result<(Spot, Token<'a>), InputError> {
        let before = self.text.spot();
        let found = self.next()?;
        self.text.go_to(before);
        Ok(found)
    }

    /// What may follow a whole condition.
    fn after(&self) -> &'static str {
        match (self.open, self.ending) {
            (0, Ending::Line) => "and, or, or the end of the line",
            (0, Ending::Then) => "and, or, or then",
            (_, Ending::Line | Ending::Then) => "and, or, or )",
        }
    }

    fn or(&mut self) -> Result<Condition, InputError> {
        let mut terms = vec![self.and()?];
        while self.takes(&["||"], "or")? {
            terms.push(self.and()?);
        }
        Ok(chain(terms, Condition::Or))
    }

    fn and(&mut self) -> Result<Condition, InputError> {
        let mut terms = vec![self.not()?];
        while self.takes(&["&&"], "and")? {
            terms.push(self.not()?);
        }
        Ok(chain(terms, Condition::And))
    }

    /// Takes the next token if it is one of the signs or the word.
    fn takes(&mut self, signs: &[&str], word: &str) -> Result<bool, InputError> {
        let (_, token) = self.peek()?;
        let is = token.is(word) || matches!(token, Token::Sign(sign) if signs.contains(&sign));
        if is {
            self.next()?;
        }
        Ok(is)
    }

    fn not(&mut self) -> Result<Condition, InputError> {
        if self.depth == CONDITION_DEPTH_MAX {
            let found = format!("a condition more than {CONDITION_DEPTH_MAX} deep");
            return Err(self.text.error(self.text.spot(), found, "fewer parentheses within each other"));
        }
        self.depth += 1;
        let condition = if self.takes(&["!"], "not")? {
            Condition::Not(Box::new(self.not()?))
        } else if self.takes(&["("], "(")? {
            self.open += 1;
            let inner = self.or()?;
            let (spot, token) = self.next()?;
            if token != Token::Sign(")") {
                return Err(self.text.unexpected(spot, &token, self.after()));
            }
            self.open -= 1;
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn test(&mut self) -> Result<Condition, InputError> {
        if self.terms == CONDITION_TERMS_MAX {
            let found = format!("a condition of more than {CONDITION_TERMS_MAX} comparisons");
            let expected = format!("at most {CONDITION_TERMS_MAX}");
            return Err(self.text.error(self.text.spot(), found, &expected));
        }
        self.terms += 1;
        let name = self.operand("a condition, as os == linux")?;
        match name.to_ascii_lowercase().as_str() {
            "in_path" => return Ok(Condition::InPath(self.operand("the name of a program")?)),
            "in_classpath" => return Ok(Condition::InClasspath(self.operand("the name of a class")?)),
            "version" => {
                let program = self.operand("the name of a program")?;
                return Ok(Condition::Version(program, self.operand("a version")?));
            }
            _ => {}
        }
        let (_, Token::Sign(sign)) = self.peek()? else { return Ok(Condition::Is(name)) };
        let comparison = match sign {
            "=" | "==" => Comparison::Equal,
            "!=" => Comparison::Unequal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return Ok(Condition::Is(name)),
        };
        self.next()?;
        Ok(Condition::Compare(name, comparison, self.operand("a value to compare with")?))
    }

    fn operand(&mut self, expected: &str) -> Result<String, InputError> {
        match self.next()? {
            (spot, token @ Token::Word(_))
                if ["and", "or", "not", "then"].iter().any(|word| token.is(word)) =>
            {
                Err(self.text.unexpected(spot, &token, expected))
            }
            (_, Token::Word(word)) => Ok(word.to_owned()),
            (_, Token::Quoted(text)) => Ok(text),
            (spot, token) => Err(self.text.unexpected(spot, &token, expected)),
        }
    }
}

/// One term as it is, and more of them as `make` has it.
fn chain(mut terms: Vec<Condition>, make: impl FnOnce(Vec<Condition>) -> Condition) -> Condition {
    match terms.pop() {
        Some(only) if terms.is_empty() => only,
        last => {
            terms.extend(last);
            make(terms)
        }
    }
}

impl Comparison {
    /// As the language writes it.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Not(inner) => write!(f, "!({inner})"),
            Self::And(terms) => write_chain(f, terms, " && "),
            Self::Or(terms) => write_chain(f, terms, " || "),
            Self::Compare(name, comparison, value) => write!(f, "{name} {} {value}", comparison.sign()),
            Self::Is(name) => f.write_str(name),
            Self::InPath(program) => write!(f, "in_path {program}"),
            Self::InClasspath(class) => write!(f, "in_classpath {class}"),
            Self::Version(program, version) => write!(f, "version {program} {version}"),
        }
    }
}

fn write_chain(f: &mut fmt::Formatter<'_>, terms: &[Condition], sign: &str) -> fmt::Result {
    f.write_str("(")?;
    for (position, term) in terms.iter().enumerate() {
        let before = if position == 0 { "" } else { sign };
        write!(f, "{before}{term}")?;
    }
    f.write_str(")")
}
