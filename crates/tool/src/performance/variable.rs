//! A performance variable: its name, class, and how it is read.

use crate::value::{Type, Value};
use heddle_model::counters::{self, Totals};
use heddle_spec::constants as mpi;
use std::fmt;

/// The class of a performance variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableClass {
    /// The number of events.
    Counter,
    /// A time in seconds.
    Timer,
    /// The present number of something.
    Level,
    /// A part of a whole, from 0 to 1.
    Percentage,
}

impl VariableClass {
    /// `MPI_T_PVAR_CLASS_…`
    pub fn number(self) -> i32 {
        match self {
            VariableClass::Counter => mpi::MPI_T_PVAR_CLASS_COUNTER,
            VariableClass::Timer => mpi::MPI_T_PVAR_CLASS_TIMER,
            VariableClass::Level => mpi::MPI_T_PVAR_CLASS_LEVEL,
            VariableClass::Percentage => mpi::MPI_T_PVAR_CLASS_PERCENTAGE,
        }
    }

    /// Returns true if each handle counts from its own zero.
    pub fn is_relative(self) -> bool {
        matches!(self, VariableClass::Counter | VariableClass::Timer)
    }
}

/// A performance variable.
pub struct Performance {
    /// Its name.
    pub name: String,
    /// Its meaning, in words.
    pub meaning: String,
    /// Its class.
    pub class: VariableClass,
    /// `MPI_T_VERBOSITY_…`
    pub verbosity: i32,
    /// The name of the category it belongs to.
    pub category: &'static str,
    /// The number of its elements: one, or one for each VNI or place of a thread.
    pub count: usize,
    pub(super) read: Box<dyn Fn(&Totals) -> Value + Send + Sync>,
}

impl fmt::Debug for Performance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Performance").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Performance {
    /// The type of its elements.
    pub fn kind(&self) -> Type {
        match self.class {
            VariableClass::Counter | VariableClass::Level => Type::Count,
            VariableClass::Timer | VariableClass::Percentage => Type::Real,
        }
    }

    /// Its present value.
    pub(crate) fn now(&self) -> Value {
        (self.read)(&counters::totals())
    }
}
