//! Contexts: what keeps the messages of one communicator apart from those of others, and
//! says which VNI carries them.
//!
//! | file | idea |
//! |---|---|
//! | `numbers.rs` | the numbers of a leader's context ids |
//! | `channel.rs` | the context of a living communicator |
//! | `used.rs` | the VNIs in use, which waiting threads poll |

mod channel;
mod numbers;
pub(crate) mod used;

pub(crate) use crate::mapping::steps;
pub use crate::mapping::{PLANE, UNKNOWN, VniChoice, context_id};
pub use channel::{BrokenPromise, Context, Plane};
pub(crate) use numbers::Numbers;
pub use numbers::known;
