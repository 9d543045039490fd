//! Every environment variable that changes how Heddle works.

use crate::{SETTINGS, Setting, Settings};
use heddle_model::{Model, PARTS, Part, Values};

/// An environment variable: a separate setting, or a part of the model.
#[derive(Debug, Clone, Copy)]
pub enum Variable {
    /// A setting that is no part of the model.
    Setting(&'static Setting),
    /// A part of the model.
    Part(&'static Part),
}

impl Variable {
    /// All variables, in the order in which `heddle info` and MPI_T list them.
    pub fn all() -> impl Iterator<Item = Variable> {
        SETTINGS.iter().map(Variable::Setting).chain(PARTS.iter().map(Variable::Part))
    }

    /// The environment variable's name. In lower case it is the name of the MPI_T control variable.
    pub fn name(self) -> &'static str {
        match self {
            Variable::Setting(setting) => setting.variable,
            Variable::Part(part) => part.variable,
        }
    }

    /// Its meaning, as half a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Variable::Setting(setting) => setting.meaning,
            Variable::Part(part) => part.meaning,
        }
    }

    /// The kind of its values.
    pub fn values(self) -> Values {
        match self {
            Variable::Setting(setting) => setting.values,
            Variable::Part(part) => part.values,
        }
    }

    /// The allowed values, in words. For [`Values::Names`]: the names, with ", " between them.
    pub fn allowed(self) -> String {
        match self {
            Variable::Setting(setting) => (setting.allowed)(),
            Variable::Part(part) => (part.allowed)(),
        }
    }

    /// The default, in words. That of a part is the default model's; other models may differ.
    pub fn default(self) -> String {
        match self {
            Variable::Setting(setting) => setting.default.to_owned(),
            Variable::Part(part) => (part.get)(&Model::default()),
        }
    }

    /// Its value among the settings of a process.
    pub fn get(self, settings: &Settings) -> String {
        match self {
            Variable::Setting(setting) => (setting.get)(settings),
            Variable::Part(part) => (part.get)(&settings.model),
        }
    }

    /// Accepts a value that the variable may have. Whether values make sense together only
    /// [`Settings::chosen`] finds out.
    ///
    /// # Errors
    /// A sentence that says why the value is refused.
    pub fn check(self, value: &str) -> Result<(), String> {
        match self {
            Variable::Setting(setting) => (setting.check)(value),
            Variable::Part(part) => (part.set)(&mut Model::default(), value),
        }
    }

    /// Returns true if it is the model or a part of it.
    pub fn is_of_model(self) -> bool {
        matches!(self, Variable::Part(_)) || self.name() == "HEDDLE_MODEL"
    }

    /// Returns true if all processes of a job must choose the same value.
    pub fn is_common(self) -> bool {
        matches!(self, Variable::Setting(setting) if setting.common)
    }
}
