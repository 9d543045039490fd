//! The command line of `mpiexec`: MPI's own syntax (MPI 5.0, section 11.1.5, "Portable MPI Process Startup").
//!
//! Long options are written with one dash or two (`-wdir`, `--wdir`), blocks of ranks are separated by a lone
//! `:`, and a block's options end at its program, so the program's own options are never looked at.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::compat::{self, Compat};
use crate::config_file::{self, ConfigFileError};
use crate::hosts::{self, Host, HostError};
use crate::job_line::{Block, Hosts, JobLine};
use crate::placement::Allowed;
use crate::redirect::InputTo;
use crate::slurm;
use crate::standard_options::{ERROR_HANDLERS, is_architecture_here, largest_allowed};
use heddle_bootstrap::builtin::env;
use heddle_launcher::options::{self, Inherit, LaunchOption, OptionEffect, OptionScope, Takes};

/// The help.
pub(crate) fn help() -> String {
    let (block, job) = (options::explained(OptionScope::Block), options::explained(OptionScope::Job));
    format!("{USAGE}\nFor the block they stand in:\n{block}\nFor the whole job:\n{job}\n{NOTES}")
}

const USAGE: &str = "\
Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...
       mpiexec -configfile FILE    the same from a file: a block per line, # begins a comment, \\ continues a line

Starts a parallel job: each block between colons adds its ranks to one MPI_COMM_WORLD.
";

const NOTES: &str = "\
One dash and two are the same. Ranks inherit the environment, if no option says otherwise (from prterun on other machines
only the variables HEDDLE_..., and those given by options).
Output is passed on line by line.
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
    /// Print the help.
    Help,
    /// Print all options.
    HelpAll,
    /// Print the version.
    Version,
    /// Run a job.
    Run(Box<JobLine>),
}

/// What is wrong with a command line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum UsageError {
    #[error("no program is given")]
    NoProgram,
    #[error("no program stands {0} a ':'")]
    EmptyBlock(&'static str),
    #[error("unknown option {0}{hint}", hint = hint(.0))]
    UnknownOption(String),
    #[error("the option {option} is not possible: {why}")]
    Refused { option: String, why: &'static str },
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
    let mut reading = Reading::default();
    loop {
        let mut block = Block::default();
        let program = match reading.options(&mut words, &mut block)? {
            Head::Program(program) => program,
            Head::Answer(request) => return Ok(request),
            Head::ConfigFile(path) => {
                let is_alone = block == Block::default() && reading.job.blocks.is_empty() && words.len() == 0;
                if !is_alone || is_from_file {
                    return Err(UsageError::ConfigFileAndMore);
                }
                words = config_file::words(&path)?.into_iter();
                is_from_file = true;
                continue;
            }
            Head::Nothing if reading.job.blocks.is_empty() => return Err(UsageError::NoProgram),
            Head::Nothing => return Err(UsageError::EmptyBlock("after")),
        };
        if program == ":" {
            return Err(UsageError::EmptyBlock("before"));
        }
        block.program = program;
        let mut more = false;
        for word in words.by_ref() {
            if word == ":" {
                more = true;
                break;
            }
            block.arguments.push(word);
        }
        reading.job.blocks.push(block);
        if !more {
            break;
        }
    }
    Ok(Request::Run(Box::new(reading.finished()?)))
}

/// A command line that is being read.
#[derive(Default)]
struct Reading {
    job: JobLine,
    environment: Vec<(OsString, OsString)>,
    inherited: Option<Vec<OsString>>,
    is_quiet: bool,
}

/// What ended the options of a block.
enum Head {
    Program(OsString),
    Answer(Request),
    ConfigFile(PathBuf),
    Nothing,
}

impl Reading {
    /// The job, when all blocks are there.
    fn finished(self) -> Result<JobLine, UsageError> {
        let mut job = self.job;
        let machines = match (&job.hosts, job.per_machine) {
            (Some(Hosts::List(hosts)), Some(_)) => hosts.len(),
            // A file that cannot be read is an error of the one who uses it.
            (Some(Hosts::File(path)), Some(_)) => hosts::from_file(path).map_or(1, |hosts| hosts.len()),
            _ => 1,
        };
        let is_only = job.blocks.len() == 1;
        for block in &mut job.blocks {
            if let (true, 0, Some(each)) = (is_only && block.soft.is_none(), block.ranks, job.per_machine) {
                block.ranks = each.saturating_mul(machines as u32);
            }
            choose_ranks(block)?;
            block.environment.splice(0..0, self.environment.iter().cloned());
            if block.inherited.is_none() {
                block.inherited.clone_from(&self.inherited);
            }
            let variable = compat::variable(block.compat, Path::new(&block.located_program()), |name| {
                block.variable(name)
            });
            block.environment.extend(variable.map(|(name, value)| (name.into(), value)));
            job.notes.extend(compat::notice(block.compat, Path::new(&block.located_program())));
        }
        if self.is_quiet {
            job.notes.clear();
        }
        Ok(job)
    }

    fn options(
        &mut self,
        words: &mut impl Iterator<Item = OsString>,
        block: &mut Block,
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
            let (spelt, mut inline) = match text.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option.to_owned(), Some(value.into())),
                _ => (text, None),
            };
            let Some(option) = options::find(spelt.trim_start_matches('-')) else {
                return Err(UsageError::UnknownOption(spelt));
            };
            let needs = match option.takes {
                Takes::Nothing => "",
                Takes::One(_, needs) => needs,
                Takes::Two(..) => "a name and a value",
            };
            let mut next = || {
                let next = inline.take().or_else(|| words.next());
                next.ok_or(UsageError::NeedsValue { option: spelt.clone(), needs })
            };
            let values = match option.takes {
                Takes::Nothing => [OsString::new(), OsString::new()],
                Takes::One(..) => [next()?, OsString::new()],
                Takes::Two(..) => [next()?, next()?],
            };
            if let Some(value) = inline {
                return Err(bad(&spelt, &value, "no value"));
            }
            match option.means {
                OptionEffect::Help => {
                    let is_all = words.next().is_some_and(|word| word == "all");
                    return Ok(Head::Answer(if is_all { Request::HelpAll } else { Request::Help }));
                }
                OptionEffect::Version => return Ok(Head::Answer(Request::Version)),
                OptionEffect::ConfigFile => return Ok(Head::ConfigFile(values[0].clone().into())),
                _ => self.take(option, &spelt, values, block)?,
            }
        }
        Ok(Head::Nothing)
    }

    /// Does what an option means.
    fn take(
        &mut self,
        option: &LaunchOption,
        spelt: &str,
        [value, second]: [OsString; 2],
        block: &mut Block,
    ) -> Result<(), UsageError> {
        let text = value.to_string_lossy();
        let said = |result: Result<(), Allowed>| result.map_err(|allowed| bad(spelt, &value, allowed.0));
        let job = &mut self.job;
        match option.means {
            OptionEffect::Ranks => {
                if block.ranks != 0 {
                    return Err(UsageError::Twice { option: spelt.to_owned() });
                }
                block.ranks = number(spelt, &value)?;
            }
            OptionEffect::Variable => block.environment.push((name(spelt, value)?, second)),
            OptionEffect::GlobalVariable => {
                note_foreign(&mut job.notes, &value);
                self.environment.push((name(spelt, value)?, second));
            }
            OptionEffect::Export => {
                let (key, given) =
                    text.split_once('=').map_or((&*text, None), |(key, given)| (key, Some(given)));
                let inherited = || std::env::var_os(key);
                let given = given.map(OsString::from).or_else(inherited);
                if key.is_empty() {
                    return Err(bad(spelt, &value, "NAME or NAME=VALUE"));
                }
                note_foreign(&mut job.notes, OsStr::new(key));
                self.environment.extend(given.map(|given| (key.into(), given)));
            }
            OptionEffect::Inherit(what, scope) => {
                let names = match what {
                    Inherit::All => None,
                    Inherit::Nothing => Some(Vec::new()),
                    Inherit::Listed => Some(text.split(',').map(OsString::from).collect()),
                };
                *(if scope == OptionScope::Block { &mut block.inherited } else { &mut self.inherited }) =
                    names;
            }
            OptionEffect::Directory => block.directory = Some(value.into()),
            OptionEffect::Path => block.path = Some(value),
            OptionEffect::Compat => {
                block.compat = Compat::read(&text).ok_or_else(|| bad(spelt, &value, Compat::ALLOWED))?;
            }
            OptionEffect::Soft => block.soft = Some(text.into_owned()),
            OptionEffect::Architecture => architecture(spelt, &value)?,
            OptionEffect::ErrorHandler => {
                let handler = error_handler(spelt, &value)?;
                block.environment.push((env::INITIAL_ERRHANDLER.into(), handler.into()));
            }
            OptionEffect::MemoryKinds => block.environment.push((env::MEMORY_ALLOC_KINDS.into(), value)),
            OptionEffect::HostList | OptionEffect::HostFile if job.hosts.is_some() => {
                return Err(UsageError::HostsTwice { option: spelt.to_owned() });
            }
            OptionEffect::HostList => job.hosts = Some(Hosts::List(host_list(spelt, &value)?)),
            OptionEffect::HostFile => job.hosts = Some(Hosts::File(value.into())),
            OptionEffect::PerMachine => job.per_machine = Some(number(spelt, &value)?),
            OptionEffect::OnePerMachine => job.per_machine = Some(1),
            OptionEffect::Label => job.labels.rank = true,
            OptionEffect::Time => job.labels.time = true,
            OptionEffect::Output => said(job.redirect.output(&text, &mut job.labels))?,
            OptionEffect::OutFiles => job.redirect.out_pattern(&text),
            OptionEffect::ErrFiles => job.redirect.err_pattern(&text),
            OptionEffect::Folder => job.redirect.folder(&text),
            OptionEffect::Merge => job.redirect.merges = true,
            OptionEffect::Quiet => self.is_quiet = true,
            OptionEffect::Input => {
                job.input = InputTo::read(&text).map_err(|allowed| bad(spelt, &value, allowed.0))?
            }
            OptionEffect::TimeLimit => job.time_limit = Some(seconds(spelt, &value)?),
            OptionEffect::SlurmTime => {
                let limit = slurm::time(&text).ok_or_else(|| bad(spelt, &value, slurm::TIMES))?;
                job.time_limit = Some(limit);
            }
            OptionEffect::SlurmExport => {
                let exported = slurm::exported(&text).ok_or_else(|| bad(spelt, &value, slurm::EXPORTS))?;
                self.inherited = exported.inherited;
                self.environment.extend(exported.set);
            }
            OptionEffect::BindTo => said(job.placement.bind_to(&text))?,
            OptionEffect::MapBy => {
                let each = job.placement.map_by(&text).map_err(|allowed| bad(spelt, &value, allowed.0))?;
                job.per_machine = each.or(job.per_machine);
            }
            OptionEffect::RankBy => said(job.placement.rank_by(&text))?,
            OptionEffect::CpuSet => said(job.placement.use_only(&text))?,
            OptionEffect::CoresPerRank => said(job.placement.cores_per_rank(&text))?,
            OptionEffect::ReportBindings => job.placement.is_reported = true,
            OptionEffect::ShowMap => job.shows_map = true,
            OptionEffect::Display => {
                job.shows_map |= text.contains("map") || text.contains("alloc");
                job.placement.is_reported |= text.contains("bind");
            }
            OptionEffect::Ignored => {
                let rest: Vec<String> =
                    [&value, &second].map(|word| word.to_string_lossy().into_owned()).into();
                let words = [&[spelt.to_owned()], &rest[..]].concat().join(" ");
                job.notes.push(format!("{} has no effect here, and is ignored", words.trim_end()));
            }
            OptionEffect::Refused(why) => return Err(UsageError::Refused { option: spelt.to_owned(), why }),
            OptionEffect::AllowRoot => job.may_be_root = true,
            OptionEffect::Held | OptionEffect::Help | OptionEffect::Version | OptionEffect::ConfigFile => {}
        }
        Ok(())
    }
}

/// Decides on the number of ranks of a block.
fn choose_ranks(block: &mut Block) -> Result<(), UsageError> {
    if let Some(soft) = &block.soft {
        let most = if block.ranks == 0 { heddle_bootstrap::control::MAX_SIZE } else { block.ranks };
        let largest = largest_allowed(soft, most).unwrap_or_default();
        block.ranks = largest.ok_or_else(|| UsageError::BadValue {
            option: "-soft".to_owned(),
            value: soft.clone(),
            allowed: "a list with a number of ranks from 1 to that of -n, as 1,4,8:64:8",
        })?;
    }
    block.ranks = block.ranks.max(1);
    Ok(())
}

/// Settings of other libraries that `-genv` and `-x` may set; the program may read them all the same.
const FOREIGN: [&str; 8] =
    ["I_MPI_", "OMPI_", "PMIX_MCA_", "PRTE_MCA_", "MPICH_", "MPIR_CVAR_", "HYDRA_", "MV2_"];

fn note_foreign(notes: &mut Vec<String>, name: &OsStr) {
    let name = name.to_string_lossy();
    if FOREIGN.iter().any(|foreign| name.starts_with(foreign)) {
        notes.push(format!(
            "{name} is a setting of another library: ranks get it, and Heddle does not read it"
        ));
    }
}

fn hint(option: &str) -> String {
    let typed = option.trim_start_matches('-');
    let dashes = &option[..option.len() - typed.len()];
    options::nearest(typed).map_or_else(String::new, |known| format!("; is {dashes}{known} meant?"))
}

fn bad(option: &str, value: &OsStr, allowed: &'static str) -> UsageError {
    UsageError::BadValue { option: option.to_owned(), value: value.to_string_lossy().into_owned(), allowed }
}

fn number(option: &str, value: &OsStr) -> Result<u32, UsageError> {
    let parsed = value.to_str().and_then(|text| text.parse().ok());
    let parsed = parsed.filter(|n| (1..=heddle_bootstrap::control::MAX_SIZE).contains(n));
    parsed.ok_or_else(|| bad(option, value, "a number from 1 to 65536"))
}

/// The time after which a job is ended.
pub(crate) fn seconds(option: &str, value: &OsStr) -> Result<Duration, UsageError> {
    let parsed = value.to_str().and_then(|text| text.parse::<f64>().ok());
    let parsed = parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let parsed = parsed.filter(|limit| !limit.is_zero() && limit.as_secs() < 1 << 31);
    parsed.ok_or_else(|| bad(option, value, "a number of seconds above 0"))
}

fn name(option: &str, value: OsString) -> Result<OsString, UsageError> {
    let text = value.to_string_lossy();
    if text.is_empty() || text.contains('=') {
        return Err(bad(option, &value, "a variable's name, without '=' (name and value are two words)"));
    }
    Ok(value)
}

fn architecture(option: &str, value: &OsStr) -> Result<(), UsageError> {
    let value = value.to_string_lossy();
    if is_architecture_here(&value) {
        return Ok(());
    }
    Err(bad(option, OsStr::new(&*value), std::env::consts::ARCH))
}

fn error_handler(option: &str, value: &OsStr) -> Result<&'static str, UsageError> {
    let value = value.to_string_lossy();
    let found = ERROR_HANDLERS.into_iter().find(|known| known.eq_ignore_ascii_case(&value));
    let allowed = "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return";
    found.ok_or_else(|| bad(option, OsStr::new(&*value), allowed))
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
    use crate::output::Labels;

    fn read(line: &str) -> Result<Request, UsageError> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn job(line: &str) -> JobLine {
        match read(line) {
            Ok(Request::Run(job)) => *job,
            other => panic!("{line} gave {other:?}"),
        }
    }

    #[test]
    fn options_end_at_the_program() {
        let job = job("-n 3 prog -n 5 -l --help");
        assert_eq!(job.blocks.len(), 1);
        assert_eq!((job.blocks[0].ranks, job.labels), (3, Labels::default()));
        assert_eq!(job.blocks[0].arguments, ["-n", "5", "-l", "--help"]);
    }

    #[test]
    fn blocks_keep_their_own_options() {
        let job = job("-l -n 2 -env A B prog x : -np 1 -wdir /tmp -genv G 1 other : third");
        let counts: Vec<u32> = job.blocks.iter().map(|block| block.ranks).collect();
        assert_eq!(counts, [2, 1, 1]);
        assert!(job.labels.rank && !job.labels.time);
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
    fn options_of_srun() {
        let job = job("--time=2:30 --export=ALL,A=1 -n 2 --mem 4G --hint=nomultithread prog");
        assert_eq!(job.time_limit, Some(Duration::from_secs(150)));
        assert_eq!(job.blocks[0].environment, [(OsString::from("A"), OsString::from("1"))]);
        assert_eq!((job.blocks[0].inherited.as_ref(), job.notes.len()), (None, 2));
        assert!(matches!(read("--export NONE=1 prog"), Ok(Request::Run(_))));
        for (line, says) in [
            ("-t x prog", "\"x\"; allowed is minutes"),
            ("--export= prog", "\"\"; allowed is"),
            ("--multi-prog f", "not possible: write the programs"),
        ] {
            let error = read(line).expect_err(line).to_string();
            assert!(error.contains(says), "{line} gave: {error}");
        }
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
    fn what_scripts_for_other_launchers_carry() {
        let plain = job("-n 2 prog");
        for line in [
            "--oversubscribe -np 2 prog",
            "--allow-run-as-root -c 2 prog",
            "-disable-hostname-propagation -genvall -n 2 prog",
            "-ppn 2 -n 2 --personality prte prog",
            "--map-by :OVERSUBSCRIBE -q --mca btl self -n 2 prog",
        ] {
            let job = job(line);
            assert_eq!(
                (&job.blocks, job.labels, &job.notes),
                (&plain.blocks, plain.labels, &plain.notes),
                "{line}"
            );
        }
        for (line, says) in [
            ("--mca btl self,vader prog", "--mca btl self,vader has no effect here"),
            ("--prefix /opt prog", "--prefix /opt has no effect here"),
            ("-genv I_MPI_PIN 1 prog", "I_MPI_PIN is a setting of another library"),
            ("-x OMPI_MCA_btl=self prog", "OMPI_MCA_btl is a setting of another library"),
        ] {
            let job = job(line);
            assert!(job.notes.len() == 1 && job.notes[0].starts_with(says), "{line} gave {:?}", job.notes);
        }
        assert_eq!(job("-ppn 3 prog").blocks[0].ranks, 3);
        assert_eq!(job("-hosts a,b -N 3 prog").blocks[0].ranks, 6);
        assert_eq!(job("--map-by ppr:4:node prog").blocks[0].ranks, 4);
        assert_eq!(job("-hosts a,b -N 3 -n 2 prog").blocks[0].ranks, 2);
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        assert_eq!(job("-x A=b=c -x NOWHERE_TO_BE_SEEN prog").blocks[0].environment, [pair("A", "b=c")]);
        let some = job("-genvnone -n 1 one : -envlist A,B two : -envall three");
        let inherited: Vec<_> = some.blocks.iter().map(|block| block.inherited.clone()).collect();
        assert_eq!(inherited[..2], [Some(Vec::new()), Some(vec!["A".into(), "B".into()])]);
    }

    #[test]
    fn questions() {
        assert_eq!(read("-n 2 --help"), Ok(Request::Help));
        assert_eq!(read("--help all"), Ok(Request::HelpAll));
        assert_eq!(read("--version"), Ok(Request::Version));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (line, says) in [
            ("", "no program"),
            ("-n 2", "no program"),
            ("-n 2 : prog", "before a ':'"),
            ("prog :", "after a ':'"),
            ("-frobnicate 2 prog", "unknown option -frobnicate"),
            ("--oversubscrib prog", "unknown option --oversubscrib; is --oversubscribe meant?"),
            ("--rankfile x prog", "--rankfile is not possible: places are given by --bind-to user"),
            ("-ppn x prog", "\"x\"; allowed is a number"),
            ("-timeout 0 prog", "\"0\"; allowed is a number of seconds"),
            ("-x =3 prog", "NAME or NAME=VALUE"),
            ("-mca btl", "-mca needs a name and a value"),
            ("-stdin some prog", "a rank, all or none"),
            ("--output tags prog", "tag, timestamp"),
            ("--map-by core:PE=0 prog", "ppr:2:socket"),
            ("--rank-by size prog", "slot, hwthread"),
            ("--cpu-set a prog", "numbers of hardware threads"),
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
            ("--bind-to sock prog", "none, share, hwthread, core"),
        ] {
            match read(line) {
                Err(error) => assert!(error.to_string().contains(says), "{line} gave: {error}"),
                other => panic!("{line} gave {other:?}"),
            }
        }
    }
}
