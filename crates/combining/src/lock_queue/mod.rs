//! LockQ: a lock, and beside it a queue of operations for the thread that holds it.
//!
//! **What it gives.** A caller tries the lock. If it is free, the caller runs its operation itself, at the
//! cost of the lock and three loads. If it is not, the caller posts the operation for the holder to run, and
//! leaves ([`post`](crate::Combining::post)) or waits for the result ([`run`](crate::Combining::run)). A
//! holder runs operations that others left posted before its own, so order is kept, and checks once more
//! after its release, so nothing is forgotten. Waiting threads let the holder come again, as with a mutex,
//! and call when they have waited for long: then it runs all posted operations and stands back. The lock may
//! be of any kind.
//!
//! **Source.** "LockQ" in A. Amer et al., *Software combining to mitigate multithreaded MPI contention*,
//! ICS 2019. The slides leave the race between a post and the holder's last check to MPI's completion calls.
//! Here it is closed, since an operation that no thread completes must leave as well; and the lock is handed
//! on where they leave it to chance. There every holder runs posted operations. Here, while all posters wait
//! for their results, only a holder that is called or has waited itself runs them: operations that are handed
//! over one by one are some ten times as slow as those of a holder that comes again.
//!
//! ```text
//!   run --try--> free:  called, or posts left? drain --empty--> own operation --> leave
//!        |                                        \--threshold--> own operation posted behind --> leave
//!        +-----> held:  posted --> wait for a verdict; now and then, and before a sleep, try: drain; call once
//!   post, held:         posted --> try once more --> held: go away
//!
//!   leave:  threshold reached and another thread is to go on? hand the lock to it, release
//!           otherwise release; called, or anything posted? try; got it: drain, leave again
//! ```
//!
//! **Modes.** To see, after its release, a post that was left to it, a holder needs a full fence between the
//! two, which would cost as much as the lock. So it pays only while operations are left to it:
//!
//! | bit of `mode` | a holder | set by | taken away by |
//! |---|---|---|---|
//! | none | checks `mode` on entry and after its release | | |
//! | `BUSY` | drains on entry; after its release full fence, then a check for posts | a poster that leaves, which then passes `heavy` | a holder that found none for long, before a second check |
//! | `RELIEF` | the same; posters wait, so that one can be told to lead | a holder that is not relieved | the holder that was, or found the queue empty |
//! | `CALLED` | drains on entry or after its release, then stands back | a waiter, once, when its patience ends or before it sleeps; a holder that leaves operations behind | the thread that drains, before it takes the posted operations |
//!
//! The length of "for long" doubles with every return to `BUSY`, as for a bias.
//!
//! **Invariants.**
//!
//! 1. *Exclusion*: `guarded` is accessed only under the lock.
//! 2. *Order*: operations are posted in one order ([`chain`](heddle_sync::queues::chain)) and run in that
//!    order. A holder runs an operation that was not posted only when it has found the queue empty, or no
//!    mode set; in the latter case only operations with waiting owners are posted. So a thread's earlier
//!    operations have been run.
//! 3. *Nothing is forgotten*: while an operation is posted, some thread is *responsible*: a thread that holds
//!    the lock or is in an acquisition that will succeed; a releaser before its check; a poster before its
//!    second try; a waiting owner that is awake; or one that has been told to lead. Each hands the
//!    responsibility to the next:
//!    - A holder either finds the queue empty, or hands over (to a thread that waits for the lock, or by
//!      `Lead`), or tries the lock again after its release, where a failure means that there is a holder.
//!    - A poster whose second try fails leaves its operation to the holder for which it failed, whose release
//!      comes later than that try. Both have a full fence between their store and their check (post, fence,
//!      try; release, fence, check), or, if the holder read `QUIET`, a `light` against the poster's `heavy`,
//!      or, if a holder makes it `QUIET` meanwhile, its fence and second check of the queue against the
//!      poster's fence and check of `mode`.
//!    - A waiter that goes to sleep has called, and tries once more after `heavy`, against the `light` of a
//!      release and the check of `mode` after it. A holder that leaves operations in `pending` calls for them
//!      itself.
//! 4. *No thread combines for ever*: after `threshold` operations a holder hands the role on if a thread
//!    waits; if none does, after the second time the mode is `RELIEF` and the next poster waits.
//! 5. *The queue stays short*: a thread that finds [`MOST_POSTED`] operations waits for the result of its own
//!    instead of leaving.
//!
//! **What it asks of the lock**, besides [`RawLock`](heddle_sync::RawLock): inside an operation `try_acquire`
//! fails, which lets operations post others. If the lock says that its tries [are
//! exact](heddle_sync::RawLock::TRY_IS_EXACT), a failing try means that there is a holder. If not, holders
//! keep a word (`inside`) set, and a poster whose try fails while no thread is inside waits for the lock:
//! seldom, and never inside an operation.
//!
//! **Cost.** Uncontended: the lock and three loads of lines that no thread writes. Contended: a thread that
//! comes again pays the same; a post is a node from the thread's cache, a compare-and-swap, a fence and a try
//! of the lock; a wait allocates nothing, and disturbs the holder with a dozen polls at most before it calls.
//! **Fairness**: posted operations are first come, first served. Threads that find the lock free overtake the
//! waiters, until one of these has waited for `forced_yield_ns` and calls: then all are served at once, and
//! the former holder does not get the lock again before a spin and a yield. **Choose it** when callers need
//! not wait for all of their operations, or when the lock is mostly free.
//!
//! **More threads than cores.** Waiters spin about a cache-line round trip, yield, now and then try the lock,
//! and sleep. The lock is never given to a thread that does not run, unless the lock's own queue does that.
//!
//! **Liveness.** A waiter or poster that does not run for 50 ms delays no other thread, wherever it stops,
//! unless it has been told to lead; then awake waiters take the lock when they try it. The holder delays all
//! operations, but not `post`, up to [`MOST_POSTED`].
//!
//! **Measured** (`heddle bench locks`, 2 virtual cores, FIFO queue, millions of operations a second): over
//! [`Mutex`](heddle_sync::Mutex) alone 2.5 ns (the lock 2.2); 2 threads 238, 16 threads 189, 64 threads 140
//! (parking_lot 134, 144, 139). Over [`Mcs`](heddle_locks::Mcs) alone 5 to 6 ns (the lock 4.4); 134, 114, 76
//! (the same queue under `Mcs` 11, 0.3, 0.4). Short critical sections with 16 and 64 threads: longest wait
//! 0.1 and 0.2 ms (parking_lot 0.4 and 2.7).

mod drain;
mod held;
mod mode;
mod run;
mod state;
mod waiting;

pub use state::{DEFAULT_THRESHOLD, LockQueue, MOST_POSTED};
