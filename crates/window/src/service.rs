//! The window thread: it copies for other processes from and to private memory of its own process, where the
//! kernel forbids single copies between processes. It exists only for windows in which a process needs it,
//! and sleeps while nobody asks.
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
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::Ordering;
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
        let thread = background::start("heddle-window", None, move || serve(&control.desk()));
        let thread = thread.map_err(|error| {
            let message =
                format!("the thread that serves a window over private memory cannot be started: {error}");
            Error::new(mpi::MPI_ERR_OTHER, message)
        })?;
        Ok(WindowThread { thread: Some(thread) })
    }

    /// Ends it. Nobody asks any more.
    pub(crate) fn end(&mut self, own: &Control) {
        if let Some(thread) = self.thread.take() {
            let desk = own.desk();
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
                let len = desk.len.load(Ordering::Relaxed) as usize;
                let there = std::ptr::with_exposed_provenance_mut::<u8>(
                    desk.address.load(Ordering::Relaxed) as usize
                );
                let (from, to) = match desk.writes.load(Ordering::Relaxed) {
                    0 => (there, desk.bounce),
                    _ => (desk.bounce, there),
                };
                // SAFETY: the process that asked has checked that the data lies in this process's part of the
                // window, and the bounce buffer is as long as a request may be.
                unsafe { to.copy_from(from, len.min(BOUNCE)) };
                desk.state.store(DONE, Ordering::SeqCst);
                futex::wake(desk.state, futex::ALL, Scope::Machine);
            }
            state => {
                futex::wait(desk.state, state, None, Scope::Machine);
            }
        }
    }
}
