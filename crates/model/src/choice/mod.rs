//! A thread-safety model is a point in the space of these choices. Each is a setting, and `setting.rs` and
//! `kind.rs` are what settings are declared with.

mod arbitration;
mod choose;
mod error;
mod kind;
mod lookup;
mod model;
mod named;
mod nearest;
mod options;
mod own;
mod pairs;
mod published;
mod setting;
mod threshold;

pub use arbitration::{Arbitration, UnknownArbitration};
pub use error::ModelError;
pub use kind::{Custom, Names, Number, OneOf, ValueKind, Values};
pub use lookup::named_models;
pub use model::{Model, OFFLOAD, PARTS};
pub use named::{Named, Origin};
pub use nearest::nearest;
pub use options::*;
pub use own::OWN;
pub use pairs::pairwise;
pub use published::PUBLISHED;
pub use setting::{About, Condition, Setting};
pub use threshold::{CollectThreshold, UnknownThreshold};
