//! The thread of the library that serves the network: it wakes sleepers when something comes, sends packets
//! that were left open, and lets the ports beat.
//!
//! A thread with nothing to do sleeps on the doorbell of its process, in memory that it shares with the ranks
//! of its machine. The kernel lets nobody sleep on that and on descriptors at once; so this thread waits for
//! the descriptors while one sleeps, and rings the doorbell.
//!
//! ```text
//!   the sleeper                                  the listener
//!   raises its flag in the doorbell              waits for the signal
//!   looks for work once more, at the rings
//!   and at the network
//!   arms the listener ─────────────────────────▶ waits for the descriptors
//!   sleeps on the doorbell                       disarms itself
//!                                  ◀──────────── rings the doorbell
//! ```
//!
//! A sleeper that comes between the last two steps finds it disarmed and arms it once more, or finds it armed
//! and is rung for, since its flag was up before it looked. A beat takes what has come to the descriptors, so
//! it rings, too.

use super::signal::Signal;
use heddle_platform::{background, fork};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long the listener waits where a provider has no descriptor.
const WITHOUT_DESCRIPTOR: Duration = Duration::from_millis(1);
/// The pause before the listener sends packets that their threads have left open.
const PAUSE: Duration = Duration::from_micros(100);
/// The number of pauses without an open packet after which it waits to be called.
const PATIENCE: u32 = 10;
/// The thread's name.
const NAME: &str = "heddle-network";

/// The listener of a process.
#[derive(Debug)]
pub(super) struct Listener {
    signal: Arc<Signal>,
    /// The descriptors of all ports; none if one of them has none.
    descriptors: Option<Vec<RawFd>>,
    started: OnceLock<bool>,
}

/// The listener's work at intervals.
pub(super) struct Beats {
    pub(super) interval: Duration,
    pub(super) beat: Box<dyn Fn() + Send>,
}

impl Listener {
    pub(super) fn new(signal: Arc<Signal>, descriptors: Option<Vec<RawFd>>) -> Listener {
        Listener { signal, descriptors, started: OnceLock::new() }
    }

    /// Starts the thread. Only the first call counts. Returns false if the system has no thread for it.
    pub(super) fn start(&self, beats: Option<Beats>, duties: impl Duties) -> bool {
        *self.started.get_or_init(|| self.try_start(beats, duties).is_ok())
    }

    /// From now on something from the network rings. Returns false if there is no listener.
    pub(super) fn arm(&self) -> bool {
        self.signal.arm()
    }

    fn try_start(&self, beats: Option<Beats>, duties: impl Duties) -> io::Result<()> {
        let (signal, descriptors) = (Arc::clone(&self.signal), self.descriptors.clone());
        end_at_exit();
        let mut rhythm = beats.map(Rhythm::new);
        let body = move || loop {
            let left = |rhythm: &Option<Rhythm>| rhythm.as_ref().map(Rhythm::left);
            signal.wait(left(&rhythm));
            if signal.has_open() {
                send_open_packets(&signal, &duties);
            }
            if signal.is_armed() {
                // A thread may have left a packet open before this one was armed.
                duties.send_open();
                wait_for(descriptors.as_deref(), left(&rhythm));
            }
            if let Some(rhythm) = &mut rhythm {
                rhythm.beat_if_due();
            }
            if signal.disarm() {
                duties.ring();
            }
        };
        // It lives as long as the process.
        background::start(NAME, None, body)?;
        self.signal.listener_is_there();
        Ok(())
    }
}

/// The listener's work when it is called.
pub(super) trait Duties: Send + 'static {
    /// Wakes the sleepers.
    fn ring(&self);

    /// Sends the packets that were left open. Returns true if there were some.
    fn send_open(&self) -> bool;
}

/// Sends open packets after a pause, in which their threads may do so, until there are none for a while or
/// a thread arms the listener.
fn send_open_packets(signal: &Signal, duties: &impl Duties) {
    let mut idle = 0;
    while idle < PATIENCE && !signal.is_armed() {
        signal.wait_while_open(PAUSE);
        idle = if duties.send_open() { 0 } else { idle + 1 };
    }
    signal.none_is_open();
    // One may have been left open before the last step.
    duties.send_open();
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
            with_network(|| (self.beats.beat)());
            self.due = Instant::now() + self.beats.interval;
        }
    }
}

/// Held by the listener while it uses the network, and by the process while it ends: libfabric may be gone
/// then.
static NETWORK: Mutex<()> = Mutex::new(());

/// Uses the network, unless the process ends.
pub(super) fn with_network<R>(what: impl FnOnce() -> R) -> R {
    let _not_at_the_end = NETWORK.lock().unwrap_or_else(PoisonError::into_inner);
    what()
}

fn end_at_exit() {
    extern "C" fn at_exit() {
        // A forked child has no listener, which may have held the mutex at that moment. A beat that ends the
        // job ends the process, too.
        if !fork::is_child() && std::thread::current().name() != Some(NAME) {
            std::mem::forget(NETWORK.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
    static ONCE: Once = Once::new();
    fork::watch();
    // SAFETY: the function lives as long as the process. If there is no room for it, the listener may use the
    // network while the process ends.
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
