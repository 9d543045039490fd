//! The systems that an experiment compares.

/// The form of a system that takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The paper's.
    Paper,
    /// Heddle's own.
    Heddle,
    /// Processes of one thread in place of threads.
    Processes,
    /// A lock or a combining by itself, without MPI; the settings are its name.
    Alone,
}

/// A system that an experiment compares. Heddle's default, and the other libraries, take part in any case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct System {
    /// Its name in the paper, or for Heddle's form that of the model.
    pub(super) label: &'static str,
    /// Its settings, as `heddle bench --models` has them.
    pub(super) settings: &'static str,
    /// Its form.
    pub(super) form: Form,
}

impl System {
    /// Its name in pictures and tables, which tells Heddle's form of a model from the paper's: CSync and
    /// Heddle's csync.
    pub(super) fn name(&self) -> String {
        match self.form {
            Form::Heddle => format!("Heddle's {}", self.label),
            _ => self.label.to_owned(),
        }
    }
}

/// A system in the paper's form.
pub(super) const fn paper(label: &'static str, settings: &'static str) -> System {
    System { label, settings, form: Form::Paper }
}

/// A lock or a combining by itself.
pub(super) const fn alone(label: &'static str, name: &'static str) -> System {
    System { label, settings: name, form: Form::Alone }
}

/// A model of Heddle's.
pub(super) const fn heddle(model: &'static str) -> System {
    System { label: model, settings: model, form: Form::Heddle }
}

/// Single-threaded processes.
pub(super) const PROCESSES: System =
    System { label: "processes", settings: "processes", form: Form::Processes };

/// The label of Heddle's default.
pub(super) const DEFAULT: &str = "Heddle's default";

/// The label of the best of the other libraries.
pub(super) const BEST_PEER: &str = "best of the others";
