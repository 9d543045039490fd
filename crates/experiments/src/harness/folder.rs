//! The folder of a run's results, and the exit status of the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use serde::Serialize;

use super::record::utc;
use crate::error::BenchError;
use crate::report::png;

/// The exit status after an interruption, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;

/// The folder of a run's results.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates the folder `given`, or else `results/KIND-DATE`.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub(crate) fn create(given: Option<&Path>, kind: &str, started: SystemTime) -> Result<Self, BenchError> {
        let path = given.map_or_else(|| usual(kind, started), Path::to_path_buf);
        fs::create_dir_all(&path).map_err(BenchError::file("create", &path))?;
        Ok(Self(path))
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a page.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), BenchError> {
        let page = self.file(name);
        fs::write(&page, text).map_err(BenchError::file("write", &page))
    }

    /// Has a picture drawn into an SVG file; if `png`, it is rendered as pixels beside it, too.
    ///
    /// # Errors
    ///
    /// If it cannot be drawn, or rendered.
    pub(crate) fn picture(
        &self,
        name: &str,
        png: bool,
        draw: impl FnOnce(&Path) -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        let picture = self.file(name);
        draw(&picture)?;
        if png { png::beside(&picture) } else { Ok(()) }
    }

    /// Tells on the terminal where the results are.
    pub(crate) fn announce(&self) {
        println!("results: {}", self.0.display());
    }
}

/// The default folder for the results of a run: `results/KIND-DATE`.
fn usual(kind: &str, started: SystemTime) -> PathBuf {
    let stamp: String = utc(started).chars().take(19).filter(|c| !"-:".contains(*c)).collect();
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

/// The exit status of a run that was interrupted or not, and reached what it had to or not.
pub(crate) fn exit_status(complete: bool, reached: bool) -> ExitCode {
    match (complete, reached) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::{Folder, save, usual};

    #[test]
    fn the_usual_folder_has_the_kind_and_the_time() {
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 + 61);
        assert_eq!(usual("locks", started), Path::new("results/locks-19700102T000101"));
    }

    #[test]
    fn files_are_written_whole() {
        let place = tempfile::tempdir().expect("a folder");
        let given = place.path().join("a/b");
        let folder = Folder::create(Some(&given), "locks", SystemTime::now()).expect("created");
        folder.write("table.md", "a page").expect("written");
        save(&[1, 2], &folder.file("results.json")).expect("saved");
        let mut names: Vec<_> =
            fs::read_dir(&given).expect("read").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["results.json", "table.md"]);
        assert_eq!(fs::read_to_string(given.join("results.json")).expect("read"), "[\n  1,\n  2\n]");
    }
}
