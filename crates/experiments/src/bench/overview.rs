//! The README's picture: six questions about one and many threads, from a run of their cases alone.

use std::path::Path;

use super::picture::{Axis, Question, colour, one_thread, question, threads_row};
use super::record::Results;
use crate::error::BenchError;
use crate::report::chart::Picture;

/// Three panels of this size side by side are as wide as a README is shown.
const PANEL: (u32, u32) = (320, 250);

const QUESTIONS: [Question; 6] = [
    question("messages/s, one communicator", Axis::Threads, |key| {
        key.bench == "rate" && key.comms == "shared" && key.level == "multiple"
    }),
    question("messages/s, a communicator per thread", Axis::Threads, |key| {
        // One thread has a communicator of its own in any case.
        threads_row(key, "rate", "per-thread", 8) || one_thread(key, "rate", "multiple")
    }),
    question("messages/s, threads to themselves", Axis::Threads, |key| threads_row(key, "self", "shared", 8)),
    question("requests/s, clients of one server", Axis::Threads, |key| {
        threads_row(key, "clients", "shared", 8)
    }),
    question("latency (µs), one thread", Axis::Size, |key| one_thread(key, "latency", "multiple")),
    question("bandwidth (MB/s), one thread", Axis::Size, |key| one_thread(key, "bandwidth", "multiple")),
];

/// The names by which readers know the libraries.
fn title(library: &str) -> String {
    match library {
        "heddle" => "Heddle",
        "mpich" => "MPICH",
        "mpich-vci" => "MPICH, a VCI per thread",
        "openmpi" => "Open MPI",
        "impi" => "Intel MPI",
        "impi-split" => "Intel MPI, thread split",
        other => other,
    }
    .to_owned()
}

/// Draws the picture into the SVG file `path`.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn draw(results: &Results, rounds: u32, path: &Path) -> Result<(), BenchError> {
    let machine = &results.run.machine;
    let date = results.run.started.split('T').next().unwrap_or_default();
    let heading = if machine.simulated.is_some() {
        format!("{}; {date}, MPI_THREAD_MULTIPLE, 8 bytes", machine.sentence())
    } else {
        format!(
            "{}, {} cores, {}{}; {date}, medians of {rounds} rounds, MPI_THREAD_MULTIPLE, 8 bytes",
            machine.processor,
            machine.cores,
            machine.kernel,
            if machine.virtual_machine { ", virtual machine" } else { "" },
        )
    };
    let names = results.libraries.iter().map(|library| &library.name);
    let legend = names.map(|name| (title(name), colour(name))).collect();
    let panels = QUESTIONS.iter().filter_map(|question| question.panel(&results.summary)).collect();
    Picture { heading, legend, panel: PANEL, panels }.draw(path)
}
