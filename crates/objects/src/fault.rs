//! Deliberate faults, to show that the model tests would see a real one: as in `heddle_sync::fault`.
//!
//! Each names one line that looks as if one could do without it, or one order that looks as if it were all the same. Under
//! `--cfg loom` a test plants the fault and demands that the model checker finds the damage. In every other build the
//! question whether a fault is planted is the constant `false`.

/// A line left out, or another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A slot that is popped late may put a link back that others have used since.
    FreeListWithoutCounter,
    /// Who takes a free slot may find it as it was before it became free.
    FreeListRelaxedPush,
    /// A valid handle may lead to an object that is not written yet.
    TableRelaxedInsert,
    /// Who destroys an object may do so before others' last uses of it.
    TableRelaxedLastReference,
    /// A call looks whether its handle is valid and publishes it only then.
    HoldChecksFirst,
    /// A call may look whether its handle is valid before it is visible that it uses it.
    HoldWithoutLight,
    /// Who misses a name that was cleared may miss what the call has done with the object.
    HoldClearsSilently,
    /// The same of a name that was replaced by another.
    HoldReplacesSilently,
    /// Who gets the places of a thread that has ended may find them as they were before.
    PlacesRelaxedReturn,
    /// Two threads that look for places at once get the same.
    PlacesPlainTake,
    /// A cycle may look at the holds before it is visible that the handles are invalid.
    CycleWithoutHeavy,
    /// A cycle looks at the states before it looks at the holds.
    CycleStatesFirst,
    /// A cycle does not look at the states once more.
    CycleWithoutStates,
    /// A cycle looks at the requests before it looks at the holds.
    CycleRequestsFirst,
    /// A cycle claims an object whatever has become of it since it was found.
    ClaimBlindly,
    /// A cycle claims whichever object lies in the slot now.
    ClaimOfAnyGeneration,
    /// An object that is eligible is counted after it can be found.
    EligibleCountedLate,
    /// An object that was found by another's bit is taken off, although it was not counted yet.
    EligibleTakenOffBlindly,
    /// Who collects may miss what an operation has done with its objects.
    RequestRelaxedGeneration,
    /// A request's end does not publish what came of it.
    RequestRelaxedEnd,
    /// All threads that test a request get its outcome.
    RequestClaimedByAll,
    /// Who is late gets the outcome of the slot's next request.
    RequestOfAnyLife,
    /// Who is late gives back what its owner has taken meanwhile.
    RequestGivenBackBlindly,
    /// Who counts the last part of a joint request may not see what the others have left.
    JointRelaxedCount,
    /// A prober expects its signal only once it is in the list.
    ProberExpectsLate,
    /// A prober that gives up takes itself for one that was not told.
    ProberAlwaysThere,
    /// A prober that was told stays in the list.
    ProberToldAgain,
    /// Messages to oneself are sent elsewhere before what is older is there.
    SpreadBeforeMoved,
    /// They are sent elsewhere once what was there has come home.
    SettledOnceMoved,
    /// Who sends or receives them does not look inside of the section whether they still are there.
    RouteNotLookedAtAgain,
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
