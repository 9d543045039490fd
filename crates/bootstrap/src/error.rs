//! Errors from the start of a process until it knows its rank.

use std::io;

/// Why a process could not join its job, or a launcher could not make one.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// A variable of the launcher's contract has an impossible value.
    #[error(
        "the environment variable {name} is {value:?}; allowed is {allowed}. It is set by the launcher: start \
         the program with it, or unset {} to run it as a world of one",
        first(name)
    )]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The values that it may have.
        allowed: String,
    },
    /// A variable is absent although the others say that there is a job.
    #[error(
        "the environment variable {name} is missing although {0} is set; the launcher sets both: start the \
         program with it, or unset {0} to run it as a world of one",
        first(name)
    )]
    Missing {
        /// The variable.
        name: &'static str,
    },
    /// Neither the inherited descriptor nor the path leads to the memory of the job.
    #[error(
        "rank {rank} cannot reach the memory of its job: HEDDLE_JOB_FD: {by_fd}; HEDDLE_JOB_PATH: {by_path}. Is \
         mpiexec still running, on this machine and as the same user?"
    )]
    Unreachable {
        /// The rank that tried.
        rank: u32,
        /// Why the inherited descriptor was of no use.
        by_fd: String,
        /// Why the path was of no use.
        by_path: String,
    },
    /// The variables of the mechanism that was chosen are absent.
    #[error(
        "HEDDLE_BOOTSTRAP is {mechanism}, but the environment variable {name} is missing: the program was not \
         started by such a launcher. Unset HEDDLE_BOOTSTRAP, or start the program with one"
    )]
    NotStarted {
        /// The mechanism.
        mechanism: &'static str,
        /// The variable by which it is recognised.
        name: &'static str,
    },
    /// The launcher does not speak as expected.
    #[error("the launcher and Heddle do not understand each other: {what}")]
    Launcher {
        /// The exchange.
        what: String,
    },
    /// The process has told its launcher that it needs it no more.
    #[error(
        "this process has finalized MPI, and left its launcher with that; a session that comes later reaches only \
         ranks that it knew before. Begin a first session before MPI_Finalize, which keeps the launcher until the \
         process ends"
    )]
    Left,
    /// The library by which ranks reach a launcher that speaks PMIx cannot be loaded.
    #[error(
        "a launcher that speaks PMIx has started this process (PMIX_NAMESPACE is set), but libpmix.so.2 cannot be \
         loaded: {why}. Install it (Debian's libpmix2), or name the folder of the launcher's own one in \
         LD_LIBRARY_PATH"
    )]
    NoPmix {
        /// The loader's answer.
        why: String,
    },
    /// The memory that the lowest rank of the machine has made cannot be opened.
    #[error(
        "rank {rank} cannot open the memory of its job, which the lowest rank of this machine has made: {why}. Do \
         all ranks run as the same user, and is /proc there?"
    )]
    Hidden {
        /// The rank that tried.
        rank: u32,
        /// The system's answer.
        why: String,
    },
    /// Another process has joined as this rank before.
    #[error(
        "rank {rank} was already taken by process {pid}; a rank can be one MPI process only, so a script under \
         mpiexec can run one MPI program, once"
    )]
    Taken {
        /// The rank.
        rank: u32,
        /// The process that has it.
        pid: u32,
    },
    /// A job of this size cannot be made.
    #[error("a job cannot have {size} ranks; allowed is 1 to {max}")]
    Size {
        /// The size asked for.
        size: u32,
        /// The largest size.
        max: u32,
    },
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// The operation that failed.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

/// The variable by which the mechanism of a variable is recognised.
fn first(name: &str) -> &'static str {
    if name.starts_with("PMI_") { "PMI_FD" } else { "HEDDLE_RANK" }
}
