//! The reasons why there is no such model.

use super::model::Model;

/// The reason why a model does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model has that name.
    #[error("there is no thread-safety model \"{name}\"; the models are: {}", Model::names().collect::<Vec<_>>().join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// A part has no such value.
    #[error("{variable} is \"{value}\": {why}")]
    Part {
        /// The part's environment variable.
        variable: &'static str,
        /// The value that was asked for.
        value: String,
        /// The reason why the value is refused, and the allowed values.
        why: String,
    },
    /// A setting would change nothing in the model.
    #[error(
        "{variable} changes nothing here: it acts under {acts_under}, and this model is {model}; choose that, or leave {variable} out"
    )]
    WithoutEffect {
        /// The environment variable.
        variable: &'static str,
        /// The name of the condition under which it acts.
        acts_under: &'static str,
        /// The model.
        model: Box<Model>,
    },
    /// The parts make no sense together.
    #[error("{0}")]
    Senseless(String),
}
