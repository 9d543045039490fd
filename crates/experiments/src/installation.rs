//! Where Heddle is installed: the prefix that holds `bin/mpicc`, `bin/mpiexec` and `lib/`.

use std::env;
use std::path::{Path, PathBuf};

/// The file name of the library.
const LIBRARY: &str = "libmpi_abi.so.1";

/// A prefix with Heddle's `bin` and `lib`.
#[derive(Debug, Clone)]
pub struct Installation {
    prefix: PathBuf,
}

impl Installation {
    /// Finds the prefix: the one given, else the one this program is part of, else `build` in the current
    /// directory.
    pub fn find(given: Option<&Path>) -> Option<Self> {
        let candidates = match given {
            Some(prefix) => vec![prefix.to_path_buf()],
            None => {
                let own = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.parent()?.to_path_buf()));
                own.into_iter().chain([PathBuf::from("build")]).collect()
            }
        };
        let prefix = candidates.into_iter().find(|prefix| prefix.join("bin/mpicc").is_file())?;
        Some(Self { prefix: prefix.canonicalize().unwrap_or(prefix) })
    }

    /// The prefix itself.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// A program of the installation.
    pub fn program(&self, name: &str) -> PathBuf {
        self.prefix.join("bin").join(name)
    }

    /// The shared library, if it is there.
    pub fn library(&self) -> Option<PathBuf> {
        ["lib", "lib64"].iter().map(|dir| self.prefix.join(dir).join(LIBRARY)).find(|path| path.exists())
    }
}
