//! `gleaner login`: which grid commands on this machine ask, and as whom.

use crate::api::Api;
use crate::cli::{GridArguments, LoginArguments};
use crate::failure::Failure;
use crate::{Outcome, files, home, stdout};
use gleaner_http::serve::{ADDRESS_FILE, Reached};
use gleaner_net::{Address, Fingerprint, Token};
use gleaner_server::store::DATABASE;
use gleaner_server::store::TOKEN_FILE;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use serde_json::json;
use std::io::{self, IsTerminal as _, stdin};
use std::path::{Path, PathBuf};

/// What a user's token begins with.
const TOKEN: &str = "glu_";

/// What the line says.
struct Line {
    address: String,
    fingerprint: String,
    token: String,
}

pub(crate) fn run(arguments: &LoginArguments) -> Outcome {
    home::keep_private();
    let line = match arguments.line.as_slice() {
        [] => typed()?,
        words => words.join(" "),
    };
    let folder = home::folder(arguments.home.as_deref())?;
    let line = match line.split_whitespace().collect::<Vec<_>>()[..] {
        [address] if !address.starts_with(TOKEN) && home::is_coordinators(&folder) => {
            moved(&folder, &whole_address(address)?)?
        }
        _ => parse(&line)?,
    };
    if folder.join(DATABASE).exists() {
        return Err(Failure::Usage(format!(
            "{} is a coordinator's folder, whose own token lies there: name another with --home DIR",
            folder.display()
        )));
    }
    // Nothing is kept before the coordinator knows whose token it is.
    let seen = Api::open(&line.grid())?.overview()?;
    keep(&folder, &line)?;
    if arguments.json {
        let document = json!({ "version": 1, "user": seen.user, "role": seen.role, "address": line.address, "home": folder });
        return stdout::print_json(&document);
    }
    let usual = home::folder(None).is_ok_and(|usual| usual == folder);
    let find =
        if usual { String::new() } else { format!("; export GLEANER_HOME={}", whole(&folder).display()) };
    stdout::print(format!("signed in to {} as {} ({}){find}\n", line.address, seen.user, seen.role.name()))
}

/// As it is named from any folder.
fn whole(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// An address without its beginning is one that this program would print with it.
fn whole_address(word: &str) -> Result<String, Failure> {
    let whole = if word.contains("://") { word.to_owned() } else { format!("https://{word}") };
    let is_host = word.contains("://") || !word.starts_with(':') && word.parse::<u16>().is_err();
    // The word is not quoted: it may be a secret.
    let wrong = |why: &str| {
        Failure::Usage(format!(
            "{why}; expected the line that `gleaner token user NAME` prints, or, where you are signed in already and the coordinator \
             has a new address, https://HOST:PORT"
        ))
    };
    match whole.parse::<Address>() {
        Ok(_) if is_host => Ok(whole),
        Ok(_) => Err(wrong("this is a port without a host")),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// The coordinator that is known already, at a new address: authority and token are the same.
fn moved(folder: &Path, address: &str) -> Result<Line, Failure> {
    let (fingerprint, token) = (home::coordinator(folder)?.fingerprint, home::token(folder)?);
    Ok(Line { address: address.to_owned(), fingerprint, token })
}

/// The line, where a command line would be seen by others.
fn typed() -> Result<String, Failure> {
    let mut line = String::new();
    let read = if stdin().is_terminal() {
        anstream::eprintln!("the line that `gleaner token user` printed (it is not shown):");
        unseen(|| stdin().read_line(&mut line))
    } else {
        stdin().read_line(&mut line)
    };
    read.map_err(|error| Failure::Usage(format!("standard input: {error}")))?;
    Ok(line)
}

/// Reads at the terminal, which shows nothing of what is typed meanwhile, and does again when this process has ended, also by a signal.
fn unseen<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let before = tcgetattr(stdin())?;
    let mut unseen = before.clone();
    // Nobody is to stop it and leave the terminal so.
    unseen.special_codes[SpecialCodeIndex::VSUSP] = 0;
    let at_the_end = before.clone();
    // Where there is no way to listen, the signal ends the process as it always did.
    let _ = ctrlc::set_handler(move || {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &at_the_end);
        std::process::exit(130);
    });
    unseen.local_modes.remove(LocalModes::ECHO);
    unseen.local_modes.insert(LocalModes::ECHONL);
    // A long line is not cut: the terminal hands on no more than 4,095 bytes of one, and this one has some 200.
    tcsetattr(stdin(), OptionalActions::Flush, &unseen)?;
    let read = read();
    tcsetattr(stdin(), OptionalActions::Now, &before)?;
    read
}

/// `[gleaner login] ADDRESS TOKEN.FINGERPRINT`.
fn parse(line: &str) -> Result<Line, Failure> {
    let wrong = |why: &str| {
        Failure::Usage(format!(
            "{why}; expected the line that `gleaner token user NAME` prints: https://HOST:PORT glu_….…"
        ))
    };
    let words: Vec<&str> =
        line.split_whitespace().filter(|word| !["gleaner", "login"].contains(word)).collect();
    let [address, secret] = words[..] else {
        return Err(wrong(&match words.len() {
            0 => "no line was given, neither behind the command nor at its standard input".to_owned(),
            1 => "found one word".to_owned(),
            found => format!("found {found} words"),
        }));
    };
    address.parse::<Address>().map_err(|error| wrong(&error.to_string()))?;
    let (token, fingerprint) =
        secret.split_once('.').ok_or_else(|| wrong("the token has no fingerprint behind it"))?;
    token.parse::<Token>().map_err(|error| wrong(&error.to_string()))?;
    fingerprint.parse::<Fingerprint>().map_err(|error| wrong(&error.to_string()))?;
    let [address, fingerprint, token] = [address, fingerprint, token].map(str::to_owned);
    Ok(Line { address, fingerprint, token })
}

impl Line {
    fn grid(&self) -> GridArguments {
        GridArguments {
            home: None,
            server: Some(self.address.clone()),
            fingerprint: Some(self.fingerprint.clone()),
            token: Some(self.token.clone()),
            json: false,
        }
    }
}

fn keep(folder: &Path, line: &Line) -> Outcome {
    let Line { address, fingerprint, token } = line;
    let reached = Reached { address: address.clone(), local: None, fingerprint: fingerprint.clone(), pid: 0 };
    files::write_json(folder, ADDRESS_FILE, &reached)?;
    files::write_text(folder, TOKEN_FILE, token)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_line_or_its_words_are_read() {
        let token = Token::generate(gleaner_net::TokenKind::User).expect("randomness").reveal();
        let print = "ab".repeat(32);
        for line in [
            format!("gleaner login https://lab:7717 {token}.{print}"),
            format!(" https://lab:7717  {token}.{print}\n"),
        ] {
            let parsed = parse(&line).expect("a line");
            assert_eq!(
                (parsed.address.as_str(), &parsed.token, &parsed.fingerprint),
                ("https://lab:7717", &token, &print)
            );
        }
        for (line, expected) in [
            (String::new(), "no line was given"),
            (format!("https://lab:7717 {token}"), "no fingerprint behind it"),
            (format!("https://lab:7717 glu_x.{print}"), "was a part of it lost?"),
            (format!("http://lab:7717 {token}.{print}"), "expected the line that"),
        ] {
            let error = parse(&line).err().expect("no line").to_string();
            assert!(error.contains(expected) && !error.contains(&token), "{error}");
        }
    }

    #[test]
    fn an_address_may_lack_its_beginning_and_not_its_host() {
        for (word, expected) in [
            ("127.0.0.1:7802", Some("https://127.0.0.1:7802")),
            ("lab", Some("https://lab")),
            ("https://lab:7717", Some("https://lab:7717")),
            (":7802", None),
            ("7802", None),
            ("http://lab:7717", None),
        ] {
            let whole = whole_address(word);
            assert_eq!(whole.as_deref().ok(), expected, "{word}");
            if let Err(error) = whole {
                assert!(error.to_string().contains("https://HOST:PORT"), "{error}");
            }
        }
    }
}
