//! The classic instances, where this machine has them.

use gleaner_mapping::Matrix;
use std::path::PathBuf;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/hcsp");

/// The names of the instances with the figures of one table, or nothing, said aloud, where the folder is not.
pub(crate) fn table(name: &str) -> Vec<(String, Vec<f64>)> {
    let path = PathBuf::from(FOLDER).join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: there is no {}", path.display());
        return Vec::new();
    };
    text.lines().skip(1).map(row).collect()
}

fn row(line: &str) -> (String, Vec<f64>) {
    let (name, figures) = line.split_once(',').expect("a name and figures");
    (name.to_owned(), figures.split(',').map(|figure| figure.parse().expect("a figure")).collect())
}

pub(crate) fn instance(name: &str) -> Matrix {
    let content = std::fs::read(PathBuf::from(FOLDER).join(name)).expect("the instance of the table");
    Matrix::parse(&content).unwrap_or_else(|error| panic!("{name}:{error}"))
}
