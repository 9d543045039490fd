//! Handles, the tables they lead into, and the hand-overs between threads that decide how long an object
//! lives.
//!
//! Everything here is generic: the crate knows no communicator, no datatype and no message. It uses
//! `heddle-platform` and `heddle-sync`, and is used by `heddle-message`, `heddle-comm`, `heddle-p2p` and
//! `heddle-process`. All of it is model-checked: each module has its `loom_tests`.
//!
//! | module | idea |
//! |---|---|
//! | [`table`] | handles as words, tables of objects, counted references |
//! | [`lifetime`] | hazard slots, and the collector of freed objects |
//! | [`request`] | the state word of a request, the words that name its objects, the parts of a joint one |
//! | [`resharding`] | when the messages of a process to itself move between VNIs, in their order |
//! | [`spread`] | the order of messages that are spread over several lanes |
//! | [`probers`] | threads that sleep until a message comes |

pub mod lifetime;
pub mod probers;
pub mod request;
pub mod resharding;
#[cfg(all(test, loom))]
mod sentinel;
pub mod spread;
pub mod table;
