//! The thread of the library that serves the network: it wakes sleepers when something comes, and lets the
//! ports beat.
//!
//! A thread with nothing to do sleeps on the doorbell of its process, in memory that it shares with the ranks
//! of its machine. The kernel lets nobody sleep on that and on descriptors at once; so this thread waits for
//! the descriptors while one sleeps, and rings the doorbell.
//!
//! ```text
//!   the sleeper                                  the listener
//!   raises its flag in the doorbell              waits on `armed`
//!   looks for work once more, at the rings
//!   and at the network
//!   stores 1 in `armed`, wakes the listener ──▶  waits for the descriptors
//!   sleeps on the doorbell                       stores 0 in `armed`
//!                                  ◀──────────── rings the doorbell
//! ```
//!
//! A sleeper that comes between the last two steps sees a 0 and arms once more, or sees a 1 and is rung for,
//! since its flag was up before it looked. A beat takes what has come to the descriptors, so it rings, too.

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::background;
use heddle_platform::{Scope as FutexScope, futex};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long the listener waits where a provider has no descriptor.
const WITHOUT_DESCRIPTOR: Duration = Duration::from_millis(1);
/// The thread's name.
const NAME: &str = "heddle-network";

/// The listener of a process.
#[derive(Debug)]
pub(super) struct Listener {
    /// 1 while a thread sleeps, or may.
    armed: Arc<AtomicU32>,
    /// The descriptors of all ports; none if one of them has none.
    descriptors: Option<Vec<RawFd>>,
    started: OnceLock<bool>,
}

/// What the listener does at intervals.
pub(super) struct Beats {
    pub(super) interval: Duration,
    pub(super) beat: Box<dyn Fn() + Send>,
}

impl Listener {
    pub(super) fn new(descriptors: Option<Vec<RawFd>>) -> Listener {
        Listener { armed: Arc::default(), descriptors, started: OnceLock::new() }
    }

    /// Starts the thread, which calls `ring` when something comes from the network to an [armed](Self::arm)
    /// listener. Only the first call counts. Returns false if the system has no thread for it.
    pub(super) fn start(&self, beats: Option<Beats>, ring: impl Fn() + Send + 'static) -> bool {
        *self.started.get_or_init(|| self.try_start(beats, ring).is_ok())
    }

    /// From now on something from the network rings. Returns false if there is no listener.
    pub(super) fn arm(&self) -> bool {
        let is_there = self.started.get().is_some_and(|started| *started);
        if is_there && self.armed.swap(1, Ordering::AcqRel) == 0 {
            futex::wake(&self.armed, 1, FutexScope::Process);
        }
        is_there
    }

    fn try_start(&self, beats: Option<Beats>, ring: impl Fn() + Send + 'static) -> io::Result<()> {
        let (armed, descriptors) = (Arc::clone(&self.armed), self.descriptors.clone());
        if beats.is_some() {
            end_beats_at_exit();
        }
        let mut rhythm = beats.map(Rhythm::new);
        let body = move || loop {
            let left = |rhythm: &Option<Rhythm>| rhythm.as_ref().map(Rhythm::left);
            if armed.load(Ordering::Acquire) == 0 {
                futex::wait(&armed, 0, left(&rhythm), FutexScope::Process);
            }
            if armed.load(Ordering::Acquire) != 0 {
                wait_for(descriptors.as_deref(), left(&rhythm));
            }
            if let Some(rhythm) = &mut rhythm {
                rhythm.beat_if_due();
            }
            if armed.swap(0, Ordering::AcqRel) != 0 {
                ring();
            }
        };
        // It lives as long as the process.
        background::start(NAME, None, body).map(drop)
    }
}

/// Beats, and when the next one is due.
struct Rhythm {
    beats: Beats,
    due: Instant,
}

impl Rhythm {
    fn new(beats: Beats) -> Rhythm {
        Rhythm { due: Instant::now() + beats.interval, beats }
    }

    /// The time until the next beat.
    fn left(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    fn beat_if_due(&mut self) {
        if self.left().is_zero() {
            let _not_at_the_end = BEATING.lock().unwrap_or_else(PoisonError::into_inner);
            (self.beats.beat)();
            self.due = Instant::now() + self.beats.interval;
        }
    }
}

/// Held by the listener during a beat, and by the process while it ends: libfabric may be gone then.
static BEATING: Mutex<()> = Mutex::new(());

fn end_beats_at_exit() {
    extern "C" fn at_exit() {
        // A beat that ends the job ends the process, too.
        if std::thread::current().name() != Some(NAME) {
            std::mem::forget(BEATING.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
    static ONCE: Once = Once::new();
    // SAFETY: the function lives as long as the process. If there is no room for it, a beat may come while
    // the process ends.
    ONCE.call_once(|| _ = unsafe { libc::atexit(at_exit) });
}

/// Waits until one of the descriptors is readable, for that time at most.
fn wait_for(descriptors: Option<&[RawFd]>, longest: Option<Duration>) {
    let watched = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let longest = if descriptors.is_some() { longest } else { Some(WITHOUT_DESCRIPTOR) };
    let mut watched: Vec<_> = descriptors.unwrap_or_default().iter().copied().map(watched).collect();
    // A part of a millisecond counts as one, so that no time is spent in turns without a wait.
    let timeout = longest.map_or(-1, |longest| longest.as_micros().div_ceil(1000) as i32);
    // SAFETY: a list of that length. An interrupted call only makes the sleepers look once more.
    unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, timeout) };
}
