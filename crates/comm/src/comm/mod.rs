//! Communicators: a group and a context that keeps its messages apart (MPI 5.0, chapter 7.4).
//!
//! A **context id** is made by a leader, the group's rank 0, from its own counter and its world rank,
//! and told to the others. So ids are unique in the job without any agreement, threads can make
//! communicators at the same time, and an id is never used twice. So a communicator may be freed while
//! its messages are in flight.
//!
//! Each communicator has several **planes**, contexts of their own for different kinds of messages. How
//! communicators are made and freed is in `heddle-comm-management`.
//!
//! | file | idea |
//! |---|---|
//! | `object.rs` | the communicator itself |
//! | `reference.rs` | communicators in use |
//! | `predefined.rs` | `MPI_COMM_WORLD` and `MPI_COMM_SELF`, and the library's own communicator |
//! | `hints.rs` | the info hints that communicators know |
//! | `topology.rs` | their virtual topology |

mod hints;
mod object;
mod predefined;
mod reference;
mod topology;

pub use heddle_message::context::Plane;
pub use hints::choice_of;
pub use object::{COMMS, Comm};
pub use predefined::{close_creations, close_predefined, open_creations, open_predefined};
pub use reference::bad_handle;
pub use reference::{CommRef, KeptComm};
pub use topology::Edges;
