//! Expressions, ads and values as text.

use std::fmt::Write as _;

use crate::ad::ClassAd;
use crate::expr::{Base, BinaryOp, Call, Expr, Literal, Node, Reference, UnaryOp};
use crate::name::Name;
use crate::number;
use crate::stack::deeper;
use crate::time;
use crate::value::Value;

/// Which hand writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Ours: parses back to the same, reals to the same bits.
    Exact,
    /// HTCondor's own to the letter: what `string()` gives, so that it can be compared.
    Condor,
    /// HTCondor's own over several lines: what `unparse()` gives.
    Pretty,
}

pub(crate) struct Writer {
    out: String,
    style: Style,
    indent: usize,
}

/// Also in front of an index, a name or an alternative: `-0[3]`, `- 0 ?: 1`.
fn begins_with_a_number(mut expr: &Expr) -> bool {
    loop {
        expr = match expr.node() {
            Node::Literal(literal) => return matches!(literal, Literal::Integer(_) | Literal::Real(_)),
            Node::Subscript(base, _) | Node::Attribute(Reference { base: Base::Of(base), .. }) => base,
            Node::Default(alternatives) => &alternatives[0],
            _ => return false,
        }
    }
}

const PRETTY_AD_INDENT: usize = 4;
const PRETTY_LIST_INDENT: usize = 3;

impl Writer {
    pub(crate) fn new(style: Style) -> Self {
        Self { out: String::new(), style, indent: 0 }
    }

    pub(crate) fn into_string(self) -> String {
        self.out
    }

    fn is_exact(&self) -> bool {
        self.style == Style::Exact
    }

    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::List(list) => self.list(list.items()),
            Value::Ad(scope) => self.ad(scope.ad()),
            Value::Undefined => self.out.push_str("undefined"),
            Value::Error => self.out.push_str("error"),
            Value::Boolean(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Value::Integer(i) => {
                let _ = write!(self.out, "{i}");
            }
            Value::Real(r) => match self.style {
                Style::Exact => number::write_exact(&mut self.out, *r),
                Style::Condor | Style::Pretty => number::write_scientific(&mut self.out, *r),
            },
            Value::String(text) => self.quoted(text.as_bytes(), b'"'),
            Value::AbsTime(instant) => {
                let _ = write!(self.out, "absTime(\"{}\")", time::write_absolute(*instant));
            }
            Value::RelTime(secs) => {
                let written = if self.is_exact() {
                    time::write_relative_exact(*secs)
                } else {
                    time::write_relative(*secs)
                };
                let _ = write!(self.out, "relTime(\"{written}\")");
            }
        }
    }

    pub(crate) fn expr(&mut self, expr: &Expr) {
        deeper(|| self.node(expr.node()));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Literal(Literal::RelTimeText(secs)) => {
                let written = if self.is_exact() {
                    time::write_relative_exact(*secs)
                } else {
                    time::write_relative_text(*secs)
                };
                let _ = write!(self.out, "relTime(\"{written}\")");
            }
            Node::Literal(literal) => self.value(&literal.value()),
            Node::Attribute(reference) => self.reference(reference),
            Node::Unary(op, operand) => self.unary(*op, operand),
            Node::Chain(first, rest) => {
                self.expr(first);
                for (op, operand) in rest {
                    let _ = write!(self.out, " {} ", self.symbol(*op));
                    self.expr(operand);
                }
            }
            Node::Conditional(condition, middle, otherwise) => {
                self.expr(condition);
                self.out.push_str(" ? ");
                self.expr(middle);
                self.out.push_str(" : ");
                self.expr(otherwise);
            }
            Node::Default(alternatives) => {
                for (place, alternative) in alternatives.iter().enumerate() {
                    if place > 0 {
                        self.out.push_str(" ?: ");
                    }
                    self.expr(alternative);
                }
            }
            Node::Subscript(base, index) => {
                self.expr(base);
                self.out.push('[');
                self.expr(index);
                self.out.push(']');
            }
            Node::Call(call) => self.call(call),
            Node::Parenthesised(inner) => {
                self.out.push('(');
                self.expr(inner);
                self.out.push(')');
            }
            Node::List(items) => self.list(items),
            Node::Ad(ad) => self.ad(ad),
        }
    }

    fn reference(&mut self, reference: &Reference) {
        match &reference.base {
            Base::Here => self.name(&reference.name),
            Base::Root => {
                self.out.push('.');
                self.name(&reference.name);
            }
            Base::Of(base) => {
                self.expr(base);
                if !self.is_exact() {
                    // HTCondor forgets the quotes here.
                    self.out.push('.');
                    self.out.push_str(&String::from_utf8_lossy(reference.name.as_bytes()));
                    return;
                }
                // `5.a` would read as a broken number.
                self.out.push_str(if matches!(base.node(), Node::Literal(_)) { " ." } else { "." });
                self.name(&reference.name);
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr) {
        let symbol = match op {
            UnaryOp::Plus => '+',
            UnaryOp::Minus => '-',
            UnaryOp::Not => '!',
            UnaryOp::Complement => '~',
        };
        if !self.is_exact() {
            self.out.push(' ');
        }
        self.out.push(symbol);
        // `-5` would read as one number.
        if self.is_exact() && begins_with_a_number(operand) {
            self.out.push(' ');
        }
        self.expr(operand);
    }

    fn symbol(&self, op: BinaryOp) -> &'static str {
        let in_words = !self.is_exact();
        match op {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::BitAnd => "&",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Is if in_words => "is",
            BinaryOp::Is => "=?=",
            BinaryOp::Isnt if in_words => "isnt",
            BinaryOp::Isnt => "=!=",
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::ShiftRightUnsigned => ">>>",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulus => "%",
        }
    }

    fn call(&mut self, call: &Call) {
        if self.is_exact() {
            self.name(&call.name);
        } else {
            self.out.push_str(&String::from_utf8_lossy(call.name.as_bytes()));
        }
        self.out.push('(');
        self.separated(&call.args);
        self.out.push(')');
    }

    fn separated(&mut self, items: &[Expr]) {
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                self.out.push_str(if self.is_exact() { ", " } else { "," });
            }
            self.expr(item);
        }
    }

    pub(crate) fn list(&mut self, items: &[Expr]) {
        match self.style {
            Style::Exact => {
                self.out.push('{');
                self.separated(items);
                self.out.push('}');
            }
            Style::Condor => {
                self.out.push_str("{ ");
                self.separated(items);
                self.out.push_str(" }");
            }
            Style::Pretty => {
                self.open(PRETTY_LIST_INDENT, '{');
                for (place, item) in items.iter().enumerate() {
                    self.new_line();
                    self.expr(item);
                    if place + 1 < items.len() {
                        self.out.push(',');
                    }
                }
                self.close(PRETTY_LIST_INDENT, '}');
            }
        }
    }

    pub(crate) fn ad(&mut self, ad: &ClassAd) {
        let attributes: Vec<(&Name, &Expr)> = if self.is_exact() { ad.iter().collect() } else { ad.sorted() };
        match self.style {
            Style::Exact => self.out.push('['),
            Style::Condor => self.out.push_str("[ "),
            Style::Pretty => self.open(PRETTY_AD_INDENT, '['),
        }
        for (place, (name, expr)) in attributes.iter().enumerate() {
            if place > 0 {
                self.out.push_str("; ");
            }
            if self.style == Style::Pretty {
                self.new_line();
            }
            self.name(name);
            self.out.push_str(" = ");
            self.expr(expr);
        }
        match self.style {
            Style::Exact => self.out.push(']'),
            Style::Condor => self.out.push_str(" ]"),
            Style::Pretty => self.close(PRETTY_AD_INDENT, ']'),
        }
    }

    fn open(&mut self, indent: usize, bracket: char) {
        self.indent += indent;
        self.new_line();
        self.out.push(bracket);
        self.indent += indent;
    }

    fn close(&mut self, indent: usize, bracket: char) {
        self.indent -= indent;
        self.new_line();
        self.out.push(bracket);
        self.indent -= indent;
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    /// A name, in quotes where it would not read as one.
    pub(crate) fn name(&mut self, name: &Name) {
        let bytes = name.as_bytes();
        let plain = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let reserved = ["true", "false", "undefined", "error", "is", "isnt"].iter().any(|word| name.is(word));
        if plain && !reserved {
            self.out.push_str(&String::from_utf8_lossy(bytes));
        } else {
            self.quoted(bytes, b'\'');
        }
    }

    fn quoted(&mut self, bytes: &[u8], quote: u8) {
        self.out.push(quote as char);
        for &byte in bytes {
            match byte {
                byte if byte == quote => {
                    self.out.push('\\');
                    self.out.push(quote as char);
                }
                0x07 => self.out.push_str("\\a"),
                0x08 => self.out.push_str("\\b"),
                0x0c => self.out.push_str("\\f"),
                b'\n' => self.out.push_str("\\n"),
                b'\r' => self.out.push_str("\\r"),
                b'\t' => self.out.push_str("\\t"),
                0x0b => self.out.push_str("\\v"),
                b'\\' => self.out.push_str("\\\\"),
                b' '..=b'~' => self.out.push(byte as char),
                _ => {
                    let _ = write!(self.out, "\\{byte:03o}");
                }
            }
        }
        self.out.push(quote as char);
    }
}
