//! Models are found by their names.

use super::error::ModelError;
use super::model::Model;
use super::named::Named;
use super::own::OWN;
use super::published::PUBLISHED;

impl Default for Model {
    fn default() -> Model {
        OWN[0].model
    }
}

/// All models with names: Heddle's, the default first, then those of the papers.
pub fn named_models() -> impl Iterator<Item = &'static Named> {
    OWN.iter().chain(PUBLISHED)
}

impl Model {
    /// The names of all models, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        named_models().map(|named| named.name)
    }

    /// The model with the name.
    ///
    /// # Errors
    /// [`ModelError::Unknown`].
    pub fn named(name: &str) -> Result<Model, ModelError> {
        match named_models().find(|named| named.name == name) {
            Some(named) => Ok(named.model),
            None => Err(ModelError::Unknown { name: name.to_owned() }),
        }
    }
}
