//! The command line of `mpiexec`: MPI's own syntax (MPI 5.0, section 11.1.5, "Portable MPI Process Startup").
//!
//! Long options are written with one dash or two (`-wdir`, `--wdir`), blocks of ranks are separated by a lone
//! `:`, and a block's options end at its program, so the program's own options are never looked at.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::config_file::{self, ConfigFileError};
use crate::hosts::{self, Host, HostError};
use crate::standard_options::{ERROR_HANDLERS, found_in, is_architecture_here, largest_allowed};
use heddle_bootstrap::builtin::env;

/// Printed for `--help`.
pub(crate) const HELP: &str = "\
Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...
       mpiexec -configfile FILE    the same from a file: a block per line, # begins a comment, \\ continues a line

Starts a parallel job: each block between colons adds its ranks to one MPI_COMM_WORLD.

For the block they stand in:
  -n N, -np N           start N ranks of the program (1 if not given)
  -env NAME VALUE       set an environment variable
  -wdir DIR, -wd DIR    start in this directory
  -path DIRS            look for the program in these directories, separated by colons, before PATH
  -soft SET             the allowed numbers of ranks, as 1,4,8:64:8: start the largest of them that is at most N
  -arch NAME            run on this architecture: an error if the machine has another one
  -initial-errhandler NAME
                        the error handler at the start: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return
  -memory-alloc-kinds LIST
                        kinds of memory that the program will use, as system,mpi:alloc_mem

For the whole job:
  -genv NAME VALUE      set an environment variable in every block
  -l                    begin each line of output with the rank it comes from: [rank]
  --bind-to core|none   core: give each rank cores of its own, the number of cores divided by the number of ranks
                        (rounded down), if there are at least as many cores as ranks; otherwise, and with none
                        (the default), the kernel places the ranks
  -hosts LIST, -host LIST
                        run on these machines: names or addresses, separated by commas, each with the number of its
                        ranks if it is not 1 (first:4,second:4). If there are more ranks, each machine gets proportionally
                        more. The first of these launchers in PATH starts them: prterun (PRRTE, which comes with
                        Open MPI 5), mpiexec.hydra (MPICH). This machine alone needs no launcher.
  -hostfile FILE, -machinefile FILE, -file FILE, -f FILE
                        the same from a file with a machine on each line: NAME, NAME:4 or NAME slots=4; # begins a comment
  -h, --help            print this text
  --version             print the version

Ranks inherit the environment (from prterun on other machines only the variables HEDDLE_..., and those given by options).
Standard input goes to rank 0; output is passed on line by line.
Exit status: 0 if all ranks ended well; otherwise that of the rank that ended the job: its exit code, the code
given to MPI_Abort, or 128 plus the number of the signal that killed it. 127: program not found, 126: program
cannot be run, 2: the command line is wrong, 1: mpiexec itself failed.
A rank that fails (killed by a signal, a non-zero exit code, an end without MPI_Finalize or with a session, MPI_Abort) ends the job.
Ctrl-C, SIGTERM and SIGHUP are passed on to the ranks, which go on if they were stopped; the second one kills them.
Ctrl-Z stops them. They run in a session of their own, without the terminal; so Linux divides the processors fairly
between the job and what else the shell runs.
Processes that the ranks have left running, also those in a session of their own (setsid), are ended after them. One that
is to live longer must be started without the variable HEDDLE_JOB_ID (env -u HEDDLE_JOB_ID setsid PROGRAM).
";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Print [`HELP`].
    Help,
    /// Print the version.
    Version,
    /// Run a job.
    Run(JobLine),
}

/// A job as the command line describes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JobLine {
    /// Blocks in order; never empty.
    pub(crate) blocks: Vec<Block>,
    /// True if lines of output begin with their rank.
    pub(crate) labels: bool,
    /// Where ranks may run.
    pub(crate) binding: Binding,
    /// The machines, if the command line names any.
    pub(crate) hosts: Option<Hosts>,
}

/// How the command line names machines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// By a list; never empty.
    List(Vec<Host>),
    /// By a file, which is not read yet.
    File(PathBuf),
}

/// The ranks of one program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// How many ranks; at least 1.
    pub(crate) ranks: u32,
    /// Additions to the environment, `-genv` before `-env`.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The working directory, if not the launcher's.
    pub(crate) directory: Option<PathBuf>,
    /// Where to look for the program, if not in `PATH` alone.
    pub(crate) path: Option<OsString>,
    /// The numbers of ranks that are allowed, if not only the one given.
    pub(crate) soft: Option<String>,
    /// The program.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
}

impl Block {
    /// The program to start: as the command line names it, or where it was found.
    pub(crate) fn located_program(&self) -> OsString {
        self.path.as_ref().map_or_else(|| self.program.clone(), |path| found_in(path, &self.program))
    }

    /// Decides on the number of ranks.
    fn choose_ranks(&mut self) -> Result<(), UsageError> {
        if let Some(soft) = &self.soft {
            let most = if self.ranks == 0 { heddle_bootstrap::control::MAX_SIZE } else { self.ranks };
            let largest = largest_allowed(soft, most).unwrap_or_default();
            self.ranks = largest.ok_or_else(|| UsageError::BadValue {
                option: "-soft".to_owned(),
                value: soft.clone(),
                allowed: "a list with a number of ranks from 1 to that of -n, as 1,4,8:64:8",
            })?;
        }
        self.ranks = self.ranks.max(1);
        Ok(())
    }
}

/// A policy for placing ranks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    /// The kernel places them.
    #[default]
    None,
    /// Each rank gets whole cores of its own.
    Core,
}

/// What is wrong with a command line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum UsageError {
    #[error("no program is given")]
    NoProgram,
    #[error("no program stands {0} a ':'")]
    EmptyBlock(&'static str),
    #[error("unknown option {0}")]
    UnknownOption(String),
    #[error("the option {option} needs {needs}")]
    NeedsValue { option: String, needs: &'static str },
    #[error("the option {option} is given {value:?}; allowed is {allowed}")]
    BadValue { option: String, value: String, allowed: &'static str },
    #[error("the option {option} is given twice in one block")]
    Twice { option: String },
    #[error("the option {option} names the job's machines a second time")]
    HostsTwice { option: String },
    #[error("the option -configfile takes the place of all programs and options of blocks")]
    ConfigFileAndMore,
    #[error(transparent)]
    ConfigFile(#[from] ConfigFileError),
    #[error("the option {option} is given {value:?}: {why}")]
    BadHosts { option: String, value: String, why: HostError },
}

/// Reads the arguments that follow the name of the launcher.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, UsageError> {
    let mut words = Vec::from_iter(arguments).into_iter();
    let mut is_from_file = false;
    let mut job = JobLine::default();
    let mut global_environment = Vec::new();
    loop {
        let mut block = Block::default();
        let program = match options(&mut words, &mut job, &mut block, &mut global_environment)? {
            Head::Program(program) => program,
            Head::Answer(request) => return Ok(request),
            Head::ConfigFile(path) => {
                let is_alone = block == Block::default() && job.blocks.is_empty() && words.len() == 0;
                if !is_alone || is_from_file {
                    return Err(UsageError::ConfigFileAndMore);
                }
                words = config_file::words(&path)?.into_iter();
                is_from_file = true;
                continue;
            }
            Head::Nothing if job.blocks.is_empty() => return Err(UsageError::NoProgram),
            Head::Nothing => return Err(UsageError::EmptyBlock("after")),
        };
        if program == ":" {
            return Err(UsageError::EmptyBlock("before"));
        }
        block.choose_ranks()?;
        block.program = program;
        let mut more = false;
        for word in words.by_ref() {
            if word == ":" {
                more = true;
                break;
            }
            block.arguments.push(word);
        }
        job.blocks.push(block);
        if !more {
            break;
        }
    }
    for block in &mut job.blocks {
        block.environment.splice(0..0, global_environment.iter().cloned());
    }
    Ok(Request::Run(job))
}

/// What ended the options of a block.
enum Head {
    Program(OsString),
    Answer(Request),
    ConfigFile(PathBuf),
    Nothing,
}

fn options(
    words: &mut impl Iterator<Item = OsString>,
    job: &mut JobLine,
    block: &mut Block,
    global_environment: &mut Vec<(OsString, OsString)>,
) -> Result<Head, UsageError> {
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        if !text.starts_with('-') || text == "-" {
            return Ok(Head::Program(word));
        }
        if text == "--" {
            return Ok(words.next().map_or(Head::Nothing, Head::Program));
        }
        // `--option=value` is `--option value`.
        let (option, mut inline) = match text.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option.to_owned(), Some(value.into())),
            _ => (text, None),
        };
        let mut value = |needs| {
            let next = inline.take().or_else(|| words.next());
            next.ok_or(UsageError::NeedsValue { option: option.clone(), needs })
        };
        match option.trim_start_matches('-') {
            "h" | "help" => return Ok(Head::Answer(Request::Help)),
            "V" | "version" => return Ok(Head::Answer(Request::Version)),
            "n" | "np" => {
                let ranks = number(&option, &value("the number of ranks")?)?;
                if block.ranks != 0 {
                    return Err(UsageError::Twice { option });
                }
                block.ranks = ranks;
            }
            "env" => block.environment.push((name(&option, value(PAIR)?)?, value(PAIR)?)),
            "genv" => global_environment.push((name(&option, value(PAIR)?)?, value(PAIR)?)),
            "wdir" | "wd" => block.directory = Some(value("a directory")?.into()),
            "path" => block.path = Some(value("directories")?),
            "soft" => block.soft = Some(value("numbers of ranks")?.to_string_lossy().into_owned()),
            "arch" => architecture(&option, &value("the name of an architecture")?)?,
            "initial-errhandler" => {
                let handler = error_handler(&option, &value("the name of an error handler")?)?;
                block.environment.push((env::INITIAL_ERRHANDLER.into(), handler.into()));
            }
            "memory-alloc-kinds" => {
                block.environment.push((env::MEMORY_ALLOC_KINDS.into(), value("kinds of memory")?));
            }
            "configfile" => return Ok(Head::ConfigFile(value("a file")?.into())),
            "l" => job.labels = true,
            "bind-to" => job.binding = binding(&option, &value("'core' or 'none'")?)?,
            "hosts" | "host" | "hostfile" | "machinefile" | "file" | "f" if job.hosts.is_some() => {
                return Err(UsageError::HostsTwice { option });
            }
            "hosts" | "host" => {
                job.hosts = Some(Hosts::List(host_list(&option, &value("names of machines")?)?));
            }
            "hostfile" | "machinefile" | "file" | "f" => {
                job.hosts = Some(Hosts::File(value("a file")?.into()));
            }
            _ => return Err(UsageError::UnknownOption(option)),
        }
        if let Some(value) = inline {
            let value = value.to_string_lossy().into_owned();
            return Err(UsageError::BadValue { option, value, allowed: "no value" });
        }
    }
    Ok(Head::Nothing)
}

const PAIR: &str = "a name and a value";

fn number(option: &str, value: &OsStr) -> Result<u32, UsageError> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    parsed.filter(|n| (1..=heddle_bootstrap::control::MAX_SIZE).contains(n)).ok_or_else(|| {
        UsageError::BadValue {
            option: option.to_owned(),
            value: value.to_string_lossy().into_owned(),
            allowed: "a number from 1 to 65536",
        }
    })
}

fn name(option: &str, value: OsString) -> Result<OsString, UsageError> {
    let text = value.to_string_lossy();
    if text.is_empty() || text.contains('=') {
        return Err(UsageError::BadValue {
            option: option.to_owned(),
            value: text.into_owned(),
            allowed: "a variable's name, without '=' (name and value are two words)",
        });
    }
    Ok(value)
}

fn binding(option: &str, value: &OsStr) -> Result<Binding, UsageError> {
    match value.to_str() {
        Some("core") => Ok(Binding::Core),
        Some("none") => Ok(Binding::None),
        _ => Err(UsageError::BadValue {
            option: option.to_owned(),
            value: value.to_string_lossy().into_owned(),
            allowed: "'core' or 'none'",
        }),
    }
}

fn architecture(option: &str, value: &OsStr) -> Result<(), UsageError> {
    let value = value.to_string_lossy();
    if is_architecture_here(&value) {
        return Ok(());
    }
    Err(UsageError::BadValue {
        option: option.to_owned(),
        value: value.into_owned(),
        allowed: std::env::consts::ARCH,
    })
}

fn error_handler(option: &str, value: &OsStr) -> Result<&'static str, UsageError> {
    let value = value.to_string_lossy();
    ERROR_HANDLERS.into_iter().find(|known| known.eq_ignore_ascii_case(&value)).ok_or_else(|| {
        UsageError::BadValue {
            option: option.to_owned(),
            value: value.into_owned(),
            allowed: "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
        }
    })
}

fn host_list(option: &str, value: &OsStr) -> Result<Vec<Host>, UsageError> {
    let text = value.to_string_lossy();
    hosts::from_list(&text).map_err(|why| UsageError::BadHosts {
        option: option.to_owned(),
        value: text.into_owned(),
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request, UsageError> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn job(line: &str) -> JobLine {
        match read(line) {
            Ok(Request::Run(job)) => job,
            other => panic!("{line} gave {other:?}"),
        }
    }

    #[test]
    fn options_end_at_the_program() {
        let job = job("-n 3 prog -n 5 -l --help");
        assert_eq!(job.blocks.len(), 1);
        assert_eq!((job.blocks[0].ranks, job.labels), (3, false));
        assert_eq!(job.blocks[0].arguments, ["-n", "5", "-l", "--help"]);
    }

    #[test]
    fn blocks_keep_their_own_options() {
        let job = job("-l -n 2 -env A B prog x : -np 1 -wdir /tmp -genv G 1 other : third");
        let counts: Vec<u32> = job.blocks.iter().map(|block| block.ranks).collect();
        assert_eq!(counts, [2, 1, 1]);
        assert!(job.labels);
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        assert_eq!(job.blocks[0].environment, [pair("G", "1"), pair("A", "B")]);
        assert_eq!(job.blocks[2].environment, [pair("G", "1")]);
        assert_eq!(job.blocks[1].directory, Some("/tmp".into()));
        assert_eq!(job.blocks[0].arguments, ["x"]);
    }

    #[test]
    fn dashes_and_equals_signs() {
        assert_eq!(job("--np=4 --bind-to=core a.out"), job("-np 4 -bind-to core a.out"));
        assert_eq!(job("-n 1 -- -odd-name").blocks[0].program, "-odd-name");
        assert_eq!(job("prog a=b").blocks[0].arguments, ["a=b"]);
    }

    #[test]
    fn options_that_the_standard_names() {
        let line = "-n 9 -soft 1:8:3 -arch ARCH -path /bin:/usr/bin -initial-errhandler MPI_ERRORS_RETURN \
                    -memory-alloc-kinds system prog : -soft 2,3 prog";
        let job = job(&line.replace("ARCH", std::env::consts::ARCH));
        assert_eq!((job.blocks[0].ranks, job.blocks[1].ranks), (7, 3));
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let expected =
            [pair(env::INITIAL_ERRHANDLER, "mpi_errors_return"), pair(env::MEMORY_ALLOC_KINDS, "system")];
        assert_eq!(job.blocks[0].environment, expected);
        assert_eq!(job.blocks[1].environment, []);
        let shell = Block { path: Some("/bin".into()), program: "sh".into(), ..Block::default() };
        assert!(PathBuf::from(shell.located_program()).is_absolute());
    }

    #[test]
    fn machines() {
        for line in ["-hosts a:2,b prog", "--host a:2,b prog", "prog : --hosts=a:2,b prog"] {
            let Some(Hosts::List(hosts)) = job(line).hosts else { panic!("{line} names no machines") };
            assert_eq!(hosts, hosts::from_list("a:2,b").expect("a list"));
        }
        for line in [
            "-f file prog",
            "-file file prog",
            "--hostfile=file prog",
            "-hostfile file prog",
            "--machinefile file prog",
        ] {
            assert_eq!(job(line).hosts, Some(Hosts::File("file".into())), "{line}");
        }
    }

    #[test]
    fn questions() {
        assert_eq!(read("-n 2 --help"), Ok(Request::Help));
        assert_eq!(read("--version"), Ok(Request::Version));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (line, says) in [
            ("", "no program"),
            ("-n 2", "no program"),
            ("-n 2 : prog", "before a ':'"),
            ("prog :", "after a ':'"),
            ("-ppn 2 prog", "unknown option -ppn"),
            ("-hosts", "-hosts needs names of machines"),
            ("-hosts a,,b prog", "\"a,,b\": a machine's name is missing"),
            ("--hosts=a:0 prog", "\"0\" is no number"),
            ("-hosts a prog : -f file prog", "-f names the job's machines a second time"),
            ("-hostfile", "-hostfile needs a file"),
            ("-n", "-n needs the number of ranks"),
            ("-n 0 prog", "\"0\"; allowed is a number from 1"),
            ("-n two prog", "\"two\""),
            ("-n 1 -np 2 prog", "twice"),
            ("-env A", "a name and a value"),
            ("-env A=B C prog", "without '='"),
            ("--l=3 prog", "no value"),
            ("-soft 1:x prog", "-soft is given \"1:x\""),
            ("-n 3 -soft 4:8 prog", "\"4:8\"; allowed is a list with a number"),
            ("-arch pdp11 prog", "\"pdp11\""),
            ("-initial-errhandler return prog", "\"return\"; allowed is mpi_errors_are_fatal"),
            ("-memory-alloc-kinds", "-memory-alloc-kinds needs kinds of memory"),
            ("-path", "-path needs directories"),
            ("--bind-to socket prog", "'core' or 'none'"),
        ] {
            match read(line) {
                Err(error) => assert!(error.to_string().contains(says), "{line} gave: {error}"),
                other => panic!("{line} gave {other:?}"),
            }
        }
    }
}
