//! What threads hand over through a request: its state, the words that name its objects, and the parts of a joint one.
//!
//! The requests themselves, and who may touch what of them, are in `heddle-message`.

#[cfg(all(test, loom))]
mod loom_tests;
mod missing;
mod names;
mod state;

pub use missing::Missing;
pub use names::Names;
pub use state::{State, are_watchers_signalled, signal_watchers};
