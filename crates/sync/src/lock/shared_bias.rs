//! A lock for words that some threads change by atomic instructions, and others many at a time by plain ones;
//! also between processes.
//!
//! While it is *open*, threads hold it together: each says so in a mark of its own, by a plain store, and
//! changes words by atomic instructions. While it is *closed*, one thread at a time holds it, and may change
//! words as it likes. Whoever has it alone opens or closes it, whichever suits what is done with the words.
//!
//! This is a lock for readers and writers that is biased towards its readers (Dice and Kogan, "BRAVO: Biased
//! Locking for Reader-Writer Locks", USENIX ATC 2019), with three differences. A mark costs no fence, since
//! the thread that closes makes the others pass one ([`barrier`]). Nobody waits for marks: until all threads
//! that were inside have left, the lock is *closing*, and its holders change words by atomic instructions,
//! too. And how long it stays closed is the caller's business.
//!
//! | `state` | meaning |
//! |---|---|
//! | `HELD` | a thread has it alone |
//! | `CLOSED` | no thread enters together with others any more |
//! | `CLOSING` | some that have entered so may still be inside |
//! | `WAITED` | a thread waits to have it alone; a hint, which may be lost |
//!
//! **Exclusion.** One that enters writes its mark and then reads the state; one that closes writes the state
//! and then reads the marks (Dekker's handshake; [`light_if_asymmetric`](barrier::light_if_asymmetric) and
//! [`heavy`](barrier::heavy)). So the first sees that the lock is closed, and turns back, or every later
//! holder sees the mark. Marks are taken away by Release stores, and read by Acquire loads: a holder that
//! finds none sees what was done under them. The state is given back by a Release exchange, and read by
//! Acquire loads: one that enters sees what holders did.
//!
//! Zeros are valid, and mean open and free, so both parts may lie in memory that processes share. Each
//! process has marks of its own, for its threads.

use super::super::memory::padded::CachePadded;
use super::super::waiting::event::Event;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{Scope, array_of, barrier};

const HELD: u32 = 1;
const CLOSED: u32 = 1 << 1;
const CLOSING: u32 = 1 << 2;
const WAITED: u32 = 1 << 3;

/// Threads of a process that have marks of their own.
const MARKS: usize = if cfg!(loom) { 1 } else { 64 };

/// The lock; see the [module](self). It works only where [`barrier::is_asymmetric`] is true in every process
/// that uses it.
#[derive(Debug, Default)]
#[repr(C)]
pub struct SharedBias {
    state: AtomicU32,
    event: Event,
}

/// Where the threads of one process say that they hold locks together with others. They may serve for many
/// locks, if everyone that closes one of them looks at the marks of all processes that enter it.
///
/// Threads are known by numbers: no two of the process have the same at one time. Those that have none, or
/// one beyond the last mark, are counted together.
#[derive(Debug)]
#[repr(C)]
pub struct SharedMarks {
    /// How many marks, from the first on, may have been written.
    used: CachePadded<AtomicU32>,
    /// How many threads without a mark are inside.
    others: CachePadded<AtomicU32>,
    marks: [ThreadMark; MARKS],
}

/// The mark of a thread.
#[derive(Debug)]
#[repr(C, align(64))]
struct ThreadMark {
    /// 1 while it holds a lock together with others.
    inside: AtomicU32,
    /// The thread's own, for what the caller likes.
    note: AtomicU32,
}

impl Default for SharedMarks {
    fn default() -> Self {
        Self {
            used: CachePadded::default(),
            others: CachePadded::default(),
            marks: array_of![ThreadMark { inside: AtomicU32::new(0), note: AtomicU32::new(0) }; MARKS],
        }
    }
}

impl SharedMarks {
    /// The thread of this number enters a lock together with others, if it is open.
    #[inline]
    pub fn enter(&self, number: Option<usize>, lock: &SharedBias) -> Option<Entered<'_>> {
        if let Some(number) = number
            && let Some(mark) = self.marks.get(number)
        {
            let wanted = number as u32 + 1;
            if self.used.load(Ordering::Relaxed) < wanted {
                // Before the first handshake of the mark, of which it is a part.
                self.used.fetch_max(wanted, Ordering::SeqCst);
            }
            let inside = Self::enter_by(mark, lock)?;
            return Some(Entered(Who::Marked { _inside: inside, note: &mark.note }));
        }
        self.others.fetch_add(1, Ordering::SeqCst);
        barrier::after_locked();
        let entered = Entered(Who::Other(&self.others));
        // If it is dropped, the thread is not counted any more.
        lock.is_open().then_some(entered)
    }

    /// Does the same with fewer steps, for numbers that have [entered](Self::enter) before. No other thread
    /// enters so.
    #[inline(always)]
    pub fn enter_by_own_mark(&self, number: usize, lock: &SharedBias) -> Option<Inside<'_>> {
        let is_used = number < self.used.load(Ordering::Relaxed) as usize;
        if is_used { Self::enter_by(self.marks.get(number)?, lock) } else { None }
    }

    #[inline(always)]
    fn enter_by<'a>(mark: &'a ThreadMark, lock: &SharedBias) -> Option<Inside<'a>> {
        mark.inside.store(1, Ordering::Relaxed);
        barrier::light_if_asymmetric();
        let entered = Inside(&mark.inside);
        // If it is dropped, the mark is taken away.
        lock.is_open().then_some(entered)
    }

    /// Returns false if every thread of the process was outside at some moment since the call.
    fn is_anybody_inside(&self) -> bool {
        let used = self.used.load(Ordering::Acquire) as usize;
        // Acquire: pairs with the Releases of those that leave.
        let is_inside = |mark: &ThreadMark| mark.inside.load(Ordering::Acquire) != 0;
        self.marks.iter().take(used).any(is_inside) || self.others.load(Ordering::Acquire) != 0
    }
}

/// A lock that the thread holds together with others, until this is dropped.
#[derive(Debug)]
pub struct Entered<'a>(Who<'a>);

#[derive(Debug)]
enum Who<'a> {
    Marked { _inside: Inside<'a>, note: &'a AtomicU32 },
    Other(&'a AtomicU32),
}

impl<'a> Entered<'a> {
    /// A word of the calling thread's, zero at first, for what the caller likes; none if it has no mark.
    #[inline]
    pub fn note(&self) -> Option<&'a AtomicU32> {
        match self.0 {
            Who::Marked { note, .. } => Some(note),
            Who::Other(_) => None,
        }
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Who::Other(count) = self.0 {
            // Release: pairs with the Acquire in `is_anybody_inside`.
            count.fetch_sub(1, Ordering::Release);
        }
    }
}

/// A lock that a thread with a mark holds together with others, until this is dropped.
#[derive(Debug)]
pub struct Inside<'a>(&'a AtomicU32);

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `is_anybody_inside`.
        self.0.store(0, Ordering::Release);
    }
}

impl SharedBias {
    /// Returns true if threads enter together; it may be over when the function returns.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        // Acquire: pairs with the Release of the holder that has opened it.
        self.state.load(Ordering::Acquire) & CLOSED == 0
    }

    /// Takes it alone, if nobody has it so. While it is open, others may still hold it together.
    #[inline(always)]
    pub fn try_alone(&self) -> Option<Alone<'_>> {
        // Sequentially consistent, for the sake of a thread that is about to sleep: see `Event`.
        let seen = self.state.load(Ordering::SeqCst);
        let way = seen & (CLOSED | CLOSING);
        let is_free = seen & HELD == 0;
        // Acquire: pairs with the Release of the last holder.
        let took = is_free
            && self.state.compare_exchange(seen, way | HELD, Ordering::Acquire, Ordering::Relaxed).is_ok();
        took.then(|| Alone { lock: self, way })
    }

    /// Where those sleep that wait to have it alone: [prepare](Event::prepare), try once more, then sleep or
    /// do not.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Says that a thread waits to have it alone. Its holder learns of it if it still has it.
    pub fn say_waiting(&self) {
        if self.state.load(Ordering::Relaxed) & (HELD | WAITED) == HELD {
            self.state.fetch_or(WAITED, Ordering::Relaxed);
        }
    }

    /// Returns true if a thread has it alone.
    pub fn is_held(&self) -> bool {
        self.state.load(Ordering::Relaxed) & HELD != 0
    }
}

/// A lock that the thread has alone, until this is dropped.
#[derive(Debug)]
pub struct Alone<'a> {
    lock: &'a SharedBias,
    /// `CLOSED` and `CLOSING`, as they will be.
    way: u32,
}

impl Alone<'_> {
    /// Returns true if nobody holds it together with others, nor enters so.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.way == CLOSED
    }

    /// Returns true if threads enter together.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.way == 0
    }

    /// Closes it if it is open: from now on nobody enters together with others. Costs some ten microseconds.
    #[cold]
    pub fn close(&mut self) {
        if self.is_open() {
            self.way = CLOSED | CLOSING;
            self.lock.state.fetch_or(self.way, Ordering::Relaxed);
            barrier::heavy(Scope::Machine);
        }
    }

    /// Looks whether those that had entered before it was closed have left, at the marks of all processes
    /// that use the lock. Returns true if they have.
    pub fn have_left(&mut self, marks: &mut dyn Iterator<Item = &SharedMarks>) -> bool {
        if self.way & CLOSING != 0 {
            for marks in marks {
                if marks.is_anybody_inside() {
                    return false;
                }
            }
            self.way = CLOSED;
        }
        self.is_closed()
    }

    /// Lets threads enter together again, when this is dropped.
    pub fn open(&mut self) {
        self.way = 0;
    }

    /// Gives it back. Returns true if a thread has waited meanwhile.
    #[inline(always)]
    pub fn leave(self) -> bool {
        std::mem::ManuallyDrop::new(self).release()
    }

    #[inline(always)]
    fn release(&self) -> bool {
        // Release: pairs with the Acquires of the next holder and of those that enter. An exchange, for the
        // sake of those that sleep.
        let before = self.lock.state.swap(self.way, Ordering::SeqCst);
        self.lock.event.wake(Scope::Machine);
        before & WAITED != 0
    }
}

impl Drop for Alone<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.release();
    }
}
