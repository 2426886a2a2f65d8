//! A certificate of the organisation's own, beside the authority that our programs pin.

use gleaner_net::{Authority, CertificateError, CertificateFiles, ServerIdentity, client_config};
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const NAME: &str = "grid.example";

struct Shown {
    folder: TempDir,
    identity: Arc<ServerIdentity>,
    files: CertificateFiles,
}

/// Writes a certificate for a name, and its key.
fn write(folder: &Path, name: &str) -> (CertificateFiles, CertificateDer<'static>) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let files = CertificateFiles { certificate: folder.join("own.crt"), key: folder.join("own.key") };
    fs::write(&files.certificate, certificate.pem()).expect("it is written");
    fs::write(&files.key, key.serialize_pem()).expect("it is written");
    (files, certificate.der().clone())
}

fn shown() -> (Shown, CertificateDer<'static>) {
    let folder = tempfile::tempdir().expect("a folder");
    let authority =
        Authority::open_or_create(&folder.path().join("authority"), SystemTime::now()).expect("keys");
    let names = vec![NAME.to_owned(), "localhost".to_owned()];
    let identity = ServerIdentity::new(authority, names, SystemTime::now()).expect("an identity");
    let (files, own) = write(folder.path(), NAME);
    identity.show(files.clone(), SystemTime::now()).expect("they fit");
    (Shown { folder, identity, files }, own)
}

/// A browser, which trusts that certificate and nothing else.
fn browser(trusted: &CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).expect("a certificate");
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = config.expect("suites").with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Whether the two come to terms, over nothing but memory.
fn greets(identity: &Arc<ServerIdentity>, client: ClientConfig, name: &str) -> Result<(), rustls::Error> {
    let server = identity.server_config().expect("a configuration");
    let mut server = ServerConnection::new(Arc::new(server))?;
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    let mut client = ClientConnection::new(Arc::new(client), name)?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).expect("memory");
        server.read_tls(&mut &wire[..]).expect("memory");
        server.process_new_packets()?;
        let mut wire = Vec::new();
        server.write_tls(&mut wire).expect("memory");
        client.read_tls(&mut &wire[..]).expect("memory");
        client.process_new_packets()?;
    }
    Ok(())
}

#[test]
fn browsers_are_shown_it_and_our_programs_the_authority_that_they_pin() {
    let (Shown { identity, .. }, own) = shown();
    let pinned = || client_config(identity.authority().fingerprint());
    for name in [NAME, "localhost"] {
        greets(&identity, pinned(), name).expect("ours go by the authority, under each name");
    }
    greets(&identity, browser(&own), NAME).expect("others go by what they trust");
    assert!(greets(&identity, browser(&own), "localhost").is_err(), "it is not for that name");
    assert_eq!(identity.own_names(), [NAME]);
}

#[test]
fn one_for_none_of_the_servers_names_is_told_from_one_that_is() {
    let (Shown { folder, identity, .. }, _) = shown();
    assert!(identity.is_own_for_a_name());
    for (name, is_for_one) in [("other.example", false), ("*.example", true)] {
        let (files, _) = write(folder.path(), name);
        files.check(SystemTime::now()).expect("it can be shown");
        identity.show(files, SystemTime::now()).expect("they fit");
        assert_eq!(identity.is_own_for_a_name(), is_for_one, "{name}");
        let own = identity.own_names();
        assert!(!own.is_empty() && identity.all_names().ends_with(&own), "{name}");
    }
}

#[test]
fn it_is_read_again_when_it_changes_and_what_is_of_no_use_is_not_shown() {
    let (Shown { folder, identity, files }, old) = shown();
    let now = SystemTime::now();
    assert!(!identity.read_again(false, now).expect("nothing changed"));
    assert!(identity.read_again(true, now).expect("it was asked for"));
    let (_, new) = write(folder.path(), NAME);
    for path in [&files.certificate, &files.key] {
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(now + Duration::from_secs(5)).expect("a time");
    }
    assert!(identity.read_again(false, now).expect("they fit"));
    greets(&identity, browser(&new), NAME).expect("the new one is shown");
    assert!(greets(&identity, browser(&old), NAME).is_err(), "and the old one is not");
    fs::write(&files.certificate, "half of it").expect("it is written");
    assert!(identity.read_again(true, now).is_err());
    greets(&identity, browser(&new), NAME).expect("it stays");
}

#[test]
fn what_is_of_no_use_is_named() {
    let (Shown { folder, identity, files }, _) = shown();
    let now = SystemTime::now();
    let other = tempfile::tempdir().expect("a folder");
    let (others, _) = write(other.path(), "other.example");
    let table: [(&str, CertificateFiles, SystemTime, &str); 5] = [
        (
            "no file",
            CertificateFiles { certificate: "/nonexistent".into(), ..files.clone() },
            now,
            "/nonexistent",
        ),
        (
            "no key",
            CertificateFiles { key: files.certificate.clone(), ..files.clone() },
            now,
            "expected a private key in PEM",
        ),
        (
            "another's key",
            CertificateFiles { key: others.key, ..files.clone() },
            now,
            "is not that of the first certificate",
        ),
        ("expired", files.clone(), now + Duration::from_secs(100_000_000_000), " 4096"),
        (
            "empty",
            CertificateFiles { certificate: folder.path().join("empty"), ..files.clone() },
            now,
            "expected certificates in PEM",
        ),
    ];
    fs::write(folder.path().join("empty"), "").expect("it is written");
    for (what, files, now, expected) in table {
        let why: CertificateError = identity.show(files, now).expect_err(what);
        assert!(why.to_string().contains(expected), "{what}: {why}");
    }
}
