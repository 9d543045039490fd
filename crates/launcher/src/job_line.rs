//! A job and its blocks, as a command line describes them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::compat::Compat;
use crate::hosts::Host;
use crate::output::Labels;
use crate::placement::Policy;
use crate::redirect::{InputTo, Redirect};
use crate::standard_options::found_in;

/// A job as the command line describes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JobLine {
    /// Blocks in order; never empty.
    pub(crate) blocks: Vec<Block>,
    /// The beginning of each line of output.
    pub(crate) labels: Labels,
    /// Where output goes, if not to the launcher's own.
    pub(crate) redirect: Redirect,
    /// The ranks that read the launcher's input.
    pub(crate) input: InputTo,
    /// Where ranks may run.
    pub(crate) placement: Policy,
    /// The machines, if the command line names any.
    pub(crate) hosts: Option<Hosts>,
    /// How many ranks each machine gets, if it says so.
    pub(crate) per_machine: Option<u32>,
    /// True if the ranks that run here are printed.
    pub(crate) shows_map: bool,
    /// True if the launcher on other machines may start ranks for the superuser.
    pub(crate) may_be_root: bool,
    /// When the job is ended.
    pub(crate) time_limit: Option<Duration>,
    /// Words on options without an effect, which are printed before the job starts.
    pub(crate) notes: Vec<String>,
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
    /// The variables of the launcher that are inherited, if not all.
    pub(crate) inherited: Option<Vec<OsString>>,
    /// The working directory, if not the launcher's.
    pub(crate) directory: Option<PathBuf>,
    /// Where to look for the program, if not in `PATH` alone.
    pub(crate) path: Option<OsString>,
    /// How they find Heddle, if they were compiled for another library.
    pub(crate) compat: Compat,
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
        // Where the ranks do not inherit PATH, the program is looked for in the launcher's.
        let path =
            self.path.clone().or_else(|| self.inherited.as_ref().and_then(|_| std::env::var_os("PATH")));
        path.map_or_else(|| self.program.clone(), |path| found_in(&path, &self.program))
    }

    /// The value of a variable in the ranks' environment.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        let added = self.environment.iter().rfind(|(added, _)| added == name);
        let is_inherited =
            self.inherited.as_ref().is_none_or(|names| names.iter().any(|inherited| inherited == name));
        let inherited = || std::env::var_os(name).filter(|_| is_inherited);
        added.map(|(_, value)| value.clone()).or_else(inherited)
    }
}
