//! Says which user owns the bias of a lock, and whether the bias is old enough to be revoked without regret.
//!
//! The words are written under the inner lock. Any thread may read them, as a hint, before it decides
//! to revoke. They lie on a cache line apart from the words that the owner uses, so reading them
//! costs the owner nothing.

use heddle_platform::Platform;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;

/// How long a bias has to last to pay for its revocation: nearly a hundred times as
/// long as a revocation takes.
const WORTHWHILE_NS: u64 = if cfg!(loom) { 2 } else { 1_000_000 };
/// No user owns the bias. No thread and no core has this number.
const NOBODY: u64 = u64::MAX;

/// The owner of a bias, and when it became the owner.
#[derive(Debug)]
pub(crate) struct BiasAge<P: Platform> {
    /// The owner, or `NOBODY`.
    owner: P::AtomicU64,
    /// The time in ticks.
    since: P::AtomicU64,
}

impl<P: Platform> BiasAge<P> {
    /// No user owns the bias.
    pub(crate) fn new() -> Self {
        Self { owner: AtomicInteger::new(NOBODY), since: AtomicInteger::new(0) }
    }

    /// The bias belongs to `owner` from now on. The caller holds the inner lock.
    pub(crate) fn begin(&self, owner: u64) {
        self.since.store(P::ticks(), Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
    }

    /// No user owns the bias from now on. The caller holds the inner lock.
    pub(crate) fn end(&self) {
        self.owner.store(NOBODY, Ordering::Relaxed);
    }

    /// The owner, if there is one. It is a hint unless the caller holds the inner lock.
    pub(crate) fn owner(&self) -> Option<u64> {
        let owner = self.owner.load(Ordering::Relaxed);
        (owner != NOBODY).then_some(owner)
    }

    /// Returns true if the present bias, or else the last one, began long enough ago to pay for its
    /// revocation. It is a hint unless the caller holds the inner lock.
    pub(crate) fn is_old(&self) -> bool {
        let age = P::ticks().wrapping_sub(self.since.load(Ordering::Relaxed));
        age > P::ns_to_ticks(WORTHWHILE_NS)
    }
}
