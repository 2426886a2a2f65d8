//! Why a coordinator cannot start or go on.

use gleaner_net::{AuthorityError, CertificateError, NoRandomness, PrivateFileError, TokenError};
use gleaner_server::blobs::BlobError;
use gleaner_server::driver::{DriverError, Stopped};
use gleaner_server::store::{CERTIFICATE_FILE, HomeError, OpenError, ReadError};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// Why a coordinator cannot start or go on.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The folder cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The blobs cannot be used.
    #[error(transparent)]
    Blobs(#[from] BlobError),
    /// The desk cannot start or go on.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The first user's token cannot be read, or others can read it.
    #[error(transparent)]
    Private(#[from] PrivateFileError),
    /// There are no keys.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The organisation's own certificate is of no use.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// There is no randomness.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// A token has no meaning: a fault of this program.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The address cannot be listened on.
    #[error(
        "{address} cannot be listened on: {source}; end what holds it, or choose another address with --listen"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// A file in the folder cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Machines and users know the grid by a key that is not there any more.
    #[error(
        "the grid's authority is not in {} any more, and machines and users know the grid by it: put the folder back from a backup; \
         or, to have a new authority, remove {CERTIFICATE_FILE} beside it: then each machine has to join again, and each user to log in",
        .0.display()
    )]
    AuthorityLost(PathBuf),
    /// The desk ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The runtime cannot start.
    #[error("no threads for the network: {0}")]
    Runtime(io::Error),
}
