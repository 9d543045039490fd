//! The process after `MPI_Init`: its world, thread level and main thread.

use crate::error::Result;
use heddle_bootstrap::World;
use heddle_message::domain;
use std::sync::OnceLock;

/// An initialised process. It is made once and stays.
#[derive(Debug)]
pub struct Process {
    world: World,
    thread_level: i32,
    main_thread: u64,
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// The process, if MPI is initialised and not finalized.
///
/// # Errors
/// `MPI_ERR_OTHER`, with the reason.
pub fn current() -> Result<&'static Process> {
    domain::current()?;
    let Some(process) = ever() else { unreachable!("the process is described before its domain is opened") };
    Ok(process)
}

/// The process, if `MPI_Init` was ever called.
pub fn ever() -> Option<&'static Process> {
    PROCESS.get()
}

/// The calling thread is the main thread of a process with this thread level.
pub fn describe(world: World, thread_level: i32) -> &'static Process {
    let main_thread = heddle_platform::thread::current_id();
    PROCESS.get_or_init(|| Process { world, thread_level, main_thread })
}

impl Process {
    /// The job's bootstrap information.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The thread level that was given.
    pub fn thread_level(&self) -> i32 {
        self.thread_level
    }

    /// Returns true if the calling thread called `MPI_Init`.
    pub fn is_main_thread(&self) -> bool {
        heddle_platform::thread::current_id() == self.main_thread
    }
}
