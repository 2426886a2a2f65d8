//! Table 2: by how much the traditional rule takes longer than the greedy one, in per cent.

use super::band::Band;

/// A cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// How many peers.
    pub peers: u32,
    /// How long, in months.
    pub months: u32,
    /// Jobs in an instance, on average.
    pub jobs: u32,
    /// Of the sites.
    pub band: Band,
    /// As printed.
    pub improvement: &'static str,
}

const fn cell(peers: u32, months: u32, jobs: u32, band: Band, improvement: &'static str) -> Cell {
    Cell { peers, months, jobs, band, improvement }
}

/// All 33 of them: 27 of related machines, 6 of unrelated ones.
pub const CELLS: [Cell; 33] = [
    cell(1, 3, 1_995, Band::Low, "25.65"),
    cell(1, 6, 5_323, Band::Low, "21.73"),
    cell(1, 12, 9_485, Band::Low, "25.23"),
    cell(10, 3, 24_310, Band::Low, "16.16"),
    cell(10, 6, 44_778, Band::Low, "18.14"),
    cell(10, 12, 89_281, Band::Low, "16.36"),
    cell(100, 3, 231_089, Band::Low, "24.41"),
    cell(100, 6, 439_339, Band::Low, "26.5"),
    cell(100, 12, 904_624, Band::Low, "29.65"),
    cell(1, 3, 1_995, Band::Medium, "13.08"),
    cell(1, 6, 5_323, Band::Medium, "15.19"),
    cell(1, 12, 9_485, Band::Medium, "14.5"),
    cell(10, 3, 24_310, Band::Medium, "49.33"),
    cell(10, 6, 44_778, Band::Medium, "56.22"),
    cell(10, 12, 89_281, Band::Medium, "47.01"),
    cell(100, 3, 231_089, Band::Medium, "23.71"),
    cell(100, 6, 439_339, Band::Medium, "25.38"),
    cell(100, 12, 904_624, Band::Medium, "27.14"),
    cell(1, 3, 1_995, Band::High, "117.65"),
    cell(1, 6, 5_323, Band::High, "84.63"),
    cell(1, 12, 9_485, Band::High, "105.57"),
    cell(10, 3, 24_310, Band::High, "35.58"),
    cell(10, 6, 44_778, Band::High, "35.18"),
    cell(10, 12, 89_281, Band::High, "38.23"),
    cell(100, 3, 231_089, Band::High, "27.11"),
    cell(100, 6, 439_339, Band::High, "24.02"),
    cell(100, 12, 904_624, Band::High, "24.49"),
    cell(10, 3, 24_310, Band::Mixed, "23.89"),
    cell(10, 6, 44_778, Band::Mixed, "24.41"),
    cell(10, 12, 89_281, Band::Mixed, "23.84"),
    cell(100, 3, 231_089, Band::Mixed, "24.76"),
    cell(100, 6, 439_339, Band::Mixed, "25.47"),
    cell(100, 12, 904_624, Band::Mixed, "28.68"),
];
