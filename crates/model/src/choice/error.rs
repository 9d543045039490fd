//! The reasons why there is no such model.

use super::model::Model;
use super::nearest::nearest;

/// The end of a sentence: the model that is meant, or all that there are.
fn known_models(name: &str) -> String {
    match nearest(name, Model::names()) {
        Some(meant) => format!("; did you mean {meant}? `heddle models` lists all"),
        None => format!("; the models are: {}", Model::names().collect::<Vec<_>>().join(", ")),
    }
}

/// The reason why a model does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model has that name.
    #[error("there is no thread-safety model \"{name}\"{}", known_models(name))]
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
