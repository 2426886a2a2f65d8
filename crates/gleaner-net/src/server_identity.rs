//! What a coordinator shows to those who connect: a certificate that its authority issued.
//!
//! Where the organisation has a certificate of its own, programs that ask for one of its names are shown that, but for ours:
//! these say so in their greeting, since they pin the authority.
//!
//! The certificate is made at each start and replaced while the server runs, before it ends; connections that are
//! open stay open.

use crate::authority::{Authority, AuthorityError, SERVER_LIFE};
use crate::own_certificate::{CertificateError, CertificateFiles, OwnCertificate};
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

/// A certificate is replaced when less than a third of its life is left.
const RENEWED_BEFORE_END: Duration = Duration::from_secs(SERVER_LIFE.as_secs() / 3);

/// What our programs offer beside HTTP: no server speaks it, and ours knows them by it.
pub(crate) const PINS: &[u8] = b"gleaner";

/// A server's certificate and key, and the authority to renew them.
pub struct ServerIdentity {
    authority: Authority,
    names: Vec<String>,
    provider: Arc<CryptoProvider>,
    current: RwLock<Current>,
    own: RwLock<Option<(CertificateFiles, OwnCertificate)>>,
}

struct Current {
    certified: Arc<CertifiedKey>,
    issued_at: SystemTime,
    expires_at: SystemTime,
}

/// What [`ServerIdentity::renew`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// The certificate is good for long enough.
    Kept,
    /// There is a new one, which new connections see.
    Reissued,
}

impl ServerIdentity {
    /// A certificate for a server that is reached under `names`: host names and IP addresses.
    pub fn new(
        authority: Authority,
        names: Vec<String>,
        now: SystemTime,
    ) -> Result<Arc<Self>, AuthorityError> {
        let provider = Arc::new(ring::default_provider());
        let current = RwLock::new(issue(&authority, &names, &provider, now)?);
        Ok(Arc::new(Self { authority, names, provider, current, own: RwLock::new(None) }))
    }

    /// Shows what these files hold, too, from now on.
    pub fn show(&self, files: CertificateFiles, now: SystemTime) -> Result<(), CertificateError> {
        let own = files.read(&self.provider, now)?;
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = Some((files, own));
        Ok(())
    }

    /// Reads the organisation's own certificate again, if it was changed or that is asked for. What is of no use is not shown:
    /// what was there before is. Returns whether there is a new one.
    pub fn read_again(&self, asked: bool, now: SystemTime) -> Result<bool, CertificateError> {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        let Some((files, shown)) = own.as_mut().filter(|(files, shown)| asked || files.changed_since(shown))
        else {
            return Ok(false);
        };
        *shown = files.read(&self.provider, now)?;
        Ok(true)
    }

    /// The names that the organisation's own certificate is for.
    pub fn own_names(&self) -> Vec<String> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        own.as_ref().map_or_else(Vec::new, |(_, own)| own.names.clone())
    }

    /// The names of all certificates that are shown now.
    pub fn all_names(&self) -> Vec<String> {
        self.names.iter().cloned().chain(self.own_names()).collect()
    }

    /// Whether the organisation's own certificate, if there is one, is for a name by which others reach this server.
    pub fn is_own_for_a_name(&self) -> bool {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        own.as_ref().is_none_or(|(_, own)| self.names.iter().any(|name| own.is_for(name)))
    }

    /// The authority behind it.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The names that its certificate is for.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Issues a new certificate if the present one ends soon, or is of a time that has not come: the clock was set since.
    pub fn renew(&self, now: SystemTime) -> Result<Renewal, AuthorityError> {
        let was_set_back = now < self.current.read().unwrap_or_else(PoisonError::into_inner).issued_at;
        if !was_set_back && now + RENEWED_BEFORE_END < self.expires_at() {
            return Ok(Renewal::Kept);
        }
        let renewed = issue(&self.authority, &self.names, &self.provider, now)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(Renewal::Reissued)
    }

    /// When the present certificate ends.
    pub fn expires_at(&self) -> SystemTime {
        self.current.read().unwrap_or_else(PoisonError::into_inner).expires_at
    }

    /// For a TLS 1.2 or 1.3 server that speaks HTTP/1.1. It shows the present certificate to each new connection.
    pub fn server_config(self: &Arc<Self>) -> Result<ServerConfig, AuthorityError> {
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn issue(
    authority: &Authority,
    names: &[String],
    provider: &CryptoProvider,
    now: SystemTime,
) -> Result<Current, AuthorityError> {
    let issued = authority.issue(names, now)?;
    let certified = CertifiedKey::from_der(issued.chain, issued.key, provider)?;
    Ok(Current { certified: Arc::new(certified), issued_at: now, expires_at: issued.expires_at })
}

impl ResolvesServerCert for ServerIdentity {
    /// The same for every name asked for: a client that asked for another one refuses it itself.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let pins = hello.alpn().is_some_and(|mut offered| offered.any(|protocol| protocol == PINS));
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, own)) = own.as_ref().filter(|_| !pins)
            && hello.server_name().is_some_and(|name| own.is_for(name))
        {
            return Some(Arc::clone(&own.certified));
        }
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).certified.clone())
    }
}

impl fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerIdentity")
            .field("authority", &self.authority)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Renewal, ServerIdentity};
    use crate::authority::Authority;
    use std::time::{Duration, SystemTime};

    #[test]
    fn it_is_renewed_when_the_clock_was_put_right() {
        let home = tempfile::tempdir().unwrap();
        let right = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        let off = Duration::from_hours(24 * 400);
        for wrong in [right + off, right - off] {
            let authority = Authority::open_or_create(home.path(), wrong).unwrap();
            let identity = ServerIdentity::new(authority, vec!["localhost".into()], wrong).unwrap();
            assert_eq!(identity.renew(right).unwrap(), Renewal::Reissued);
            assert_eq!(identity.expires_at(), right + Duration::from_hours(24 * 90));
            assert_eq!(identity.renew(right).unwrap(), Renewal::Kept);
        }
    }

    #[test]
    fn it_is_renewed_in_its_last_month() {
        let home = tempfile::tempdir().unwrap();
        let start = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        let after = |days: u64| start + Duration::from_hours(24 * days);
        let authority = Authority::open_or_create(home.path(), start).unwrap();
        let identity = ServerIdentity::new(authority, vec!["localhost".into()], start).unwrap();
        let table = [
            (0, Renewal::Kept, 90),
            (59, Renewal::Kept, 90),
            (60, Renewal::Reissued, 150),
            (61, Renewal::Kept, 150),
            (400, Renewal::Reissued, 490),
        ];
        for (day, renewal, expires) in table {
            assert_eq!(identity.renew(after(day)).unwrap(), renewal, "day {day}");
            assert_eq!(identity.expires_at(), after(expires), "day {day}");
        }
    }
}
