//! What holds for every log that can be read.

use gleaner_workload::swf::{Filter, Log, Statistics};
use gleaner_workload::{batsim, gwf};

pub fn expect_sound(log: &Log) {
    let _ = Statistics::of(log, 64);
    let _ = log.filtered(&Filter { scale_load: Some(1.5), cores: Some(8), ..Filter::default() });
    let _ = (gwf::write(log, &mut Vec::new()), batsim::write(64, log, &mut Vec::new()));
}
