//! LockQ: a lock, and beside it a queue of operations for whoever holds it.
//!
//! **What it gives.** A caller tries the lock. If it is free, the caller runs its operation itself, at the
//! cost of the lock and three loads. If it is not, the caller posts the operation for the holder to run:
//! and leaves ([`post`](super::Combining::post)), or waits for the result ([`run`](super::Combining::run)).
//! A holder runs what others left posted before its own operation, so order is kept, and looks once more
//! after its release, so nothing is forgotten. Those who wait let the holder come again, as with a mutex,
//! and call when they have waited for long: then it runs everything that is posted and stands back. The
//! lock may be of any kind.
//!
//! **Source.** "LockQ" in A. Amer et al., *Software combining to mitigate multithreaded MPI contention*,
//! ICS 2019. The slides leave the race between a post and the holder's last look to MPI's completion calls.
//! Here it is closed, since an operation that nobody completes must leave as well; and the lock is handed
//! on where they leave it to chance. There every holder runs what is posted; here, while all posters wait
//! for their results, only one who is called or has waited itself: operations that are handed over one by
//! one are some ten times as slow as those of a holder that comes again.
//!
//! ```text
//!   run --try--> free:  called, or posts left? drain --empty--> own operation --> leave
//!        |                                        \--threshold--> own operation posted behind --> leave
//!        +-----> held:  posted --> wait for a verdict; now and then, and before a sleep, try: drain; call once
//!   post, held:         posted --> try once more --> held: go away
//!
//!   leave:  threshold reached and somebody is to go on? hand it to him, release
//!           otherwise release; called, or anything posted? try; got it: drain, leave again
//! ```
//!
//! **Modes.** To see, after its release, a post that was left a holder needs a full fence between the two,
//! which would cost as much as the lock. So it pays only while posts are left:
//!
//! | bit of `mode` | a holder | set by | taken away by |
//! |---|---|---|---|
//! | none | looks at `mode` on entry and after its release | | |
//! | `BUSY` | drains on entry; after its release full fence, looks for posts | a poster that leaves, which then passes `heavy` | a holder who found none for long, before a second look |
//! | `RELIEF` | the same; posters wait, so that one can be told to lead | a holder who is not relieved | the holder who was, or found the queue empty |
//! | `CALLED` | drains on entry or after its release, then stands back | a waiter, once, when its patience ends or before it sleeps; a holder that leaves something behind | whoever drains, before it takes what is posted |
//!
//! How long is "for long" doubles with every return to `BUSY`, as for a bias.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: `guarded` is accessed only under the lock.
//! 2. *Order*: operations are posted in one order ([`chain`](crate::queues)) and run in that order; a
//!    holder runs one that was not posted only when it has found the queue empty, or no mode set, and then
//!    only operations are posted whose owners wait. A thread's earlier operations are then run.
//! 3. *Nothing is forgotten*: while something is posted, somebody is *responsible*: a thread that holds the
//!    lock or is in an acquisition that will succeed; a releaser before its look; a poster before its
//!    second try; a waiting owner that is awake; or one that has been told to lead. Because each hands the
//!    responsibility to the next:
//!    - a holder either finds the queue empty, or hands over (to a thread that waits for the lock, or by
//!      `Lead`), or tries the lock again after its release, where a failure means that there is a holder.
//!    - a poster whose second try fails leaves it to the holder it failed for, whose release comes later
//!      than that try. Both have a full fence between their store and their look (post, fence, try;
//!      release, fence, look), or, if the holder read `QUIET`, a `light` against the poster's `heavy`, or,
//!      if a holder makes it `QUIET` meanwhile, its fence and second look at the queue against the poster's
//!      fence and look at `mode`.
//!    - a waiter that goes to sleep has called, and tries once more after `heavy`, against the `light` of a
//!      release and the look at `mode` after it. A holder that leaves something in `pending` calls for it
//!      itself.
//! 4. *Nobody combines for ever*: after `threshold` operations a holder hands the role on if anybody waits;
//!    if nobody does, after the second time the mode is `RELIEF` and whoever posts next waits.
//! 5. *The queue stays short*: who finds [`MOST_POSTED`] operations waits for its own instead of leaving.
//!
//! **What it asks of the lock**, besides [`RawLock`](crate::RawLock): from inside an operation
//! `try_acquire` fails, which lets operations post others. If the lock says that its tries [are
//! exact](crate::RawLock::TRY_IS_EXACT), a failing try means that there is a holder. If not, holders keep a
//! word (`inside`) up, and a poster whose try fails while nobody is inside waits for the lock: seldom, and
//! never from inside an operation.
//!
//! **Cost.** Uncontended: the lock and three loads of lines that nobody writes. Contended: a thread that
//! comes again pays the same; a post is a node from the thread's cache, a compare-and-swap, a fence and a
//! look at the lock; a wait allocates nothing, and disturbs the holder with a dozen looks at most before it
//! calls. **Fairness**: posted operations are first come, first served; threads that find the lock free
//! overtake those who wait, until one of these has waited for `forced_yield_ns` and calls: then all are
//! served at once, and the lock is not the former holder's again before a spin and a yield. **Choose it**
//! when callers need not wait for all of their operations, or when the lock is mostly free.
//!
//! **More threads than cores.** Waiters spin about a cache-line round trip, yield, now and then try the
//! lock, and sleep. The lock is never given to a thread that does not run, except by a lock that does so
//! itself.
//!
//! **Liveness.** A waiter or poster that does not run for 50 ms delays nobody, wherever it stops, unless it
//! has been told to lead; then those who are awake take the lock when they try it. The holder delays
//! everything that is run, but not `post`, up to [`MOST_POSTED`].
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, FIFO queue, millions of operations a second): over
//! [`Mutex`](crate::Mutex) alone 2.5 ns (the lock 2.2); 2 threads 238, 16 threads 189, 64 threads 140
//! (parking_lot 134, 144, 139). Over [`Mcs`](crate::Mcs) alone 5 to 6 ns (the lock 4.4); 134, 114, 76 (the
//! same queue under `Mcs` 11, 0.3, 0.4). Short sections with 16 and 64 threads: longest wait 0.1 and 0.2 ms
//! (parking_lot 0.4 and 2.7).

mod drain;
mod held;
mod mode;
mod run;
mod state;
mod waiting;

pub use state::{DEFAULT_THRESHOLD, LockQueue, MOST_POSTED};
