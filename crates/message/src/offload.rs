//! The running threads of the offload server, which serve the VNIs under execution `offload`.
//!
//! An offload thread runs the operations posted to its VNIs and makes their progress, so messages advance
//! while no thread of the program is in MPI. Now and then it polls the other VNIs, too: their threads may
//! sleep, or copy a large message. After a while without work it sleeps ([`heddle_model::OffloadServer`]).
//!
//! The threads live as long as the library is in use: from `MPI_Init` or the first session to `MPI_Finalize`
//! or the end of the last session. A process that exits earlier ends them where they are, so the objects that
//! they use are never freed. A child of a fork has none, and may not call MPI.

use crate::error::{Error, Result};
use crate::vni::{LONGEST_SLEEP, TurnOutcome, Vni};
use heddle_model::OffloadServer;
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::background;
use heddle_settings::{Cores, Settings};
use heddle_spec::constants as mpi;
use heddle_sync::roster::{Check, Up};
use heddle_sync::{Next, Waiter};
use heddle_transport::Fabric;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The number of rounds from one poll of the other VNIs to the next.
const OTHERS_EVERY: u32 = 16;

/// The running threads of the offload server.
#[derive(Debug)]
pub(crate) struct RunningServer {
    server: OffloadServer,
    fabric: Fabric,
    vnis: &'static [Vni],
    settings: Settings,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// True once the threads are to end. A thread that sees this first and then finds nothing to do has run
    /// all operations that were posted before.
    ending: Arc<AtomicBool>,
}

impl RunningServer {
    /// A server whose threads are not [started](Self::start) yet.
    pub(crate) fn new(
        server: OffloadServer,
        fabric: Fabric,
        vnis: &'static [Vni],
        settings: &Settings,
    ) -> RunningServer {
        let settings = settings.clone();
        RunningServer { server, fabric, vnis, settings, threads: Mutex::default(), ending: Arc::default() }
    }

    /// Starts the threads, for the first time or after [`end`](Self::end).
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if the system has no threads, or none on the cores that were chosen.
    pub(crate) fn start(&self) -> Result<()> {
        // Relaxed: there are no threads, and starting one orders everything before it.
        self.ending.store(false, Ordering::Relaxed);
        for thread in 0..self.server.threads() {
            let server_thread = ServerThread {
                thread,
                server: self.server.clone(),
                fabric: self.fabric.clone(),
                vnis: self.vnis,
                wait: self.settings.wait,
                ending: self.ending.clone(),
            };
            let core = self.settings.offload_cores.of_thread(thread);
            match background::start(&format!("heddle-vni-{thread}"), core, move || server_thread.run()) {
                Ok(started) => self.threads().push(started),
                Err(error) => {
                    self.end();
                    return Err(no_thread(thread, core, &error));
                }
            }
        }
        Ok(())
    }

    /// Wakes the thread that serves a VNI, if it sleeps.
    pub(crate) fn wake_for(&self, vni: u32) {
        self.server.wake(self.server.thread_of(vni as usize));
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the threads, after they have run all posted operations. The program posts no others.
    pub(crate) fn end(&self) {
        // Release: pairs with the Acquire in `ServerThread::is_ending`.
        self.ending.store(true, Ordering::Release);
        let mut threads = self.threads();
        (0..threads.len()).for_each(|thread| self.server.wake(thread));
        for thread in threads.drain(..) {
            // A thread that has panicked has been reported.
            let _ = thread.join();
        }
    }
}

#[cold]
fn no_thread(thread: usize, core: Option<usize>, error: &std::io::Error) -> Error {
    let what = match core {
        Some(core) => format!(
            "HEDDLE_OFFLOAD_CORES puts thread {thread} of execution \"offload\" on core {core}, where it cannot run: {error}; this \
             process may run on cores {}",
            Cores::from(background::allowed_cores())
        ),
        None => format!(
            "thread {thread} of execution \"offload\" cannot be started: {error}; set HEDDLE_OFFLOAD_THREADS=one, or HEDDLE_VNIS \
             to a smaller number"
        ),
    };
    Error::new(mpi::MPI_ERR_OTHER, what)
}

/// One thread of the offload server.
struct ServerThread {
    thread: usize,
    server: OffloadServer,
    fabric: Fabric,
    vnis: &'static [Vni],
    wait: heddle_sync::WaitPolicy,
    ending: Arc<AtomicBool>,
}

impl ServerThread {
    fn is_ending(&self) -> bool {
        // Acquire: pairs with the Release in `RunningServer::end`, for the operations posted before.
        self.ending.load(Ordering::Acquire)
    }

    fn assigned(&self) -> impl Iterator<Item = (usize, &'static Vni)> {
        let vnis = self.vnis.iter().enumerate();
        vnis.filter(|(index, _)| self.server.thread_of(*index) == self.thread)
    }

    fn others(&self) -> impl Iterator<Item = (usize, &'static Vni)> {
        let vnis = self.vnis.iter().enumerate();
        vnis.filter(|(index, _)| self.server.thread_of(*index) != self.thread)
    }

    fn run(&self) {
        self.attend(1);
        self.serve();
        self.attend(1u32.wrapping_neg());
    }

    /// Counts this thread as waiting on its VNIs, so that receivers see a process that can copy large
    /// messages, and the program's threads do not poll.
    fn attend(&self, change: u32) {
        for (vni, _) in self.assigned() {
            self.fabric.own_attendance(vni).fetch_add(change, Ordering::Relaxed);
        }
    }

    fn serve(&self) {
        let mut waiter = Waiter::new(&self.wait, 1);
        let mut round = 0u32;
        loop {
            // Checked before the queues are run: no operation is posted after it.
            let ending = self.is_ending();
            round = round.wrapping_add(1);
            let mut happened = false;
            for (_, vni) in self.assigned() {
                happened |= vni.serve() != TurnOutcome::Nothing;
                happened |= vni.advance_tasks();
            }
            if round.is_multiple_of(OTHERS_EVERY) {
                happened |= self.serve_others();
            }
            if happened {
                waiter.reset();
            } else if ending {
                return;
            } else if waiter.pause() == Next::Park && self.sleep() == Up::ForWork {
                waiter.reset();
            }
        }
    }

    /// Polls the VNIs of the other threads, and wakes their thread if there was work. Their tasks may wait
    /// for an event that came through the door without a message.
    fn serve_others(&self) -> bool {
        let mut happened = false;
        for (index, vni) in self.others() {
            happened |= vni.advance_tasks();
            if vni.serve() == TurnOutcome::Worked {
                self.server.wake(self.server.thread_of(index));
                happened = true;
            }
        }
        happened
    }

    #[cold]
    fn sleep(&self) -> Up {
        self.server.sleep(self.thread, Some(LONGEST_SLEEP), |check| {
            let mut happened = self.is_ending();
            for (_, vni) in self.assigned() {
                happened |= vni.serve_for_certain(self.wait);
                happened |= vni.advance_tasks_for_certain();
            }
            if check == Check::Everything {
                for (index, vni) in self.others() {
                    happened |= vni.advance_tasks_for_certain();
                    if vni.serve_for_certain(self.wait) {
                        self.server.wake(self.server.thread_of(index));
                        happened = true;
                    }
                }
                happened = happened || self.fabric.has_work_from_network();
            }
            happened
        })
    }
}
