//! `gleaner serve`: the coordinator alone, as a service runs it.

use crate::cli::{LogArguments, LogForm, ServeArguments};
use crate::failure::Failure;
use crate::{Outcome, home, settings};
use gleaner_http::serve::{Ready, ServeError, serve};
use gleaner_net::AuthorityError;
use gleaner_server::store::CERTIFICATE_FILE;
use serde_json::json;
use std::io::{IsTerminal as _, stderr, stdout};
use std::path::Path;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

pub(crate) fn run(arguments: &ServeArguments) -> Outcome {
    start_log(arguments.log, LOGGED);
    home::keep_private();
    let options = settings::serve_options(home::folder(arguments.home.as_deref())?, arguments)?;
    let (home, json) = (options.home.clone(), arguments.json);
    Ok(serve(&options, |ready| async move {
        // Where nobody reads, there is nobody to tell.
        if json {
            // Where nobody reads, there is nobody to tell.
            let _ = crate::stdout::print_json(&document(&ready, &home));
            return stop_requested().await;
        }
        let (address, home) = (&ready.reached.address, home.display());
        // A service's output is kept by others, and a token is a secret.
        let join = if stdout().is_terminal() {
            ready.join_line().await.unwrap_or_else(|error| error.to_string())
        } else {
            format!("gleaner token join --home {home}")
        };
        let _ = crate::stdout::print(format!(
            "listening on {address}; its authority is in {home}/{CERTIFICATE_FILE}\nlet a machine join with: {join}\n"
        ));
        stop_requested().await;
    })?)
}

/// What a service logs: each joining, submission, order and run of ours, and what others warn of.
pub(crate) const LOGGED: &str = "warn,gleaner=info,gleaner_http=info,gleaner_server=info,gleaner_agent=info";

/// Log lines go to standard error; `logged` says which, unless `GLEANER_LOG` says otherwise.
pub(crate) fn start_log(arguments: LogArguments, logged: &str) {
    let filter = EnvFilter::try_from_env("GLEANER_LOG").unwrap_or_else(|_| EnvFilter::new(logged));
    let log = tracing_subscriber::fmt().with_env_filter(filter);
    let log = log.with_ansi(stderr().is_terminal()).with_writer(stderr);
    // A second start in one process would be a fault of ours, and a harmless one.
    let _ = match arguments.log {
        LogForm::Text => log.try_init(),
        LogForm::Json => log.json().try_init(),
    };
}

/// Waits for Ctrl-C or a polite request to end.
pub(crate) async fn stop_requested() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Without handlers the signals end the process themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Where a coordinator is reached, for programs. There is no secret in it.
pub(crate) fn document(ready: &Ready, home: &Path) -> serde_json::Value {
    json!({
        "version": 1,
        "address": ready.reached.address,
        "fingerprint": ready.reached.fingerprint,
        "pid": ready.reached.pid,
        "home": home,
        "authority": home.join(CERTIFICATE_FILE),
    })
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Listen { .. }
            | ServeError::Certificate(_)
            | ServeError::Private(_)
            | ServeError::Authority(AuthorityError::Name(_) | AuthorityError::NameCount(_)) => {
                Self::Usage(error.to_string())
            }
            ServeError::Home(error) => error.into(),
            ServeError::Open(error) => error.into(),
            other => Self::Coordinator(other.to_string()),
        }
    }
}
