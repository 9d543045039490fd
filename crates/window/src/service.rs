//! The window thread: it copies for other processes from and to private memory of its own process. It sleeps
//! while nobody asks.
//!
//! Where the kernel forbids single copies between processes, all copies need it. Where it allows them, it
//! looks up the page of each run of data, which takes some hundred times as long as the copy of a few bytes;
//! so windows that may have many short runs have a thread, too ([`Helper`]), as long as there are few of
//! them.
//!
//! A process that asks is alone: it holds the service lock of the target. It copies its data to the bounce
//! buffer in the target's window block, or lets the thread copy data there:
//!
//! | state | written by | then |
//! |---|---|---|
//! | `IDLE` | the process that asked, when it has its answer | the next one may ask |
//! | `ASKED` | a process, after the request | the thread copies |
//! | `DONE` | the thread, after the copy | the process goes on |
//! | `ENDED` | the thread's process, when the window is freed | the thread ends |

use crate::control::{Control, Desk};
use crate::geometry::BOUNCE;
use crate::run_list;
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_platform::{Scope, background, futex};
use heddle_spec::constants as mpi;
use std::thread::JoinHandle;

/// Nobody asks.
pub(crate) const IDLE: u32 = 0;
/// A process asks.
pub(crate) const ASKED: u32 = 1;
/// The thread has copied.
pub(crate) const DONE: u32 = 2;
/// The thread is to end.
const ENDED: u32 = 3;

/// A request for bytes at an address.
pub(crate) const READ: u64 = 0;
/// A request to store bytes at an address.
pub(crate) const WRITE: u64 = 1;
/// A request for the bytes of a list of runs, whose number takes the place of a length.
pub(crate) const READ_LIST: u64 = 2;
/// A request to store the bytes of a list of runs.
pub(crate) const WRITE_LIST: u64 = 3;

/// The least length of private memory with a thread for short runs, in bytes.
pub(crate) const LARGE: u64 = 64 << 10;

/// The most such threads of a process.
const HELPERS: usize = 8;

/// How many there are.
static HELPING: AtomicUsize = AtomicUsize::new(0);

/// A window thread that is not needed, for short runs.
#[derive(Debug)]
pub(crate) struct Helper(WindowThread);

impl Helper {
    /// Starts it, unless there are many of them or no thread is to be had: it is never needed.
    pub(crate) fn start(control: Control) -> Option<Helper> {
        if HELPING.fetch_add(1, Ordering::Relaxed) < HELPERS
            && let Ok(thread) = WindowThread::start(control)
        {
            return Some(Helper(thread));
        }
        HELPING.fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// Ends it. Nobody asks any more.
    pub(crate) fn end(&mut self, own: &Control) {
        self.0.end(own);
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The thread of a process for one window.
#[derive(Debug)]
pub(crate) struct WindowThread {
    /// Absent once it has ended.
    thread: Option<JoinHandle<()>>,
}

impl WindowThread {
    /// Starts it, with a window block of this process mapped for it.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if there is no thread to be had.
    pub(crate) fn start(control: Control) -> Result<WindowThread> {
        let desk_of = control.clone();
        let thread = background::start("heddle-window", None, move || serve(&control.desk()));
        let thread = thread.map_err(|error| {
            let message =
                format!("the thread that serves a window over private memory cannot be started: {error}");
            Error::new(mpi::MPI_ERR_OTHER, message)
        })?;
        desk_of.desk().serves.store(1, Ordering::SeqCst);
        Ok(WindowThread { thread: Some(thread) })
    }

    /// Ends it. Nobody asks any more.
    pub(crate) fn end(&mut self, own: &Control) {
        if let Some(thread) = self.thread.take() {
            let desk = own.desk();
            desk.serves.store(0, Ordering::SeqCst);
            desk.state.store(ENDED, Ordering::SeqCst);
            futex::wake(desk.state, futex::ALL, Scope::Machine);
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

fn serve(desk: &Desk<'_>) {
    loop {
        match desk.state.load(Ordering::SeqCst) {
            ENDED => return,
            ASKED => {
                carry_out(desk);
                desk.state.store(DONE, Ordering::SeqCst);
                futex::wake(desk.state, futex::ALL, Scope::Machine);
            }
            state => {
                futex::wait(desk.state, state, None, Scope::Machine);
            }
        }
    }
}

/// Carries out the request of a process that has checked that the data lies in this process's part of the
/// window.
fn carry_out(desk: &Desk<'_>) {
    let (len, address) =
        (desk.len.load(Ordering::Relaxed) as usize, desk.address.load(Ordering::Relaxed) as usize);
    let there = || std::ptr::with_exposed_provenance_mut::<u8>(address);
    match desk.request.load(Ordering::Relaxed) {
        // SAFETY: the data is valid, and the bounce buffer is as long as a request may be.
        READ => unsafe { desk.bounce.copy_from(there(), len.min(BOUNCE)) },
        // SAFETY: the data is valid, and the bounce buffer is as long as a request may be.
        WRITE => unsafe { there().copy_from(desk.bounce, len.min(BOUNCE)) },
        // SAFETY: the process has written such a list, whose runs are valid.
        list => unsafe { run_list::carry_out(desk.bounce, len, list == WRITE_LIST) },
    }
}
