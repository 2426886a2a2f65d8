//! The coordinator as a program: everything in one folder, one address to listen on.

mod error;
mod reached;

pub use error::ServeError;
pub use reached::Reached;

use crate::http;
use crate::listener::{self, Over};
use crate::sessions;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Extension, Router};
use gleaner_net::{
    Authority, CertificateFiles, Fingerprint, JoinToken, ServerIdentity, Token, TokenKind, read_private,
    replace_file,
};
use gleaner_server::app::{AgentTokens, App, Readers, join_line, stored_hash};
use gleaner_server::blobs::FolderBlobs;
use gleaner_server::desk::{Administration, NewUser, Order, Requester, Terms};
use gleaner_server::driver::{Driver, Handle};
use gleaner_server::limits::Share;
use gleaner_server::store::{
    AUTHORITY_FOLDER, CERTIFICATE_FILE, Home, NetworkFolder, OpenError, ReadError, SqliteReader, SqliteStore,
    TOKEN_FILE,
};
use gleaner_server::study::Study;
use gleaner_server::tidying::{keep_removing, keep_tidy};
use gleaner_wire::api::Role;
use reached::{names, warn_of_unknown};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

/// Where a coordinator says how it is reached: in its folder.
pub const ADDRESS_FILE: &str = "coordinator.json";
/// How long a join token is good for.
pub const JOIN_SECONDS: u64 = 24 * 3_600;
/// How often to look whether the certificate ends soon, or the clock was set; and whether there is room again.
const CARE: Duration = Duration::from_secs(20);

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where everything is kept.
    pub home: PathBuf,
    /// Where to listen. All is under TLS, on loopback too.
    pub listen: SocketAddr,
    /// Names under which others reach this machine, besides those it knows itself.
    pub names: Vec<String>,
    /// A certificate of the organisation's own, for browsers and other programs.
    pub certificate: Option<CertificateFiles>,
    /// Whether a network file system will do.
    pub network: NetworkFolder,
    /// The first user, who administers the grid.
    pub user: String,
    /// How long agents may be silent.
    pub terms: Terms,
    /// What says what would have been under another policy, if there is one.
    pub study: Option<Study>,
}

/// How long whoever reads may take to end with the coordinator.
const READING_ENDS: Duration = Duration::from_secs(10);

/// A coordinator that is up.
#[derive(Clone)]
pub struct Ready {
    /// How it is reached.
    pub reached: Reached,
    /// The way to its desk.
    pub desk: Handle,
    authority: Fingerprint,
}

impl Ready {
    /// The line with which another machine joins.
    pub async fn join_line(&self) -> Result<String, ServeError> {
        Ok(join_line(&self.reached.address, &self.join_token().await?))
    }

    /// A new token with which one agent may join.
    pub async fn join_token(&self) -> Result<String, ServeError> {
        let token = Token::generate(TokenKind::Join)?;
        let expires = self.desk.now() + gleaner_units::Span::from_nanos(JOIN_SECONDS * 1_000_000_000);
        let order = Order::Administer(Administration::IssueJoinToken {
            token: stored_hash(&token),
            expires,
            uses: 1,
            owner: None,
        });
        // An order of the coordinator's own is not refused.
        let _ = self.desk.order(Requester::coordinator(), order).await?;
        Ok(JoinToken::new(token, self.authority)?.reveal())
    }
}

/// Serves until `stopped` ends, or the disk fails. `ready` is called once it listens.
pub fn serve<F: Future<Output = ()>>(
    options: &ServeOptions,
    ready: impl FnOnce(Ready) -> F,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(ServeError::Runtime)?;
    let home = Home::open(&options.home, options.network)?;
    if let Some(lack) = home.lack() {
        tracing::warn!(
            "the disk of {} is full: it can be asked, and lets agents in when there is room; {lack}: {}",
            options.home.display(),
            lack.remedy()
        );
    }
    let of_strangers = listener::strangers(raise_file_limit());
    if let Some(files) = &options.certificate {
        // Before a start is recorded that none comes of.
        files.check(SystemTime::now())?;
    }
    // Likewise.
    Authority::check_names(&names(&options.names, options.listen))?;
    listener::check_free(options.listen)
        .map_err(|source| ServeError::Listen { address: options.listen, source })?;
    let token = kept_token(&home)?;
    let (store, blobs) = (SqliteStore::open(&home)?, FolderBlobs::open(&home)?);
    if let Some(torn) = store.torn_tail() {
        tracing::warn!("{torn}");
    }
    let program = concat!("gleaner ", env!("CARGO_PKG_VERSION"));
    let (driver, desk) = Driver::start(Box::new(store), &home, options.terms, program)?;
    let served = runtime.block_on(async {
        first_user((&home, token), &options.user, &desk).await?;
        listen(options, &home, Arc::new(blobs), &desk, of_strangers, ready).await
    });
    desk.stop();
    let store = driver.join()?;
    // What still reads ends first, so that the store, closed last, takes its log in.
    runtime.shutdown_timeout(READING_ENDS);
    drop(store);
    served
}

async fn listen<F: Future<Output = ()>>(
    options: &ServeOptions,
    home: &Home,
    blobs: Arc<FolderBlobs>,
    desk: &Handle,
    of_strangers: Share,
    ready: impl FnOnce(Ready) -> F,
) -> Result<(), ServeError> {
    let failure = |source| ServeError::Listen { address: options.listen, source };
    let listener = TcpListener::bind(options.listen).await.map_err(failure)?;
    let bound = listener.local_addr().map_err(failure)?;
    let identity = identity(options, home, bound)?;
    let authority = identity.authority().fingerprint();
    write_authority(home, &identity)?;
    let reached = Reached::new(&options.names, bound, authority);
    warn_of_unknown(options.names.clone(), bound.port());
    let text = serde_json::to_string(&reached).expect("plain data");
    write_private(&home.folder().join(ADDRESS_FILE), &text)?;
    let app = App {
        desk: desk.clone(),
        blobs,
        readers: readers(home),
        home: home.clone(),
        agents: AgentTokens::default(),
        authority,
        address: reached.address.clone(),
        names: names_of(&identity),
        study: options.study,
    };
    warn_of_other_names(&identity);
    let tls = identity.server_config()?;
    let renewed = tokio::spawn(take_care(identity, home.clone()));
    let app = Arc::new(app);
    let tidied = tokio::spawn(keep_tidy(Arc::clone(&app)));
    let removed = tokio::spawn(keep_removing(Arc::clone(&app)));
    let stopped = ready(Ready { reached, desk: desk.clone(), authority });
    let ended = async {
        tokio::select! {
            // From now on whoever waits hears so.
            () = stopped => desk.stop(),
            // The desk closes its door when it ends; why, its thread says.
            () = desk.closed() => {}
        }
    };
    listener::serve(listener, Arc::new(tls), router(app), of_strangers, ended).await;
    for task in [renewed, tidied, removed] {
        task.abort();
    }
    Ok(())
}

/// Of the journal and the tables beside it, while the desk goes on.
fn readers(home: &Home) -> Readers {
    let database = home.folder().to_owned();
    Readers::new(move || {
        let reader = SqliteReader::open(&database);
        let failure = |error: OpenError| ReadError::Io { source: error.into() };
        Ok(Box::new(reader.map_err(failure)?))
    })
}

/// A browser takes the organisation's certificate only where it is for the name by which it comes.
fn warn_of_other_names(identity: &ServerIdentity) {
    if !identity.is_own_for_a_name() {
        tracing::warn!(
            "the certificate that is shown to browsers names nothing by which this coordinator is known ({}): it is for {}; \
             --name says by what names others reach it",
            identity.names().join(", "),
            identity.own_names().join(", ")
        );
    }
}

/// The API, and beside it the agents' sessions: those stay open, and must not count among the requests in flight.
fn router(app: Arc<App>) -> Router {
    let sessions = Arc::clone(&app);
    let open = async move |Extension(over): Extension<Over>, request: Request| {
        sessions::open(Arc::clone(&sessions), over, request)
    };
    let open = get(open).layer(from_fn_with_state(Arc::clone(&app), http::own_site));
    http::router(app).route("/api/v1/session", open)
}

/// Looks after the certificates and the room on the disk, each time on a thread that may block.
async fn take_care(identity: Arc<ServerIdentity>, home: Home) {
    let mut asked = signal(SignalKind::hangup()).ok();
    loop {
        let is_asked = tokio::select! {
            () = tokio::time::sleep(CARE) => false,
            Some(()) = async { asked.as_mut()?.recv().await } => true,
        };
        let (identity, home) = (Arc::clone(&identity), home.clone());
        // What panicked is told by the panic, and tried again.
        drop(spawn_blocking(move || take_care_once(&identity, &home, is_asked)).await);
    }
}

fn take_care_once(identity: &ServerIdentity, home: &Home, is_asked: bool) {
    match identity.read_again(is_asked, SystemTime::now()) {
        Ok(true) => tracing::info!("the certificate was read again"),
        Ok(false) => {}
        Err(error) => tracing::warn!("the certificate that was read before stays: {error}"),
    }
    if let Err(error) = home.keep_reserve() {
        tracing::warn!("the reserve for a start on a full disk cannot be kept: {error}");
    }
    if let Err(error) = identity.renew(SystemTime::now()) {
        tracing::warn!("the certificate could not be renewed: {error}");
    }
}

/// The token in the folder, if one is there and is one. What others can read may be theirs as well: then there is no start.
fn kept_token(home: &Home) -> Result<Option<Token>, ServeError> {
    let content = read_private(&home.folder().join(TOKEN_FILE))?;
    Ok(content.and_then(|content| String::from_utf8(content).ok()?.trim().parse().ok()))
}

/// Who starts a grid administers it; the token lies in the folder, for that user alone.
async fn first_user(
    (home, kept): (&Home, Option<Token>),
    user: &str,
    desk: &Handle,
) -> Result<(), ServeError> {
    let path = home.folder().join(TOKEN_FILE);
    let people = desk.people();
    let is_good = |token: Token| {
        people.user(&stored_hash(&token)).is_some_and(|known| known.is_let_in(desk.wall_now()))
    };
    if kept.is_some_and(is_good) {
        return Ok(());
    }
    if path.exists() {
        tracing::warn!("{} held no token that is good here: {} gets a new one", path.display(), user);
    }
    let token = Token::generate(TokenKind::User)?;
    write_private(&path, &token.reveal())?;
    let order = Order::Administer(Administration::AddUser(NewUser {
        user: user.to_owned(),
        token: stored_hash(&token),
        role: Some(Role::Admin),
        expires: None,
        again: true,
    }));
    if let Err(rejection) = desk.order(Requester::coordinator(), order).await? {
        let source = io::Error::new(io::ErrorKind::InvalidInput, rejection.message);
        return Err(ServeError::File { path, source });
    }
    Ok(())
}

fn identity(
    options: &ServeOptions,
    home: &Home,
    bound: SocketAddr,
) -> Result<Arc<ServerIdentity>, ServeError> {
    let now = SystemTime::now();
    let folder = home.folder().join(AUTHORITY_FOLDER);
    if !Authority::is_in(&folder) && home.folder().join(CERTIFICATE_FILE).exists() {
        return Err(ServeError::AuthorityLost(folder));
    }
    let authority = Authority::open_or_create(&folder, now)?;
    let identity = ServerIdentity::new(authority, names(&options.names, bound), now)?;
    if let Some(files) = &options.certificate {
        identity.show(files.clone(), now)?;
    }
    Ok(identity)
}

/// By which names a coordinator is asked, at any time: its certificates may be replaced.
fn names_of(identity: &Arc<ServerIdentity>) -> Arc<dyn Fn() -> Vec<String> + Send + Sync> {
    let identity = Arc::clone(identity);
    Arc::new(move || identity.all_names())
}

/// The authority's certificate for browsers and curl. There is no secret in it.
fn write_authority(home: &Home, identity: &ServerIdentity) -> Result<(), ServeError> {
    write_private(&home.folder().join(CERTIFICATE_FILE), &identity.authority().certificate_pem())
}

/// Ten thousand agents are ten thousand files. Returns how many the system allows.
fn raise_file_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum.unwrap_or(u64::MAX),
        Err(error) => {
            tracing::warn!("the limit on open files stays as it is: {error}");
            current.unwrap_or(u64::MAX)
        }
    }
}

/// All of it or the old file, for this user alone.
fn write_private(path: &Path, text: &str) -> Result<(), ServeError> {
    let written = replace_file(path, 0o600, |out| out.write_all(text.as_bytes()));
    written.map_err(|source| ServeError::File { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_token_that_others_can_read_ends_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open(folder.path(), NetworkFolder::Accept).expect("a home");
        assert!(kept_token(&home).expect("there is none").is_none());
        let path = folder.path().join(TOKEN_FILE);
        for (text, mode, is_kept) in [
            (Token::generate(TokenKind::User).expect("a token").reveal(), 0o600, Some(true)),
            ("nonsense".to_owned(), 0o600, Some(false)),
            (Token::generate(TokenKind::User).expect("a token").reveal(), 0o644, None),
        ] {
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
            match (kept_token(&home), is_kept) {
                (Ok(kept), Some(is_kept)) => assert_eq!(kept.is_some(), is_kept, "{mode:o}"),
                (Err(error), None) => assert!(error.to_string().contains("chmod 600"), "{error}"),
                (found, _) => panic!("{mode:o}: {:?}", found.map(|kept| kept.is_some())),
            }
        }
    }

    /// A coordinator answered to the names that it had at its start.
    #[test]
    fn names_are_those_of_the_certificate_that_is_shown_now() {
        let (folder, now) = (tempfile::tempdir().expect("a folder"), SystemTime::now());
        let authority = Authority::open_or_create(&folder.path().join("authority"), now).expect("keys");
        let names = vec!["localhost".to_owned()];
        let identity = ServerIdentity::new(authority, names, now).expect("an identity");
        let names = names_of(&identity);
        assert_eq!(names(), ["localhost"]);
        let key = rcgen::KeyPair::generate().expect("a key");
        let params = rcgen::CertificateParams::new(vec!["grid.example".to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("a certificate");
        let [own, own_key] = ["own.crt", "own.key"].map(|file| folder.path().join(file));
        fs::write(&own, certificate.pem()).expect("it is written");
        fs::write(&own_key, key.serialize_pem()).expect("it is written");
        identity.show(CertificateFiles { certificate: own, key: own_key }, now).expect("they fit");
        assert_eq!(names(), ["localhost", "grid.example"]);
    }
}
