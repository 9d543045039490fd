//! The errors of `heddle bench`.

use std::io;
use std::path::PathBuf;

/// An error that ends a benchmark run, or keeps one library out of it.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file or folder could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// The action that failed.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Heddle is not installed.
    #[error(
        "no bin/mpicc found beside this program or in ./build: build Heddle first (`make`), name its place with \
         --prefix, or measure the others only (--no-heddle)"
    )]
    NoHeddle,
    /// The benchmark's C sources are missing.
    #[error("the benchmark's C sources (harness.h, ...) are not in {}: name their folder with --sources", .0.display())]
    NoSources(PathBuf),
    /// A program could not be started.
    #[error("cannot start {program}: {source}{hint}")]
    Start {
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
        /// A hint that may help.
        hint: &'static str,
    },
    /// A program ended with an error.
    #[error("{program} failed ({status}):\n{tail}")]
    Failed {
        /// The program.
        program: String,
        /// Its exit status.
        status: String,
        /// The end of its output.
        tail: String,
    },
    /// None of the wanted libraries can be measured.
    #[error("there is no library to measure")]
    NothingToMeasure,
    /// Options that do not go together, or name something that does not exist.
    #[error("{0}")]
    Options(String),
    /// A simulation came to no end.
    #[error("the simulation stands still: {0}")]
    Simulation(String),
    /// Results could not be turned into JSON.
    #[error("cannot write the results as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The picture could not be drawn.
    #[error("cannot draw {}: {why}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The handler of Ctrl-C could not be set.
    #[error("cannot watch for Ctrl-C: {0}")]
    Interrupts(#[from] ctrlc::Error),
}

impl BenchError {
    /// A [`BenchError::File`].
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}

/// The last lines of a program's output.
pub(crate) fn tail(bytes: &[u8]) -> String {
    const LINES: usize = 12;
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
