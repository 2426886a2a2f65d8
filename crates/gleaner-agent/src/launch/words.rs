//! What the launcher says to the minder: that all is ready, or why it is not.

use super::LaunchError;

/// Begins the launcher's last word before the program; what follows it can only be the reason why `exec` failed.
const READY: u8 = 6;

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// The program ran, within walls of this Landlock ABI (0: none).
    Ready { landlock_abi: u8 },
    /// It did not: what was to come before it failed.
    Failed(String),
    /// It did not, and all that was to come before it was done.
    NoProgram(String),
}

pub(super) fn ready(landlock_abi: u8) -> [u8; 2] {
    [READY, landlock_abi]
}

pub(super) fn failure(error: &LaunchError) -> String {
    format!("{error}\n")
}

/// Reads what bubblewrap (in its own words) and the launcher said.
pub(crate) fn read_words(words: &[u8]) -> Words {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', "; ");
    let Some(at) = words.iter().position(|&byte| byte == READY) else {
        return Words::Failed(match text(words).as_str() {
            "" => "it was killed before its program ran".to_owned(),
            said => said.to_owned(),
        });
    };
    match &words[at + 1..] {
        &[landlock_abi] => Words::Ready { landlock_abi },
        [_, why @ ..] => Words::NoProgram(text(why)),
        [] => Words::Failed("the launcher was killed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found() {
        for (words, expected) in [
            (&[6, 4][..], Words::Ready { landlock_abi: 4 }),
            (b"bwrap: no user namespaces\n", Words::Failed("bwrap: no user namespaces".to_owned())),
            (b"\x06\x00nosuch: not found\n", Words::NoProgram("nosuch: not found".to_owned())),
            (b"", Words::Failed("it was killed before its program ran".to_owned())),
        ] {
            assert_eq!(read_words(words), expected, "{words:?}");
        }
    }
}
