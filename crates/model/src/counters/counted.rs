//! What is counted.

/// What is counted of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Entered to issue an operation.
    Main,
    /// Entered to wait for one.
    Progress,
    /// Of the former, those that only looked.
    Fruitless,
    /// Of those for progress, those that completed something.
    Productive,
    /// Entered after it had been found taken.
    Contended,
    /// Found taken by a thread that then went away.
    Refused,
    /// Ticks that threads waited after they found it taken.
    Waited,
    /// Operations that this thread has run for others.
    ForOthers,
}

impl Entry {
    pub(super) const COUNT: usize = 8;
}

/// What is counted beside sections.
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
    /// An element was looked at in matching.
    MatchingStep,
    /// A garbage collection has run.
    Collection,
    /// Something was done that makes the call that does it productive.
    Work,
    /// A VNI has begun to throttle its senders, since its unexpected messages took too much memory.
    Throttle,
    /// A small message was offered by rendezvous to a receiver that throttles its senders.
    ThrottledSend,
}

impl Event {
    pub(super) const COUNT: usize = 9;
}
