//! Tokens: what users, joining agents and dashboards show to be let in.
//!
//! A token is its kind and 256 random bits. The coordinator stores and looks up [`TokenHash`]es, so that its folder
//! lets nobody in; a plain hash is enough, as there is nothing to guess among 2²⁵⁶.

use crate::fingerprint::Fingerprint;
use crate::{NoRandomness, base64url, random_bytes};
use http::HeaderValue;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use subtle::ConstantTimeEq;

/// What a token is good for. The kind is part of what is hashed: a token of one kind never passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// Lets one machine join.
    Join,
    /// Stands for a user.
    User,
    /// Stands for a user's session in a browser.
    Session,
}

/// A secret that lets its holder in. Neither `Debug` nor an error shows it.
#[derive(Clone)]
pub struct Token {
    kind: TokenKind,
    secret: [u8; 32],
}

/// What the coordinator keeps of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash([u8; 32]);

/// What a machine needs to join: a token, and the authority to expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinToken {
    token: Token,
    authority: Fingerprint,
}

/// Why a text is not a token. It does not quote the text, which may be nearly a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It begins with none of the known prefixes.
    #[error("a token begins with glj_ (join), glu_ (user) or gls_ (session), and this does not")]
    Prefix,
    /// It is a token for something else.
    #[error("this is a {0} token, and a join token (glj_…) is needed")]
    Kind(TokenKind),
    /// What follows the prefix is not 256 bits.
    #[error(
        "after its prefix a token has 43 letters, digits, - or _ that go together; here they do not: was a part of it lost? Of a line `gleaner login ADDRESS TOKEN.AUTHORITY` the token ends before the dot"
    )]
    Secret,
    /// What follows the dot is not a fingerprint.
    #[error(
        "in a join token a dot and 64 hexadecimal digits follow the secret; here they do not: was a part of it lost?"
    )]
    Fingerprint,
}

impl TokenKind {
    const ALL: [Self; 3] = [Self::Join, Self::User, Self::Session];

    fn prefix(self) -> &'static str {
        match self {
            Self::Join => "glj_",
            Self::User => "glu_",
            Self::Session => "gls_",
        }
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Join => "join",
            Self::User => "user",
            Self::Session => "session",
        })
    }
}

impl Token {
    /// A new token of a kind.
    pub fn generate(kind: TokenKind) -> Result<Self, NoRandomness> {
        Ok(Self { kind, secret: random_bytes()? })
    }

    /// What it is good for.
    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The text that its holder keeps and shows. This is the secret itself.
    pub fn reveal(&self) -> String {
        format!("{}{}", self.kind.prefix(), base64url::encode(&self.secret))
    }

    /// What the coordinator keeps of it.
    pub fn hash(&self) -> TokenHash {
        let hash = Sha256::new().chain_update(self.kind.prefix()).chain_update(self.secret);
        TokenHash(hash.finalize().into())
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, secret) = TokenKind::ALL
            .into_iter()
            .find_map(|kind| Some((kind, text.strip_prefix(kind.prefix())?)))
            .ok_or(TokenError::Prefix)?;
        let secret = base64url::decode(secret).ok_or(TokenError::Secret)?;
        Ok(Self { kind, secret })
    }
}

/// Takes the same time whatever the secrets are.
impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && bool::from(self.secret.ct_eq(&other.secret))
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}…)", self.kind.prefix())
    }
}

/// As it is stored: 64 hexadecimal digits.
impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl JoinToken {
    /// The text part of a join line: `token`, and the authority to expect. A token of another kind is refused.
    pub fn new(token: Token, authority: Fingerprint) -> Result<Self, TokenError> {
        Ok(Self { token: joining(token)?, authority })
    }

    /// The token to show.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The authority to expect.
    pub fn authority(&self) -> Fingerprint {
        self.authority
    }

    /// The text for the join line. It holds the secret.
    pub fn reveal(&self) -> String {
        format!("{}.{}", self.token.reveal(), self.authority)
    }
}

impl FromStr for JoinToken {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (token, authority) = text.split_once('.').unwrap_or((text, ""));
        let token = joining(token.parse()?)?;
        Ok(Self { token, authority: authority.parse().map_err(|_| TokenError::Fingerprint)? })
    }
}

fn joining(token: Token) -> Result<Token, TokenError> {
    match token.kind {
        TokenKind::Join => Ok(token),
        kind @ (TokenKind::User | TokenKind::Session) => Err(TokenError::Kind(kind)),
    }
}

/// The header that shows a token, marked so that nothing logs it.
pub(crate) fn bearer(token: &Token) -> HeaderValue {
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal())).expect("a token is ASCII");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::{JoinToken, Token, TokenError, TokenKind};
    use crate::fingerprint::Fingerprint;
    use proptest::prelude::*;

    const SECRET: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

    #[test]
    fn texts_and_what_they_are() {
        let table = [
            (format!("glj_{SECRET}"), Ok(TokenKind::Join)),
            (format!("glu_{SECRET}"), Ok(TokenKind::User)),
            (format!("gls_{SECRET}"), Ok(TokenKind::Session)),
            (String::new(), Err(TokenError::Prefix)),
            (format!("glx_{SECRET}"), Err(TokenError::Prefix)),
            (format!("GLJ_{SECRET}"), Err(TokenError::Prefix)),
            (format!(" glj_{SECRET}"), Err(TokenError::Prefix)),
            ("glj_".into(), Err(TokenError::Secret)),
            (format!("glj_{SECRET}\n"), Err(TokenError::Secret)),
            (format!("glj_{}", &SECRET[1..]), Err(TokenError::Secret)),
            (format!("glj_{}", "A".repeat(1 << 20)), Err(TokenError::Secret)),
        ];
        for (text, expected) in table {
            let parsed = text.parse::<Token>();
            assert_eq!(parsed.as_ref().map(Token::kind), expected.as_ref().copied(), "{text:.60}");
            if let Ok(token) = parsed {
                assert_eq!(token.reveal(), text);
            }
        }
    }

    #[test]
    fn join_texts_and_what_they_are() {
        let authority = Fingerprint::of_der(b"authority");
        let table = [
            (format!("glj_{SECRET}"), Err(TokenError::Fingerprint)),
            (format!("glj_{SECRET}.{authority}"), Ok(authority)),
            (format!("glj_{SECRET}."), Err(TokenError::Fingerprint)),
            (format!("glj_{SECRET}.{authority}.{authority}"), Err(TokenError::Fingerprint)),
            (format!("glu_{SECRET}.{authority}"), Err(TokenError::Kind(TokenKind::User))),
            (format!("glj_.{authority}"), Err(TokenError::Secret)),
        ];
        for (text, expected) in table {
            let parsed = text.parse::<JoinToken>();
            assert_eq!(parsed.as_ref().map(JoinToken::authority), expected.as_ref().copied(), "{text}");
            if let Ok(token) = parsed {
                assert_eq!(token.reveal(), text);
            }
        }
    }

    #[test]
    fn no_debug_shows_the_secret() {
        let authority = Fingerprint::of_der(b"authority");
        let token: JoinToken = format!("glj_{SECRET}.{authority}").parse().unwrap();
        let shown = format!("{token:?}");
        assert!(shown.starts_with("JoinToken { token: Token(glj_…), authority: "), "{shown}");
    }

    #[test]
    fn the_kind_is_part_of_the_hash() {
        let [join, user] =
            ["glj_", "glu_"].map(|prefix| format!("{prefix}{SECRET}").parse::<Token>().unwrap());
        assert_ne!(join.hash(), user.hash());
    }

    proptest! {
        #[test]
        fn a_hash_matches_its_token_only(secret: [u8; 32], bit in 0_usize..256) {
            let token = Token { kind: TokenKind::User, secret };
            prop_assert_eq!(token.hash(), token.clone().hash());
            let mut other = token.clone();
            other.secret[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(other != token && other.hash() != token.hash());
        }
    }
}
