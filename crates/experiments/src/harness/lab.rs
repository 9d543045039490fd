//! The lab in place of this machine: `heddle lab` runs a launch on a simulated machine, in virtual time.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use heddle_lab::machine;

use super::machine::Machine;
use crate::error::BenchError;

/// Options of a run in the lab.
#[derive(Debug, clap::Args)]
pub(crate) struct MachineArgs {
    /// Run on a simulated machine of the lab, in virtual time: a size, SOCKETSxCORES; a name, such as
    /// haswell-88; or a file that describes it (docs/lab.md).
    #[arg(long)]
    machine: Option<String>,
    /// The core of this host on which the lab runs.
    #[arg(long, requires = "machine")]
    host_core: Option<usize>,
}

impl MachineArgs {
    /// The lab, if the run is there.
    ///
    /// # Errors
    ///
    /// See [`Lab::new`].
    pub(crate) fn lab(&self) -> Result<Option<Lab>, BenchError> {
        self.machine.as_deref().map(|machine| Lab::new(machine, self.host_core)).transpose()
    }
}

/// A machine of the lab, and the program that runs launches there.
#[derive(Debug, Clone)]
pub(crate) struct Lab {
    /// The `heddle` command.
    heddle: PathBuf,
    /// The machine as the command line names it.
    argument: String,
    machine: machine::Machine,
    host_core: Option<usize>,
}

impl Lab {
    /// The machine that `argument` means: a size, a name or a file. Everything runs on the core `host_core`
    /// of this host, or on the one that `heddle lab` chooses.
    ///
    /// # Errors
    ///
    /// [`BenchError::Options`] if there is no such machine, [`BenchError::File`] if this program is not
    /// found.
    pub(crate) fn new(argument: &str, host_core: Option<usize>) -> Result<Self, BenchError> {
        let machine =
            machine::Machine::parse(argument).map_err(|error| BenchError::Options(error.to_string()))?;
        let heddle = env::current_exe().map_err(BenchError::file("find", "the heddle command"))?;
        Ok(Self { heddle, argument: argument.to_owned(), machine, host_core })
    }

    /// The machine as records describe it.
    pub(crate) fn facts(&self) -> Machine {
        Machine::simulated(&self.machine.name, self.machine.sockets, self.machine.cores_per_socket())
    }

    /// `program` on the machine; its arguments are still to be added. Threads start elsewhere with another
    /// `seed`.
    pub(crate) fn command(&self, program: &Path, seed: u64) -> Command {
        let mut command = Command::new(&self.heddle);
        command.args(["lab", "--seed", &seed.to_string()]);
        if let Some(core) = self.host_core {
            command.args(["--host-core", &core.to_string()]);
        }
        command.arg(&self.argument).arg("--").arg(program);
        command
    }
}

/// Says how long a run of `launches` takes there, which is a guess of `seconds`.
pub(crate) fn announce_lab(launches: usize, seconds: f64) {
    let minutes = (seconds / 60.0).ceil();
    eprintln!(
        "{launches} launches in the lab: about {minutes:.0} min on one core of this host that nobody else uses"
    );
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Lab;

    #[test]
    fn a_launch_is_handed_to_the_lab() {
        let lab = Lab::new("2x44", Some(1)).expect("a size");
        let command = lab.command(Path::new("/bin/mpiexec"), 3);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words.join(" "), "lab --seed 3 --host-core 1 2x44 -- /bin/mpiexec");
    }

    #[test]
    fn a_record_has_the_machine_s_cores_and_not_the_host_s() {
        let facts = Lab::new("haswell-88", None).expect("a name").facts();
        assert_eq!((facts.cores, facts.numa_nodes, facts.simulated.as_deref()), (88, 2, Some("haswell-88")));
        let sentence = facts.sentence();
        assert!(
            sentence.starts_with("Simulated") && sentence.contains("2 sockets of 44 cores"),
            "{sentence}"
        );
    }

    #[test]
    fn a_machine_that_nobody_knows_is_an_error() {
        assert!(Lab::new("haswell", None).is_err_and(|error| error.to_string().contains("haswell-88")));
    }
}
