//! Which collective operations each process has begun on a communicator: what a process compares with those
//! for whom it waits long.
//!
//! Ranks of an erroneous program may disagree on how much data an operation moves, and so carry out different
//! algorithms: then one waits for what never comes. So each process notes every operation that it begins,
//! with what decides the algorithm, and which blocking one is over. A process that has waited for
//! [`COMPARES_AFTER`] asks others about the operation, a few at a time, and compares:
//!
//! | answer | what follows |
//! |---|---|
//! | the operation differs there | the ranks disagree |
//! | the other process, for which this one waits, has completed the blocking operation of this wait | what it waits for does not come: the ranks disagree |
//! | it has learned before that the ranks disagree | this process learns it, too |
//! | anything else, or none | the process goes on waiting |
//!
//! In a program that keeps the rules the histories of all processes of a communicator are the same, up to
//! where each has come. So it does not matter how long a process lets others wait. Once a process knows that
//! the ranks disagree, all its waits in the communicator's collective operations end in an error, and
//! it begins no more of them.
//!
//! | file | idea |
//! |---|---|
//! | `record.rs` | what a process notes, and what it learns from answers |
//! | `registry.rs` | the communicators about which others may ask |

mod record;
mod registry;

pub(crate) use record::Answer;
pub use record::{COMPARES_AFTER, History, Identity, Question};
pub(crate) use registry::{answer, learn, learn_of_disagreement};
