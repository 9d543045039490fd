//! How a process learns who it is in its job, and reaches what the job shares.
//!
//! A *mechanism* is one way of being started; each has a file of its own, and [`World::from_env`] only selects.
//!
//! | mechanism | started by | recognised by |
//! |---|---|---|
//! | [`builtin`] | Heddle's `mpiexec`, one machine | `HEDDLE_RANK` |
//! | none | nobody: the program was run directly | no variable of a mechanism: a world of one |
//!
//! The built-in mechanism shares one anonymous memory file among all ranks. It begins with the control block
//! ([`builtin::control`]); everything behind [`Job::transport_offset`] belongs to the transport, which grows the
//! file and maps it (see [`Mapping`]). The file has no name, so nothing of a job can outlive its processes.

pub mod builtin;
mod error;
pub mod mapping;
mod world;

pub use builtin::control::{Entry, State};
pub use builtin::job::Job;
pub use builtin::job_control::JobControl;
pub use error::BootstrapError;
pub use mapping::Mapping;
pub use world::World;
