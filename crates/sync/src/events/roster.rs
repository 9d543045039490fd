//! Several threads that serve: the idle ones sleep, and one of them sleeps where anybody can wake it.
//!
//! **What it gives.** Work comes in two ways. Some is handed to one thread of the roster, by others of this
//! process, who [ring](Roster::ring) for that thread. Some comes through the door: whoever brings it, another
//! process perhaps, does not know the threads and rings the door's [`Doorbell`]. A thread with nothing to do goes
//! [to sleep](Roster::sleep), and
//!
//! - as long as another thread is up, it goes *away*, to a doorbell of its own, and the others look after what it
//!   has left;
//! - the last one sleeps *at the door*.
//!
//! So work of either kind is found at once or wakes a thread, while the door is rung only when all sleep:
//! whoever brings work through it pays a load while anybody is up, however many threads there are that sleep.
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
//! 1. *Not all are away.* Who is up, at the door and away is written under a lock, and nobody goes away as
//!    the last. So work from the door is always somebody's: of those who are up, who look everywhere now and
//!    then, or of the one at the door.
//! 2. *Nobody sleeps over work from the door.* Who sleeps there has announced itself to the door's doorbell and
//!    then looked everywhere, for certain. Work that this look missed is rung for after it was announced
//!    ([`Doorbell`], invariant 2).
//! 3. *Nobody sleeps over what is handed to it.* A thread says where it sleeps before it announces itself to
//!    that doorbell, and looks after that. If the look missed the work, whoever handed it over reads after its
//!    store both marks of the sleeper ([`Doorbell`]'s argument, with the mark at the door beside `sleepers`), and
//!    rings.
//!
//! **Cost.** A ring is two loads of one line while the thread is up. **Liveness.** A thread that is stopped
//! while it goes to sleep delays nobody but those whose work it holds.

use crate::locks::mutex::Mutex;
use crate::locks::raw_lock::Lock;
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
    /// Looks for work.
    Up,
    /// Sleeps until it is rung for, or the door is.
    AtDoor,
    /// Sleeps until it is rung for.
    Away,
}

/// What a thread that is about to sleep has to look at once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// At what is handed to it.
    Own,
    /// At everything that any thread of the roster serves.
    Everything,
}

/// Why a sleep is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Up {
    /// The look found something, or somebody rang for the thread.
    ForWork,
    /// The door was rung, or the time was up: perhaps for nothing, or for another thread.
    ToLook,
}

#[derive(Debug, Default)]
struct Place<P: Platform> {
    /// Where the thread sleeps when it is away.
    doorbell: Doorbell<P>,
    /// 1 while it sleeps at the door.
    at_door: P::AtomicU32,
}

/// See the [module](self). Threads have numbers, from 0.
#[derive(Debug)]
pub struct Roster<P: Platform = Native> {
    posts: Lock<Mutex<P>, Box<[Post]>>,
    places: Box<[CachePadded<Place<P>>]>,
}

impl<P: Platform> Roster<P> {
    /// A roster of so many threads, all of which are up. They wait for each other, when they write down what
    /// they do, by `policy`.
    #[must_use]
    pub fn new(threads: usize, policy: WaitPolicy) -> Self {
        let posts = vec![Post::Up; threads].into_boxed_slice();
        Self {
            posts: Lock::new(Mutex::new(policy), posts),
            places: (0..threads).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Something was handed to that thread before this call: if it sleeps, it gets up. `door` is the doorbell of
    /// its sleeps.
    #[inline]
    pub fn ring(&self, thread: usize, door: &Doorbell<P>) {
        let place = &self.places[thread];
        place.doorbell.ring(Scope::Process);
        // Behind the light barrier of this ring.
        if place.at_door.load(Ordering::Relaxed) != 0 {
            door.ring(Scope::Machine);
        }
    }

    /// That thread, the caller, has nothing to do: sleeps until there is something, or for at most `longest`
    /// at the door. Before that `look` is called, to look once more; it waits where another thread is at
    /// something, and says whether there was anything.
    pub fn sleep(
        &self,
        thread: usize,
        door: &Doorbell<P>,
        longest: Option<Duration>,
        look: impl FnOnce(Look) -> bool,
    ) -> Up {
        let up = match self.retire(thread) {
            Post::AtDoor => self.sleep_at_door(thread, door, longest, look),
            _ => self.sleep_away(thread, look),
        };
        self.posts.acquire()[thread] = Post::Up;
        up
    }

    /// Where the thread is to sleep.
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
        look: impl FnOnce(Look) -> bool,
    ) -> Up {
        let at_door = &self.places[thread].at_door;
        at_door.store(1, Ordering::Relaxed);
        // Makes both marks visible before the look (invariant 3).
        let mut ticket = door.prepare(Scope::Machine);
        let found = look(Look::Everything);
        if !found {
            ticket.park(longest);
        }
        at_door.store(0, Ordering::Relaxed);
        if found { Up::ForWork } else { Up::ToLook }
    }

    fn sleep_away(&self, thread: usize, look: impl FnOnce(Look) -> bool) -> Up {
        let mut ticket = self.places[thread].doorbell.prepare(Scope::Process);
        if !look(Look::Own) {
            ticket.park(None);
        }
        Up::ForWork
    }
}
