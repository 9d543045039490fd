//! A thread-safety model is a point in the space of these choices.

mod arbitration;
mod choose;
mod error;
mod model;
mod named;
mod options;
mod pairs;
mod part;
mod threshold;

pub use arbitration::{Arbitration, UnknownArbitration};
pub use error::ModelError;
pub use model::Model;
pub use named::{NAMED, Named};
pub use options::{
    Bias, Choice, Execution, Granularity, Lifetime, OffloadThreads, ReferenceCounts, RequestPool,
    UnknownOption, WakeUp,
};
pub use pairs::pairwise;
pub use part::{Condition, OFFLOAD, PARTS, Part, Values};
pub use threshold::{CollectThreshold, UnknownThreshold};
