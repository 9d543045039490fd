//! The names of the counts.

use crate::path::Path;

/// The counts of a critical section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Entries to issue an operation.
    Main,
    /// Entries to wait for an operation.
    Progress,
    /// Entries on the main path that only polled.
    Fruitless,
    /// Entries on the progress path that completed something.
    Productive,
    /// Tries that found the critical section taken, after which the thread went away.
    Refused,
    /// The operations that this thread has run for others.
    ForOthers,
    /// Entries on the main path after the critical section had been found taken.
    ContendedMain,
    /// Entries on the progress path after the critical section had been found taken.
    ContendedProgress,
    /// The ticks that threads on the main path waited after they found it taken.
    WaitedMain,
    /// The ticks that threads on the progress path waited after they found it taken.
    WaitedProgress,
    /// Entries after another thread of the same core.
    HandoverCore,
    /// Entries after another thread on another core of the same package.
    HandoverPackage,
    /// Entries after another thread on another package.
    HandoverMachine,
    /// The times that this thread, or its core, became the owner of a lock's bias.
    BiasGiven,
    /// The biases that this thread took from their owners.
    BiasRevoked,
    /// Polls that stood back from threads that waited to issue an operation.
    LeftOut,
}

impl Entry {
    pub(super) const COUNT: usize = 16;

    /// The contended entries on a path.
    pub fn contended(path: Path) -> Entry {
        match path {
            Path::Main => Entry::ContendedMain,
            Path::Progress => Entry::ContendedProgress,
        }
    }

    /// The time that threads on a path waited.
    pub fn waited(path: Path) -> Entry {
        match path {
            Path::Main => Entry::WaitedMain,
            Path::Progress => Entry::WaitedProgress,
        }
    }
}

/// Events that are counted outside of critical sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedEvent {
    /// A request was taken from the pool.
    RequestTaken,
    /// A request was given back to the pool.
    RequestReleased,
    /// A message has arrived before its receive.
    Unexpected,
    /// Such a message was taken by a receive.
    UnexpectedTaken,
    /// Matching has compared one element.
    MatchingStep,
    /// A garbage collection has run.
    Collection,
    /// A garbage collection found that a request or a call uses a freed object, and kept it.
    CollectionMark,
    /// A garbage collection has destroyed a freed object.
    CollectionSweep,
    /// Work that makes the present call productive.
    Work,
    /// A VNI has begun to throttle its senders, since its unexpected messages took too much memory.
    Throttle,
    /// A small message was offered by rendezvous to a receiver that throttles its senders.
    ThrottledSend,
    /// The data of a message was read from the memory of a sender on another machine.
    RemoteRead,
    /// A long put or get was written to the memory of a process on another machine, or read from there.
    RemoteCopy,
    /// A collective operation was begun that goes by one leader a machine.
    LeaderCollective,
    /// A copy from or to the memory of a process of this machine was left to that process, since the kernel
    /// has refused it.
    ServedCopy,
    /// The kernel has copied data of a collective operation from or to the memory of a process of this
    /// machine.
    SingleCopy,
    /// The self messages of a communicator were sharded.
    SelfMessagesSharded,
    /// The self messages of a communicator were pinned to its default VNI.
    SelfMessagesPinned,
    /// The messages of a channel were spread over VNIs.
    ChannelSpread,
    /// A VNI took its messages back for good, since a receive or a probe had to find all of them.
    VniGathered,
    /// The accumulate lock of a target was closed or opened.
    AccumulateLockChanged,
}

impl CountedEvent {
    pub(super) const COUNT: usize = 21;
}
