//! The transport sweep of `examples/sweep` as a subject: a Fortran program that Heddle's `mpifort` compiles
//! once, and that runs on every library of the standard ABI.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::case::{Case, Effort, LEAST_SECONDS, SHORT};
use super::command::finish;
use super::compile;
use super::record::{Key, Line};
use crate::installation::Installation;

/// Its sources, in the order in which they use each other.
const SOURCES: [&str; 5] = ["parameters.f90", "decomposition.f90", "transport.f90", "group.f90", "main.f90"];

/// The program, which is compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct Program {
    mpifort: Option<PathBuf>,
    sources: PathBuf,
    folder: PathBuf,
    compiled: OnceCell<Result<PathBuf, String>>,
}

impl Program {
    /// A program that the `mpifort` of Heddle in `prefix` compiles into `folder`; its sources lie beside
    /// `bench`.
    pub(crate) fn new(prefix: Option<&Path>, bench: &Path, folder: &Path) -> Self {
        Self {
            mpifort: Installation::find(prefix).map(|heddle| heddle.program("mpifort")),
            sources: compile::example(bench, "sweep"),
            folder: folder.to_path_buf(),
            compiled: OnceCell::new(),
        }
    }

    /// Its path.
    ///
    /// # Errors
    ///
    /// The reason why it could not be compiled.
    pub(crate) fn path(&self) -> Result<&Path, String> {
        self.compiled.get_or_init(|| self.compile()).as_deref().map_err(Clone::clone)
    }

    fn compile(&self) -> Result<PathBuf, String> {
        let mpifort = self.mpifort.as_ref().ok_or("Heddle's mpifort, which compiles it, is not there")?;
        let modules = self.folder.join("sweep-modules");
        fs::create_dir_all(&modules)
            .map_err(|error| format!("cannot create {}: {error}", modules.display()))?;
        let program = modules.join("sweep");
        let sources = SOURCES.map(|name| self.sources.join(name));
        let mut command = Command::new(mpifort);
        command.args(["-O2", "-fopenmp", "-J"]).arg(&modules).arg("-o").arg(&program).args(sources);
        finish(&mut command, " (a Fortran compiler is needed too)").map_err(|error| error.to_string())?;
        Ok(program)
    }
}

/// The program's command line. `coarse` chunks have the angles and cells of Table 2 of the contention paper,
/// 16 x 16 cells along y and z for each process, and messages of 8 KiB; `fine` ones 8 x 8 cells and 128
/// bytes, so that libraries take a third of the time and more.
pub(crate) fn arguments(case: &Case, effort: &Effort) -> Vec<String> {
    let (cells, nang, ichunk) = if case.op == "fine" { (8, 2, 1) } else { (16, 16, 4) };
    let (nx, iterations) = match effort.seconds {
        simulated if simulated < LEAST_SECONDS => (4, 1),
        short if short < SHORT => (8, 2),
        _ => (32, 5),
    };
    let npez = if case.ranks.is_multiple_of(4) { 2 } else { 1 };
    let npey = case.ranks / npez;
    let words = [
        ("nx", nx),
        ("ny", cells * npey),
        ("nz", cells * npez),
        ("npey", npey),
        ("npez", npez),
        ("nang", nang),
        ("ichunk", ichunk),
        ("ng", 16),
        ("nsteps", 1),
        ("iitm", iterations),
    ];
    let words = words.iter().map(|(name, value)| format!("{name}={value}"));
    words.chain([format!("comms={}", case.comms.name()), "report=json".to_owned()]).collect()
}

/// The program's report.
#[derive(Debug, Deserialize)]
struct SweepReport {
    library: String,
    ranks: u32,
    threads: u32,
    comms: String,
    face_bytes: u64,
    seconds: f64,
    grind_ns: f64,
    mpi_time_share: f64,
}

/// The line of a run's output; `None` without a report.
pub(crate) fn line(output: &str, op: &str) -> Option<Line> {
    let report: SweepReport = output.lines().find_map(|line| serde_json::from_str(line).ok())?;
    let key = Key {
        op: op.to_owned(),
        ranks: report.ranks,
        ..Key::new("sweep", "multiple", report.face_bytes).threads(report.threads, &report.comms)
    };
    let more = [("mpi_time_share", report.mpi_time_share), ("seconds", report.seconds)];
    Some(Line::of_program(key, report.library, report.grind_ns, "ns", &more))
}

#[cfg(test)]
mod tests {
    use super::line;

    const REPORT: &str = "step 1 of 1: 5 iterations, change  2.0E-05\n{\"library\": \"L 1\", \"comms\": \"per-thread\", \
        \"ranks\": 2, \"threads\": 4, \"face_bytes\": 8192, \"seconds\":  2.5E-01, \"grind_ns\":  3.5E+00, \"mpi_time_share\":  4.0E-01}\n";

    #[test]
    fn a_report_becomes_a_line() {
        let line = line(REPORT, "fine").expect("a report");
        assert_eq!((line.value, line.key.threads, line.key.size), (Some(3.5), 4, 8192));
        assert_eq!((line.key.op.as_str(), line.key.comms.as_str()), ("fine", "per-thread"));
        assert_eq!(line.more["mpi_time_share"], Some(0.4));
    }

    #[test]
    fn other_output_is_no_result() {
        assert!(line("sweep: the particles do not balance: the result is wrong", "fine").is_none());
    }
}
