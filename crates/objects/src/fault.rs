//! Deliberate faults, to show that the model tests would see a real one: as in `heddle_sync::fault`.
//!
//! Each names one line that looks as if one could do without it, or one order that looks as if it were all
//! the same. Under `--cfg loom` a test plants the fault and demands that the model checker finds the damage.
//! In every other build the question whether a fault is planted is the constant `false`.

/// A line left out, or another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A late pop may put back a link that other threads have used since.
    FreeListWithoutCounter,
    /// A thread that takes a free slot may see it as it was before it became free.
    FreeListRelaxedPush,
    /// A valid handle may lead to an object that is not written yet.
    TableRelaxedInsert,
    /// An object may be destroyed before other threads' last uses of it.
    TableRelaxedLastReference,
    /// A call checks its handle first and publishes it then.
    HazardCheckedFirst,
    /// A call may check its handle before its publication is visible.
    HazardWithoutLight,
    /// A collector that no longer finds a cleared handle may miss the call's uses of the object.
    HazardClearedRelaxed,
    /// The same for a handle that was replaced by another.
    HazardReplacedRelaxed,
    /// The thread that gets an ended thread's hazard slots may see them as they were before.
    SlotsRelaxedReturn,
    /// Two threads that look for hazard slots at the same time get the same ones.
    SlotsPlainTake,
    /// A cycle may read the hazard slots before it is visible that the handles are invalid.
    CycleWithoutHeavy,
    /// A cycle reads the states before it reads the hazard slots.
    CycleStatesFirst,
    /// A cycle does not read the states again.
    CycleWithoutStates,
    /// A cycle reads the requests before it reads the hazard slots.
    CycleRequestsFirst,
    /// A cycle claims an object even if its state has changed since it was found.
    ClaimBlindly,
    /// A cycle claims whichever object lies in the slot now.
    ClaimOfAnyGeneration,
    /// An object that is eligible is counted after it can be found.
    EligibleCountedLate,
    /// An object that was found by another one's bit is subtracted, although it was not counted yet.
    EligibleTakenOffBlindly,
    /// A collector may miss an operation's uses of its objects.
    RequestRelaxedGeneration,
    /// A request's end does not publish its outcome.
    RequestRelaxedEnd,
    /// All threads that test a request get its outcome.
    RequestClaimedByAll,
    /// A late thread gets the outcome of the slot's next request.
    RequestOfAnyLife,
    /// A late thread gives back a request that its owner has taken meanwhile.
    RequestGivenBackBlindly,
    /// The thread that counts the last part of a joint request may not see the other outcomes.
    JointRelaxedCount,
    /// A prober expects its signal only once it is in the list.
    ProberExpectsLate,
    /// A prober that gives up assumes that it was not signalled.
    ProberAlwaysThere,
    /// A signalled prober stays in the list.
    ProberToldAgain,
    /// Self messages are sent to another VNI before older ones are there.
    ShardedBeforeMoved,
    /// Self messages are still sent to another VNI after older ones have moved back.
    PinnedOnceMoved,
    /// A send or receive does not check its route inside of the critical section.
    RouteNotRechecked,
    /// A slot can be used anew before its bit is cleared.
    EligibleClearedLate,
}

/// From now on models of this test have the fault.
#[cfg(all(test, loom))]
pub(crate) fn plant(fault: Fault) {
    CURRENT.with(|current| current.set(Some(fault)));
}

// All threads of a model run on the test's own thread.
#[cfg(loom)]
std::thread_local! {
    static CURRENT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Whether the model has the fault.
#[cfg(loom)]
pub(crate) fn planted(fault: Fault) -> bool {
    CURRENT.with(|current| current.get() == Some(fault))
}

/// Whether the model has the fault: there is no model.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn planted(_: Fault) -> bool {
    false
}
