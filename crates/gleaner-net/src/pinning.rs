//! Trusting a server by the fingerprint of its authority.
//!
//! The server shows its certificate and its authority's. The one whose hash is the fingerprint becomes the only root,
//! and rustls' own verifier then checks chain, name and time under it. Nothing else is ever accepted.
//!
//! **Invariant.** The pinned certificate must be an authority's and be valid now. The verifier takes a root's word
//! for both, so they are checked here.

use crate::fingerprint::Fingerprint;
use crate::server_identity::PINS;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme,
};
use std::sync::Arc;

const DAY_SECONDS: u64 = 86_400;

/// Why a server is not the one that a fingerprint stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityRefused {
    /// It showed other certificates.
    #[error(
        "it shows no certificate with the fingerprint {expected}: it is another server, or its authority was \
             made anew; take the fingerprint from the line that the right server prints"
    )]
    NotShown {
        /// The fingerprint looked for.
        expected: Fingerprint,
    },
    /// The certificate with that fingerprint is not an authority's.
    #[error(
        "the fingerprint is that of a server's certificate, not of an authority's: take the one in the join line"
    )]
    NotAnAuthority,
    /// The authority's certificate is too old or too new for this machine's clock.
    #[error("its authority's certificate is not valid at this time: compare the clocks of both machines")]
    NotValidNow,
    /// The certificate cannot be read.
    #[error("the certificate with the fingerprint cannot be read")]
    Unreadable,
}

/// Why no encrypted connection came about.
#[derive(Debug, thiserror::Error)]
pub enum TlsFailure {
    /// It is not the server that the fingerprint stands for.
    #[error(transparent)]
    Authority(AuthorityRefused),
    /// Its certificate is of another time than this machine's clock shows.
    #[error(
        "by this machine's clock, its certificate {time}: the clock of one of the two machines is wrong. Set it right, and all goes \
         on by itself, within a minute"
    )]
    Clocks {
        /// Which other time.
        time: OtherTime,
    },
    /// Its certificate is not good, or the two did not come to terms.
    #[error(transparent)]
    Handshake(rustls::Error),
}

/// A time other than now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OtherTime {
    /// So many days from now.
    #[error("is valid in {} only", in_words(*.0))]
    InDays(u64),
    /// So many days ago.
    #[error("was valid until {} ago", in_words(*.0))]
    DaysAgo(u64),
}

fn in_words(days: u64) -> String {
    format!("{days} day{}", if days == 1 { "" } else { "s" })
}

/// Whole days from one moment to a later one.
fn days(from: UnixTime, to: UnixTime) -> u64 {
    to.as_secs().saturating_sub(from.as_secs()) / DAY_SECONDS
}

impl From<rustls::Error> for TlsFailure {
    fn from(error: rustls::Error) -> Self {
        if let rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(why))) = &error
            && let Some(refused) = why.downcast_ref::<AuthorityRefused>()
        {
            return Self::Authority(*refused);
        }
        let rustls::Error::InvalidCertificate(why) = &error else { return Self::Handshake(error) };
        match *why {
            CertificateError::NotValidYetContext { time, not_before } => {
                Self::Clocks { time: OtherTime::InDays(days(time, not_before)) }
            }
            CertificateError::ExpiredContext { time, not_after } => {
                Self::Clocks { time: OtherTime::DaysAgo(days(not_after, time)) }
            }
            _ => Self::Handshake(error),
        }
    }
}

/// For a client that accepts only servers whose certificate comes from the authority with this fingerprint.
pub fn client_config(authority: Fingerprint) -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let verifier = PinnedAuthority { expected: authority, provider: provider.clone() };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has suites for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![PINS.to_vec(), b"http/1.1".to_vec()];
    config
}

#[derive(Debug)]
struct PinnedAuthority {
    expected: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl PinnedAuthority {
    /// The pinned certificate among those shown, which must be an authority's.
    fn find<'a>(
        &self,
        server: &CertificateDer<'a>,
        others: &'a [CertificateDer<'a>],
        now: UnixTime,
    ) -> Result<&'a CertificateDer<'a>, AuthorityRefused> {
        let is_expected = |shown: &CertificateDer<'_>| Fingerprint::of_der(shown) == self.expected;
        // Made a root, it would vouch for itself.
        if is_expected(server) {
            return Err(AuthorityRefused::NotAnAuthority);
        }
        let pinned = others.iter().find(|shown| is_expected(shown));
        let pinned = pinned.ok_or(AuthorityRefused::NotShown { expected: self.expected })?;
        // It is parsed after its hash was found right: these bytes are no stranger's.
        let (_, parsed) =
            x509_parser::parse_x509_certificate(pinned).map_err(|_| AuthorityRefused::Unreadable)?;
        if !parsed.is_ca() {
            return Err(AuthorityRefused::NotAnAuthority);
        }
        let valid = parsed.validity();
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if now < valid.not_before.timestamp() || now > valid.not_after.timestamp() {
            return Err(AuthorityRefused::NotValidNow);
        }
        Ok(pinned)
    }
}

impl ServerCertVerifier for PinnedAuthority {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let pinned = self.find(end_entity, intermediates, now).map_err(|refused| {
            rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(refused))))
        })?;
        let mut roots = RootCertStore::empty();
        roots.add(pinned.clone().into_owned())?;
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), self.provider.clone())
            .build()
            .map_err(|why| rustls::Error::General(why.to_string()))?
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
