//! An MPI library that takes part: how to compile for it and how to launch it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::BenchError;
use crate::installation::Installation;

/// The name under which Heddle stands in results.
pub(crate) const HEDDLE: &str = "heddle";

/// An MPI library that can be measured.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    /// Its name in results; Heddle under a chosen model is `heddle:MODEL`.
    pub(crate) name: String,
    /// The compiler wrapper.
    pub(crate) mpicc: PathBuf,
    /// The launcher.
    pub(crate) mpiexec: PathBuf,
    /// Arguments of the launcher: nobody binds, pinning is the benchmark's own.
    pub(crate) launch_arguments: Vec<OsString>,
    /// Environment of compiler and launcher.
    pub(crate) environment: Vec<(String, OsString)>,
}

impl Library {
    /// Heddle as installed, once with its defaults and once more for each model named.
    ///
    /// # Errors
    ///
    /// [`BenchError::NoHeddle`] if it is not found.
    pub(crate) fn heddle(prefix: Option<&Path>, models: &[String]) -> Result<Vec<Self>, BenchError> {
        let installation = Installation::find(prefix).ok_or(BenchError::NoHeddle)?;
        let default = Self {
            name: HEDDLE.to_owned(),
            mpicc: installation.program("mpicc"),
            mpiexec: installation.program("mpiexec"),
            launch_arguments: vec!["--bind-to".into(), "none".into()],
            environment: Vec::new(),
        };
        let variants = models.iter().map(|model| Self {
            name: format!("{HEDDLE}:{model}"),
            environment: vec![("HEDDLE_MODEL".to_owned(), model.into())],
            ..default.clone()
        });
        Ok([default.clone()].into_iter().chain(variants).collect())
    }

    /// Whether this is Heddle, under any model.
    pub(crate) fn is_heddle(name: &str) -> bool {
        name.split(':').next() == Some(HEDDLE)
    }

    /// The name as part of a file name.
    pub(crate) fn file_name(&self) -> String {
        self.name.replace(':', "-")
    }
}
