//! What an expression evaluates to.

use std::fmt;
use std::sync::Arc;

use crate::expr::Expr;
use crate::scope::Scope;
use crate::unparse::{Style, Writer};

/// A string of bytes. The language does not ask for UTF-8.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Arc<[u8]>);

impl Text {
    /// A string of these bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(Arc::from(bytes.as_ref()))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether both are the same but for ASCII case.
    #[inline]
    pub(crate) fn same_folded(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.eq_ignore_ascii_case(&other.0)
    }

    /// The text, with what is not UTF-8 replaced.
    pub fn to_string_lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Other bytes read differently, whatever they stand for.
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// An instant, with the offset from UTC it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbsTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub secs: i64,
    /// Seconds east of UTC.
    pub offset_secs: i32,
}

/// A list: its elements, not yet evaluated, and the ad they belong to.
#[derive(Clone, Debug)]
pub struct List {
    pub(crate) items: Arc<[Expr]>,
    pub(crate) scope: Option<Scope>,
    /// Made by a function. HTCondor counts such a list as of another type where it compares identities.
    pub(crate) is_made: bool,
}

impl List {
    pub(crate) fn of_values(values: impl IntoIterator<Item = Value>) -> Self {
        Self { items: values.into_iter().map(Expr::from_value).collect(), scope: None, is_made: false }
    }

    pub(crate) fn made_of(values: impl IntoIterator<Item = Value>) -> Self {
        Self { is_made: true, ..Self::of_values(values) }
    }

    /// The elements as they are written.
    pub fn items(&self) -> &[Expr] {
        &self.items
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// The value of an expression.
///
/// Its `Display` is how the language writes it, with reals that read back to the same bits:
///
/// ```
/// use gleaner_classad::{Context, Expr};
///
/// let value = Expr::parse(r#"{1, 0.1 + 0.2, "a\"b", undefined}[1]"#)?.evaluate(&Context::new());
/// assert_eq!(value.to_string(), "0.30000000000000004");
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// What a missing attribute evaluates to.
    #[default]
    Undefined,
    /// What a mistake evaluates to.
    Error,
    /// `true` or `false`.
    Boolean(bool),
    /// A 64-bit integer; arithmetic wraps.
    Integer(i64),
    /// A 64-bit real.
    Real(f64),
    /// A string of bytes.
    String(Text),
    /// An instant.
    AbsTime(AbsTime),
    /// A span in seconds.
    RelTime(f64),
    /// A list.
    List(List),
    /// An ad, and the ads around it.
    Ad(Scope),
}

impl Value {
    /// A string.
    pub fn string(text: impl AsRef<[u8]>) -> Self {
        Self::String(Text::new(text))
    }

    /// The name of the value's type, in lower case.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Error => "error",
            Self::Boolean(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Real(_) => "real",
            Self::String(_) => "string",
            Self::AbsTime(_) => "absolute time",
            Self::RelTime(_) => "relative time",
            Self::List(_) => "list",
            Self::Ad(_) => "classad",
        }
    }

    /// `true` and `false`, and numbers by whether they are zero: what `&&`, `!` and `?:` accept.
    #[inline]
    pub fn as_condition(&self) -> Option<bool> {
        match *self {
            Self::Boolean(b) => Some(b),
            Self::Integer(i) => Some(i != 0),
            Self::Real(r) => Some(r != 0.0),
            _ => None,
        }
    }

    /// The number, if it is an integer, a real or a boolean.
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Self::Boolean(b) => Some(f64::from(u8::from(b))),
            Self::Integer(i) => Some(i as f64),
            Self::Real(r) => Some(r),
            _ => None,
        }
    }

    /// The bytes, if it is a string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Whether this is [`Value::Undefined`].
    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    /// Whether this is [`Value::Error`].
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Error)
    }

    /// The value as HTCondor's `string()` writes it: reals in sixteen digits, attributes in HTCondor's order.
    ///
    /// ```
    /// use gleaner_classad::{Context, Expr};
    ///
    /// let value = Expr::parse("{1.5, [b = 2; a = 1]}")?.evaluate(&Context::new());
    /// assert_eq!(value.to_htcondor_string(), "{ 1.500000000000000E+00,[ a = 1; b = 2 ] }");
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn to_htcondor_string(&self) -> String {
        let mut writer = Writer::new(Style::Condor);
        writer.value(self);
        writer.into_string()
    }

    pub(crate) fn is_exceptional(&self) -> bool {
        self.is_error() || self.is_undefined()
    }
}

/// Same type and same value: reals by their bits, lists and ads by what is written in them.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Error, Self::Error) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Real(a), Self::Real(b)) | (Self::RelTime(a), Self::RelTime(b)) => {
                a.to_bits() == b.to_bits()
            }
            (Self::String(a), Self::String(b)) => a == b,
            (Self::AbsTime(a), Self::AbsTime(b)) => a == b,
            (Self::List(a), Self::List(b)) => a.items == b.items,
            (Self::Ad(a), Self::Ad(b)) => a.ad() == b.ad(),
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new(Style::Exact);
        writer.value(self);
        f.write_str(&writer.into_string())
    }
}
