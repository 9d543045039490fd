//! Contexts: what keeps the messages of one communicator apart from those of others, and
//! says which VNI carries them.
//!
//! | file | idea |
//! |---|---|
//! | `mapping` | context ids, and the VNI of a message |
//! | `numbers.rs` | the numbers of a leader's context ids |
//! | `channel.rs` | the context of a living communicator |
//! | `used.rs` | the VNIs in use, which waiting threads poll |

mod channel;
mod mapping;
mod numbers;
pub(crate) mod used;

pub use channel::{BrokenPromise, Context, Plane};
pub(crate) use mapping::steps;
pub use mapping::{PLANE, UNKNOWN, VniChoice, context_id};
pub(crate) use numbers::Numbers;
pub use numbers::known;
