//! The arguments of `gleaner workload`.

use super::values::{file_to_read, seconds};
use clap::{Args, Subcommand, ValueEnum};
use gleaner_workload::logs::Format;
use std::path::PathBuf;

/// `gleaner workload`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadArguments {
    /// Read a log of jobs, or a description of a job or a site, and print a summary or the first error
    Info(InfoArguments),
    /// Write a log in another format
    Convert(ConvertArguments),
    /// Generate a log from a model
    Generate(DrawArguments),
    /// Write a part of a log, or the log under another load
    Filter(FilterArguments),
}

/// A format to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ReadFormat {
    /// Standard Workload Format, of the Parallel Workloads Archive
    Swf,
    /// Grid Workload Format, of the Grid Workloads Archive
    Gwf,
    /// Batsim's JSON, with profiles of type delay
    Batsim,
}

impl From<ReadFormat> for Format {
    fn from(format: ReadFormat) -> Self {
        match format {
            ReadFormat::Swf => Self::Swf,
            ReadFormat::Gwf => Self::Gwf,
            ReadFormat::Batsim => Self::Batsim,
        }
    }
}

/// A format to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum WrittenFormat {
    /// Standard Workload Format; a log that was in it keeps every byte
    Swf,
    /// Grid Workload Format
    Gwf,
    /// Batsim's JSON, of the jobs that can be scheduled
    Batsim,
    /// A scenario's tasks.csv, of the jobs that can be scheduled: each one task
    Tasks,
}

/// A model of workloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Model {
    /// Lublin and Feitelson's, by its published parameters: batch and interactive jobs
    Lublin,
    /// Likewise, with jobs of one kind
    LublinOneKind,
    /// Users in groups that divide their jobs alike, after Song, Ernemann and Yahyapour; its numbers are ours
    UserGroups,
}

/// A log to read.
#[derive(Args, Debug)]
pub(crate) struct ReadArguments {
    /// The log, packed with gzip or not; - is standard input
    #[arg(value_parser = file_to_read())]
    pub(crate) file: PathBuf,
    /// Its format, where neither its name nor its text shows it
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReadFormat>,
}

/// Where a log goes.
#[derive(Args, Debug)]
pub(crate) struct WrittenLogArguments {
    /// Write to this file; packed if its name ends in .gz. - is standard output, which then has no summary
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The format to write, where the name does not show it (.swf, .gwf, .json, .csv)
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub(crate) written_as: Option<WrittenFormat>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const INFO_HELP: &str = "\
Examples:
  gleaner workload info KTH-SP2.swf.gz
  gleaner workload info trace.gwf --cores 256 --json
  gleaner workload info job.jdf          # of OurGrid, or a site's .sdf
  gleaner workload info bags.txt.gz      # of OurGrid's simulator: bags of tasks
  gleaner workload info /var/lib/gleaner # a grid's past

A job that cannot be scheduled is left out: one without a submit time, a run time or a processor, or one that is larger than \
the machine. Lines that are a part of a job (status 2, 3 or 4) are no jobs where the job has a line of its own.";

/// `gleaner workload info`.
#[derive(Args, Debug)]
#[command(after_help = INFO_HELP)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Processors of the machine, instead of what the log says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const CONVERT_HELP: &str = "\
Examples:
  gleaner workload convert trace.gwf.gz --out trace.swf
  gleaner workload convert KTH-SP2.swf.gz --out kth.json --cores 100
  gleaner workload convert log.swf --out tasks.csv
  gleaner workload convert /var/lib/gleaner --out live.swf  # a grid's past

In tasks.csv a job is one task of as many operations as processors times seconds; that it takes several processors at once is \
lost.

A grid's folder, its gleaner.db, or what `gleaner journal export` wrote to a file, not packed, becomes a log of the tasks that ran to their end, a line \
each: the time limit is the requested time, the label the queue. Users, by number, and labels are named in the header of .swf.";

/// `gleaner workload convert`.
#[derive(Args, Debug)]
#[command(after_help = CONVERT_HELP)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Processors of the machine, instead of what the log says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    #[command(flatten)]
    pub(crate) written: WrittenLogArguments,
}

const DRAW_HELP: &str = "\
Examples:
  gleaner workload generate lublin --jobs 10000 --seed 7 --out jobs.swf
  gleaner workload generate lublin-one-kind --jobs 1000 --out jobs.swf.gz
  gleaner workload generate user-groups --jobs 5000 --out jobs.json

The same seed gives the same log on every machine.";

/// `gleaner workload generate`.
#[derive(Args, Debug)]
#[command(after_help = DRAW_HELP)]
pub(crate) struct DrawArguments {
    /// The model
    #[arg(value_enum)]
    pub(crate) model: Model,
    /// How many jobs
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) jobs: u32,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Processors of the machine
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) cores: u32,
    #[command(flatten)]
    pub(crate) written: WrittenLogArguments,
}

const FILTER_HELP: &str = "\
Examples:
  gleaner workload filter KTH-SP2.swf.gz --from 30d --to 60d --out month.swf
  gleaner workload filter KTH-SP2.swf.gz --users 3,17 --out two-users.swf
  gleaner workload filter KTH-SP2.swf.gz --scale-load 1.2 --out busier.swf

Lines and comments stay as they are; a scaled load changes submit times only, to whole seconds.";

/// `gleaner workload filter`.
#[derive(Args, Debug)]
#[command(after_help = FILTER_HELP)]
pub(crate) struct FilterArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Only jobs that are submitted at this time of the log or later, as 3600 or 30d
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) from: Option<f64>,
    /// Only jobs that are submitted before
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) to: Option<f64>,
    /// Only jobs of these users, by their numbers
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) users: Vec<u64>,
    /// Divide all gaps between submissions by this
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor)]
    pub(crate) scale_load: Option<f64>,
    /// Only jobs that fit a machine of this many processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    #[command(flatten)]
    pub(crate) written: WrittenLogArguments,
}

fn parse_factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| (1e-6..=1e6).contains(factor));
    factor.ok_or_else(|| "expected a factor, from 1e-6 to 1e6".to_owned())
}
