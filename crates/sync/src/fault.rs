//! Deliberate faults, to show that the model tests would see a real one.
//!
//! Each names one line of an algorithm that looks as if one could do without it. Under `--cfg loom` a test leaves that
//! line out with `inject` and demands that the model checker finds the damage; in every other build the question
//! whether a fault is injected is the constant `false`.

/// A line left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The sleeper does not make its presence visible before it looks once more.
    BellWithoutHeavy,
    /// The ringer may read `sleepers` before its event is visible.
    BellWithoutLight,
    /// A lock's release does not publish what its holder wrote.
    MutexRelaxedRelease,
    /// A waiter goes to sleep without looking at the lock again.
    MutexWithoutSecondLook,
    /// A waiter goes to sleep before the releaser can know of it.
    MutexWithoutHeavy,
    /// The releaser looks for sleepers too early.
    MutexWithoutLight,
    /// Who goes to sleep does not know that it may take a reserved lock.
    MutexReservationUnknown,
    /// A waiter that gives up does not hand on the wake-up that it stood for.
    MutexGivesUpSilently,
    /// The bias owner does not look again whether the bias is still its own.
    BiasedWithoutSecondLook,
    /// The revoker looks at the owner's flag before the owner can see the revocation.
    BiasedWithoutHeavy,
    /// The owner's flag goes down without publishing what it wrote.
    BiasedRelaxedRelease,
    /// An owner that finds its bias revoked does not tell the revoker that it left.
    BiasedSilentRetreat,
    /// All owners raise the same flag, so one that was stopped can lower another's.
    BiasedSharedSeat,
    /// A failed try gives up the bias although the owner is inside.
    BiasedForgetfulTry,
    /// A bias owner that is inside comes in once more.
    BiasedTwiceInside,
    /// The lock is passed on within a cohort without what its holder wrote.
    HmcsRelaxedPass,
    /// Who goes to sleep may overwrite the grant it waits for.
    HmcsBlindPark,
    /// Who gives up may overwrite the grant it waited for.
    HmcsBlindAbandon,
    /// An abandoned place is taken up again although it may just be taken off the queue.
    HmcsBlindRevival,
    /// A cohort's lead is handed on before the cohort around has been given up.
    HmcsEarlyHandOn,
    /// Who leaves does not wait for a successor that is about to make itself known.
    HmcsImpatientEnd,
    /// A queue lock's hand-over does not publish what the holder wrote.
    McsRelaxedGrant,
    /// A hand-over leaves the successor asleep.
    McsWithoutRing,
    /// A releaser that saw no successor overlooks one that comes in between.
    McsForgetsLateComer,
    /// The release does not publish what its holder wrote.
    ClhRelaxedRelease,
    /// Who leaves does not wake the one behind it.
    ClhWithoutRing,
    /// The release does not publish what its holder wrote.
    TicketRelaxedRelease,
    /// The release wakes the one after the next.
    TicketRingsAnother,
    /// A hand-over does not publish what the holder wrote.
    AbortableRelaxedGrant,
    /// Who gives up does not look whether the lock has just been granted to it.
    AbortableGivesUpBlindly,
    /// Who is passed over sleeps on.
    AbortablePassesSilently,
    /// The release does not publish what its holder wrote.
    FissileRelaxedRelease,
    /// The head does not know that it may take a reserved lock.
    FissileReservationUnknown,
    /// The head goes to sleep without looking again.
    FissileWithoutSecondLook,
}

/// From now on algorithms run by models of this test leave that line out.
#[cfg(loom)]
pub fn inject(fault: Option<Fault>) {
    CURRENT.with(|current| current.set(fault));
}

// All threads of a model run on the test's own thread.
#[cfg(loom)]
std::thread_local! {
    static CURRENT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Whether the model leaves this line out.
#[cfg(loom)]
pub(crate) fn injected(fault: Fault) -> bool {
    CURRENT.with(|current| current.get() == Some(fault))
}

/// Whether the model leaves this line out: there is no model.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn injected(_: Fault) -> bool {
    false
}
