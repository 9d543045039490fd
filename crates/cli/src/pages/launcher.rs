//! `mpiexec` as its manual page and completions have it.

use clap::{Arg, ArgAction, Command};
use heddle_launcher::options::{LaunchOption, OptionScope, TABLE, Takes};

const ABOUT: &str = "starts the ranks of an MPI job, and ends them together";

const LONG_ABOUT: &str = "\
Starts N ranks of a program, which make one MPI_COMM_WORLD; further blocks, separated by ':', add their own.
An option may be written with one dash or two. What it accepts that other launchers have, and what becomes of it,
lists mpiexec --help all.";

const AFTER: &str = "\
Exit status: 0 if all ranks ended well; otherwise that of the rank that ended the job: its exit code, the code given to \
MPI_Abort, or 128 plus the number of the signal that killed it. 124: the time limit is over, 127: the program was not found, \
126: it cannot be run, 2: the command line is wrong, 1: mpiexec itself failed.";

/// The command by one of its names.
pub(super) fn command(name: &'static str) -> Command {
    let command = Command::new(name)
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_help(AFTER)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true);
    let program = Arg::new("program").required(true).value_hint(clap::ValueHint::CommandName);
    let rest = Arg::new("arguments")
        .num_args(0..)
        .trailing_var_arg(true)
        .help("its arguments; ':' begins the next block");
    command.args(TABLE.iter().map(option)).arg(program.help("the program")).arg(rest)
}

fn option(option: &LaunchOption) -> Arg {
    let mut arg = Arg::new(option.names[0]).help(option.help.replace('\n', " "));
    for name in option.names {
        let mut letters = name.chars();
        arg = match (letters.next(), letters.next(), arg.get_short(), arg.get_long()) {
            (Some(letter), None, None, _) => arg.short(letter),
            (Some(letter), None, Some(_), _) => arg.visible_short_alias(letter),
            (_, _, _, None) => arg.long(*name),
            (_, _, _, Some(_)) => arg.visible_alias(*name),
        };
    }
    let heading = match option.means.scope() {
        OptionScope::Block => "For the block they stand in",
        OptionScope::Job => "For the whole job",
    };
    let arg = arg.hide(!option.means.is_done() || option.help.is_empty()).help_heading(heading);
    match option.takes {
        Takes::Nothing => arg.action(ArgAction::SetTrue),
        Takes::One(word, _) => arg.value_name(word),
        Takes::Two(one, other) => arg.num_args(2).value_names([one, other]),
    }
}
