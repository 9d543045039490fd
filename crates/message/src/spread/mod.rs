//! The VNIs' part of messages that are spread over them; `lanes` moves these.
//!
//! | file | idea |
//! |---|---|
//! | `state.rs` | the receiver's states |
//! | `way.rs` | which messages may be spread, and over which VNIs |
//! | `marks.rs` | marks of a VNI, and of a channel |
//! | `stamp.rs` | the clock |
//! | `turns.rs` | when threads take turns |
//! | `event.rs` | news that a thread reads in a ring, and acts on outside of it |

mod event;
mod marks;
pub(crate) mod stamp;
mod state;
mod turns;
mod way;

pub(crate) use event::SpreadEvent;
pub(crate) use marks::{BY, BY_SOURCE, CLOSED, MARKS, SPREAD, STAMPS, SpreadMarks, SpreadOut, WISHED};
pub use state::Spreading;
pub(crate) use state::{From, Held, Home, SpreadHome};
pub(crate) use turns::{ReceiveChanges, TagChanges, are_turns};
pub(crate) use way::{SpreadBy, lane, may_be_spread};
