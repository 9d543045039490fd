//! Writes the files that are made from the tables of the standard: `generate header`, `mpif`, `mpi`,
//! `mpi_f08`, `mpich`, `openmpi`, `missing`, `summary` or `names`, to the file named next or to standard
//! output.

use heddle_spec::{constant, foreign, function_table::Functions, header, missing, mpi_f08, mpif, stubs};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

const USAGE: &str = "usage: generate header|mpif|mpi|mpi_f08|mpich|openmpi|missing|summary|names [FILE]
  header   the header mpi.h
  mpif     the include file mpif.h of Fortran
  mpi      the Fortran module mpi
  mpi_f08  the Fortran module mpi_f08
  mpich    the library libmpi.so.12 in assembly language
  openmpi  the library libmpi.so.40 in assembly language
  missing  the functions that are not built, by chapter, as a Markdown table
  summary  how many functions of each chapter are built, as a Markdown table
  names    the name of every function, its large-count form included, one a line";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [what] => {
            text(what).and_then(|text| io::stdout().write_all(text.as_bytes()).map_err(|e| e.to_string()))
        }
        [what, file] => text(what).and_then(|text| write(Path::new(file), &text)),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn text(what: &str) -> Result<String, String> {
    let sections =
        constant::parse(heddle_spec::CONSTANTS_TABLE).map_err(|e| format!("constants.table: {e}"))?;
    let functions =
        Functions::parse(heddle_spec::FUNCTIONS_TABLE).map_err(|e| format!("functions.table: {e}"))?;
    match what {
        "header" => Ok(header::mpi_h(&sections, &functions)),
        "mpif" => Ok(mpif::mpif_h(&sections, &functions)),
        "mpi" => Ok(mpif::mpi_module(&sections, &functions)),
        "mpi_f08" => Ok(mpi_f08::module(&sections, &functions)),
        "mpich" => stubs::library(foreign::MPICH, &functions),
        "openmpi" => stubs::library(foreign::OPENMPI, &functions),
        "missing" => Ok(missing::missing_table(&functions)),
        "summary" => Ok(missing::summary(&functions)),
        "names" => Ok(functions.all().flat_map(|f| f.forms()).map(|(name, _)| name + "\n").collect()),
        _ => Err(USAGE.into()),
    }
}

/// Writes `text` unless the file contains it already, so that an unchanged header causes no rebuild.
fn write(file: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
