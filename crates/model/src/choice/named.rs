//! A model with a name, and the parts that such models share.

use super::arbitration::Arbitration;
use super::model::Model;
use super::options::{Granularity, ProgressEntry};
use heddle_locks::kinds::LockKind;

/// A model with a name.
#[derive(Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The model.
    pub model: Model,
    /// A description of the model.
    pub meaning: &'static str,
    /// The origin of its form.
    pub origin: Origin,
}

/// The origin of a model's form: Heddle or a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Heddle's.
    Heddle,
    /// That of a paper.
    Paper {
        /// The paper, and the name of the system in it.
        source: &'static str,
        /// A point in which Heddle departs from it all the same.
        departure: Option<&'static str>,
    },
}

/// The parts that the models below share unless they set them.
pub(super) const BASE: Model = Model::with_defaults();

pub(super) const fn by(arbitration: Arbitration) -> Model {
    Model { arbitration, ..BASE }
}

pub(super) const fn global(arbitration: Arbitration) -> Model {
    Model { granularity: Granularity::Global, progress_entry: ProgressEntry::Wait, ..by(arbitration) }
}

/// The same model, with waiting threads that wait for critical sections.
pub(super) const fn waiting(model: Model) -> Model {
    Model { progress_entry: ProgressEntry::Wait, ..model }
}

pub(super) const MUTEX: Arbitration = Arbitration::One(LockKind::Mutex);
