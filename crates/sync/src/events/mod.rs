//! Waiting for events: completed operations, who polls for them, who serves them.

pub mod leader;
pub mod roster;
pub mod sync_counter;
pub mod watched_state;
