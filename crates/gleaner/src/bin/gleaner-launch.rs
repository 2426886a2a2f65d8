//! The launcher of confined tasks, which an agent starts for each of them. `gleaner launch` does the same; but this is a
//! program of a fortieth of the size, which the system loads in half the time: a tenth of what a short task in a sandbox
//! costs. So an agent takes this one where it lies beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    gleaner_agent::launch::launch();
    ExitCode::FAILURE
}
