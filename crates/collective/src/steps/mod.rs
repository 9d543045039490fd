//! The steps of an operation, to be carried out at once or later.
//!
//! | file | idea |
//! |---|---|
//! | `step.rs` | what a rank does in one step |
//! | `recorder.rs` | the steps of an operation, recorded |
//! | `schedule.rs` | recorded steps, carried out as messages complete |

mod recorder;
mod schedule;
mod step;

pub(super) use recorder::Recorder;
pub(super) use schedule::{Rest, Schedule};
pub(super) use step::{Operands, Prompt, Step};
