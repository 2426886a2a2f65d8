//! A certificate of the organisation's own, for browsers and other programs: read from two files, and again when they change.
//!
//! Agents and our own commands pin the coordinator's authority and are shown what that issued, whatever these files hold.

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use x509_parser::extensions::GeneralName;
use x509_parser::time::ASN1Time;

/// Where the two are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateFiles {
    /// The certificate, then those that vouch for it, in PEM.
    pub certificate: PathBuf,
    /// Its key, in PEM.
    pub key: PathBuf,
}

/// Why they are of no use.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file is not there, or holds something else.
    #[error("{}: {why}; expected {expected} in PEM", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: pem::Error,
        /// What it should hold.
        expected: &'static str,
    },
    /// The first certificate makes no sense.
    #[error("{}: its first certificate cannot be read: {why}", path.display())]
    Unreadable {
        /// In which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It names nothing under which a server could be reached.
    #[error("{}: its first certificate is for no host name (it has no subjectAltName with one)", .0.display())]
    NoName(PathBuf),
    /// It is not valid now.
    #[error("{}: its first certificate is valid from {from} to {until}, and now it is {now}", path.display())]
    NotValidNow {
        /// In which file.
        path: PathBuf,
        /// Since when it is.
        from: String,
        /// Until when.
        until: String,
        /// By this machine's clock.
        now: String,
    },
    /// The key is another's.
    #[error("the key in {} is not that of the first certificate in {}: {why}", key.display(), certificate.display())]
    OtherKey {
        /// Where the certificate is.
        certificate: PathBuf,
        /// Where the key is.
        key: PathBuf,
        /// What the library says.
        why: rustls::Error,
    },
}

/// What the files held when they were read.
#[derive(Clone, Debug)]
pub(crate) struct OwnCertificate {
    pub(crate) certified: Arc<CertifiedKey>,
    /// In lower case; a wildcard stands for one label.
    pub(crate) names: Vec<String>,
    read: Stamps,
}

/// When the files were changed last.
type Stamps = [Option<SystemTime>; 2];

impl CertificateFiles {
    /// Whether what they hold can be shown now.
    pub fn check(&self, now: SystemTime) -> Result<(), CertificateError> {
        self.read(&ring::default_provider(), now).map(drop)
    }

    pub(crate) fn read(
        &self,
        provider: &CryptoProvider,
        now: SystemTime,
    ) -> Result<OwnCertificate, CertificateError> {
        let read = self.stamps();
        let file = |path: &Path, expected: &'static str| {
            let path = path.to_owned();
            move |why| CertificateError::File { path, why, expected }
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect)
            .map_err(file(&self.certificate, "certificates"))?;
        let first =
            chain.first().ok_or_else(|| file(&self.certificate, "certificates")(pem::Error::NoItemsFound))?;
        let names = self.names_of(first, now)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(file(&self.key, "a private key"))?;
        let certified = CertifiedKey::from_der(chain, key, provider).map_err(|why| {
            let (certificate, key) = (self.certificate.clone(), self.key.clone());
            CertificateError::OtherKey { certificate, key, why }
        })?;
        Ok(OwnCertificate { certified: Arc::new(certified), names, read })
    }

    fn names_of(&self, first: &[u8], now: SystemTime) -> Result<Vec<String>, CertificateError> {
        let path = || self.certificate.clone();
        let unreadable = |why: String| CertificateError::Unreadable { path: path(), why };
        let (_, parsed) =
            x509_parser::parse_x509_certificate(first).map_err(|why| unreadable(why.to_string()))?;
        let (from, until) =
            (parsed.validity().not_before.timestamp(), parsed.validity().not_after.timestamp());
        let now = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        if !(from..=until).contains(&now) {
            let day = |seconds: i64| {
                ASN1Time::from_timestamp(seconds)
                    .map_or_else(|_| seconds.to_string(), |time| time.to_string())
            };
            let (from, until, now) = (day(from), day(until), day(now));
            return Err(CertificateError::NotValidNow { path: path(), from, until, now });
        }
        let listed = parsed.subject_alternative_name().map_err(|why| unreadable(why.to_string()))?;
        let listed = listed.iter().flat_map(|listed| &listed.value.general_names);
        let names = listed.filter_map(|name| match name {
            GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
            _ => None,
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() { Err(CertificateError::NoName(path())) } else { Ok(names) }
    }

    /// Whether they were changed since they were read.
    pub(crate) fn changed_since(&self, own: &OwnCertificate) -> bool {
        self.stamps() != own.read
    }

    fn stamps(&self) -> Stamps {
        [&self.certificate, &self.key].map(|path| fs::metadata(path).and_then(|found| found.modified()).ok())
    }
}

impl OwnCertificate {
    /// Whether it is for that name.
    pub(crate) fn is_for(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.names.iter().any(|own| match own.strip_prefix("*.") {
            Some(parent) => name.split_once('.').is_some_and(|(_, rest)| rest == parent),
            None => *own == name,
        })
    }
}
