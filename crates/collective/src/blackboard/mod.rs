//! Operations on a communicator's blackboard ([`heddle_blackboard`]), step by step.
//!
//! | file | idea |
//! |---|---|
//! | `step.rs` | what a rank does in a round |
//! | `rounds.rs` | the rounds of an operation, which carry its steps out |
//! | `establish.rs` | how the processes agree that they have a blackboard |
//! | `machines.rs` | which of them share a machine |

mod establish;
mod machines;
mod rounds;
mod step;

pub(super) use establish::{on_blackboard, on_blackboard_from_now_on};
pub(super) use rounds::{Rounds, soon};
pub(super) use step::{KeptBlocks, RoundStep, Source, Target};
