//! The process: its world, and the thread level at which the library runs.

use crate::error::Result;
use heddle_bootstrap::World;
use heddle_message::domain;
use std::sync::OnceLock;

/// A process that uses MPI. It is made by the first `MPI_Init` or `MPI_Session_init`, and stays.
#[derive(Debug)]
pub struct Process {
    world: World,
    thread_level: i32,
}

heddle_platform::per_process! {
    static PROCESS: OnceLock<Process> = OnceLock::new();
}

/// The process, if MPI is in use.
///
/// # Errors
/// `MPI_ERR_OTHER`, with the reason.
pub fn current() -> Result<&'static Process> {
    domain::current()?;
    let Some(process) = ever() else { unreachable!("the process is described before its domain is opened") };
    Ok(process)
}

/// The process, if MPI was ever in use.
pub fn ever() -> Option<&'static Process> {
    PROCESS.get()
}

/// Describes the process, whose library runs at this thread level.
pub fn describe(world: World, thread_level: i32) -> &'static Process {
    PROCESS.get_or_init(|| Process { world, thread_level })
}

impl Process {
    /// The job's bootstrap information.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The thread level at which the library runs. A program that has sessions may use it; that of the
    /// [World Model](crate::world_model) may be lower.
    pub fn thread_level(&self) -> i32 {
        self.thread_level
    }
}
