//! The parts that every benchmark shares: the folder and file of its results, and options.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use humantime::format_rfc3339_seconds;
use serde::Serialize;

use super::error::BenchError;

/// The exit status after an interruption, as shells have it for SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Reads a number of seconds from the command line.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.01..=30.0).contains(&value) => Ok(value),
        _ => Err("a number of seconds from 0.01 to 30".to_owned()),
    }
}

/// The default folder for the results of a run: `results/KIND-DATE`.
pub(crate) fn results_folder(kind: &str, started: SystemTime) -> PathBuf {
    let stamp: String =
        format_rfc3339_seconds(started).to_string().chars().take(19).filter(|c| !"-:".contains(*c)).collect();
    PathBuf::from("results").join(format!("{kind}-{stamp}"))
}

/// Writes a run's results to `path`; a reader never sees half a file.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn save(results: &impl Serialize, path: &Path) -> Result<(), BenchError> {
    let unfinished = path.with_extension("json.part");
    let text = serde_json::to_string_pretty(results)?;
    fs::write(&unfinished, text).map_err(BenchError::file("write", &unfinished))?;
    fs::rename(&unfinished, path).map_err(BenchError::file("write", path))
}
