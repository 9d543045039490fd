//! One thread polls for the events of all, and the others sleep until their events are there.
//!
//! **What it gives.** Many threads wait, each for different events, and a thread has to poll for them (a
//! network, a queue). With a [`Leadership`] the first thread polls, as the *leader*, and later threads
//! sleep on their [`SyncCounter`]s. The leader's polls complete the events of all, and each sleeper is
//! woken once, by the event it waits for. When the leader's own events are there, it hands the role to
//! exactly one sleeper and leaves.
//!
//! **Source.** The wake-up scheme of Dang, Seo, Amer, Balaji: *Advanced thread synchronization for
//! multithreaded MPI implementations*, CCGrid 2017, pages 314-324, as sketched in Amer et al., ACM TOPC 5(3),
//! 2019, section 6.1, and in the slides of Amer et al., *Software combining to mitigate multithreaded MPI
//! contention*, ICS 2019. There the role is the critical section itself; here it is a flag, so the critical
//! section is free while the leader is between two polls.
//!
//! | a waiting thread is | in the list | its counter | left by |
//! |---|---|---|---|
//! | leader | no | not slept on | its events or its deadline: hands the role over |
//! | sleeper | yes | slept on | its events or its deadline: takes itself out |
//! | appointed | no: taken out by the former leader | nudged | gets up as the leader; if its events came too, hands over |
//!
//! **Invariants.**
//!
//! 1. The list and `led` change under one lock. At most one thread has the role: it takes the role when `led`
//!    is false, or receives it when the thread that has the role takes it out of the list.
//! 2. *The role is not lost.* A sleeper that wakes for whatever reason checks whether it is still in
//!    the list. If not, it was appointed, and leads or hands over, also if its events or its
//!    deadline came at the same time.
//! 3. *No thread is left without a leader*: `led` becomes false only when no thread in the list misses an
//!    event, and a thread enters the list only while `led` is true.
//! 4. A counter in the list is alive: its thread takes it out before it leaves. So a
//!    nudge happens under the lock.
//!
//! **Cost.** Leading: the lock twice, whatever the number of polls. Sleeping: the lock twice and the sleep;
//! the completer pays one wake-up. A hand-over: the lock and one wake-up. All are O(1), except that a
//! hand-over passes over sleepers whose events are there and which have not left yet.
//!
//! **Fairness.** The role goes to the thread that has slept longest.
//!
//! **Liveness when a thread does not run for 50 ms.** The leader, or an appointed thread: no thread polls for
//! that time, unless others call [`Progress::poll`] themselves. A sleeper: delays no other thread.
//!
//! **When to choose it.** For many threads that wait for long. A hand-over to a sleeper costs 30 µs on an
//! idle core, so with few threads and quick answers polling by all (spin, yield) is faster.

use crate::events::sync_counter::{SyncCounter, Wake};
use crate::lock::mutex::Mutex;
use crate::lock::raw_lock::Lock;
use crate::memory::padded::CachePadded;
use crate::waiting::wait::{Next, WaitPolicy, Waiter};
use heddle_platform::platform::MemoryCell;
use heddle_platform::{Native, Platform};
use std::fmt;
use std::ptr;

/// The actions of a leader for all waiting threads.
pub trait Progress {
    /// Polls once for events and signals the counters they belong to. Returns whether there was any. Only the
    /// leader calls it, but the role moves from thread to thread.
    fn poll(&self) -> bool;

    /// Lets the leader sleep, because no event came for long, until one may have come, or until
    /// [`Platform::now_ns`] has reached `deadline_ns`. It may return at any time. It must return when another
    /// thread signals the leader's counter.
    fn idle(&self, deadline_ns: Option<u64>);

    /// Runs `sleep`, in which a thread that does not lead waits for its events.
    fn follow(&self, sleep: impl FnOnce() -> Wake) -> Wake {
        sleep()
    }
}

/// The leader and the sleepers; see the [module](self).
pub struct Leadership<P: Platform = Native> {
    list: CachePadded<Lock<Mutex<P>, List<P>>>,
    policy: WaitPolicy,
}

/// The sleepers, the one that has slept longest first.
struct List<P: Platform> {
    led: bool,
    first: *const Sleeper<P>,
    last: *const Sleeper<P>,
}

// SAFETY: the list owns nothing; only the holder of the lock touches the seats in it (invariant 4).
unsafe impl<P: Platform> Send for List<P> {}

/// A sleeper, on the stack of its thread.
struct Sleeper<P: Platform> {
    counter: *const SyncCounter<P>,
    /// The list's lock guards it.
    links: P::Cell<Links<P>>,
}

struct Links<P: Platform> {
    linked: bool,
    before: *const Sleeper<P>,
    after: *const Sleeper<P>,
}

impl<P: Platform> Sleeper<P> {
    /// # Safety
    ///
    /// The list's lock is held, and the seat is alive. The reference ends before the next call for the same
    /// seat.
    #[allow(clippy::mut_from_ref)]
    unsafe fn with_links<R>(seat: *const Self, f: impl FnOnce(&mut Links<P>) -> R) -> R {
        // SAFETY: alive by the caller's promise.
        let seat = unsafe { &*seat };
        // SAFETY: the lock is held, by the caller's promise, and guards the links.
        seat.links.with_mut(|links| f(unsafe { &mut *links }))
    }
}

impl<P: Platform> List<P> {
    /// # Safety
    ///
    /// The seat stays where it is, and alive, until it is taken out.
    unsafe fn push(&mut self, seat: *const Sleeper<P>) {
        let last = self.last;
        let links = |links: &mut Links<P>| *links = Links { linked: true, before: last, after: ptr::null() };
        // SAFETY: the list is borrowed exclusively, so the lock is held; alive by the caller's promise.
        unsafe { Sleeper::with_links(seat, links) };
        if last.is_null() {
            self.first = seat;
        } else {
            // SAFETY: the lock is held, and seats in the list are alive (invariant 4).
            unsafe { Sleeper::with_links(last, |links| links.after = seat) };
        }
        self.last = seat;
    }

    /// Takes the seat out. Returns false if it is not in the list.
    ///
    /// # Safety
    ///
    /// The seat is alive.
    unsafe fn remove(&mut self, seat: *const Sleeper<P>) -> bool {
        let take =
            |links: &mut Links<P>| (std::mem::replace(&mut links.linked, false), links.before, links.after);
        // SAFETY: the lock is held; alive by the caller's promise.
        let (linked, before, after) = unsafe { Sleeper::with_links(seat, take) };
        if !linked {
            return false;
        }
        if before.is_null() {
            self.first = after;
        } else {
            // SAFETY: neighbours are in the list, so alive (invariant 4).
            unsafe { Sleeper::with_links(before, |links| links.after = after) };
        }
        if after.is_null() {
            self.last = before;
        } else {
            // SAFETY: neighbours are in the list, so alive (invariant 4).
            unsafe { Sleeper::with_links(after, |links| links.before = before) };
        }
        true
    }

    /// Gives the role to the first sleeper that misses an event; if there is none, no thread has it then.
    fn appoint(&mut self) {
        let mut seat = self.first;
        while !seat.is_null() {
            // SAFETY: in the list, so alive (invariant 4).
            let counter = unsafe { (*seat).counter };
            // SAFETY: alive like its seat.
            let counter = unsafe { &*counter };
            if counter.missing() != 0 {
                // SAFETY: in the list, so alive.
                unsafe { self.remove(seat) };
                counter.nudge();
                return;
            }
            // Its events are there, so it will leave in a moment.
            // SAFETY: in the list, so alive.
            seat = unsafe { Sleeper::with_links(seat, |links| links.after) };
        }
        self.led = false;
    }
}

/// The role. Dropping it hands it over, also when a poll panics.
struct Role<'a, P: Platform>(&'a Leadership<P>);

impl<P: Platform> Drop for Role<'_, P> {
    fn drop(&mut self) {
        self.0.list.acquire().appoint();
    }
}

impl<P: Platform> Default for Leadership<P> {
    fn default() -> Self {
        Self::new(WaitPolicy::DEFAULT)
    }
}

impl<P: Platform> fmt::Debug for Leadership<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl<P: Platform> Leadership<P> {
    /// A leadership without a leader. The leader polls, and a sleeper polls before it sleeps, by `policy`.
    #[must_use]
    pub fn new(policy: WaitPolicy) -> Self {
        let list = List { led: false, first: ptr::null(), last: ptr::null() };
        Self { list: CachePadded::new(Lock::new(Mutex::new(policy), list)), policy }
    }

    /// Waits until all events of `counter` are there, or until [`Platform::now_ns`] has reached
    /// `deadline_ns`; returns false in the latter case. The caller leads or sleeps meanwhile. Only the
    /// caller waits on this counter.
    pub fn wait(&self, counter: &SyncCounter<P>, progress: &impl Progress, deadline_ns: Option<u64>) -> bool {
        while !counter.is_done() {
            let role = match self.sit_or_lead(counter, progress, deadline_ns) {
                Ok(role) => role,
                Err(Wake::Done) => return true,
                Err(Wake::TimedOut) => return counter.is_done(),
                // A nudge from an earlier wait.
                Err(Wake::Nudged) => continue,
            };
            return self.lead(role, counter, progress, deadline_ns);
        }
        true
    }

    /// Takes the role if no thread has it; otherwise sleeps. Returns the role if the caller has it.
    fn sit_or_lead(
        &self,
        counter: &SyncCounter<P>,
        progress: &impl Progress,
        deadline_ns: Option<u64>,
    ) -> Result<Role<'_, P>, Wake> {
        let links = Links { linked: false, before: ptr::null(), after: ptr::null() };
        let seat = Sleeper { counter: ptr::from_ref(counter), links: MemoryCell::new(links) };
        let mut list = self.list.acquire();
        if !std::mem::replace(&mut list.led, true) {
            return Ok(Role(self));
        }
        // SAFETY: the seat does not move and is taken out below; waiting on a counter does not unwind.
        unsafe { list.push(&raw const seat) };
        drop(list);
        let woken = progress.follow(|| counter.wait_until(&self.policy, deadline_ns));
        // SAFETY: the seat is alive.
        let was_asleep = unsafe { self.list.acquire().remove(&raw const seat) };
        if was_asleep {
            Err(woken)
        } else {
            // Appointed (invariant 2).
            Ok(Role(self))
        }
    }

    /// Polls until the events are there or the time ran out; then hands the role on.
    fn lead(
        &self,
        role: Role<'_, P>,
        counter: &SyncCounter<P>,
        progress: &impl Progress,
        deadline_ns: Option<u64>,
    ) -> bool {
        let mut waiter = Waiter::<P>::new(&self.policy, 1);
        while !counter.is_done() && deadline_ns.is_none_or(|deadline_ns| P::now_ns() < deadline_ns) {
            if progress.poll() {
                waiter.reset();
            } else if waiter.pause() == Next::Park {
                progress.idle(deadline_ns);
            }
        }
        drop(role);
        counter.is_done()
    }
}
