//! Every environment variable that changes how Heddle works.

use crate::chosen::MODEL;
use crate::collectives::{COLLECTIVES, Collectives};
use crate::settings::{SETTINGS, Settings};
use heddle_model::{About, Class, Model, PARTS, Setting, Values};

/// An environment variable: a separate setting, one of collective operations, or a part of the model.
#[derive(Debug, Clone, Copy)]
pub enum Variable {
    /// A setting that is no part of the model.
    Setting(&'static Setting<Settings>),
    /// An algorithm of a collective operation, or a switch point.
    Collective(&'static Setting<Collectives>),
    /// A part of the model.
    Part(&'static Setting<Model>),
}

impl Variable {
    /// All variables, in the order in which `heddle info` and MPI_T list them.
    pub fn all() -> impl Iterator<Item = Variable> {
        let collectives = COLLECTIVES.iter().map(Variable::Collective);
        let parts = PARTS.iter().map(Variable::Part);
        SETTINGS.iter().map(Variable::Setting).chain(parts).chain(collectives)
    }

    fn about(self) -> &'static About {
        match self {
            Variable::Setting(setting) => &setting.about,
            Variable::Collective(setting) => &setting.about,
            Variable::Part(setting) => &setting.about,
        }
    }

    /// The environment variable's name. In lower case it is the name of the MPI_T control variable.
    pub fn name(self) -> &'static str {
        self.about().variable
    }

    /// Whom it concerns.
    pub fn class(self) -> Class {
        self.about().class
    }

    /// Its meaning, as half a sentence.
    pub fn meaning(self) -> &'static str {
        self.about().meaning
    }

    /// The form of its values.
    pub fn values(self) -> Values {
        (self.about().values)()
    }

    /// The allowed values, in words. For [`Values::Names`]: the names, with ", " between them.
    pub fn allowed(self) -> String {
        (self.about().allowed)()
    }

    /// The names with their meanings, if its values are names that need an explanation.
    pub fn meanings(self) -> Vec<(&'static str, &'static str)> {
        (self.about().meanings)()
    }

    /// The default, in words. That of a part is the default model's; other models may differ.
    pub fn default(self) -> String {
        (self.about().default)()
    }

    /// Returns true if all processes of a job must choose the same value.
    pub fn is_common(self) -> bool {
        self.about().common
    }

    /// Returns true if it is the model or a part of it.
    pub fn is_of_model(self) -> bool {
        matches!(self, Variable::Part(_)) || self.name() == MODEL
    }

    /// Returns true if it is the algorithm of a collective operation, or a switch point.
    pub fn is_of_collectives(self) -> bool {
        matches!(self, Variable::Collective(_))
    }

    /// Its value among the settings of a process.
    pub fn get(self, settings: &Settings) -> String {
        match self {
            Variable::Setting(setting) => (setting.get)(settings),
            Variable::Collective(setting) => (setting.get)(&settings.collectives),
            Variable::Part(setting) => (setting.get)(&settings.model),
        }
    }

    /// Accepts a value that the variable may have. Whether values make sense together only
    /// [`Settings::chosen`] finds out.
    ///
    /// # Errors
    /// A sentence that says why the value is refused.
    pub fn check(self, value: &str) -> Result<(), String> {
        let mut settings = Settings::default();
        match self {
            Variable::Setting(setting) => (setting.set)(&mut settings, value),
            Variable::Collective(setting) => (setting.set)(&mut settings.collectives, value),
            Variable::Part(setting) => (setting.set)(&mut settings.model, value),
        }
    }
}
