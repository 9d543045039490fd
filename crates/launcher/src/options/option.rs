//! An option: its names, what it takes, and what it means.

/// The words that follow an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// One word: how the help names it, and what an error says is needed.
    One(&'static str, &'static str),
    /// A name and a value.
    Two(&'static str, &'static str),
}

/// The meaning of an option. `command_line.rs` has the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionEffect {
    /// `--help`, perhaps with `all` behind it.
    Help,
    /// The version.
    Version,
    /// How many ranks the block has.
    Ranks,
    /// Ranks of each machine.
    PerMachine,
    /// One rank on each machine.
    OnePerMachine,
    /// A variable of the block.
    Variable,
    /// A variable of all blocks.
    GlobalVariable,
    /// `NAME=VALUE`, or a variable that is inherited anyway.
    Export,
    /// The variables that are inherited: all, none, or those of a list.
    Inherit(Inherit, OptionScope),
    /// Where ranks start.
    Directory,
    /// Where the program is looked for.
    Path,
    /// How programs that were compiled for another library find Heddle.
    Compat,
    /// The allowed numbers of ranks.
    Soft,
    /// The machine's architecture.
    Architecture,
    /// The error handler at the start.
    ErrorHandler,
    /// Kinds of memory.
    MemoryKinds,
    /// The command line is in a file.
    ConfigFile,
    /// The machines.
    HostList,
    /// The machines, in a file.
    HostFile,
    /// Lines begin with the rank.
    Label,
    /// Lines begin with the time.
    Time,
    /// Open MPI 5's list: `tag,timestamp,merge,dir=..,file=..`.
    Output,
    /// A pattern of files for one of the streams.
    OutFiles,
    /// The same of standard error.
    ErrFiles,
    /// A folder of files.
    Folder,
    /// Standard error goes where standard output goes.
    Merge,
    /// Ignored options are not mentioned.
    Quiet,
    /// The rank that reads the input.
    Input,
    /// When the job is ended.
    TimeLimit,
    /// The same in Slurm's words.
    SlurmTime,
    /// Slurm's list: `ALL`, `NONE`, and names with or without values.
    SlurmExport,
    /// The cores that a rank is bound to.
    BindTo,
    /// Where consecutive ranks go.
    MapBy,
    /// How ranks are numbered.
    RankBy,
    /// The hardware threads to use.
    CpuSet,
    /// How many cores a rank gets.
    CoresPerRank,
    /// Print the places.
    ReportBindings,
    /// Print the ranks.
    ShowMap,
    /// Open MPI 5's list of what is printed at the start.
    Display,
    /// PRRTE, which starts ranks on other machines, may do so for the superuser.
    AllowRoot,
    /// It is so here without the option.
    Held,
    /// It has no effect here, as it is about the inside of another library; a line says that it is ignored.
    Ignored,
    /// It cannot be had; why.
    Refused(&'static str),
}

/// The part of the launcher's environment that the ranks get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inherit {
    /// All of it.
    All,
    /// Nothing but the variables of Heddle.
    Nothing,
    /// The variables that the option names.
    Listed,
}

/// The blocks that an option concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionScope {
    /// The block that it stands in.
    Block,
    /// All blocks.
    Job,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct LaunchOption {
    /// All spellings, without dashes; one dash or two are the same.
    pub names: &'static [&'static str],
    /// The words that follow it.
    pub takes: Takes,
    /// Its meaning.
    pub means: OptionEffect,
    /// Those who have one of the names: `s` the standard, `h` MPICH's Hydra, `i` Intel MPI, `o` Open MPI, `r`
    /// Slurm's srun, `-` Heddle alone.
    pub of: &'static str,
    /// Its text in the help; without it the option is listed by `--help all` alone.
    pub help: &'static str,
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

impl OptionEffect {
    /// Returns true if this launcher does something for it.
    #[must_use]
    pub fn is_done(self) -> bool {
        self.group() == 0
    }

    /// The fate of the option, as an index of the titles of [`listed`](super::listed).
    pub(super) fn group(self) -> usize {
        match self {
            Self::Held | Self::AllowRoot => 1,
            Self::Ignored => 2,
            Self::Refused(_) => 3,
            _ => 0,
        }
    }

    /// The blocks that it concerns.
    #[must_use]
    pub fn scope(self) -> OptionScope {
        match self {
            Self::Ranks
            | Self::Variable
            | Self::Directory
            | Self::Path
            | Self::Soft
            | Self::Architecture
            | Self::ErrorHandler
            | Self::MemoryKinds
            | Self::Inherit(_, OptionScope::Block) => OptionScope::Block,
            _ => OptionScope::Job,
        }
    }
}
