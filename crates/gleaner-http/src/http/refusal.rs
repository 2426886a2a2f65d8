//! Why a request is refused, as an answer.

use crate::limits::{BODY_BYTES_MIN, MESSAGE_BYTES_MAX, PATIENCE};
use crate::places::Places;
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::header::{ACCEPT_ENCODING, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use gleaner_net::NoRandomness;
use gleaner_server::blobs::{BlobError, PutError};
use gleaner_server::desk::{Rejection, RejectionKind};
use gleaner_server::driver::Stopped;
use gleaner_server::limits::Share;
use gleaner_server::store::{Lack, ReadError};
use gleaner_wire::VERSION;
use gleaner_wire::api::{Problem, ProblemDetail};
use gleaner_wire::meant::with_meant;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A status, and what the body says: a word for programs, a sentence for people.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: within_reason(message.into()) }
    }

    /// What came cannot be read.
    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", message)
    }

    /// It can be read and has no meaning.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    /// It is not known who asks.
    pub(super) fn unknown_caller(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// It was known who asks.
    pub(super) fn expired(user: &str) -> Self {
        let message = format!(
            "this token has expired; an administrator makes a new one with `gleaner token user {user}`, and you sign in \
             with its line: `gleaner login`"
        );
        Self::new(StatusCode::UNAUTHORIZED, "expired", message)
    }

    /// It cannot be done as things stand.
    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// Who asks may not.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// It is for another server.
    pub(super) fn misdirected(message: impl Into<String>) -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, "misdirected", message)
    }

    /// It does not exist, or not for who asks.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// It exists, and cannot be used so.
    pub(super) fn method() -> Self {
        let message = "this cannot be done here; /api/v1/openapi.json lists what can";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
    }

    /// Its sender was silent for too long, or sends too little at a time.
    pub(super) fn slow() -> Self {
        let message = format!(
            "the rest of the request did not come, or not at {} KiB a second; send it again",
            (BODY_BYTES_MIN / PATIENCE.as_secs()) >> 10
        );
        Self::new(StatusCode::REQUEST_TIMEOUT, "slow", message)
    }

    /// What was kept is not there any more, or not whole.
    pub(super) fn damaged(message: impl Into<String>) -> Self {
        let message = message.into();
        tracing::error!("{message}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", message)
    }

    /// It was there, and was removed as it was due.
    pub(super) fn removed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "removed", message)
    }

    /// There is no room for it. Senders try again and again, so that the log has it now and then only.
    pub(super) fn disk_full(lack: Lack, message: impl Into<String>) -> Self {
        static SAID: Mutex<Rarely> = Mutex::new(Rarely::NEVER);
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(times) = said.count(Instant::now()) {
            tracing::warn!(
                times,
                "files or jobs were refused, since {lack} on the coordinator's disk: {}. Agents keep what runs left, and send it again",
                lack.remedy()
            );
        }
        drop(said);
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "disk_full", message)
    }

    /// It is longer than what is taken.
    pub(super) fn too_large(at_most: u64) -> Self {
        let message = format!("the request's body is larger than the {at_most} bytes that are taken here");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// Its body is of another type than what is taken.
    pub(super) fn not_json() -> Self {
        let message = "the request's body has to be JSON, with the header \"Content-Type: application/json\"";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }

    /// Its body is packed.
    pub(super) fn packed() -> Self {
        let message =
            "the request's body is packed (the header Content-Encoding); it is taken as it is alone";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }

    /// Its headers are longer than what is taken.
    pub(super) fn long_headers(at_most: usize) -> Self {
        let message = format!("the request's address and headers are longer than {at_most} bytes");
        Self::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large", message)
    }

    /// Too much goes on at the moment.
    pub(super) fn busy(with: &str) -> Self {
        let message = format!("the coordinator is busy with {with}; try again in a second");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// All places for something are taken, or all that one may have.
    pub(super) fn no_place(of: &str, places: &Places) -> Self {
        let Share { all, each } = places.share();
        let message = format!(
            "no more {of} are taken now: {each} of each caller and {all} of all go on at a time; try again in a second"
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// Who asks does so more often than they may.
    pub(super) fn too_often(user: &str, per_s: u32) -> Self {
        let message = format!(
            "{user} has made more requests than the quota of {per_s} in a second; wait a second, or ask an administrator \
             for more (`gleaner quota set --user {user} --requests N`)"
        );
        Self::new(StatusCode::TOO_MANY_REQUESTS, "quota", message)
    }

    /// Who asks has all that is theirs.
    pub(super) fn above_quota(message: String) -> Self {
        Self::new(StatusCode::FORBIDDEN, "quota", message)
    }

    /// It is more than what may be kept of a user's runs.
    pub(super) fn above_runs_quotas(user: &str, left: u64) -> Self {
        let message = format!(
            "the quota of {user} has room for {left} more bytes of what this machine sends: what it sent in the last day and no task \
             kept counts too; `gleaner quota show` has what is used"
        );
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "quota", message)
    }

    /// Something went wrong here, and the details are for the log.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        let message = message.into();
        tracing::error!("{message}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// A handler panicked; what it said is on standard error already.
    pub(super) fn panicked(request: u64) -> Self {
        tracing::error!("the handler of this request panicked");
        let message = format!("this is a defect of Gleaner; its log has the details at request {request}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

/// What was found may be as long as the request, and what was expected stands behind it: a long message loses its middle.
fn within_reason(message: String) -> String {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message;
    }
    let head = message.floor_char_boundary(MESSAGE_BYTES_MAX / 2);
    let tail = message.ceil_char_boundary(message.len() - MESSAGE_BYTES_MAX / 2);
    format!("{} … {}", &message[..head], &message[tail..])
}

/// What is no number, and what is none that is taken, is called so as the code does.
fn numbers_in_words(text: &str) -> String {
    let expected = "expected a whole number";
    let of_query = [
        ("invalid digit found in string", expected),
        ("cannot parse integer from empty string", expected),
        ("number too large to fit in target type", "expected a whole number, and not as large a one"),
    ];
    let text = of_query.iter().fold(text.to_owned(), |text, (code, words)| text.replace(code, words));
    text.replace(" to a `u32`", &format!(": {expected}"))
}

/// How long the log is spared what it has said.
const SILENCE: Duration = Duration::from_mins(10);

/// Counts what is said once in a while.
struct Rarely {
    said: Option<Instant>,
    since: u64,
}

impl Rarely {
    const NEVER: Self = Self { said: None, since: 0 };

    /// How often it happened since it was last said, if it is to be said now.
    fn count(&mut self, now: Instant) -> Option<u64> {
        self.since += 1;
        if self.said.is_some_and(|said| now < said + SILENCE) {
            return None;
        }
        self.said = Some(now);
        Some(std::mem::take(&mut self.since))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = ProblemDetail { code: self.code.to_owned(), message: self.message };
        let mut response = (self.status, Json(Problem { version: VERSION, error })).into_response();
        let header = match self.status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => Some((RETRY_AFTER, "1")),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Some((ACCEPT_ENCODING, "identity")),
            _ => None,
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        let message = rejection.message;
        match rejection.kind {
            RejectionKind::Invalid => Self::invalid(message),
            RejectionKind::Unknown => Self::unknown_caller(message),
            RejectionKind::Forbidden => Self::forbidden(message),
            RejectionKind::NotFound => Self::not_found(message),
            RejectionKind::Quota => Self::new(StatusCode::FORBIDDEN, "quota", message),
            RejectionKind::Conflict => Self::conflict(message),
        }
    }
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Self {
        let message = format!("{stopped}; what was acknowledged is kept, try again when it is back");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        Self::malformed(numbers_in_words(&rejection.body_text()))
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        Self::malformed(with_meant(&numbers_in_words(&rejection.body_text())))
    }
}

impl From<PutError> for Refusal {
    fn from(error: PutError) -> Self {
        let message = error.to_string();
        match error {
            PutError::TooLarge { at_most } => Self::too_large(at_most),
            PutError::LargerThanDisk { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message),
            PutError::OtherContent { .. } => Self::invalid(message),
            PutError::Body { source } if source.kind() == io::ErrorKind::TimedOut => Self::slow(),
            PutError::Body { .. } => Self::malformed(message),
            PutError::DiskFull(lack) => Self::disk_full(lack, message),
            PutError::Io(_) => Self::internal(message),
        }
    }
}

impl From<BlobError> for Refusal {
    fn from(error: BlobError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<NoRandomness> for Refusal {
    fn from(error: NoRandomness) -> Self {
        Self::internal(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_all_the_time_is_said_once_in_a_while() {
        let start = Instant::now();
        let mut said = Rarely::NEVER;
        let counted = [0, 1, 599, 600, 601].map(|after| said.count(start + Duration::from_secs(after)));
        assert_eq!(counted, [Some(1), None, None, Some(3), None]);
    }

    #[test]
    fn a_message_is_no_longer_than_that() {
        let found = |bytes: usize| format!("unknown field `{}`, expected one of a, b", "ü".repeat(bytes / 2));
        let short = Refusal::invalid(found(MESSAGE_BYTES_MAX / 2)).message;
        assert_eq!(short, found(MESSAGE_BYTES_MAX / 2));
        let long = Refusal::invalid(found(100 * MESSAGE_BYTES_MAX)).message;
        assert!(long.len() <= MESSAGE_BYTES_MAX + " … ".len(), "{} bytes", long.len());
        assert!(long.starts_with("unknown field `ü") && long.ends_with("expected one of a, b"), "{long}");
    }
}
