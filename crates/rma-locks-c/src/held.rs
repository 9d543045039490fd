//! A lock as the threads of this process use it.
//!
//! To the other processes this one is a single participant, which has one node in each queue. So its threads
//! take turns:
//!
//! | a thread that | has the turn |
//! |---|---|
//! | waits to write, or writes | all the time: no other thread of the process uses the node |
//! | waits to read under `queue-rw` | until it reads |
//! | waits to read under `rma-rw`, `rw` or `adaptive` | never: readers are counted, not queued |
//! | reads | no |
//!
//! 1. `holder` is the identity of the thread that writes, or 0. A thread finds its identity there only if it
//!    writes: it stores it after it has acquired the lock, and clears it before it releases.
//! 2. `readers` is the number of this process's threads that read.

use crate::error::{Failure, Status};
use crate::kind::Kind;
use crate::mpi::Group;
use crate::options::{Settings, agree};
use crate::pause::Pause;
use crate::remote::RemoteLock;
use crate::words::Words;
use heddle_c_interface::Patience;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::{clock, thread};
use heddle_sync::{Mutex, RawLock, TimedLock};
use std::fmt;

/// See the [module](self).
pub struct Held {
    kind: Kind,
    remote: RemoteLock,
    words: Words,
    turn: Mutex,
    holder: AtomicU64,
    readers: AtomicU64,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Held {
    /// A free lock. All processes of the communicator call it, also those whose settings are wrong.
    pub(crate) fn new(group: &Group, settings: Result<Settings, Failure>) -> Result<Held, Failure> {
        let settings = agree(group, settings)?;
        let elements = settings.elements_of_all(group)?;
        let (remote, count) = RemoteLock::new(&settings, elements);
        Ok(Held {
            kind: settings.kind,
            remote,
            words: Words::new(group, count)?,
            turn: Mutex::default(),
            holder: AtomicU64::new(0),
            readers: AtomicU64::new(0),
        })
    }

    /// Frees the words. All processes of the communicator call it.
    pub(crate) fn free(self) -> Result<(), Failure> {
        self.words.free()
    }

    /// Returns true if a thread of this process has the lock.
    pub(crate) fn is_held(&self) -> bool {
        self.holder.load(Ordering::Relaxed) != 0 || self.readers.load(Ordering::Relaxed) != 0
    }

    /// Acquires the lock for writing.
    pub(crate) fn write(&self, patience: Patience) -> Result<Status, Failure> {
        if let Some(status) = self.refusal(patience)? {
            return Ok(status);
        }
        match patience {
            Patience::Endless => {
                self.turn.acquire();
                self.remote.acquire(&self.words, false);
            }
            Patience::None | Patience::Until(_) => {
                let turn = match patience {
                    Patience::Until(deadline_ns) => self.turn.acquire_until(deadline_ns),
                    _ => self.turn.try_acquire(),
                };
                if turn.is_none() {
                    return Ok(patience.given_up());
                }
                if !self.attempts(false, patience) {
                    self.end_turn();
                    return Ok(patience.given_up());
                }
            }
        }
        self.holder.store(thread::current_id(), Ordering::Relaxed);
        Ok(Status::Ok)
    }

    /// Acquires the lock for reading.
    pub(crate) fn read(&self, patience: Patience) -> Result<Status, Failure> {
        if !self.kind.has_readers() {
            return self.write(patience);
        }
        if let Some(status) = self.refusal(patience)? {
            return Ok(status);
        }
        match patience {
            Patience::Endless if self.kind.reads_by_node() => {
                self.turn.acquire();
                self.remote.acquire(&self.words, true);
                self.end_turn();
            }
            Patience::Endless => self.remote.acquire(&self.words, true),
            Patience::None | Patience::Until(_) => {
                if !self.attempts(true, patience) {
                    return Ok(patience.given_up());
                }
            }
        }
        self.readers.fetch_add(1, Ordering::Relaxed);
        Ok(Status::Ok)
    }

    /// Ends the calling thread's writing.
    pub(crate) fn end_writing(&self) -> Result<(), Failure> {
        if self.holder.load(Ordering::Relaxed) != thread::current_id() {
            return Err(not_holder("the calling thread does not have the lock for writing"));
        }
        self.holder.store(0, Ordering::Relaxed);
        self.remote.release(&self.words, false);
        self.end_turn();
        Ok(())
    }

    /// Ends the reading of a thread of this process.
    pub(crate) fn end_reading(&self) -> Result<(), Failure> {
        if !self.kind.has_readers() {
            return self.end_writing();
        }
        let less = |readers: u64| readers.checked_sub(1);
        let order = Ordering::Relaxed;
        if self.readers.fetch_update(order, order, less).is_err() {
            return Err(not_holder("no thread of this process has the lock for reading"));
        }
        self.remote.release(&self.words, true);
        Ok(())
    }

    /// The answer to a thread that writes and wants the lock again, or the failure of a kind that cannot wait
    /// for a time.
    fn refusal(&self, patience: Patience) -> Result<Option<Status>, Failure> {
        if let Patience::Until(_) = patience
            && !self.kind.is_timed()
        {
            let name = self.kind.name();
            let words = format!("{name} cannot wait for a time; spin, rw and queue-rw can");
            return Err(Failure::new(Status::NotSupported, words));
        }
        if self.holder.load(Ordering::Relaxed) != thread::current_id() {
            return Ok(None);
        }
        match patience {
            Patience::None => Ok(Some(Status::Busy)),
            _ => Err(Failure::new(Status::WouldDeadlock, "the calling thread has the lock for writing")),
        }
    }

    /// Tries once, or until the time is over.
    fn attempts(&self, shared: bool, patience: Patience) -> bool {
        let mut pause = Pause::new();
        loop {
            if self.remote.try_acquire(&self.words, shared) {
                return true;
            }
            match patience {
                Patience::Until(deadline_ns) if clock::now_ns() < deadline_ns => pause.pass(),
                _ => return false,
            }
        }
    }

    fn end_turn(&self) {
        // SAFETY: the calling thread has the turn: it acquired it in write() or read() and has not ended it
        // (for end_writing: invariant 1).
        unsafe { self.turn.release(()) };
    }
}

fn not_holder(words: &str) -> Failure {
    Failure::new(Status::NotHolder, words)
}
