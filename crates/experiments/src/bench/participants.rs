//! The options that every benchmark of MPI libraries has: which libraries take part, and where files lie.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::compile;
use super::library::Library;
use super::peers::Peer;
use super::session::Prepared;
use super::sweep;
use crate::error::BenchError;
use crate::harness::folder::Folder;

/// Options about where files lie.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// Where Heddle is installed, if this program does not lie beside it.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// The folder of the benchmark's C sources, bench/; tests/ lies beside it.
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// The folder in which other libraries are installed and programs are compiled.
    #[arg(long, value_name = "DIR", default_value = ".peers")]
    pub(crate) peers_dir: PathBuf,
}

impl PlaceArgs {
    /// Where Heddle is installed, if that was given.
    pub(crate) fn prefix(&self) -> Option<&Path> {
        self.prefix.as_deref()
    }

    /// The folder of the benchmark's C sources.
    ///
    /// # Errors
    ///
    /// See [`compile::sources`].
    pub(crate) fn sources(&self) -> Result<PathBuf, BenchError> {
        compile::sources(self.sources.as_deref())
    }

    /// These libraries, installed where they are not yet.
    pub(crate) fn prepared<'a>(
        &'a self,
        peers: impl Iterator<Item = Peer> + 'a,
    ) -> impl Iterator<Item = Prepared> + 'a {
        peers.map(|peer| peer.prepare(&self.peers_dir).map_err(|error| (peer.name().to_owned(), error)))
    }
}

/// Options that `heddle bench` and `heddle bench instructions` share. Each sets its default for `--peers`.
#[derive(Debug, clap::Args)]
pub(crate) struct ParticipantArgs {
    /// Other libraries to measure, separated by commas; they are installed from PyPI on demand.
    #[arg(long, value_enum, value_delimiter = ',')]
    peers: Vec<Peer>,
    /// Measure only Heddle.
    #[arg(long)]
    no_peers: bool,
    /// Measure Heddle under these models too, each as a participant in the same rounds, separated by commas:
    /// values of HEDDLE_MODEL, settings (VNIS=4 for HEDDLE_VNIS=4), or both (lockq-mcs+VNIS=4). The word
    /// "all" stands for all models in Heddle's form.
    #[arg(long, alias = "heddle-models", value_delimiter = ',', value_name = "MODEL")]
    models: Vec<String>,
    #[command(flatten)]
    pub(crate) places: PlaceArgs,
    /// The folder for the results (default: results/BENCHMARK-DATE).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ParticipantArgs {
    /// The other libraries to measure.
    pub(crate) fn peers(&self) -> impl Iterator<Item = Peer> + '_ {
        self.peers.iter().copied().filter(|_| !self.no_peers)
    }

    /// The same, installed where they are not yet.
    pub(crate) fn prepared_peers(&self) -> impl Iterator<Item = Prepared> + '_ {
        self.places.prepared(self.peers())
    }

    /// Heddle with its defaults and under each chosen model; all report the performance variables `pvars`.
    ///
    /// # Errors
    ///
    /// See [`Library::heddle`].
    pub(crate) fn heddle(&self, pvars: &[String]) -> Result<Vec<Library>, BenchError> {
        Library::heddle(self.places.prefix(), &self.models, pvars)
    }

    /// The same with `systems` as models, before those of the command line.
    ///
    /// # Errors
    ///
    /// See [`Library::heddle`].
    pub(crate) fn heddle_as(&self, systems: &[String], pvars: &[String]) -> Result<Vec<Library>, BenchError> {
        Library::heddle(self.places.prefix(), &[systems, &self.models].concat(), pvars)
    }

    /// The Fortran program, whose sources lie beside those of the C programs.
    pub(crate) fn sweep(&self, sources: &Path) -> sweep::Program {
        sweep::Program::new(self.places.prefix(), sources, &self.places.peers_dir.join("programs"))
    }

    /// Creates the folder for the results of the benchmark `name`, which began at `started`.
    ///
    /// # Errors
    ///
    /// See [`Folder::create`].
    pub(crate) fn folder(&self, name: &str, started: SystemTime) -> Result<Folder, BenchError> {
        Folder::create(self.out.as_deref(), name, started)
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::super::BenchArgs;
    use super::super::instructions::InstructionsArgs;
    use super::{ParticipantArgs, Peer};

    fn peers<A: Args>(arguments: &[&str]) -> Vec<Peer> {
        let command = A::augment_args(Command::new("bench").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).expect("arguments that clap accepts");
        ParticipantArgs::from_arg_matches(&matches).expect("options").peers().collect()
    }

    #[test]
    fn each_benchmark_has_its_default_peers() {
        use Peer::{Impi, ImpiSplit, Mpich, MpichVci, Openmpi};
        assert_eq!(peers::<BenchArgs>(&[]), [Mpich, MpichVci, Openmpi, Impi, ImpiSplit]);
        assert_eq!(peers::<InstructionsArgs>(&[]), [Mpich, Openmpi, Impi]);
        assert_eq!(peers::<InstructionsArgs>(&["--peers", "impi"]), [Impi]);
        assert_eq!(peers::<InstructionsArgs>(&["--no-peers"]), []);
    }
}
