//! Every environment variable that changes how Heddle works.

use crate::collectives::{COLLECTIVES, Collectives};
use crate::{SETTINGS, Setting, Settings};
use heddle_model::{Class, Model, PARTS, Part, Values};

/// An environment variable: a separate setting, one of collective operations, or a part of the model.
#[derive(Debug, Clone, Copy)]
pub enum Variable {
    /// A setting that is no part of the model.
    Setting(&'static Setting<Settings>),
    /// An algorithm of a collective operation, or a switch point.
    Collective(&'static Setting<Collectives>),
    /// A part of the model.
    Part(&'static Part),
}

impl Variable {
    /// All variables, in the order in which `heddle info` and MPI_T list them.
    pub fn all() -> impl Iterator<Item = Variable> {
        let collectives = COLLECTIVES.iter().map(Variable::Collective);
        let parts = PARTS.iter().map(Variable::Part);
        SETTINGS.iter().map(Variable::Setting).chain(parts).chain(collectives)
    }

    /// The environment variable's name. In lower case it is the name of the MPI_T control variable.
    pub fn name(self) -> &'static str {
        match self {
            Variable::Setting(setting) => setting.variable,
            Variable::Collective(setting) => setting.variable,
            Variable::Part(part) => part.variable,
        }
    }

    /// Whom it concerns.
    pub fn class(self) -> Class {
        match self {
            Variable::Setting(setting) => setting.class,
            Variable::Collective(setting) => setting.class,
            Variable::Part(part) => part.class,
        }
    }

    /// Its meaning, as half a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Variable::Setting(setting) => setting.meaning,
            Variable::Collective(setting) => setting.meaning,
            Variable::Part(part) => part.meaning,
        }
    }

    /// The kind of its values.
    pub fn values(self) -> Values {
        match self {
            Variable::Setting(setting) => setting.values,
            Variable::Collective(setting) => setting.values,
            Variable::Part(part) => part.values,
        }
    }

    /// The allowed values, in words. For [`Values::Names`]: the names, with ", " between them.
    pub fn allowed(self) -> String {
        match self {
            Variable::Setting(setting) => (setting.allowed)(),
            Variable::Collective(setting) => (setting.allowed)(),
            Variable::Part(part) => (part.allowed)(),
        }
    }

    /// The default, in words. That of a part is the default model's; other models may differ.
    pub fn default(self) -> String {
        match self {
            Variable::Setting(setting) => setting.default.to_owned(),
            Variable::Collective(setting) => setting.default.to_owned(),
            Variable::Part(part) => (part.get)(&Model::default()),
        }
    }

    /// Its value among the settings of a process.
    pub fn get(self, settings: &Settings) -> String {
        match self {
            Variable::Setting(setting) => (setting.get)(settings),
            Variable::Collective(setting) => (setting.get)(&settings.collectives),
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
            Variable::Collective(setting) => (setting.check)(value),
            Variable::Part(part) => (part.set)(&mut Model::default(), value),
        }
    }

    /// Returns true if it is the model or a part of it.
    pub fn is_of_model(self) -> bool {
        matches!(self, Variable::Part(_)) || self.name() == "HEDDLE_MODEL"
    }

    /// Returns true if it is the algorithm of a collective operation, or a switch point.
    pub fn is_of_collectives(self) -> bool {
        matches!(self, Variable::Collective(_))
    }

    /// Returns true if all processes of a job must choose the same value.
    pub fn is_common(self) -> bool {
        match self {
            Variable::Setting(setting) => setting.common,
            Variable::Collective(setting) => setting.common,
            Variable::Part(_) => false,
        }
    }
}
