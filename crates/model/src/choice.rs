//! Choosing a model by name.

use crate::section::{CallSection, Guarded};
use std::fmt;
use std::str::FromStr;

/// Which section guards an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    /// One section for the duration of every call.
    Global,
    /// One section a VNI.
    PerVni,
}

/// Who enters a contended section next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbitration {
    /// Whoever comes first after the release, as with a Pthread mutex.
    Mutex,
}

/// A thread-safety model: a point in the space of choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Which section guards an object.
    pub granularity: Granularity,
    /// Who enters next.
    pub arbitration: Arbitration,
}

/// All models that exist, the default first.
const NAMED: [(&str, Model); 2] = [
    ("per-vni-mutex", Model { granularity: Granularity::PerVni, arbitration: Arbitration::Mutex }),
    ("global-mutex", Model { granularity: Granularity::Global, arbitration: Arbitration::Mutex }),
];

/// A model name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no thread-safety model \"{name}\"; the models are: {}", Model::names().collect::<Vec<_>>().join(", "))]
pub struct UnknownModel {
    /// What was asked for.
    pub name: String,
}

impl Model {
    /// The names of all models, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// The section that every MPI call enters. `threads` says whether several threads may call at once.
    pub fn call_section(&self, threads: bool) -> CallSection {
        CallSection::new(threads && self.granularity == Granularity::Global)
    }

    /// Puts a VNI's state behind its section.
    pub fn guard_vni<T>(&self, threads: bool, state: T) -> Guarded<T> {
        Guarded::new(state, threads && self.granularity == Granularity::PerVni)
    }
}

impl Default for Model {
    fn default() -> Model {
        NAMED[0].1
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Model, UnknownModel> {
        match NAMED.iter().find(|(known, _)| *known == name) {
            Some((_, model)) => Ok(*model),
            None => Err(UnknownModel { name: name.to_owned() }),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMED.iter().find(|(_, model)| model == self).map_or("custom", |(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_models_and_back() {
        for name in Model::names() {
            assert_eq!(name.parse::<Model>().map(|m| m.to_string()), Ok(name.to_owned()));
        }
        let error = "per-vni".parse::<Model>().expect_err("not a model");
        assert!(error.to_string().contains("per-vni-mutex"), "{error}");
    }
}
