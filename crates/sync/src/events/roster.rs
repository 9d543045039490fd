//! Several serving threads: idle ones sleep, and one of them sleeps at a doorbell that any thread can ring.
//!
//! **What it gives.** Work comes from two sources. Some is handed to one thread of the roster by other
//! threads of this process, which [ring](Roster::ring) for that thread. Some comes through the door: its
//! sender, perhaps another process, does not know the threads and rings the door's [`Doorbell`]. A thread
//! with nothing to do goes [to sleep](Roster::sleep):
//!
//! - while another thread is up, it goes *away*, to a separate doorbell, and the others take care
//!   of the work at the door;
//! - the last one sleeps *at the door*.
//!
//! So work of either kind is found at once or wakes a thread, while the door is rung only when all sleep: a
//! sender pays a load while any thread is up, however many threads sleep.
//!
//! ```text
//!            nothing to do, others are up                     rung for
//!      up ──────────────────────────────────▶ away ──────────────────────────────▶ up
//!      up ──────────────────────────────────▶ at the door ───────────────────────▶ up
//!            nothing to do, nobody else is up                 rung for, or the door was
//! ```
//!
//! **Invariants.**
//!
//! 1. *Not all are away.* A lock guards which threads are up, at the door and away, and the last thread that
//!    is up never goes away. So some thread takes care of work from the door: the threads that are up, which
//!    check everything now and then, or the one at the door.
//! 2. *No thread sleeps over work from the door.* The thread that sleeps there has announced itself to the
//!    door's doorbell and then checked everything. If that check missed some work, the ring for it comes
//!    after the announcement ([`Doorbell`], invariant 2).
//! 3. *No thread sleeps over work that is handed to it.* A thread publishes where it sleeps before it
//!    announces itself to that doorbell, and checks after that. If the check missed the work, the thread that
//!    handed it over reads, after its store, both marks of the sleeper ([`Doorbell`]'s argument, with the
//!    mark at the door beside `sleepers`), and rings.
//!
//! **Cost.** A ring is two loads of one line while the thread is up. **Liveness.** A thread that is stopped
//! while it goes to sleep delays only the work that was handed to it.

use crate::lock::mutex::Mutex;
use crate::lock::raw_lock::Lock;
use crate::memory::padded::CachePadded;
use crate::waiting::doorbell::Doorbell;
use crate::waiting::wait::WaitPolicy;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

/// What a thread of the roster does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Post {
    /// Checks for work.
    Up,
    /// Sleeps until its doorbell or the door is rung.
    AtDoor,
    /// Sleeps until its doorbell is rung.
    Away,
}

/// The work for which a thread that is about to sleep has to check once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The work that is handed to this thread.
    ThisThread,
    /// The work of all threads of the roster.
    Everything,
}

/// Why a sleep is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Up {
    /// The check found something, or another thread rang for the thread.
    ForWork,
    /// The door was rung, or the time was up: perhaps for nothing, or for another thread.
    ToCheck,
}

/// A thread's marks: the words that a ring for it reads.
#[derive(Debug, Default)]
struct Seat<P: Platform> {
    /// The doorbell of the thread while it is away.
    doorbell: Doorbell<P>,
    /// 1 while it sleeps at the door.
    at_door: P::AtomicU32,
}

/// See the [module](self). Threads have numbers, from 0.
#[derive(Debug)]
pub struct Roster<P: Platform = Native> {
    posts: Lock<Mutex<P>, Box<[Post]>>,
    seats: Box<[CachePadded<Seat<P>>]>,
}

impl<P: Platform> Roster<P> {
    /// A roster of `threads` threads, all of which are up. The threads wait for the
    /// roster's lock by `policy`.
    #[must_use]
    pub fn new(threads: usize, policy: WaitPolicy) -> Self {
        let posts = vec![Post::Up; threads].into_boxed_slice();
        Self {
            posts: Lock::new(Mutex::new(policy), posts),
            seats: (0..threads).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Wakes that thread if it sleeps, because work was handed to it before this call. `door` is the
    /// doorbell at which it may sleep.
    #[inline]
    pub fn ring(&self, thread: usize, door: &Doorbell<P>) {
        let seat = &self.seats[thread];
        seat.doorbell.ring(Scope::Process);
        // This load is ordered by the light barrier of the ring above.
        if seat.at_door.load(Ordering::Relaxed) != 0 {
            door.ring(Scope::Machine);
        }
    }

    /// Sleeps until there is work, or for at most `longest` at the door. The caller is that thread, and has
    /// nothing to do. Before it sleeps it calls `check`, which checks once more and returns whether there was
    /// work; the check waits if another thread is at some of the work.
    pub fn sleep(
        &self,
        thread: usize,
        door: &Doorbell<P>,
        longest: Option<Duration>,
        check: impl FnOnce(Check) -> bool,
    ) -> Up {
        let up = match self.retire(thread) {
            Post::AtDoor => self.sleep_at_door(thread, door, longest, check),
            _ => self.sleep_away(thread, check),
        };
        self.posts.acquire()[thread] = Post::Up;
        up
    }

    /// Decides where the thread sleeps.
    fn retire(&self, thread: usize) -> Post {
        let mut posts = self.posts.acquire();
        let others = (0..posts.len()).filter(|&other| other != thread);
        let all_away = others.into_iter().all(|other| posts[other] == Post::Away);
        posts[thread] = if all_away { Post::AtDoor } else { Post::Away };
        posts[thread]
    }

    fn sleep_at_door(
        &self,
        thread: usize,
        door: &Doorbell<P>,
        longest: Option<Duration>,
        check: impl FnOnce(Check) -> bool,
    ) -> Up {
        let at_door = &self.seats[thread].at_door;
        at_door.store(1, Ordering::Relaxed);
        // Makes both marks visible before the check (invariant 3).
        let ticket = door.prepare(Scope::Machine);
        let found = check(Check::Everything);
        if !found {
            ticket.park(longest);
        }
        at_door.store(0, Ordering::Relaxed);
        if found { Up::ForWork } else { Up::ToCheck }
    }

    fn sleep_away(&self, thread: usize, check: impl FnOnce(Check) -> bool) -> Up {
        let ticket = self.seats[thread].doorbell.prepare(Scope::Process);
        if !check(Check::ThisThread) {
            ticket.park(None);
        }
        Up::ForWork
    }
}
