//! The order of messages that are spread over several lanes, and gathered again for a receive with wildcards.
//!
//! A lane keeps the order of its messages. Between lanes two messages need an order only if the program gives
//! them one: *m* **comes before** *n* if the call that sent *m* returned before the call that sends *n*
//! began, as far as the program can tell. Each message of a lane has a stamp from a clock which all threads
//! share, so if *m* comes before *n*, its stamp is lower.
//!
//! | file | idea |
//! |---|---|
//! | `spill.rs` | the sender: messages that find no room in their lane hold back those of all lanes |
//! | `settle.rs` | the receiver: which messages of all lanes may be passed on, in which order |
//!
//! **The sender's promise.** When a call that sends *m* returns, *m* is in its lane, or in the [`Spill`]. A
//! message goes to its lane only if the spill was empty before. So if *m* comes before *n*, and *n* is in its
//! lane, then *m* is in its own: it was not spilled; or it has left the spill, whose messages go to their
//! lanes before they leave.
//!
//! **The receiver's conclusion.** See [`settle()`].

#[cfg(all(test, loom))]
mod loom_tests;
mod settle;
mod spill;

pub use settle::{Stamped, settle};
pub use spill::{Spill, SpillGuard};
