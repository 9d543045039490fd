//! The names of the counts.

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
    /// Entries after the critical section had been found taken.
    Contended,
    /// Tries that found the critical section taken, after which the thread went away.
    Refused,
    /// The ticks that threads waited after they found it taken.
    Waited,
    /// The operations that this thread has run for others.
    ForOthers,
}

impl Entry {
    pub(super) const COUNT: usize = 8;
}

/// Events that are counted outside of critical sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
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
    /// Work that makes the present call productive.
    Work,
    /// A VNI has begun to throttle its senders, since its unexpected messages took too much memory.
    Throttle,
    /// A small message was offered by rendezvous to a receiver that throttles its senders.
    ThrottledSend,
}

impl Event {
    pub(super) const COUNT: usize = 9;
}
