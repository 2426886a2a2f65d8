//! What there is in the folder of a task beside its own files.

/// The folder where a program keeps what it needs to go on.
pub const CHECKPOINT: &str = ".checkpoint";
/// The folder for what nobody needs afterwards.
pub const TEMPORARY: &str = ".tmp";
/// The file that it reads as its standard input.
pub const STDIN: &str = ".stdin";
/// The folder of the answers that it compares.
pub const ANSWERS_FOLDER: &str = ".answers";
/// The folders there with the files of each answer.
pub const ANSWERS: [&str; 2] = [".answers/1", ".answers/2"];
