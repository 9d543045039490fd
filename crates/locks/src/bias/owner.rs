//! To whom the bias of a lock belongs.

use crate::bias::Exit;
use heddle_platform::Platform;
use std::fmt;

/// The kind of owner that a bias has: a thread ([`biased`](crate::biased)), or a core
/// ([`core_biased`](crate::core_biased)). It keeps the words of the bias.
///
/// A user is a number: the identity of a thread, or the number of a core.
///
/// # Safety
///
/// Once [`revoke`](Self::revoke) has named a flag, and a holder of the inner lock has seen that flag down, no
/// thread is inside by the bias, and none gets in by it before [`give`](Self::give). Of the threads for which
/// [`enter`](Self::enter) returned true, or that gave the bias to themselves from inside, one at a time is
/// inside, and its flag is up.
pub unsafe trait BiasOwner<P: Platform>: fmt::Debug + Send + Sync {
    /// The lock's name.
    const NAME: &'static str;
    /// True if a thread that becomes the owner, or whose core does, is inside by the bias from then on.
    const OWNS_FROM_INSIDE: bool;
    /// State that only a holder of the inner lock uses.
    type Guarded: fmt::Debug + Send;
    /// What [`offer`](Self::offer) has found for a new owner.
    type Place;

    /// Nobody has the bias.
    fn new() -> (Self, Self::Guarded)
    where
        Self: Sized;

    /// The user that calls.
    fn caller() -> u64;

    /// Enters if the bias is the caller's, and no thread is inside by it.
    fn enter(&self, exit: &Exit<P>) -> bool;

    /// The flag of the calling thread, which is inside by the bias.
    fn flag(&self) -> &P::AtomicU32;

    /// A hint: whether a thread is inside by the bias that a failed try should leave alone.
    fn is_in_use(&self) -> bool {
        false
    }

    /// Takes the bias from its owner. Returns the flag that goes down when no thread is inside by it, or
    /// `None` if nobody has the bias. The caller holds the inner lock.
    fn revoke(&self) -> Option<&P::AtomicU32>;

    /// Nobody has the bias from now on. The caller holds the inner lock, has revoked the bias and seen the
    /// flag down.
    fn clear(&self);

    /// Another user acquired the inner lock last. The caller holds it.
    fn comes_anew(_: &mut Self::Guarded, _user: u64) {}

    /// Looks whether a user can become the owner. The caller holds the inner lock.
    fn offer(&self, guarded: &mut Self::Guarded, user: u64) -> BiasOffer<Self::Place>;

    /// Gives the bias away. The caller holds the inner lock, and nobody has the bias.
    fn give(&self, place: Self::Place);
}

/// The answer to a user that could become the owner of a bias.
#[derive(Debug)]
pub enum BiasOffer<T> {
    /// Not on this platform.
    Never,
    /// Not now.
    NotNow,
    /// There.
    At(T),
}
