//! How a process learns its rank in the job, and reaches the memory that the job shares.
//!
//! Of Heddle's crates this one uses `heddle-platform` alone. `heddle-launcher` makes the memory;
//! `heddle-transport` puts its rings into it; `heddle-message`, `heddle-comm` and `heddle-process` ask for
//! ranks and the states of other processes.
//!
//! A *mechanism* is a method of starting a job; each has a file, and [`Joining::begin`] only selects one.
//!
//! | mechanism | started by | recognised by |
//! |---|---|---|
//! | [`builtin`] | Heddle's `mpiexec`, one machine | `HEDDLE_RANK` |
//! | [`pmix`] | PRRTE (`prterun`, Open MPI's `mpiexec`), `srun --mpi=pmix`, or another launcher that speaks PMIx; any machines | `PMIX_NAMESPACE` |
//! | [`pmi`] | MPICH's Hydra, `srun --mpi=pmi2`, or another launcher that speaks PMI-1 or PMI-2; any machines | `PMI_FD` |
//! | none | a shell: the program was run directly | no variable of a mechanism: a world of one |
//!
//! [`pmix`] and [`pmi`] differ in the protocol alone: `external` has what a job does under a launcher that is
//! not Heddle's.
//!
//! The ranks of a machine ([`LocalRanks`]) share one anonymous memory file. It begins with the control block
//! ([`control`]); everything behind [`Job::transport_offset`] belongs to the transport, which grows the file
//! and maps it (see [`Mapping`]). The file has no name, so nothing of a job can outlive its processes.

pub mod builtin;
pub mod control;
mod descriptor;
mod error;
mod external;
mod host;
mod job;
mod job_control;
mod joining;
mod local_ranks;
pub mod mapping;
mod mechanism;
mod memory_file;
mod memory_limits;
pub mod pmi;
pub mod pmix;
mod world;

pub use control::{RankEntry, RankState};
pub use error::BootstrapError;
pub use external::{end_job, end_without_launcher, finish_alone};
pub use host::host;
pub use job::Job;
pub use job_control::JobControl;
pub use joining::Joining;
pub use local_ranks::LocalRanks;
pub use mapping::Mapping;
pub use mechanism::Mechanism;
pub use memory_file::MemoryFile;
pub use world::World;
