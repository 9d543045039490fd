//! The words by which threads hand a request over: its state, the names of its objects, and the parts of a
//! joint one.
//!
//! `heddle-message` has the requests themselves, and says which thread may touch which part of them.

#[cfg(all(test, loom))]
mod loom_tests;
mod missing;
mod names;
mod state;

pub use missing::Missing;
pub use names::RequestNames;
pub use state::{StateWord, are_watchers_signalled, signal_watchers};
