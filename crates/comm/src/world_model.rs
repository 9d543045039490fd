//! The World Model: the process between `MPI_Init` and `MPI_Finalize` (MPI 5.0, section 11.2). Sessions need
//! neither of them.

use crate::error::{Error, Result};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_spec::constants as mpi;
use std::sync::OnceLock;

/// What `MPI_Init` or `MPI_Init_thread` was called with, and by whom. It is made once and stays.
#[derive(Debug)]
pub struct WorldModel {
    thread_level: i32,
    main_thread: u64,
}

heddle_platform::per_process! {
    static MADE: OnceLock<WorldModel> = OnceLock::new();
}

const NEVER: u32 = 0;
const RUNNING: u32 = 1;
const FINALIZED: u32 = 2;

heddle_platform::per_process! {
    /// The stage of the process: before, between or after `MPI_Init` and `MPI_Finalize`.
    static STAGE: AtomicU32 = AtomicU32::new(NEVER);
}

/// Returns true if `MPI_Init` has been called.
pub fn is_initialized() -> bool {
    STAGE.load(Ordering::Acquire) != NEVER
}

/// Returns true if `MPI_Finalize` has been called.
pub fn is_finalized() -> bool {
    STAGE.load(Ordering::Acquire) == FINALIZED
}

/// The World Model, if MPI is initialised and not finalized.
///
/// # Errors
/// `MPI_ERR_OTHER`, with the reason.
pub fn current() -> Result<&'static WorldModel> {
    let running = STAGE.load(Ordering::Acquire) == RUNNING;
    MADE.get().filter(|_| running).ok_or_else(|| {
        let what = match is_initialized() {
            false => {
                "MPI is not initialised: this needs MPI_Init or MPI_Init_thread, a session is not enough"
            }
            true => "MPI is finalized already",
        };
        Error::new(mpi::MPI_ERR_OTHER, what)
    })
}

/// Begins the World Model at a thread level. The calling thread is the main thread.
pub fn begin(thread_level: i32) {
    let main_thread = heddle_platform::thread::current_id();
    MADE.get_or_init(|| WorldModel { thread_level, main_thread });
    // Release: pairs with the Acquire of the functions above.
    STAGE.store(RUNNING, Ordering::Release);
}

/// Ends it for good.
pub fn end() {
    STAGE.store(FINALIZED, Ordering::Release);
}

impl WorldModel {
    /// The thread level that was given.
    pub fn thread_level(&self) -> i32 {
        self.thread_level
    }

    /// Returns true if the calling thread called `MPI_Init`.
    pub fn is_main_thread(&self) -> bool {
        heddle_platform::thread::current_id() == self.main_thread
    }
}
