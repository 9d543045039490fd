//! Waiting for events: completed operations, the threads that poll for them, and the threads that serve them.

pub mod leader;
pub mod roster;
pub mod sync_counter;
pub mod watched_state;
