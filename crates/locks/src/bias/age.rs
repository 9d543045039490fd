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

    /// No user owns the bias from now on. Returns true if it has lasted long enough to pay for its
    /// revocation. The caller holds the inner lock.
    pub(crate) fn end(&self) -> bool {
        self.owner.store(NOBODY, Ordering::Relaxed);
        self.is_old()
    }

    /// A hint: whether a visitor should leave the bias alone, because it is another user's and still young.
    /// `visitor` says which user visits; it is called only while there is an owner.
    pub(crate) fn is_to_be_spared_by(&self, visitor: impl FnOnce() -> u64) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner != NOBODY && owner != visitor() && !self.is_old()
    }

    /// Returns true if the present bias, or else the last one, began long enough ago to pay for its
    /// revocation.
    fn is_old(&self) -> bool {
        let age = P::ticks().wrapping_sub(self.since.load(Ordering::Relaxed));
        age > P::ns_to_ticks(WORTHWHILE_NS)
    }
}
