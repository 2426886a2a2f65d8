//! Fixed-size bytes as text that survives a shell, a URL and a header: base64url without padding.
//!
//! Each value has one text: other lengths, padding and stray trailing bits are refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The text of `bytes`.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The `N` bytes that `text` stands for.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    // The decoder wants room for whole groups of four characters; no more than that is ever looked at.
    if text.len() != (N * 8).div_ceil(6) {
        return None;
    }
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_comes_back(bytes: [u8; 32]) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn a_text_that_is_read_is_the_only_one(text in "[A-Za-z0-9_-]{43}") {
            if let Some(bytes) = decode::<32>(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }

    #[test]
    fn other_lengths_and_alphabets_are_refused() {
        let text = encode(&[7; 32]);
        for bad in ["", &text[1..], &format!("{text}A"), &format!("{text}="), &text.replace('B', "+")] {
            assert_eq!(decode::<32>(bad), None, "{bad:?}");
        }
    }
}
