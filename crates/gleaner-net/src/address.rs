//! Where the coordinator is, and whether words to it may go unencrypted.

use http::Uri;
use rustls::pki_types::ServerName;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// No host name is longer than 253 characters; with scheme and port this leaves room.
const TEXT_MAX_BYTES: usize = 300;

/// The address of a coordinator: `https://HOST[:PORT]`, or `http://` for this machine only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: Host,
    port: u16,
    encrypted: bool,
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
    /// Its scheme is not one of the two.
    #[error("an address begins with https:// (or http:// for this machine), and this does not")]
    Scheme,
    /// It has more than scheme, host and port.
    #[error("this has more than a host and a port: write https://HOST:PORT")]
    Excess,
    /// Its host is neither a name nor an IP address.
    #[error("no certificate could be for the host {0:?}: write a host name or an IP address")]
    Host(String),
    /// It would send secrets over a network unencrypted.
    #[error(
        "http:// would send your token unencrypted to {0}: write https:// (http:// is for this machine only)"
    )]
    Unencrypted(String),
}

/// Whether an address never leaves this machine.
pub fn is_loopback(address: SocketAddr) -> bool {
    is_loopback_ip(address.ip())
}

/// IPv4 addresses written as IPv6 count as what they are.
fn is_loopback_ip(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
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

    /// Whether it speaks TLS.
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
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

    /// Refuses to connect to `to` if that breaks what this address promises: a name like `localhost` says where it
    /// leads only once it is resolved.
    pub(crate) fn check(&self, to: SocketAddr) -> io::Result<()> {
        if self.encrypted || is_loopback(to) {
            return Ok(());
        }
        let why = format!(
            "its name leads to {to}, which is not this machine, and http:// is for this machine only"
        );
        Err(io::Error::other(why))
    }
}

impl Host {
    fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::Ip(ip) => is_loopback_ip(*ip),
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
        let (encrypted, usual_port) = match uri.scheme_str() {
            Some("https") => (true, 443),
            Some("http") => (false, 80),
            Some(_) | None => return Err(AddressError::Scheme),
        };
        let authority = uri.authority().ok_or(AddressError::NotAUrl)?;
        // The parser drops what follows `#`, so that is looked for in the text.
        let excess = uri.query().is_some() || uri.path() != "/" || text.contains(['@', '#']);
        if excess {
            return Err(AddressError::Excess);
        }
        let host = host(authority.host()).ok_or_else(|| AddressError::Host(authority.host().into()))?;
        if !encrypted && !host.is_loopback() {
            return Err(AddressError::Unencrypted(authority.host().into()));
        }
        let port = match authority.port() {
            Some(port) => port.as_u16(),
            None if authority.as_str().len() == authority.host().len() => usual_port,
            None => return Err(AddressError::NotAUrl),
        };
        Ok(Self { host, port, encrypted })
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
        let scheme = if self.encrypted { "https" } else { "http" };
        match &self.host {
            Host::Name(name) => write!(f, "{scheme}://{name}:{}", self.port),
            Host::Ip(ip) => write!(f, "{scheme}://{}", SocketAddr::new(*ip, self.port)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, AddressError, is_loopback};

    #[test]
    fn good_addresses() {
        for (text, printed) in [
            ("https://grid.example.org:7077", "https://grid.example.org:7077"),
            ("https://grid.example.org/", "https://grid.example.org:443"),
            ("HTTPS://10.0.0.4:1", "https://10.0.0.4:1"),
            ("https://[2001:db8::1]:7077", "https://[2001:db8::1]:7077"),
            ("https://127.0.0.1:7077", "https://127.0.0.1:7077"),
            ("http://127.8.9.10:7077", "http://127.8.9.10:7077"),
            ("http://localhost:7077", "http://localhost:7077"),
            ("http://[::1]:7077", "http://[::1]:7077"),
            ("http://[::ffff:127.0.0.1]:7077", "http://[::ffff:127.0.0.1]:7077"),
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
            ("http://10.0.0.4:7077", "10.0.0.4"),
            ("http://grid.example.org", "grid.example.org"),
            ("http://localhost.example.org", "localhost.example.org"),
            ("http://[::2]:1", "[::2]"),
            ("http://0.0.0.0:1", "0.0.0.0"),
        ] {
            assert_eq!(text.parse::<Address>(), Err(E::Unencrypted(host.into())), "{text}");
        }
    }

    #[test]
    fn loopback() {
        for (text, expected) in [
            ("127.0.0.1:1", true),
            ("127.255.0.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("[::ffff:10.0.0.1]:1", false),
            ("128.0.0.1:1", false),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
        ] {
            assert_eq!(is_loopback(text.parse().unwrap()), expected, "{text}");
        }
    }
}
