//! Contexts: what keeps the messages of one communicator apart from those of others, and
//! says which VNI carries them.
//!
//! | file | idea |
//! |---|---|
//! | `mapping` | context ids, and the VNI of a message |
//! | `channel.rs` | the context of a living communicator |

mod channel;
mod mapping;

pub use channel::{BrokenPromise, Context, Plane};
pub(crate) use mapping::steps;
pub use mapping::{Choice, PLANE, UNKNOWN, context_id};
