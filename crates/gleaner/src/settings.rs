//! The settings of a coordinator, and where each comes from: a flag, a variable, the file `config.toml` in its folder, or
//! the default. None has to be given.

use crate::cli::ServeArguments;
use crate::failure::Failure;
use figment::Figment;
use figment::error::Kind;
use figment::providers::{Env, Format, Serialized, Toml};
use gleaner_http::serve::ServeOptions;
use gleaner_net::CertificateFiles;
use gleaner_server::desk::{Keeping, Terms};
use gleaner_server::store::NetworkFolder;
use gleaner_units::Span;
use gleaner_wire::meant::meant;
use gleaner_workload::submit::duration_s;
use serde::{Deserialize, Serialize};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

const FILE: &str = "config.toml";
const PORT: u16 = 7717;
const VARIABLES: [&str; 10] = [
    "listen",
    "names",
    "tls_cert",
    "tls_key",
    "lease_s",
    "heartbeat_s",
    "keep_results_for",
    "keep_for",
    "network_folder",
    "user",
];
const FOREVER: &str = "forever";

/// Each field is a key of the file; `GLEANER_LISTEN` and so on are the variables.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Where to listen.
    listen: SocketAddr,
    /// Names under which others reach the coordinator.
    names: Vec<String>,
    /// The organisation's own certificate.
    tls_cert: Option<PathBuf>,
    /// Its key.
    tls_key: Option<PathBuf>,
    /// How long an agent may go on without a word from the coordinator.
    lease_s: f64,
    /// How often an agent says that it lives.
    heartbeat_s: f64,
    /// How long results are kept after their job is over.
    keep_results_for: String,
    /// How long a job is known after it is over.
    keep_for: String,
    /// Whether the folder may be on a network file system.
    network_folder: bool,
    /// The first user.
    user: String,
}

/// What was given on the command line.
#[derive(Serialize)]
struct Flags {
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_results_for: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_for: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    network_folder: bool,
}

/// A setting, for people.
#[derive(Serialize)]
pub(crate) struct Shown {
    pub(crate) key: &'static str,
    pub(crate) value: serde_json::Value,
    pub(crate) source: String,
}

fn sources(home: &Path, arguments: &ServeArguments) -> Figment {
    let defaults = Settings {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
        names: Vec::new(),
        tls_cert: None,
        tls_key: None,
        lease_s: Terms::default().lease.seconds(),
        heartbeat_s: Terms::default().heartbeat.seconds(),
        keep_results_for: kept(Keeping::default().results),
        keep_for: kept(Keeping::default().records),
        network_folder: false,
        user: user_name(),
    };
    let flags = Flags {
        listen: arguments.listen,
        names: arguments.names.clone(),
        tls_cert: arguments.tls_cert.clone(),
        tls_key: arguments.tls_key.clone(),
        keep_results_for: arguments.keep_results_for.clone(),
        keep_for: arguments.keep_for.clone(),
        network_folder: arguments.network_folder,
    };
    let file = home.join(FILE);
    // A file that is not there sets nothing; one that is there and cannot be read is an error.
    let file = if file.exists() { Toml::file_exact(file) } else { Toml::string("") };
    Figment::from(Serialized::defaults(defaults))
        .merge(file)
        .merge(Env::prefixed("GLEANER_").only(&VARIABLES))
        .merge(Serialized::globals(flags))
}

/// The settings, ready to serve by.
pub(crate) fn serve_options(home: PathBuf, arguments: &ServeArguments) -> Result<ServeOptions, Failure> {
    let settings = read(&home, arguments)?;
    let span = |key: &str, seconds: f64| {
        let span = Span::from_seconds(seconds).filter(|span| *span >= Span::from_nanos(1_000_000_000));
        span.ok_or_else(|| Failure::Usage(format!("{key} is {seconds}; expected 1 second or more")))
    };
    let (lease, heartbeat) = (span("lease_s", settings.lease_s)?, span("heartbeat_s", settings.heartbeat_s)?);
    if heartbeat.nanos() > lease.nanos() / 2 {
        let message = "heartbeat_s is more than half of lease_s: one lost message would end a lease";
        return Err(Failure::Usage(message.to_owned()));
    }
    let keeping = keeping(&settings)?;
    let certificate = match (settings.tls_cert, settings.tls_key) {
        (Some(certificate), Some(key)) => Some(CertificateFiles { certificate, key }),
        (None, None) => None,
        _ => {
            return Err(Failure::Usage(
                "tls_cert and tls_key go together: one of the two is missing".to_owned(),
            ));
        }
    };
    let network = if settings.network_folder { NetworkFolder::Accept } else { NetworkFolder::Refuse };
    Ok(ServeOptions {
        study: Some(gleaner_replay::what_if),
        home,
        listen: settings.listen,
        names: settings.names,
        certificate,
        network,
        user: settings.user,
        terms: Terms { lease, heartbeat, keeping, ..Terms::default() },
    })
}

fn keeping(settings: &Settings) -> Result<Keeping, Failure> {
    let span = |key: &str, text: &String| {
        if text == FOREVER {
            return Ok(None);
        }
        // Whoever writes 30 most likely means days, and what is removed is not had back.
        let has_unit = text.trim().contains(|c: char| !c.is_ascii_digit() && c != '.');
        let span = duration_s(text).ok().filter(|_| has_unit).and_then(Span::from_seconds);
        let span = span.filter(|span| *span >= Span::from_nanos(1_000_000_000));
        span.map(Some).ok_or_else(|| {
            Failure::Usage(format!(
                "{key} is {text}; expected a time from 1s to {}d with its unit, as 30d or 12h, or {FOREVER}",
                u64::MAX / 1_000_000_000 / 86_400
            ))
        })
    };
    let results = span("keep_results_for", &settings.keep_results_for)?;
    let records = span("keep_for", &settings.keep_for)?;
    let is_shorter = records.is_some_and(|records| results.is_none_or(|results| records < results));
    if is_shorter {
        return Err(Failure::Usage(format!(
            "keep_for is {}, and keep_results_for {}: results cannot be kept for longer than what is known of their job",
            settings.keep_for, settings.keep_results_for
        )));
    }
    Ok(Keeping { results, records })
}

/// As it is written.
fn kept(span: Option<Span>) -> String {
    span.map_or(FOREVER.to_owned(), |span| format!("{}d", span.seconds() / 86_400.0))
}

/// Every setting with its source.
pub(crate) fn shown(home: &Path, arguments: &ServeArguments) -> Result<Vec<Shown>, Failure> {
    let settings = serde_json::to_value(read(home, arguments)?).expect("plain data");
    let figment = sources(home, arguments);
    let shown = |key: &'static str| {
        let source = figment.find_metadata(key).map_or("default".to_owned(), |metadata| {
            match (&metadata.source, metadata.name.as_ref()) {
                (Some(figment::Source::File(path)), _) => path.display().to_string(),
                (_, name) if name.contains("environment") => format!("GLEANER_{}", key.to_uppercase()),
                (_, name) if name.contains("Flags") => "command line".to_owned(),
                _ => "default".to_owned(),
            }
        });
        Shown { key, value: settings[key].clone(), source }
    };
    Ok(VARIABLES.into_iter().map(shown).collect())
}

fn read(home: &Path, arguments: &ServeArguments) -> Result<Settings, Failure> {
    sources(home, arguments).extract().map_err(|error| Failure::Usage(complaint(&error)))
}

fn complaint(error: &figment::Error) -> String {
    let place = error.metadata.as_ref().and_then(|metadata| metadata.source.as_ref());
    let place = match place {
        Some(figment::Source::File(path)) => format!("{}: ", path.display()),
        _ => String::new(),
    };
    let key = error.path.join(".");
    match &error.kind {
        Kind::UnknownField(found, known) => {
            let meant = meant(found, known.iter().copied());
            format!("{place}{found}: found an unknown setting; expected one of {}{meant}", known.join(", "))
        }
        _ if key.is_empty() => format!("{place}{}", error.kind),
        kind => format!("{place}{key}: {kind}"),
    }
}

/// Whoever runs this, as the system calls them.
pub(crate) fn user_name() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.is_empty());
    let uid = rustix::process::getuid().as_raw();
    let listed =
        || fs::read_to_string("/etc/passwd").ok().and_then(|text| name_in(&text, uid).map(str::to_owned));
    named.or_else(listed).unwrap_or_else(|| format!("uid{uid}"))
}

/// What a list of the system's users calls one.
fn name_in(passwd: &str, uid: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(uid)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn a_user_without_variables_is_called_as_the_system_does() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nbroken\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_in(passwd, 0), Some("root"));
        assert_eq!(name_in(passwd, 1000), Some("ada"));
        assert_eq!(name_in(passwd, 7), None);
    }
}
