//! The coordinator's own certificate authority.
//!
//! Key and certificate lie in one file, so that one never changes without the other: `authority.pem`, made at the
//! first start and good for ten years. Who holds that file can pass for the coordinator.

use crate::fingerprint::Fingerprint;
use crate::private_file::{self, PrivateFileError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const FILE_NAME: &str = "authority.pem";
const DAY: Duration = Duration::from_hours(24);
const AUTHORITY_LIFE: Duration = Duration::from_secs(3652 * DAY.as_secs());
/// A server certificate lives shortly, for its key is in memory only and is made anew at each start.
pub(crate) const SERVER_LIFE: Duration = Duration::from_secs(90 * DAY.as_secs());
/// An agent's clock may be behind: certificates count from a day before they were made.
const CLOCK_SLACK: Duration = DAY;
/// More names than any server has make a certificate no client wants to read.
const NAMES_MAX: usize = 64;
/// Characters of a line in PEM.
const PEM_LINE: usize = 64;

/// A certificate authority of a coordinator's own. `Debug` shows its fingerprint.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    expires_at: SystemTime,
}

/// Why an authority could not be opened, or issued nothing.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// Its file could not be read or written.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// The file is not the one an authority writes.
    #[error("{path} does not hold an authority's key and certificate: {why}; restore it from a backup, or delete it \
             to have a new authority made, which every agent must then join again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Damage,
    },
    /// Ten years are over.
    #[error(
        "the authority's certificate has expired; delete its file {FILE_NAME} to have a new one made, and let \
             every agent join again"
    )]
    Expired,
    /// No certificate can be for this name.
    #[error("{0:?} is neither a host name nor an IP address, so no certificate can be for it")]
    Name(String),
    /// There are none or too many names.
    #[error("a server certificate is for 1 to {NAMES_MAX} names, and {0} were asked for")]
    NameCount(usize),
    /// The certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Making(#[from] rcgen::Error),
    /// The certificate made is of no use to TLS.
    #[error("cannot use the certificate made: {0}")]
    Using(#[from] rustls::Error),
}

/// What is wrong with an authority's file.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// A part is missing or is not PEM.
    #[error("{0}")]
    Pem(pem::Error),
    /// The key cannot be used.
    #[error("its key cannot be used: {0}")]
    Key(rcgen::Error),
    /// The certificate cannot be read.
    #[error("its certificate cannot be read")]
    Certificate,
    /// The certificate is for another key.
    #[error("its certificate is for another key")]
    Mismatch,
}

/// A certificate for a server, with its key.
pub(crate) struct Issued {
    /// The server's certificate, then the authority's: a client that knows a fingerprint only looks for that one.
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) expires_at: SystemTime,
}

impl Authority {
    /// The authority in the folder `dir`, made at the time `now` if there is none. Of several processes that make one
    /// at once, all get the same.
    pub fn open_or_create(dir: &Path, now: SystemTime) -> Result<Self, AuthorityError> {
        let path = dir.join(FILE_NAME);
        let file = private_file::read_or_create(&path, || new_file(now))?;
        Self::from_pem(&file).map_err(|why| AuthorityError::Damaged { path, why })
    }

    /// Whether there is one in the folder `dir`.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FILE_NAME).exists()
    }

    fn from_pem(file: &[u8]) -> Result<Self, Damage> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(file).map_err(Damage::Pem)?;
        let key = KeyPair::try_from(&key).map_err(Damage::Key)?;
        let certificate = CertificateDer::from_pem_slice(file).map_err(Damage::Pem)?;
        let (_, parsed) =
            x509_parser::parse_x509_certificate(&certificate).map_err(|_| Damage::Certificate)?;
        if parsed.public_key().subject_public_key.data != key.public_key_raw() {
            return Err(Damage::Mismatch);
        }
        let expires_at = parsed.validity().not_after.timestamp();
        let expires_at = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(expires_at).unwrap_or(0));
        let issuer = Issuer::from_ca_cert_der(&certificate, key).map_err(|_| Damage::Certificate)?;
        Ok(Self { issuer, certificate, expires_at })
    }

    /// What clients know it by.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_der(&self.certificate)
    }

    /// Its certificate in PEM, for programs that want a certificate rather than a fingerprint.
    pub fn certificate_pem(&self) -> String {
        let text = STANDARD.encode(&self.certificate);
        let lines =
            text.as_bytes().chunks(PEM_LINE).map(|line| format!("{}\n", String::from_utf8_lossy(line)));
        format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", lines.collect::<String>())
    }

    /// Refuses names that no certificate of a server can be for.
    pub fn check_names(names: &[String]) -> Result<(), AuthorityError> {
        if names.is_empty() || names.len() > NAMES_MAX {
            return Err(AuthorityError::NameCount(names.len()));
        }
        let is_bad = |name: &&String| rustls::pki_types::ServerName::try_from(name.as_str()).is_err();
        names.iter().find(is_bad).map_or(Ok(()), |bad| Err(AuthorityError::Name(bad.clone())))
    }

    /// A certificate for a server of these names, from now on.
    pub(crate) fn issue(&self, names: &[String], now: SystemTime) -> Result<Issued, AuthorityError> {
        if now >= self.expires_at {
            return Err(AuthorityError::Expired);
        }
        Self::check_names(names)?;
        let expires_at = self.expires_at.min(now + SERVER_LIFE);
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "Gleaner coordinator");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.not_before = (now - CLOCK_SLACK).into();
        params.not_after = expires_at.into();
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Issued {
            chain: vec![certificate.into(), self.certificate.clone()],
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            expires_at,
        })
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Authority({})", self.fingerprint())
    }
}

/// The file of a new authority: its key, then its certificate.
fn new_file(now: SystemTime) -> Result<Vec<u8>, AuthorityError> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Gleaner authority");
    // It signs servers, and no further authorities.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    // Also where the clock of its first start is ahead.
    params.not_before = SystemTime::UNIX_EPOCH.into();
    params.not_after = (now + AUTHORITY_LIFE).into();
    let certificate = params.self_signed(&key)?;
    Ok((key.serialize_pem() + &certificate.pem()).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::{AUTHORITY_LIFE, Authority, AuthorityError, Damage, FILE_NAME};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    #[test]
    fn it_stays_the_same_over_starts() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("keys");
        let [first, second] = [(), ()].map(|()| Authority::open_or_create(&dir, now()).unwrap());
        assert_eq!(first.fingerprint(), second.fingerprint());
        let file = fs::read_to_string(dir.join(FILE_NAME)).unwrap().replace('\r', "");
        assert!(file.ends_with(&first.certificate_pem()), "{}", first.certificate_pem());
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(dir.clone()), mode(dir.join(FILE_NAME))), (0o700, 0o600));
        let other = Authority::open_or_create(&home.path().join("other"), now()).unwrap();
        assert_ne!(first.fingerprint(), other.fingerprint());
    }

    #[test]
    fn a_damaged_file_is_told_apart() {
        type Expected = fn(&Damage) -> bool;
        let home = tempfile::tempdir().unwrap();
        let whole = [1, 2].map(|n| {
            let dir = home.path().join(n.to_string());
            Authority::open_or_create(&dir, now()).unwrap();
            fs::read_to_string(dir.join(FILE_NAME)).unwrap()
        });
        let cut = whole[0].find("-----BEGIN CERTIFICATE").unwrap();
        let other_cut = whole[1].find("-----BEGIN CERTIFICATE").unwrap();
        let mixed = format!("{}{}", &whole[0][..cut], &whole[1][other_cut..]);
        let table: [(&str, Expected); 4] = [
            ("", |why| matches!(why, Damage::Pem(_))),
            (&whole[0][..cut], |why| matches!(why, Damage::Pem(_))),
            (&whole[0][cut..], |why| matches!(why, Damage::Pem(_))),
            (&mixed, |why| matches!(why, Damage::Mismatch)),
        ];
        let path = home.path().join("1").join(FILE_NAME);
        for (content, expected) in table {
            fs::write(&path, content).unwrap();
            match Authority::open_or_create(&home.path().join("1"), now()) {
                Err(AuthorityError::Damaged { why, .. }) if expected(&why) => {}
                other => panic!("{content:?} gave {other:?}"),
            }
        }
    }

    #[test]
    fn what_it_does_not_issue() {
        let home = tempfile::tempdir().unwrap();
        let authority = Authority::open_or_create(home.path(), now()).unwrap();
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let refusal = |names: Vec<String>, at| authority.issue(&names, at).err().unwrap();
        assert!(matches!(refusal(names(&[]), now()), AuthorityError::NameCount(0)));
        assert!(matches!(refusal(vec!["a".into(); 65], now()), AuthorityError::NameCount(65)));
        for bad in ["", "a b", "é", "https://host", "host:1"] {
            let refusal = refusal(names(&["ok.example", bad]), now());
            assert!(matches!(&refusal, AuthorityError::Name(name) if name == bad), "{refusal}");
        }
        assert!(matches!(refusal(names(&["a"]), now() + AUTHORITY_LIFE), AuthorityError::Expired));
    }

    #[test]
    fn no_server_certificate_outlives_its_authority() {
        let home = tempfile::tempdir().unwrap();
        let authority = Authority::open_or_create(home.path(), now()).unwrap();
        let late = now() + AUTHORITY_LIFE - Duration::from_mins(1);
        assert_eq!(authority.issue(&["a".into()], late).unwrap().expires_at, authority.expires_at);
    }
}
