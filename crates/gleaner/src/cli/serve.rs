//! The arguments of `gleaner serve`.

use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// `gleaner serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArguments {
    /// The folder in which everything is kept
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// A name under which others reach this machine; may be given several times
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) names: Vec<String>,
    /// A certificate of your own for browsers and other programs, in PEM with those that vouch for it; read again when it changes, or at
    /// SIGHUP. Agents and these commands go by the coordinator's own authority
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// How long results are kept after their job is over, as 30d or 12h: what it read, left and wrote; `forever` for no end [default: 30d]
    #[arg(long, value_name = "TIME")]
    pub(crate) keep_results_for: Option<String>,
    /// How long a job is known after it is over; no shorter than its results are kept [default: 365d]
    #[arg(long, value_name = "TIME")]
    pub(crate) keep_for: Option<String>,
    /// Accept a folder on a network file system, where locks and syncs may not work
    #[arg(long)]
    pub(crate) network_folder: bool,
    /// Print the coordinator's address as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address of this machine and a port, as 0.0.0.0:7717".to_owned())
}

/// How much a program says of itself.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArguments {
    /// How log lines look; the variable `GLEANER_LOG` says what is logged, as `warn` or `debug`
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) log: LogForm,
}

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum LogForm {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}
