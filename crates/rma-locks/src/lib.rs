//! Distributed locks over remote memory access: `distributed-rma-locks` (Schmid, Besta, Hoefler:
//! *High-performance distributed RMA locks*, HPDC 2016, doi:10.1145/2907294.2907323), in repaired forms.
//!
//! | file | idea |
//! |---|---|
//! | `rma.rs` | [`Rma`]: the operations that the locks need |
//! | `layout.rs` | [`Layout`]: levels of the machine, and which process keeps which word |
//! | `queue.rs` | one queue of the tree: entering, passing on, leaving |
//! | `mcs.rs` | [`RmaMcs`]: a tree of queues; with one level it is D-MCS |
//! | `rw.rs` | [`RmaRw`]: the tree, and counters for readers |
//! | `fissile.rs` | [`Fissile`]: a word before the tree, for more processes than cores; not from the paper |
//! | `fissile_rw.rs` | [`FissileRw`]: RMA-RW with that word |
//! | `adaptive/` | [`AdaptiveRw`]: RMA-RW that tunes its counters and thresholds while it runs |
//! | `queue_rw.rs` | [`QueueRw`]: a reader-writer word, and a queue for those that wait; not from the paper |
//! | `hash_table.rs` | [`HashTable`]: the paper's hash table, synchronised by compare-and-swap or by a lock |
//! | `simple.rs` | [`Spin`] and [`SimpleRw`]: the locks of foMPI that the paper compares with |
//!
//! **Departures from the listings.** As printed they are not correct. `tests/exhaustive*.rs` explore all
//! interleavings of the source here; the faults in `tests/faults` put some of the printed lines back,
//! and each has to be found.
//!
//! | listing | as printed | what happens | here |
//! |---|---|---|---|
//! | 2 | the flag is stored at one offset and read at another | two processes are inside | one word, the status |
//! | 2 | no flush between the puts of a new node and its entry into the queue | a late put erases what the successor wrote, and both wait for ever | flush |
//! | 3 | a successor that is known at once is in another variable than the one that is notified | the wake-up is lost | one variable |
//! | 4, 5, 7, 8 | at a level above N, a process waits by its own node | another process of the element, to which the lock was passed, looks for the successor at its own node and waits for ever | the node belongs to the element |
//! | 6, 7 | a writer marks the counters and enters | readers that came before are still inside | it waits for them |
//! | 9 | a reader that finds a full counter without writers resets it | the reset takes a writer's mark away: reader and writer are inside, or nobody gets in | only a writer that has the lock resets |
//! | 9 | the flag that ends the loop is never set; who backs off waits for a reset that nobody may make | readers wait for ever | no loop: a reader is counted once, and waits for a change of phase |
//! | 7, 8 | a new writer marks the counters at once | a waiting reader may miss every gap between writers | the phase bit: a reader waits for its writer alone |
//! | 6, 9 | counters are at ranks 1, 2, .. for readers and 0, T_DC, .. for writers | a counter is never marked | one list; a node is named by its rank + 1 |
//! | 8 | T_W counts the passings of all levels | only passings at the root are counted | T_L,1 |
//! | 9 | T_R bounds the readers of a counter, which then wait for a reset | see above | it bounds for how many readers a writer waits |
//!
//! It uses no other crate. `heddle-window` locks windows with it, `heddle-rma-locks-c` gives it to C, and
//! `heddle-rma-sim` runs it in virtual time. The locks keep all their state in the words of an [`Rma`], so a
//! handle is a value that any number of processes make from the same [`Layout`].
//!
//! # Examples
//!
//! This crate brings no [`Rma`] of its own, since that is what its user has: a network, or windows. Here
//! threads play the processes of two machines, and the words of all lie in one memory:
//!
//! ```
//! use heddle_rma_locks::{Layout, Rank, Rma, RmaMcs, RmaRw, Word, now};
//! use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
//!
//! struct Process<'a> {
//!     rank: Rank,
//!     memory: &'a [Vec<AtomicU64>],
//! }
//!
//! impl Rma for Process<'_> {
//!     fn rank(&self) -> Rank {
//!         self.rank
//!     }
//!     async fn put(&self, value: u64, target: Rank, word: Word) {
//!         self.memory[target][word].store(value, SeqCst);
//!     }
//!     async fn get(&self, target: Rank, word: Word) -> u64 {
//!         self.memory[target][word].load(SeqCst)
//!     }
//!     async fn add(&self, operand: u64, target: Rank, word: Word) {
//!         self.memory[target][word].fetch_add(operand, SeqCst);
//!     }
//!     async fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> u64 {
//!         self.memory[target][word].fetch_add(operand, SeqCst)
//!     }
//!     async fn swap(&self, value: u64, target: Rank, word: Word) -> u64 {
//!         self.memory[target][word].swap(value, SeqCst)
//!     }
//!     async fn compare_and_swap(&self, value: u64, expected: u64, target: Rank, word: Word) -> u64 {
//!         let swapped = self.memory[target][word].compare_exchange(expected, value, SeqCst, SeqCst);
//!         swapped.unwrap_or_else(|before| before)
//!     }
//!     async fn flush(&self, _: Rank) {}
//!     async fn wait_until(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
//!         loop {
//!             let value = self.get(target, word).await;
//!             if is_over(value) {
//!                 return value;
//!             }
//!             std::thread::yield_now();
//!         }
//!     }
//! }
//!
//! /// Runs `body` as each of four processes, on two machines of two, whose words are 0 at first.
//! fn processes(layout: &Layout, body: impl Fn(&Process) + Sync) {
//!     let row = || (0..layout.words()).map(|_| AtomicU64::new(0)).collect();
//!     let memory: Vec<Vec<AtomicU64>> = (0..layout.processes()).map(|_| row()).collect();
//!     std::thread::scope(|scope| {
//!         for rank in 0..layout.processes() {
//!             let process = Process { rank, memory: &memory };
//!             let body = &body;
//!             scope.spawn(move || body(&process));
//!         }
//!     });
//! }
//!
//! let layout = Layout::named(&[vec![0], vec![0], vec![1], vec![1]], 2);
//!
//! // RMA-MCS: the lock stays on a machine for 8 turns at most, if processes there wait.
//! let lock = RmaMcs::new(layout.clone(), vec![8]);
//! let total = AtomicU64::new(0);
//! processes(&layout, |process| {
//!     for _ in 0..100 {
//!         now(lock.acquire(process));
//!         let seen = total.load(SeqCst);
//!         total.store(seen + 1, SeqCst);
//!         now(lock.release(process));
//!     }
//! });
//! assert_eq!(total.into_inner(), 400);
//!
//! // RMA-RW: process 0 writes, the others read; 4 turns of writers at the root, then readers.
//! let lock = RmaRw::new(layout.clone(), vec![8], 4);
//! let pair = [AtomicU64::new(0), AtomicU64::new(0)];
//! processes(&layout, |process| {
//!     if process.rank() == 0 {
//!         now(lock.acquire_write(process));
//!         pair.iter().for_each(|half| half.store(1, SeqCst));
//!         now(lock.release_write(process));
//!     } else {
//!         now(lock.acquire_read(process));
//!         assert_eq!(pair[0].load(SeqCst), pair[1].load(SeqCst));
//!         now(lock.release_read(process));
//!     }
//! });
//! ```

mod adaptive;
mod fissile;
mod fissile_rw;
mod hash_table;
mod layout;
mod mcs;
mod queue;
mod queue_rw;
mod rma;
mod rw;
mod simple;

pub use adaptive::{AdaptiveRw, Bounds, Reader, ReaderPatience};
pub use fissile::Fissile;
pub use fissile_rw::FissileRw;
pub use hash_table::{HashTable, HeapFull};
pub use layout::{Layout, elements_within};
pub use mcs::RmaMcs;
pub use queue_rw::QueueRw;
pub use rma::{Rank, Rma, Word};
pub use rw::RmaRw;
pub use simple::{SimpleRw, Spin};

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a lock's function over an [`Rma`] whose futures are ready at once.
///
/// # Panics
/// If a future is not ready.
#[inline]
pub fn now<R>(future: impl Future<Output = R>) -> R {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("an operation on real memory is ready at once"),
    }
}
