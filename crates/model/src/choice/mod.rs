//! A thread-safety model is a point in the space of these choices.

mod arbitration;
mod choose;
mod error;
mod lookup;
mod model;
mod named;
mod options;
mod own;
mod pairs;
mod part;
mod published;
mod threshold;

pub use arbitration::{Arbitration, UnknownArbitration};
pub use error::ModelError;
pub use lookup::named_models;
pub use model::Model;
pub use named::{Named, Origin};
pub use options::{
    Bias, Choice, Class, Execution, Granularity, Lifetime, OffloadThreads, ProgressEntry, ReferenceCounts,
    RequestPool, Requests, TestBackoff, UnknownOption, WakeUp,
};
pub use own::OWN;
pub use pairs::pairwise;
pub use part::{Condition, OFFLOAD, PARTS, Part, Values};
pub use published::PUBLISHED;
pub use threshold::{CollectThreshold, UnknownThreshold};
