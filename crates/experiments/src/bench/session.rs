//! Rounds over cases and libraries: every round launches each case for each library, one directly after the
//! other, beginning with another library each time. Results are on disk after every launch.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use super::case::{Case, Effort};
use super::compile::Programs;
use super::launch::{Ending, Run, Runner};
use super::library::Library;
use super::record::{Failure, Measurement, Results, summarise};
use super::subject::Subject;
use super::sweep;
use crate::report::error::BenchError;
use crate::report::run::save;

/// The number of launches of a case that may take too long before a library is left out of it.
const PATIENCE: u32 = 2;

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
                    library: name,
                    round: 0,
                    case: "preparation".to_owned(),
                    how: error.to_string(),
                });
            }
        }
    }
    if ready.is_empty() { Err(BenchError::NothingToMeasure) } else { Ok(ready) }
}

/// A run in progress.
pub(crate) struct Session<'a> {
    /// The lengths.
    pub(crate) effort: Effort,
    /// Its launches.
    pub(crate) runner: &'a mut Runner,
    /// The cases, in the order in which each round runs them.
    pub(crate) cases: Vec<Case>,
    /// The Fortran program, which all libraries share.
    pub(crate) sweep: sweep::Program,
    /// The libraries that take part, and their programs.
    pub(crate) libraries: Vec<(Library, Programs)>,
    /// The record so far.
    pub(crate) results: Results,
    /// Draws conclusions from the medians, after every launch.
    pub(crate) conclude: fn(&mut Results),
    /// The file of the record.
    pub(crate) file: PathBuf,
    /// Launches that took too long, by library and case.
    pub(crate) timeouts: HashMap<(String, String), u32>,
}

impl Session<'_> {
    /// All rounds; true if the user interrupted.
    ///
    /// # Errors
    ///
    /// If a launcher cannot be started or the record cannot be written.
    pub(crate) fn rounds(&mut self) -> Result<bool, BenchError> {
        let taken = |case: &Case| self.libraries.iter().filter(|(library, _)| library.takes(case)).count();
        let launches = self.effort.rounds as usize * self.cases.iter().map(taken).sum::<usize>();
        let progress = ProgressBar::new(launches as u64);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30} {pos}/{len} launches, {elapsed} gone, {eta} left: {msg}")
        {
            progress.set_style(style);
        }
        for round in 1..=self.effort.rounds {
            if progress.is_hidden() {
                eprintln!(
                    "round {round} of {}: {} launches",
                    self.effort.rounds,
                    launches / self.effort.rounds as usize
                );
            }
            for case in self.cases.clone() {
                for turn in 0..self.libraries.len() {
                    let (library, programs) =
                        self.libraries[(turn + round as usize - 1) % self.libraries.len()].clone();
                    if !library.takes(&case) {
                        continue;
                    }
                    progress.set_message(format!("round {round}, {}, {}", case.label(), library.name));
                    if self.launch(round, &case, &library, &programs)? {
                        progress.abandon_with_message("interrupted");
                        return Ok(true);
                    }
                    progress.inc(1);
                }
            }
        }
        progress.finish_and_clear();
        Ok(false)
    }

    /// One launch; true if the user interrupted.
    fn launch(
        &mut self,
        round: u32,
        case: &Case,
        library: &Library,
        programs: &Programs,
    ) -> Result<bool, BenchError> {
        let program = match case.subject {
            Subject::Sweep => self.sweep.path(),
            subject => programs.of(subject).ok_or_else(|| "its sources are not there".to_owned()),
        };
        let program = match program {
            Ok(program) => program.to_path_buf(),
            Err(why) => {
                self.fail(round, case, library, why);
                return Ok(false);
            }
        };
        let lost = (library.name.clone(), case.label());
        if self.timeouts.get(&lost).is_some_and(|&times| times >= PATIENCE) {
            self.fail(round, case, library, format!("not tried: took too long {PATIENCE} times before"));
            return Ok(false);
        }
        let Run { ending, lines, load } = self.runner.run(library, &program, case, &self.effort)?;
        let found = lines.len();
        self.results.measurements.extend(lines.into_iter().map(|line| Measurement {
            library: library.name.clone(),
            round,
            load,
            line,
        }));
        let interrupted = matches!(ending, Ending::Interrupted);
        match ending {
            Ending::Success if found == 0 => {
                self.fail(round, case, library, "no result in its output".to_owned())
            }
            Ending::Success | Ending::Interrupted => {}
            Ending::Failure(how) => self.fail(round, case, library, how),
            Ending::TimedOut => {
                *self.timeouts.entry(lost).or_default() += 1;
                self.fail(round, case, library, "took too long and was ended".to_owned());
            }
        }
        self.results.summary = summarise(&self.results.measurements);
        (self.conclude)(&mut self.results);
        save(&self.results, &self.file)?;
        Ok(interrupted)
    }

    fn fail(&mut self, round: u32, case: &Case, library: &Library, how: String) {
        self.results.failures.push(Failure { library: library.name.clone(), round, case: case.label(), how });
    }
}
