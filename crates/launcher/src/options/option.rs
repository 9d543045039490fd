//! An option: its names, what it takes, and what it means.

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing,
    /// One word: how the help names it, and what an error says is needed.
    One(&'static str, &'static str),
    /// A name and a value.
    Two(&'static str, &'static str),
}

/// What an option means. [`command_line`](crate::command_line) has the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    Help,
    Version,
    Ranks,
    /// Ranks of each machine.
    PerMachine,
    OnePerMachine,
    Variable,
    GlobalVariable,
    /// `NAME=VALUE`, or a variable that is inherited anyway.
    Export,
    /// The variables that are inherited: all, none, or those of a list.
    Inherit(Inherit, Scope),
    Directory,
    Path,
    Soft,
    Architecture,
    ErrorHandler,
    MemoryKinds,
    ConfigFile,
    HostList,
    HostFile,
    Label,
    Time,
    /// Open MPI 5's list: `tag,timestamp,merge,dir=..,file=..`.
    Output,
    /// A pattern of files for one of the streams.
    OutFiles,
    ErrFiles,
    /// A folder of files.
    Folder,
    Merge,
    Quiet,
    Input,
    TimeLimit,
    BindTo,
    MapBy,
    RankBy,
    CpuSet,
    CoresPerRank,
    ReportBindings,
    ShowMap,
    /// Open MPI 5's list of what is printed at the start.
    Display,
    /// It is so here without the option.
    Held,
    /// It is about the inside of another library; a line says that it is ignored.
    Ignored,
    /// It cannot be had; why.
    Refused(&'static str),
}

/// What of the launcher's environment the ranks get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inherit {
    All,
    Nothing,
    Listed,
}

/// Whom an option concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Block,
    Job,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchOption {
    /// All spellings, without dashes; one dash or two are the same.
    pub(crate) names: &'static [&'static str],
    pub(crate) takes: Takes,
    pub(crate) means: Means,
    /// Who has it: `s` the standard, `h` MPICH's Hydra, `i` Intel MPI, `o` Open MPI, `r` Slurm's srun, `-`
    /// Heddle alone.
    pub(crate) of: &'static str,
    /// What the help says; without it the option is listed by `--help all` alone.
    pub(crate) help: &'static str,
}

impl LaunchOption {
    /// A spelling with its dashes and what it takes.
    pub(super) fn spelt(&self, name: &str) -> String {
        let dashes = if name.contains('-') && self.of != "s" { "--" } else { "-" };
        match self.takes {
            Takes::Nothing => format!("{dashes}{name}"),
            Takes::One(word, _) => format!("{dashes}{name} {word}"),
            Takes::Two(one, other) => format!("{dashes}{name} {one} {other}"),
        }
    }
}

impl Means {
    /// What becomes of it, as an index of the titles of [`listed`](super::listed).
    pub(super) fn group(self) -> usize {
        match self {
            Self::Held => 1,
            Self::Ignored => 2,
            Self::Refused(_) => 3,
            _ => 0,
        }
    }

    /// Whom it concerns.
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::Ranks
            | Self::Variable
            | Self::Directory
            | Self::Path
            | Self::Soft
            | Self::Architecture
            | Self::ErrorHandler
            | Self::MemoryKinds
            | Self::Inherit(_, Scope::Block) => Scope::Block,
            _ => Scope::Job,
        }
    }
}
