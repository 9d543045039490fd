//! The description of a setting.

use heddle_model::{Class, Values};

/// A setting that is no part of the model, among the settings `S`.
#[derive(Debug)]
pub struct Setting<S> {
    /// Its environment variable. In lower case it is the name of the MPI_T control variable.
    pub variable: &'static str,
    /// Whom it concerns.
    pub class: Class,
    /// Its meaning, as half a sentence.
    pub meaning: &'static str,
    /// The kind of its values.
    pub values: Values,
    /// True if all processes of a job must choose the same value.
    pub common: bool,
    /// The allowed values, in words.
    pub allowed: fn() -> String,
    /// The default in words; a value, unless it depends on the machine.
    pub default: &'static str,
    /// Its value among the settings.
    pub get: fn(&S) -> String,
    /// Accepts a value, or says in a sentence why it is refused.
    pub check: fn(&str) -> Result<(), String>,
}
