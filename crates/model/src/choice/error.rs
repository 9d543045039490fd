//! Why there is no such model.

use super::model::Model;

/// Why a model cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There is none of that name.
    #[error("there is no thread-safety model \"{name}\"; the models are: {}", Model::names().collect::<Vec<_>>().join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A part has no such value.
    #[error("{variable} is \"{value}\": {why}")]
    Part {
        /// The part's environment variable.
        variable: &'static str,
        /// What was asked for.
        value: String,
        /// What is wrong with it, and what may be given.
        why: String,
    },
    /// The parts make no sense together.
    #[error("{0}")]
    Senseless(String),
}
