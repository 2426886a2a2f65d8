//! Servers, right and wrong, and what a client that pins an authority makes of them over a real connection.

use gleaner_net::{Authority, AuthorityRefused, Fingerprint, ServerIdentity, TlsFailure, client_config};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{CertificateError, ClientConnection, ServerConfig, ServerConnection};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_hours(24);

/// A certificate and its key, to be put together wrongly.
struct Made {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    key: Vec<u8>,
}

/// What a certificate of these tests is for.
enum For {
    Authority,
    ExpiredAuthority,
    Server,
}

fn make(purpose: &For, issuer: Option<&Made>) -> Made {
    let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "Gleaner authority");
    if matches!(purpose, For::Authority | For::ExpiredAuthority) {
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    }
    if matches!(purpose, For::ExpiredAuthority) {
        params.not_before = (SystemTime::now() - 20 * DAY).into();
        params.not_after = (SystemTime::now() - 10 * DAY).into();
    }
    let key = KeyPair::generate().unwrap();
    let der = key.serialize_der();
    let certificate = match issuer {
        Some(issuer) => params.signed_by(&key, &issuer.issuer),
        None => params.self_signed(&key),
    };
    Made { certificate: certificate.unwrap().into(), issuer: Issuer::new(params, key), key: der }
}

/// A server that shows `chain` and holds the key of its first.
fn server(chain: &[&Made]) -> Arc<ServerConfig> {
    let certificates = chain.iter().map(|made| made.certificate.clone()).collect();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, PrivatePkcs8KeyDer::from(chain[0].key.clone()).into());
    Arc::new(config.unwrap())
}

fn print(made: &Made) -> Fingerprint {
    Fingerprint::of_der(&made.certificate)
}

/// What comes of a connection to `server` by a client that pins `authority` and calls the server `name`.
fn connect(server: Arc<ServerConfig>, authority: Fingerprint, name: &'static str) -> Result<(), TlsFailure> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = thread::spawn(move || {
        let mut tcp = listener.accept().unwrap().0;
        let mut tls = ServerConnection::new(server).unwrap();
        // A client that refuses the server breaks this off; it is the client's verdict that counts.
        while tls.is_handshaking() && tls.complete_io(&mut tcp).is_ok() {}
    });
    let mut tcp = TcpStream::connect(address).unwrap();
    let name = ServerName::try_from(name).unwrap();
    let mut tls = ClientConnection::new(Arc::new(client_config(authority)), name).unwrap();
    let mut outcome = Ok(());
    while tls.is_handshaking() && outcome.is_ok() {
        outcome = tls.complete_io(&mut tcp).map(drop);
    }
    drop(tcp);
    served.join().unwrap();
    outcome.map_err(|why| why.downcast::<rustls::Error>().expect("a verdict on the server").into())
}

fn refused(outcome: &Result<(), TlsFailure>) -> Option<AuthorityRefused> {
    match outcome {
        Err(TlsFailure::Authority(refused)) => Some(*refused),
        Err(TlsFailure::Handshake(_) | TlsFailure::Clocks { .. }) | Ok(()) => None,
    }
}

fn certificate_error(outcome: &Result<(), TlsFailure>) -> Option<&CertificateError> {
    match outcome {
        Err(TlsFailure::Handshake(rustls::Error::InvalidCertificate(why))) => Some(why),
        _ => None,
    }
}

/// A server with an identity from its own authority, made `age` ago.
fn identity(age: Duration) -> (tempfile::TempDir, Arc<ServerIdentity>) {
    let home = tempfile::tempdir().unwrap();
    let made_at = SystemTime::now() - age;
    let authority = Authority::open_or_create(home.path(), made_at).unwrap();
    let names = ["localhost", "127.0.0.1", "::1"].map(String::from).into();
    (home, ServerIdentity::new(authority, names, made_at).unwrap())
}

#[test]
fn the_right_server_under_each_of_its_names() {
    let (_home, identity) = identity(Duration::ZERO);
    let config = Arc::new(identity.server_config().unwrap());
    for name in ["localhost", "127.0.0.1", "::1"] {
        connect(config.clone(), identity.authority().fingerprint(), name).unwrap();
    }
}

#[test]
fn the_right_server_under_another_name() {
    let (_home, identity) = identity(Duration::ZERO);
    let config = Arc::new(identity.server_config().unwrap());
    for name in ["other.example", "127.0.0.2"] {
        let outcome = connect(config.clone(), identity.authority().fingerprint(), name);
        let why = certificate_error(&outcome);
        assert!(matches!(why, Some(CertificateError::NotValidForNameContext { .. })), "{outcome:?}");
    }
}

#[test]
fn a_server_certificate_that_has_expired_until_it_is_renewed() {
    let (_home, identity) = identity(91 * DAY);
    let config = Arc::new(identity.server_config().unwrap());
    let authority = identity.authority().fingerprint();
    let outcome = connect(config.clone(), authority, "localhost");
    let said = outcome.expect_err("it is too old").to_string();
    assert!(said.contains("was valid until 1 day ago") && said.contains("clock of one of the two"), "{said}");
    identity.renew(SystemTime::now()).unwrap();
    connect(config, authority, "localhost").unwrap();
}

#[test]
fn other_servers_and_why_they_are_refused() {
    let authority = make(&For::Authority, None);
    let same_name = make(&For::Authority, None);
    let expired = make(&For::ExpiredAuthority, None);
    let alone = make(&For::Server, None);
    let [good, strange, late, by_alone] =
        [&authority, &same_name, &expired, &alone].map(|issuer| make(&For::Server, Some(issuer)));
    let not_shown = AuthorityRefused::NotShown { expected: print(&authority) };
    let table: [(&str, &[&Made], Fingerprint, Option<AuthorityRefused>); 8] = [
        ("right", &[&good, &authority], print(&authority), None),
        ("another authority of the same name", &[&strange, &same_name], print(&authority), Some(not_shown)),
        ("no authority shown", &[&good], print(&authority), Some(not_shown)),
        ("authority expired", &[&late, &expired], print(&expired), Some(AuthorityRefused::NotValidNow)),
        ("server pinned", &[&alone], print(&alone), Some(AuthorityRefused::NotAnAuthority)),
        (
            "server pinned, shown twice",
            &[&alone, &alone],
            print(&alone),
            Some(AuthorityRefused::NotAnAuthority),
        ),
        ("server as issuer", &[&by_alone, &alone], print(&alone), Some(AuthorityRefused::NotAnAuthority)),
        ("authority as server", &[&authority], print(&authority), Some(AuthorityRefused::NotAnAuthority)),
    ];
    for (case, chain, pinned, expected) in table {
        let outcome = connect(server(chain), pinned, "localhost");
        assert_eq!(refused(&outcome), expected, "{case}: {outcome:?}");
        assert_eq!(outcome.is_ok(), expected.is_none(), "{case}: {outcome:?}");
    }
}

#[test]
fn showing_the_pinned_authority_is_not_enough() {
    let authority = make(&For::Authority, None);
    let same_name = make(&For::Authority, None);
    let strange = make(&For::Server, Some(&same_name));
    for chain in [&[&strange, &authority][..], &[&strange, &same_name, &authority]] {
        let outcome = connect(server(chain), print(&authority), "localhost");
        let why = certificate_error(&outcome);
        assert!(
            matches!(why, Some(CertificateError::UnknownIssuer | CertificateError::BadSignature)),
            "{outcome:?}"
        );
    }
}
