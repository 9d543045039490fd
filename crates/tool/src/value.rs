//! Values of variables, as C sees them.

use heddle_spec::constants as mpi;

/// The room for text.
pub(super) const TEXT: usize = 64;

/// The type of a variable's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `MPI_INT`, an item of an enumeration.
    Item,
    /// `MPI_INT`, a number.
    Integer,
    /// `MPI_UNSIGNED`.
    Number,
    /// `MPI_CHAR`.
    Text,
    /// `MPI_UNSIGNED_LONG_LONG`.
    Count,
    /// `MPI_DOUBLE`.
    Real,
}

impl Type {
    /// The handle of the datatype.
    pub fn datatype(self) -> usize {
        match self {
            Type::Item | Type::Integer => mpi::MPI_INT,
            Type::Number => mpi::MPI_UNSIGNED,
            Type::Text => mpi::MPI_CHAR,
            Type::Count => mpi::MPI_UNSIGNED_LONG_LONG,
            Type::Real => mpi::MPI_DOUBLE,
        }
    }

    /// The bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Type::Text => 1,
            Type::Item | Type::Integer | Type::Number => 4,
            Type::Count | Type::Real => 8,
        }
    }
}

/// A value of a performance variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Elements of the type [`Count`](Type::Count).
    Counts(Vec<u64>),
    /// Elements of the type [`Real`](Type::Real).
    Reals(Vec<f64>),
}

impl Value {
    /// Its bytes, as C sees them.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Value::Counts(counts) => counts.iter().flat_map(|count| count.to_ne_bytes()).collect(),
            Value::Reals(reals) => reals.iter().flat_map(|real| real.to_ne_bytes()).collect(),
        }
    }

    /// The value with these bytes, of the type and length of this one.
    pub(super) fn read_as(&self, bytes: &[u8]) -> Value {
        let (words, _) = bytes.as_chunks::<8>();
        match self {
            Value::Counts(_) => Value::Counts(words.iter().map(|word| u64::from_ne_bytes(*word)).collect()),
            Value::Reals(_) => Value::Reals(words.iter().map(|word| f64::from_ne_bytes(*word)).collect()),
        }
    }

    pub(super) fn zero(&self) -> Value {
        match self {
            Value::Counts(counts) => Value::Counts(vec![0; counts.len()]),
            Value::Reals(reals) => Value::Reals(vec![0.0; reals.len()]),
        }
    }

    /// This value plus the change from `before` to `now`.
    pub(super) fn advanced(&self, before: &Value, now: &Value) -> Value {
        match (self, before, now) {
            (Value::Counts(sum), Value::Counts(before), Value::Counts(now)) => {
                let change = before.iter().zip(now).map(|(before, now)| now.wrapping_sub(*before));
                Value::Counts(sum.iter().zip(change).map(|(sum, change)| sum.wrapping_add(change)).collect())
            }
            (Value::Reals(sum), Value::Reals(before), Value::Reals(now)) => {
                let change = before.iter().zip(now).map(|(before, now)| now - before);
                Value::Reals(sum.iter().zip(change).map(|(sum, change)| sum + change).collect())
            }
            _ => now.clone(),
        }
    }
}
