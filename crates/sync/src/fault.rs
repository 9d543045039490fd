//! Deliberate faults, to show that the model tests would see a real one.
//!
//! Each names one line of an algorithm that looks as if one could do without it. Under `--cfg loom` a test leaves that
//! line out with `inject` and demands that the model checker finds the damage; under `--cfg tsan` it demands that of
//! ThreadSanitizer, where the damage is a data race. In every other build the question whether a fault is injected is
//! the constant `false`.

/// A line left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The sleeper does not make its presence visible before it looks once more.
    BellWithoutHeavy,
    /// The ringer may read `sleepers` before its event is visible.
    BellWithoutLight,
    /// The sleeper looks once more, and only then announces itself.
    BellLooksFirst,
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
    /// A high-priority thread leaves the sign that another is coming although none waits.
    TwoLevelPhantom,
    /// The filter is set free without publishing what its holder wrote.
    TwoLevelRelaxedFilter,
    /// The filter's holder looks for sleepers too early.
    TwoLevelWithoutLight,
    /// A high-priority thread gives up and does not say so.
    TwoLevelSilentGiverUp,
    /// The low class's head does not know that it may take what it is owed.
    TwoLevelDebtUnknown,
    /// What is owed to a low-priority thread that gave up is owed for ever.
    TwoLevelEndlessDebt,
    /// A low-priority thread gives up and leaves a high-priority one asleep.
    TwoLevelSilentCreditor,
    /// A low-priority thread looks at the word only, not whether the high class waits.
    TwoLevelImpolite,
    /// An event does not publish what it brought.
    CounterRelaxedSignal,
    /// The waiter announces its sleep by a store, over signals that came since its load.
    CounterPlainSleep,
    /// A nudge does not wake the waiter.
    CounterSilentNudge,
    /// The last signal leaves a counter's sleeper alone.
    CounterSilentSignal,
    /// A leader whose events are there leaves with the role.
    LeaderKeepsRole,
    /// An appointed sleeper whose events came at the same time leaves with the role.
    LeaderAppointedLeaves,
    /// Who ends a state looks for a watcher and then stores, over one that comes in between.
    WatchedPlainEnd,
    /// A state's end does not publish what the operation brought.
    WatchedRelaxedEnd,
    /// Everybody who signals a watcher for the first takes itself for the first.
    WatcherTwoFirsts,
    /// A batch fetched from a shard stays there too.
    PoolBatchStays,
    /// A batch put back is dropped.
    PoolBatchLost,
    /// A cache puts a batch back and goes on using it.
    PoolSpareKept,
    /// A cache that ends returns one of its two chains.
    PoolSpareForgotten,
    /// Two threads that claim a slot of statistics at once both get it.
    StatisticsPlainClaim,
    /// All threads write the shared slot as if each had it for itself.
    StatisticsPlainOverflow,
    /// A queue lock's hand-over does not publish what the holder wrote.
    McsRelaxedGrant,
    /// A hand-over leaves the successor asleep.
    McsWithoutRing,
    /// Who goes to sleep may overwrite the grant it waits for.
    McsBlindPark,
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
    AdmissionRelaxedRelease,
    /// The head does not know that it may take a reserved lock.
    AdmissionReservationUnknown,
    /// The head goes to sleep without looking again.
    HeadWithoutSecondLook,
    /// The head looks again before releasers can know that it sleeps.
    HeadWithoutHeavy,
    /// The releaser looks for a sleeping head too early.
    AdmissionWithoutLight,
    /// A head that was inside leaves with the queue.
    FissileKeepsTheQueue,
    /// A chained node is not published.
    ChainRelaxedPush,
    /// Taking the chain overwrites what was pushed meanwhile.
    ChainBlindTake,
    /// A producer claims a slot without looking whose turn it is.
    BoundedWithoutTurn,
    /// A full slot's value is not published.
    BoundedRelaxedPush,
    /// An emptied slot is given to the next producer before it was read.
    BoundedRelaxedPop,
    /// A combiner may look for a sleeper before the sleeper can see that it was told.
    RequestWithoutLight,
    /// A waiting owner sleeps before a combiner can see it.
    RequestWithoutHeavy,
    /// A waiting owner that has become visible as a sleeper does not try once more to run its request itself.
    RequestWithoutLastLook,
    /// An owner's look at its verdict does not take the result along, or the value.
    RequestRelaxedLook,
    /// A request is linked without publishing its operation.
    DsmSynchRelaxedLink,
    /// A combiner that finds nobody linked leaves although somebody has come.
    DsmSynchIgnoresNewcomer,
    /// A combiner that has reached its limit leaves without telling anybody.
    DsmSynchKeepsTheRole,
    /// Who leaves the door does not publish the value.
    DsmSynchRelaxedLeave,
    /// Who leaves may look for a call before its leaving is visible.
    DsmSynchWithoutLight,
    /// The head of the queue enters and does not look whether its operation has been run meanwhile.
    DsmSynchServesTwice,
    /// The head of the queue sleeps without having called.
    DsmSynchWaitsUncalled,
    /// The head of the queue does not enter a reserved door.
    DsmSynchReservationUnknown,
    /// A holder that reached the threshold runs its own operation before what is posted.
    LockQueueRunsAhead,
    /// A poster does not try the lock again.
    LockQueueLeavesAtOnce,
    /// A poster may try the lock before its post is visible.
    LockQueuePostsWithoutFence,
    /// A poster that ends the quiet does not make sure that holders know.
    LockQueueBusyWithoutHeavy,
    /// A holder goes away after its release.
    LockQueueWithoutSecondLook,
    /// A holder may look for posts before its release is visible.
    LockQueueReleasesWithoutFence,
    /// A holder in quiet may look at the mode before its release is visible.
    LockQueueReleasesWithoutLight,
    /// A holder makes the mode quiet without looking at the queue again.
    LockQueueQuietWithoutLook,
    /// A holder that has nobody to hand over to leaves all the same.
    LockQueueStopsAtThreshold,
    /// A poster or releaser takes a failing try for a holder, although the lock's tries may hinder each other.
    LockQueueTrustsInexactTry,
    /// A holder that finds something posted after its release runs it only if it is not quiet.
    LockQueueLooksByMode,
    /// A waiter sleeps without having called.
    LockQueueWaitsUncalled,
    /// Who goes away from a delegated value does not publish what it wrote.
    DelegatedRelaxedRelease,
    /// Who posts to a delegated value does not tell whoever is there.
    DelegatedPostsUncalled,
    /// Who runs what is posted takes the call away only then.
    DelegatedCallTakenLate,
    /// Who has waited for a delegated value runs its operation before what is posted.
    DelegatedRunsAhead,
    /// Who has reached the limit goes away as if nothing were left.
    DelegatedForgetsRest,
    /// Who sleeps until a delegated value is free does not say so.
    DelegatedSleepsUnseen,
    /// A place in a ring is claimed although it is not free yet.
    ClaimsWithoutRoom,
    /// Two producers that claim at once both get the place.
    ClaimsPlainStore,
    /// A producer may write to a place before the consumer has read it.
    ClaimsRelaxedCredits,
    /// The same, if another producer has seen that the place is free.
    ClaimsRelaxedKnown,
    /// The thread that serves sleeps without a look at the queue.
    OffloadWithoutSecondLook,
    /// A caller does not ring for the thread that serves.
    OffloadWithoutRing,
    /// The thread that serves ends when it is told, whatever is posted.
    OffloadLeavesWork,
    /// Who rings does not know that the thread sleeps at the door.
    RosterSilentDoor,
    /// A thread goes to sleep without looking once more.
    RosterWithoutSecondLook,
    /// All threads go away, and nobody is at the door.
    RosterAllAway,
    /// Who goes to the door says so too late.
    RosterLateAtDoor,
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

/// From now on all threads of this process leave that line out.
#[cfg(tsan)]
pub fn inject(fault: Fault) {
    everywhere::CURRENT.store(fault as u32 + 1, everywhere::Ordering::Relaxed);
}

/// Whether this process leaves that line out.
#[cfg(tsan)]
pub(crate) fn injected(fault: Fault) -> bool {
    // Relaxed: orders nothing, so that it hides no race.
    everywhere::CURRENT.load(everywhere::Ordering::Relaxed) == fault as u32 + 1
}

#[cfg(tsan)]
mod everywhere {
    use heddle_platform::atomic::AtomicU32;
    pub(super) use heddle_platform::atomic::Ordering;

    /// The fault's number plus 1, or 0.
    pub(super) static CURRENT: AtomicU32 = AtomicU32::new(0);
}

/// Whether the model leaves this line out: there is no model.
#[cfg(not(any(loom, tsan)))]
#[inline(always)]
pub(crate) const fn injected(_: Fault) -> bool {
    false
}
