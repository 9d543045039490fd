//! Tasks: operations of several steps, such as nonblocking collectives, whose next step follows when messages
//! of the last one are complete.
//!
//! Every thread that makes progress on a VNI, waiting, testing or serving, also makes a round over the VNI's
//! tasks, outside of all critical sections: a task sends and receives like a program. A thread that sleeps
//! has first made a round in which no task was with another thread ([`heddle_sync::queues::tasks`]).

use heddle_sync::queues::tasks::Advanced;
use std::fmt::Debug;

/// An operation of several steps.
pub trait Task: Debug + Send {
    /// Goes on as far as possible without waiting. It is called by one thread at a time, which is in no
    /// critical section of a VNI. It sends nothing to its own process.
    fn advance(self: Box<Self>) -> Advanced<Box<dyn Task>>;
}
