//! The value, its lock and its queue.

use super::mode::{Mode, Patience};
use crate::request::Request;
use heddle_platform::Platform;
use heddle_platform::platform::{AtomicInteger, CellAccess, MemoryCell};
use heddle_sync::queues::chain::{Chain, MOST_DEPTH};
use heddle_sync::{CachePadded, RawLock, WaitPolicy};
use std::fmt;
use std::ptr;

/// The number of posted operations that a holder runs before it hands the lock on, if not set otherwise.
pub const DEFAULT_THRESHOLD: u32 = 64;

/// The number of operations that may be posted before posters wait.
pub const MOST_POSTED: usize = 48;
const _: () = assert!(MOST_POSTED < MOST_DEPTH);

pub(super) type PlatformOf<L> = <L as RawLock>::Platform;
pub(super) type RequestOf<L, T> = Request<PlatformOf<L>, T>;
type CellOf<L, T> = <PlatformOf<L> as Platform>::Cell<T>;

/// A value under LockQ over the lock `L`; see the [module](super).
///
/// A thread that does not need the result leaves its operation to the lock's holder. Operations of one
/// thread keep their order:
///
/// ```
/// use heddle_combining::{Combining, LockQueueMutex};
///
/// let log: LockQueueMutex<Vec<u32>> = LockQueueMutex::default();
/// log.post(|log| log.push(1));
/// log.post(|log| log.push(2));
/// assert_eq!(log.run(|log| log.clone()), [1, 2]);
/// ```
pub struct LockQueue<L: RawLock, T: 'static> {
    pub(super) lock: CachePadded<L>,
    pub(super) posted: CachePadded<Chain<PlatformOf<L>, RequestOf<L, T>>>,
    pub(super) holder_state: CachePadded<HolderState<L, T>>,
    pub(super) mode: Mode<PlatformOf<L>>,
    pub(super) threshold: u32,
    pub(super) policy: WaitPolicy,
}

/// The words that the holder writes, and the data that it works with.
pub(super) struct HolderState<L: RawLock, T: 'static> {
    /// The thread that holds the lock or held it last, with a mark if it shall stand back.
    pub(super) holder: <PlatformOf<L> as Platform>::AtomicU64,
    /// 1 while the lock's holder will check the queue after its release; kept up only if a
    /// failing try does not say so.
    pub(super) inside: <PlatformOf<L> as Platform>::AtomicU32,
    pub(super) guarded: CellOf<L, Guarded<RequestOf<L, T>, T>>,
}

// SAFETY: the value is accessed only under the lock (invariant 1), so it moves between threads but is never
// shared; posted operations are Send.
unsafe impl<L: RawLock, T: Send + 'static> Sync for LockQueue<L, T> {}
// SAFETY: the owner of `self` owns the value and the posted operations.
unsafe impl<L: RawLock, T: Send + 'static> Send for LockQueue<L, T> {}

impl<L: RawLock, T: 'static> fmt::Debug for LockQueue<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockQueue").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl<L: RawLock + Default, T: Default + 'static> Default for LockQueue<L, T> {
    fn default() -> Self {
        Self::new(L::default(), T::default(), DEFAULT_THRESHOLD, WaitPolicy::DEFAULT)
    }
}

impl<L: RawLock, T: 'static> LockQueue<L, T> {
    /// Puts `value` under `lock` with a queue. A holder runs at most `threshold` posted operations (at
    /// least 1) a turn; waiters wait by `policy`.
    #[must_use]
    pub fn new(lock: L, value: T, threshold: u32, policy: WaitPolicy) -> Self {
        Self {
            lock: CachePadded::new(lock),
            posted: CachePadded::new(Chain::new()),
            holder_state: CachePadded::new(HolderState {
                holder: AtomicInteger::new(0),
                inside: AtomicInteger::new(0),
                guarded: MemoryCell::new(Guarded::new(value)),
            }),
            mode: Mode::default(),
            threshold: threshold.max(1),
            policy,
        }
    }

    /// The lock, for the other functions of its kind. Acquiring it keeps the value from others; operations
    /// posted meanwhile wait for the next call.
    pub fn lock(&self) -> &L {
        &self.lock
    }

    /// Gives `use_it` the guarded data. The caller holds the lock.
    #[inline(always)]
    pub(super) fn guarded<R>(&self, use_it: impl FnOnce(&mut Guarded<RequestOf<L, T>, T>) -> R) -> R {
        let access = self.holder_state.guarded.access();
        // SAFETY: the caller holds the lock (invariant 1), and no operation that `use_it`
        // runs gets here without it.
        use_it(unsafe { access.deref() })
    }
}

/// The data that the lock guards.
pub(super) struct Guarded<N, T> {
    pub(super) value: T,
    /// The requests that were taken from `posted`, oldest first.
    pub(super) pending: *mut N,
    pub(super) patience: Patience,
    /// The number of times in a row that the threshold was reached without a thread to hand over to.
    pub(super) alone: u32,
}

impl<N, T> Guarded<N, T> {
    pub(super) fn new(value: T) -> Self {
        Self { value, pending: ptr::null_mut(), patience: Patience::FIRST, alone: 0 }
    }
}

/// How a holder's run through the queue ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// Nothing was posted at its end.
    Empty,
    /// There are more operations.
    Threshold,
}
