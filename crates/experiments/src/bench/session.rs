//! A run of MPI libraries: which take part, and how they take a case. Results are on disk after every launch.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::case::{Case, Effort};
use super::compile::Programs;
use super::launch::{Ending, Run, Runner};
use super::library::Library;
use super::record::{Measurement, Results, summarise};
use super::subject::Subject;
use super::sweep;
use crate::error::BenchError;
use crate::harness::alternation::{Alternation, Benchmark, Failure, Outcome};
use crate::harness::folder::save;

/// A library, or the name and the reason of one that could not be prepared.
pub(crate) type Prepared = Result<Library, (String, BenchError)>;

/// The programs of the libraries by their compilers.
pub(crate) type Compiled = HashMap<PathBuf, Programs>;

/// Compiles the programs of each library, unless `compiled` has them, which variants of a library share; a
/// library without programs goes to `failures`.
///
/// # Errors
///
/// [`BenchError::NothingToMeasure`] if no library is left.
pub(crate) fn compile(
    libraries: impl Iterator<Item = Prepared>,
    sources: &Path,
    peers_dir: &Path,
    compiled: &mut Compiled,
    failures: &mut Vec<Failure>,
) -> Result<Vec<(Library, Programs)>, BenchError> {
    let mut ready: Vec<(Library, Programs)> = Vec::new();
    for library in libraries {
        let pair = library.and_then(|library| {
            if let Some(programs) = compiled.get(&library.mpicc) {
                return Ok((library, programs.clone()));
            }
            match Programs::compile(&library, sources, &peers_dir.join("programs")) {
                Ok(programs) => {
                    compiled.insert(library.mpicc.clone(), programs.clone());
                    Ok((library, programs))
                }
                Err(error) => Err((library.name, error)),
            }
        });
        match pair {
            Ok(pair) => ready.push(pair),
            Err((name, error)) => {
                eprintln!("heddle: going on without {name}: {error}");
                failures.push(Failure {
                    system: name,
                    round: 0,
                    case: "preparation".to_owned(),
                    how: error.to_string(),
                });
            }
        }
    }
    if ready.is_empty() { Err(BenchError::NothingToMeasure) } else { Ok(ready) }
}

/// A run of MPI libraries: launches of their programs.
pub(crate) struct Session<'a> {
    /// The lengths.
    pub(crate) effort: Effort,
    /// Its launches.
    pub(crate) runner: &'a mut Runner,
    /// The Fortran program, which all libraries share.
    pub(crate) sweep: sweep::Program,
    /// The record so far.
    pub(crate) results: Results,
    /// Draws conclusions from the medians, after every launch.
    pub(crate) conclude: fn(&mut Results),
    /// The file of the record.
    pub(crate) file: PathBuf,
}

impl Session<'_> {
    /// Makes all rounds over the cases, and returns the record; its file has all but the end of the run.
    ///
    /// # Errors
    ///
    /// If a launcher cannot be started or the record cannot be written.
    pub(crate) fn run(
        mut self,
        cases: Vec<Case>,
        libraries: Vec<(Library, Programs)>,
    ) -> Result<Results, BenchError> {
        let interrupts = self.runner.interrupts().clone();
        let all = Alternation { rounds: self.effort.rounds, cases, systems: libraries };
        self.results.run.complete = !all.run(&mut self, &interrupts)?;
        Ok(self.results)
    }
}

impl Benchmark for Session<'_> {
    type Case = Case;
    type System = (Library, Programs);
    const TURNS: &'static str = "launches";

    fn case_name(&self, case: &Case) -> String {
        case.label()
    }

    fn system_name(&self, (library, _): &Self::System) -> String {
        library.name.clone()
    }

    fn takes(&self, (library, _): &Self::System, case: &Case) -> bool {
        library.takes(case)
    }

    fn measure(
        &mut self,
        round: u32,
        case: &Case,
        (library, programs): &Self::System,
    ) -> Result<Outcome, BenchError> {
        let program = match case.subject {
            Subject::Sweep => self.sweep.path(),
            subject => programs.of(subject).ok_or_else(|| "its sources are not there".to_owned()),
        };
        let program = match program {
            Ok(program) => program,
            Err(why) => return Ok(Outcome::Failed(why)),
        };
        let Run { ending, lines, load } =
            self.runner.run(library, program, case, &self.effort, round.into())?;
        let found = lines.len();
        self.results.measurements.extend(lines.into_iter().map(|line| Measurement {
            library: library.name.clone(),
            round,
            load,
            line,
        }));
        Ok(match ending {
            Ending::Success if found == 0 => Outcome::Failed("no result in its output".to_owned()),
            Ending::Success | Ending::Interrupted => Outcome::Measured,
            Ending::Failure(how) => Outcome::Failed(how),
            Ending::TimedOut => Outcome::TookTooLong,
        })
    }

    fn failed(&mut self, failure: Failure) {
        self.results.failures.push(failure);
    }

    fn turn_ends(&mut self) -> Result<(), BenchError> {
        self.results.summary = summarise(&self.results.measurements);
        (self.conclude)(&mut self.results);
        save(&self.results, &self.file)
    }
}
