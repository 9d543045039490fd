//! The declaration of a setting: one row of [`settings!`](crate::settings) for each.

use super::kind::Values;
use super::options::Class;

/// The description of a setting.
#[derive(Debug)]
pub struct About {
    /// Its environment variable. In lower case it is the name of the MPI_T control variable.
    pub variable: &'static str,
    /// What it is called in a sentence; `None`: as its variable.
    pub called: Option<&'static str>,
    /// Whom it concerns.
    pub class: Class,
    /// Its meaning, as half a sentence.
    pub meaning: &'static str,
    /// The form of its values.
    pub values: fn() -> Values,
    /// The allowed values, for a sentence.
    pub allowed: fn() -> String,
    /// Some allowed values, to try them in combination with those of other settings.
    pub examples: fn() -> Vec<String>,
    /// The names with their meanings, if its values are names that need an explanation.
    pub meanings: fn() -> Vec<(&'static str, &'static str)>,
    /// The default, in words. That of a part of the model is the default model's.
    pub default: fn() -> String,
    /// True if all processes of a job must choose the same value.
    pub common: bool,
}

impl About {
    /// What the setting is called in a sentence.
    #[must_use]
    pub fn name(&self) -> String {
        let words = || self.variable.trim_start_matches("HEDDLE_").replace('_', " ").to_lowercase();
        self.called.map_or_else(words, str::to_owned)
    }
}

/// A condition that settings meet or not.
#[derive(Debug)]
pub struct Condition<S> {
    /// The condition, for a sentence: an execution, an arbitration.
    pub name: &'static str,
    /// Returns true for settings that meet it.
    pub holds: fn(&S) -> bool,
}

/// A setting, which is a field of `S`.
#[derive(Debug)]
pub struct Setting<S> {
    /// What is said about it.
    pub about: About,
    /// The condition under which it acts; `None` if it always acts.
    pub acts_under: Option<Condition<S>>,
    /// The field's value, as it is written.
    pub get: fn(&S) -> String,
    /// Sets the field, or says in a sentence which values are allowed.
    pub set: fn(&mut S, &str) -> Result<(), String>,
}

impl<S> Setting<S> {
    /// Sets the field, and returns true if it had another value before.
    ///
    /// # Errors
    /// A sentence that says which values are allowed.
    pub fn change(&self, settings: &mut S, value: &str) -> Result<bool, String> {
        let before = (self.get)(settings);
        (self.set)(settings, value)?;
        Ok((self.get)(settings) != before)
    }

    /// The condition under which it acts, if the settings do not meet it: then it changes nothing.
    pub fn unmet(&self, settings: &S) -> Option<&'static str> {
        self.acts_under
            .as_ref()
            .filter(|condition| !(condition.holds)(settings))
            .map(|condition| condition.name)
    }
}

/// Declares settings: a structure that has a field for each, a table with a [`Setting`] for each, and a
/// function for the values that hold unless others are chosen.
///
/// A row is a field, its type, and what follows in this order:
///
/// | word | meaning |
/// |---|---|
/// | `variable` | the environment variable |
/// | `called` | what it is called in a sentence, if not as its variable |
/// | `class` | an option of [`Class`] |
/// | `meaning` | half a sentence, for `heddle info`, MPI_T, `docs/reference.md` and the field's documentation |
/// | `values` | the [`ValueKind`](crate::ValueKind) of its values |
/// | `default` | the value that holds unless another one is chosen |
/// | `default_in_words` | the default for the reference, if it is not the same on every machine |
/// | `common: true` | if all processes of a job must choose the same value |
/// | `acts_under` | the [`Condition`] under which it acts, if it does not always act |
///
/// Fields that no variable sets follow in a block `and`, each with its value.
#[macro_export]
macro_rules! settings {
    (
        $(#[$of_struct:meta])*
        pub struct $Settings:ident {
            $(
                $(#[$of_field:meta])*
                $field:ident: $type:ty {
                    variable: $variable:literal,
                    $(called: $called:literal,)?
                    class: $class:ident,
                    meaning: $meaning:literal,
                    values: $values:expr,
                    default: $default:expr,
                    $(default_in_words: $words:literal,)?
                    $(common: $common:literal,)?
                    $(acts_under: $condition:expr,)?
                }
            )*
        }
        $(
            and {
                $($(#[$of_rest:meta])* $rest:ident: $rest_type:ty = $rest_value:expr,)*
            }
        )?
        $(#[$of_table:meta])*
        table: [$($table:tt)*];
        $(#[$of_defaults:meta])*
        defaults: [$($defaults:tt)*];
    ) => {
        $(#[$of_struct])*
        pub struct $Settings {
            $(
                #[doc = concat!("`", $variable, "`: ", $meaning, ".")]
                $(#[$of_field])*
                pub $field: $type,
            )*
            $($($(#[$of_rest])* pub $rest: $rest_type,)*)?
        }

        impl $Settings {
            $(#[$of_defaults])*
            $($defaults)*() -> $Settings {
                $Settings { $($field: $default,)* $($($rest: $rest_value,)*)? }
            }
        }

        $(#[$of_table])*
        $($table)*: &[$crate::Setting<$Settings>] = &[
            $(
                $crate::Setting {
                    about: $crate::About {
                        variable: $variable,
                        called: $crate::settings!(@or [$(Some($called))?] None),
                        class: $crate::Class::$class,
                        meaning: $meaning,
                        values: || $crate::ValueKind::form(&$values),
                        allowed: || $crate::ValueKind::allowed(&$values),
                        examples: || $crate::ValueKind::examples(&$values),
                        meanings: || $crate::ValueKind::meanings(&$values),
                        default: || {
                            $crate::settings!(@or [$($words.to_owned())?]
                                $crate::ValueKind::write(&$values, &<$Settings as Default>::default().$field))
                        },
                        common: $crate::settings!(@or [$($common)?] false),
                    },
                    acts_under: $crate::settings!(@or [$(Some($condition))?] None),
                    get: |settings| $crate::ValueKind::write(&$values, &settings.$field),
                    set: |settings, text| {
                        settings.$field = $crate::ValueKind::read(&$values, text)?;
                        Ok(())
                    },
                },
            )*
        ];
    };
    (@or [] $otherwise:expr) => { $otherwise };
    (@or [$given:expr] $otherwise:expr) => { $given };
}
