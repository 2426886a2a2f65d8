use crate::{Outcome, cli::PaperArguments};
pub(crate) fn run(_: &PaperArguments) -> Outcome {
    Ok(())
}
