//! An MPI library that takes part: how to compile for it and how to launch it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use heddle_model::OWN;

use super::case::Case;
use super::subject::Subject;
use crate::error::BenchError;
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
    /// Arguments of the launcher. They switch binding off: the benchmark pins its threads itself.
    pub(crate) launch_arguments: Vec<OsString>,
    /// Environment of compiler and launcher.
    pub(crate) environment: Vec<(String, OsString)>,
    /// Variables that are set to the number of threads in each process.
    pub(crate) threads_variables: Vec<&'static str>,
    /// Arguments of the benchmark besides those of a case.
    pub(crate) program_arguments: Vec<String>,
    /// The cases that it takes part in.
    pub(crate) takes: fn(&Case) -> bool,
    /// The folder of its library of the standard ABI, if it has one.
    pub(crate) abi: Option<PathBuf>,
}

impl Library {
    /// Heddle as installed, once with its defaults and once more for each variant named (see [`variant`]);
    /// all report the performance variables `pvars`.
    ///
    /// # Errors
    ///
    /// [`BenchError::NoHeddle`] if it is not found, [`BenchError::Options`] if a variant cannot be read.
    pub(crate) fn heddle(
        prefix: Option<&Path>,
        variants: &[String],
        pvars: &[String],
    ) -> Result<Vec<Self>, BenchError> {
        let installation = Installation::find(prefix).ok_or(BenchError::NoHeddle)?;
        let default = Self {
            name: HEDDLE.to_owned(),
            mpicc: installation.program("mpicc"),
            mpiexec: installation.program("mpiexec"),
            launch_arguments: vec!["--bind-to".into(), "none".into()],
            environment: Vec::new(),
            threads_variables: Vec::new(),
            program_arguments: if pvars.is_empty() {
                Vec::new()
            } else {
                vec!["--pvars".to_owned(), pvars.join(",")]
            },
            takes: |_| true,
            abi: Some(installation.prefix().join("lib")),
        };
        let mut libraries = vec![default.clone()];
        for text in variants.iter().flat_map(|text| expand(text)) {
            let name = format!("{HEDDLE}:{text}");
            libraries.push(Self { name, environment: variant(text)?, ..default.clone() });
        }
        Ok(libraries)
    }

    /// Returns true if it can run a case: the Fortran program needs the standard ABI.
    pub(crate) fn takes(&self, case: &Case) -> bool {
        (self.takes)(case) && (case.subject != Subject::Sweep || self.abi.is_some())
    }

    /// The environment of the processes of a launch.
    pub(crate) fn environment_of(&self, case: &Case) -> Vec<(String, OsString)> {
        let threads = OsString::from(case.threads.to_string());
        let variables = self.threads_variables.iter().map(|&name| (name.to_owned(), threads.clone()));
        let mut environment: Vec<_> = self.environment.iter().cloned().chain(variables).collect();
        if case.subject == Subject::Sweep {
            environment.extend(self.abi.iter().map(|abi| ("LD_LIBRARY_PATH".to_owned(), abi.into())));
            environment.push(("OMP_NUM_THREADS".to_owned(), threads));
            // Threads that wait for each other leave the cores to those that compute.
            environment.push(("OMP_WAIT_POLICY".to_owned(), "passive".into()));
        }
        environment
    }

    /// Returns true if this is Heddle, under any model.
    pub(crate) fn is_heddle(name: &str) -> bool {
        name.split(':').next() == Some(HEDDLE)
    }

    /// The name as part of a file name.
    pub(crate) fn file_name(&self) -> String {
        self.name.replace(':', "-")
    }
}

/// The variants that a word of the command line names.
fn expand(text: &str) -> Vec<&str> {
    if text == "all" { OWN.iter().map(|model| model.name).collect() } else { vec![text] }
}

/// The environment of a variant of Heddle: a model, settings, or both, joined by `+`, for example
/// `lockq-mcs+VNIS=4`. Settings are environment variables without their `HEDDLE_`.
///
/// # Errors
///
/// [`BenchError::Options`] if it is not of this form.
fn variant(text: &str) -> Result<Vec<(String, OsString)>, BenchError> {
    let mut environment: Vec<(String, OsString)> = Vec::new();
    for part in text.split('+') {
        let (name, value) = part.split_once('=').unwrap_or(("MODEL", part));
        let variable = format!("HEDDLE_{name}");
        let twice = environment.iter().any(|(other, _)| *other == variable);
        if twice || value.is_empty() || !name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') {
            return Err(BenchError::Options(format!(
                "--models wants models or settings as MODEL, SETTING=VALUE or MODEL+SETTING=VALUE, not \"{text}\""
            )));
        }
        environment.push((variable, value.into()));
    }
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::{expand, variant};

    #[test]
    fn all_stands_for_all_models() {
        let all = expand("all");
        assert!(all.contains(&"per-vni-mutex") && all.contains(&"offload") && all.len() > 10, "{all:?}");
        assert_eq!(expand("csync+VNIS=4"), ["csync+VNIS=4"]);
    }

    #[test]
    fn variants_name_a_model_and_settings() {
        let read = |text| {
            variant(text).map(|list| {
                list.into_iter()
                    .map(|(name, value)| format!("{name}={}", value.display()))
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(read("lockq-mcs").ok(), Some(vec!["HEDDLE_MODEL=lockq-mcs".to_owned()]));
        assert_eq!(
            read("csync+VNIS=4").ok(),
            Some(vec!["HEDDLE_MODEL=csync".to_owned(), "HEDDLE_VNIS=4".to_owned()])
        );
        assert_eq!(read("WAKEUP=blind").ok(), Some(vec!["HEDDLE_WAKEUP=blind".to_owned()]));
        for wrong in ["", "a+", "a+b", "vnis=4", "VNIS="] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
