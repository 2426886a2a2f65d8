//! What is asked for of several things, one after the other: all that can be done is, and the rest is said.

use crate::Outcome;
use crate::failure::Failure;
use std::fmt::Display;

/// What came of each, in order. What the coordinator refuses of one keeps nothing from the others; when it cannot be asked any more, the
/// rest is left.
pub(crate) fn each<T: Display, R>(
    all: impl IntoIterator<Item = T>,
    ask: impl Fn(&T) -> Result<R, Failure>,
) -> (Vec<R>, Outcome) {
    let mut all = all.into_iter();
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for one in all.by_ref() {
        match ask(&one) {
            Ok(came) => done.push(came),
            Err(failure) => {
                let is_refused = failure.is_refused();
                failed.push((one.to_string(), failure));
                if !is_refused {
                    break;
                }
            }
        }
    }
    let left: Vec<String> = all.map(|one| one.to_string()).collect();
    let outcome = match failed.pop() {
        None => Ok(()),
        Some((_, failure)) if done.is_empty() && failed.is_empty() && left.is_empty() => Err(failure),
        Some(last) => {
            failed.push(last);
            Err(Failure::NotAll { done: done.len(), failed, left })
        }
    };
    (done, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_net::ClientError;

    fn refused() -> Failure {
        let message = "no job of yours".to_owned();
        Failure::Grid(ClientError::Refused { status: 404, code: "not_found".to_owned(), message })
    }

    #[test]
    fn all_that_can_be_done_is_done_in_order() {
        let ask = |one: &u32| match *one {
            0 => Err(refused()),
            9 => Err(Failure::NoGrid("gone".to_owned())),
            one => Ok(one),
        };
        for (all, done, said) in [
            (vec![2, 1], vec![2, 1], ""),
            (vec![0], vec![], "no job of yours"),
            (vec![2, 0, 1], vec![2, 1], "1 of 3 was refused, and the others are done: 0 (no job of yours)"),
            (
                vec![2, 0, 0],
                vec![2],
                "2 of 3 were refused, and the others are done: 0 (no job of yours), 0 (no job of yours)",
            ),
            (vec![0, 0], vec![], "2 of 2 were refused: 0 (no job of yours), 0 (no job of yours)"),
            (
                vec![1, 0, 9, 3, 4],
                vec![1],
                "1 of 5 is done, and the others are not: 0 (no job of yours), 9 (gone), and behind that 3, 4",
            ),
        ] {
            let (found, outcome) = each(all, ask);
            let text = outcome.err().map_or(String::new(), |failure| failure.to_string());
            assert_eq!((found, text.as_str()), (done, said));
        }
    }
}
