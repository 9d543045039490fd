//! The compiler wrappers (`tools/mpicc`).

use clap::{Arg, ArgAction, Command};

const LONG_ABOUT: &str = "\
mpicc (C), mpicxx and mpic++ (C++), mpifort, mpif77 and mpif90 (Fortran) call the compiler with the options that MPI programs \
need; all other options are its own. They find their files beside themselves, so an installation can be moved. HEDDLE_CC, \
HEDDLE_CXX and HEDDLE_FC name another compiler, options included.";

/// The command.
pub(super) fn command() -> Command {
    let flag = |name: &'static str, other: &'static str, help: &'static str| {
        Arg::new(name).long(name).visible_alias(other).action(ArgAction::SetTrue).help(help)
    };
    Command::new("mpicc")
        .about("compiles and links MPI programs")
        .long_about(LONG_ABOUT)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(flag("show", "showme", "print the command instead of running it"))
        .arg(flag("compile-info", "showme:compile", "print the options for compiling"))
        .arg(flag("link-info", "showme:link", "print the options for linking"))
        .arg(Arg::new("help").long("help").action(ArgAction::SetTrue).help("print a short text"))
        .arg(Arg::new("file").num_args(1..).help("what the compiler gets"))
}
