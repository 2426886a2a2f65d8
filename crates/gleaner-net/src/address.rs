//! Where the coordinator is: always at the other end of a TLS connection, on this machine too.
//!
//! Whoever holds a port of this machine may be another user's program, or a task's. So loopback is no exception.

use http::Uri;
use rustls::pki_types::ServerName;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// No host name is longer than 253 characters; with scheme and port this leaves room.
const TEXT_MAX_BYTES: usize = 300;
/// Where a server with TLS listens if nothing is said.
const USUAL_PORT: u16 = 443;

/// The address of a coordinator: `https://HOST[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: Host,
    port: u16,
}

/// A host as a certificate names it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Ip(IpAddr),
}

/// Why a text is not the address of a coordinator. The text is not quoted: a token or a password may be in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is not a URL at all.
    #[error("this is not an address: write https://HOST:PORT")]
    NotAUrl,
    /// Its scheme is not the one.
    #[error("an address begins with https://, and this does not")]
    Scheme,
    /// Whoever listens there could not be told from the coordinator.
    #[error(
        "with http:// nobody can tell whether it is the right server, on this machine neither: write https://{0}"
    )]
    Plain(String),
    /// It has more than scheme, host and port.
    #[error("this has more than a host and a port: write https://HOST:PORT")]
    Excess,
    /// Its host is neither a name nor an IP address.
    #[error("no certificate could be for the host {0:?}: write a host name or an IP address")]
    Host(String),
}

impl Address {
    /// The name or IP address to connect to.
    pub fn host(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::Ip(ip) => ip.to_string(),
        }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether what is sent there never leaves this machine.
    pub fn is_loopback(&self) -> bool {
        self.host.is_loopback()
    }

    /// The name that the server's certificate must be for.
    pub(crate) fn server_name(&self) -> ServerName<'static> {
        match &self.host {
            Host::Name(name) => {
                ServerName::try_from(name.clone()).expect("checked when the address was parsed")
            }
            Host::Ip(ip) => ServerName::from(*ip),
        }
    }
}

impl Host {
    fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            // IPv4 addresses written as IPv6 count as what they are.
            Self::Ip(ip) => ip.to_canonical().is_loopback(),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > TEXT_MAX_BYTES {
            return Err(AddressError::NotAUrl);
        }
        let uri: Uri = text.parse().map_err(|_| AddressError::NotAUrl)?;
        let is_plain = match uri.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            Some(_) | None => return Err(AddressError::Scheme),
        };
        let authority = uri.authority().ok_or(AddressError::NotAUrl)?;
        // The parser drops what follows `#`, so that is looked for in the text.
        let excess = uri.query().is_some() || uri.path() != "/" || text.contains(['@', '#']);
        if excess {
            return Err(AddressError::Excess);
        }
        let host = host(authority.host()).ok_or_else(|| AddressError::Host(authority.host().into()))?;
        if is_plain {
            return Err(AddressError::Plain(authority.as_str().into()));
        }
        let port = match authority.port() {
            Some(port) => port.as_u16(),
            None if authority.as_str().len() == authority.host().len() => USUAL_PORT,
            None => return Err(AddressError::NotAUrl),
        };
        Ok(Self { host, port })
    }
}

/// A host as written in a URL, where IPv6 addresses have brackets.
fn host(written: &str) -> Option<Host> {
    let bare = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(written);
    match ServerName::try_from(bare).ok()? {
        ServerName::DnsName(name) => Some(Host::Name(name.as_ref().into())),
        ServerName::IpAddress(ip) => Some(Host::Ip(ip.into())),
        _ => None,
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Name(name) => write!(f, "https://{name}:{}", self.port),
            Host::Ip(ip) => write!(f, "https://{}", SocketAddr::new(*ip, self.port)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, AddressError};

    #[test]
    fn good_addresses() {
        for (text, printed) in [
            ("https://grid.example.org:7077", "https://grid.example.org:7077"),
            ("https://grid.example.org/", "https://grid.example.org:443"),
            ("HTTPS://10.0.0.4:1", "https://10.0.0.4:1"),
            ("https://[2001:db8::1]:7077", "https://[2001:db8::1]:7077"),
            ("https://127.0.0.1:7077", "https://127.0.0.1:7077"),
            ("https://127.8.9.10:7077", "https://127.8.9.10:7077"),
            ("https://localhost:7077", "https://localhost:7077"),
            ("https://[::1]:7077", "https://[::1]:7077"),
            ("https://[::ffff:127.0.0.1]:7077", "https://[::ffff:127.0.0.1]:7077"),
        ] {
            let address = text.parse::<Address>();
            assert_eq!(address.as_ref().map(ToString::to_string), Ok(printed.to_owned()), "{text}");
            assert_eq!(printed.parse(), address);
        }
    }

    #[test]
    fn bad_addresses() {
        use AddressError as E;
        let long = "h".repeat(5000);
        for (text, error) in [
            ("", E::NotAUrl),
            (&*long, E::NotAUrl),
            ("https://", E::NotAUrl),
            ("https://host:70000", E::NotAUrl),
            ("https://host:", E::NotAUrl),
            ("https://a b", E::NotAUrl),
            ("https://[::1", E::NotAUrl),
            ("host:7077", E::Scheme),
            ("/path", E::Scheme),
            ("ftp://host", E::Scheme),
            ("https://host/path", E::Excess),
            ("https://host/?query", E::Excess),
            ("https://host#part", E::Excess),
            ("https://user:secret@host", E::Excess),
            ("https://-host", E::Host("-host".into())),
        ] {
            assert_eq!(text.parse::<Address>(), Err(error), "{text:.60}");
        }
        for (text, host) in [
            ("http://127.0.0.1:7077", "127.0.0.1:7077"),
            ("http://localhost:7077", "localhost:7077"),
            ("http://[::1]:7077", "[::1]:7077"),
            ("http://grid.example.org", "grid.example.org"),
        ] {
            assert_eq!(text.parse::<Address>(), Err(E::Plain(host.into())), "{text}");
        }
    }

    #[test]
    fn loopback() {
        for (text, expected) in [
            ("https://localhost:1", true),
            ("https://127.0.0.1:1", true),
            ("https://127.255.0.1:1", true),
            ("https://[::1]:1", true),
            ("https://[::ffff:127.0.0.1]:1", true),
            ("https://[::ffff:10.0.0.1]:1", false),
            ("https://localhost.example.org:1", false),
            ("https://128.0.0.1:1", false),
            ("https://0.0.0.0:1", false),
            ("https://[::]:1", false),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().is_loopback(), expected, "{text}");
        }
    }
}
