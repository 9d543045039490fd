//! The port for one-sided operations between machines: a thread of the library reads it at the target, so an
//! operation does not wait for the target's program.
//!
//! It is opened when the first window on several machines is made, and the processes of the window tell each
//! other its address. Its messages go past the VNIs and their matching, to a [`Handler`].
//!
//! **Reading.** One thread at a time reads the port: a thread of the program that waits for an answer, or
//! else the library's. The library's waits for the descriptor while no thread of the program has polled the
//! port for a [`PAUSE`], and meanwhile only checks at intervals whether that is still so. A thread of the
//! program that goes to sleep calls it before. After a message it polls on until [`SOON`] is over.

use super::at_exit::{TARGET, end_at_exit};
use super::buffers::LONGEST_PAYLOAD;
use super::heartbeat;
use super::listener::{Beats, PATIENCE_WITH_COPIES, Rhythm, Waits};
use super::port::{Exposed, Lasts, Opened, Outgoing, Port, ProcessInfo, RemoteCopy};
use super::signal::Signal;
use crate::error::TransportError;
use crate::ring::Incoming;
use crate::slot::{EXTRA_BYTES, Header};
use crate::throttle::Traffic;
use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use heddle_platform::{Scope, background, futex};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// So long after the last poll of the program's threads the library's thread reads the port at the latest.
const PAUSE: Duration = Duration::from_micros(200);

/// So long after a message the library's thread polls on before it waits, if it has a core: the next message
/// of a dialogue comes sooner, and to be woken for it takes as long as a trip.
const SOON: Duration = Duration::from_micros(50);

/// The flag by which the port throttles its senders: it reads whatever comes, and has nothing to store.
static NEVER: AtomicU32 = AtomicU32::new(0);

/// The most bytes of a message's payload.
pub const LONGEST_REQUEST: usize = LONGEST_PAYLOAD;

/// A message of one-sided operations.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Its header.
    pub header: Header,
    /// Three words.
    pub words: [u64; 3],
    /// The bytes of its payload.
    pub len: usize,
}

/// Handles the messages that arrive. One thread at a time calls it.
pub trait Handler: Send + Sync {
    /// Handles a message of a rank of the job.
    fn handle(&self, sender: usize, message: &Incoming);

    /// The messages that had arrived are handled.
    fn are_handled(&self);
}

/// The result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polled {
    /// Messages were handled.
    Something,
    /// There was none.
    Nothing,
    /// Another thread polls.
    Elsewhere,
}

/// The port of a process for one-sided operations.
pub struct OneSided {
    port: Arc<Port>,
    address: String,
    timeout: Option<Duration>,
    handler: OnceLock<Box<dyn Handler>>,
    started: OnceLock<bool>,
    /// Held by the thread that reads.
    reader: Mutex<()>,
    /// The polls of the program's threads.
    polls: AtomicU64,
    /// 1 if the library's thread is to read now.
    called: AtomicU32,
    /// True if the library's thread waits for the descriptor.
    on_duty: AtomicBool,
    /// True if peers may copy from and to memory of this process, of which a poll does not tell.
    exposes: AtomicBool,
}

impl fmt::Debug for OneSided {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OneSided").field("address", &self.address).finish_non_exhaustive()
    }
}

impl OneSided {
    pub(super) fn new(
        process: ProcessInfo,
        opened: Opened,
        timeout: Option<Duration>,
    ) -> Result<OneSided, TransportError> {
        let (alike, signal) = (process.alike, Arc::new(Signal::new()));
        // Packets may stay open: whoever leaves one sends it before it waits.
        signal.listener_is_there();
        let address = opened.address(alike)?.to_string();
        // SAFETY: the flag is static.
        let port = unsafe { Port::new(alike.vnis, process, &raw const NEVER, signal, opened) };
        Ok(OneSided {
            port: Arc::new(port.map_err(|source| TransportError::Reserve { source })?),
            address,
            timeout,
            handler: OnceLock::new(),
            started: OnceLock::new(),
            reader: Mutex::new(()),
            polls: AtomicU64::new(0),
            called: AtomicU32::new(0),
            on_duty: AtomicBool::new(false),
            exposes: AtomicBool::new(false),
        })
    }

    pub(super) fn port(&self) -> &Port {
        &self.port
    }

    /// The words by which other processes find the port.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Says where the port of a rank is found.
    pub fn know(&self, rank: usize, address: &str) {
        self.port.know(rank as u32, address);
    }

    /// Starts the thread that reads, for a handler; only the first call counts. It polls on for a while after
    /// a message if it `has_core`. Returns false if the system has no thread for it.
    pub fn start(self: &Arc<Self>, has_core: bool, handler: impl FnOnce() -> Box<dyn Handler>) -> bool {
        *self.started.get_or_init(|| {
            self.handler.get_or_init(handler);
            end_at_exit();
            let this = Arc::clone(self);
            // It lives as long as the process.
            background::start(TARGET.name, None, move || this.read_for_ever(has_core)).is_ok()
        })
    }

    /// Sends a message, whose payload `fill` writes. It may stay in an open packet until
    /// [`send_open`](Self::send_open), or the next poll. Returns false and does nothing if there is no room.
    pub fn send(&self, peer: usize, request: &Request, fill: impl FnOnce(*mut u8)) -> bool {
        let mut extra = [0; EXTRA_BYTES];
        for (bytes, word) in extra.as_chunks_mut().0.iter_mut().zip(request.words) {
            *bytes = word.to_ne_bytes();
        }
        let (header, len) = (&request.header, request.len);
        let message = Outgoing { traffic: Traffic::Protocol, header, len, extra: Some(&extra) };
        self.port.send(peer as u32, message, fill)
    }

    /// Lets peers read and write memory, past the thread that reads the port. Returns `None` if the provider
    /// has no remote memory, or refuses.
    ///
    /// # Safety
    /// The `len` bytes at `start` live longer than the result.
    pub unsafe fn expose(&self, start: *mut u8, len: usize) -> Option<Exposed> {
        // SAFETY: by the caller's promise.
        let exposed = unsafe { self.port.expose(start, len, Lasts::Long) }?;
        self.exposes.store(true, Ordering::Relaxed);
        Some(exposed)
    }

    /// Copies data from the memory of a peer, which has exposed it, or there. When all is copied, a message
    /// from this process itself arrives. Returns false and does nothing if the data has to go in messages.
    ///
    /// # Safety
    /// The memory of this process is valid, and nobody else uses it until the message arrives.
    pub unsafe fn copy(&self, copy: RemoteCopy) -> bool {
        // A window goes on with all its processes or not at all.
        // SAFETY: by the caller's promise.
        unsafe { self.port.copy(copy, false) }
    }

    /// Sends the packets that were left open.
    pub fn send_open(&self) {
        self.port.send_open();
    }

    /// Handles what has arrived, for a thread of the program that waits.
    pub fn poll(&self) -> Polled {
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.read()
    }

    /// Lets the library's thread read, since the calling thread is going to sleep.
    pub fn call(&self) {
        if !self.on_duty.load(Ordering::SeqCst) && self.called.swap(1, Ordering::SeqCst) == 0 {
            futex::wake(&self.called, 1, Scope::Process);
        }
    }

    fn read(&self) -> Polled {
        let _reading = match self.reader.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Polled::Elsewhere,
        };
        let Some(handler) = self.handler.get() else { return Polled::Nothing };
        let taken = self.port.read(|sender, message| handler.handle(sender, message));
        handler.are_handled();
        self.port.send_open();
        if taken == 0 { Polled::Nothing } else { Polled::Something }
    }

    /// Reads until nothing has come for that time, a thread of the program polls, or a beat is due. Returns
    /// true if there was a message.
    pub(super) fn read_while_some_comes(&self, patience: Duration, beat: Option<Instant>) -> bool {
        let polls = self.polls.load(Ordering::Relaxed);
        let mut was_message = false;
        // The provider may be copying from or to this process's memory.
        let mut last = self.exposes.load(Ordering::Relaxed).then(Instant::now);
        loop {
            let has_come = self.read() == Polled::Something;
            let now = Instant::now();
            if has_come {
                (last, was_message) = (Some(now), true);
            }
            let may_come = has_come || last.is_some_and(|last| now - last < patience);
            let is_due = beat.is_some_and(|due| now >= due);
            if !may_come || is_due || self.polls.load(Ordering::Relaxed) != polls {
                return was_message;
            }
            if !has_come {
                thread::yield_now();
            }
        }
    }

    /// The library's thread.
    fn read_for_ever(self: Arc<Self>, has_core: bool) {
        let mut rhythm = self.timeout.map(|timeout| {
            let this = Arc::clone(&self);
            let beat = Box::new(move || this.port.beat(timeout));
            Rhythm::new(&TARGET, Beats { interval: heartbeat::interval(timeout), beat })
        });
        let descriptor = self.port.wait_descriptor();
        let mut waits = Waits::new(descriptor.as_ref().map(std::slice::from_ref));
        let mut seen = u64::MAX;
        loop {
            let polls = self.polls.load(Ordering::Relaxed);
            if std::mem::replace(&mut seen, polls) != polls {
                futex::wait(&self.called, 0, Some(PAUSE), Scope::Process);
            } else {
                self.on_duty.store(true, Ordering::SeqCst);
                if self.exposes.load(Ordering::Relaxed) {
                    waits.have_patience(PATIENCE_WITH_COPIES);
                }
                if self.port.may_wait() {
                    let left = rhythm.as_ref().map(Rhythm::left);
                    waits.wait(left.into_iter().chain(self.port.longest_wait()).min());
                }
                self.on_duty.store(false, Ordering::SeqCst);
            }
            self.called.store(0, Ordering::SeqCst);
            TARGET.with_network(|| {
                let patience = if has_core { SOON } else { Duration::ZERO };
                if self.read_while_some_comes(patience, rhythm.as_ref().map(Rhythm::due)) {
                    waits.are_not_in_vain();
                }
            });
            if let Some(rhythm) = &mut rhythm {
                rhythm.beat_if_due();
            }
        }
    }
}
