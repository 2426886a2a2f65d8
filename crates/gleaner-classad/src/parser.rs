//! Tokens into expressions and ads: the new form, and one attribute's right-hand side of the old form.

use crate::ad::ClassAd;
use crate::counted::Counted;
use crate::diagnostic::{ParseError, Problem, excerpt};
use crate::expr::{Base, BinaryOp, Call, Expr, Literal, Node, Reference, UnaryOp};
use crate::lexer::{Lexer, Strings, Token};
use crate::limits::Limits;
use crate::name::Name;
use crate::stack::deeper;
use crate::time;
use crate::value::Text;

impl Expr {
    /// Parses an expression in the new form, which is the whole text.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        Self::parse_within(text, &Limits::DEFAULT)
    }

    /// The same within the given limits.
    pub fn parse_within(text: impl AsRef<[u8]>, limits: &Limits) -> Result<Self, ParseError> {
        Parser::new(text.as_ref(), Strings::New, limits)?.whole(Parser::expression)
    }
}

impl ClassAd {
    /// Parses an ad in the new form, `[ a = 1; b = 2 ]`, which is the whole text.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        Self::parse_within(text, &Limits::DEFAULT)
    }

    /// The same within the given limits.
    pub fn parse_within(text: impl AsRef<[u8]>, limits: &Limits) -> Result<Self, ParseError> {
        Parser::new(text.as_ref(), Strings::New, limits)?.whole(Parser::ad)
    }
}

/// The reals that have no digits are written as calls; they are literals all the same.
fn written_out(name: &Name, args: &[Expr]) -> Option<f64> {
    let [argument] = args else { return None };
    let Node::Literal(Literal::String(text)) = argument.node() else { return None };
    match (name.as_bytes(), text.as_bytes()) {
        (b"real", b"INF") => Some(f64::INFINITY),
        (b"real", b"-INF") => Some(f64::NEG_INFINITY),
        (b"real", b"NaN") => Some(f64::NAN),
        _ => None,
    }
}

/// How tall a tree may grow for each permitted level of nesting: `(1 + (1 + …` adds two nodes a level.
const NODES_PER_LEVEL: usize = 4;

pub(crate) struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    counted: Counted,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t [u8], strings: Strings, limits: &Limits) -> Result<Self, ParseError> {
        let mut lexer = Lexer::new(text, strings);
        let token = lexer.next()?;
        Ok(Self { lexer, token, counted: Counted::new(limits) })
    }

    /// Parses with the given rule and wants nothing behind it.
    pub(crate) fn whole<T>(
        mut self,
        rule: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let parsed = rule(&mut self)?;
        if self.token == Token::End {
            Ok(parsed)
        } else {
            Err(self.unexpected("an operator or the end of the input"))
        }
    }

    fn unexpected(&self, expected: &'static str) -> ParseError {
        self.lexer.error(Problem::Unexpected { found: self.lexer.found(), expected })
    }

    fn advance(&mut self) -> Result<Token, ParseError> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn expect(&mut self, token: &Token, expected: &'static str) -> Result<(), ParseError> {
        if self.token == *token {
            self.advance()?;
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn node(&mut self, node: Node) -> Result<Expr, ParseError> {
        self.counted.element().map_err(|problem| self.lexer.error(problem))?;
        let expr = Expr::new(node);
        let nesting = self.counted.limits().nesting;
        if expr.height() > nesting.saturating_mul(NODES_PER_LEVEL) {
            return Err(self.lexer.error(Problem::TooDeep(nesting)));
        }
        Ok(expr)
    }

    pub(crate) fn expression(&mut self) -> Result<Expr, ParseError> {
        self.counted.enter().map_err(|problem| self.lexer.error(problem))?;
        let parsed = deeper(|| self.conditional());
        self.counted.leave(1);
        parsed
    }

    fn conditional(&mut self) -> Result<Expr, ParseError> {
        let condition = self.binary()?;
        if self.token != Token::Question {
            return Ok(condition);
        }
        self.advance()?;
        let middle = self.expression()?;
        self.expect(&Token::Colon, "`:`")?;
        let otherwise = self.expression()?;
        self.node(Node::Conditional(condition, middle, otherwise))
    }

    fn binary(&mut self) -> Result<Expr, ParseError> {
        let mut operands = vec![self.unary()?];
        let mut operators: Vec<BinaryOp> = Vec::new();
        while let Token::Operator(op) = self.token {
            while operators.last().is_some_and(|last| last.precedence() > op.precedence()) {
                self.join(&mut operands, &mut operators)?;
            }
            operators.push(op);
            self.advance()?;
            operands.push(self.unary()?);
        }
        while !operators.is_empty() {
            self.join(&mut operands, &mut operators)?;
        }
        operands.pop().ok_or_else(|| self.unexpected("an operand"))
    }

    /// Makes one chain of the operators of one precedence at the end.
    fn join(&mut self, operands: &mut Vec<Expr>, operators: &mut Vec<BinaryOp>) -> Result<(), ParseError> {
        let level = operators.last().map(|op| op.precedence());
        let run = operators.iter().rev().take_while(|op| Some(op.precedence()) == level).count();
        let ops = operators.split_off(operators.len() - run);
        let rest = operands.split_off(operands.len() - run);
        if let Some(first) = operands.pop() {
            let chain = self.node(Node::Chain(first, ops.into_iter().zip(rest).collect()))?;
            operands.push(chain);
        }
        Ok(())
    }

    fn unary(&mut self) -> Result<Expr, ParseError> {
        let mut prefixes = Vec::new();
        loop {
            prefixes.push(match self.token {
                Token::Operator(BinaryOp::Subtract) => UnaryOp::Minus,
                Token::Operator(BinaryOp::Add) => UnaryOp::Plus,
                Token::Not => UnaryOp::Not,
                Token::Complement => UnaryOp::Complement,
                _ => break,
            });
            self.counted.enter().map_err(|problem| self.lexer.error(problem))?;
            self.advance()?;
        }
        let mut expr = self.defaulted()?;
        self.counted.leave(prefixes.len());
        for op in prefixes.into_iter().rev() {
            expr = self.node(Node::Unary(op, expr))?;
        }
        Ok(expr)
    }

    /// `a ?: b` binds tighter than any other operator: `1 ?: 2 + 3` is 4.
    fn defaulted(&mut self) -> Result<Expr, ParseError> {
        let first = self.postfix()?;
        if self.token != Token::Elvis {
            return Ok(first);
        }
        let mut alternatives = vec![first];
        while self.token == Token::Elvis {
            self.advance()?;
            alternatives.push(self.postfix()?);
        }
        self.node(Node::Default(alternatives.into()))
    }

    fn postfix(&mut self) -> Result<Expr, ParseError> {
        let mut expr = self.primary()?;
        loop {
            match self.token {
                Token::Dot => {
                    self.advance()?;
                    let name = self.identifier("the name of an attribute")?;
                    expr = self.node(Node::Attribute(Reference { base: Base::Of(expr), name }))?;
                }
                Token::OpenBracket => {
                    self.advance()?;
                    let index = self.expression()?;
                    self.expect(&Token::CloseBracket, "an operator or `]`")?;
                    expr = self.node(Node::Subscript(expr, index))?;
                }
                _ => return Ok(expr),
            }
        }
    }

    fn identifier(&mut self, expected: &'static str) -> Result<Name, ParseError> {
        if !matches!(self.token, Token::Identifier(_)) {
            return Err(self.unexpected(expected));
        }
        match self.advance()? {
            Token::Identifier(name) => Ok(Name::new(name)),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn primary(&mut self) -> Result<Expr, ParseError> {
        match self.token {
            Token::Identifier(_) => {
                let name = self.identifier("a name")?;
                if self.token == Token::OpenParen {
                    return self.call(name);
                }
                self.node(Node::Attribute(Reference { base: Base::Here, name }))
            }
            Token::Dot => {
                self.advance()?;
                let name = self.identifier("the name of an attribute")?;
                self.node(Node::Attribute(Reference { base: Base::Root, name }))
            }
            Token::OpenParen => {
                self.advance()?;
                let inner = self.expression()?;
                self.expect(&Token::CloseParen, "an operator or `)`")?;
                self.node(Node::Parenthesised(inner))
            }
            Token::OpenBrace => {
                self.advance()?;
                let items = self.series(&Token::CloseBrace, "an operator, `,` or `}`")?;
                self.node(Node::List(items.into()))
            }
            Token::OpenBracket => {
                let ad = self.ad()?;
                self.node(Node::Ad(ad))
            }
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Expr, ParseError> {
        let literal = match &mut self.token {
            Token::Integer(i) => Literal::Integer(*i),
            Token::Real(r) => Literal::Real(*r),
            Token::Boolean(b) => Literal::Boolean(*b),
            Token::Undefined => Literal::Undefined,
            Token::Error => Literal::Error,
            Token::String(bytes) => Literal::String(Text::from(std::mem::take(bytes))),
            _ => return Err(self.unexpected("an operand")),
        };
        self.advance()?;
        self.node(Node::Literal(literal))
    }

    /// Expressions between commas, up to and with the closing token.
    fn series(&mut self, close: &Token, expected: &'static str) -> Result<Vec<Expr>, ParseError> {
        let mut items = Vec::new();
        if self.token != *close {
            items.push(self.expression()?);
            // Arguments may stand between semicolons too, as they did in old ads.
            while self.token == Token::Comma || self.token == Token::Semicolon && *close == Token::CloseParen
            {
                self.advance()?;
                items.push(self.expression()?);
            }
        }
        self.expect(close, expected)?;
        Ok(items)
    }

    fn call(&mut self, name: Name) -> Result<Expr, ParseError> {
        let start = self.lexer.span;
        self.advance()?;
        let args = self.series(&Token::CloseParen, "an operator, `,` or `)`")?;
        let node = if let [argument] = args.as_slice()
            && let Node::Literal(Literal::String(text)) = argument.node()
            && (name.is("absTime") || name.is("relTime"))
        {
            // Times written out are literals; what is not a time does not parse.
            let (literal, kind) = if name.is("absTime") {
                (time::parse_absolute(text.as_bytes()).map(Literal::AbsTime), "absolute time")
            } else {
                (time::parse_relative(text.as_bytes()).map(Literal::RelTimeText), "relative time")
            };
            let Some(literal) = literal else {
                self.lexer.span = start;
                return Err(self.lexer.error(Problem::Time(excerpt(text.as_bytes()), kind)));
            };
            Node::Literal(literal)
        } else if let Some(real) = written_out(&name, &args) {
            Node::Literal(Literal::Real(real))
        } else {
            Node::Call(Call::new(name, args))
        };
        self.node(node)
    }

    pub(crate) fn ad(&mut self) -> Result<ClassAd, ParseError> {
        self.expect(&Token::OpenBracket, "`[`")?;
        let mut ad = ClassAd::new();
        while self.token == Token::Semicolon {
            self.advance()?;
        }
        while self.token != Token::CloseBracket {
            let name = self.identifier("the name of an attribute or `]`")?;
            if name.as_bytes().is_empty() {
                return Err(self.unexpected("a name before `=` that is not empty"));
            }
            self.expect(&Token::Assign, "`=`")?;
            let expr = self.expression()?;
            ad.insert(name, expr);
            if self.token != Token::CloseBracket && self.token != Token::Semicolon {
                return Err(self.unexpected("an operator, `;` or `]`"));
            }
            while self.token == Token::Semicolon {
                self.advance()?;
            }
        }
        self.advance()?;
        Ok(ad)
    }
}
