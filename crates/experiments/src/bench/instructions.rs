//! `heddle bench instructions`: the number of instructions of the hottest MPI calls, in Heddle
//! and in the other libraries.
//!
//! `tests/instructions/run.py` counts, for one library at a time, under callgrind; the test lane uses the
//! same program. The counts do not depend on the machine's load, so one round is enough.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::columns::{Column, head};
use super::library::{HEDDLE, Library};
use super::participants::ParticipantArgs;
use super::remains::Remains;
use super::table::ratio;
use crate::error::{BenchError, tail};
use crate::harness::folder::{Folder, save};
use crate::harness::machine::Machine;
use crate::harness::record::{command_line, utc};

/// The exit status of `run.py` on a machine without valgrind.
const NO_VALGRIND: i32 = 77;

/// Options of `heddle bench instructions`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("peers", |peers| peers.default_values(["mpich", "openmpi", "impi"])))]
pub(crate) struct InstructionsArgs {
    /// Which calls (default: all; `tests/instructions/calls.c` describes them).
    cases: Vec<String>,
    #[command(flatten)]
    participants: ParticipantArgs,
}

/// One count: instructions of a call at a thread level.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Count {
    case: String,
    level: String,
    instructions: f64,
}

/// The file that `run.py` writes for a library.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    #[serde(default)]
    name: String,
    version: String,
    counts: Vec<Count>,
}

/// The files that a run writes.
#[derive(Debug, Serialize)]
struct CallgrindFiles {
    command: Vec<String>,
    started: String,
    machine: Machine,
    libraries: Vec<Counted>,
    failures: BTreeMap<String, String>,
}

/// Runs `heddle bench instructions`.
///
/// # Errors
///
/// If Heddle cannot be counted, or results cannot be written. A peer that fails is named in the results.
pub(crate) fn run(args: &InstructionsArgs) -> Result<ExitCode, BenchError> {
    let script = script(&args.participants.places.sources()?)?;
    let started = SystemTime::now();
    let folder = args.participants.folder("instructions", started)?;
    let mut results = CallgrindFiles {
        command: command_line(),
        started: utc(started),
        machine: Machine::read(),
        libraries: Vec::new(),
        failures: BTreeMap::new(),
    };
    for library in args.participants.heddle(&[])? {
        results.libraries.push(count(&script, &library, args, &folder)?);
    }
    for peer in args.participants.peers() {
        let library = peer.prepare(&args.participants.places.peers_dir);
        match library.and_then(|library| count(&script, &library, args, &folder)) {
            Ok(counted) => results.libraries.push(counted),
            Err(error) => {
                eprintln!("heddle bench: going on without {}: {error}", peer.name());
                results.failures.insert(peer.name().to_owned(), error.to_string());
            }
        }
    }
    save(&results, &folder.file("results.json"))?;
    let table = render(&results);
    folder.write("table.md", &table)?;
    println!("{table}");
    folder.announce();
    Ok(ExitCode::SUCCESS)
}

/// The script that counts, from the folder of the benchmark's sources.
fn script(bench: &Path) -> Result<PathBuf, BenchError> {
    let bench = bench.canonicalize().map_err(BenchError::file("find", bench))?;
    let script = bench.parent().unwrap_or(&bench).join("tests/instructions/run.py");
    if script.is_file() { Ok(script) } else { Err(BenchError::NoSources(script)) }
}

/// Counts the calls of one library.
fn count(
    script: &Path,
    library: &Library,
    args: &InstructionsArgs,
    folder: &Folder,
) -> Result<Counted, BenchError> {
    eprintln!("counting {}", library.name);
    let file = folder.file(&format!("counts-{}.json", library.file_name()));
    let launcher = std::iter::once(library.mpiexec.as_os_str())
        .chain(library.launch_arguments.iter().map(std::ffi::OsString::as_os_str))
        .map(|word| quoted(&word.to_string_lossy()))
        .collect::<Vec<_>>();
    let mut python = Command::new("python3");
    python.arg(script).args(["--no-budget", "--levels", "single,multiple", "--json"]).arg(&file);
    python.arg("--mpicc").arg(quoted(&library.mpicc.to_string_lossy()));
    python.arg("--mpiexec").arg(launcher.join(" "));
    for (name, value) in &library.environment {
        python.arg("--env").arg(format!("{name}={}", value.display()));
    }
    let remains = Remains::watch(0);
    python.args(&args.cases).env(remains.variable(), remains.mark()).stdin(Stdio::null());
    let output = python.output().map_err(|source| BenchError::Start {
        program: "python3".to_owned(),
        source,
        hint: " (install Python 3)",
    })?;
    remains.kill();
    remains.reap();
    remains.remove();
    if output.status.code() == Some(NO_VALGRIND) {
        return Err(BenchError::Options("valgrind is missing: install it (Debian: valgrind)".to_owned()));
    }
    if !output.status.success() {
        return Err(BenchError::Failed {
            program: format!("counting {}", library.name),
            status: output.status.to_string(),
            tail: tail(&output.stderr),
        });
    }
    let text = fs::read_to_string(&file).map_err(BenchError::file("read", &file))?;
    fs::remove_file(&file).map_err(BenchError::file("remove", &file))?;
    Ok(Counted { name: library.name.clone(), ..serde_json::from_str(&text)? })
}

/// A word as a shell, and Python's `shlex`, read it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The results as a page of Markdown.
fn render(results: &CallgrindFiles) -> String {
    let mut page = String::from("# Instructions of a call\n\n");
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ = writeln!(
        page,
        "{}, {}; counted by callgrind, 8 bytes unless the name says more.\n",
        results.machine.sentence(),
        results.started
    );
    for library in &results.libraries {
        let _ = writeln!(page, "- {}: {}", library.name, library.version);
    }
    for (name, why) in &results.failures {
        let _ = writeln!(page, "- {name} could not be counted: {}", why.replace('\n', " / "));
    }
    page.push('\n');
    let names = results.libraries.iter().map(|library| library.name.as_str());
    head(
        &mut page,
        &[Column::left("call"), Column::left("level")],
        names,
        &[Column::right("Heddle / best peer")],
    );
    for row in results.libraries.first().map_or(&[][..], |library| &library.counts) {
        let of = |library: &Counted| {
            let same = |count: &&Count| count.case == row.case && count.level == row.level;
            library.counts.iter().find(same).map(|count| count.instructions)
        };
        let _ = write!(page, "| {} | {} |", row.case, row.level);
        for library in &results.libraries {
            let _ = write!(page, " {} |", of(library).map_or("-".to_owned(), |n| format!("{n:.0}")));
        }
        let peers = results.libraries.iter().filter(|library| !Library::is_heddle(&library.name));
        let best =
            peers.filter_map(|peer| Some((peer.name.as_str(), of(peer)?))).min_by(|a, b| a.1.total_cmp(&b.1));
        let heddle = results.libraries.iter().find(|library| library.name == HEDDLE).and_then(of);
        let _ = writeln!(page, " {} |", ratio(heddle, best));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{CallgrindFiles, Count, Counted, Machine, quoted, render};

    fn counted(name: &str, instructions: f64) -> Counted {
        let count = Count { case: "isend".to_owned(), level: "single".to_owned(), instructions };
        Counted { name: name.to_owned(), version: "1".to_owned(), counts: vec![count] }
    }

    #[test]
    fn the_ratio_is_to_the_best_peer() {
        let results = CallgrindFiles {
            command: Vec::new(),
            started: "now".to_owned(),
            machine: Machine::read(),
            libraries: vec![
                counted("heddle", 100.0),
                counted("heddle:csync", 50.0),
                counted("mpich", 400.0),
                counted("openmpi", 200.0),
            ],
            failures: [("impi".to_owned(), "no\nroom".to_owned())].into(),
        };
        let page = render(&results);
        let head = "| call | level | heddle | heddle:csync | mpich | openmpi | Heddle / best peer |\n\
                    |---|---|---:|---:|---:|---:|---:|\n";
        assert!(page.contains(head), "{page}");
        assert!(page.contains("| isend | single | 100 | 50 | 400 | 200 | 0.50 (openmpi) |"), "{page}");
        assert!(page.contains("- impi could not be counted: no / room"), "{page}");
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
