//! Compiles the C programs for a library with its `mpicc`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::command::finish;
use super::library::Library;
use super::subject::Subject;
use crate::error::BenchError;

/// The folder with the benchmark's C sources: the given one, else `bench` here or beside the installation.
///
/// # Errors
///
/// [`BenchError::NoSources`] if there is none.
pub(crate) fn sources(given: Option<&Path>) -> Result<PathBuf, BenchError> {
    let mut candidates = vec![given.map_or_else(|| PathBuf::from("bench"), Path::to_path_buf)];
    if given.is_none()
        && let Ok(exe) = std::env::current_exe()
    {
        candidates.extend(exe.ancestors().skip(2).take(3).map(|folder| folder.join("bench")));
        candidates.extend(exe.ancestors().nth(2).map(|prefix| prefix.join("share/heddle/bench")));
    }
    let first = candidates[0].clone();
    candidates
        .into_iter()
        .find(|folder| folder.join("harness.h").is_file())
        .ok_or(BenchError::NoSources(first))
}

/// The folder of the example `name`, which lies beside those of the other subjects.
pub(crate) fn example(bench: &Path, name: &str) -> PathBuf {
    bench.parent().map_or_else(|| PathBuf::from("examples"), |folder| folder.join("examples")).join(name)
}

/// The C programs of a library.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    mtbench: PathBuf,
    /// `None` if its sources are missing.
    graph500: Option<PathBuf>,
}

impl Programs {
    /// Compiles the programs for `library` into `folder`.
    ///
    /// # Errors
    ///
    /// If a source cannot be read, or the compiler cannot be started or fails.
    pub(crate) fn compile(library: &Library, sources: &Path, folder: &Path) -> Result<Self, BenchError> {
        fs::create_dir_all(folder).map_err(BenchError::file("create", folder))?;
        let folder = folder.canonicalize().map_err(BenchError::file("find", folder))?;
        let one = |name: &str, sources: &Path| {
            let program = folder.join(format!("{name}-{}", library.file_name()));
            compile(library, sources, &program).map(|()| program)
        };
        let mtbench = one("mtbench", sources)?;
        let search = example(sources, "graph500");
        let graph500 = search.join("bfs.c").is_file().then(|| one("graph500", &search)).transpose()?;
        Ok(Self { mtbench, graph500 })
    }

    /// The program of a subject.
    pub(crate) fn of(&self, subject: Subject) -> Option<&Path> {
        match subject {
            Subject::Graph500 => self.graph500.as_deref(),
            _ => Some(&self.mtbench),
        }
    }
}

fn compile(library: &Library, sources: &Path, program: &Path) -> Result<(), BenchError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(sources).map_err(BenchError::file("read", sources))? {
        let path = entry.map_err(BenchError::file("read", sources))?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            files.push(path);
        }
    }
    files.sort();
    let mut mpicc = Command::new(&library.mpicc);
    mpicc.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-pthread"]);
    mpicc.args(files).arg("-o").arg(program).arg("-lm");
    mpicc.envs(library.environment.iter().cloned());
    finish(&mut mpicc, " (a C compiler is needed too)")
}
